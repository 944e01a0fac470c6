# SPDX-License-Identifier: MIT
"""Generates typed Python clients from OpenAPI documents."""

from ._generating import generate

__all__ = ("generate",)
