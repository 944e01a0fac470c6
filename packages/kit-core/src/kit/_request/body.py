# SPDX-License-Identifier: MIT
"""The body of one request: read once, by the first caller, and kept for all later ones."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import partial
from sys import modules
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from kit._support.limits import Limits, body_too_large
from kit._support.struct import Struct, with_plain_stores
from kit.authoring.maybe_await import plain_result
from kit.http.media_types import MULTIPART, URLENCODED, media_type
from kit.interface import HTTPException
from kit.web import FormData, Request
from kit.web._blob import Bytes
from kit.web._body import USED, peek, put, take
from kit.web._forms.field_sizes import FieldSizes
from kit.web._forms.form_data import close_form
from kit.web._forms.reading import read_form
from kit.web._forms.urlencoded import decode_urlencoded, last_values
from kit.web._header_lines import find_value
from kit.web._received import ReceivedBody, Refuse, See
from kit.web._request import header_lines, limit_body, with_body
from kit.web._streams import (
    Stream,
    bounded_chunks_of,
    chunks_of,
    close_stream,
    iterate,
)

if TYPE_CHECKING:
    from kit.concurrency._shared_task import SharedTask
    from kit.concurrency._signal import Signal
    from kit.web._forms.multipart import MultipartDecoder
    from kit.web._tee import Branch

_FORMS = frozenset((MULTIPART, URLENCODED))
Read: TypeAlias = Callable[[Limits], Awaitable[None]]


@with_plain_stores
class RequestBody(Struct, eq=False):
    """Reads a body as bytes or as a form, whichever is requested first.

    Several tasks may ask at once: one reads while the others wait. If the task that is reading is
    cancelled, another continues. A body that was refused stays refused.

    Args:
        raw: The request.
        limits: The limits that apply to the body.

    Attributes:
        may_hold_files: Whether there may be temporary files, so that `close` must be called.
    """

    _raw: Request
    _limits: Limits
    may_hold_files: bool = False
    _has_taken: bool = False
    _busy: bool = False
    _content_type: str | None = None
    _kind: str | None = None
    _data: Bytes | None = None
    _form: FormData | None = None
    _form_limits: Limits | None = None  # of a read that produced no `_form`
    _failure: Exception | None = None
    _is_whole: bool | None = None
    _changed: Signal | None = None
    _shared: SharedTask | None = None
    _decoder: MultipartDecoder | None = None
    _source: Bytes | Stream | None = None

    @property
    def is_form(self) -> bool:
        """Whether the Content-Type is that of a form."""
        if self._kind is None:
            self._content_type = find_value(header_lines(self._raw), "content-type")
            self._kind = media_type(self._content_type)
        return self._kind in _FORMS

    async def bytes(self) -> Bytes:
        """Returns the whole body.

        Raises:
            HTTPException: 413 if it is too large, or the error of reading it as a form.
            TypeError: If the body of the raw request was read directly, or the only task that was
                reading a stream or a form was cancelled.
            Exception: The exception that the stream of an in-process request raised.
        """
        await self._receive_whole(self._limits, self._limits.max_memory_size_bytes)
        while self._data is None:
            await self._once(self._read_bytes, self._limits, apart=self._loses_bytes())
        return self._data

    async def form_data(self, limits: Limits | None = None) -> FormData:
        """Returns the body as a form.

        Args:
            limits: Limits for this call; None uses those of the request.

        Raises:
            HTTPException: 400 if it is not a valid form, 413 if it exceeds a limit.
            TypeError: As for `bytes`.
            Exception: As for `bytes`.
        """
        limits = self._form_limits or limits or self._limits
        if self._form is None and (self._kind in _FORMS or self.is_form):
            in_memory = None if self._kind == MULTIPART else limits.max_memory_size_bytes
            await self._receive_whole(limits, in_memory)
            data = self._data
            if data is not None and self._kind == URLENCODED:
                self._form = decode_urlencoded(data, limits)
            elif data is not None and len(data) <= limits.spool_size_bytes:
                from kit.web._forms.multipart import decode_in_memory

                self._form = decode_in_memory(data, self._content_type or "", limits)
        while self._form is None:
            read, apart = self._next_for_form()
            await self._once(read, self._form_limits or limits, apart=apart)
        return self._form

    async def last_values(self, limits: Limits | None = None) -> dict[str, str] | None:
        """Returns the last value of each name of the form, if it is a simple one.

        PERF: if a caller needs only this, and is the first to read, no FormData is built.

        Args:
            limits: As for `form_data`.

        Returns:
            The values, or None if `form_data` must be called instead.

        Raises:
            ClientDisconnectedError: If the client disconnects before the end.
        """
        if self._kind != URLENCODED or self._form is not None or self._form_limits is not None:
            return None
        limits = limits or self._limits
        await self._receive_whole(limits, limits.max_memory_size_bytes)
        if self._data is None or self._form_limits is not None:
            return None
        values = last_values(self._data, limits)
        if values is not None:
            self._form_limits = limits
        return values

    async def clone(self) -> Request:
        """Returns a request with the same content, whether the body was read or not.

        Raises:
            TypeError: If the body of the raw request was read directly.
            Exception: The exception that reading the body raised.
        """
        while await self._wait():
            continue
        if self._decoder is not None and self._failure is None:
            await self.form_data()  # the task that was reading it was cancelled
        raw = self._raw
        if not raw.body_used:
            return raw.clone()
        if self._data is not None:
            clone = with_body(raw, self._data)
            length = str(len(self._data))
            if clone.headers.get("content-length") not in (None, length):
                clone.headers.set("content-length", length)  # a form that was encoded again
            return clone
        if self._form is None:
            raise self._failure or TypeError(
                "Can't clone the request: its body was read directly from `raw`, which keeps "
                "nothing of it; read it with text(), json() or another reader of KitRequest"
            )
        content = self._write(self._form)
        clone = with_body(raw, content)
        if clone.headers.has("content-length"):
            # The entries are the same, but the part headers differ from those the client wrote.
            clone.headers.delete("content-length")
            if isinstance(content, Bytes):
                clone.headers.set("content-length", str(len(content)))
        return clone

    def adopt(self, data: Bytes, form: FormData | None, form_limits: Limits | None) -> None:
        """Takes over a body that was read from the server without this object.

        Args:
            data: All of it.
            form: The form that it was read as, if that is kept.
            form_limits: If no form is kept, the limits with which it was read as one; None if it
                wasn't.
        """
        self._data = data
        self._form = form
        self._has_taken = True
        self._form_limits = form_limits

    def wait(self) -> None:
        """Makes all tasks wait until `resume` is called: one of them reads without this object."""
        self._busy = True

    def resume(self) -> None:
        """Lets tasks go on."""
        self._busy = False
        if self._changed is not None:
            self._changed.tell()

    def limit(self, most: int, refuse: Refuse) -> None:
        """Limits the size of the body; see `KitRequest.limit_body`."""
        if self._data is None:
            limit_body(self._raw, most, refuse)
        elif len(self._data) > most:
            raise plain_result(refuse(), refuse, "limit_body()")

    def close(self) -> None:
        """Removes the temporary files of the form."""
        if self._form is not None:
            close_form(self._form)
        elif self._decoder is not None:
            self._decoder.close()

    async def _receive_whole(self, limits: Limits, most_in_memory: int | None) -> None:
        """Reads an untouched body if it is small.

        PERF: nearly every body; it needs none of the state that larger ones do.
        """
        body = self._raw._body
        if (
            body.__class__ is not ReceivedBody
            or self._has_taken
            or self._busy
            or self._failure is not None
        ):
            return
        most = limits.max_body_size_bytes
        if most is None or (most_in_memory is not None and most_in_memory < most):
            most = most_in_memory
        self._busy = True
        try:
            data = await body.whole(most, self._raw.scope, lambda: peek(self._raw) is not body)
        finally:
            self.resume()
        if data is not None:
            self._raw._body = USED
            self._has_taken = True
            if most is not None and len(data) > most:
                self._failure = body_too_large(most)
            else:
                self._data = data

    async def _once(self, read: Read, limits: Limits, *, apart: bool) -> None:
        """Reads the body, or waits for the task that is reading it.

        Args:
            read: The function that reads it.
            limits: Its argument.
            apart: Whether cancelling the read would lose data; it then runs in a task of its own.
        """
        if (self._busy or self._shared is not None) and await self._wait():
            return
        if self._failure is not None and self._data is None:
            raise self._failure
        if apart:
            from kit.concurrency._shared_task import SharedTask

            self._shared = SharedTask(partial(self._run, read, limits))
            await self._shared.wait()
        else:
            await self._run(read, limits)

    async def _wait(self) -> bool:
        """Waits for the task that is reading the body; returns False if there is none.

        Raises:
            Exception: The exception of a read that runs in a task of its own.
        """
        if self._shared is not None and not self._shared.over:
            await self._shared.wait()
        elif self._busy:
            if self._changed is None:
                from kit.concurrency._signal import Signal

                self._changed = Signal()
            await self._changed.wait()
        else:
            return False
        return True

    def _loses_bytes(self) -> bool:
        """Returns whether cancelling the task that reads would lose the bytes read so far."""
        body = peek(self._raw) if self._decoder is None else self._source
        keeps = body is None or isinstance(body, Bytes) or _keeps_chunks(body)
        return not keeps and self._form is None

    def _next_for_form(self) -> tuple[Read, bool]:
        """Returns the next step towards the form, and whether it needs a task of its own."""
        body = peek(self._raw)
        if self._data is not None or not self.is_form:
            return self._read_form, False
        if self._decoder is not None:
            return self._read_streamed_form, False
        if self._kind == MULTIPART and not (self._is_whole or isinstance(body, Bytes)):
            if self._is_whole is None and isinstance(body, ReceivedBody):
                return self._look, False
            return self._read_streamed_form, self._loses_bytes()
        return self._read_form, self._loses_bytes()

    async def _run(self, read: Read, limits: Limits) -> None:
        self._busy = True
        try:
            await read(limits)
        except BaseException as error:
            if self._has_taken and self._form is None and not self._may_go_on(error):
                self._failure = (
                    error
                    if isinstance(error, Exception)
                    else TypeError("The body is lost: the task that read it was cancelled")
                )
            raise
        finally:
            self.resume()

    def _may_go_on(self, error: BaseException) -> bool:
        """Returns whether another task can continue: after a cancellation that lost nothing."""
        is_kept = _keeps_chunks(self._source)
        return self._decoder is not None and is_kept and not isinstance(error, Exception)

    def _take(self) -> Bytes | Stream | None:
        body = take(self._raw)
        self._has_taken = True
        return body

    async def _look(self, limits: Limits) -> None:
        """Checks whether the body came in one piece: a form in memory needs no task of its own."""
        body = peek(self._raw)
        self._is_whole = isinstance(body, ReceivedBody) and await body.comes_whole()

    async def _read_bytes(self, limits: Limits, see: See | None = None) -> None:
        if self._decoder is not None and self._form is None:
            await self._read_streamed_form(limits)
        if self._form is not None:
            async with aclosing(chunks_of(self._write(self._form))) as chunks:
                self._data = b"".join([chunk async for chunk in chunks])
            return
        body = self._take()
        most = limits.most_in_memory
        if _keeps_chunks(body):
            try:
                self._data = await body.read(most, see)
            except HTTPException:
                raise
            except BaseException:  # `body` keeps what was read, for the next reader
                put(self._raw, body)
                self._has_taken = False
                raise
        else:
            async with aclosing(bounded_chunks_of(body, most, see)) as chunks:
                self._data = b"".join([chunk async for chunk in chunks])

    async def _read_form(self, limits: Limits) -> None:
        if self._data is None and self.is_form:
            if self._kind == URLENCODED:
                await self._read_bytes(limits, FieldSizes(limits).add)
            else:  # in memory already, and max_memory_size_bytes doesn't apply to files
                await self._read_bytes(limits.but(max_memory_size_bytes=None))
        data = self._data or b""
        if self._kind == URLENCODED:
            self._form = decode_urlencoded(data, limits)
        else:
            await self._parse(iterate([data]), limits)

    async def _read_streamed_form(self, limits: Limits) -> None:
        """Reads a multipart body as it arrives, or the rest of it after a cancellation."""
        if self._decoder is None:
            from kit.web._forms.multipart import MultipartDecoder

            self._source = self._take()
            self.may_hold_files = True
            try:
                self._decoder = MultipartDecoder(self._content_type or "", limits)
            except Exception:
                await close_stream(self._source)
                raise
        decoder, source = self._decoder, self._source
        try:
            self._form = await decoder.read(chunks_of(source))
        except BaseException as error:
            if not self._may_go_on(error):
                decoder.close()
                await close_stream(source)
            raise
        await close_stream(source)

    async def _parse(self, data: AsyncGenerator[Bytes, None], limits: Limits) -> None:
        self.may_hold_files = True
        async with aclosing(data):
            self._form = await read_form(data, self._content_type, limits)

    def _write(self, form: FormData) -> Bytes | Stream:
        """Encodes the form as a body again, matching the content type of the request."""
        from kit.web._forms.encode import encode
        from kit.web._forms.multipart import boundary_of

        try:
            content, _ = encode(form, boundary_of(self._content_type or ""))
        except ValueError as error:
            # The parser accepted content that such a body can't contain (RFC 2046 section 5.1.1).
            raise HTTPException(400, f"Malformed multipart body: {error}") from error
        return content


def _keeps_chunks(body: object) -> TypeGuard[ReceivedBody | Branch]:
    """Returns whether a body keeps what a cancelled reading took, for the one that goes on."""
    if isinstance(body, ReceivedBody):
        return True
    # Imported by the code that made one; where it isn't, there are none.
    tee: Any = modules.get("kit.web._tee")
    return tee is not None and isinstance(body, tee.Branch)
