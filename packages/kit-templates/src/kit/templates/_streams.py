# SPDX-License-Identifier: MIT
"""The body of a page that is sent while it is rendered."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator

# As large as a few packets: smaller chunks cost more than they bring.
_CHUNK_CHARACTERS = 8192


class Chunks:
    """Joins the pieces that a template yields into chunks to send.

    It is also the function `flush` of the template, which ends a chunk.
    """

    __slots__ = ("_pieces", "_size", "_wanted")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = 0
        self._wanted = False

    def __call__(self) -> str:
        """Has what was rendered so far sent; returns what the template prints for the call."""
        self._wanted = True
        return ""

    def add(self, piece: str) -> bool:
        """Adds a piece; returns whether there is enough for a chunk."""
        self._pieces.append(piece)
        self._size += len(piece)
        return self._size >= _CHUNK_CHARACTERS or (self._wanted and self._size > 0)

    def take(self) -> bytes:
        """Returns the chunk, and begins the next one."""
        chunk = "".join(self._pieces).encode()
        self._pieces.clear()
        self._size = 0
        self._wanted = False
        return chunk


class PageBody:
    """A page in chunks, the first of which is rendered before the response begins.

    Not an async generator: closing one that hasn't begun would not close the template.

    Args:
        pieces: What the template yields.
        chunks: What the template has as `flush`.
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
        """Ends the template."""
        self._pieces.close()


class AwaitingPageBody:
    """As `PageBody`, for a template that awaits."""

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
        """Ends the template where it waits."""
        await self._pieces.aclose()
