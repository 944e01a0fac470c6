# SPDX-License-Identifier: MIT
"""The end of an answer in a test: its body is read, and its background tasks are done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from kit.web import BodyStream


class ExecutionContext:
    """What `c.execution_ctx` is in a test: it keeps the tasks of `wait_until` until `finish`.

    The test client makes one for each request and finishes it. Make one for `app.request`, or to
    leave something in it before a request:

        context = ExecutionContext()
        response = await app.request("/", execution_ctx=context)
        await context.finish()
    """

    def __init__(self) -> None:
        self._waiting: list[Awaitable[Any]] = []
        self._failures: list[Exception] = []
        self._group: Any = None
        self._lock: Any = None

    def wait_until(self, awaitable: Awaitable[Any], /) -> None:
        """Keeps a task for `finish`.

        Args:
            awaitable: A coroutine or other awaitable.

        Raises:
            TypeError: If it can't be awaited.
        """
        if not hasattr(awaitable, "__await__"):
            raise TypeError(
                f"wait_until() takes an awaitable, not {type(awaitable).__name__}: "
                "call the async function first"
            )
        if self._group is None:
            self._waiting.append(awaitable)
        else:
            self._group.start_soon(self._run, awaitable)

    async def finish(self) -> None:
        """Runs all that was left here, side by side, and what those tasks leave in turn.

        Raises:
            Exception: What a task raised; all are run nevertheless.
            ExceptionGroup: If several of them raised something.
        """
        from anyio import Lock, create_task_group

        if self._lock is None:
            self._lock = Lock()
        # Requests at the same time may share a context; each waits for its own tasks.
        async with self._lock:
            try:
                async with create_task_group() as self._group:
                    waiting, self._waiting = self._waiting, []
                    for awaitable in waiting:
                        self._group.start_soon(self._run, awaitable)
            finally:
                self._group = None
            failures, self._failures = self._failures, []
        if len(failures) == 1:
            raise failures[0]
        if failures:
            raise ExceptionGroup("Several wait_until tasks failed", failures)

    async def _run(self, awaitable: Awaitable[Any]) -> None:
        try:
            await awaitable
        except Exception as error:
            self._failures.append(error)
        except BaseException:
            # Cancelled: either all of it, or an awaited task by itself, which is no fault.
            cancelled = getattr(awaitable, "cancelled", None)
            if cancelled is None or not cancelled():
                raise

    def close(self) -> None:
        """Gives up what was not run."""
        waiting, self._waiting = self._waiting, []
        for awaitable in waiting:
            close = getattr(awaitable, "close", None)
            if close is not None:
                close()


class WatchedBody:
    """A streamed body after whose end the background tasks run, as when it is served.

    It is no generator: an event loop that ends would close it before the one that reads it.

    Args:
        stream: The body.
        finish: Runs the tasks.
        unread: The bodies that are not read to their end; it is one of them till then.
    """

    def __init__(
        self, stream: BodyStream, finish: Callable[[], Awaitable[None]], unread: set[WatchedBody]
    ) -> None:
        self._stream = stream
        self._finish = finish
        self._unread = unread
        unread.add(self)

    def __aiter__(self) -> WatchedBody:
        return self

    async def __anext__(self) -> bytes:
        try:
            return await anext(self._stream)
        except Exception:  # StopAsyncIteration among them
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """Closes the body wherever it is, and runs the tasks."""
        if self not in self._unread:
            return
        self._unread.discard(self)
        try:
            await self._stream.aclose()
        finally:
            await self._finish()
