# SPDX-License-Identifier: MIT
"""Splits a stream for several readers, for `clone` (WHATWG Streams, "ReadableStreamTee")."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing, suppress
from functools import partial
from typing import Any

from kit.concurrency import DetachedTask, Signal, threadsafe_call

from ._streams import Stream, close_stream, iterate


def tee(stream: Stream) -> tuple[Branch, Branch]:
    """Returns two streams with the content of one, which must not be read directly afterwards.

    The faster reader sets the pace; chunks that the slower one hasn't read yet are kept in memory.
    Both get an exception of the stream at the same position.
    """
    if isinstance(stream, Branch):
        return stream, stream.fork()
    source = _Source(stream)
    return Branch(source), Branch(source)


class Branch:
    """The stream as seen by one of its readers.

    A cancelled read takes nothing. A branch isn't an async generator, since loop shutdown would
    close it at once, together with the generators around it.
    """

    __slots__ = ("_chunks", "_closed", "_source")

    survives_cancellation = True

    def __init__(self, source: _Source, chunks: Iterable[bytes] = ()) -> None:
        self._source = source
        self._chunks = deque(chunks)
        self._closed = False
        source.add(self._chunks)

    def fork(self) -> Branch:
        """Returns another reader of the chunks that this branch has not read yet."""
        return Branch(self._source, self._chunks)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        while not self._chunks:
            if self._closed or not await self._source.wait():
                raise StopAsyncIteration
        return self._chunks.popleft()

    async def aclose(self) -> None:
        """Stops reading; closing the last branch closes the stream."""
        if not self._closed:
            self._closed = True
            self._chunks.clear()
            await self._source.leave(self._chunks)

    def __del__(self) -> None:
        # A finalizer may run in another thread, or in the middle of other code.
        if not self._closed:
            self._source.drop_from_anywhere(self._chunks)


class _Source:
    """Reads the stream for its branches.

    It reads in its own task, since one reader may be cancelled while another waits for the same
    chunk, and a generator must run in the same task from start to end.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._branches: list[deque[bytes]] = []
        self._changed = Signal()
        self._is_wanted = False
        self._is_complete = False
        self._over = False
        self._task: DetachedTask | None = None
        self._call_soon: Any = None

    def add(self, chunks: deque[bytes]) -> None:
        """Adds a branch, which gets every chunk from now on."""
        self._branches.append(chunks)

    async def wait(self) -> bool:
        """Waits for a new chunk; returns False at the end, and raises the stream's exception."""
        if self._over:
            self._check()
            return False
        self._is_wanted = True
        if self._task is None:
            self._call_soon = threadsafe_call()
            self._task = DetachedTask(
                self._read, changed=self._changed, on_end=self._end, cleans_up=True
            )
        else:
            self._changed.tell()
        await self._changed.wait()
        return True

    async def leave(self, chunks: deque[bytes]) -> None:
        """Removes a branch; removing the last one closes the stream."""
        was_over = self._over
        self._drop(chunks)
        if self._branches or was_over:
            return
        if self._task is None:
            self._over = True
            await close_stream(self._stream)
            return
        await self._task.cancel_and_wait()
        if self._over:
            self._check()

    def drop_from_anywhere(self, chunks: deque[bytes]) -> None:
        """Removes a branch that was dropped unread, from any thread."""
        if self._task is None:
            self._drop(chunks)
        elif not self._over:
            with suppress(RuntimeError):  # the event loop is closed
                self._call_soon(partial(self._drop, chunks))

    def _drop(self, chunks: deque[bytes]) -> None:
        self._branches = [each for each in self._branches if each is not chunks]
        if not self._branches and self._task is not None:
            self._task.cancel()
        self._changed.tell()

    def _check(self) -> None:
        if self._task is None or self._is_complete:
            return
        raise self._task.failure or RuntimeError(
            "The body is not complete: the event loop that read it has ended"
        )

    def _end(self) -> None:
        self._over = True
        task = self._task
        if task is not None and task.failure is None and task.is_cancelled:
            self._is_complete = True  # no reader is left that could get an error

    async def _read(self) -> None:
        try:
            if not self._branches:  # all branches were closed before this task began
                return
            async with aclosing(iterate(self._stream)) as chunks:
                async for chunk in chunks:
                    if chunk:
                        await self._give(chunk)
        finally:
            await close_stream(self._stream)
        self._is_complete = True

    async def _give(self, chunk: bytes) -> None:
        """Hands a chunk to all branches, and waits until one of them needs another."""
        self._is_wanted = False
        for chunks in self._branches:
            chunks.append(chunk)
        self._changed.tell()
        while not self._is_wanted:
            await self._changed.wait()
