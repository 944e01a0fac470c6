# SPDX-License-Identifier: MIT
"""An app of WebSockets, with a route for each behaviour that servers and clients are tested by."""

from __future__ import annotations

from collections import Counter
from typing import Any

import anyio
import msgspec

from kit import Context, HTTPException, Kit, Next, Response
from kit.asgi import from_asgi
from kit.cookie import get_cookie, set_cookie
from kit.websocket import (
    CloseEvent,
    MessageEvent,
    OpenEvent,
    WebSocket,
    WebSocketDisconnectedError,
    WSEvents,
    upgrade_websocket,
)

MIB = 1024 * 1024

app = Kit()
ends: list[str] = []  # how connections ended, as their handlers saw it
counts: Counter[str] = Counter()
clients: set[WebSocket] = set()


@app.get("/state")
def state(c: Context) -> Response:
    return c.json({"ends": ends, "counts": counts, "clients": len(clients)})


@app.get("/page")
def page(c: Context) -> Response:
    return c.html("<!doctype html><title>page</title>")


@app.use("/with/*")
async def around(c: Context, next: Next) -> Response | None:
    if c.req.header("authorization") == "refuse":
        return c.json({"error": "unauthorized"}, 401, {"www-authenticate": "Bearer"})
    if c.req.header("authorization") == "redirect":
        return c.redirect("/elsewhere")
    if c.req.header("authorization") == "raise":
        raise HTTPException(403, "forbidden here", headers={"x-why": "because"})
    if c.req.header("authorization") == "fail":
        raise ValueError("in middleware")
    c.set("user", "ann")
    c.header("x-before", "1")
    set_cookie(c, "session", "abc", http_only=True)
    await next()
    c.header("x-after", "2")
    set_cookie(c, "last", "xyz")
    counts["handshakes"] += 1
    c.execution_ctx.wait_until(_later(c))
    return None


async def _later(c: Context) -> None:
    ends.append("background after " + ",".join(ends[-1:]))


@app.get("/with/echo/:room")
@upgrade_websocket
async def in_room(c: Context, ws: WebSocket) -> None:
    async for message in ws:
        name = c.req.query("name", default="nobody")
        cookie = get_cookie(c, "from")
        await ws.send(f"{c.get('user')} {c.req.param('room')} {name} {cookie} {message!r}")
    ends.append(f"room {c.req.param('room')} {ws.close_code}")


@app.get("/echo")
@upgrade_websocket(origins="*")
async def echo(c: Context, ws: WebSocket) -> None:
    async for message in ws:
        await ws.send(message)
    ends.append(f"echo {ws.close_code} {ws.close_reason}")


@app.get("/small")
@upgrade_websocket(max_message_size_bytes=1000)
async def small(c: Context, ws: WebSocket) -> None:
    async for message in ws:
        await ws.send(str(len(message)))
    ends.append(f"small {ws.close_code}")


@app.get("/events")
@upgrade_websocket
async def events(c: Context) -> WSEvents:
    async def on_message(event: MessageEvent, ws: WebSocket) -> None:
        await ws.send(event.data)

    async def on_open(event: OpenEvent, ws: WebSocket) -> None:
        await ws.send(event.type)

    def on_close(event: CloseEvent, ws: WebSocket) -> None:
        name = c.req.query("name")
        ends.append(f"events {name} {event.code} {event.reason} {event.was_clean}")

    return WSEvents(on_open=on_open, on_message=on_message, on_close=on_close)


@app.get("/protocols")
@upgrade_websocket(protocols=["v2.chat", "v1.chat"])
async def protocols(c: Context, ws: WebSocket) -> None:
    await ws.send(ws.protocol)


@app.get("/own")
@upgrade_websocket
async def own(c: Context, ws: WebSocket) -> None:
    await ws.send(ws.url)


@app.get("/listed")
@upgrade_websocket(origins=["https://example.com"])
async def listed(c: Context, ws: WebSocket) -> None:
    await ws.send("in")


@app.get("/close/:code")
@upgrade_websocket
async def close(c: Context, ws: WebSocket) -> None:
    await ws.close(c.req.param("code", int), c.req.query("reason", default=""))
    ends.append(f"close {ws.close_code}")


@app.get("/close-elsewhere")
@upgrade_websocket
async def close_elsewhere(c: Context, ws: WebSocket) -> None:
    async def close_it() -> None:
        await ws.receive()
        group.start_soon(receive)
        await anyio.wait_all_tasks_blocked()
        await ws.close(4002, "elsewhere")

    async def receive() -> None:
        async for _ in ws:
            continue
        ends.append(f"close-elsewhere {ws.close_code}")

    async with anyio.create_task_group() as group:
        group.start_soon(close_it)


@app.get("/raise/:what")
@upgrade_websocket
async def raising(c: Context, ws: WebSocket) -> None:
    if c.req.param("what") == "http":
        raise HTTPException(403, "not for you")
    raise ValueError("a fault in a handler")


@app.get("/json")
@upgrade_websocket
async def as_json(c: Context, ws: WebSocket) -> None:
    while True:
        value = await ws.receive_json(type=dict[str, int])
        await ws.send_json({**value, "seen": True})


@app.get("/pushing")
@upgrade_websocket
async def pushing(c: Context, ws: WebSocket) -> None:
    """Never receives: only its sends can tell it that the client has left."""
    try:
        while True:
            await ws.send("tick")
            await anyio.sleep(0.01)
    except WebSocketDisconnectedError as error:
        ends.append(f"pushing {error.code}")


@app.get("/flooding")
@upgrade_websocket
async def flooding(c: Context, ws: WebSocket) -> None:
    """Sends more than a client takes that doesn't read."""
    chunk = b"x" * MIB
    try:
        for _ in range(c.req.query("mib", int, default=256)):
            await ws.send(chunk)
            counts["flooded"] += 1
    except WebSocketDisconnectedError:
        ends.append("flooding")


@app.get("/slow")
@upgrade_websocket
async def slow(c: Context, ws: WebSocket) -> None:
    """Receives nothing until it is asked to by /go."""
    counts["slow"] = 0
    while not counts["go"]:
        await anyio.sleep(0.01)
    async for _ in ws:
        counts["slow"] += 1
    ends.append("slow")


@app.post("/go")
def go(c: Context) -> Response:
    counts["go"] += 1
    return c.text("gone")


@app.get("/cancelled")
@upgrade_websocket(cancel_on_disconnect=True)
async def cancelled(c: Context, ws: WebSocket) -> None:
    await ws.send("ready")
    try:
        await anyio.sleep_forever()
    finally:
        ends.append(f"cancelled {ws.close_code}")


@app.get("/impatient")
@upgrade_websocket
async def impatient(c: Context, ws: WebSocket) -> None:
    """Gives up waiting for a message again and again, and must lose none."""
    got: list[Any] = []
    await ws.send("ready")
    while len(got) < 100:
        with anyio.move_on_after(0.002):
            got.append(await ws.receive())
    await ws.send_json(got)


@app.get("/both")
@upgrade_websocket
async def both(c: Context, ws: WebSocket) -> None:
    """Receives and sends in two tasks, as a chat does."""

    async def send() -> None:
        for number in range(200):
            await ws.send(f"sent {number}")

    async with anyio.create_task_group() as group:
        group.start_soon(send)
        for _ in range(200):
            await ws.send(f"echo {await ws.receive()!s}")


@app.get("/crowd")
@upgrade_websocket
async def crowd(c: Context, ws: WebSocket) -> None:
    """What one sends, all get."""
    clients.add(ws)
    try:
        await ws.send("in")
        async for message in ws:
            for each in [*clients]:
                await each.send(message)
    finally:
        clients.discard(ws)


@app.get("/typed/:id")
@upgrade_websocket
async def typed(c: Context, ws: WebSocket) -> None:
    await ws.send(msgspec.json.encode({"id": c.req.param("id")}).decode())


@app.get("/only")
def only(c: Context) -> Response:
    return c.text("a page")


@app.post("/posted")
def posted(c: Context) -> Response:
    return c.text("posted")


books = Kit()


@books.on_error
def on_error(error: Exception, c: Context) -> Response:
    return c.text(f"books: {error}", 409)


@books.get("/ws")
@upgrade_websocket
async def of_books(c: Context, ws: WebSocket) -> None:
    await ws.send("books")


@books.get("/refuse")
@upgrade_websocket(origins=lambda origin, c: False)
async def refuse(c: Context, ws: WebSocket) -> None:
    raise AssertionError("unreachable")


app.route("/books", books)


async def foreign(scope: Any, receive: Any, send: Any) -> None:
    """An ASGI application of its own."""
    if scope["type"] != "websocket":
        raise RuntimeError("no lifespan")
    await receive()
    if scope["path"].endswith("/denied"):
        start = {"type": "websocket.http.response.start", "status": 402, "headers": []}
        await send(start)
        await send({"type": "websocket.http.response.body", "body": b"pay"})
        return
    await send({"type": "websocket.accept", "headers": [(b"x-foreign", b"1")]})
    await send({"type": "websocket.send", "text": f"{scope['root_path']} {scope['path']}"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message["text"]})
    ends.append(f"foreign {message['code']}")


app.mount("/foreign", from_asgi(foreign))
