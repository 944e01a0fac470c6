# SPDX-License-Identifier: MIT
"""Runs background tasks in tests, once a response's body has been read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import Context, copy_context
from typing import Any

from kit.authoring.maybe_await import is_awaitable
from kit.web import BodyStream


class ExecutionContext:
    """The `c.execution_ctx` of a test: keeps the tasks of `wait_until` until `finish`.

    The test client creates and finishes one for each request. Create one yourself for
    `app.request`, or to add tasks before a request:

        context = ExecutionContext()
        response = await app.request("/", execution_ctx=context)
        await context.finish()
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[Awaitable[Any], Context]] = []
        self._failures: list[Exception] = []
        self._group: Any = None
        self._lock: Any = None

    def wait_until(self, awaitable: Awaitable[Any], /) -> None:
        """Keeps an awaitable to run in `finish`.

        Args:
            awaitable: A coroutine or other awaitable.

        Raises:
            TypeError: If it can't be awaited.
        """
        if not is_awaitable(awaitable):
            raise TypeError(
                f"wait_until() takes an awaitable, not {type(awaitable).__name__}: "
                "call the async function first"
            )
        if self._group is None:
            self._waiting.append((awaitable, copy_context()))
        else:
            self._group.start_soon(self._run, awaitable)

    async def finish(self) -> None:
        """Runs all kept tasks concurrently, and the tasks that they add in turn.

        Raises:
            Exception: The exception of a task; the other tasks run nevertheless.
            ExceptionGroup: If several tasks failed.
        """
        from anyio import Lock, create_task_group

        if self._lock is None:
            self._lock = Lock()
        # Concurrent requests may share a context; each waits for its own tasks.
        async with self._lock:
            try:
                async with create_task_group() as self._group:
                    waiting, self._waiting = self._waiting, []
                    for awaitable, context in waiting:
                        context.run(self._group.start_soon, self._run, awaitable)
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
            # Cancelled: either this whole task, or only the awaited one, which is not an error.
            cancelled = getattr(awaitable, "cancelled", None)
            if cancelled is None or not cancelled():
                raise

    def close(self) -> None:
        """Closes the awaitables that have not run."""
        waiting, self._waiting = self._waiting, []
        for awaitable, _ in waiting:
            close = getattr(awaitable, "close", None)
            if close is not None:
                close()


class WatchedBody:
    """A streamed body that runs the background tasks at its end, as when it is served.

    Not an async generator: loop shutdown would close it before the generator that reads it.

    Args:
        stream: The body.
        finish: Runs the tasks.
        unread: The set of bodies that have not been read to their end; contains this one till then.
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
        except Exception:  # including StopAsyncIteration
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """Closes the body, read to its end or not, and runs the tasks."""
        if self not in self._unread:
            return
        self._unread.discard(self)
        try:
            await self._stream.aclose()
        finally:
            await self._finish()
