# SPDX-License-Identifier: MIT
"""WebSockets on an RSGI server written by hand."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import Any

import pytest
from anyio import wait_all_tasks_blocked
from rsgi_peer import Message, Scope, Socket

from kit import Context, Kit, Response
from kit.websocket import WebSocket, WebSocketDisconnectedError, upgrade_websocket

UPGRADE = Scope(
    "/ws",
    proto="ws",
    lines=[
        ("host", "example.com"),
        ("upgrade", "websocket"),
        ("connection", "upgrade"),
        ("sec-websocket-protocol", "chat, other"),
    ],
)


async def serve(app: Kit[Any, Any], server: Socket) -> Socket:
    await asyncio.wait_for(app.__rsgi__(UPGRADE, server), 10)
    return server


def app_of(handler: Any, **options: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.get("/ws", upgrade_websocket(handler, **options))
    return app


@pytest.mark.parametrize("end", [Message(0), RuntimeError("RSGI transport is closed")])
async def test_messages_both_ways_until_the_client_ends(end: Any) -> None:
    codes: list[int] = []

    async def echo(c: Context, ws: WebSocket) -> None:
        try:
            while True:
                await ws.send(await ws.receive())
        except WebSocketDisconnectedError as error:
            codes.append(error.code)

    server = await serve(app_of(echo), Socket(Message(2, "hi"), Message(1, b"\0"), end))
    assert server.sent == ["accepted", "hi", b"\0"]
    assert codes == [1005 if isinstance(end, Message) else 1006]
    assert len(server.closed) == 1


async def test_transport_is_freed_at_once_if_receiving_fails() -> None:
    """The server closes the socket only then; a client that sent invalid frames may not."""
    transports: list[weakref.ref[Any]] = []

    class Transport:
        async def receive(self) -> Message:
            raise RuntimeError("RSGI transport is closed")

    class Failing(Socket):
        async def accept(self) -> Any:
            transport = Transport()
            transports.append(weakref.ref(transport))
            return transport

    async def reads(c: Context, ws: WebSocket) -> None:
        assert [message async for message in ws] == []

    gc.disable()
    try:
        await serve(app_of(reads), Failing())
        await asyncio.sleep(0)  # this turn of the event loop refers to the exception
        assert [each() for each in transports] == [None]
    finally:
        gc.enable()


async def test_handler_that_ends_closes() -> None:
    async def greet(c: Context, ws: WebSocket) -> None:
        await ws.send(f"{c.req.url} {c.req.raw.scope['subprotocols']}")

    server = await serve(app_of(greet), Socket())
    assert server.sent == ["accepted", "http://example.com/ws ['chat', 'other']"]
    assert len(server.closed) == 1


async def test_client_that_leaves_while_the_app_sends() -> None:
    server = Socket()
    failures: list[Any] = []

    async def sends(c: Context, ws: WebSocket) -> None:
        server.is_gone = True
        try:
            await ws.send("x")
        except WebSocketDisconnectedError as error:
            failures.append(error.code)
            raise

    await serve(app_of(sends), server)
    assert failures == [1006]


async def test_client_that_leaves_before_it_is_accepted() -> None:
    async def never(c: Context, ws: WebSocket) -> None:
        raise AssertionError("no connection")

    assert (await serve(app_of(never), Socket(accepts=False))).sent == []


@pytest.mark.parametrize(("path", "status"), [("/ws", 401), ("/elsewhere", 404)])
async def test_refusal_has_its_status(path: str, status: int) -> None:
    app: Kit[Any, Any] = Kit()
    app.get(path, lambda c: c.text("who are you?", 401))
    server = await serve(app, Socket())
    assert (server.closed, server.sent) == ([status], [])


async def test_subprotocol_is_refused_loudly() -> None:
    async def talk(c: Context, ws: WebSocket) -> None:
        raise AssertionError("no connection")

    server = Socket()
    with pytest.raises(RuntimeError, match="subprotocol 'chat' was chosen: serve this application"):
        await serve(app_of(talk, protocols=["chat"]), server)
    assert server.closed == [500]


async def test_waiting_for_the_client_ends_with_a_refusal() -> None:
    waiting: list[asyncio.Task[bool]] = []
    app: Kit[Any, Any] = Kit()

    @app.get("/ws")
    async def refuse(c: Context) -> Response:
        waiting.append(asyncio.ensure_future(c.req.raw.wait_for_disconnect()))
        await wait_all_tasks_blocked()
        return c.text("no", 403)

    await serve(app, Socket())
    assert await asyncio.wait_for(waiting[0], 10)


async def test_receiving_ends_when_another_task_closes() -> None:
    told: list[int] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        async def receive() -> None:
            try:
                await ws.receive()
            except WebSocketDisconnectedError as error:
                told.append(error.code)

        receiving = asyncio.ensure_future(receive())
        await wait_all_tasks_blocked()
        await ws.close()
        await asyncio.wait_for(receiving, 10)

    server = await serve(app_of(handler), Socket())
    assert (len(told), len(server.closed)) == (1, 1)


async def test_sending_after_the_end() -> None:
    async def conversation(receive: Any, send: Any) -> None:
        await send({"type": "websocket.close", "code": 1000})
        with pytest.raises(OSError, match="closed"):
            await send({"type": "websocket.send", "text": "late"})
        assert (await receive())["type"] == "websocket.disconnect"

    app: Kit[Any, Any] = Kit()
    app.get("/ws", lambda c: c.req.raw.scope["kit.websocket"].accept(conversation))
    server = await serve(app, Socket())
    assert (server.sent, len(server.closed)) == (["accepted"], 1)
