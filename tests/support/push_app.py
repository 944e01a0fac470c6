# SPDX-License-Identifier: MIT
"""Handlers that only send, and what their clients have left behind."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from kit import Context, Kit, Response
from kit.channels import Channels
from kit.websocket import WebSocket, upgrade_websocket

channels = Channels()
app = Kit(lifespan=channels.lifespan)
_subscribed: list[str] = []
_changed: list[anyio.Event] = []


@app.get("/push/:channel")
@upgrade_websocket
async def push(c: Context, ws: WebSocket) -> None:
    channel = c.req.param("channel", str)
    async with channels.subscribe(channel) as subscription:
        _note(lambda: _subscribed.append(channel))
        try:
            async for message in subscription:
                await ws.send(message)
        finally:
            _note(lambda: _subscribed.remove(channel))


@app.post("/publish/:channel")
async def publish(c: Context) -> Response:
    await channels.publish(c.req.param("channel", str), await c.req.text())
    return c.body(None)


@app.get("/subscribed/:count")
async def subscribed(c: Context) -> Response:
    """Answers once there are so many subscriptions."""
    while len(_subscribed) != c.req.param("count", int):
        changed = anyio.Event()
        _changed.append(changed)
        await changed.wait()
    return c.json(len(_subscribed))


def _note(change: Callable[[], object]) -> None:
    change()
    while _changed:
        _changed.pop().set()
