# SPDX-License-Identifier: MIT
"""Static files for the Kit web framework, with ranges and precompressed variants."""

from ._middleware import serve_static

__all__ = ("serve_static",)
