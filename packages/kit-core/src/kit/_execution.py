# SPDX-License-Identifier: MIT
"""Work that goes on after the response was sent."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import Any

_logger = logging.getLogger("kit")


class BackgroundTasks:
    """The execution context of a served request: runs its tasks after the response."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: list[Awaitable[Any]] = []

    def wait_until(self, awaitable: Awaitable[Any], /) -> None:
        """Runs `awaitable` after the response was sent.

        Args:
            awaitable: A coroutine or other awaitable. An exception in it is logged.

        Raises:
            TypeError: If it can't be awaited.
        """
        if not hasattr(awaitable, "__await__"):
            raise TypeError(
                f"wait_until() takes an awaitable, not {type(awaitable).__name__}: "
                "call the async function first"
            )
        self._waiting.append(awaitable)

    async def run(self) -> None:
        """Runs all that was left here, side by side, and what those leave in turn."""
        from anyio import create_task_group

        while self._waiting:
            waiting, self._waiting = self._waiting, []
            async with create_task_group() as group:
                for awaitable in waiting:
                    group.start_soon(_run_one, awaitable)


async def _run_one(awaitable: Awaitable[Any]) -> None:
    try:
        await awaitable
    except Exception:
        _logger.exception("A wait_until task failed; its response was sent before")
