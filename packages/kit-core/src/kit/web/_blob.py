# SPDX-License-Identifier: MIT
"""Bytes with a media type (W3C File API, section 3)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from typing import TypeAlias

from ._streams import Chunk, Stream, decode_text, encode_chunk

Bytes: TypeAlias = bytes
"""The type bytes, where a method of the same name shadows it."""


def as_blob_type(type: str) -> str:
    """Returns a media type in lower case; empty if it contains invalid characters."""
    if not isinstance(type, str):
        raise TypeError(f"The type of a Blob or File is a str, not {type!r:.100}")
    return type.lower() if type.isascii() and type.isprintable() else ""


class Blob:
    """Bytes with a media type (W3C File API, section 3).

    Args:
        parts: The content: bytes, str (encoded as UTF-8) or other blobs, joined in order.
        type: Media type, stored in lower case; empty if unknown.
    """

    __module__ = "kit.web"  # shown as it is imported

    __slots__ = ("_data", "_type")

    def __init__(self, parts: Iterable[Chunk | Blob] = (), *, type: str = "") -> None:
        if isinstance(parts, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"Blob expects a list of parts, not {parts.__class__.__name__}")
        self._data: Bytes = b"".join(
            p._content() if isinstance(p, Blob) else encode_chunk(p) for p in parts
        )
        self._type = as_blob_type(type)

    @property
    def size(self) -> int:
        """Number of bytes."""
        return len(self._data)

    @property
    def type(self) -> str:
        """Media type in lower case, or `""`."""
        return self._type

    async def bytes(self) -> Bytes:
        """Returns the content."""
        return self._data

    async def array_buffer(self) -> Bytes:
        """Returns the content; the Web name of `bytes`."""
        return await self.bytes()

    async def text(self) -> str:
        """Returns the content decoded as UTF-8; invalid bytes become U+FFFD."""
        return decode_text(await self.bytes())

    async def stream(self) -> AsyncGenerator[Bytes, None]:
        """Yields the content in chunks."""
        yield self._data

    def _content(self) -> Bytes:
        return self._data

    def _as_body(self) -> tuple[Bytes | Stream, str | None]:
        return self._data, self.type or None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.type or 'without type'}, {self.size} bytes>"
