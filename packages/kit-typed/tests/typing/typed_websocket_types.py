# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit import Kit
from kit.interface import Handler
from kit.typed import Socket, typed
from kit.websocket import WebSocket, upgrade_websocket


@upgrade_websocket(origins=["https://example.com"])
@typed
async def chat(ws: WebSocket, room: str, limit: int = 10) -> None: ...


@upgrade_websocket
@typed
async def echo(ws: WebSocket) -> None: ...


@upgrade_websocket
@typed
async def shout(ws: Socket[str, list[int]]) -> None:
    async for message in ws:
        assert_type(message, str)
    assert_type(await ws.receive(), str)
    await ws.send([1])
    await ws.send("a")  # type: ignore


app = Kit().get("/chat/:room", chat).get("/echo", echo).get("/shout", shout)
chat_handler: Handler = chat
echo_handler: Handler = echo


async def test_of_chat(ws: WebSocket) -> None:
    assert_type(await chat(ws, "general"), None)
    await chat(ws=ws, room="general", limit=1)
    await chat(ws, room=1)  # type: ignore
