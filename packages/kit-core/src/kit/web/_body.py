# SPDX-License-Identifier: MIT
"""Bodies: what can be sent as one, and how one is read (WHATWG Fetch, section 5.2 and 5.3)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeAlias

from kit._support import json as _json
from kit._support.limits import Limits
from kit.web._received import ReceivedBody

if TYPE_CHECKING:
    from kit.web._forms.form_data import FormData
    from kit.web._headers import Headers
    from kit.web._url_search_params import URLSearchParams

Bytes: TypeAlias = bytes
"""The type, where a method of the same name hides it."""

Chunk: TypeAlias = bytes | bytearray | memoryview | str
Stream: TypeAlias = AsyncIterable[Chunk] | Iterable[Chunk]
BodyInit: TypeAlias = "Chunk | Stream | Blob | FormData | URLSearchParams"

TEXT_TYPE = "text/plain; charset=UTF-8"


class _Used:
    """Stands in the place of a body that was read. A class stays itself when it is copied."""


USED: Any = _Used


def extract(body: Any) -> tuple[bytes | Stream | None, str | None]:
    """Turns what was given as a body into bytes or a stream, and the content type it implies.

    SPEC: WHATWG Fetch section 5.2, "extract a body".

    Raises:
        TypeError: If `body` can't be sent.
    """
    if body is None:
        return None, None
    if isinstance(body, str):
        return body.encode(), TEXT_TYPE
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body), None
    as_body = getattr(body, "_as_body", None)  # Blob, FormData, URLSearchParams
    if as_body is not None:
        return as_body()  # type: ignore[no-any-return]  # see Blob._as_body
    if hasattr(body, "__aiter__") or (hasattr(body, "__iter__") and not isinstance(body, dict)):
        return body, None
    raise TypeError(
        f"Can't send {type(body).__name__} as a body: expected str, bytes, Blob, FormData, "
        "URLSearchParams, an (async) iterable of str or bytes, or None"
    )


def encode_chunk(chunk: Chunk) -> bytes:
    """Gives a chunk of a stream as bytes.

    Raises:
        TypeError: If it is neither str nor bytes.
    """
    if isinstance(chunk, bytes):
        return chunk
    if isinstance(chunk, str):
        return chunk.encode()
    if isinstance(chunk, (bytearray, memoryview)):
        return bytes(chunk)
    raise TypeError(f"A body yielded {type(chunk).__name__}: expected str or bytes")


async def iterate(stream: Stream) -> AsyncGenerator[bytes, None]:
    """Reads a stream, whether it is async or not, chunk by chunk as bytes.

    It closes the generator that it makes of a stream whose `__aiter__` is one, never the stream.
    """
    if hasattr(stream, "__aiter__"):
        iterator = stream.__aiter__()
        try:
            async for chunk in iterator:
                yield encode_chunk(chunk)
        finally:
            if isinstance(iterator, AsyncGenerator) and iterator is not stream:
                await close_stream(iterator)
    else:
        for chunk in stream:
            yield encode_chunk(chunk)


async def close_stream(stream: Any) -> None:
    """Closes a generator, so that its `finally` runs now, whatever becomes of the response."""
    aclose = getattr(stream, "aclose", None)
    if aclose is not None:
        # PERF: a generator that has ended has nothing left to close, and anyio costs more.
        if getattr(stream, "ag_frame", stream) is None:
            return
        from anyio import CancelScope

        with CancelScope(shield=True):
            await aclose()
        return
    close = getattr(stream, "close", None)
    if close is not None:
        close()


def decode_text(data: bytes) -> str:
    """UTF-8 decode of WHATWG Encoding section 6: a BOM is dropped, bad bytes become U+FFFD."""
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")


class Body:
    """The reading half of a request or response. A body can be read once."""

    __slots__ = ("_body",)

    _body: Bytes | Stream | None

    @property
    def headers(self) -> Headers:
        """The header lines."""
        raise AttributeError("headers")  # given by Request and Response

    @property
    def body_used(self) -> bool:
        """Whether the body was read."""
        return self._body is USED

    @property
    def body(self) -> AsyncGenerator[Bytes, None] | None:
        """The body as a stream of bytes, which counts as read once it is iterated; or None."""
        return None if self._body is None else self._stream()

    async def _stream(self) -> AsyncGenerator[Bytes, None]:
        body = self._take()
        if isinstance(body, bytes):
            yield body
        elif body is not None:
            try:
                async with aclosing(iterate(body)) as chunks:
                    async for chunk in chunks:
                        yield chunk
            finally:
                await close_stream(body)

    def _take(self) -> Bytes | Stream | None:
        body = self._body
        if body is USED:
            raise TypeError("The body was already read; it can be read once")
        if body is not None:
            self._body = USED
        return body

    def _tee(self) -> Bytes | Stream | None:
        """Gives a body with the same content as this one, for a clone.

        SPEC: WHATWG Fetch section 2.2.4, "clone a body".

        Raises:
            TypeError: If the body was read, or is being read.
        """
        body = self._body
        if body is USED:
            raise TypeError(
                f"Can't clone this {type(self).__name__}: its body was read, or is being read; "
                "clone it before that"
            )
        if body is None or isinstance(body, bytes):
            return body
        from kit.web._tee import tee

        self._body, other = tee(body)
        return other

    async def bytes(self) -> Bytes:
        """Reads the whole body.

        Raises:
            TypeError: If the body was read before.
        """
        body = self._take()
        if body is None:
            return b""
        if isinstance(body, bytes):
            return body
        if isinstance(body, ReceivedBody):
            return await body.read()
        try:
            return b"".join([chunk async for chunk in iterate(body)])
        finally:
            await close_stream(body)

    async def array_buffer(self) -> Bytes:
        """Reads the whole body; the Web name of `bytes`."""
        return await self.bytes()

    async def text(self) -> str:
        """Reads the body as UTF-8; a byte order mark is dropped, bad bytes become U+FFFD."""
        return decode_text(await self.bytes())

    async def _read_json(self) -> Any:
        """Reads the body as JSON; it is `json` of both, which on Response makes one as well.

        Raises:
            ValueError: If it is no JSON; the text has the position.
        """
        return _json.decode(await self.bytes())

    async def form_data(self) -> FormData:
        """Reads the body as a form, within the default `Limits`.

        Raises:
            HTTPException: 400 if it is no form, 413 if it is beyond a limit.
            TypeError: If the body was read before.
        """
        from kit.web._forms.reading import read_form

        if self.body_used:
            self._take()
        async with aclosing(self._stream()) as chunks:
            return await read_form(chunks, self.headers.get("content-type"), Limits())

    async def blob(self) -> Blob:
        """Reads the body as a Blob with the content type of the headers."""
        return Blob([await self.bytes()], type=self.headers.get("content-type") or "")


def as_blob_type(type: str) -> str:
    """Gives the media type of a blob, empty if it holds what it must not."""
    return type.lower() if type.isascii() and type.isprintable() else ""


class Blob:
    """Bytes with a media type (W3C File API, section 3).

    Args:
        parts: What it is made of: bytes, str (as UTF-8) or other blobs.
        type: Media type, kept in lower case; empty if unknown.
    """

    __slots__ = ("_data", "_type")

    def __init__(self, parts: Iterable[Chunk | Blob] = (), *, type: str = "") -> None:
        if isinstance(parts, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"Blob expects a list of parts, not {parts.__class__.__name__}")
        self._data: Bytes = b"".join(
            p._content() if isinstance(p, Blob) else encode_chunk(p) for p in parts
        )
        self._type = as_blob_type(type)

    @property
    def size(self) -> int:
        """Number of bytes."""
        return len(self._data)

    @property
    def type(self) -> str:
        """Media type in lower case, or `""`."""
        return self._type

    async def bytes(self) -> Bytes:
        """Gives the content."""
        return self._data

    async def array_buffer(self) -> Bytes:
        """Gives the content; the Web name of `bytes`."""
        return await self.bytes()

    async def text(self) -> str:
        """Gives the content decoded as UTF-8; bad bytes become U+FFFD."""
        return decode_text(await self.bytes())

    async def stream(self) -> AsyncGenerator[Bytes, None]:
        """Gives the content in chunks."""
        yield self._data

    def _content(self) -> Bytes:
        return self._data

    def _as_body(self) -> tuple[Bytes | Stream, str | None]:
        return self._data, self.type or None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.type or 'without type'}, {self.size} bytes>"
