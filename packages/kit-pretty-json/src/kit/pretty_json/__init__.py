# SPDX-License-Identifier: MIT
"""Middleware that indents JSON responses for human readers."""

from ._middleware import pretty_json

__all__ = ("pretty_json",)
