# SPDX-License-Identifier: MIT
"""Runs work after the response has been sent."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from contextvars import Context, copy_context
from typing import Any

from kit.authoring.cancellation import find_fault
from kit.authoring.maybe_await import is_awaitable, settle

_logger = logging.getLogger("kit")


class BackgroundTasks:
    """The execution context of a served request: runs its tasks after the response."""

    __slots__ = ("_group", "_over", "_waiting")

    def __init__(self) -> None:
        self._waiting: list[tuple[Awaitable[Any], Context]] = []
        self._group: Any = None
        self._over = False

    def wait_until(self, awaitable: Awaitable[Any], /, *others: Any) -> None:
        """Runs `awaitable` after the response has been sent.

        The awaitable sees the context variables of the caller.

        Args:
            awaitable: A coroutine or other awaitable. An exception that it raises is logged.
            *others: Not accepted.

        Raises:
            TypeError: If it can't be awaited, or there are other arguments.
            RuntimeError: If the request and all its tasks have ended.
        """
        if self._over:
            raise RuntimeError("wait_until() was called when the request was over")
        if others or not is_awaitable(awaitable):
            given = f"{1 + len(others)} arguments" if others else type(awaitable).__name__
            raise TypeError(f"wait_until() takes one awaitable, not {given}")
        if self._group is None:
            # A middleware may reset its variables before the response is sent.
            self._waiting.append((awaitable, copy_context()))
        else:
            self._group.start_soon(_run_one, awaitable)

    async def run(self) -> None:
        """Runs all tasks concurrently, then the tasks that they add."""
        if not self._waiting:
            self._over = True
            return
        from anyio import create_task_group

        async with create_task_group() as self._group:
            waiting, self._waiting = self._waiting, []
            for awaitable, context in waiting:
                context.run(self._group.start_soon, _run_one, awaitable)
        self._over = True

    def close(self) -> None:
        """Closes the awaitables that have not run because the request was cancelled."""
        self._over = True
        for awaitable, _ in self._waiting:
            close = getattr(awaitable, "close", None)
            if close is not None:
                close()


async def _run_one(awaitable: Awaitable[Any]) -> None:
    try:
        await settle(awaitable, "wait_until()")
    except (Exception, SystemExit):  # in a task, a SystemExit would end the event loop
        _logger.exception("A wait_until task failed; its response was sent before")
    except BaseException as error:
        # Either this task was cancelled, or only the awaited one, which doesn't affect others.
        cancelled = getattr(awaitable, "cancelled", None)
        if cancelled is not None and cancelled():
            _logger.debug("A wait_until task was cancelled")
            return
        fault = find_fault(error)
        _logger.error("A wait_until task failed; its response was sent before", exc_info=fault)
