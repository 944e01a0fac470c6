# SPDX-License-Identifier: MIT
"""Redirects between paths with and without a trailing slash, as middleware."""

from ._middleware import append_trailing_slash, trim_trailing_slash

__all__ = ("append_trailing_slash", "trim_trailing_slash")
