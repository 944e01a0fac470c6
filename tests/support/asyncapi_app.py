# SPDX-License-Identifier: MIT
"""A chat with an AsyncAPI document and its page, with and without a policy of its own."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from kit import Context, Kit
from kit.bearer_auth import bearer_auth
from kit.openapi import asyncapi, describe_messages
from kit.secure_headers import NONCE, secure_headers
from kit.typed import Query, typed
from kit.websocket import WebSocket, upgrade_websocket


class Say(msgspec.Struct):
    text: str


class Said(msgspec.Struct):
    """What somebody said."""

    by: str
    room: str
    text: str


class Circle(msgspec.Struct, tag="circle"):
    radius: Annotated[float, msgspec.Meta(gt=0, examples=[2.5])]


class Square(msgspec.Struct, tag="square"):
    side: float
    corner: tuple[int, int] = (0, 0)
    inner: Circle | None = None


def add_routes(app: Kit[Any, Any]) -> None:
    @app.get("/rooms/:room")
    @describe_messages(receives=Say, sends=Said)
    @upgrade_websocket
    @typed
    async def room(ws: WebSocket, room: str, name: Annotated[str, Query()]) -> None:
        """Talks in a room."""
        async for message in ws:
            said = msgspec.json.decode(message, type=Say)
            await ws.send_json(Said(name, room, said.text))

    @app.get("/shapes/:kind{[a-z]+}", use=[bearer_auth(token="secret")])
    @describe_messages(receives=Circle | Square, sends=str | bytes | list[Circle | Square])
    @upgrade_websocket(protocols=["shapes.v1"])
    async def shapes(c: Context[Any, Any], ws: WebSocket) -> None: ...

    @app.get("/clash/:message")
    @upgrade_websocket
    @typed
    async def clash(
        ws: WebSocket, message: str, connect: str, elements: str = "", dataset: str = ""
    ) -> None:
        """Has parameters with names that the page's script looks up in its form."""
        await ws.send(f"{message} {connect}")

    @app.get("/echo")
    @upgrade_websocket
    async def echo(c: Context[Any, Any], ws: WebSocket) -> None:
        async for message in ws:
            await ws.send(message)


app: Kit[Any, Any] = Kit()
add_routes(app)
asyncapi(app, info={"title": "Chat", "version": "1.0.0"})

strict: Kit[Any, Any] = Kit()
strict.use(
    secure_headers(
        content_security_policy={
            "default_src": ["'none'"],
            "script_src": [NONCE],
            "style_src": [NONCE],
            "img_src": ["data:"],
            "connect_src": ["'self'"],
        }
    )
)
add_routes(strict)
asyncapi(strict, info={"title": "Chat", "version": "1.0.0"})
