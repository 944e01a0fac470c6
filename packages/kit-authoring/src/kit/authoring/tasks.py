# SPDX-License-Identifier: MIT
"""Tasks that outlive the code that starts them, on asyncio and trio."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import copy_context
from typing import Any

from .cancellation import find_fault
from .event_loops import running_trio

__all__ = ("DetachedTask", "Signal", "start_task")

# Keeps running tasks alive, since an event loop holds only weak references to waiting tasks.
_under_way: set[DetachedTask] = set()


class Signal:
    """Wakes every task that waits for a change; each then checks whether the change concerns it.

    Unlike an event it has no state, so it can be used repeatedly.
    """

    __slots__ = ("_event",)

    def __init__(self) -> None:
        self._event: Any = None

    def tell(self) -> None:
        """Wakes every waiting task."""
        if self._event is not None:
            self._event.set()
            self._event = None

    async def wait(self) -> None:
        """Waits for the next `tell`."""
        if self._event is None:
            from anyio import Event

            self._event = Event()
        await self._event.wait()


def start_task(work: Callable[[], Any]) -> object:
    """Starts a task that outlives the task that starts it, with a copy of its context variables.

    An anyio task group would have to stay open from one call to another, and its cancel scope
    would interleave with the callers' scopes.

    Args:
        work: An async function that never raises, since on trio nothing would catch the exception.

    Returns:
        The task. The caller must keep it, since asyncio holds only weak references to waiting
        tasks.
    """
    trio = running_trio()
    if trio is not None:
        return trio.lowlevel.spawn_system_task(work, context=copy_context())
    import asyncio

    return asyncio.get_running_loop().create_task(work())


class DetachedTask:
    """Runs an async function in its own task, until it ends or is cancelled.

    The function starts at once. Any task may wait for it or cancel it; cancelling a waiting task
    does not cancel the function.

    Args:
        work: The function. An exception that it raises is kept in `failure`.
        changed: Notified when the task has ended. Default: a new signal.
        on_end: Called when the task has ended, before `changed` is notified; not called for a task
            that was cancelled before it began.
        cleans_up: Whether the work runs even if it is cancelled before it begins; it should then
            check `is_cancelled`, and only clean up.

    Attributes:
        over: Whether the task has ended, for any reason.
        failure: The exception that ended it; None while it runs, after a normal end, or if it was
            cancelled.
    """

    def __init__(
        self,
        work: Callable[[], Awaitable[None]],
        *,
        changed: Signal | None = None,
        on_end: Callable[[], object] | None = None,
        cleans_up: bool = False,
    ) -> None:
        from anyio import CancelScope

        self._work = work
        self._changed = changed or Signal()
        self._on_end = on_end
        self._cleans_up = cleans_up
        self._scope = CancelScope()
        self._has_begun = False
        self.over = False
        self.failure: Exception | None = None
        self._task = start_task(self._run)

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._scope.cancel_called

    def cancel(self) -> None:
        """Cancels the work where it waits."""
        self._scope.cancel()

    async def wait(self) -> None:
        """Waits until the task ends."""
        while not self.over:
            await self._changed.wait()

    async def cancel_and_wait(self) -> None:
        """Cancels the work and waits until it has cleaned up, even if the caller is cancelled."""
        from anyio import CancelScope

        self._scope.cancel()
        # A task that is cancelled together with this one before it begins never begins.
        with CancelScope(shield=True):
            while self._has_begun and not self.over:
                await self._changed.wait()

    async def _run(self) -> None:
        if self._scope.cancel_called and not self._cleans_up:
            self.over = True
            self._changed.tell()
            return
        self._has_begun = True
        _under_way.add(self)
        try:
            with self._scope:
                await self._work()
        except BaseException as error:
            self.failure = find_fault(error)
        finally:
            _under_way.discard(self)
            self.over = True
            on_end = self._on_end
            # These are mostly methods of the object that holds this task. Breaking the cycle frees
            # a request and its body as soon as the request is over.
            del self._work, self._on_end
            if on_end is not None:
                on_end()
            self._changed.tell()
