# SPDX-License-Identifier: MIT
"""A chat with rooms: in one process, or in several workers and machines that share a Redis."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from anyio import create_task_group, move_on_after

from kit import Context, HTTPException, Kit, Response
from kit.channels import Channels, ChannelsUnavailableError, Gap, RedisBackend, Subscription
from kit.websocket import WebSocket, WebSocketDisconnectedError, upgrade_websocket

FOLDER = Path(__file__).resolve().parent
ROOMS = ("general", "random", "help")
MOST_NAME_CHARACTERS = 32
MOST_TEXT_CHARACTERS = 2000
GOODBYE_S = 2.0

redis = os.environ.get("CHAT_REDIS")
channels = Channels(RedisBackend(redis) if redis else None)
app: Kit[Any, Any] = Kit(lifespan=channels.lifespan)


@dataclass
class Said:
    """An event from a page: a message, or that its user is typing or online."""

    type: Literal["message", "typing", "here"]
    text: str = ""


async def check(c: Context[Any, Any], next: Callable[[], Awaitable[None]]) -> None:
    """Rejects invalid handshakes before the connection is opened."""
    name = c.req.query("name") or ""
    if c.req.param("room") not in ROOMS:
        raise HTTPException(404, f"The rooms are: {', '.join(ROOMS)}")
    if name != name.strip() or not 1 <= len(name) <= MOST_NAME_CHARACTERS or not name.isprintable():
        raise HTTPException(400, f"A name has 1 to {MOST_NAME_CHARACTERS} characters")
    await next()


@app.get("/rooms/:room/ws", use=check)
@upgrade_websocket(max_message_size_bytes=16 * 1024)
async def chat(c: Context[Any, Any], ws: WebSocket) -> None:
    name = c.req.query("name")
    room = f"room:{c.req.param('room')}"

    async def tell(type: str, text: str = "") -> None:
        try:
            await channels.publish_json(room, {"type": type, "name": name, "text": text})
        except ChannelsUnavailableError:
            with suppress(WebSocketDisconnectedError):
                await ws.send_json({"type": "failed", "text": text})

    async with channels.subscribe(room) as subscription, create_task_group() as tasks:
        tasks.start_soon(forward, subscription, ws)
        try:
            await tell("joined")
            while True:
                said = await ws.receive_json(type=Said)
                if said.type != "message":
                    await tell(said.type)
                elif text := said.text.strip()[:MOST_TEXT_CHARACTERS]:
                    await tell("message", text)
        except WebSocketDisconnectedError:
            tasks.cancel_scope.cancel()
        finally:
            with move_on_after(GOODBYE_S, shield=True):
                await tell("left")


async def forward(subscription: Subscription, ws: WebSocket) -> None:
    """Forwards the messages of the room to the page."""
    with suppress(WebSocketDisconnectedError):
        async for event in subscription.events():
            if isinstance(event, Gap):
                await ws.send_json({"type": "gap"})
            else:
                await ws.send(event.data)


def serve_file(path: str, name: str, media_type: str) -> None:
    """Adds a route for a file in this folder."""
    content = (FOLDER / name).read_bytes()

    @app.get(path)
    def file(c: Context[Any, Any]) -> Response:
        c.header("Content-Type", media_type)
        c.header("Cache-Control", "no-cache")
        c.header("Content-Security-Policy", "default-src 'self'; img-src data:")
        return c.body(content)


serve_file("/", "page.html", "text/html; charset=utf-8")
serve_file("/chat.css", "chat.css", "text/css; charset=utf-8")
serve_file("/chat.js", "chat.js", "text/javascript; charset=utf-8")
