# SPDX-License-Identifier: MIT
"""Runs blocking functions in worker threads, on asyncio and trio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

from kit.authoring.event_loops import running_trio

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


async def run_in_thread(function: Callable[[*Ts], T], /, *args: *Ts) -> T:
    """Calls a function in a worker thread.

    If the caller is cancelled, the function runs to completion, and its result is dropped.

    Args:
        function: A plain function, which may block.
        *args: Its arguments.

    Returns:
        Its return value.

    Raises:
        BaseException: The exception that it raised.
    """
    trio = running_trio()
    if trio is not None:
        result: T = await trio.to_thread.run_sync(lambda: function(*args), abandon_on_cancel=True)
        return result
    # PERF: to_thread of asyncio and anyio copy the context variables, which nothing here reads.
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, function, *args)
