# SPDX-License-Identifier: MIT
"""Two lines of log for each request, as middleware."""

from ._middleware import logger

__all__ = ("logger",)
