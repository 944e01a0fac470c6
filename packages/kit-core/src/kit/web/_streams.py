# SPDX-License-Identifier: MIT
"""Reads and closes streams of bytes, the bodies that aren't in memory."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeAlias

from kit._support.limits import body_too_large
from kit.authoring.maybe_await import plain_result

if TYPE_CHECKING:
    from ._received import Refuse, See

Chunk: TypeAlias = bytes | bytearray | memoryview | str
Stream: TypeAlias = AsyncIterable[Chunk] | Iterable[Chunk]


def encode_chunk(chunk: Chunk) -> bytes:
    """Returns a chunk of a stream as bytes.

    Raises:
        TypeError: If it is neither str nor bytes.
    """
    if isinstance(chunk, bytes):
        return chunk
    if isinstance(chunk, str):
        return chunk.encode()
    if isinstance(chunk, (bytearray, memoryview)):
        return bytes(chunk)
    raise TypeError(f"A body yielded {type(chunk).__name__}: expected str or bytes")


async def iterate(stream: Stream) -> AsyncGenerator[bytes, None]:
    """Reads a stream, async or not, and yields its chunks as bytes.

    Closes the generator that `__aiter__` may return, but never the stream itself.
    """
    if hasattr(stream, "__aiter__"):
        iterator = stream.__aiter__()
        try:
            async for chunk in iterator:
                yield encode_chunk(chunk)
        finally:
            if isinstance(iterator, AsyncGenerator) and iterator is not stream:
                await close_stream(iterator)
    else:
        for chunk in stream:
            yield encode_chunk(chunk)


async def close_stream(stream: Any) -> None:
    """Closes a generator, so that its `finally` runs now, whatever happens to the response."""
    aclose = getattr(stream, "aclose", None)
    if aclose is not None:
        # PERF: a generator that has ended has nothing to close, and a cancel scope costs more.
        if getattr(stream, "ag_frame", stream) is None:
            return
        from anyio import CancelScope

        with CancelScope(shield=True):
            await aclose()
        return
    close = getattr(stream, "close", None)
    if close is not None:
        close()


def chunks_of(body: bytes | Stream | None) -> AsyncGenerator[bytes, None]:
    """Returns the chunks of a body; a caller that stops early must close the generator."""
    from ._received import ReceivedBody

    if isinstance(body, ReceivedBody):
        return body.__aiter__()
    return iterate([body] if isinstance(body, bytes) else body or ())


async def bounded_chunks_of(
    body: bytes | Stream | None, most: int | None, see: See | None = None
) -> AsyncGenerator[bytes, None]:
    """Yields the chunks of a body, up to a size.

    Args:
        body: The body; closed at the end.
        most: Maximum number of bytes; None for no limit.
        see: Called with each chunk; an exception that it raises ends the reading.

    Raises:
        HTTPException: 413 if there are more bytes.
    """
    size = 0
    try:
        async with aclosing(chunks_of(body)) as chunks:
            async for chunk in chunks:
                size += len(chunk)
                if most is not None and size > most:
                    raise body_too_large(most)
                if see is not None:
                    see(chunk)
                yield chunk
    finally:
        await close_stream(body)


class LimitedStream:
    """A stream that fails once it has yielded more bytes than a limit.

    Args:
        stream: The stream.
        most: Maximum number of bytes.
        refuse: Returns the exception to raise.
    """

    # Not an async generator: closing one that hasn't begun would not close the stream.
    __slots__ = ("_most", "_refuse", "_stream")

    def __init__(self, stream: Stream, most: int, refuse: Refuse) -> None:
        self._stream = stream
        self._most = most
        self._refuse = refuse

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        size = 0
        async with aclosing(iterate(self._stream)) as chunks:
            async for chunk in chunks:
                size += len(chunk)
                if size > self._most:
                    raise plain_result(self._refuse(), self._refuse, "limit_body()")
                yield chunk

    async def aclose(self) -> None:
        """Closes the stream."""
        await close_stream(self._stream)


def decode_text(data: bytes) -> str:
    """Decodes UTF-8 (WHATWG Encoding section 6), without a BOM; invalid bytes become U+FFFD."""
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
