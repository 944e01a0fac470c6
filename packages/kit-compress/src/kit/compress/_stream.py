# SPDX-License-Identifier: MIT
"""Compresses streams chunk by chunk, and large bodies outside the event loop."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

from ._codings import Coding, Encoder

__all__ = ("STREAMED_BYTES", "CompressedStream", "compress_whole")

# Compressing this many bytes takes a few times as long as handing them to a worker thread.
_IN_THREAD_BYTES = 32 * 1024
# The size of a thread's unit of work, which can't be cancelled.
_PIECE_BYTES = 256 * 1024
STREAMED_BYTES = 1024 * 1024
"""Bodies from this size on are sent while they are compressed, to limit memory use."""


class CompressedStream:
    """A body that is compressed while it is sent.

    The output after each chunk can be decoded up to that chunk, so that server-sent events and
    similar streams arrive as they are written.

    Args:
        source: The body.
        encoder: Returns the encoder.
    """

    # Not an async generator: closing one that hasn't started would not close the source.
    __slots__ = ("_encoder", "_source")

    def __init__(self, source: Any, encoder: Callable[[], Encoder]) -> None:
        self._source = source
        self._encoder = encoder

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        encoder = self._encoder()
        async for chunk in self._source:
            end = len(chunk)
            if not end:
                continue
            view = memoryview(chunk)
            for start in range(0, end, _PIECE_BYTES):
                piece = view[start : start + _PIECE_BYTES]
                is_last = start + _PIECE_BYTES >= end
                if out := await _compress_piece(encoder, piece, is_last):
                    yield out
        yield encoder.finish()

    async def aclose(self) -> None:
        """Closes the source."""
        await self._source.aclose()


async def compress_whole(coding: Coding, body: bytes) -> bytes:
    """Compresses a body, in a worker thread if it is large.

    Args:
        coding: The coding.
        body: The body.
    """
    if len(body) < _IN_THREAD_BYTES:
        return coding.whole(body)
    from anyio import to_thread  # here, since small bodies don't need it

    return await to_thread.run_sync(coding.whole, body)


async def _compress_piece(encoder: Encoder, piece: memoryview, flush: bool) -> bytes:
    def work() -> bytes:
        out = encoder.compress(piece)
        return out + encoder.flush() if flush else out

    if len(piece) < _IN_THREAD_BYTES:
        return work()
    from anyio import to_thread

    return await to_thread.run_sync(work)
