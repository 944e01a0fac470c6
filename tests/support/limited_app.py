# SPDX-License-Identifier: MIT
"""An app whose requests are limited in size and time, and which tells what became of them."""

from __future__ import annotations

import anyio

from kit import Context, Kit, Response
from kit.body_limit import body_limit
from kit.timeout import cancel_on_disconnect, timeout

MAX_SIZE = 100_000
LATE_S = 0.05
_events: list[str] = []


async def later() -> None:
    """Work that goes on when its request is over."""
    await anyio.sleep(0.01)
    _events.append("later")


async def wait(c: Context) -> Response:
    """Waits for ever, and notes how it ends."""
    _events.append("begun")
    c.execution_ctx.wait_until(later())
    try:
        await anyio.sleep_forever()
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.01)
            _events.append("cancelled")
    raise AssertionError


async def length(c: Context) -> Response:
    """Waits for a while, in which whoever watches the client may receive, and reads the body."""
    _events.append("begun")
    for _ in range(5):
        await anyio.sleep(0.005)
    return c.json(len(await c.req.bytes()))


async def stream_length(c: Context) -> Response:
    """Reads the body as a stream."""
    _events.append("begun")
    size = 0
    if c.req.raw.body is not None:
        async for chunk in c.req.raw.body:
            size += len(chunk)
    return c.json(size)


def make_app() -> Kit:
    """Makes the app."""
    app = Kit()
    app.get("/events", lambda c: c.json(_events))
    app.get("/leave", cancel_on_disconnect(), wait)
    app.get("/late", timeout(LATE_S), wait)
    app.post("/body", timeout(60), cancel_on_disconnect(), length)
    app.use("/small/*", body_limit(MAX_SIZE))
    app.post("/small/bytes", length)
    app.post("/small/stream", stream_length)
    app.post("/small/unread", lambda c: c.text("unread"))
    return app
