# SPDX-License-Identifier: MIT
"""`Socket`: a WebSocket whose messages have types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar

from kit.interface.websocket import WebSocket, WebSocketDisconnectedError

__all__ = ("Socket",)

ReceivedT = TypeVar("ReceivedT")
SentT = TypeVar("SentT")

# SPEC: RFC 6455, section 7.4.1: 1003 is for a kind of data that the endpoint can't accept.
_UNSUPPORTED_DATA = 1003


class Socket(Generic[ReceivedT, SentT]):
    """A WebSocket with typed messages, a parameter of a typed endpoint below `@upgrade_websocket`.

        @app.get("/rooms/:room")
        @upgrade_websocket
        @typed
        async def room(ws: Socket[Say | Typing, Said], room: str) -> None:
            async for message in ws:
                await ws.send(Said(...))

    The first type is that of received messages, the second that of sent ones: `str` for text
    messages, `bytes` for binary ones, `str | bytes` for both, None for no messages. Any other type
    is sent and received as JSON. The types are also those of the AsyncAPI document.

    Args:
        ws: The connection.
        received: The type of received messages; a tuple of classes if they aren't JSON.
        encode: Checks a message, and returns what is sent for it.
        sends_json: Whether that is sent as JSON.

    Attributes:
        ws: The connection, for messages of other types.
    """

    def __init__(
        self, ws: WebSocket, received: Any, encode: Callable[[Any], Any], *, sends_json: bool
    ) -> None:
        self.ws = ws
        self._received = received
        self._is_raw = isinstance(received, tuple)
        self._encode = encode
        self._send = ws.send_json if sends_json else ws.send

    @property
    def url(self) -> str:
        """Absolute URL of the handshake; its scheme is `ws` or `wss`."""
        return self.ws.url

    @property
    def protocol(self) -> str:
        """The negotiated subprotocol; empty if there is none."""
        return self.ws.protocol

    async def receive(self) -> ReceivedT:
        """Waits for the next message.

        A binary message where only text is expected, or the reverse, closes the connection with
        1003.

        Returns:
            The message.

        Raises:
            InvalidMessageError: If a message isn't JSON, or not of the type; see `kit.websocket`.
                The connection stays open if the handler catches it, and is closed with 1007 if not.
            WebSocketDisconnectedError: If the connection is closed.
        """
        if not self._is_raw:
            read: ReceivedT = await self.ws.receive_json(type=self._received)
            return read
        message: Any = await self.ws.receive()
        if not isinstance(message, self._received):
            reason = f"Unexpected {'text' if isinstance(message, str) else 'binary'} message"
            await self.ws.close(_UNSUPPORTED_DATA, reason)
            raise WebSocketDisconnectedError(_UNSUPPORTED_DATA, reason)
        checked: ReceivedT = message
        return checked

    async def send(self, message: SentT) -> None:
        """Sends a message: a str as text, bytes as binary, anything else as JSON.

        Args:
            message: The message. An object of another class is read by its attributes, as a result
                of a typed endpoint is, so only the declared fields are sent.

        Raises:
            ResponseValidationError: If it isn't of the declared type. Nothing is sent.
            WebSocketDisconnectedError: If the connection is closed.
        """
        await self._send(self._encode(message))

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Closes the connection; see `WebSocket.close` of kit.websocket.

        Args:
            code: The close code.
            reason: A reason for people.

        Raises:
            ValueError: If the code or the reason can't be sent.
        """
        await self.ws.close(code, reason)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ReceivedT:
        try:
            return await self.receive()
        except WebSocketDisconnectedError:
            raise StopAsyncIteration from None
