# SPDX-License-Identifier: MIT
"""Runs the lifespan of an app around a test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from kit.concurrency import DetachedTask


class LifespanTask:
    """Runs a lifespan in a task of its own, as a server does.

    The lifespan's cancel scopes belong to that task. So one task may start it and another end it,
    as pytest-asyncio does with the two halves of a fixture.

    Args:
        lifespan: The context manager to enter and exit.
    """

    def __init__(self, lifespan: AbstractAsyncContextManager[Any]) -> None:
        self._lifespan = lifespan
        self._failure: BaseException | None = None

    async def start(self) -> None:
        """Enters the lifespan.

        Raises:
            Exception: The exception that its startup raised.
            RuntimeError: If that was a cancellation, although nothing cancelled the lifespan.
        """
        from anyio import Event

        self._started = Event()
        self._stop = Event()
        self._task = DetachedTask(self._live, on_end=self._started.set)
        await self._wait_for(self._started.wait)
        if self._task.over and self._failure is not None:
            raise self._failure

    async def end(self) -> None:
        """Exits the lifespan.

        Raises:
            Exception: The exception that its shutdown raised, or one of its tasks before that.
        """
        self._stop.set()
        await self._wait_for(self._task.wait)
        if self._failure is not None:
            raise self._failure

    async def _live(self) -> None:
        from anyio import get_cancelled_exc_class

        try:
            async with self._lifespan:
                self._started.set()
                await self._stop.wait()
        except get_cancelled_exc_class() as error:
            if not (self._started.is_set() or self._task.is_cancelled):
                self._failure = RuntimeError(
                    f"The startup of the lifespan raised {type(error).__name__}: it may have "
                    "awaited a task that was cancelled"
                )
                self._failure.__cause__ = error
            raise
        except BaseException as error:  # pytest.fail() raises no Exception
            self._failure = error

    async def _wait_for(self, wait: Callable[[], Awaitable[None]]) -> None:
        """Waits; if cancelled meanwhile, as by a timeout, also cancels the lifespan."""
        try:
            await wait()
        except BaseException:
            await self._task.cancel_and_wait()
            raise
