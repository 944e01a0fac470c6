# SPDX-License-Identifier: MIT
"""Work that several tasks wait for, and that continues when one of them is cancelled."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ._detached_task import DetachedTask


class SharedTask:
    """Runs an async function in a task of its own, as long as any task waits for it.

    Args:
        work: The function. It is cancelled when the last waiting task is cancelled.
    """

    __slots__ = ("_task", "_waiting")

    def __init__(self, work: Callable[[], Awaitable[None]]) -> None:
        self._task = DetachedTask(work)
        self._waiting = 0

    @property
    def over(self) -> bool:
        """Whether the work has ended, in whatever way."""
        return self._task.over

    async def wait(self) -> None:
        """Waits until the work ends.

        Raises:
            Exception: The exception that the work raised.
        """
        self._waiting += 1
        try:
            await self._task.wait()
        except BaseException:
            if self._waiting == 1:
                await self._task.cancel_and_wait()
            raise
        finally:
            self._waiting -= 1
        if self._task.failure is not None:
            raise self._task.failure
