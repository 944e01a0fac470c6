# SPDX-License-Identifier: MIT
"""Middleware that redirects between paths with and without a trailing slash."""

from ._trailing_slash import append_trailing_slash, trim_trailing_slash

__all__ = ("append_trailing_slash", "trim_trailing_slash")
