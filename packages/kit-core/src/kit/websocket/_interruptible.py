# SPDX-License-Identifier: MIT
"""Ends calls of a server that wait for a client which does nothing."""

from __future__ import annotations

from asyncio import CancelledError, Task, current_task
from collections.abc import Awaitable, Callable
from typing import Any

from kit.interface.event_loops import running_trio


class CallInterruptedError(OSError):
    """The call was ended by `Interruptible.interrupt`."""


class Interruptible:
    """Calls an async function, one call at a time, until it is interrupted.

    Args:
        function: The function, such as an ASGI `send`.
    """

    # PERF: each message passes through. On asyncio, a cancel scope would take ten times as long as
    # noting the task.

    __slots__ = ("_cancel", "_cancels_before", "_function", "_is_on_trio", "_task")

    def __init__(self, function: Callable[..., Awaitable[Any]]) -> None:
        self._function = function
        self._is_on_trio = running_trio() is not None
        self._cancel: Callable[[], object] | None = None  # on trio
        self._task: Task[Any] | None = None  # on asyncio
        self._cancels_before: int | None = None

    async def __call__(self, *args: Any) -> Any:
        """Calls the function.

        Raises:
            CallInterruptedError: If `interrupt` is called meanwhile.
            Exception: Whatever the function raises.
        """
        if self._is_on_trio:
            return await self._call_on_trio(*args)
        self._task = task = current_task()
        try:
            return await self._function(*args)
        except CancelledError:
            before = self._cancels_before
            # As in asyncio.timeout: the task may have been cancelled by others, too.
            if before is None or task is None or task.cancelling() > before + 1:
                raise
            raise CallInterruptedError("The call was interrupted") from None
        finally:
            self._task = None
            if self._cancels_before is not None and task is not None:
                self._cancels_before = None
                task.uncancel()

    async def _call_on_trio(self, *args: Any) -> Any:
        from anyio import CancelScope

        with CancelScope() as scope:
            self._cancel = scope.cancel
            try:
                return await self._function(*args)
            finally:
                self._cancel = None
        raise CallInterruptedError("The call was interrupted")

    def interrupt(self) -> None:
        """Ends the call that is running, if there is one."""
        if self._cancel is not None:
            self._cancel()
        task = self._task
        if task is not None and self._cancels_before is None:
            self._cancels_before = task.cancelling()
            task.cancel()
