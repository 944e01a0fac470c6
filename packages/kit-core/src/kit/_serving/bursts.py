# SPDX-License-Identifier: MIT
"""Sends chunks together that a stream yields without waiting."""

from __future__ import annotations

from collections.abc import Callable, Generator
from time import monotonic
from types import coroutine
from typing import Any

from kit.interface.calls import resume
from kit.web._streams import encode_chunk

from .turns import SHORT_S, countdown, let_others_run
from .types import Send

# In bytes. Joining larger chunks would save little time, and copy a lot of data.
SMALL_CHUNK_BYTES = 4096
_CHUNKS_PER_MESSAGE = countdown(31)
_MESSAGES_BETWEEN_TURNS = countdown(3)


class Bursts:
    """Sends the chunks of a stream that come in bursts, up to 32 of them in one message.

    A server writes each message to its socket, and each write can become a packet. With small
    chunks, that takes far longer than the stream itself. Node.js, too, joins what is written to a
    response before its event loop goes on.

    A chunk is never held back while the stream or the server waits, and none is lost if the stream
    raises an exception. Works on asyncio only.

    Args:
        chunks: The chunks, an async iterator.
        send: Sends messages to the server.
        note_gone: Called with the exception of `send` if the client is gone. Nothing more is sent
            then.
        is_short_until: Until when other tasks needn't run, on the clock `time.monotonic`.

    Attributes:
        has_ended: Whether the stream has ended, and all of its chunks were sent.
        has_paid: Whether the last burst was long enough to be worth it.
    """

    __slots__ = (
        "_chunks",
        "_has_stream_waited",
        "_is_gone",
        "_is_sending",
        "_is_short_until",
        "_is_slow",
        "_is_watched",
        "_note_gone",
        "_pending",
        "_send",
        "_waits",
        "has_ended",
        "has_paid",
    )

    def __init__(
        self,
        chunks: Any,
        send: Send,
        note_gone: Callable[[OSError], None],
        is_short_until: float,
    ) -> None:
        self._chunks = chunks
        self._send = send
        self._note_gone = note_gone
        self._is_short_until = is_short_until
        self._pending: list[bytes] = []
        self._is_watched = False
        self._is_sending = False
        # At most one wait of the stream: the task that sends meanwhile, or None.
        self._waits: list[Any] = []
        self._has_stream_waited = False
        self._is_slow = False
        self.has_ended = False
        self._is_gone = False
        self.has_paid = True

    async def send_burst(self) -> None:
        """Sends chunks until the stream waits, becomes slow or ends, or the client is gone.

        Raises:
            Exception: The exception of the stream, or that of the server if the client isn't gone.
        """
        self._has_stream_waited = self._is_slow = self.has_paid = False
        while True:
            await self._watched()
            if self.has_ended or self._is_gone or self._has_stream_waited or self._is_slow:
                return
            if monotonic() > self._is_short_until:
                await let_others_run()

    @coroutine
    def _watched(self) -> Generator[Any, Any, None]:
        """Sends a few messages. As soon as the stream waits, sends what it has yielded so far."""
        self._is_watched = True
        work = self._send_some()
        for waits_for in work.__await__():
            self._is_watched = False
            if not self._is_sending:
                self._has_stream_waited = True
                self._waits.append(self._start_sending() if self._pending else None)
            yield from resume(work, waits_for)
            break

    def _start_sending(self) -> Any:
        """Starts a task that sends what is pending, while this one waits for the stream.

        Sending could wait, too, and this task may be within timeouts and cancel scopes of the
        stream.
        """
        import asyncio

        sending = self._send_bodies(self._take_pending())
        return asyncio.get_running_loop().create_task(sending)

    async def _send_some(self) -> None:
        """Sends up to four messages, fewer if something has waited, or the stream is slow."""
        pending, waits, small = self._pending, self._waits, SMALL_CHUNK_BYTES
        left, messages_left = _CHUNKS_PER_MESSAGE, _MESSAGES_BETWEEN_TURNS
        slow_from = monotonic() + SHORT_S
        try:
            async for chunk in self._chunks:
                if chunk.__class__ is not bytes:
                    chunk = encode_chunk(chunk)
                pending.append(chunk)
                if waits:
                    break
                if left is not None and len(chunk) <= small:
                    (left,) = left
                    continue
                left = _CHUNKS_PER_MESSAGE
                now = monotonic()
                self._is_slow = now > slow_from
                slow_from = now + SHORT_S
                self.has_paid = True
                self._is_sending = True
                await self._send_bodies(self._take_pending())
                self._is_sending = False
                is_last = messages_left is None or self._is_slow
                if is_last or self._is_gone or not self._is_watched:
                    return
                (messages_left,) = messages_left
            else:
                self.has_ended = True
        except Exception:
            await self._send_rest()
            raise
        except BaseException as error:
            await self._stop_sending(error)
            raise
        await self._send_rest()

    async def _send_rest(self) -> None:
        """Waits for the task that sends, and sends what came after."""
        if self._waits:
            task = self._waits.pop()
            if task is not None:
                await task
        if self._pending and not self._is_gone:
            self._is_sending = True
            await self._send_bodies(self._take_pending())
            self._is_sending = False

    async def _stop_sending(self, error: BaseException) -> None:
        import asyncio

        task = self._waits.pop() if self._waits else None
        if task is not None:
            task.cancel()
            if isinstance(error, asyncio.CancelledError):
                await asyncio.wait([task])

    def _take_pending(self) -> tuple[bytes, ...]:
        """Returns the bodies of the messages for the pending chunks, which are removed."""
        pending = self._pending
        # Only the last one can be large. It isn't copied.
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
                    self._is_gone = True
                    self._note_gone(error)
                    return
