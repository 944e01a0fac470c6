# SPDX-License-Identifier: MIT
"""The middleware that cancels handlers when their client has disconnected."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Generator
from types import coroutine
from typing import Any

from anyio import create_task_group

from kit.interface import Context, Middleware, Next
from kit.interface.calls import resume

__all__ = ("cancel_on_disconnect",)

_logger = logging.getLogger("kit")
# The status in access logs for a client that closed the request; it is never sent.
_CLIENT_CLOSED_REQUEST = 499


def cancel_on_disconnect() -> Middleware:
    """Returns middleware that cancels the handlers when the client disconnects.

    They are cancelled at their current `await`, on asyncio and trio, as with `timeout`; `finally`
    blocks and context managers run. Outer middleware sees a response with status 499, which isn't
    sent. `c.execution_ctx.wait_until` work still runs.

    The handlers can still read the body of the request. While more than 64 KiB of it are buffered,
    or the server holds it back, disconnects go unnoticed. A request made in process has no client
    that could disconnect.

    Returns:
        The middleware, for `app.use(...)` or a route.

    Example:
        app.get("/reports/:id", cancel_on_disconnect(), make_report)
    """

    async def cancel_on_disconnect(c: Context[Any, Any], next: Next) -> None:
        ended = is_watched = False
        # Raised below: a task group would wrap it.
        failure: Exception | None = None

        async def watch() -> None:
            nonlocal failure
            try:
                if not await c.req.raw.wait_for_disconnect():
                    return
            except Exception as error:
                failure = error
            group.cancel_scope.cancel()

        def begin() -> None:
            nonlocal is_watched
            is_watched = True
            group.start_soon(watch)

        async with create_task_group() as group:
            try:
                await _when_it_waits(begin, next())
                ended = True
            except Exception as error:
                failure = error
            if is_watched:
                group.cancel_scope.cancel()
        if failure is not None:
            raise failure
        if not ended:
            _logger.debug("The client disconnected; the handlers of its request were cancelled")
            c.res = c.body(None, _CLIENT_CLOSED_REQUEST)

    return cancel_on_disconnect


@coroutine
def _when_it_waits(begin: Callable[[], object], work: Awaitable[None]) -> Generator[Any, Any, None]:
    """Runs work, and calls a function at its first real wait.

    PERF: a watcher costs more than most handlers; a handler that never waits can't be cancelled.
    """
    steps = work.__await__()
    for waits_for in steps:
        begin()
        yield from resume(steps, waits_for)
        return
