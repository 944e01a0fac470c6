# SPDX-License-Identifier: MIT
"""The `__call__` of an app, which ASGI servers call."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from kit._engine.framing import frame
from kit._engine.matching import create_served_context
from kit.context import Context, end_request

if TYPE_CHECKING:
    from kit._routing.app_state import AppState
    from kit.web import Request

    from .types import Receive, Scope, Send


class ASGIApplication:
    """An object that ASGI servers call."""

    _state: AppState

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serves one ASGI 3 scope: http, websocket or lifespan.

        SPEC: ASGI HTTP & WebSocket message format, "HTTP".

        Args:
            scope: The scope.
            receive: Receives messages from the server.
            send: Sends messages to the server.

        Raises:
            Exception: An exception that a streamed response raises after it has started.
            RuntimeError: If the type of the scope is unknown.
        """
        if scope["type"] != "http":
            await _serve_other(self._state, scope, receive, send)
            return
        c = create_served_context(self._state, scope, receive)
        try:
            await c._run(c)
            status, lines, body = frame(c)
            start = {"type": "http.response.start", "status": status, "headers": lines}
            if body.__class__ is bytes:
                await send(start)
                await send({"type": "http.response.body", "body": body})
            else:
                from .stream import send_body  # PERF: imports asyncio

                await send_body(start, body, partial(_get_served, c), send)
        except BaseException as error:
            await end_request(c, error)  # runs cleanups and tasks even if sending failed
            raise
        req = c._req
        if c._execution_ctx is not None:
            await end_request(c, None)
        elif req is not None and (req._reader is not None or req._handed_on):
            req._close()


def _get_served(c: Context[Any, Any]) -> Request:
    """Returns the request that the server received.

    PERF: a lambda would make `c` a cell, which takes 1 % of each request.
    """
    return c.req.served


async def _serve_other(state: AppState, scope: Scope, receive: Receive, send: Send) -> None:
    """Serves a scope that isn't http."""
    kind = scope["type"]
    if kind == "lifespan":
        from .lifespan import serve_lifespan

        await serve_lifespan(state.lifespan, receive, send)
    elif kind == "websocket":
        from .websocket import serve_websocket

        await serve_websocket(state, scope, receive, send)
    else:
        raise RuntimeError(f"Kit can't serve the ASGI scope type {kind!r}")
