# SPDX-License-Identifier: MIT
"""Indents JSON answers for human readers, as middleware."""

from ._middleware import pretty_json

__all__ = ("pretty_json",)
