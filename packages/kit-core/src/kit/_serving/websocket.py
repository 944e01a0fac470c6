# SPDX-License-Identifier: MIT
"""Serves WebSocket connections, whose handshake is handled as a GET request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kit._app.errors import answer_fault
from kit._matching.matches import context_of
from kit._matching.plans import plan_for
from kit._state.app_state import AppState
from kit.compose import respond
from kit.context import Context, end_request
from kit.interface import HandlerError
from kit.web import Response
from kit.web._body import USED, peek, put
from kit.web._streams import close_stream
from kit.websocket._handshake import Handshake

from .answering import answer_alone, new_context, sendable
from .paths import path_of_scope
from .response import send_response

_PERCENT = ord("%")

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
    c, only = _context_of(state, handshake)
    failure = None
    try:
        response = await (respond(c) if only is None else answer_alone(c, only))
        if handshake.is_accepted(response):
            failure = await handshake.converse(response)
        else:
            await _refuse(response, handshake, send, c)
            await handshake.end()
    except BaseException as error:
        handshake.close()
        await handshake.end(error)
        await end_request(c, error)  # tasks were promised, whatever became of the connection
        raise
    await end_request(c, failure)


def _context_of(state: AppState, handshake: Handshake) -> tuple[Context[Any, Any], Any]:
    """Returns the context of a handshake as a GET request, and its handler if it has only one."""
    scope = handshake.scope
    receive = handshake.receive_http
    if state.looks_at_requests:
        c, _ = context_of(state, scope, receive, path_of_scope(scope))
        return c, None
    path = scope["path"]
    raw = scope.get("raw_path")
    # PERF: as in `serve`.
    if scope["root_path"] or raw is None or _PERCENT in raw or not path:
        path = path_of_scope(scope)
    return new_context(state, scope, receive, path, plan_for(state, "GET", path))


async def _refuse(
    response: Response, handshake: Handshake, send: Send, c: Context[Any, Any]
) -> None:
    """Sends the response to a handshake that was not accepted.

    SPEC: ASGI, "WebSocket Denial Response".
    """
    if response.status == 101:
        fault = HandlerError("A handler", "answered a handshake with 101: use upgrade_websocket()")
        response = answer_fault(fault, c)
    response = sendable(response, c)
    if "websocket.http.response" not in (handshake.scope.get("extensions") or {}):
        body = peek(response)
        put(response, USED)
        await close_stream(body)
        await handshake.refuse()
        return

    async def send_denial(message: Message) -> None:
        await send({**message, "type": f"websocket.{message['type']}"})

    await send_response(response, send_denial, c.req.raw.wait_for_disconnect, "GET")
