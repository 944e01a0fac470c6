# SPDX-License-Identifier: MIT
"""Bodies: creating and reading them (WHATWG Fetch, sections 5.2 and 5.3)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeAlias

from ._streams import close_stream, decode_text, iterate

if TYPE_CHECKING:
    from ._blob import Blob, Bytes
    from ._forms.form_data import FormData
    from ._headers import Headers
    from ._streams import Chunk, Stream
    from ._url_search_params import URLSearchParams

BodyInit: TypeAlias = "Chunk | Stream | Blob | FormData | URLSearchParams"

# SPEC: WHATWG Fetch section 5.2, "extract a body", for a string.
TEXT_TYPE = "text/plain;charset=UTF-8"


def _used() -> None:
    """Marks a body as read. It is a function because a copy keeps its identity."""


USED: Any = _used


def extract(body: Any) -> tuple[bytes | Stream | None, str | None]:
    """Returns a body as bytes or a stream, and the content type that it implies.

    SPEC: WHATWG Fetch section 5.2, "extract a body".
    """
    if body is None:
        return None, None
    if isinstance(body, str):
        return body.encode(), TEXT_TYPE
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body), None
    as_body = getattr(body, "_as_body", None)  # Blob, URLSearchParams
    if as_body is not None:
        return as_body()  # type: ignore[no-any-return]  # see Blob._as_body
    from ._forms.form_data import FormData

    if isinstance(body, FormData):
        from ._forms.encode import encode

        return encode(body)
    if hasattr(body, "__aiter__") or (hasattr(body, "__iter__") and not isinstance(body, dict)):
        return body, None
    raise TypeError(
        f"Can't send {type(body).__name__} as a body: expected str, bytes, Blob, FormData, "
        "URLSearchParams, an (async) iterable of str or bytes, or None"
    )


class BodyBytes(bytes):
    """A body in memory: bytes that can also be iterated asynchronously, as one chunk.

    Code that wraps a streamed body therefore also works for a body in memory. Iterating the body
    marks it as read; using the bytes doesn't.
    """

    __module__ = "kit.web"  # shown as it is imported

    _owner: Body | None

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        owner, self._owner = self._owner, None
        content = None if owner is None else take(owner)
        if not isinstance(content, bytes) or not content:
            raise StopAsyncIteration
        return content

    async def aclose(self) -> None:
        """Ends the iteration."""
        self._owner = None


class BodyStream:
    """A streamed body, iterated asynchronously; it counts as read once iteration has begun.

    Args:
        owner: The request or response.
    """

    __module__ = "kit.web"  # shown as it is imported

    # Not an async generator: closing one that hasn't begun would not close the body.
    __slots__ = ("_chunks", "_has_begun", "_owner")

    def __init__(self, owner: Body) -> None:
        self._owner = owner
        self._chunks = read_chunks(owner)
        self._has_begun = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        self._has_begun = True
        return await self._chunks.__anext__()

    async def aclose(self) -> None:
        """Closes the body, even if it was not read completely; it can't be read afterwards."""
        if self._has_begun:
            await self._chunks.aclose()
        elif not self._owner.body_used:
            self._has_begun = True
            await close_stream(take(self._owner))


class Body:
    """The part of Request and Response that reads the body. A body can be read once."""

    if TYPE_CHECKING:
        _body: Bytes | Stream | None
    else:
        __slots__ = ()  # subclasses have the field

    @property
    def headers(self) -> Headers:
        """The header lines."""
        raise AttributeError("headers")  # Request and Response override it

    @property
    def body_used(self) -> bool:
        """Whether the body was read."""
        return self._body is USED

    @property
    def body(self) -> BodyBytes | BodyStream | None:
        """The body: bytes if it is in memory, an async iterable of bytes if it is streamed.

        Both can be iterated with `async for`. Using the bytes doesn't mark the body as read; a
        stream counts as read once it is iterated. None if there is no body.
        """
        body = self._body
        if isinstance(body, bytes):
            content = BodyBytes(body)
            content._owner = self
            return content
        return None if body is None else BodyStream(self)

    def _tee(self) -> Bytes | Stream | None:
        """Returns a body with the same content, for a clone (WHATWG Fetch section 2.2.4)."""
        body = self._body
        if body is USED:
            raise TypeError(
                f"Can't clone this {type(self).__name__}: its body was read, or is being read; "
                "clone it before that"
            )
        if body is None or isinstance(body, bytes):
            return body
        from ._tee import tee

        self._body, other = tee(body)
        return other

    async def bytes(self) -> Bytes:
        """Reads the whole body.

        Raises:
            TypeError: If the body was already read.
        """
        body = take(self)
        if body is None:
            return b""
        if isinstance(body, bytes):
            return body
        try:
            return b"".join([chunk async for chunk in iterate(body)])
        finally:
            await close_stream(body)

    async def array_buffer(self) -> Bytes:
        """Reads the whole body; the Web name of `bytes`."""
        return await self.bytes()

    async def text(self) -> str:
        """Reads the body as UTF-8, without a byte order mark; invalid bytes become U+FFFD."""
        return decode_text(await self.bytes())

    async def _read_json(self) -> Any:
        """Reads the body as JSON: the `json` of both classes, on Response also a factory."""
        from kit.web._json import decode

        return decode(await self.bytes())

    async def form_data(self) -> FormData:
        """Reads the body as a form, within the default `Limits`.

        Raises:
            HTTPException: 400 if it isn't a valid form, 413 if it exceeds a limit.
            TypeError: If the body was already read.
        """
        from kit.web._limits import Limits

        from ._body_reader import BodyReader

        reader = BodyReader.of(take(self))
        return await reader.form_data(self.headers.get("content-type"), Limits())

    async def blob(self) -> Blob:
        """Reads the body as a Blob with the content type of the headers."""
        from ._blob import Blob

        return Blob([await self.bytes()], type=self.headers.get("content-type") or "")


def peek(owner: Body) -> Bytes | Stream | None:
    """Returns the stored body, bytes or a stream, without marking it as read."""
    return owner._body


def is_stream(body: object) -> bool:
    """Returns whether a stored body is a stream that wasn't read."""
    return body is not None and body is not USED and not isinstance(body, bytes)


def take(owner: Body) -> Bytes | Stream | None:
    """Returns the stored body and marks it as read; the caller must close it."""
    body = owner._body
    if body is USED:
        raise TypeError("The body was already read; it can be read once")
    if body is not None:
        owner._body = USED
    return body


def put(owner: Body, body: Bytes | Stream | None) -> None:
    """Replaces a body, e.g. with its unread rest."""
    owner._body = body


async def read_chunks(owner: Body) -> AsyncGenerator[Bytes, None]:
    """Yields a body chunk by chunk, and closes it at the end."""
    body = take(owner)
    if isinstance(body, bytes):
        yield body
    elif body is not None:
        try:
            async with aclosing(iterate(body)) as chunks:
                async for chunk in chunks:
                    yield chunk
        finally:
            await close_stream(body)
