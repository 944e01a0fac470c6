# SPDX-License-Identifier: MIT
"""What an ASGI server and an app say to each other, apart from the hot path in `app.py`."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from typing import TYPE_CHECKING, Any, TypeAlias

from .web import ClientDisconnectedError, Response
from .web._body import Stream, close_stream, iterate
from .web._received import ReceivedBody

if TYPE_CHECKING:
    from .context import Context

Message: TypeAlias = dict[str, Any]
Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

_logger = logging.getLogger("kit")
_CHUNKS_BETWEEN_CHECKPOINTS = 16
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


async def send_response(response: Response, c: Context[Any, Any], send: Send) -> None:
    """Sends any response.

    SPEC: RFC 9110 section 8.6 for Content-Length; section 9.3.2 for HEAD.

    Args:
        response: What to send. A streamed body is read and closed, also if it is not sent.
        c: The context of the request, which tells when the client goes away.
        send: Takes messages for the server.

    Raises:
        Exception: What a streamed body raised. The response has been started then, so the server
            closes the connection.
    """
    scope = c._scope
    body = response._take() if not isinstance(response._body, bytes) else response._body
    lines = list(response._lines)
    head = {"type": "http.response.start", "status": response._status, "headers": lines}
    if body is None or isinstance(body, bytes):
        content = body or b""
        if response._status in _WITHOUT_BODY:
            content = b""
            if response._status != 304:
                lines[:] = [line for line in lines if line[0] != b"content-length"]
        elif scope["method"] != "HEAD" or body is not None:
            lines[:] = [line for line in lines if line[0] != b"content-length"]
            lines.append((b"content-length", b"%d" % len(content)))
        if scope["method"] == "HEAD":
            content = b""
        await send(head)
        await send({"type": "http.response.body", "body": content})
        return
    try:
        await send(head)
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
        else:
            await _send_stream(body, c.req.raw._received_body(), send)
    finally:
        await close_stream(body)


async def _send_stream(body: Stream, received: ReceivedBody, send: Send) -> None:
    """Sends a streamed body; when the client leaves, the body is cancelled where it waits.

    As in every cancelled scope of anyio, a clean-up that waits has to be shielded then.
    """
    from anyio import create_task_group

    client_left = getattr(body, "_client_left", None)  # a CallbackBody

    async def watch() -> None:
        if await received.wait_for_disconnect():
            _logger.debug("The client went away during a streamed response")
            if client_left is not None:
                await client_left()
            group.cancel_scope.cancel()

    failure: Exception | None = None
    async with create_task_group() as group:
        group.start_soon(watch)
        try:
            await _pump(body, send)
        except Exception as error:  # raised below: a task group would wrap it
            failure = error
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _pump(body: Stream, send: Send) -> None:
    """Sends a streamed body until it ends or the client is found to be gone."""
    from anyio.lowlevel import checkpoint

    count = 0

    async def send_chunk(chunk: bytes) -> None:
        nonlocal count
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        # Neither the body nor `send` need ever wait, above all when the client is gone; then
        # nothing else would run until the end.
        count += 1
        if not count % _CHUNKS_BETWEEN_CHECKPOINTS:
            await checkpoint()

    write_to = getattr(body, "_write_to", None)  # a CallbackBody
    if write_to is not None:
        if await write_to(send_chunk):
            await send({"type": "http.response.body", "body": b""})
        return
    async with aclosing(iterate(body)) as chunks:
        try:
            async for chunk in chunks:
                if not chunk:
                    continue
                try:
                    await send_chunk(chunk)
                except OSError as error:
                    _logger.debug("The client went away during a streamed response: %r", error)
                    return
        except ClientDisconnectedError as error:
            _logger.debug("%s", error)
            return
    await send({"type": "http.response.body", "body": b""})
