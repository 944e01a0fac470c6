# SPDX-License-Identifier: MIT
"""Compresses responses with zstd, brotli or gzip, as middleware for the Kit web framework."""

from ._compress import ContentTypeFilter, Skip, compress

__all__ = ("ContentTypeFilter", "Skip", "compress")
