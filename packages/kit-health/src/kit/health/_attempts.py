# SPDX-License-Identifier: MIT
"""Runs a check in a task of its own, which may outlast the probe that started it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from typing import Any

from anyio import CancelScope, Event

from kit.authoring.event_loops import running_trio

__all__ = ("Attempt",)


class Attempt:
    """One run of a check, which starts at once.

    Its task isn't part of the probe's: a task group would wait for a check that can't be cancelled,
    such as one that awaits `anyio.to_thread.run_sync`. If the event loop ends, it cancels the task.

    Args:
        work: The check, as an async function without arguments.

    Attributes:
        over: Set when it has ended, in whatever way.
        is_late: Whether a probe has stopped waiting for it.
        result: The value that the check returned.
        failure: The exception that ended it, if any.
    """

    def __init__(self, work: Callable[[], Awaitable[Any]]) -> None:
        self._work = work
        self._scope = CancelScope()
        self.is_late = False
        self.over = Event()
        self.result: Any = None
        self.failure: BaseException | None = None
        trio = running_trio()
        # Kept, since asyncio holds only weak references to tasks that wait.
        self._task: object = (
            asyncio.get_running_loop().create_task(self._run())
            if trio is None
            else trio.lowlevel.spawn_system_task(self._run, context=copy_context())
        )

    def cancel(self) -> None:
        """Cancels the check, which may take any time to end, or never do so."""
        self._scope.cancel()

    async def _run(self) -> None:
        try:
            with self._scope:
                self.result = await self._work()
        except BaseException as error:
            # For the probe, if it still waits. Raised here, it would end the event loop of trio.
            self.failure = error
        finally:
            self.over.set()
