# SPDX-License-Identifier: MIT
"""Bodies that stream parts of a file in constant memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self, TypeAlias

from ._files import OpenFile
from ._threads import run_in_thread

# PERF: of 64 KiB to 1 MiB, this size took the least processor time for a file of 8 MiB.
CHUNK_BYTES = 256 * 1024


class Span(NamedTuple):
    """Consecutive bytes of a file.

    Attributes:
        start: The offset of the first byte, counted from 0.
        size_bytes: The number of bytes.
    """

    start: int
    size_bytes: int


Piece: TypeAlias = Span | bytes
"""A part of the file, or bytes between parts."""


class FileBody:
    """A body that is read from an open file while sending.

    It can be iterated once. The file is closed at the end, or by `aclose`.

    Args:
        file: The file.
        pieces: The pieces of the body, in order.
        send_path: The path for servers that open and send the file themselves, if the body is the
            whole file; otherwise None.
    """

    # Not an async generator, since closing one that hasn't started would not close the file.
    __slots__ = ("_file", "_pieces", "send_path")

    def __init__(
        self, file: OpenFile, pieces: Sequence[Piece], *, send_path: str | None = None
    ) -> None:
        self._file = file
        self._pieces = [piece for piece in reversed(pieces) if piece]
        self.send_path = send_path

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if not self._pieces:
            self._file.close()
            raise StopAsyncIteration
        piece = self._pieces.pop()
        if isinstance(piece, bytes):
            return piece
        start, left = piece
        wanted = min(left, CHUNK_BYTES)
        file = self._file
        # PERF: for cached data, a thread would cost more than the read.
        data = file.read_now(start, wanted)
        if data is None:
            data = await run_in_thread(file.read, start, wanted)
        if left > len(data):
            self._pieces.append(Span(start + len(data), left - len(data)))
        return data

    async def aclose(self) -> None:
        """Closes the file and stops reading."""
        self._pieces.clear()
        self._file.close()
