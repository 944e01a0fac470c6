# SPDX-License-Identifier: MIT
"""Serves the handlers after a middleware as an ASGI application.

For packages that run ASGI middleware of other libraries among that of a Kit app, as `kit.asgi`
does.
"""

from __future__ import annotations

from typing import Any

from kit._engine.framing import frame
from kit._engine.handlers import final_response
from kit._serving.stream import send_body
from kit._serving.websocket import serve_handshake
from kit.context import note_cancelled
from kit.interface import Context, HTTPException, Next
from kit.web import Request, Response
from kit.web._body_reader import BodyReader
from kit.web._request import served_request
from kit.websocket import Handshake

__all__ = ("serve_rest",)


async def serve_rest(
    c: Context[Any, Any], next: Next, scope: Any, receive: Any, send: Any
) -> Exception | None:
    """Runs the handlers after a middleware for a scope, and sends their response.

    The handlers read the request from the scope and the messages, with what was changed. The routes
    that matched stay. `c.res` is empty afterwards: the middleware sets what became of the response.

    SPEC: ASGI HTTP & WebSocket message format.

    Args:
        c: The context.
        next: Runs the handlers.
        scope: The scope, of the type `http` or `websocket`, with the method and path of the
            request.
        receive: Receives messages, as from a server.
        send: Sends messages, as to a server.

    Returns:
        The exception of a handler that became a 500, or ended a connection; it is logged already,
        and the response was sent completely.

    Raises:
        Exception: The exception of a streamed body, whose response is cut off.
    """
    own: Any = c
    fault: Exception | None = None

    def take_response() -> None:
        # Before anything is sent, since the middleware sets its own response then.
        nonlocal fault
        if not isinstance(c.error, HTTPException) and c.res.status >= 500:
            fault = c.error
        own.res = None

    if scope["type"] == "websocket":
        if (await receive())["type"] != "websocket.connect":
            return None  # the client has already disconnected
        handshake = Handshake(scope, receive, send)
        _replace_request(own, handshake.scope, handshake.receive_http)

        async def respond() -> Response:
            await next()
            response = final_response(own)
            take_response()
            return response

        return await serve_handshake(own, handshake, respond, send) or fault
    request = _replace_request(own, scope, receive)
    try:
        await next()
    except BaseException:
        # The middleware may answer after it has cancelled them, e.g. as they took too long.
        note_cancelled(own)
        raise
    status, lines, body = frame(own)
    take_response()
    start = {"type": "http.response.start", "status": status, "headers": lines}
    if isinstance(body, bytes):
        await send(start)
        await send({"type": "http.response.body", "body": body})
    else:
        await send_body(start, body, lambda: request, send)
    return fault


def _replace_request(c: Any, scope: Any, receive: Any) -> Request:
    request = served_request(scope, BodyReader(receive, scope), is_used=False)
    c._scope = scope
    c.req._replace(request)
    return request
