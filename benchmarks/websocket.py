# SPDX-License-Identifier: MIT
"""WebSockets of each framework, through ASGI in one process: echo, handshakes, broadcast.

Framing is the server's, so what is measured is what a framework adds to it, by processor time. In
each slot every framework has its turn, and the order changes from round to round.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from .tables import Table

Frame = Callable[[Any, Any, Any], Awaitable[None]]

MESSAGE = "a message of a chat, as short as most of them are"
WARM_UP = 20
CROWD = 500
ECHOES_PER_CONNECTION = 1000


class Room:
    """What a broadcast goes to: one for each app."""

    def __init__(self) -> None:
        self.members: set[Any] = set()


def kit() -> Any:
    from kit import Context, Kit
    from kit.websocket import WebSocket, upgrade_websocket

    app, room = Kit(), Room()

    @app.get("/echo")
    @upgrade_websocket
    async def echo(c: Context, ws: WebSocket) -> None:
        async for message in ws:
            await ws.send(message)

    @app.get("/room")
    @upgrade_websocket
    async def join(c: Context, ws: WebSocket) -> None:
        room.members.add(ws)
        try:
            async for message in ws:
                for member in room.members:
                    await member.send(message)
        finally:
            room.members.discard(ws)

    return app


def starlette() -> Any:
    from starlette.applications import Starlette
    from starlette.routing import WebSocketRoute
    from starlette.websockets import WebSocket

    room = Room()

    async def echo(ws: WebSocket) -> None:
        await ws.accept()
        async for message in ws.iter_text():
            await ws.send_text(message)

    async def join(ws: WebSocket) -> None:
        await ws.accept()
        room.members.add(ws)
        try:
            async for message in ws.iter_text():
                for member in room.members:
                    await member.send_text(message)
        finally:
            room.members.discard(ws)

    return Starlette(routes=[WebSocketRoute("/echo", echo), WebSocketRoute("/room", join)])


def litestar() -> Any:
    from litestar import Litestar, WebSocket, websocket
    from litestar.exceptions import WebSocketDisconnect

    room = Room()

    @websocket("/echo")
    async def echo(socket: WebSocket) -> None:
        await socket.accept()
        try:
            while True:
                await socket.send_text(await socket.receive_text())
        except WebSocketDisconnect:
            return

    @websocket("/room")
    async def join(socket: WebSocket) -> None:
        await socket.accept()
        room.members.add(socket)
        try:
            while True:
                message = await socket.receive_text()
                for member in room.members:
                    await member.send_text(message)
        except WebSocketDisconnect:
            return
        finally:
            room.members.discard(socket)

    # Annotations of this module are texts; Litestar looks them up in the module of the function.
    for handler in (echo, join):
        handler.fn.__annotations__.update({"socket": WebSocket, "return": None})
    return Litestar([echo, join])


def blacksheep() -> Any:
    from blacksheep import Application, WebSocket, WebSocketDisconnectError

    app, room = Application(), Room()

    async def echo(websocket: WebSocket) -> None:
        await websocket.accept()
        try:
            while True:
                await websocket.send_text(await websocket.receive_text())
        except WebSocketDisconnectError:
            return

    async def join(websocket: WebSocket) -> None:
        await websocket.accept()
        room.members.add(websocket)
        try:
            while True:
                message = await websocket.receive_text()
                for member in room.members:
                    await member.send_text(message)
        except WebSocketDisconnectError:
            return
        finally:
            room.members.discard(websocket)

    for handler in (echo, join):
        handler.__annotations__.update({"websocket": WebSocket, "return": None})
    app.router.add_ws("/echo", echo)
    app.router.add_ws("/room", join)
    return app


def falcon() -> Any:
    from falcon import WebSocketDisconnected
    from falcon.asgi import App

    app, room = App(), Room()

    class Echo:
        async def on_websocket(self, req: Any, ws: Any) -> None:
            await ws.accept()
            try:
                while True:
                    await ws.send_text(await ws.receive_text())
            except WebSocketDisconnected:
                return

    class Join:
        async def on_websocket(self, req: Any, ws: Any) -> None:
            await ws.accept()
            room.members.add(ws)
            try:
                while True:
                    message = await ws.receive_text()
                    for member in room.members:
                        await member.send_text(message)
            except WebSocketDisconnected:
                return
            finally:
                room.members.discard(ws)

    app.add_route("/echo", Echo())
    app.add_route("/room", Join())
    return app


APPS: dict[str, Callable[[], Any]] = {
    "kit": kit,
    "starlette": starlette,
    "litestar": litestar,
    "blacksheep": blacksheep,
    "falcon": falcon,
}


def scope(path: str) -> dict[str, Any]:
    """The scope of a handshake as uvicorn makes it."""
    return {
        "type": "websocket",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "scheme": "ws",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [
            (b"host", b"127.0.0.1:8000"),
            (b"upgrade", b"websocket"),
            (b"connection", b"Upgrade"),
            (b"sec-websocket-key", b"dGhlIHNhbXBsZSBub25jZQ=="),
            (b"sec-websocket-version", b"13"),
            (b"user-agent", b"benchmark"),
        ],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8000),
        "subprotocols": [],
        "state": {},
        "extensions": {"websocket.http.response": {}},
    }


class Client:
    """A client of one connection, which sends a number of messages and then leaves."""

    def __init__(self, messages: int, *, waits: asyncio.Event | None = None) -> None:
        self.got = 0
        self._count = self._left = messages
        self._begun = False
        self._waits = waits

    async def receive(self) -> dict[str, Any]:
        if not self._begun:
            self._begun = True
            return {"type": "websocket.connect"}
        if self._left:
            self._left -= 1
            return {"type": "websocket.receive", "text": MESSAGE}
        if self._waits is not None:
            await self._waits.wait()
        while self.got < self._count:  # Falcon receives ahead, and drops what it has not answered
            await asyncio.sleep(0)
        return {"type": "websocket.disconnect", "code": 1000}

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "websocket.send":
            self.got += 1


class WaitingClient(Client):
    """A client whose messages come one by one, each after the loop has turned."""

    async def receive(self) -> dict[str, Any]:
        await asyncio.sleep(0)
        return await super().receive()


async def echo(app: Any, count: int, kind: type[Client] = Client) -> None:
    """Sends messages over one connection, and gets each back."""
    client = kind(count)
    await app(scope("/echo"), client.receive, client.send)
    if client.got != count:
        raise AssertionError(f"{client.got} of {count} messages came back")


async def waiting_echo(app: Any, count: int) -> None:
    """The same, where each message has to be waited for."""
    await echo(app, count, WaitingClient)


async def handshakes(app: Any, count: int) -> None:
    """Opens connections one after another, each of which is closed at once."""
    for _ in range(count):
        client = Client(0)
        await app(scope("/echo"), client.receive, client.send)


async def broadcast(app: Any, count: int) -> None:
    """One of many sends messages to all."""
    over = asyncio.Event()
    listeners = [Client(0, waits=over) for _ in range(CROWD - 1)]
    tasks = [asyncio.ensure_future(app(scope("/room"), c.receive, c.send)) for c in listeners]
    for _ in range(10):
        await asyncio.sleep(0)
    speaker = Client(count)
    gc.collect()
    began = time.process_time()
    await app(scope("/room"), speaker.receive, speaker.send)
    Turn.taken_s = time.process_time() - began
    over.set()
    await asyncio.gather(*tasks)
    if any(client.got != count for client in (*listeners, speaker)):
        raise AssertionError("some did not get every message")


class Turn:
    """What a turn reports itself, if only a part of it counts."""

    taken_s: float | None = None


@dataclass(frozen=True)
class Row:
    """A kind of work.

    Attributes:
        name: For the table.
        work: Does it so many times.
        count: How many times in a turn of full length.
        unit: How many units each time has.
    """

    name: str
    work: Callable[[Any, int], Awaitable[None]]
    count: int
    unit: int = 1


ROWS = (
    Row("echo, messages that are there", echo, ECHOES_PER_CONNECTION * 5),
    Row("echo, messages that are waited for", waiting_echo, ECHOES_PER_CONNECTION * 5),
    Row("handshakes", handshakes, 500),
    Row(f"broadcast to {CROWD}", broadcast, 40, CROWD),
)


@dataclass
class Figures:
    """What was measured.

    Attributes:
        rounds: How many.
        rates: By row and framework: units a second of processor time, by round.
        left_out: What was left out, and why.
    """

    rounds: int
    rates: dict[str, dict[str, list[float]]]
    left_out: list[str] = field(default_factory=list)

    def median(self, row: str, framework: str) -> float | None:
        """The median rate, or None if it was not measured."""
        rates = self.rates[row].get(framework)
        return statistics.median(rates) if rates else None


def measure(rounds: int, slot_s: float) -> Figures:
    """Verifies each app by a first turn, then times round by round.

    Args:
        rounds: How many times each app has its turn.
        slot_s: About how long a turn is, in seconds, where 0.05 is a full one.
    """
    loop = asyncio.new_event_loop()
    figures = Figures(rounds, {row.name: {} for row in ROWS})
    apps: dict[str, Any] = {}
    for name, make in APPS.items():
        try:
            app = make()
            loop.run_until_complete(_start(app))
            for row in ROWS:
                loop.run_until_complete(row.work(app, WARM_UP))
        except Exception as error:
            figures.left_out.append(f"{name}: {error!r}")
        else:
            apps[name] = app
    gc.collect()
    gc.freeze()
    for number in range(rounds):
        names = [*apps]
        shift = number % len(names)
        for row in ROWS:
            count = max(1, round(row.count * slot_s / 0.05))
            for name in names[shift:] + names[:shift]:
                Turn.taken_s = None
                began = time.process_time()
                loop.run_until_complete(row.work(apps[name], count))
                taken = Turn.taken_s or time.process_time() - began
                rates = figures.rates[row.name].setdefault(name, [])
                rates.append(count * row.unit / taken)
    loop.close()
    return figures


async def _start(app: Any) -> None:
    """Starts an app, as BlackSheep needs it before its first request."""
    start = getattr(app, "start", None)
    if start is not None:
        await start()


def tables(figures: Figures) -> list[Table]:
    """Units a second by row and framework."""
    names = [name for name in APPS if any(name in found for found in figures.rates.values())]
    table = Table("WebSockets in process, thousands a second of processor time", names)
    for row in ROWS:
        rates = [figures.median(row.name, name) for name in names]
        table.add(row.name, *("-" if rate is None else f"{rate / 1000:.1f}" for rate in rates))
    return [table]
