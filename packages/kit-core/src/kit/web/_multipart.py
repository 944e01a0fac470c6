# SPDX-License-Identifier: MIT
"""multipart/form-data (RFC 7578), read from a stream of chunks and written to one.

Parsing is done by the `multipart` package. What that lets pass and WHATWG does not is checked
here: parts without a name, NUL characters, boundaries beyond 70 characters (RFC 2046).
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

from kit._limits import Limits
from kit.interface import HTTPException

from ._body import Stream
from ._form_data import File, FormData, FormValue

_MAX_BOUNDARY = 70


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
        HTTPException: 400 if there is none, or none that RFC 2046 section 5.1.1 allows.
    """
    _, options = _package().parse_options_header(content_type)
    boundary = options.get("boundary", "")
    if not boundary:
        raise HTTPException(400, "Malformed multipart body: the Content-Type has no boundary")
    if len(boundary) > _MAX_BOUNDARY:
        raise HTTPException(
            400, f"Malformed multipart body: the boundary is longer than {_MAX_BOUNDARY} characters"
        )
    return str(boundary)


async def decode(chunks: AsyncIterable[bytes], content_type: str, limits: Limits) -> FormData:
    """Parses a multipart body while it comes.

    Args:
        chunks: The body.
        content_type: The Content-Type header, with the boundary.
        limits: How many fields and files, and how large.

    Returns:
        The form. Files beyond `limits.spool_size_bytes` are in temporary files, which the caller
        closes with the form.

    Raises:
        HTTPException: 400 if the body is malformed, 413 if it is beyond a limit.
    """
    package = _package()
    form = FormData()
    collector = _Collector(form, limits)
    try:
        parser = package.PushMultipartParser(boundary_of(content_type))
        async for chunk in chunks:
            if not chunk:  # to the parser it would mean the end
                continue
            for event in parser.parse(chunk):
                if event is None:
                    await collector.end()
                elif isinstance(event, (bytes, bytearray)):
                    await collector.data(event)
                else:
                    collector.start(event, package.parse_content_disposition)
        parser.close()
    except package.MultipartError as error:
        collector.abort()
        raise HTTPException(400, f"Malformed multipart body: {error.args[0]}") from error
    except BaseException:
        collector.abort()
        raise
    return form


class _Collector:
    """Turns the events of the parser into entries of a form."""

    def __init__(self, form: FormData, limits: Limits) -> None:
        self._form = form
        self._limits = limits
        self._fields = 0
        self._files = 0
        self._segment: Any = None
        self._parts: list[bytes] = []
        self._size = 0
        self._spooled: Any = None

    def start(self, segment: Any, parse_content_disposition: Any) -> None:
        _, name, _ = parse_content_disposition(segment.header("Content-Disposition", ""))
        if name is None:
            raise HTTPException(400, "Malformed multipart body: a part has no name")
        if "\0" in name or "\0" in (segment.filename or ""):
            raise HTTPException(400, "Malformed multipart body: a name holds a NUL character")
        if segment.filename is None:
            self._fields += 1
            if self._fields > self._limits.max_fields:
                raise too_large("fields", self._limits.max_fields)
        else:
            self._files += 1
            if self._files > self._limits.max_files:
                raise too_large("files", self._limits.max_files)
        self._segment = segment
        self._parts = []
        self._size = 0

    async def data(self, chunk: bytes | bytearray) -> None:
        self._size += len(chunk)
        if self._segment.filename is None:
            if self._size > self._limits.max_field_size_bytes:
                raise field_too_large(self._segment.name, self._limits.max_field_size_bytes)
        elif self._spooled is not None:
            await self._spooled.write(chunk)
            return
        elif self._size > self._limits.spool_size_bytes:
            from anyio import TemporaryFile

            # Lives longer than this function: the form closes it.
            self._spooled = await TemporaryFile().__aenter__()
            await self._spooled.write(b"".join([*self._parts, chunk]))
            self._parts = []
            return
        self._parts.append(bytes(chunk))

    async def end(self) -> None:
        segment = self._segment
        value: FormValue
        if segment.filename is None:
            value = b"".join(self._parts).decode("utf-8", "replace")
        elif self._spooled is not None:
            await self._spooled.flush()
            value = File._in_temporary_file(
                self._spooled.wrapped, self._size, segment.filename, _media_type(segment)
            )
            self._spooled = None
        else:
            value = File(self._parts, segment.filename, type=_media_type(segment))
        self._form.append(segment.name, value)

    def abort(self) -> None:
        """Closes what was written so far."""
        if self._spooled is not None:
            self._spooled.wrapped.close()
        self._form._close()


def _media_type(segment: Any) -> str:
    return str(segment.header("Content-Type", "text/plain")).strip()


def too_large(what: str, limit: int) -> HTTPException:
    """The answer to a form with too many entries."""
    return HTTPException(413, f"The form has more than {limit} {what}")


def field_too_large(name: str, limit: int) -> HTTPException:
    """The answer to a form field that is too long."""
    return HTTPException(413, f"The form field {name!r:.100} is longer than {limit} bytes")


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
