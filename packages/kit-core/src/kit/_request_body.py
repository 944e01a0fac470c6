# SPDX-License-Identifier: MIT
"""The body of one request: read once, whoever asks first, and kept for all who ask later."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from kit.interface import HTTPException

from ._limits import Limits
from .web import FormData, Request
from .web._body import Bytes, Stream, close_stream, iterate
from .web._forms import MULTIPART, URLENCODED, media_type, read_form
from .web._received import ReceivedBody, body_too_large


class RequestBody:
    """Reads a body as bytes or as a form, whichever is asked for first.

    Two tasks may ask at once: the second waits for the first. A body that was refused stays
    refused; one whose reader was cancelled can be read on.

    Args:
        raw: The request.
        limits: How much of it is taken.
    """

    __slots__ = (
        "_busy",
        "_changed",
        "_content_type",
        "_data",
        "_failure",
        "_form",
        "_limits",
        "_raw",
    )

    def __init__(self, raw: Request, limits: Limits) -> None:
        self._raw = raw
        self._limits = limits
        self._content_type = raw.headers.get("content-type")
        self._data: Bytes | None = None
        self._form: FormData | None = None
        self._failure: HTTPException | None = None
        self._busy = False
        self._changed: Any = None

    async def bytes(self) -> Bytes:
        """Gives the whole body.

        Raises:
            HTTPException: 413 if it is too large, and what reading it as a form raised.
            TypeError: If the body of the raw request was read directly.
        """
        while self._data is None:
            await self._once(lambda: self._read_bytes(self._limits))
        return self._data

    async def form_data(self, limits: Limits | None = None) -> FormData:
        """Gives the body as a form.

        Args:
            limits: Limits of this reading; those of the request if None.

        Raises:
            HTTPException: 400 if it is no form, 413 if it is beyond a limit.
            TypeError: If the body of the raw request was read directly.
        """
        while self._form is None:
            await self._once(lambda: self._read_form(limits or self._limits))
        return self._form

    def close(self) -> None:
        """Removes the temporary files of the form."""
        if self._form is not None:
            self._form._close()

    async def _once(self, read: Callable[[], Awaitable[None]]) -> None:
        """Reads, or waits for the task that does."""
        if self._busy:
            if self._changed is None:
                from anyio import Event

                self._changed = Event()
            await self._changed.wait()
            return
        if self._failure is not None and self._data is None:
            raise self._failure
        self._busy = True
        try:
            await read()
        except HTTPException as error:
            if self._raw.body_used:
                self._failure = error
            raise
        finally:
            self._busy = False
            if self._changed is not None:
                self._changed.set()
                self._changed = None

    async def _read_bytes(self, limits: Limits) -> None:
        if self._form is not None:
            self._data = await self._written_anew(self._form)
            return
        body = self._raw._body
        most = limits.max_body_size_bytes
        if isinstance(body, ReceivedBody):
            try:
                self._data = await body.read(most)
            except HTTPException:
                self._raw._take()
                raise
            self._raw._take()
        else:
            async with aclosing(_bounded(self._raw._take(), most)) as chunks:
                self._data = b"".join([chunk async for chunk in chunks])

    async def _read_form(self, limits: Limits) -> None:
        kind = media_type(self._content_type)
        if kind == URLENCODED and self._data is None:
            await self._read_bytes(limits)
        if kind == MULTIPART and self._data is None:
            chunks = _bounded(self._raw._take(), limits.max_body_size_bytes)
        else:
            chunks = iterate([self._data or b""])
        async with aclosing(chunks):
            self._form = await read_form(chunks, self._content_type, limits)

    async def _written_anew(self, form: FormData) -> Bytes:
        """The form as a body again, which fits the content type of the request."""
        from .web import _multipart

        content, _ = _multipart.encode(form, _multipart.boundary_of(self._content_type or ""))
        if isinstance(content, Bytes):
            return content
        return b"".join([chunk async for chunk in iterate(content)])


async def _bounded(body: Bytes | Stream | None, most: int | None) -> AsyncGenerator[Bytes, None]:
    """The chunks of a body, up to a size in bytes.

    Raises:
        HTTPException: 413 beyond it.
    """
    size = 0
    try:
        async with aclosing(iterate([body] if isinstance(body, Bytes) else body or ())) as chunks:
            async for chunk in chunks:
                size += len(chunk)
                if most is not None and size > most:
                    raise body_too_large(most)
                yield chunk
    finally:
        await close_stream(body)
