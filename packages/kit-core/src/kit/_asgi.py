# SPDX-License-Identifier: MIT
"""What an ASGI server and an app say to each other, apart from the hot path in `app.py`."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

from ._interrupting import run_until
from .web import ClientDisconnectedError, Response
from .web._body import Stream, close_stream, encode_chunk, iterate

if TYPE_CHECKING:
    from .context import Context

Message: TypeAlias = dict[str, Any]
Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

_logger = logging.getLogger("kit")
# PERF: how long a stream that never waits may take before others have to run meanwhile.
_SHORT_S = 0.001
# From then on they run after every 4 chunks: whenever none of these bits is set in their count. An
# asyncio transport logs a warning for each write from the sixth on after its connection is lost,
# which neither it nor the server can tell before the event loop has run.
_BETWEEN_TURNS = 0x3
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
            await _send_stream(body, c, send)
    finally:
        await close_stream(body)


async def _send_stream(body: Stream, c: Context[Any, Any], send: Send) -> None:
    """Sends a streamed body; when the client leaves, the body is cancelled where it waits."""
    write_to = getattr(body, "_write_to", None)  # a CallbackBody
    is_noted = False

    def note_gone(error: OSError | None = None) -> None:
        nonlocal is_noted
        if not (is_noted or getattr(body, "_gone", False)):  # a CallbackBody says so itself
            how = "" if error is None else f": {error!r}"
            _logger.debug("The client went away during a streamed response%s", how)
        is_noted = True

    work = _pump(body, send, note_gone) if write_to is None else _write(write_to, send)

    async def client_left() -> bool:
        if not await c.req.raw._received_body().wait_for_disconnect():
            return False
        note_gone()
        tell = getattr(body, "_client_left", None)  # a CallbackBody, or that of a mounted app
        if tell is not None:
            await tell()
        return write_to is None  # else it cancels itself

    await run_until(client_left, work)


async def _write(write_to: Callable[[Send], Awaitable[bool]], send: Send) -> None:
    """Lets a body write itself."""
    count = 0
    is_short_until = monotonic() + _SHORT_S

    async def send_chunk(chunk: Any) -> None:
        nonlocal count
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        count += 1
        if not count & _BETWEEN_TURNS and monotonic() > is_short_until:
            await _let_others_run()

    if await write_to(send_chunk):
        await send({"type": "http.response.body", "body": b""})


async def _pump(body: Stream, send: Send, note_gone: Callable[[OSError], None]) -> None:
    """Sends a streamed body until it ends or the client is found to be gone."""
    count = 0
    is_short_until = monotonic() + _SHORT_S
    # PERF: no generator of our own around one that is async already; who called closes it.
    chunks: Any = body.__aiter__() if hasattr(body, "__aiter__") else iterate(body)
    try:
        async for chunk in chunks:
            if chunk.__class__ is not bytes:
                chunk = encode_chunk(chunk)
            if not chunk:
                continue
            try:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            except OSError as error:
                note_gone(error)
                return
            count += 1
            if not count & _BETWEEN_TURNS and monotonic() > is_short_until:
                await _let_others_run()
    except ClientDisconnectedError as error:
        _logger.debug("%s", error)
        return
    finally:
        if chunks is not body and hasattr(chunks, "aclose"):
            await chunks.aclose()
    await send({"type": "http.response.body", "body": b""})


async def _let_others_run() -> None:
    """Waits for the other tasks.

    Neither a body nor `send` need ever wait, above all when the client is gone; then nothing else
    would run until the end.
    """
    from anyio.lowlevel import checkpoint

    await checkpoint()
