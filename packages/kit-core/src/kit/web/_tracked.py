# SPDX-License-Identifier: MIT
"""Bodies that record how much of them is read, for code that logs or measures responses."""

from __future__ import annotations

from typing import Any

from ._body import USED
from ._streams import Stream, close_stream, encode_chunk, iterate

__all__ = ("BodyProgress", "TrackedStream", "track")


class BodyProgress:
    """How much of a body was read.

    Attributes:
        size_bytes: Number of bytes read so far; the whole size for a body in memory.
        is_begun: Whether reading has begun; True for a body in memory.
        is_complete: Whether the whole body was read; True for a body in memory.
        failure: The exception that ended reading early, or None.
    """

    __slots__ = ("failure", "is_begun", "is_complete", "size_bytes")

    def __init__(self, size_bytes: int = 0, *, is_complete: bool = True) -> None:
        self.size_bytes = size_bytes
        self.is_begun = self.is_complete = is_complete
        self.failure: BaseException | None = None


class TrackedStream:
    """Wraps a stream and records its progress.

    It isn't an async generator, since closing one that hasn't begun would not close the stream.
    """

    __slots__ = ("_chunks", "_stream", "progress")

    def __init__(self, stream: Any, progress: BodyProgress) -> None:
        self._stream = stream
        self._chunks: Any = None
        self.progress = progress

    @property
    def send_path(self) -> str | None:
        """See `kit.interface.PathBody`."""
        path: str | None = getattr(self._stream, "send_path", None)
        return path

    def __aiter__(self) -> TrackedStream:
        return self

    async def __anext__(self) -> bytes:
        progress = self.progress
        if self._chunks is None:
            progress.is_begun = True
            stream = self._stream
            is_async = hasattr(stream, "__aiter__")
            self._chunks = stream.__aiter__() if is_async else iterate(stream)
        try:
            chunk = encode_chunk(await self._chunks.__anext__())
        except StopAsyncIteration:
            progress.is_complete = True
            raise
        except BaseException as error:
            progress.failure = error
            raise
        progress.size_bytes += len(chunk)
        return chunk

    async def client_left(self) -> None:
        """See `kit._serving.stream.WatchingBody`."""
        client_left = getattr(self._stream, "client_left", None)
        if client_left is not None:
            await client_left()

    async def aclose(self) -> None:
        """Closes the stream."""
        try:
            if self._chunks is not None and self._chunks is not self._stream:
                await close_stream(self._chunks)
        finally:
            await close_stream(self._stream)


class _TrackedPush(TrackedStream):
    """Wraps a `PushBody`, such as the bodies of `kit.streaming`, and records its progress."""

    __slots__ = ()

    @property
    def gone(self) -> bool:
        """See `PushBody`."""
        return bool(self._stream.gone)

    async def write_to(self, sink: Any) -> bool:
        """See `PushBody`."""
        progress = self.progress
        progress.is_begun = True

        async def counting(chunk: bytes) -> None:
            progress.size_bytes += len(chunk)  # counted even if sending is cancelled
            await sink(chunk)

        try:
            progress.is_complete = await self._stream.write_to(counting)
        except BaseException as error:
            progress.failure = error
            raise
        return progress.is_complete


def track(body: bytes | Stream | None) -> tuple[bytes | Stream | None, BodyProgress]:
    """Returns a body that replaces the given one, and its progress."""
    if isinstance(body, bytes):
        return body, BodyProgress(len(body))
    if body is None or body is USED:
        return body, BodyProgress()
    if isinstance(body, TrackedStream):
        return body, body.progress
    progress = BodyProgress(is_complete=False)
    kind = _TrackedPush if hasattr(body, "write_to") else TrackedStream
    return kind(body, progress), progress
