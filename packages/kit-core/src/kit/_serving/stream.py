# SPDX-License-Identifier: MIT
"""Sends a streamed body to an ASGI server, until it ends or the client is gone."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from types import AsyncGeneratorType
from typing import Any, Protocol

from msgspec import Struct

from kit.web import ClientDisconnectedError
from kit.web._streams import close_stream, encode_chunk, iterate

from .disconnect import run_until
from .types import Message, Send

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


class PushBody(Protocol):
    """A body that writes itself, rather than being iterated, as those of `kit.streaming` do."""

    @property
    def gone(self) -> bool:
        """Whether it has noticed, and logged, that the client went away."""

    async def write_to(self, sink: Callable[[bytes], Awaitable[None]], /) -> bool:
        """Writes to `sink`; returns whether the body is complete."""


class WatchingBody(Protocol):
    """A body that is told when the client goes away."""

    async def client_left(self) -> None:
        """Called when nobody is left to send it to."""


def send_stream(
    head: Message, body: Any, send: Send, wait_for_disconnect: Callable[[], Awaitable[bool]]
) -> Awaitable[None]:
    """Sends a streamed response; when the client leaves, the body is cancelled where it waits.

    Args:
        head: The message that starts the response.
        body: A stream, a `PushBody` or a `WatchingBody`; closed at the end.
        send: Takes messages for the server.
        wait_for_disconnect: Waits until the client has gone; see `Request.wait_for_disconnect`.

    Raises:
        Exception: When awaited, what the body raised.
    """
    client = _Client(body, wait_for_disconnect)
    if body.__class__ is not AsyncGeneratorType and hasattr(body, "write_to"):
        work = _write(head, body, send)
    else:
        work = _pump(head, body, send, client)
    return run_until(client.left, work, body)


class _Client(Struct, eq=False):
    """The receiver of a body: waits for it to leave, and logs that once.

    Args:
        body: The body.
        wait_for_disconnect: As for `send_stream`.
    """

    _body: Any
    _wait_for_disconnect: Callable[[], Awaitable[bool]]
    _is_noted: bool = False

    def note_gone(self, error: OSError | None = None) -> None:
        # A PushBody logs it by itself.
        if not (self._is_noted or getattr(self._body, "gone", False)):
            how = "" if error is None else f": {error!r}"
            _logger.debug("The client went away during a streamed response%s", how)
        self._is_noted = True

    async def left(self) -> bool:
        """Waits until it has left; returns False if disconnects are no longer reported."""
        if not await self._wait_for_disconnect():
            return False
        self.note_gone()
        client_left = getattr(self._body, "client_left", None)
        if client_left is not None:
            await client_left()
        return not hasattr(self._body, "write_to")  # else it ends its work itself


async def _write(head: Message, body: PushBody, send: Send) -> None:
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
    if await body.write_to(send_chunk):
        await send({"type": "http.response.body", "body": b""})


async def _pump(head: Message, body: Any, send: Send, client: _Client) -> None:
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
