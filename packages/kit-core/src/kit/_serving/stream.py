# SPDX-License-Identifier: MIT
"""Sends a streamed body to an ASGI server, until it ends or the client is gone."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from types import AsyncGeneratorType
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from kit._serving.disconnect import run_until
from kit.web import ClientDisconnectedError, Response
from kit.web._body import USED, Stream, close_stream, encode_chunk, iterate

if TYPE_CHECKING:
    from kit.context import Context
    from kit.streaming._body import CallbackBody

Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]

_logger = logging.getLogger("kit")
# PERF: a stream that never waits lets others run once it has taken so long. The time is looked at
# after each sixteenth chunk: `left` counts from here to 0.
_SHORT_S = 0.001
_CHUNKS_IN_SHORT = 15
# From then on they run after each fourth. An asyncio transport logs a warning for each write from
# the sixth on after its connection is lost, which neither it nor the server can tell before the
# event loop has run.
_CHUNKS_BETWEEN_TURNS = 3
# PERF: a copy of a message is made in two thirds of the time of a new one.
_CHUNK_MESSAGE = {"type": "http.response.body", "body": b"", "more_body": True}


def send_stream(response: Response, c: Context[Any, Any], send: Send) -> Awaitable[None]:
    """Sends a streamed response; when the client leaves, the body is cancelled where it waits.

    Args:
        response: The response; its body is closed at the end.
        c: The context of the request, which tells when the client goes away.
        send: Takes messages for the server.

    Raises:
        Exception: When awaited, what the body raised.
    """
    body: Any = response._body
    response._body = USED
    status, lines = response._status, [*response._lines]
    head = {"type": "http.response.start", "status": status, "headers": lines}
    client = _Client(body, c)
    if body.__class__ is not AsyncGeneratorType and hasattr(body, "_write_to"):
        work = _write(head, body, send)
    else:
        work = _pump(head, body, send, client)
    return run_until(client.left, work, body)


class _Client(Struct, eq=False):
    """Who a body is sent to: waits for it to leave, and notes it once.

    Args:
        body: The body.
        c: The context of its request.
    """

    _body: Stream
    _c: Context[Any, Any]
    _is_noted: bool = False

    def note_gone(self, error: OSError | None = None) -> None:
        # A CallbackBody says so itself.
        if not (self._is_noted or getattr(self._body, "_gone", False)):
            how = "" if error is None else f": {error!r}"
            _logger.debug("The client went away during a streamed response%s", how)
        self._is_noted = True

    async def left(self) -> bool:
        """Waits until it has left; gives False if that can't be told any more."""
        if not await self._c.req.raw._received_body().wait_for_disconnect():
            return False
        self.note_gone()
        tell = getattr(self._body, "_client_left", None)  # a CallbackBody, or of a mounted app
        if tell is not None:
            await tell()
        return not hasattr(self._body, "_write_to")  # else it ends its work itself


async def _write(head: dict[str, Any], body: CallbackBody, send: Send) -> None:
    """Lets a body write itself."""
    left = _CHUNKS_IN_SHORT
    is_short_until = monotonic() + _SHORT_S

    async def send_chunk(chunk: Any) -> None:
        nonlocal left
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        if left > 0:  # as in _pump()
            left -= 1
        else:
            left = _CHUNKS_IN_SHORT
            if monotonic() > is_short_until:
                left = _CHUNKS_BETWEEN_TURNS
                await _let_others_run()

    await send(head)
    if await body._write_to(send_chunk):
        await send({"type": "http.response.body", "body": b""})


async def _pump(head: dict[str, Any], body: Any, send: Send, client: _Client) -> None:
    """Sends what a body gives, until it ends or the client is found to be gone."""
    left = _CHUNKS_IN_SHORT
    is_short_until = monotonic() + _SHORT_S
    expected, template = bytes, _CHUNK_MESSAGE
    chunks = body
    try:
        await send(head)
        if body.__class__ is not AsyncGeneratorType:
            chunks = _chunks(body)
        async for chunk in chunks:
            if chunk.__class__ is not expected:
                chunk = encode_chunk(chunk)
            if not chunk:
                continue
            message = template.copy()
            message["body"] = chunk
            try:
                await send(message)
            except OSError as error:
                client.note_gone(error)
                return
            # PERF: written out, here and in _write(): a call for each chunk costs more.
            if left > 0:
                left -= 1
            else:
                left = _CHUNKS_IN_SHORT
                if monotonic() > is_short_until:
                    left = _CHUNKS_BETWEEN_TURNS
                    await _let_others_run()
        await send({"type": "http.response.body", "body": b""})
    except ClientDisconnectedError as error:
        _logger.debug("%s", error)
    finally:
        if chunks is not body:
            await close_stream(chunks)


def _chunks(body: Any) -> Any:
    # PERF: no generator of our own around a body that is async already.
    return body.__aiter__() if hasattr(body, "__aiter__") else iterate(body)


async def _let_others_run() -> None:
    """Waits for the other tasks.

    Neither a body nor `send` need ever wait, above all when the client is gone; then nothing else
    would run until the end.
    """
    from anyio.lowlevel import checkpoint

    await checkpoint()
