# SPDX-License-Identifier: MIT
"""Writes typed clients in Python from OpenAPI documents."""

from ._generating import generate

__all__ = ("generate",)
