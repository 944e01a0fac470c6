# SPDX-License-Identifier: MIT
"""Generates Python clients."""

from ._generating import generate

__all__ = ("generate",)
