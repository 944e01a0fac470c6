# SPDX-License-Identifier: MIT
"""Sends bodies that aren't in memory to an ASGI server."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from math import inf
from time import monotonic
from types import AsyncGeneratorType
from typing import Any, Protocol

from kit.web import ClientDisconnectedError, Request
from kit.web._streams import close_stream, encode_chunk, iterate

from .client import Client
from .coalescing import SMALL_CHUNK_BYTES, Bursts, create_bursts
from .disconnect import run_for
from .fairness import SHORT_S, let_others_run
from .types import Message, Send

_logger = logging.getLogger("kit")
# The clock is read after each eighth chunk.
_CHUNKS_IN_SHORT = 8
# After that, other tasks run after every fourth chunk. Once its connection is lost, an asyncio
# transport logs a warning for each write from the sixth on, and neither the transport nor the
# server notices the loss before the event loop has run.
_CHUNKS_BETWEEN_TURNS = 4
# PERF: copying a message takes two thirds of the time of building a new one.
_CHUNK_MESSAGE = {"type": "http.response.body", "body": b"", "more_body": True}


class PushBody(Protocol):
    """A body that writes itself instead of being iterated, like the bodies of `kit.streaming`."""

    @property
    def gone(self) -> bool:
        """Whether the body has noticed, and logged, that the client disconnected."""

    async def write_to(self, sink: Callable[[bytes], Awaitable[None]], /) -> bool:
        """Writes to `sink`; returns whether the body is complete."""


class WatchingBody(Protocol):
    """A body that wants to know when the client disconnects."""

    async def client_left(self) -> None:
        """Handles the client's disconnect."""


async def send_body(
    head: Message, body: Any, get_request: Callable[[], Request], send: Send
) -> None:
    """Sends a response whose body is a stream or a file.

    If the client disconnects, the body is cancelled where it waits.

    Args:
        head: The message that starts the response.
        body: A file, a stream, a `PushBody` or a `WatchingBody`; closed at the end.
        get_request: Returns the request that the server received, if it is needed.
        send: Sends messages to the server.

    Raises:
        Exception: The exception of the body. The response has started by then, so the server closes
            the connection.
    """
    path = getattr(body, "send_path", None)  # see kit.interface.PathBody
    if path is not None and _sends_paths(get_request()):
        try:
            await send(head)
            await send({"type": "http.response.pathsend", "path": path})
        finally:
            await close_stream(body)
        return
    client = Client(body, lambda: get_request().wait_for_disconnect())
    if body.__class__ is not AsyncGeneratorType and hasattr(body, "write_to"):
        work = _write(head, body, send)
    else:
        work = _pump(head, body, send, client)
    await run_for(client, work, body)


def _sends_paths(request: Request) -> bool:
    """Returns whether the server sends files by their paths (ASGI extension Path Send)."""
    return "http.response.pathsend" in ((request.scope or {}).get("extensions") or {})


async def _write(head: Message, body: PushBody, send: Send) -> None:
    """Lets a body write itself to the server."""
    left = _CHUNKS_IN_SHORT
    is_short_until = monotonic() + SHORT_S

    async def send_chunk(chunk: Any) -> None:
        nonlocal left
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        left -= 1
        if not left:
            left = _CHUNKS_IN_SHORT
            if monotonic() > is_short_until:
                left = _CHUNKS_BETWEEN_TURNS
                await let_others_run()

    await send(head)
    if await body.write_to(send_chunk):
        await send({"type": "http.response.body", "body": b""})


async def _pump(head: Message, body: Any, send: Send, client: Client) -> None:
    """Sends the chunks of a body until it ends or the client is gone.

    Chunks are sent one by one while they are few, large or slow, and otherwise in bursts.
    """
    chunks = body
    bursts: Bursts | None = None
    try:
        await send(head)
        chunks = body.__aiter__() if hasattr(body, "__aiter__") else iterate(body)
        rest = chunks if chunks.__class__ is AsyncGeneratorType else _Rest(chunks)
        is_short_until = monotonic() + SHORT_S
        windows_to_skip = 0.0
        while await _send_singly(rest, send, client, is_short_until, windows_to_skip):
            bursts = bursts or create_bursts(rest, send, client)
            if bursts is None:
                windows_to_skip = inf
                continue
            await bursts.send_burst()
            if bursts.has_ended or client.is_gone:
                break
            windows_to_skip = 2**bursts.futile - 1
        if not client.is_gone:
            client.is_served = True
            await send({"type": "http.response.body", "body": b""})
    except ClientDisconnectedError as error:
        _logger.debug("%s", error)
    finally:
        if chunks is not body:
            await close_stream(chunks)


async def _send_singly(
    chunks: Any, send: Send, client: Client, is_short_until: float, windows_to_skip: float
) -> bool:
    """Sends chunks one by one, until several small ones come quickly.

    Args:
        chunks: The chunks.
        send: Sends messages to the server.
        client: The client.
        is_short_until: The time until which other tasks needn't run, on `time.monotonic`.
        windows_to_skip: How many times to continue although several chunks came quickly.

    Returns:
        Whether it stopped because chunks came quickly. If not, the chunks have ended, or the client
        is gone.
    """
    began = monotonic()
    left = _CHUNKS_IN_SHORT if began < is_short_until else _CHUNKS_BETWEEN_TURNS
    # PERF: CPython has a single empty bytes object; `is` takes half the time of `not`.
    expected, empty, template = bytes, b"", _CHUNK_MESSAGE
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
            client.mark_disconnected(error)
            return False
        left -= 1
        if left:
            continue
        now = monotonic()
        is_quick = now - began < SHORT_S and len(chunk) <= SMALL_CHUNK_BYTES
        left = _CHUNKS_IN_SHORT
        if now > is_short_until:
            left = _CHUNKS_BETWEEN_TURNS
            await let_others_run()
        if is_quick:
            if not windows_to_skip:
                return True
            windows_to_skip -= 1
        began = monotonic()
    return False


class _Rest:
    """The remaining chunks of an async iterator, for several loops.

    `__aiter__` of some iterators starts from the beginning.
    """

    __slots__ = ("_next",)

    def __init__(self, iterator: Any) -> None:
        self._next = iterator.__anext__

    def __aiter__(self) -> _Rest:
        return self

    def __anext__(self) -> Any:
        return self._next()
