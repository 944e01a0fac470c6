# SPDX-License-Identifier: MIT
"""The body of a page that is sent while rendering."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator

# The size of a few packets: smaller chunks cost more than they gain.
_CHUNK_CHARACTERS = 8192


class Chunks:
    """Joins the pieces from a template into chunks to send.

    It is also the `flush` function of the template, which ends a chunk.
    """

    __slots__ = ("_pieces", "_size", "_wanted")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = 0
        self._wanted = False

    def __call__(self) -> str:
        """Ends the current chunk; returns the text that the template prints for the call."""
        self._wanted = True
        return ""

    def add(self, piece: str) -> bool:
        """Adds a piece; returns whether there is enough for a chunk."""
        self._pieces.append(piece)
        self._size += len(piece)
        return self._size >= _CHUNK_CHARACTERS or (self._wanted and self._size > 0)

    def take(self) -> bytes:
        """Returns the chunk, and starts the next one."""
        chunk = "".join(self._pieces).encode()
        self._pieces.clear()
        self._size = 0
        self._wanted = False
        return chunk


class PageBody:
    """A page in chunks; the first one is rendered before the response starts.

    Not an async generator: closing one that hasn't started would not close the template.

    Args:
        pieces: The pieces from the template.
        chunks: The `flush` function of the template.
    """

    __slots__ = ("_chunks", "_first", "_pieces")

    def __init__(self, pieces: Generator[str, None, None], chunks: Chunks) -> None:
        self._pieces = pieces
        self._chunks = chunks
        self._first = b""

    def begin(self) -> bytes | None:
        """Renders the first chunk; returns it if it is the whole page."""
        for piece in self._pieces:
            if self._chunks.add(piece):
                self._first = self._chunks.take()
                return None
        return self._chunks.take()

    def __aiter__(self) -> PageBody:
        return self

    async def __anext__(self) -> bytes:
        chunk, self._first = self._first, b""
        if chunk:
            return chunk
        for piece in self._pieces:
            if self._chunks.add(piece):
                return self._chunks.take()
        chunk = self._chunks.take()
        if not chunk:
            raise StopAsyncIteration
        return chunk

    async def aclose(self) -> None:
        """Closes the template."""
        self._pieces.close()


class AwaitingPageBody:
    """Like `PageBody`, for an async template."""

    __slots__ = ("_chunks", "_first", "_pieces")

    def __init__(self, pieces: AsyncGenerator[str, None], chunks: Chunks) -> None:
        self._pieces = pieces
        self._chunks = chunks
        self._first = b""

    async def begin(self) -> bytes | None:
        """Renders the first chunk; returns it if it is the whole page."""
        async for piece in self._pieces:
            if self._chunks.add(piece):
                self._first = self._chunks.take()
                return None
        return self._chunks.take()

    def __aiter__(self) -> AwaitingPageBody:
        return self

    async def __anext__(self) -> bytes:
        chunk, self._first = self._first, b""
        if chunk:
            return chunk
        async for piece in self._pieces:
            if self._chunks.add(piece):
                return self._chunks.take()
        chunk = self._chunks.take()
        if not chunk:
            raise StopAsyncIteration
        return chunk

    async def aclose(self) -> None:
        """Closes the template at its current `await`."""
        await self._pieces.aclose()
