# SPDX-License-Identifier: MIT
"""Serves WebSocket connections; their handshake is handled as a GET request."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from kit._engine.errors import answer_fault
from kit._engine.framing import frame
from kit._engine.handlers import final_response
from kit._engine.matching import create_served_context
from kit._routing.app_state import AppState
from kit.context import Context, end_request
from kit.interface import HandlerError
from kit.web import Response
from kit.web._body import USED, peek, put
from kit.web._streams import close_stream
from kit.websocket._handshake import Handshake

from .stream import send_body

# A larger body of a refusal is streamed.
_MOST_DENIAL_BYTES = 1024 * 1024

_logger = logging.getLogger("kit")

if TYPE_CHECKING:
    from .types import Message, Receive, Scope, Send


async def serve_websocket(state: AppState, scope: Scope, receive: Receive, send: Send) -> None:
    """Serves an ASGI websocket scope.

    Args:
        state: The state of the app.
        scope: The scope.
        receive: Receives messages from the server.
        send: Sends messages to the server.
    """
    if (await receive())["type"] != "websocket.connect":
        return  # the client has already disconnected
    handshake = Handshake(scope, receive, send)
    c = create_served_context(state, handshake.scope, handshake.receive_http)

    async def respond() -> Response:
        await c._run(c)
        return final_response(c)

    try:
        failure = await serve_handshake(c, handshake, respond, send)
    except BaseException as error:
        await end_request(c, error)  # runs cleanups and tasks even if the connection failed
        raise
    await end_request(c, failure)


async def serve_handshake(
    c: Context[Any, Any],
    handshake: Handshake,
    respond: Callable[[], Awaitable[Response]],
    send: Send,
) -> Exception | None:
    """Runs the handlers of a handshake, and the connection if they accept it.

    Args:
        c: The context of the handshake.
        handshake: The handshake.
        respond: Runs the handlers, and returns their response.
        send: Sends messages to the server.

    Returns:
        The exception that ended the connection, already logged, or None.
    """
    try:
        response = await respond()
        if handshake.is_accepted(response):
            return await handshake.converse(response)
        await _refuse(response, handshake, send, c)
        await handshake.end()
        return None
    except BaseException as error:
        handshake.close()
        await handshake.end(error)
        raise


async def _refuse(
    response: Response, handshake: Handshake, send: Send, c: Context[Any, Any]
) -> None:
    """Sends the response to a handshake that was not accepted.

    SPEC: ASGI, "WebSocket Denial Response".
    """
    if response.status == 101:
        fault = HandlerError("A handler", "answered a handshake with 101: use upgrade_websocket()")
        response = c._res = answer_fault(fault, c)
    if "websocket.http.response" not in (handshake.scope.get("extensions") or {}):
        body = peek(response)
        put(response, USED)
        await close_stream(body)
        await handshake.refuse()
        return

    c._res = response
    denial = _Denial(send)
    status, lines, content = frame(c)
    head = {"type": "http.response.start", "status": status, "headers": lines}
    if isinstance(content, bytes):
        await denial.send(head)
        await denial.send({"type": "http.response.body", "body": content})
    else:
        await send_body(head, content, lambda: c.req.served, denial.send)
    await denial.end()


class _Denial:
    """A response that refuses the handshake; a body that isn't large is sent in one message.

    granian loses the body of a denial that consists of several messages.

    Args:
        send: Sends messages to the server.
    """

    __slots__ = ("_body", "_head", "_send")

    def __init__(self, send: Send) -> None:
        self._send = send
        self._head: Message | None = None  # None once it is sent
        self._body = bytearray()

    async def send(self, message: Message) -> None:
        """Sends a message of an HTTP response, or keeps it until the body is complete."""
        message = {**message, "type": f"websocket.{message['type']}"}
        head = self._head
        if message["type"] == "websocket.http.response.start":
            self._head = message
        elif head is None:
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            is_complete = not message.get("more_body", False)
            if is_complete or len(self._body) > _MOST_DENIAL_BYTES:
                message["body"] = bytes(self._body)
                self._head = None
                self._body.clear()
                await self._send(head)
                await self._send(message)

    async def end(self) -> None:
        """Refuses the handshake if the body was cut off because the client disconnected."""
        if self._head is not None:
            try:
                await self.send({"type": "http.response.body"})
            except OSError:
                _logger.debug("The client had left before its handshake was refused")
