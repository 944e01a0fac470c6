# SPDX-License-Identifier: MIT
"""Tasks that outlive who starts them, on asyncio and trio, and how they wait for each other."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from sys import modules
from typing import Any


class Signal:
    """Wakes all that wait for a change, whatever it is; each then looks whether it is theirs."""

    __slots__ = ("_event",)

    def __init__(self) -> None:
        self._event: Any = None

    def tell(self) -> None:
        """Wakes all that wait."""
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
    """Starts a task that outlives the one that starts it, with the context variables of that.

    A task group of anyio would have to be open from one call to another, where its cancel scope
    would get into those that the callers have open.

    Args:
        work: An async function. It may raise nothing, as trio has nobody to tell.

    Returns:
        The task, to be kept: asyncio itself has but a weak reference to one that waits.
    """
    trio = running_trio()
    if trio is not None:
        return trio.lowlevel.spawn_system_task(work, context=copy_context())
    import asyncio

    return asyncio.get_running_loop().create_task(work())


def threadsafe_call() -> Callable[[Callable[[], object]], object]:
    """What calls a function in the running event loop, from any thread.

    It raises RuntimeError when the event loop has ended.
    """
    trio = running_trio()
    if trio is not None:
        return trio.lowlevel.current_trio_token().run_sync_soon  # type: ignore[no-any-return]
    import asyncio

    return asyncio.get_running_loop().call_soon_threadsafe


def running_trio() -> Any:
    """Gives the module trio, if the running event loop is one of it; else None."""
    if "trio" not in modules:
        return None
    trio: Any = modules["trio"]
    try:
        trio.lowlevel.current_task()
    except RuntimeError:  # imported, but it does not run here
        return None
    return trio
