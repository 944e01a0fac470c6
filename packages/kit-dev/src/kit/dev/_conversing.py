# SPDX-License-Identifier: MIT
"""Opens a WebSocket connection to an app in process, as a server would: through ASGI."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Thread
from typing import Any, TextIO

from kit.interface import App

from ._calling import Header, NoResponseError
from ._lifespan import run_lifespan

_SCHEMES = {"http": "ws", "https": "wss"}
# SPEC: RFC 6455 section 4.1; the key is that of section 1.3.
_OF_HANDSHAKE = (
    (b"connection", b"Upgrade"),
    (b"upgrade", b"websocket"),
    (b"sec-websocket-version", b"13"),
    (b"sec-websocket-key", b"dGhlIHNhbXBsZSBub25jZQ=="),
)
_NORMAL = 1000  # RFC 6455, section 7.4.1
# Seconds in which nothing may come, after the last line was taken, before the connection is closed.
_QUIET_S = 0.2


def converse(
    app: App,
    scope: dict[str, Any],
    lines: TextIO,
    on_message: Callable[[str | bytes], object],
    on_head: Callable[[int, list[Header]], object],
    on_chunk: Callable[[bytes], object],
) -> tuple[int, str] | None:
    """Runs the lifespan of an app and, meanwhile, a WebSocket connection.

    When the lines end, the connection is closed once the app has taken them all, waits for more and
    has sent nothing for a moment.

    Args:
        app: The app, or ASGI middleware around it.
        scope: The scope of a GET request.
        lines: Each is sent as a text message.
        on_message: Given each message of the app.
        on_head: Given status and headers, if the app answers with another response.
        on_chunk: Given each part of its body.

    Returns:
        The code and reason with which the connection was closed; None if it was not accepted.

    Raises:
        NoResponseError: If the app answers the handshake with nothing.
        Exception: What the app raises.
    """
    connection = _Connection(on_message, on_head, on_chunk)
    asyncio.run(connection.run(app, websocket_scope(scope), lines))
    return connection.closed


def websocket_scope(scope: dict[str, Any]) -> dict[str, Any]:
    """Makes the scope of a connection of that of a GET request.

    SPEC: ASGI WebSocket, "WebSocket Connection Scope".
    """
    offered = [v.decode("latin-1") for n, v in scope["headers"] if n == b"sec-websocket-protocol"]
    known = {name for name, _ in scope["headers"]}
    added = [line for line in _OF_HANDSHAKE if line[0] not in known]
    return {
        **{key: value for key, value in scope.items() if key != "method"},
        "type": "websocket",
        "scheme": _SCHEMES.get(scope["scheme"], scope["scheme"]),
        "headers": [*scope["headers"], *added],
        "subprotocols": [name.strip() for line in offered for name in line.split(",")],
        "extensions": {"websocket.http.response": {}},
    }


class _Connection:
    """The server and the client of one connection."""

    def __init__(self, on_message: Any, on_head: Any, on_chunk: Any) -> None:
        self._on_message = on_message
        self._on_head = on_head
        self._on_chunk = on_chunk
        self._messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._has_answered = False
        self._is_accepted = asyncio.Event()
        self._is_waiting = False
        self._sent = 0
        self.closed: tuple[int, str] | None = None

    async def run(self, app: App, scope: dict[str, Any], lines: TextIO) -> None:
        self._messages.put_nowait({"type": "websocket.connect"})
        async with run_lifespan(app) as added:
            reading = asyncio.create_task(self._read(lines))
            try:
                await app({**scope, **added}, self._receive, self._send)
            finally:
                reading.cancel()
        if not self._has_answered:
            raise NoResponseError
        if self._is_accepted.is_set() and self.closed is None:
            self.closed = _NORMAL, ""

    async def _read(self, lines: TextIO) -> None:
        """Sends each line once the connection is accepted, and closes it at the end."""
        await self._is_accepted.wait()
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()

        def read() -> None:
            try:
                for line in lines:
                    text = line.rstrip("\r\n")
                    message = {"type": "websocket.receive", "text": text}
                    loop.call_soon_threadsafe(self._messages.put_nowait, message)
                loop.call_soon_threadsafe(ended.set)
            except RuntimeError:  # the loop has ended: the app has closed
                return

        # Not a thread of the loop's pool, whose end would wait for a terminal.
        Thread(target=read, daemon=True).start()
        await ended.wait()
        seen = -1
        while seen != self._sent or not self._is_waiting or not self._messages.empty():
            seen = self._sent
            await asyncio.sleep(_QUIET_S)
        if self.closed is None:
            self.closed = _NORMAL, ""
            left = {"type": "websocket.disconnect", "code": _NORMAL, "reason": ""}
            self._messages.put_nowait(left)

    async def _receive(self) -> dict[str, Any]:
        self._is_waiting = True
        try:
            return await self._messages.get()
        finally:
            self._is_waiting = False

    async def _send(self, message: dict[str, Any]) -> None:
        kind = message["type"]
        self._sent += 1
        self._has_answered = True
        if kind == "websocket.accept":
            self._is_accepted.set()
        elif kind == "websocket.send":
            text = message.get("text")
            self._on_message(message["bytes"] if text is None else text)
        elif kind == "websocket.close":
            if self._is_accepted.is_set():
                self.closed = message.get("code", _NORMAL), message.get("reason") or ""
            else:
                self._on_head(403, [])
        elif kind == "websocket.http.response.start":
            pairs = message.get("headers", ())
            head = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in pairs]
            self._on_head(message["status"], head)
        elif kind == "websocket.http.response.body" and message.get("body"):
            self._on_chunk(message["body"])
        await asyncio.sleep(0)
