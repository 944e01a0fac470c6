# SPDX-License-Identifier: MIT
"""Reads and closes streams of bytes: bodies that aren't in memory."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from typing import Any, TypeAlias

Chunk: TypeAlias = bytes | bytearray | memoryview | str
Stream: TypeAlias = AsyncIterable[Chunk] | Iterable[Chunk]


def encode_chunk(chunk: Chunk) -> bytes:
    """Returns a chunk of a stream as bytes; raises a TypeError if it is neither str nor bytes."""
    if isinstance(chunk, bytes):
        return chunk
    if isinstance(chunk, str):
        return chunk.encode()
    if isinstance(chunk, (bytearray, memoryview)):
        return bytes(chunk)
    raise TypeError(f"A body yielded {type(chunk).__name__}: expected str or bytes")


async def iterate(stream: Stream) -> AsyncGenerator[bytes, None]:
    """Reads a stream, async or not, and yields its chunks as bytes.

    Closes the generator if `__aiter__` returns one, but never the stream itself.
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
    """Closes a generator, so that its `finally` runs now, even if the response fails."""
    aclose = getattr(stream, "aclose", None)
    if aclose is not None:
        # PERF: a finished generator has nothing to close, and a cancel scope costs time.
        if getattr(stream, "ag_frame", stream) is None:
            return
        from anyio import CancelScope

        with CancelScope(shield=True):
            await aclose()
        return
    close = getattr(stream, "close", None)
    if close is not None:
        close()


def iterate_chunks(body: bytes | Stream) -> AsyncGenerator[bytes, None]:
    """Returns the chunks of a body; a caller that stops early must close the generator."""
    return iterate([body] if isinstance(body, bytes) else body)


class StreamChannel:
    """Returns the chunks of a stream as ASGI messages; closes the stream at its end.

    Attributes:
        failure: The exception that every call raises once the stream has failed or was lost.
    """

    __slots__ = ("_chunks", "_stream", "failure")

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._chunks: Any = None
        self.failure: Exception | None = None

    async def receive(self) -> dict[str, Any]:
        """Returns the next chunk; raises the stream's exception, or TypeError if it was lost."""
        if self.failure is not None:
            raise self.failure
        can_go_on = getattr(self._stream, "survives_cancellation", False)
        if self._chunks is None:
            self._chunks = self._stream if can_go_on else iterate(self._stream)
        try:
            chunk = await anext(self._chunks)
        except StopAsyncIteration:
            await self.aclose()
            return {"type": "http.request", "body": b"", "more_body": False}
        except BaseException as error:
            if not can_go_on:
                lost = TypeError("The body is lost: the task that read it was cancelled")
                self.failure = error if isinstance(error, Exception) else lost
                await self.aclose()
            raise
        return {"type": "http.request", "body": chunk, "more_body": True}

    async def aclose(self) -> None:
        """Closes the stream."""
        if self._chunks is not None and self._chunks is not self._stream:
            await close_stream(self._chunks)
        await close_stream(self._stream)


def decode_text(data: bytes) -> str:
    """Decodes UTF-8 (WHATWG Encoding section 6), without a BOM; invalid bytes become U+FFFD."""
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
