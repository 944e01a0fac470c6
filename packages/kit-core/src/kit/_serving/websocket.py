# SPDX-License-Identifier: MIT
"""Serves WebSocket connections, whose handshake is answered as a GET request."""

from __future__ import annotations

from types import CoroutineType
from typing import TYPE_CHECKING, Any

from kit._app.errors import answer_fault, handle_error
from kit._app.matching import context_of
from kit._response.results import settle
from kit._state.app_state import AppState
from kit.compose import respond
from kit.context import Context, end_request
from kit.interface import HandlerError
from kit.web import Response
from kit.web._body import peek, put
from kit.web._streams import USED, close_stream
from kit.websocket._handshake import Handshake

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
        response = await (respond(c) if only is None else _answer_alone(c, only))
        if handshake.is_accepted(response):
            failure = await handshake.converse(response)
        else:
            await _refuse(response, handshake, send, c)
    except BaseException as error:
        if not isinstance(error, Exception):
            handshake.close()
        await end_request(c, error)  # tasks were promised, whatever became of the connection
        raise
    await end_request(c, failure)


def _context_of(state: AppState, handshake: Handshake) -> tuple[Context[Any, Any], Any]:
    """Returns the context of a handshake as a GET request, and its handler if it has only one."""
    scope = handshake.scope
    receive = handshake.receive_http
    if state.looks_at_requests:
        return context_of(state, scope, receive, path_of_scope(scope)), None
    path = scope["path"]
    raw = scope.get("raw_path")
    # PERF: as in `serve`.
    if scope["root_path"] or raw is None or _PERCENT in raw or not path:
        path = path_of_scope(scope)
    match = state.find("GET", path)
    handlers = match[0]
    if len(handlers) == 1 and not handlers[0][0].takes_next:
        # Its index tells `respond` that the handler has run.
        c: Context[Any, Any] = Context(state, scope, receive, path, match, handlers, None, 0)
        return c, handlers[0][0].handler
    return Context(state, scope, receive, path, match, handlers), None


async def _answer_alone(c: Context[Any, Any], handler: Any) -> Response:
    """Calls the only handler that matches. PERF: nothing is around it, so it is called directly."""
    try:
        response = handler(c)
        if response.__class__ is CoroutineType:
            response = await response
        if response.__class__ is not Response:
            response = await settle(response, handler)
    except Exception as error:
        return await handle_error(error, c)
    return await respond(c) if response is None else response


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

    await send_response(response, send_denial, c.req.raw.wait_for_disconnect, "GET")
