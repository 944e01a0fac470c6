# SPDX-License-Identifier: MIT
"""Work that several tasks wait for, and that none of them takes with it when it is cancelled."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from kit._concurrency.tasks import Signal, start_task


class SharedTask:
    """Runs an async function in a task of its own, as long as somebody waits for its end.

    Args:
        work: The function. It is cancelled when the last one that waits is.

    Attributes:
        over: Whether it has ended, however it did.
    """

    __slots__ = (
        "_changed",
        "_failure",
        "_has_begun",
        "_scope",
        "_task",
        "_waiting",
        "_work",
        "over",
    )

    def __init__(self, work: Callable[[], Awaitable[None]]) -> None:
        from anyio import CancelScope

        self._work = work
        self._scope = CancelScope()
        self._changed = Signal()
        self._waiting = 0
        self._has_begun = False
        self._failure: Exception | None = None
        self.over = False
        self._task = start_task(self._run)  # kept, for asyncio has but a weak reference

    async def wait(self) -> None:
        """Waits for the end.

        Raises:
            Exception: What the work raised.
        """
        self._waiting += 1
        try:
            while not self.over:
                await self._changed.wait()
        except BaseException:
            if self._waiting == 1:
                await self._cancel()
            raise
        finally:
            self._waiting -= 1
        if self._failure is not None:
            raise self._failure

    async def _cancel(self) -> None:
        from anyio import CancelScope

        self._scope.cancel()
        # A task may be cancelled before it has begun, and never does then.
        with CancelScope(shield=True):
            while self._has_begun and not self.over:
                await self._changed.wait()

    async def _run(self) -> None:
        self._has_begun = True
        try:
            with self._scope:
                if not self._scope.cancel_called:
                    await self._work()
        except Exception as error:
            self._failure = error
        finally:
            self.over = True
            self._changed.tell()
