# SPDX-License-Identifier: MIT
"""Compresses streams chunk by chunk, and large bodies outside of the event loop."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

from ._codings import Coding, Encoder

__all__ = ("STREAMED_BYTES", "CompressedStream", "compress_whole")

# Compressing so many bytes takes a few times as long as a worker thread takes to start on them.
_IN_THREAD_BYTES = 32 * 1024
# What a thread takes at a time: it can't be cancelled before it is done with that.
_PIECE_BYTES = 256 * 1024
STREAMED_BYTES = 1024 * 1024
"""Bodies of this size are sent while they are compressed, so that memory is bounded."""


class CompressedStream:
    """A body that is compressed while it is sent.

    What was yielded at each chunk can be decoded up to that chunk, so that server-sent events and
    the like arrive as they are written.

    Args:
        source: The body.
        encoder: Makes what compresses it.
    """

    # Not an async generator: closing one that hasn't begun would not close the source.
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
    """Compresses a body, in a worker thread if that takes long.

    Args:
        coding: What compresses it.
        body: The body.
    """
    if len(body) < _IN_THREAD_BYTES:
        return coding.whole(body)
    from anyio import to_thread  # here, since small bodies need none

    return await to_thread.run_sync(coding.whole, body)


async def _compress_piece(encoder: Encoder, piece: memoryview, flush: bool) -> bytes:
    def work() -> bytes:
        out = encoder.compress(piece)
        return out + encoder.flush() if flush else out

    if len(piece) < _IN_THREAD_BYTES:
        return work()
    from anyio import to_thread

    return await to_thread.run_sync(work)
