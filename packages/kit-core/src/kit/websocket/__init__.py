# SPDX-License-Identifier: MIT
"""WebSockets; their handshake is an ordinary GET request.

    @app.get("/chat/:room", use=[bearer_auth(token=TOKEN)])
    @upgrade_websocket(origins=["https://example.com"])
    async def chat(c: Context, ws: WebSocket) -> None:
        async for message in ws:
            await ws.send(f"{c.req.param('room')}: {message}")

A handshake is routed as a GET and runs through the same middleware. If a middleware responds, an
exception is raised or no route matches, the response is sent as HTTP; a server that can't do that
(ASGI extension `websocket.http.response`) sends 403. Otherwise the connection is accepted with the
headers and cookies that were set, and the handler runs once all middleware has returned. The tasks
of `wait_until` run after the connection has ended.

When the handler returns, the connection is closed with 1000. If it raises an exception:

| exception | close code | logged |
|---|---|---|
| `WebSocketDisconnectedError`, because the client disconnected | | no |
| `InvalidMessageError` from `receive_json` | 1007, with its text | no |
| `HTTPException` with a status below 500 | 1008, with its message | no |
| any other | 1011 | yes |

`on_error` handles only handshakes: once a connection is accepted, there is no response.

SPEC: RFC 6455; ASGI HTTP & WebSocket message format 2.5; WHATWG WebSockets for names.
"""

from kit.interface.websocket import (
    CloseEvent,
    ErrorEvent,
    MessageEvent,
    OpenEvent,
    ReadyState,
    WebSocketDisconnectedError,
    WSEvents,
)

from ._handshake import Handshake, get_handshake
from ._socket import InvalidMessageError, WebSocket
from ._upgrade import UpgradeOptions, upgrade_websocket

__all__ = (
    "CloseEvent",
    "ErrorEvent",
    "Handshake",
    "InvalidMessageError",
    "MessageEvent",
    "OpenEvent",
    "ReadyState",
    "UpgradeOptions",
    "WSEvents",
    "WebSocket",
    "WebSocketDisconnectedError",
    "get_handshake",
    "upgrade_websocket",
)

# Public classes show the module that users import them from.
for _class in (Handshake, InvalidMessageError, UpgradeOptions, WebSocket):
    _class.__module__ = __name__
