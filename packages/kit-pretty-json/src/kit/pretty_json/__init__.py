# SPDX-License-Identifier: MIT
"""Indents JSON answers for people who read them, as middleware."""

from ._middleware import pretty_json

__all__ = ("pretty_json",)
