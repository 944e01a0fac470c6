# SPDX-License-Identifier: MIT
"""Rooms that repeat everything to everybody, and what the process has open: for load tests."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import Any

from anyio import create_task_group

from kit import Context, Kit, Response
from kit.channels import Channels, ChannelsUnavailableError, Gap, RedisBackend, Subscription
from kit.websocket import WebSocket, WebSocketDisconnectedError, upgrade_websocket

url = os.environ.get("CHANNELS_REDIS")
channels = Channels(RedisBackend(url) if url else None)
app: Kit[Any, Any] = Kit(lifespan=channels.lifespan)


@app.get("/rooms/:room")
@upgrade_websocket
async def room(c: Context[Any, Any], ws: WebSocket) -> None:
    name = c.req.param("room")
    async with channels.subscribe(name) as subscription, create_task_group() as tasks:
        tasks.start_soon(forward, subscription, ws)
        async for message in ws:
            try:
                await channels.publish(name, message)
            except ChannelsUnavailableError:
                await ws.send(f"failed {message!s}")
        tasks.cancel_scope.cancel()


async def forward(subscription: Subscription, ws: WebSocket) -> None:
    with suppress(WebSocketDisconnectedError):
        await ws.send("ready")
        async for event in subscription.events():
            if isinstance(event, Gap):
                await ws.send(f"gap {event.dropped}")
            else:
                await ws.send(event.data)


@app.get("/open")
def open_things(c: Context[Any, Any]) -> Response:
    return c.json({"subscriptions": channels.subscriptions, "tasks": len(asyncio.all_tasks())})
