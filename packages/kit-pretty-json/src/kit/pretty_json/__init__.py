# SPDX-License-Identifier: MIT
"""Middleware that indents JSON responses for human readers."""

from ._pretty_json import pretty_json

__all__ = ("pretty_json",)
