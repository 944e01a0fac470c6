# SPDX-License-Identifier: MIT
"""Reads the body of a request, received by a server or given in process."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from types import BuiltinMethodType
from typing import Any, TypeAlias

from kit.authoring.maybe_await import plain_result
from kit.http.media_types import MULTIPART, URLENCODED, media_type
from kit.interface import ClientDisconnectedError, HTTPException
from kit.web._limits import Limits, body_too_large

from ._blob import Bytes
from ._forms.field_sizes import FieldSizes
from ._forms.form_data import FormData, close_form
from ._forms.multipart import MultipartDecoder, decode_in_memory
from ._forms.parameters import parse_boundary
from ._forms.urlencoded import decode_urlencoded, last_values
from ._header_lines import length_line
from ._streams import Stream, StreamChannel, iterate_chunks

Receive: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]
Refuse: TypeAlias = Callable[[], Exception]

FORMS = (MULTIPART, URLENCODED)

# The states of a body.
UNREAD = "unread"  # no task reads it; bytes that have arrived are kept for the first reader
READING = "reading"  # a task reads it to its end; if the task is cancelled, it is unread again
READ = "read"  # its content is kept, as bytes or as a form
STREAMED = "streamed"  # it is read chunk by chunk, and not kept
FAILED = "failed"  # it was refused, cut off or lost; every reader gets the same error

# PERF: multipart bodies up to this size are parsed at once; larger ones are parsed as they arrive.
_MOST_AT_ONCE_BYTES = 128 * 1024
# Adjacent chunks are joined up to this size, since even a chunk of one byte has overhead.
_SMALL_CHUNK_BYTES = 4096
# How far a task that waits for a disconnect receives ahead of the reader.
_MOST_AHEAD_BYTES = 64 * 1024
# How long that task then waits for the reader before it receives one more message.
_CATCH_UP_S = 5.0
# How much that task keeps at most, besides one message.
_MOST_WAITING_BYTES = 1024 * 1024
_MOST_DIGITS = 18


class BodyReader:
    """Reads a body once, and keeps its content for later readers unless it is streamed.

    One task may read the body while another waits for the client to disconnect. Only one of them
    receives at a time, and keeps the content for the other. If the body fails, every reader gets
    its error.

    SPEC: ASGI HTTP, "Request - receive event" and "Disconnect - receive event".
    """

    __slots__ = (
        "_changed",
        "_check",
        "_chunks",
        "_content_type",
        "_decoder",
        "_error",
        "_form",
        "_form_limits",
        "_has_last_message",
        "_is_complete",
        "_is_gone",
        "_is_receiving",
        "_kept_bytes",
        "_limits",
        "_receive",
        "_scope",
        "_size",
        "_stream",
        "data",
        "may_hold_files",
        "state",
    )

    state: str
    data: Bytes | None
    """The content, if it is kept as bytes."""
    may_hold_files: bool
    """Whether there may be a temporary file, so that `close` must be called."""

    def __init__(self, receive: Receive, scope: Any = None) -> None:
        self._receive = receive
        self._scope = scope
        self.state = UNREAD
        self.data = None
        self.may_hold_files = False
        self._chunks: list[Bytes] = []  # arrived, but not read yet
        self._kept_bytes = 0
        self._size = 0  # of all chunks that have arrived
        self._is_complete = False  # whether the whole body has arrived
        self._has_last_message = False  # whether the message that ends it has arrived
        self._is_gone = False  # whether the client has disconnected
        self._is_receiving = False  # whether a task waits for a message
        self._changed: Any = None  # the event that other tasks wait for
        self._error: Exception | None = None  # of a body that has failed
        self._limits: tuple[tuple[int, Refuse], ...] = ()
        self._check: Callable[[Bytes], object] | None = None  # of the task that is reading
        self._form: FormData | None = None
        self._form_limits: Limits | None = None
        self._content_type = ""
        self._decoder: MultipartDecoder | None = None  # of a form whose bytes aren't kept
        self._stream: StreamChannel | None = None  # if it was given in process

    @classmethod
    def of(cls, body: Bytes | Stream | None) -> BodyReader:
        """Returns the reader of a body that a Request or Response stores."""
        if isinstance(body, BodyReader):
            return body
        if body is None or isinstance(body, Bytes):
            reader = cls(_no_message)
            reader._accept({"type": "http.request", "body": body or b""})
            return reader
        stream = StreamChannel(body)
        reader = cls(stream.receive)
        reader._stream = stream
        return reader

    def bytes(self, limits: Limits) -> Awaitable[Bytes]:
        """Returns the whole content. A body that was read as a form is encoded again."""
        return self._read(limits.most_in_memory)

    async def content(self, limits: Limits) -> Bytes | Stream:
        """Returns the content like `bytes`, but streams the files of a form."""
        if self.data is not None or self._decoder is None:
            return await self.bytes(limits)
        return await self._encode()

    async def form_data(self, content_type: str | None, limits: Limits) -> FormData:
        """Returns the content as a form (WHATWG Fetch section 5.3, "consume body").

        Raises:
            HTTPException: 400 if it isn't a valid form, 413 if it exceeds a limit.
        """
        while self.state is READING:
            await self._change()
        if self._error is not None:
            raise self._error
        kind = media_type(content_type)
        if kind not in FORMS:
            found = repr(content_type) if content_type else "none"
            raise HTTPException(
                400, f"Expected a form: Content-Type {MULTIPART} or {URLENCODED}, but it is {found}"
            )
        if self._form is None and kind == URLENCODED:
            data = await self._urlencoded(limits)
            self._form = decode_urlencoded(data, self._form_limits or limits)
        elif self._form is None:
            self._form = await self._multipart(content_type or "", limits)
        return self._form

    async def last_values(self, limits: Limits) -> dict[str, str] | None:
        """Returns the last value of each name of an urlencoded form; None: use `form_data`.

        PERF: most handlers need no more, and building a form takes 50 % longer.
        """
        if self._form is not None:
            return None
        data = await self._read(limits.most_in_memory, _MOST_AT_ONCE_BYTES)
        if self.data is None:
            return None
        values = last_values(data, self._form_limits or limits)
        if values is not None and self._form_limits is None:
            self._form_limits = limits
        return values

    def __aiter__(self) -> AsyncGenerator[Bytes, None]:
        """Yields the chunks without keeping them."""
        if self.state is not FAILED:
            self.state = STREAMED
        return self._rest()

    def limit(self, max_size: int, refuse: Refuse) -> None:
        """Makes all readers fail with the exception from `refuse` once more bytes arrive.

        Raises:
            Exception: The exception from `refuse`, if more bytes have already arrived.
        """
        self._limits += ((max_size, refuse),)
        if self._size > max_size:
            error = plain_result(refuse(), refuse, "limit_body()")
            if self.state is not READ:
                self._fail(error)
            raise error

    async def wait_for_disconnect(self) -> bool:
        """Waits until the client disconnects.

        Returns False if the server sends other messages after the end of the body.
        """
        if self._receive.__class__ is BuiltinMethodType and not self._has_last_message:
            from kit.concurrency import ResumableRead

            # granian drops the message that a cancelled task waits for. PERF: only here, since
            # this task is often cancelled in the middle of a body, and others rarely are.
            self._receive = ResumableRead(self._receive).next
        from anyio import move_on_after

        while not self._is_gone:
            # Let a slow reader catch up first; until then, the server makes the client wait. But
            # perhaps no task will ever read, and the server reports a disconnect only to a task
            # that receives.
            if self._kept_bytes >= _MOST_AHEAD_BYTES and not self._is_complete:
                with move_on_after(_CATCH_UP_S):
                    await self._change()
                    continue
                if self._kept_bytes >= _MOST_WAITING_BYTES:
                    if self.state is not UNREAD:
                        await self._change()
                        continue
                    self._fail(
                        RuntimeError(
                            "The body was dropped: the response was streamed for "
                            f"{_CATCH_UP_S:.0f} seconds while more than {_MOST_WAITING_BYTES} "
                            "bytes stayed unread. Read the body before the response, or start as "
                            "soon as the response begins"
                        )
                    )
            expects_nothing = self._has_last_message and not self._is_receiving
            await self._advance()
            if expects_nothing and not self._is_gone:
                return False
        return True

    async def aclose(self) -> None:
        """Closes a stream that was given in process; it can't be read afterwards."""
        if self._stream is not None:
            await self._stream.aclose()

    def close(self) -> None:
        """Removes the temporary file of the form."""
        if self._form is not None:
            close_form(self._form)
        if self._decoder is not None:
            self._decoder.close()

    async def _read(self, most: int | None, at_once: int = sys.maxsize) -> Bytes:
        """Keeps the bytes of the body in `data`, unless there are more than `at_once`."""
        while self.state is READING:
            await self._change()
        if self.data is not None:
            return self.data
        if self._decoder is not None:
            self.data = await _join(await self._encode(), most)
            return self.data
        self._begin()
        enough = at_once if most is None or at_once < most else most
        try:
            while self.state is READING and not self._is_complete and self._size <= enough:
                if self._is_receiving:
                    await self._change()
                    continue
                # PERF: as in _advance(), without another coroutine.
                self._is_receiving = True
                try:
                    message = await self._receive()
                except BaseException:
                    self._lose()
                    raise
                finally:
                    self._is_receiving = False
                self._accept(message)
        finally:
            self._end()
        if most is not None and self._size > most:
            self._fail(body_too_large(most))
        if self._error is not None:
            await self.aclose()
            raise self._error
        if self._size > at_once:
            return b""
        chunks, self._chunks, self._kept_bytes = self._chunks, [], 0
        self.data = data = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        self.state = READ
        return data

    async def _urlencoded(self, limits: Limits) -> Bytes:
        """Returns the bytes of an urlencoded form; large ones are checked as they arrive."""
        data = await self._read(limits.most_in_memory, _MOST_AT_ONCE_BYTES)
        if self.data is None:
            self._check = FieldSizes(limits).add
            try:
                for chunk in [*self._chunks]:
                    self._verify(chunk)
                data = await self._read(limits.most_in_memory)
            finally:
                self._check = None
        return data

    async def _multipart(self, content_type: str, limits: Limits) -> FormData:
        """Parses a multipart form, a large one as it arrives; another task may continue."""
        if self._decoder is None:
            at_once = min(_MOST_AT_ONCE_BYTES, limits.spool_size_bytes)
            await self._read(limits.max_body_size_bytes, at_once)
        if self.data is not None:
            return decode_in_memory(self.data, content_type, limits)
        self._begin()
        self.may_hold_files = True
        try:
            if self._decoder is None:
                self._decoder = MultipartDecoder(content_type, limits)
                self._content_type = content_type
            form = await self._decoder.read(self._rest())
            self.state = READ
            return form
        except BaseException as error:
            lost = None if self._stream is None else self._stream.failure
            failure = error if isinstance(error, Exception) else lost
            if failure is not None:
                self._fail(failure)
                self.close()
                await self.aclose()
            raise
        finally:
            self._end()

    async def _encode(self) -> Bytes | Stream:
        """Encodes a form as a body again, if its bytes weren't kept."""
        from ._forms.encode import encode

        form = await self.form_data(self._content_type, Limits())
        try:
            return encode(form, parse_boundary(self._content_type))[0]
        except ValueError as error:
            # The parser accepted content that a multipart body can't contain (RFC 2046 5.1.1).
            raise HTTPException(400, f"Malformed multipart body: {error}") from error

    def _begin(self) -> None:
        if self._error is not None:
            raise self._error
        self.state = READING

    def _end(self) -> None:
        """Lets other tasks read."""
        if self.state is READING:
            self.state = UNREAD
        if self._changed is not None:
            self._notify()

    async def _rest(self) -> AsyncGenerator[Bytes, None]:
        """Yields the remaining chunks."""
        while True:
            while not (self._chunks or self._is_complete or self._error is not None):
                await self._advance()
            if self._error is not None:
                raise self._error
            if not self._chunks:
                return
            chunk = self._chunks.pop(0)
            self._kept_bytes -= len(chunk)
            self._notify()
            yield chunk

    async def _advance(self) -> None:
        """Receives a message, or waits while another task receives one."""
        if self._is_receiving:
            await self._change()
            return
        self._is_receiving = True
        try:
            message = await self._receive()
        except BaseException:
            self._lose()
            raise
        finally:
            self._is_receiving = False
            self._notify()
        self._accept(message)

    def _lose(self) -> None:
        """Makes all readers fail if the server loses what a cancelled task was waiting for."""
        if self._receive.__class__ is BuiltinMethodType:  # granian's
            self._fail(TypeError("The body is lost: the task that read it was cancelled"))

    def _accept(self, message: dict[str, Any]) -> None:
        """Accepts a message, and keeps its content unless the body has failed or fails with it."""
        if message["type"] == "http.disconnect":
            self._is_gone = True
            if not self._is_complete:
                self._fail(
                    ClientDisconnectedError("The client disconnected before its body was complete")
                )
            return
        is_last = not message.get("more_body", False)
        self._has_last_message = self._has_last_message or is_last
        if self._is_complete:
            return
        chunk = message.get("body", b"")
        if chunk.__class__ is not Bytes:
            chunk = Bytes(chunk)
        self._size += len(chunk)
        # PERF: granian, whose `receive` isn't written in Python, ends a body with an empty message.
        # It comes from another thread; waiting for it takes a fifth of a small request's time.
        if is_last or self._receive.__class__ is BuiltinMethodType:
            self._compare_length(is_last=is_last)
        if self._limits or self._check is not None:
            self._verify(chunk)
        if not chunk or self._error is not None:
            return
        chunks = self._chunks
        self._kept_bytes += len(chunk)
        if chunks and len(chunks[-1]) + len(chunk) <= _SMALL_CHUNK_BYTES:
            chunks[-1] += chunk
        else:
            chunks.append(chunk)

    def _compare_length(self, *, is_last: bool) -> None:
        """Ends the body if it is as long as its Content-Length, and refuses a shorter one.

        SPEC: RFC 9112 section 6.3 and RFC 9113 section 8.1.1; Transfer-Encoding overrides
        Content-Length. uvicorn drops the body of `Upgrade: h2c`, which Java's client sends.
        """
        self._is_complete = is_last
        if self._scope is None:
            return
        headers = self._scope["headers"]
        if length_line(self._size) in headers:  # PERF: twice as fast as the loop
            self._is_complete = is_last or not self._is_chunked()
            return
        for name, value in headers:
            if name == b"content-length":
                declared = int(value) if value.isdigit() and len(value) <= _MOST_DIGITS else 0
                if is_last and self._size < declared and not self._is_chunked():
                    self._fail(
                        HTTPException(
                            400,
                            f"The body is incomplete: it has {self._size} bytes, "
                            f"but its Content-Length is {declared}",
                        )
                    )
                return

    def _is_chunked(self) -> bool:
        return any(name == b"transfer-encoding" for name, _ in self._scope["headers"])

    def _verify(self, chunk: Bytes) -> None:
        """Refuses the body if it exceeds a limit with this chunk."""
        for most, refuse in self._limits:
            if self._size > most and self._error is None:
                self._fail(plain_result(refuse(), refuse, "limit_body()"))
        if self._check is not None and self._error is None:
            try:
                self._check(chunk)
            except HTTPException as error:
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        """Drops the kept content, and gives every reader an error from now on."""
        if self._error is None:
            self._error = error
        self.state = FAILED
        self._chunks.clear()
        self._kept_bytes = 0
        self._notify()

    async def _change(self) -> None:
        """Waits until a message arrives, a chunk is taken, or the body fails."""
        if self._changed is None:
            from anyio import Event

            self._changed = Event()
        await self._changed.wait()

    def _notify(self) -> None:
        """Wakes the tasks that wait for a change."""
        if self._changed is not None:
            self._changed.set()
            self._changed = None


async def _join(body: Bytes | Stream, most: int | None) -> Bytes:
    """Returns a body as bytes; refuses one that is larger than allowed."""
    chunks: list[Bytes] = []
    size = 0
    async with aclosing(iterate_chunks(body)) as encoded:
        async for chunk in encoded:
            chunks.append(chunk)
            size += len(chunk)
            if most is not None and size > most:
                raise body_too_large(most)
    return b"".join(chunks)


async def _no_message() -> dict[str, Any]:
    raise AssertionError("The body has ended")
