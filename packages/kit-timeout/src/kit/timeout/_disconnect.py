# SPDX-License-Identifier: MIT
"""The middleware that cancels handlers when their client has disconnected."""

from __future__ import annotations

import logging
from asyncio import get_running_loop, wait
from collections.abc import Awaitable, Callable, Generator
from types import coroutine
from typing import Any

from anyio import create_task_group

from kit.authoring.cancellation import Cancellation
from kit.authoring.event_loops import running_trio
from kit.authoring.maybe_await import resume
from kit.interface import Context, Middleware, Next

__all__ = ("cancel_on_disconnect",)

_logger = logging.getLogger("kit")
# The status in access logs for a client that closed the request; it is never sent.
_CLIENT_CLOSED_REQUEST = 499


def cancel_on_disconnect() -> Middleware:
    """Returns middleware that cancels the handlers when the client disconnects.

    They are cancelled at their current `await`, on asyncio and trio, as with `timeout`; `finally`
    blocks and context managers run, and may await on asyncio. Outer middleware sees a response with
    status 499, which isn't sent. `c.execution_ctx.wait_until` work still runs.

    The handlers can still read the body of the request. While more than 64 KiB of it are buffered,
    or the server holds it back, disconnects go unnoticed. A request made in process has no client
    that could disconnect.

    Returns:
        The middleware, for `app.use(...)` or a route.

    Example:
        app.get("/reports/:id", cancel_on_disconnect(), make_report)
    """

    async def cancel_on_disconnect(c: Context[Any, Any], next: Next) -> None:
        run = _run if running_trio() is None else _run_on_trio
        if await run(next(), c):
            _logger.debug("The client disconnected; the handlers of its request were cancelled")
            c.res = c.body(None, _CLIENT_CLOSED_REQUEST)

    return cancel_on_disconnect


@coroutine
def _run(work: Awaitable[None], c: Context[Any, Any]) -> Generator[Any, Any, bool]:
    """Runs work, and cancels it once if the client disconnects; returns whether it was.

    PERF: a watcher costs more than most handlers; a handler that never waits can't be cancelled.

    Raises:
        Exception: The exception of the work, or of the server.
    """
    steps = work.__await__()
    for waits_for in steps:
        cancellation = Cancellation()
        watcher = get_running_loop().create_task(_watch(c, cancellation.request))
        try:
            with cancellation:
                yield from resume(cancellation.checked(steps), waits_for)
        finally:
            watcher.cancel()
            yield from wait([watcher]).__await__()
        if not watcher.cancelled() and (failure := watcher.result()) is not None:
            raise failure
        return cancellation.is_caught
    return False


async def _run_on_trio(work: Awaitable[None], c: Context[Any, Any]) -> bool:
    """As `_run`; the clean-up code of the work needs a shield to await."""
    ended = is_watched = False
    # Raised below: a task group would wrap it.
    failure: Exception | None = None

    async def watch() -> None:
        nonlocal failure
        failure = await _watch(c, group.cancel_scope.cancel) or failure

    def begin() -> None:
        nonlocal is_watched
        is_watched = True
        group.start_soon(watch)

    async with create_task_group() as group:
        try:
            await _when_it_waits(begin, work)
            ended = True
        except Exception as error:
            failure = error
        if is_watched:
            group.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return not ended


async def _watch(c: Context[Any, Any], cancel: Callable[[], object]) -> Exception | None:
    """Waits for the disconnect of the client, and cancels; returns the exception of the server."""
    try:
        if await c.req.raw.wait_for_disconnect():
            cancel()
    except Exception as error:
        cancel()
        return error
    return None


@coroutine
def _when_it_waits(begin: Callable[[], object], work: Awaitable[None]) -> Generator[Any, Any, None]:
    """Runs work, and calls a function at its first real wait."""
    steps = work.__await__()
    for waits_for in steps:
        begin()
        yield from resume(steps, waits_for)
        return
