# SPDX-License-Identifier: MIT
"""Generates TypeScript clients."""

from ._generating import generate

__all__ = ("generate",)
