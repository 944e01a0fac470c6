# SPDX-License-Identifier: MIT
"""The middleware that cancels handlers whose client has disconnected."""

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
# The status of access logs for a client that closed the request, though no client gets it.
_CLIENT_CLOSED_REQUEST = 499


def cancel_on_disconnect() -> Middleware:
    """Returns middleware that cancels the handlers when the client disconnects.

    They are cancelled where they wait, on asyncio and trio, as with `timeout`; `finally` blocks and
    context managers run. Middleware further out sees an answer with status 499, which isn't sent.
    Work of `c.execution_ctx.wait_until` is still done.

    The handlers can read the body of the request meanwhile. While more than 64 KiB of it are
    waiting to be read, or the server holds it back, a disconnect is not noticed. A request made in
    process has no client that could disconnect.

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
            _logger.debug("The client went away; the handlers of its request were cancelled")
            c.res = c.body(None, _CLIENT_CLOSED_REQUEST)

    return cancel_on_disconnect


@coroutine
def _when_it_waits(begin: Callable[[], object], work: Awaitable[None]) -> Generator[Any, Any, None]:
    """Runs work, and calls a function when it waits for the first time.

    PERF: a watcher costs more than most handlers; one that never waits can't be cancelled anyway.
    """
    steps = work.__await__()
    for waits_for in steps:
        begin()
        yield from resume(steps, waits_for)
        return
