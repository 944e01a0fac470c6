# SPDX-License-Identifier: MIT
"""Request logging as middleware: two lines per request."""

from ._middleware import logger

__all__ = ("logger",)
