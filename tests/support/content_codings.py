# SPDX-License-Identifier: MIT
"""Decodes content codings, whole or as far as it was received."""

from __future__ import annotations

import sys
import zlib
from typing import Any

import brotli

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CODINGS = ("zstd", "br", "gzip", "deflate")


class Decoder:
    """Decodes a stream.

    Args:
        coding: The content coding.
    """

    def __init__(self, coding: str) -> None:
        self._is_buffered = coding == "br"
        self._feed: Any = {
            "zstd": lambda: zstd.ZstdDecompressor().decompress,
            "br": lambda: brotli.Decompressor().process,
            "gzip": lambda: zlib.decompressobj(31).decompress,
            "deflate": lambda: zlib.decompressobj(15).decompress,
        }[coding]()

    def feed(self, data: bytes) -> bytes:
        """Returns what can be decoded with some more data."""
        decoded = b""
        # The decoder of brotli returns as much as its buffer holds.
        while part := self._feed(data):
            decoded, data = decoded + part, b""
            if not self._is_buffered:
                break
        return decoded


def decode(coding: str, data: bytes) -> bytes:
    """Decodes a body, which has to be complete."""
    if coding == "br":
        return bytes(brotli.decompress(data))
    if coding == "zstd":
        return zstd.decompress(data)
    return zlib.decompress(data, 31 if coding == "gzip" else 15)
