# SPDX-License-Identifier: MIT
"""What an ASGI server and an app say to each other, apart from the hot path in `app.py`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, TypeAlias

from kit._serving.stream import send_stream
from kit.web import Response
from kit.web._body import USED, close_stream

if TYPE_CHECKING:
    from kit.context import Context

Message: TypeAlias = dict[str, Any]
Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

_WITHOUT_BODY = frozenset((101, 204, 304))


async def serve_other(
    running: Callable[[], AbstractAsyncContextManager[Any]],
    scope: Scope,
    receive: Receive,
    send: Send,
) -> None:
    """Serves the scopes that are no http.

    SPEC: ASGI Lifespan Protocol; ASGI WebSocket, "Close - send event": a close before the
    connection is accepted is answered with 403.

    Args:
        running: Runs the lifespan of the app around what is done within.
        scope: The scope.
        receive: Gives messages of the server.
        send: Takes messages for the server.

    Raises:
        RuntimeError: If the type of the scope is unknown.
    """
    if scope["type"] == "lifespan":
        await _serve_lifespan(running, receive, send)
    elif scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1000})
    else:
        raise RuntimeError(f"Kit can't serve the ASGI scope type {scope['type']!r}")


async def _serve_lifespan(
    running: Callable[[], AbstractAsyncContextManager[Any]], receive: Receive, send: Send
) -> None:
    await receive()
    phase = "startup"
    try:
        async with running():
            await send({"type": "lifespan.startup.complete"})
            phase = "shutdown"
            await receive()
    except Exception:
        import traceback

        # The server logs the message; raising as well would log it twice.
        await send({"type": f"lifespan.{phase}.failed", "message": traceback.format_exc()})
    else:
        await send({"type": "lifespan.shutdown.complete"})


def send_response(response: Response, c: Context[Any, Any], send: Send) -> Awaitable[None]:
    """Sends any response.

    Args:
        response: What to send. A streamed body is closed, also if it is not sent.
        c: The context of the request, which tells when the client goes away.
        send: Takes messages for the server.

    Raises:
        Exception: When awaited, what a streamed body raised. The response has been started then,
            so the server closes the connection.
    """
    is_head = c._scope["method"] == "HEAD"
    if response._body is None or isinstance(response._body, bytes):
        return _send_whole(response, send, is_head=is_head)
    return _send_head_of_stream(response, send) if is_head else send_stream(response, c, send)


async def _send_whole(response: Response, send: Send, *, is_head: bool) -> None:
    """Sends a response whose body is in memory.

    SPEC: RFC 9110 section 8.6 for Content-Length; section 9.3.2 for HEAD.
    """
    body: Any = response._body
    lines = [*response._lines]
    content = body or b""
    if response._status in _WITHOUT_BODY:
        content = b""
        if response._status != 304:
            lines[:] = [line for line in lines if line[0] != b"content-length"]
    elif not is_head or body is not None:
        lines[:] = [line for line in lines if line[0] != b"content-length"]
        lines.append((b"content-length", b"%d" % len(content)))
    await send({"type": "http.response.start", "status": response._status, "headers": lines})
    await send({"type": "http.response.body", "body": b"" if is_head else content})


async def _send_head_of_stream(response: Response, send: Send) -> None:
    """Sends the head of a streamed response, as HEAD asks for; its body is closed unread."""
    body: Any = response._body
    response._body = USED
    lines = [*response._lines]
    try:
        await send({"type": "http.response.start", "status": response._status, "headers": lines})
        await send({"type": "http.response.body", "body": b""})
    finally:
        await close_stream(body)
