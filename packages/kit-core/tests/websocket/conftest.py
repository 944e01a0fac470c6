# SPDX-License-Identifier: MIT
"""A server written by hand, and the WebSocket client behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

DENIAL = {"websocket.http.response": {}}


class Peer:
    """One connection: a server by the letter of ASGI, and what its client sends and gets.

    Args:
        path: Path of the handshake, with its query.
        headers: Headers of the handshake.
        protocols: The subprotocols that the client offers.
        denies: Whether the server can send a response in place of the acceptance.
        room: How many messages `send` takes before it waits for the client to read.
        scope: Keys of the scope that differ.
    """

    def __init__(
        self,
        path: str = "/",
        headers: dict[str, str] | None = None,
        *,
        protocols: tuple[str, ...] = (),
        denies: bool = True,
        room: int | None = None,
        **scope: Any,
    ) -> None:
        path, _, query = path.partition("?")
        given = {"host": "example.com", **(headers or {})}
        self.scope = {
            "type": "websocket",
            "asgi": {"version": "3.0", "spec_version": "2.5"},
            "http_version": "1.1",
            "scheme": "ws",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(n.lower().encode(), v.encode()) for n, v in given.items()],
            "client": ("127.0.0.1", 1234),
            "server": ("127.0.0.1", 80),
            "subprotocols": [*protocols],
            "extensions": DENIAL if denies else {},
            **scope,
        }
        self.sent: list[dict[str, Any]] = []
        self.failing: Exception | None = None
        self.received = 0
        self._room = room
        self._read = 0
        self._queue: list[dict[str, Any]] = [{"type": "websocket.connect"}]
        self._changed = anyio.Event()
        self._receiving = False
        self.over = False
        self.gone = False

    # What the client does:

    def say(self, *messages: str | bytes) -> None:
        for each in messages:
            kind = "text" if isinstance(each, str) else "bytes"
            self._put({"type": "websocket.receive", kind: each})

    def leave(self, code: int | None = 1000, reason: str = "", *, fails: bool = False) -> None:
        """Leaves; with `fails` the server refuses to send from then on."""
        self.gone = True
        if fails:
            self.failing = OSError("The client has left")
        self._put({"type": "websocket.disconnect", "code": code, "reason": reason})

    async def wait(self, test: Callable[[], object]) -> None:
        while not test():
            await self._changed.wait()

    async def hear(self, count: int = 1) -> list[Any]:
        """Waits until so many messages were sent in all, and returns them."""
        await self.wait(lambda: len(self.messages) >= count or self.over)
        self._read = len(self.messages)
        self._tell()
        return self.messages

    @property
    def messages(self) -> list[Any]:
        return [
            each.get("text", each.get("bytes"))
            for each in self.sent
            if each["type"] == "websocket.send"
        ]

    @property
    def acceptance(self) -> dict[str, Any]:
        assert self.sent[0]["type"] == "websocket.accept", self.sent
        return self.sent[0]

    @property
    def closing(self) -> tuple[int, str] | None:
        """Code and reason with which the app has closed."""
        last = self.sent[-1]
        return (last["code"], last["reason"]) if last["type"] == "websocket.close" else None

    @property
    def denial(self) -> tuple[int, bytes]:
        """Status and body of the response in place of the acceptance."""
        start, *bodies = self.sent
        assert start["type"] == "websocket.http.response.start", self.sent
        assert {each["type"] for each in bodies} == {"websocket.http.response.body"}
        return start["status"], b"".join(each.get("body", b"") for each in bodies)

    def header(self, name: str) -> list[str]:
        return [v.decode() for n, v in self.sent[0]["headers"] if n == name.encode()]

    # What the server does:

    async def receive(self) -> dict[str, Any]:
        assert not self._receiving, "two tasks call receive() at once"
        self._receiving = True
        try:
            await checkpoint()
            await self.wait(lambda: self._queue)
            self.received += 1
            self._tell()
            return self._queue.pop(0)
        finally:
            self._receiving = False

    async def send(self, message: dict[str, Any]) -> None:
        await checkpoint()
        if self.failing is not None:
            raise self.failing
        if self._room is not None and message["type"] == "websocket.send":
            room = self._room
            await self.wait(lambda: len(self.messages) - self._read < room or self.failing)
        self.sent.append(message)
        if message["type"] == "websocket.close":
            self._put({"type": "websocket.disconnect", "code": message["code"]})
        self._tell()

    async def serve(self, app: Any) -> Peer:
        """Runs the app for this connection until it returns."""
        try:
            await app(self.scope, self.receive, self.send)
        finally:
            self.over = True
            self._tell()
        return self

    @asynccontextmanager
    async def open(self, app: Any) -> AsyncIterator[Peer]:
        """Runs the app meanwhile; the client leaves at the end of the block, if it is there."""
        async with anyio.create_task_group() as group:
            group.start_soon(self.serve, app)
            yield self
            if not self.gone:
                self.leave()

    def _put(self, message: dict[str, Any]) -> None:
        self._queue.append(message)
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


@pytest.fixture(scope="session")
def peer() -> type[Peer]:
    """The class of a WebSocket client with its server: `async with peer("/").open(app) as p`."""
    return Peer
