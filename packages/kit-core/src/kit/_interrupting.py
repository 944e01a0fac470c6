# SPDX-License-Identifier: MIT
"""Ends work that waits, when nobody is left to do it for; on asyncio and trio."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from ._tasks import running_trio


def run_until(over: Callable[[], Awaitable[bool]], work: Awaitable[None]) -> Awaitable[None]:
    """Gives what runs work, and cancels it where it waits as soon as `over` gives True.

    `over` is asked only once the work waits for the first time.

    Args:
        over: Waits until the work has lost its purpose; False where it can't tell any more.
        work: What is to be done.

    Raises:
        Exception: When awaited, what the work or `over` raised.
    """
    return (_run_on_asyncio if running_trio() is None else _run_on_trio)(over, work)


async def _run_on_asyncio(over: Callable[[], Awaitable[bool]], work: Awaitable[None]) -> None:
    # PERF: a task group of anyio costs more than a short stream, and so does a task that ends
    # before it was needed. How the cancellation is told from others is as in asyncio.timeout().
    import asyncio

    loop = asyncio.get_running_loop()
    task: Any = asyncio.current_task(loop)
    cancellations = task.cancelling()
    watcher: asyncio.Task[None] | None = None
    has_cancelled = False
    failure: Exception | None = None

    async def watch() -> None:
        nonlocal has_cancelled, failure
        try:
            if not await over():
                return
        except Exception as error:
            failure = error
        has_cancelled = True
        task.cancel()

    def begin() -> None:
        nonlocal watcher
        watcher = loop.create_task(watch())

    handle = loop.call_soon(begin)
    try:
        await work
    except asyncio.CancelledError:
        if not has_cancelled or task.uncancel() > cancellations:
            raise
        has_cancelled = False
    finally:
        if has_cancelled:
            task.uncancel()
        handle.cancel()
        if watcher is not None and not watcher.done():
            watcher.cancel()
            await asyncio.wait([watcher])
    if failure is not None:
        raise failure


async def _run_on_trio(over: Callable[[], Awaitable[bool]], work: Awaitable[None]) -> None:
    from anyio import create_task_group

    failure: Exception | None = None

    async def watch() -> None:
        if await over():
            group.cancel_scope.cancel()

    async with create_task_group() as group:
        group.start_soon(watch)
        try:
            await work
        except Exception as error:  # raised below: a task group would wrap it
            failure = error
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure
