# SPDX-License-Identifier: MIT
"""Reads multipart/form-data (RFC 7578) from a stream of chunks.

Parsing is done by the `multipart` package. What depends there on where the chunks are cut is made
the same here, and what it lets pass is checked: boundaries that RFC 2046 forbids, parts without a
name, headers with NUL or line breaks, and headers that come twice.

What a part says of its encoding means nothing, as WHATWG Fetch section 5.3 has it: a part with a
file name is a file, byte for byte, and any other is UTF-8 text, also if it says `charset`,
`Content-Transfer-Encoding` or multipart/mixed, or is called `_charset_`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import cache
from typing import Any

from kit._support.limits import Limits, body_too_large
from kit.interface import HTTPException

from . import parameters
from .form_data import FormData
from .parts import Collector

_SAMPLE = b"-" * 200
_LINE_FEED = ord("\n")
_MAX_HEADERS = 8
_MAX_HEADER_BYTES = 4096
# Each writing is a way to another thread and back.
_WRITE_BYTES = 1024 * 1024


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


@cache
def _parser_class(package: Any) -> Any:
    """Gives the parser of the package, made to refuse a header name with a line feed in it.

    By itself it does so only where the body is cut within the line, and else drops it.

    Attributes:
        gives_all: Whether it gives content as it comes, and keeps nothing back that can't be the
            beginning of a delimiter.
    """
    read_line = package.PushMultipartParser._on_segment_headerline

    class Parser(package.PushMultipartParser):  # type: ignore[misc]  # the package is Any
        def _on_segment_headerline(self, line: bytes) -> None:
            if _LINE_FEED in line and b"\n" in line.partition(b":")[0]:
                raise package.ParserError("Invalid line break in segment header")
            read_line(self, line)

    head = b"--x\r\nContent-Disposition: form-data; name=x\r\n\r\n"
    Parser.gives_all = [*Parser("x").parse(head + _SAMPLE)][-1] == _SAMPLE
    return Parser


def boundary_of(content_type: str) -> str:
    """Gives the boundary parameter of a Content-Type.

    Raises:
        HTTPException: 400 if there is none that RFC 2046 section 5.1.1 allows, or more than one.
    """
    try:
        return parameters.boundary_of(content_type)
    except ValueError as error:
        raise _malformed(str(error)) from error


async def decode(
    chunks: AsyncGenerator[bytes, None], content_type: str, limits: Limits
) -> FormData:
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
    decoder = MultipartDecoder(content_type, limits)
    try:
        return await decoder.read(chunks)
    except BaseException:
        decoder.close()
        raise


def decode_in_memory(data: bytes, content_type: str, limits: Limits) -> FormData:
    """Parses a multipart body that is there, and no larger than what may be kept in memory.

    PERF: nothing of it goes to a temporary file, so there is nothing to wait for.

    Args:
        data: The body, of at most `limits.spool_size_bytes`.
        content_type: The Content-Type header, with the boundary.
        limits: How many fields and files, and how large.

    Raises:
        HTTPException: 400 if the body is malformed, 413 if it is beyond a limit.
    """
    decoder = MultipartDecoder(content_type, limits)
    decoder.take(data)
    return decoder.end()


class MultipartDecoder:
    """Parses a multipart body, chunk by chunk.

    A `read` that is cancelled loses nothing: another task may call it with the chunks that are
    left.

    Args:
        content_type: The Content-Type header, with the boundary.
        limits: How many fields and files, and how large.

    Raises:
        HTTPException: 400 if there is no valid boundary.
    """

    __slots__ = (
        "_boundary",
        "_collector",
        "_delimiter",
        "_errors",
        "_has_parsed_all",
        "_is_in_content",
        "_opening",
        "_parser",
        "_size_bytes",
    )

    def __init__(self, content_type: str, limits: Limits) -> None:
        package = _package()
        self._boundary = boundary_of(content_type)
        self._delimiter = b"\r\n--" + self._boundary.encode()
        self._errors = (package.ParserLimitReached, package.MultipartError)
        self._opening = _Opening(self._delimiter)
        self._collector = Collector(limits)
        self._parser = _parser_class(package)(
            self._boundary,
            max_header_count=_MAX_HEADERS,
            max_header_size=_MAX_HEADER_BYTES,
            header_charset="latin-1",  # keeps each byte; see parameters.decode_text
        )
        self._size_bytes = 0
        # Whether the parser is within a part whose length it does not check, and whether it keeps
        # nothing back that might become a boundary.
        self._is_in_content = False
        self._has_parsed_all = False

    async def read(self, chunks: AsyncGenerator[bytes, None]) -> FormData:
        """Reads the body to its end, and writes large files to the temporary file meanwhile.

        Args:
            chunks: The body, or what is left of it after a cancellation; closed at the end.

        Returns:
            The form.

        Raises:
            HTTPException: 400 if the body is malformed, 413 if it is beyond a limit.
            OSError: If the temporary file can't be written.
        """
        async with aclosing(chunks):
            async for chunk in chunks:
                self.take(chunk)
                if self._collector.unwritten_bytes >= _WRITE_BYTES:
                    await self._collector.write()
        form = self.end()
        if self._collector.unwritten_bytes:
            await self._collector.write()
        return form

    def take(self, chunk: bytes) -> None:
        """Takes a chunk of the body, and writes nothing.

        Raises:
            HTTPException: 400 if the body is malformed, 413 if it is beyond a limit.
        """
        self._size_bytes += len(chunk)
        most = self._collector.limits.max_body_size_bytes
        if most is not None and self._size_bytes > most:
            raise body_too_large(most)
        data = chunk if self._opening.is_over else self._opening.feed(chunk)
        if self._is_content(data):
            self._collector.data(data)
        elif data:  # an empty one would mean the end to the parser
            self._parse(data)
            self._has_parsed_all = (
                self._is_in_content and self._parser.gives_all and self._ends_apart(data)
            )

    def _is_content(self, data: bytes) -> bool:
        """Whether all of it is content of the part that the parser is in.

        PERF: as is most of a large file. The parser would search it as well, but from its
        beginning, which takes up to four times as long: two fifths of the time of an upload.
        """
        return (
            self._is_in_content
            and self._has_parsed_all
            and data.rfind(self._delimiter) < 0
            and self._ends_apart(data)
        )

    def _ends_apart(self, data: bytes) -> bool:
        """Whether no delimiter can begin near its end, and it is long enough to tell.

        The parser keeps back what may become one; and one that is complete, until it has seen the
        two bytes that follow.
        """
        most = len(self._delimiter) + 1
        end = data[-most:]
        start = end[end.rfind(b"\r") :]
        return len(data) >= most and not (
            self._delimiter.startswith(start) or start.startswith(self._delimiter)
        )

    def _parse(self, data: bytes) -> None:
        collector = self._collector
        limit_reached, malformed = self._errors
        try:
            for event in self._parser.parse(data):
                if event is None:
                    collector.end()
                    self._is_in_content = False
                elif event.__class__ is bytes or isinstance(event, bytearray):
                    collector.data(event)
                else:
                    headers = _read_headers(event)
                    name, filename = _disposition(headers)
                    collector.start(name, filename, headers.get("Content-Type", "text/plain"))
                    self._is_in_content = "Content-Length" not in headers
        except limit_reached as error:
            raise _malformed(
                f"{error.args[0]}: a part may have {_MAX_HEADERS} headers "
                f"of at most {_MAX_HEADER_BYTES} bytes"
            ) from error
        except malformed as error:
            raise _malformed(error.args[0]) from error

    def end(self) -> FormData:
        """Gives the form, with files whose content may still be to be written.

        Raises:
            HTTPException: 400 if the body is not complete.
        """
        try:
            self._parser.close()
        except self._errors as error:
            raise _malformed(
                f"Unexpected end: the final boundary --{self._boundary}-- is missing"
            ) from error
        return self._collector.form()

    def close(self) -> None:
        """Gives up what came so far, and closes its temporary file."""
        self._collector.close()


class _Opening:
    """Leaves out what stands before the first boundary.

    SPEC: RFC 2046 section 5.1.1, "preamble". A boundary stands at the beginning of a line.

    Args:
        delimiter: The boundary with what stands before it.

    Attributes:
        is_over: Whether the first boundary was found.
    """

    def __init__(self, delimiter: bytes) -> None:
        self._delimiter = delimiter
        self._end = b"\r\n"
        self.is_over = False

    def feed(self, chunk: bytes) -> bytes:
        """Takes what comes; gives what is left of it, beginning with the first boundary."""
        if self._end == b"\r\n" and chunk.startswith(self._delimiter[2:]):
            self.is_over = True  # PERF: as nearly every body begins, so no copy is made
            return chunk
        data = self._end + chunk
        place = data.find(self._delimiter)
        if place < 0:
            self._end = data[1 - len(self._delimiter) :]
            return b""
        self.is_over = True
        return data[place + 2 :]


def _read_headers(segment: Any) -> dict[str, str]:
    """Gives the headers of a part by name.

    Raises:
        HTTPException: 400 if they hold what they must not.
    """
    headers: dict[str, str] = {}
    for name, value in segment.headerlist:
        if name in headers and name in ("Content-Disposition", "Content-Type"):
            raise _malformed(f"a part has the header {name} twice")
        if not value.isprintable() and ("\0" in value or "\n" in value or "\r" in value):
            what = "a NUL character" if "\0" in value else "a line break"
            raise _malformed(f"the header {name:.100} of a part holds {what}")
        headers[name] = value
    return headers


def _disposition(headers: dict[str, str]) -> tuple[str, str | None]:
    """Gives the name of the field, and that of the file if the part is one.

    Raises:
        HTTPException: 400 if there is no name, or they can't be read.
    """
    try:
        name, filename = parameters.parse_disposition(headers["Content-Disposition"])
    except ValueError as error:
        raise _malformed(str(error)) from error
    if name is None:
        raise _malformed('a part has no name: expected Content-Disposition: form-data; name="..."')
    return name, filename


def _malformed(problem: str) -> HTTPException:
    return HTTPException(400, f"Malformed multipart body: {problem}")
