# SPDX-License-Identifier: MIT
"""Sends a streamed body to an ASGI server until it ends or the client disconnects."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from types import AsyncGeneratorType
from typing import Any, Protocol

from kit._support.struct import Struct
from kit.web import ClientDisconnectedError
from kit.web._streams import close_stream, encode_chunk, iterate

from .disconnect import run_until
from .types import Message, Send

_logger = logging.getLogger("kit")
# PERF: a stream that never waits lets other tasks run once it has taken this long, in seconds.
_SHORT_S = 0.001


def _countdown(count: int) -> Any:
    """Returns something to count down with: `(left,) = left`, until it is None.

    PERF: that takes half the time of `left -= 1`, for each chunk.
    """
    left: Any = None
    for _ in range(count):
        left = (left,)
    return left


# The clock is read after each sixteenth chunk.
_CHUNKS_IN_SHORT = _countdown(15)
# After that, they run after every fourth chunk. An asyncio transport logs a warning for each write
# from the sixth on after its connection is lost, which neither it nor the server can notice before
# the event loop has run.
_CHUNKS_BETWEEN_TURNS = _countdown(3)
# PERF: copying a message takes two thirds of the time of building a new one.
_CHUNK_MESSAGE = {"type": "http.response.body", "body": b"", "more_body": True}


class PushBody(Protocol):
    """A body that writes itself instead of being iterated, like those of `kit.streaming`."""

    @property
    def gone(self) -> bool:
        """Whether it has noticed, and logged, that the client disconnected."""

    async def write_to(self, sink: Callable[[bytes], Awaitable[None]], /) -> bool:
        """Writes to `sink`; returns whether the body is complete."""


class WatchingBody(Protocol):
    """A body that is notified when the client disconnects."""

    async def client_left(self) -> None:
        """Called when the client has disconnected."""


def send_stream(
    head: Message, body: Any, send: Send, wait_for_disconnect: Callable[[], Awaitable[bool]]
) -> Awaitable[None]:
    """Sends a streamed response; if the client disconnects, the body is cancelled where it waits.

    Args:
        head: The message that starts the response.
        body: A stream, a `PushBody` or a `WatchingBody`; closed at the end.
        send: Sends messages to the server.
        wait_for_disconnect: Waits until the client disconnects; see `Request.wait_for_disconnect`.

    Raises:
        Exception: When awaited, the exception that the body raised.
    """
    client = _Client(body, wait_for_disconnect)
    if body.__class__ is not AsyncGeneratorType and hasattr(body, "write_to"):
        work = _write(head, body, send)
    else:
        work = _pump(head, body, send, client)
    return run_until(client.left, work, body)


class _Client(Struct, eq=False):
    """The client that receives a body: waits for it to disconnect, and logs that once.

    Args:
        body: The body.
        wait_for_disconnect: As for `send_stream`.

    Attributes:
        is_served: Whether the body is complete: all that is left to do is for the server to end the
            response. hypercorn reports the disconnect while it closes the connection for that,
            which must not be cancelled.
    """

    _body: Any
    _wait_for_disconnect: Callable[[], Awaitable[bool]]
    _is_noted: bool = False
    is_served: bool = False

    def note_gone(self, error: OSError | None = None) -> None:
        # A PushBody logs it itself.
        if not (self._is_noted or getattr(self._body, "gone", False)):
            how = "" if error is None else f": {error!r}"
            _logger.debug("The client disconnected during a streamed response%s", how)
        self._is_noted = True

    async def left(self) -> bool:
        """Waits until the client disconnects; returns False if that is no longer reported."""
        if not await self._wait_for_disconnect() or self.is_served:
            return False
        self.note_gone()
        client_left = getattr(self._body, "client_left", None)
        if client_left is not None:
            await client_left()
        return not hasattr(self._body, "write_to")  # such a body ends its own work


async def _write(head: Message, body: PushBody, send: Send) -> None:
    """Lets a body write itself to the server."""
    left = _CHUNKS_IN_SHORT
    is_short_until = monotonic() + _SHORT_S

    async def send_chunk(chunk: Any) -> None:
        nonlocal left
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        if left is not None:  # as in _pump()
            (left,) = left
        else:
            left = _CHUNKS_IN_SHORT
            if monotonic() > is_short_until:
                left = _CHUNKS_BETWEEN_TURNS
                await _let_others_run()

    await send(head)
    if await body.write_to(send_chunk):
        await send({"type": "http.response.body", "body": b""})


async def _pump(head: Message, body: Any, send: Send, client: _Client) -> None:
    """Sends the chunks of a body until it ends or the client turns out to be gone."""
    left = _CHUNKS_IN_SHORT
    is_short_until = monotonic() + _SHORT_S
    # PERF: CPython has a single empty bytes object, and comparing it takes half the time of `not`.
    expected, empty, template = bytes, b"", _CHUNK_MESSAGE
    chunks = body
    try:
        await send(head)
        chunks = body if body.__class__ is AsyncGeneratorType else _chunks(body)
        async for chunk in chunks:
            if chunk.__class__ is not expected:
                chunk = encode_chunk(chunk)
                if not chunk:
                    continue
            elif chunk is empty:
                continue
            message = template.copy()
            message["body"] = chunk
            try:
                await send(message)
            except OSError as error:
                client.note_gone(error)
                return
            # PERF: inlined, here and in _write(): a call for each chunk would cost more.
            if left is not None:
                (left,) = left
            else:
                left = _CHUNKS_IN_SHORT
                if monotonic() > is_short_until:
                    left = _CHUNKS_BETWEEN_TURNS
                    await _let_others_run()
        client.is_served = True
        await send({"type": "http.response.body", "body": b""})
    except ClientDisconnectedError as error:
        _logger.debug("%s", error)
    finally:
        if chunks is not body:
            await close_stream(chunks)


def _chunks(body: Any) -> Any:
    # PERF: an async body needs no generator of ours around it.
    return body.__aiter__() if hasattr(body, "__aiter__") else iterate(body)


async def _let_others_run() -> None:
    """Lets the other tasks run.

    Neither a body nor `send` has to wait, above all once the client is gone; without this, no other
    task would run until the end of the body.
    """
    from anyio.lowlevel import checkpoint

    await checkpoint()
