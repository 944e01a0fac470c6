# SPDX-License-Identifier: MIT
"""Translates a WebSocket between RSGI and ASGI messages."""

from __future__ import annotations

import asyncio
from typing import Any

from kit.concurrency import ResumableRead

from ._types import Message, RsgiMessage, RsgiWebSocket, RsgiWebSocketTransport

_FORBIDDEN, _FAULT = 403, 500
# SPEC: RFC 6455 section 7.4.1: no status code was received; the connection was lost.
_NO_CODE, _LOST = 1005, 1006


class Connection:
    """A WebSocket with ASGI messages.

    SPEC: ASGI HTTP & WebSocket message format, "WebSocket".

    Args:
        protocol: The RSGI protocol.
    """

    __slots__ = ("_closed", "_is_connected", "_protocol", "_reading", "_status", "_transport")

    def __init__(self, protocol: RsgiWebSocket) -> None:
        self._protocol = protocol
        self._transport: RsgiWebSocketTransport | None = None
        self._reading: ResumableRead[RsgiMessage] | None = None
        self._is_connected = False
        self._status = _FORBIDDEN
        self._closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def receive(self) -> Message:
        """Returns the client's next message."""
        if not self._is_connected:
            self._is_connected = True
            return {"type": "websocket.connect"}
        if self._reading is None:
            await asyncio.shield(self._closed)  # RSGI doesn't report a disconnect now
        if self._reading is None:
            return {"type": "websocket.disconnect", "code": _LOST}
        try:
            message = await self._reading.next()
        except (EOFError, RuntimeError):  # granian's RSGIProtocolClosed
            return {"type": "websocket.disconnect", "code": _LOST}
        if message.kind == 0:
            return {"type": "websocket.disconnect", "code": _NO_CODE}
        return {"type": "websocket.receive", "bytes" if message.kind == 1 else "text": message.data}

    async def send(self, message: Any) -> None:
        """Answers the handshake, or sends a message.

        Raises:
            OSError: If the client has disconnected.
            RuntimeError: If a subprotocol was chosen.
        """
        kind = message["type"]
        if kind == "websocket.send":
            await self._send(message)
        elif kind == "websocket.accept":
            await self._accept(message["subprotocol"])
        elif kind == "websocket.close":
            self.close()
        elif kind == "websocket.http.response.start":
            self._status = message["status"]

    async def _accept(self, subprotocol: str | None) -> None:
        if subprotocol is not None:
            self._status = _FAULT
            raise RuntimeError(
                f"RSGI can't tell the client that its subprotocol {subprotocol!r} was chosen: "
                "serve this application with ASGI"
            )
        try:
            self._transport = await self._protocol.accept()
        except RuntimeError as error:
            raise ConnectionResetError(str(error)) from None
        self._reading = ResumableRead(self._transport.receive)

    async def _send(self, message: Any) -> None:
        transport = self._transport
        if transport is None:
            raise ConnectionResetError("The WebSocket is closed")
        text = message.get("text")
        try:
            if text is None:
                await transport.send_bytes(message["bytes"])
            else:
                await transport.send_str(text)
        except RuntimeError as error:
            raise ConnectionResetError(str(error)) from None

    def close(self) -> None:
        """Closes the connection, or refuses the handshake with a status."""
        if not self._closed.done():
            self._closed.set_result(None)
            self._protocol.close(self._status)
            self._transport = None  # the server closes the socket once nothing refers to this
            if self._reading is not None:
                self._reading.end()
                self._reading = None
