# SPDX-License-Identifier: MIT
"""The lifespan of an app around a test."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from kit._concurrency.tasks import start_task


class LifespanTask:
    """Runs a lifespan in a task of its own, as a server does.

    Its cancel scopes are those of that task. So it may be started in one task and ended in another,
    as pytest-asyncio does with the two halves of a fixture.

    Args:
        lifespan: What is entered and left.
    """

    def __init__(self, lifespan: AbstractAsyncContextManager[Any]) -> None:
        self._lifespan = lifespan
        self._failure: BaseException | None = None

    async def start(self) -> None:
        """Enters the lifespan.

        Raises:
            Exception: What its startup raised.
        """
        from anyio import CancelScope, Event

        self._scope = CancelScope()
        self._started = Event()
        self._stop = Event()
        self._over = Event()
        self._task = start_task(self._live)  # kept, for asyncio has but a weak reference
        await self._wait_for(self._started)
        if self._over.is_set() and self._failure is not None:
            raise self._failure

    async def end(self) -> None:
        """Leaves the lifespan.

        Raises:
            Exception: What its shutdown raised, or a task of it before.
        """
        self._stop.set()
        await self._wait_for(self._over)
        if self._failure is not None:
            raise self._failure

    async def _live(self) -> None:
        from anyio import get_cancelled_exc_class

        try:
            with self._scope:
                async with self._lifespan:
                    self._started.set()
                    await self._stop.wait()
        except get_cancelled_exc_class():  # the event loop ends
            raise
        except BaseException as error:  # pytest.fail() is no Exception
            self._failure = error
        finally:
            self._started.set()
            self._over.set()

    async def _wait_for(self, event: Any) -> None:
        """Waits; who is cancelled meanwhile, as by a time limit, cancels the lifespan as well."""
        from anyio import CancelScope

        try:
            await event.wait()
        except BaseException:
            self._scope.cancel()
            with CancelScope(shield=True):
                await self._over.wait()
            raise
