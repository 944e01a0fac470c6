# SPDX-License-Identifier: MIT
"""multipart/form-data (RFC 7578), read from a stream of chunks and written to one.

Parsing is done by the `multipart` package. What depends there on where the chunks are cut is made
the same here, and what it lets pass is checked: boundaries that RFC 2046 forbids, parts without a
name, headers with NUL or line breaks, and headers that come twice.

What a part says of its encoding means nothing, as WHATWG Fetch section 5.3 has it: a part with a
file name is a file, byte for byte, and any other is UTF-8 text, also if it says `charset`,
`Content-Transfer-Encoding` or multipart/mixed, or is called `_charset_`.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any, NamedTuple

from kit._limits import Limits, field_too_large, form_too_large
from kit.interface import HTTPException

from . import _parameters
from ._body import Stream
from ._form_data import File, FormData, FormValue
from ._spool import Spool

_MAX_HEADERS = 8
_MAX_HEADER_BYTES = 4096
_WRITE_BYTES = 64 * 1024


def _package() -> Any:
    """Imports `multipart`, and makes sure that it is the one meant.

    Raises:
        ImportError: If python-multipart before 0.0.13, which has the same import name, is in its
            place.
    """
    import multipart

    if not hasattr(multipart, "PushMultipartParser"):
        raise ImportError(
            "The module 'multipart' is not the one of the distribution 'multipart': "
            "python-multipart before 0.0.13 hides it. "
            "Mend it with: pip install -U 'python-multipart>=0.0.13' && "
            "pip install --force-reinstall multipart"
        )
    return multipart


def boundary_of(content_type: str) -> str:
    """Gives the boundary parameter of a Content-Type.

    Raises:
        HTTPException: 400 if there is none that RFC 2046 section 5.1.1 allows, or more than one.
    """
    try:
        return _parameters.boundary_of(content_type)
    except ValueError as error:
        raise _malformed(str(error)) from error


async def decode(chunks: AsyncIterable[bytes], content_type: str, limits: Limits) -> FormData:
    """Parses a multipart body while it comes.

    Args:
        chunks: The body.
        content_type: The Content-Type header, with the boundary.
        limits: How many fields and files, and how large.

    Returns:
        The form. Files beyond `limits.spool_size_bytes` are in a temporary file, which the caller
        closes with the form.

    Raises:
        HTTPException: 400 if the body is malformed, 413 if it is beyond a limit.
    """
    package = _package()
    boundary = boundary_of(content_type)
    opening = _Opening(boundary)
    collector = _Collector(limits)
    try:
        parser = package.PushMultipartParser(
            boundary,
            max_header_count=_MAX_HEADERS,
            max_header_size=_MAX_HEADER_BYTES,
            header_charset="latin-1",  # keeps each byte; see _read_head
        )
        async for chunk in chunks:
            data = chunk if opening.is_over else opening.feed(chunk)
            if not data:  # to the parser it would mean the end
                continue
            for event in parser.parse(data):
                if event is None:
                    await collector.end()
                elif isinstance(event, (bytes, bytearray)):
                    await collector.data(event)
                else:
                    collector.start(_read_head(event))
        try:
            parser.close()
        except package.MultipartError as error:
            raise _malformed(
                f"Unexpected end: the final boundary --{boundary}-- is missing"
            ) from error
        return await collector.finish()
    except package.ParserLimitReached as error:
        collector.abort()
        raise _malformed(
            f"{error.args[0]}: a part may have {_MAX_HEADERS} headers "
            f"of at most {_MAX_HEADER_BYTES} bytes"
        ) from error
    except package.MultipartError as error:
        collector.abort()
        raise _malformed(error.args[0]) from error
    except BaseException:
        collector.abort()
        raise


class _Opening:
    """Leaves out what stands before the first boundary.

    SPEC: RFC 2046 section 5.1.1, "preamble". A boundary stands at the beginning of a line.

    Attributes:
        is_over: Whether the first boundary was found.
    """

    def __init__(self, boundary: str) -> None:
        self._delimiter = b"\r\n--" + boundary.encode()
        self._end = b"\r\n"
        self.is_over = False

    def feed(self, chunk: bytes) -> bytes:
        """Takes what comes; gives what is left of it, beginning with the first boundary."""
        data = self._end + chunk
        place = data.find(self._delimiter)
        if place < 0:
            self._end = data[1 - len(self._delimiter) :]
            return b""
        self.is_over = True
        return data[place + 2 :]


class _Head(NamedTuple):
    """What the headers of a part say.

    Attributes:
        name: Name of the field.
        filename: Name of the file; None if it is no file.
        type: Media type of a file.
    """

    name: str
    filename: str | None
    type: str


def _read_head(segment: Any) -> _Head:
    """Reads the headers of a part.

    Raises:
        HTTPException: 400 if they hold what they must not, or have no name.
    """
    headers: dict[str, str] = {}
    for name, value in segment.headerlist:
        if name in headers and name in ("Content-Disposition", "Content-Type"):
            raise _malformed(f"a part has the header {name} twice")
        if "\0" in value or "\n" in value or "\r" in value:
            what = "a NUL character" if "\0" in value else "a line break"
            raise _malformed(f"the header {name:.100} of a part holds {what}")
        headers[name] = value
    try:
        disposition = _parameters.parse_disposition(headers["Content-Disposition"])
    except ValueError as error:
        raise _malformed(str(error)) from error
    if disposition.name is None:
        raise _malformed('a part has no name: expected Content-Disposition: form-data; name="..."')
    media_type = headers.get("Content-Type", "text/plain").strip()
    return _Head(disposition.name, disposition.filename, media_type)


class _Collector:
    """Turns the events of the parser into entries of a form."""

    def __init__(self, limits: Limits) -> None:
        self._form = FormData()
        self._limits = limits
        self._fields = 0
        self._files = 0
        self._head: Any = None
        self._content = bytearray()
        self._size = 0
        self._kept_bytes = 0
        self._spool: Spool | None = None
        self._start: int | None = None

    def start(self, head: _Head) -> None:
        if head.filename is None:
            self._fields += 1
            if self._fields > self._limits.max_fields:
                raise form_too_large("fields", self._limits.max_fields)
        else:
            self._files += 1
            if self._files > self._limits.max_files:
                raise form_too_large("files", self._limits.max_files)
        self._head = head
        # A list of chunks would take many times their size from a client that sends tiny ones.
        self._content = bytearray()
        self._size = 0
        self._start = None

    async def data(self, chunk: bytes | bytearray) -> None:
        self._size += len(chunk)
        if self._head.filename is None:
            if self._size > self._limits.max_field_size_bytes:
                raise field_too_large(self._head.name, self._limits.max_field_size_bytes)
        elif self._start is None and (
            self._kept_bytes + self._size > self._limits.spool_size_bytes
        ):
            self._spool = self._spool or await Spool.open()
            self._start = self._spool.size
        self._content += chunk
        # Each writing is a way to another thread and back.
        if self._start is not None and len(self._content) >= _WRITE_BYTES:
            await self._write()

    async def _write(self) -> Spool:
        assert self._spool is not None  # noqa: S101 - set together with _start
        await self._spool.write(self._content)
        self._content = bytearray()
        return self._spool

    async def end(self) -> None:
        name, filename, media_type = self._head
        value: FormValue
        if filename is None:
            value = self._content.decode("utf-8", "replace")
        elif self._start is not None:
            spool = await self._write()
            value = File._in_spool(spool, self._start, self._size, filename, media_type)
        else:
            self._kept_bytes += self._size
            value = File([self._content], filename, type=media_type)
        self._form.append(name, value)

    async def finish(self) -> FormData:
        """Gives the form."""
        if self._spool is not None:
            await self._spool.flush()
        return self._form

    def abort(self) -> None:
        """Closes what was written so far."""
        if self._spool is not None:
            self._spool.close()


def _malformed(problem: str) -> HTTPException:
    return HTTPException(400, f"Malformed multipart body: {problem}")


def encode(form: FormData, boundary: str | None = None) -> tuple[bytes | Stream, str]:
    """Writes a form as a multipart body.

    Args:
        form: The form.
        boundary: The boundary of the body that it was read from, to write that body again: then
            values are written as they are. By default a new one is made.

    Returns:
        The body, streamed if a file is not in memory, and its Content-Type.

    Raises:
        ValueError: If a value holds the given boundary, and would end its part.
    """
    entries = [(name, _data(value, as_it_is=boundary is not None)) for name, value in form]
    if boundary is None:
        # Random, so that it can't occur in the content, whoever wrote that.
        boundary = "----KitFormBoundary" + os.urandom(16).hex()
    else:
        end = f"\r\n--{boundary}".encode()
        for name, data in entries:
            if isinstance(data, bytes) and end in b"\r\n" + data:
                raise ValueError(
                    f"The form field {name!r:.100} holds the boundary of its request, "
                    "so the form can't be written as the body of that request"
                )
    heads = [_head(name, value, boundary) for name, value in form]
    tail = f"--{boundary}--\r\n".encode()
    parts = list(zip(heads, [data for _, data in entries], strict=True))
    content_type = f"multipart/form-data; boundary={boundary}"
    if any(isinstance(data, File) for _, data in parts):
        return _stream(parts, tail), content_type
    pieces = [piece for head, data in parts for piece in (head, data, b"\r\n")]
    return b"".join([*pieces, tail]), content_type  # type: ignore[list-item]  # no File, see above


async def _stream(parts: list[tuple[bytes, bytes | File]], tail: bytes) -> AsyncIterator[bytes]:
    for head, data in parts:
        yield head
        if isinstance(data, File):
            async for chunk in data.stream():
                yield chunk
        else:
            yield data
        yield b"\r\n"
    yield tail


def _data(value: FormValue, *, as_it_is: bool) -> bytes | File:
    """What stands in the part of a value; a file on disk is left to be streamed."""
    if isinstance(value, File):
        return value if value._spooled is not None else value._content()
    return (value if as_it_is else _newlines(value)).encode()


def _head(name: str, value: FormValue, boundary: str) -> bytes:
    lines = f'--{boundary}\r\nContent-Disposition: form-data; name="{_escaped(_newlines(name))}"'
    if isinstance(value, File):
        lines += f'; filename="{_escaped(value.name)}"'
        lines += f"\r\nContent-Type: {value.type or 'application/octet-stream'}"
    return (lines + "\r\n\r\n").encode()


def _newlines(text: str) -> str:
    """SPEC: HTML section 4.10.21.8, "constructing the form data set": line breaks are CRLF."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")


def _escaped(text: str) -> str:
    """SPEC: HTML section 4.10.21.8, "multipart/form-data encoding algorithm"."""
    return text.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
