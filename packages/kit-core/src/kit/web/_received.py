# SPDX-License-Identifier: MIT
"""The body of a served request, read from ASGI messages."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from types import BuiltinMethodType
from typing import Any, TypeAlias

from kit._support.limits import body_too_large
from kit._support.struct import Struct, with_plain_stores
from kit.authoring.event_loops import running_trio
from kit.authoring.maybe_await import plain_result
from kit.interface import ClientDisconnectedError, HTTPException

ClientDisconnectedError.__module__ = "kit.web"  # shown as it is imported

See: TypeAlias = Callable[[bytes], object]

_MOST_KEPT_BYTES = 64 * 1024
# PERF: larger forms are decoded as they arrive.
MOST_WHOLE_BYTES = 128 * 1024
# The number of messages has a limit, since each takes memory even if it contains a single byte.
MOST_WHOLE_MESSAGES = 32
# Beyond that number, messages of a body that isn't a form must have this size on average.
LEAST_OF_MANY_BYTES = 4096
_MOST_DIGITS = 18
_HTTP_1 = ("1.1", "1.0")
# How long a task that waits for the client to disconnect leaves time to a reader that is behind,
# before it receives one message more.
_CATCH_UP_S = 5.0
# What is kept for a reader at most, beside one message.
_MOST_WAITING_BYTES = 1024 * 1024
# Memory overhead of a chunk: it limits clients that send single bytes, too.
_BYTES_PER_CHUNK = 64

Refuse: TypeAlias = Callable[[], Exception]


def declared_length(scope: Any) -> int | None:
    """Returns the size at which a body is complete even if its last message hasn't come.

    SPEC: RFC 9112 section 6.3: Transfer-Encoding overrides Content-Length, and two of these are an
    error. RFC 9113 section 8.1: from HTTP/2 on, a frame ends the body. It may come after the last
    content, and hypercorn closes the connection if it comes after the response.

    Args:
        scope: The ASGI scope; None for a request created in process.

    Returns:
        The number of bytes; None if the last message has to be received. It is on trio, where a
        client in process may send the body by a generator, which would warn if it isn't exhausted.
    """
    if not scope or scope.get("http_version") not in _HTTP_1:
        return None
    if running_trio() is not None:
        return None
    length = None
    for name, value in scope["headers"]:
        if name == b"content-length":
            if length is not None or not value.isdigit() or len(value) > _MOST_DIGITS:
                return None
            length = int(value)
        elif name == b"transfer-encoding":
            return None
    return length


def is_cut(scope: Any, size_bytes: int) -> bool:
    """Returns whether a body that has ended is shorter than its Content-Length.

    A server may drop a body: uvicorn does for `Upgrade: h2c`, which Java's client sends.

    SPEC: RFC 9112 section 6.3 and RFC 9113 section 8.1.1: such a request is incomplete, and not to
    be processed. Transfer-Encoding overrides Content-Length.

    Args:
        scope: The ASGI scope; None for a request created in process.
        size_bytes: The size of all that has come.
    """
    # RSGI's exchange tells by itself that a body is cut.
    if not scope or getattr(scope, "has_whole_bodies", False):
        return False
    for name, value in scope["headers"]:
        if name == b"content-length":
            if not value.isdigit() or len(value) > _MOST_DIGITS or int(value) <= size_bytes:
                return False
            return all(name != b"transfer-encoding" for name, _ in scope["headers"])
    return False


def body_cut(scope: Any, size_bytes: int) -> HTTPException:
    """Returns the error for a body that `is_cut`."""
    length = next(value for name, value in scope["headers"] if name == b"content-length")
    return HTTPException(
        400,
        f"The body is incomplete: it has {size_bytes} bytes, but its Content-Length is "
        f"{length.decode('latin-1')}",
    )


@with_plain_stores
class ReceivedBody(Struct, eq=False):
    """Reads a body from an ASGI server, in chunks or whole.

    While the response is streamed, one task may read the body as another waits for the client to
    disconnect. They share the server's channel: one task receives at a time, and keeps messages
    that the other task needs.

    SPEC: ASGI HTTP, "Request - receive event" and "Disconnect - receive event".

    Args:
        receive: The channel that returns the messages of the server.
        scope: The ASGI scope of the request.
    """

    _receive: Callable[[], Awaitable[dict[str, Any]]]
    _scope: Any
    _kept: list[bytes] = []  # noqa: RUF012 - not shared: msgspec copies an empty default
    _kept_bytes: int = 0
    _changed: Any = None
    _busy: bool = False
    _gone: bool = False
    complete: bool = False
    _size: int = 0  # of what has come, except by whole()
    _most: int | None = None  # the smallest of the limits
    _limits: tuple[tuple[int, Refuse], ...] = ()
    _refusal: Exception | None = None
    _ended: bool = False  # of a refused body: whether its last message has come
    _closed: bool = False  # whether there is nothing more to read: the client is gone, or refused
    _was_resumed: bool = False  # whether messages came that were received elsewhere
    _has_reader: bool = False  # whether a chunk was taken
    _is_end_due: bool = False  # whether empty messages may come that end a complete body

    def limit(self, most: int, refuse: Refuse) -> None:
        """Makes all readers fail once more bytes have come than a limit.

        Args:
            most: Maximum number of bytes, of all that come.
            refuse: Returns the exception that readers get. If several limits are exceeded, that of
                the one set first is called.

        Raises:
            Exception: That of `refuse`, if more bytes have come already.
        """
        self._limits += ((most, refuse),)
        self._most = most if self._most is None else min(most, self._most)
        if self._size > most and self._refusal is None:
            self._refuse()
        if self._refusal is not None:
            raise self._refusal

    async def read(self, most: int | None = None, see: See | None = None) -> bytes:
        """Reads the rest of the body.

        Args:
            most: Maximum number of bytes; None for no limit.
            see: Called with each chunk; an exception that it raises ends the reading.

        Raises:
            HTTPException: 413 if there are more bytes.
            ClientDisconnectedError: If the client disconnects before the end.
        """
        chunks: list[bytes] = []
        size = 0
        try:
            while self._kept or not self.complete:
                if self._kept or self._busy or self._closed:
                    chunk = await self._next()
                else:
                    chunk = await self._receive_chunk()
                    if not chunk:
                        continue
                chunks.append(chunk)
                size += len(chunk)
                if most is not None and size > most:
                    raise body_too_large(most)
                if see is not None:
                    see(chunk)
        except BaseException:
            for chunk in reversed(chunks):  # on cancellation, requeued for the next reader
                self._keep(0, chunk)
            raise
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def whole(
        self, most: int | None, scope: Any, is_taken: Callable[[], bool]
    ) -> bytes | None:
        """Returns the body if it is small, and nothing of it was received; else keeps what comes.

        Messages that `resume` took don't count as received: they were for the same reader.

        Args:
            most: Number of bytes after which it isn't small, if less than `MOST_WHOLE_BYTES`.
            scope: The ASGI scope of the request.
            is_taken: Returns whether another task has begun to read; it gets all that has come.
        """
        is_untouched = self._was_resumed if self._kept else not self.complete
        if self._busy or self._closed or not is_untouched:
            return None
        self._busy = True
        try:
            if not self._kept:
                message = await self._receive()
                is_last = message["type"] == "http.request" and not message.get("more_body", False)
                if is_last and not is_taken():
                    body: bytes = message.get("body", b"")
                    self.complete = True
                    self._size = len(body)
                    if self._is_wrong():
                        return None
                    return body if body.__class__ is bytes else bytes(body)
                self._take_in(message)
            most = MOST_WHOLE_BYTES if most is None else min(most, MOST_WHOLE_BYTES)
            length = declared_length(scope)
            for _ in range(len(self._kept) or 1, MOST_WHOLE_MESSAGES):
                if self._size == length and not self.complete and not self._closed:
                    self.use_up()
                is_small = max(self._kept_bytes, length or 0) <= most
                if self.complete or self._closed or not is_small or is_taken():
                    break
                self._take_in(await self._receive())
            if self.complete and not is_taken():
                kept, self._kept, self._kept_bytes = self._kept, [], 0
                return b"".join(kept)
        finally:
            self._busy = False
            if self._changed is not None:
                self._tell()
        return None

    def use_up(self) -> None:
        """Marks the body as complete, though its last messages may still come, without content."""
        self.complete = self._is_end_due = True

    def wait(self) -> None:
        """Makes all tasks wait until `resume` is called."""
        self._busy = True

    def resume(self, messages: Sequence[dict[str, Any]]) -> None:
        """Takes messages that were received elsewhere, and lets tasks go on."""
        self._busy = False
        self._was_resumed = True
        try:
            for message in messages:
                self._take_in(message)
        finally:
            self._tell()

    async def comes_whole(self) -> bool:
        """Waits for the first message and keeps it; returns whether it contains the whole body."""
        while not (self._kept or self.complete or self._closed):
            await self._receive_one()
        return self.complete and len(self._kept) == 1

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        while self._kept or not self.complete:
            if self._kept or self._busy or self._closed:
                chunk = await self._next()
            else:
                chunk = await self._receive_chunk()
            if chunk:
                yield chunk

    async def wait_for_disconnect(self) -> bool:
        """Waits until the client disconnects.

        Returns:
            True once it has disconnected. False if the server sends other messages after the end of
            the body: waiting on would only keep the server busy.
        """
        if self._receive.__class__ is BuiltinMethodType and not self.complete:
            self._keep_reads()
        while not self._gone:
            # A reader that is behind should catch up first; until then the server makes the client
            # wait. But perhaps no task will ever read, and the server reports a disconnect only to
            # one that receives.
            is_behind = self._kept_bytes >= _MOST_KEPT_BYTES and not self.complete
            if is_behind:
                if await self._changes_within(_CATCH_UP_S):
                    continue
                if self._kept_bytes >= _MOST_WAITING_BYTES:
                    if self._has_reader:
                        await self._change()
                        continue
                    self._refuse(
                        RuntimeError(
                            "The body was dropped: the response was streamed for "
                            f"{_CATCH_UP_S:.0f} seconds, and nothing read more than "
                            f"{_MOST_WAITING_BYTES} bytes that had come. Read it before, or begin "
                            "to read it as soon as the response begins"
                        )
                    )
            was_complete = (self.complete and not self._is_end_due) or self._ended
            if await self._receive_one() and was_complete and not self._gone:
                return False
        return True

    def _keep_reads(self) -> None:
        """Keeps what a task waits for that is cancelled, for the next one: granian would drop it.

        PERF: only if a task waits for the client to disconnect, as that one is cancelled in the
        middle of a body. Its `receive` isn't written in Python, unlike that of other servers.
        """
        from kit.concurrency._reading import Reading

        if running_trio() is None:
            self._receive = Reading(self._receive).next

    async def _receive_chunk(self) -> bytes:
        """Receives a chunk for the caller, if no other task is receiving; empty if none came.

        PERF: a chunk returned directly need not be kept.
        """
        self._busy = self._has_reader = True
        try:
            message = await self._receive()
        finally:
            self._busy = False
            if self._changed is not None:
                self._tell()
        if message["type"] == "http.disconnect":
            self._gone = self._closed = True
            return b""
        self.complete = not message.get("more_body", False)
        chunk: bytes = message.get("body", b"")
        self._size += len(chunk)
        if self._is_wrong():
            return b""
        return chunk if chunk.__class__ is bytes else bytes(chunk)

    async def _next(self) -> bytes:
        while not self._kept or self._refusal is not None:
            if self._refusal is not None:
                raise self._refusal
            if self._gone:
                raise ClientDisconnectedError(
                    "The client disconnected before its body was complete"
                )
            await self._receive_one()
        self._has_reader = True
        chunk = self._kept.pop(0)
        self._kept_bytes -= len(chunk) + _BYTES_PER_CHUNK
        self._tell()
        return chunk

    async def _receive_one(self) -> bool:
        """Receives a message, or waits for the task that does; returns whether it was this task."""
        if self._busy:
            await self._change()
            return False
        self._busy = True
        try:
            self._take_in(await self._receive())
        finally:
            self._busy = False
            self._tell()
        return True

    def _take_in(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.disconnect":
            self._gone = self._closed = True
        elif not self.complete and self._refusal is None:
            self.complete = not message.get("more_body", False)
            chunk = bytes(message.get("body", b""))
            self._size += len(chunk)
            if not self._is_wrong():
                self._keep(len(self._kept), chunk)
        elif self._refusal is not None:
            self._ended = not message.get("more_body", False)
        elif not message.get("more_body", False):
            self._is_end_due = False

    def _is_wrong(self) -> bool:
        """Returns whether what has come exceeds a limit, or has ended too early; then refuses it.

        PERF: nearly always neither, so the rest is in other functions.
        """
        if self._most is not None and self._size > self._most:
            self._refuse()
        elif self.complete and is_cut(self._scope, self._size):
            self._refuse(body_cut(self._scope, self._size))
        else:
            return False
        return True

    def _refuse(self, error: Exception | None = None) -> None:
        """Refuses the body: drops what is kept of it, and has every reader fail from now on.

        Args:
            error: What readers get. Default: the error of the limit that is exceeded.
        """
        size = self._size
        if error is None:
            refuse = next(refuse for most, refuse in self._limits if size > most)
            error = plain_result(refuse(), refuse, "limit_body()")
        self._refusal = error
        self._closed = True
        self._ended = self.complete and not self._is_end_due
        self.complete = False
        self._kept.clear()
        self._kept_bytes = 0

    def _keep(self, place: int, chunk: bytes) -> None:
        self._kept.insert(place, chunk)
        self._kept_bytes += len(chunk) + _BYTES_PER_CHUNK

    async def _changes_within(self, seconds: float) -> bool:
        """Waits for the other task as `_change()` does; returns False after some seconds."""
        from anyio import move_on_after

        with move_on_after(seconds):
            await self._change()
            return True
        return False

    async def _change(self) -> None:
        """Waits until the other task has received or taken a message."""
        if self._changed is None:
            from anyio import Event

            self._changed = Event()
        await self._changed.wait()

    def _tell(self) -> None:
        if self._changed is not None:
            self._changed.set()
            self._changed = None
