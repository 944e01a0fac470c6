# SPDX-License-Identifier: MIT
"""Cancels work when the client it is for has disconnected, on asyncio and trio."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator
from types import coroutine
from typing import Any

from kit.authoring.cancellation import Cancellation, is_shielded
from kit.authoring.maybe_await import resume
from kit.concurrency import running_trio
from kit.web._streams import close_stream


@coroutine
def run_until(
    over: Callable[[], Awaitable[bool]], work: Coroutine[Any, Any, None], stream: Any = None
) -> Generator[Any, Any, None]:
    """Runs work, and cancels it where it waits as soon as `over` returns True.

    On asyncio, `over` is called only once the work waits for the first time.

    Args:
        over: Waits until the work is no longer needed, and returns True; returns False if it can
            no longer tell.
        work: The work to run.
        stream: The stream that the work reads from. It is closed at the end, when `over` can no
            longer cancel that.

    Raises:
        Exception: The exception of the work or of `over`.
    """
    try:
        if running_trio() is not None:
            yield from _run_on_trio(over, work).__await__()
        else:
            # PERF: work that never waits is completed here, without a task to watch over it.
            # (If it cancels its own task meanwhile, that counts as a cancellation from before.)
            for waits_for in work.__await__():
                yield from _watch(over, _resumed(work, waits_for)).__await__()
                break
    finally:
        if getattr(stream, "ag_frame", stream) is not None:  # PERF: None if the generator has ended
            yield from close_stream(stream).__await__()


_resumed = coroutine(resume)


async def _watch(over: Callable[[], Awaitable[bool]], work: Awaitable[None]) -> None:
    """Runs work that waits, and watches `over` meanwhile."""
    # PERF: a task group of anyio costs more than a short stream.
    import asyncio

    cancellation = Cancellation()
    failure: Exception | None = None

    async def watch() -> None:
        nonlocal failure
        try:
            if not await over():
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

    # Shielded, functions that were told that the client is gone run to their end.
    if not is_shielded(watcher):
        watcher.cancel()
    await asyncio.wait([watcher])


async def _run_on_trio(
    over: Callable[[], Awaitable[bool]], work: Coroutine[Any, Any, None]
) -> None:
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
