# SPDX-License-Identifier: MIT
"""Paths in URLs."""

from __future__ import annotations


def encode_delimiters(path: str) -> str:
    """Encodes characters of a decoded path that would end it, or start an escape, in a URL."""
    return path.replace("%", "%25").replace("?", "%3F").replace("#", "%23")
