# SPDX-License-Identifier: MIT
"""Combines chunks that a stream yields without waiting into fewer messages."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any

from kit.authoring.cancellation import find_fault, is_fault
from kit.web._streams import encode_chunk

from .client import Client
from .fairness import SHORT_S, let_others_run
from .types import Send

# Joining larger chunks would save little time, and copy a lot of data.
SMALL_CHUNK_BYTES = 2048
_CHUNKS_PER_MESSAGE = 64
# The clock is read after each eighth chunk.
_CHUNKS_BETWEEN_LOOKS = 8
# See `_CHUNKS_BETWEEN_TURNS` in `stream`.
_MESSAGES_BETWEEN_TURNS = 4


class Bursts:
    """Sends the chunks of a stream that come in bursts, up to 64 of them in one message.

    A server writes each message to its socket, and each write can become a packet. For small
    chunks, this takes far longer than the stream itself. Node.js also joins the writes to a
    response that happen before its event loop continues.

    Pending chunks are sent when the stream waits, and before its exception is raised. If the stream
    is slow without waiting, chunks are held for a millisecond, until the clock is next read. If
    sending fails while the stream waits, the stream is cancelled there, as when the client
    disconnects.

    Args:
        chunks: The chunks, an async iterator whose `__aiter__` returns itself.
        send: Sends messages to the server.
        client: The client. Nothing more is sent once it is gone.

    Attributes:
        has_ended: Whether the stream has ended and all of its chunks were sent.
        futile: How many consecutive bursts were too short to pay off.
    """

    __slots__ = (
        "_chunks",
        "_client",
        "_has_waited",
        "_is_reading",
        "_loop",
        "_pending",
        "_send",
        "_sending",
        "_wait_handle",
        "futile",
        "has_ended",
    )

    def __init__(self, chunks: Any, send: Send, client: Client) -> None:
        self._chunks = chunks
        self._send = send
        self._client = client
        self._loop = asyncio.get_running_loop()
        self._is_reading = False  # whether the task, if it waits, waits for the stream
        self._wait_handle: asyncio.Handle | None = None
        self._has_waited = False  # in this burst
        self._sending: asyncio.Task[None] | None = None  # sends chunks while the stream waits
        self._pending: list[bytes] = []
        self.futile = 0
        self.has_ended = False

    async def send_burst(self) -> None:
        """Sends chunks until the stream waits, becomes slow or ends, or the client is gone.

        Raises:
            Exception: The stream's exception, or the server's if the client isn't gone.
        """
        self.futile += 1
        self._has_waited = False
        try:
            try:
                await self._send_until_wait()
            finally:
                self._stop_noticing_waits()
        except GeneratorExit:  # closed: nothing can be awaited
            raise
        except BaseException as error:
            await self._send_rest(is_cancelled=not is_fault(error))
            raise
        await self._send_rest()
        if not self.has_ended:
            await let_others_run()

    async def _send_until_wait(self) -> None:
        """Sends chunks; leaves chunks that are pending at the end to `_send_rest`."""
        pending, small = self._pending, SMALL_CHUNK_BYTES
        left = _CHUNKS_BETWEEN_LOOKS
        messages = 0
        self._notice_waits()
        slow_from = monotonic() + SHORT_S
        async for chunk in self._chunks:
            if chunk.__class__ is not bytes:
                chunk = encode_chunk(chunk)
            pending.append(chunk)
            if self._has_waited:
                return
            left -= 1
            if left and len(chunk) <= small:
                continue
            left = _CHUNKS_BETWEEN_LOOKS
            self.futile = 0
            if len(chunk) > small or monotonic() > slow_from:
                return
            if len(pending) < _CHUNKS_PER_MESSAGE:
                continue
            body = b"".join(pending)
            pending.clear()
            if not body:
                continue
            self._is_reading = False
            # PERF: inlined from _send_bodies().
            message = {"type": "http.response.body", "body": body, "more_body": True}
            try:
                await self._send(message)
            except OSError as error:
                self._client.mark_disconnected(error)
                return
            messages += 1
            if messages % _MESSAGES_BETWEEN_TURNS == 0:
                await let_others_run()
            self._notice_waits()
            slow_from = monotonic() + SHORT_S
        self.has_ended = True

    def _notice_waits(self) -> None:
        """Makes the event loop call `_note_wait` once the stream waits."""
        self._is_reading = True
        if self._wait_handle is None:
            self._wait_handle = self._loop.call_soon(self._note_wait)

    def _stop_noticing_waits(self) -> None:
        if self._wait_handle is not None:
            self._wait_handle.cancel()
            self._wait_handle = None

    def _note_wait(self) -> None:
        """Sends pending chunks while the task waits; called by the event loop.

        Another task sends the pending chunks, since this one may be within the stream's timeouts
        and cancel scopes.
        """
        self._wait_handle = None
        if not self._is_reading:  # it waits for the server
            return
        self._has_waited = True
        if self._pending:
            self._sending = self._loop.create_task(self._send_meanwhile(self._take_pending()))
            self._sending.add_done_callback(self._note_sent)

    async def _send_meanwhile(self, bodies: tuple[bytes, ...]) -> None:
        try:
            await self._send_bodies(bodies)
        except asyncio.CancelledError as error:
            raise find_fault(error) from error  # unless this task was cancelled

    def _note_sent(self, sending: asyncio.Task[None]) -> None:
        """Cancels the stream where it waits if sending has failed."""
        has_failed = sending.cancelled() or sending.exception() is not None
        if sending is self._sending and (has_failed or self._client.is_gone):
            self._client.cancel_body()

    async def _send_rest(self, *, is_cancelled: bool = False) -> None:
        """Waits until all yielded chunks are sent.

        Args:
            is_cancelled: Whether this task was cancelled. The sending task is then cancelled, too.
        """
        sending, self._sending = self._sending, None
        if sending is not None:
            if is_cancelled:
                sending.cancel()
            await _wait_for_end(sending, is_cancelled=is_cancelled)
        if self._pending and not self._client.is_gone:
            await self._send_bodies(self._take_pending())

    def _take_pending(self) -> tuple[bytes, ...]:
        """Returns the bodies of the messages for the pending chunks, which are removed."""
        pending = self._pending
        # Only the last chunk can be large. It isn't copied.
        large = (pending.pop(),) if len(pending[-1]) > SMALL_CHUNK_BYTES else ()
        bodies = (b"".join(pending), *large)
        pending.clear()
        return bodies

    async def _send_bodies(self, bodies: tuple[bytes, ...]) -> None:
        for body in bodies:
            if body:
                message = {"type": "http.response.body", "body": body, "more_body": True}
                try:
                    await self._send(message)
                except OSError as error:
                    self._client.mark_disconnected(error)
                    return


async def _wait_for_end(sending: asyncio.Task[None], *, is_cancelled: bool) -> None:
    """Waits for a task, and cancels it if this task is cancelled.

    Args:
        sending: The task.
        is_cancelled: Whether it was cancelled before. It is cancelled only once, so that it can
            clean up even if an outer cancel scope repeats the cancellation.

    Raises:
        Exception: The exception of the task.
    """
    cancelled: asyncio.CancelledError | None = None
    while not sending.done():
        try:
            await asyncio.wait([sending])
        except asyncio.CancelledError as error:
            cancelled = error
            if not is_cancelled:
                is_cancelled = True
                sending.cancel()
    if cancelled is not None and sending.cancelled():
        raise cancelled  # anyio recognizes its own cancellation by the message
    sending.result()
    if cancelled is not None:
        raise cancelled


def create_bursts(chunks: Any, send: Send, client: Client) -> Bursts | None:
    """Returns the sender of a stream's chunks in bursts; None on trio."""
    try:
        return Bursts(chunks, send, client)
    except RuntimeError:
        return None
