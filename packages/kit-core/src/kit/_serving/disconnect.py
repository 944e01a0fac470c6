# SPDX-License-Identifier: MIT
"""Cancels work when its client disconnects, on asyncio and trio."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Generator
from types import coroutine
from typing import Any

from kit.authoring.cancellation import Cancellation, is_shielded
from kit.authoring.maybe_await import resume
from kit.concurrency import running_trio
from kit.web._streams import close_stream

from .client import Client


@coroutine
def run_for(
    client: Client, work: Coroutine[Any, Any, None], stream: Any
) -> Generator[Any, Any, None]:
    """Runs work for a client, and cancels it where it waits once the client has disconnected.

    On asyncio, listening to the client starts when the work first waits.

    Args:
        client: The client.
        work: The work to run.
        stream: The stream that the work reads from. It is closed at the end, when closing can no
            longer be cancelled.

    Raises:
        Exception: The exception of the work, or of listening to the client.
    """
    try:
        if running_trio() is not None:
            yield from _run_on_trio(client, work).__await__()
        else:
            # PERF: work that never waits completes here, without a watching task.
            # (If it cancels its own task, this counts as an earlier cancellation.)
            for waits_for in work.__await__():
                yield from _watch(client, _resumed(work, waits_for)).__await__()
                break
    finally:
        if getattr(stream, "ag_frame", stream) is not None:  # PERF: None if the generator has ended
            yield from close_stream(stream).__await__()


_resumed = coroutine(resume)


async def _watch(client: Client, work: Awaitable[None]) -> None:
    """Runs work that waits, and listens to the client meanwhile."""
    # PERF: an anyio task group costs more than a short stream.
    import asyncio

    cancellation = client.cancellation = Cancellation()
    failure: Exception | None = None

    async def watch() -> None:
        nonlocal failure
        try:
            if not await client.wait_until_gone():
                return
        except Exception as error:
            failure = error
        cancellation.request()

    watcher = asyncio.get_running_loop().create_task(watch())
    try:
        with cancellation:
            await work
    finally:
        if not watcher.done():
            await _stop(watcher)
    if failure is not None:
        raise failure


async def _stop(watcher: Any) -> None:
    import asyncio

    # Functions that were notified of the disconnect are shielded, and run to completion.
    if not is_shielded(watcher):
        watcher.cancel()
    await asyncio.wait([watcher])


async def _run_on_trio(client: Client, work: Coroutine[Any, Any, None]) -> None:
    from anyio import create_task_group

    failure: Exception | None = None

    async def watch() -> None:
        if await client.wait_until_gone():
            group.cancel_scope.cancel()

    async with create_task_group() as group:
        group.start_soon(watch)
        try:
            await work
        except Exception as error:  # raised below, since a task group would wrap it
            failure = error
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure
