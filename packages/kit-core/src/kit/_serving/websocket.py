# SPDX-License-Identifier: MIT
"""Serves WebSocket connections, whose handshake is answered as a GET request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kit._app.errors import answer_fault
from kit._app.matching import context_of
from kit._state.app_state import AppState
from kit.compose import respond
from kit.context import Context
from kit.interface import HandlerError
from kit.web import Response
from kit.web._body import peek, put
from kit.web._streams import USED, close_stream
from kit.websocket._handshake import Handshake

from .paths import path_of_scope
from .response import send_response

if TYPE_CHECKING:
    from .types import Message, Receive, Scope, Send


async def serve_websocket(state: AppState, scope: Scope, receive: Receive, send: Send) -> None:
    """Serves an ASGI scope of the type websocket.

    Args:
        state: The state of the app.
        scope: The scope.
        receive: Returns the messages of the server.
        send: Sends messages to the server.
    """
    if (await receive())["type"] != "websocket.connect":
        return  # the client has left already
    handshake = Handshake(scope, receive, send)
    path = path_of_scope(handshake.scope)
    c = context_of(state, handshake.scope, handshake.receive_http, path)
    try:
        response = await respond(c)
        if handshake.is_accepted(response):
            await handshake.converse(response)
        else:
            await _refuse(response, handshake, send, c)
    except BaseException as error:
        if isinstance(error, Exception):
            await c._end()  # tasks were promised, whatever became of the connection
        else:
            handshake.close()
            c._close()
        raise
    await c._end()


async def _refuse(
    response: Response, handshake: Handshake, send: Send, c: Context[Any, Any]
) -> None:
    """Sends the response to a handshake that was not accepted.

    SPEC: ASGI, "WebSocket Denial Response".
    """
    if response.status == 101:
        fault: Exception = HandlerError(
            "A handler", "answered a handshake with 101: use upgrade_websocket()"
        )
        response = answer_fault(fault, c)
    elif peek(response) is USED:
        fault = TypeError("The response can't be sent: its body was already read")
        response = answer_fault(fault, c)
    if "websocket.http.response" not in (handshake.scope.get("extensions") or {}):
        body = peek(response)
        put(response, USED)
        await close_stream(body)
        await handshake.refuse()
        return

    async def send_denial(message: Message) -> None:
        await send({**message, "type": f"websocket.{message['type']}"})

    await send_response(response, send_denial, c._wait_for_disconnect, "GET")
