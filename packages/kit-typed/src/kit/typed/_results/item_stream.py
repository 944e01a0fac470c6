# SPDX-License-Identifier: MIT
"""The body of a streamed response, whose items come from a generator."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic
from typing import Any

from kit.authoring.bodies import close_body
from kit.authoring.cancellation import Cancellation
from kit.authoring.event_loops import running_trio
from kit.authoring.tasks import DetachedTask, Signal
from kit.http.server_sent_events import KEEP_ALIVE

_logger = logging.getLogger("kit")
# A response starts after this time at the latest, so that clients and proxies don't time out.
_FIRST_ITEM_S = 1.0
# Items that come at once are sent together, within these limits.
_MOST_ITEMS = 64
_MOST_BYTES = 65_536
_LONGEST_S = 0.001


class ItemStream:
    """Encodes the items of a generator, which runs in a task of its own.

    A single task runs the whole generator, since cancel scopes and task groups in it must be left
    by the task that has entered them. Any task may read the encoded items. A generator that
    is faster than the reader waits for it.

    Args:
        items: The generator, or another iterable, plain or async. It is closed at the end.
        encode: Encodes an item; b"" for one that isn't sent.
        keep_alive_s: Seconds without an item after which a comment is sent; None: never.
    """

    def __init__(
        self, items: Any, encode: Callable[[Any], bytes], keep_alive_s: float | None
    ) -> None:
        self._items = items
        self._encode = encode
        self._keep_alive_s = keep_alive_s
        self._chunks: list[bytes] = []
        self._size = 0
        self._send_by = 0.0
        self._changed = Signal()
        self._taken = Signal()
        self._cancellation: Cancellation | None = None
        self._is_in_generator = True
        self._is_complete = False
        self._is_closed = False
        self._task = DetachedTask(self._run, changed=self._changed)

    async def wait_for_first(self) -> None:
        """Waits for the first item, for at most a second.

        Raises:
            Exception: The exception of a generator that has yielded nothing.
        """
        from anyio import move_on_after

        try:
            with move_on_after(_FIRST_ITEM_S):
                while not (self._chunks or self._task.over):
                    await self._changed.wait()
        except BaseException:  # cancelled, e.g. by a timeout of the request
            try:
                await self.aclose()
            except Exception:
                _logger.exception("Exception while closing a stream that isn't sent")
            raise
        if not self._chunks:
            self._raise_failure()

    def __aiter__(self) -> ItemStream:
        return self

    async def __anext__(self) -> bytes:
        while not self._chunks:
            if self._task.over:
                self._raise_failure()
                if self._is_complete or self._is_closed:
                    raise StopAsyncIteration
                raise RuntimeError("The task of the stream was cancelled: it is incomplete")
            if not await self._wait():
                return KEEP_ALIVE
        chunk = b"".join(self._chunks)
        self._chunks.clear()
        self._size = 0
        self._taken.tell()
        return chunk

    async def aclose(self) -> None:
        """Ends the generator where it waits, and waits until it has cleaned up.

        Raises:
            Exception: The exception of the generator, unless it was raised before.
        """
        self._is_closed = True
        if not self._task.over:
            await self._end_task()
        self._raise_failure()

    async def _end_task(self) -> None:
        from anyio import CancelScope

        if not self._is_in_generator:  # it waits for the reader, or cleans up
            self._taken.tell()
        elif self._cancellation is not None:
            self._cancellation.request()
        else:  # on trio, or before the task has begun
            await self._task.cancel_and_wait()
            return
        with CancelScope(shield=True):
            await self._task.wait()

    def _raise_failure(self) -> None:
        """Raises the exception of the generator once."""
        failure, self._task.failure = self._task.failure, None
        if failure is not None:
            raise failure

    async def _wait(self) -> bool:
        """Waits for a change; returns False if it is time for a comment."""
        if self._keep_alive_s is None:
            await self._changed.wait()
            return True
        from anyio import move_on_after

        with move_on_after(self._keep_alive_s) as scope:
            await self._changed.wait()
        return not scope.cancelled_caught

    async def _run(self) -> None:
        if running_trio() is not None:
            from anyio import CancelScope

            with CancelScope() as scope:
                await self._iterate(scope)
            return
        # Unlike a cancel scope, it lets the generator await in its `finally` blocks.
        with Cancellation() as self._cancellation:
            await self._iterate(None)

    async def _iterate(self, scope: Any) -> None:
        """Encodes the items.

        Args:
            scope: The cancel scope around this call. It becomes the shield of the clean-up; a scope
                entered then would interleave with those in which the generator has yielded.
        """
        is_async = hasattr(self._items, "__aiter__")
        items = self._items.__aiter__() if is_async else iter(self._items)
        try:
            if is_async:
                async for item in items:
                    if self._add(self._encode(item)) and not await self._is_wanted():
                        return
            else:
                for item in items:
                    if self._add(self._encode(item)) and not await self._is_wanted():
                        return
            self._is_complete = True
        finally:
            self._is_in_generator = False
            if scope is not None:
                scope.shield = True
            if is_async:
                await _close(items)
            elif hasattr(items, "close"):
                items.close()

    def _add(self, chunk: bytes) -> bool:
        """Adds an encoded item; returns whether the reader has to take it before the next one."""
        if not chunk:
            return False
        now = monotonic()
        if not self._chunks:
            self._send_by = now + _LONGEST_S
            self._changed.tell()
        self._chunks.append(chunk)
        self._size += len(chunk)
        return now > self._send_by or len(self._chunks) >= _MOST_ITEMS or self._size >= _MOST_BYTES

    async def _is_wanted(self) -> bool:
        """Waits until the reader takes the items; returns False if it has left."""
        self._is_in_generator = False
        while self._chunks and not self._is_closed:
            await self._taken.wait()
        self._is_in_generator = True
        return not self._is_closed


async def _close(items: Any) -> None:
    """Closes an async generator, or another iterator."""
    try:
        await close_body(items)
    except BaseExceptionGroup as group:
        # A nursery of trio in which the generator has yielded wraps the exception that closes it.
        rest = group.split(GeneratorExit)[1]
        if rest is not None:
            raise rest from group.__cause__
