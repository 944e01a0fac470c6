# SPDX-License-Identifier: MIT
"""Sends a streamed body to an ASGI server, until it ends or the client is gone."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

from ._interrupting import run_until
from .web import ClientDisconnectedError
from .web._body import Stream, close_stream, encode_chunk, iterate

if TYPE_CHECKING:
    from .context import Context

Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]

_logger = logging.getLogger("kit")
# PERF: how long a stream that never waits may take before others have to run meanwhile, and after
# how many chunks the time is looked at.
_SHORT_S = 0.001
_CHUNKS_IN_SHORT = 16
# From then on they run after so many chunks. An asyncio transport logs a warning for each write
# from the sixth on after its connection is lost, which neither it nor the server can tell before
# the event loop has run.
_CHUNKS_BETWEEN_TURNS = 4


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
    write_to = getattr(body, "_write_to", None)  # a CallbackBody
    work = _pump(body, send, client) if write_to is None else _write(write_to, send)
    return run_until(client.left, work)


class _Client:
    """Who a body is sent to: waits for it to leave, and notes it once.

    Args:
        body: The body.
        c: The context of its request.
    """

    __slots__ = ("_body", "_c", "_is_noted")

    def __init__(self, body: Stream, c: Context[Any, Any]) -> None:
        self._body = body
        self._c = c
        self._is_noted = False

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
        left -= 1  # as in _pump()
        if not left:
            left = _CHUNKS_IN_SHORT
            if monotonic() > is_short_until:
                left = _CHUNKS_BETWEEN_TURNS
                await _let_others_run()

    if await write_to(send_chunk):
        await send({"type": "http.response.body", "body": b""})


async def _pump(body: Stream, send: Send, client: _Client) -> None:
    """Sends a streamed body until it ends or the client is found to be gone."""
    left = _CHUNKS_IN_SHORT
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
                client.note_gone(error)
                return
            # PERF: written out, here and in _write(): a call for each chunk costs more.
            left -= 1
            if not left:
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
