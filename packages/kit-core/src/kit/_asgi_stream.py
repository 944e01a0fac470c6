# SPDX-License-Identifier: MIT
"""Sends a streamed body to an ASGI server, until it ends or the client is gone."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from types import AsyncGeneratorType
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from ._interrupting import run_until
from .web import ClientDisconnectedError
from .web._body import Stream, close_stream, encode_chunk, iterate

if TYPE_CHECKING:
    from .context import Context

Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]

_logger = logging.getLogger("kit")
# PERF: how long a stream that never waits may take before others have to run meanwhile, and how
# many chunks are sent before the one after which the time is looked at.
_SHORT_S = 0.001
_CHUNKS_IN_SHORT = 15
# The same from then on. An asyncio transport logs a warning for each write from the sixth on after
# its connection is lost, which neither it nor the server can tell before the event loop has run.
_CHUNKS_BETWEEN_TURNS = 3
# PERF: a copy of a message is made in three quarters of the time of a new one.
_new_chunk_message = {"type": "http.response.body", "body": b"", "more_body": True}.copy


def send_stream(body: Stream, c: Context[Any, Any], send: Send) -> Awaitable[None]:
    """Sends a streamed body; when the client leaves, the body is cancelled where it waits.

    Args:
        body: The body; who calls this closes it.
        c: The context of the request, which tells when the client goes away.
        send: Takes messages for the server.

    Raises:
        Exception: When awaited, what the body raised.
    """
    client = _Client(body, c)
    if body.__class__ is AsyncGeneratorType:
        return run_until(client.left, _pump(body, body, send, client))
    write_to = getattr(body, "_write_to", None)
    if write_to is not None:  # a CallbackBody
        return run_until(client.left, _write(write_to, send))
    chunks = body.__aiter__() if hasattr(body, "__aiter__") else iterate(body)
    return run_until(client.left, _pump(chunks, body, send, client))


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


async def _write(write_to: Callable[[Send], Awaitable[bool]], send: Send) -> None:
    """Lets a body write itself."""
    left = _CHUNKS_IN_SHORT
    is_short_until = monotonic() + _SHORT_S

    async def send_chunk(chunk: Any) -> None:
        nonlocal left
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        if left:  # as in _pump()
            left -= 1
        else:
            left = _CHUNKS_IN_SHORT
            if monotonic() > is_short_until:
                left = _CHUNKS_BETWEEN_TURNS
                await _let_others_run()

    if await write_to(send_chunk):
        await send({"type": "http.response.body", "body": b""})


async def _pump(chunks: Any, body: Stream, send: Send, client: _Client) -> None:
    """Sends a streamed body until it ends or the client is found to be gone."""
    left = _CHUNKS_IN_SHORT
    is_short_until = monotonic() + _SHORT_S
    expected, new_message = bytes, _new_chunk_message
    try:
        async for chunk in chunks:
            if chunk.__class__ is not expected:
                chunk = encode_chunk(chunk)
            if not chunk:
                continue
            message = new_message()
            message["body"] = chunk
            try:
                await send(message)
            except OSError as error:
                client.note_gone(error)
                return
            # PERF: written out, here and in _write(): a call for each chunk costs more.
            if left:
                left -= 1
            else:
                left = _CHUNKS_IN_SHORT
                if monotonic() > is_short_until:
                    left = _CHUNKS_BETWEEN_TURNS
                    await _let_others_run()
    except ClientDisconnectedError as error:
        _logger.debug("%s", error)
        return
    finally:
        if chunks is not body:
            await close_stream(chunks)
    await send({"type": "http.response.body", "body": b""})


async def _let_others_run() -> None:
    """Waits for the other tasks.

    Neither a body nor `send` need ever wait, above all when the client is gone; then nothing else
    would run until the end.
    """
    from anyio.lowlevel import checkpoint

    await checkpoint()
