# SPDX-License-Identifier: MIT
"""Serves requests and WebSockets from an RSGI server by calling the app through ASGI."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, cast

from ._request import RequestBody
from ._response import ResponseSender
from ._scope import http_scope, websocket_scope
from ._types import Application, RsgiHttp, RsgiScope, RsgiWebSocket
from ._websocket import Connection


def serve(
    app: Application, scope: RsgiScope, protocol: RsgiHttp | RsgiWebSocket
) -> Coroutine[Any, Any, None]:
    """Serves a request or a WebSocket.

    SPEC: RSGI 1.6, "HTTP protocol" and "Websocket protocol".

    Args:
        app: The app.
        scope: The RSGI scope.
        protocol: The RSGI protocol.

    Returns:
        A coroutine. It raises the app's exceptions, e.g. if a streamed response fails after it has
        started, and RuntimeError if the app chose a subprotocol, which RSGI can't send.
    """
    if scope.proto == "http":
        return _serve_http(app, scope, cast("RsgiHttp", protocol))
    return _serve_websocket(app, scope, cast("RsgiWebSocket", protocol))


async def _serve_http(app: Application, source: RsgiScope, protocol: RsgiHttp) -> None:
    body = RequestBody(source, protocol)
    response = ResponseSender(protocol, source.method, body.finish)
    try:
        await app(http_scope(source), body.receive, response.send)
    finally:
        response.leave_unfinished()  # unless it is whole, whatever the app raises
        body.finish()


async def _serve_websocket(app: Application, source: RsgiScope, protocol: RsgiWebSocket) -> None:
    connection = Connection(protocol)
    try:
        await app(websocket_scope(source), connection.receive, connection.send)
    finally:
        connection.close()
