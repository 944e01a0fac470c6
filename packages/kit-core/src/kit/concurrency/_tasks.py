# SPDX-License-Identifier: MIT
"""Differences between asyncio and trio that anyio doesn't cover."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from typing import Any

from kit.authoring.event_loops import running_trio


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


def threadsafe_call() -> Callable[[Callable[[], object]], object]:
    """Returns a function that runs another one in the running event loop, from any thread.

    The returned function raises RuntimeError once the event loop has ended.
    """
    trio = running_trio()
    if trio is not None:
        return trio.lowlevel.current_trio_token().run_sync_soon  # type: ignore[no-any-return]
    import asyncio

    return asyncio.get_running_loop().call_soon_threadsafe
