# SPDX-License-Identifier: MIT
"""Parses multipart/form-data (RFC 7578) from a stream of chunks.

The `multipart` package does the parsing. This module makes the result independent of how the body
is cut into chunks, accepts blanks after a boundary, and refuses input that the package accepts:
boundaries that RFC 2046 forbids, parts without a name, headers with NUL or line breaks, and
repeated headers.

A part can't choose its encoding (WHATWG Fetch section 5.3): a part with a file name is a file, byte
for byte, and any other is UTF-8 text, even if it has a `charset`, `Content-Transfer-Encoding` or
multipart/mixed, or is named `_charset_`.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from enum import Enum, auto
from functools import cache
from sys import modules
from typing import Any

from msgspec.structs import replace

from kit.web._limits import Limits, body_too_large

from .form_data import FormData
from .parameters import malformed, parse_boundary, parse_disposition
from .parts import Collector

_SAMPLE = b"-" * 200
_LINE_FEED = ord("\n")
_MAX_HEADERS = 8
_MAX_HEADER_BYTES = 4096
_blanks = re.compile(rb"[ \t]*+").match
# Each write is a round trip to another thread.
_WRITE_BYTES = 1024 * 1024


class _Segment:
    """The headers of a part, and the fields that the parser writes to.

    The package's own class parses headers by different rules from `_disposition`.
    """

    __slots__ = ("bytes_received", "complete", "headerlist")

    def __init__(self, headerlist: list[tuple[str, str]]) -> None:
        self.headerlist = headerlist
        self.bytes_received = 0
        self.complete = False


def _parser_class() -> Any:
    """Returns the parser class; imports the package at the first form."""
    # The import waits if another thread is importing the package. On import, python-multipart's
    # module replaces itself with this package.
    import multipart  # noqa: F401

    return _make_parser_class(modules["multipart"])


@cache
def _make_parser_class(package: Any) -> Any:
    """Returns the package's parser class, changed to refuse a line feed in a header name.

    The original parser refuses one only if the body is cut within the line.

    Raises:
        ImportError: If the package is python-multipart before 0.0.13, which has the same import
            name.
    """
    if not hasattr(package, "PushMultipartParser"):
        raise ImportError(
            "The module 'multipart' is not the one of the distribution 'multipart': "
            "python-multipart before 0.0.13 hides it. "
            "Fix it with: pip install -U 'python-multipart>=0.0.13' && "
            "pip install --force-reinstall multipart"
        )
    read_line = package.PushMultipartParser._on_segment_headerline

    class Parser(package.PushMultipartParser):  # type: ignore[misc]  # the package is Any
        def _on_segment_headerline(self, line: bytes) -> None:
            if _LINE_FEED in line and b"\n" in line.partition(b":")[0]:
                raise package.ParserError("Invalid line break in segment header")
            read_line(self, line)

        def _create_segment(self, headerlist: list[tuple[str, str]]) -> _Segment:
            return _Segment(headerlist)

    # Whether the parser holds back only content that may start a delimiter.
    head = b"--x\r\nContent-Disposition: form-data; name=x\r\n\r\n"
    Parser.gives_all = [*Parser("x").parse(head + _SAMPLE)][-1] == _SAMPLE
    Parser.errors = (package.ParserLimitReached, package.MultipartError)
    return Parser


def decode_in_memory(data: bytes, content_type: str, limits: Limits) -> FormData:
    """Parses a whole multipart body; its files stay in memory."""
    if len(data) > limits.spool_size_bytes:
        limits = replace(limits, spool_size_bytes=len(data))
    decoder = MultipartDecoder(content_type, limits)
    decoder.take(data)
    return decoder.end()


class MultipartDecoder:
    """Parses a multipart body by chunks. If `read` is cancelled, another task may continue."""

    __slots__ = (
        "_boundary",
        "_collector",
        "_delimiter",
        "_errors",
        "_has_parsed_all",
        "_is_in_content",
        "_is_open",
        "_padding",
        "_parser",
        "_preamble",
        "_size_bytes",
    )

    def __init__(self, content_type: str, limits: Limits) -> None:
        parser = _parser_class()
        self._boundary = parse_boundary(content_type)
        self._delimiter = b"\r\n--" + self._boundary.encode()
        self._errors = parser.errors
        self._preamble = b"\r\n"  # its end, which may be the start of the first delimiter
        self._is_open = False
        self._padding = _Padding(self._delimiter)
        self._collector = Collector(limits)
        self._parser = parser(
            self._boundary,
            max_header_count=_MAX_HEADERS,
            max_header_size=_MAX_HEADER_BYTES,
            header_charset="latin-1",  # preserves each byte; see _text in .parameters
        )
        self._size_bytes = 0
        # Whether the parser is within a part whose length it does not check, and holds back nothing
        # that could become a boundary.
        self._is_in_content = False
        self._has_parsed_all = False

    async def read(self, chunks: AsyncGenerator[bytes, None]) -> FormData:
        """Reads the body to its end, and writes large files to the temporary file meanwhile."""
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
        """Parses a chunk of the body, and writes nothing to the temporary file."""
        self._size_bytes += len(chunk)
        most = self._collector.limits.max_body_size_bytes
        if most is not None and self._size_bytes > most:
            raise body_too_large(most)
        data = chunk if self._is_open else self._open(chunk)
        if self._is_in_content and self._is_content(data):
            self._collector.data(data)
            return
        data = self._padding.remove(data)
        if data:  # an empty chunk would tell the parser that the body has ended
            self._parse(data)
            self._has_parsed_all = (
                self._is_in_content and self._parser.gives_all and self._ends_apart(data)
            )

    def _open(self, chunk: bytes) -> bytes:
        """Returns the rest of a chunk from the first boundary on, which starts a line."""
        if self._preamble == b"\r\n" and chunk.startswith(self._delimiter[2:]):
            self._is_open = True  # PERF: nearly every body starts like this
            return chunk
        data = self._preamble + chunk
        place = data.find(self._delimiter)
        if place < 0:
            self._preamble = data[1 - len(self._delimiter) :]
            return b""
        self._is_open = True
        return data[place + 2 :]

    def _is_content(self, data: bytes) -> bool:
        """Returns whether a whole chunk is content of the current part.

        PERF: the parser searches from the front, which takes three times as long for 1 MiB.
        """
        return self._has_parsed_all and data.rfind(self._delimiter) < 0 and self._ends_apart(data)

    def _ends_apart(self, data: bytes) -> bool:
        """Returns whether a chunk certainly doesn't end with the start of a delimiter.

        The parser holds such a start back, and a complete delimiter until it sees two more bytes.
        """
        most = len(self._delimiter) + 1
        end = data[-most:]
        start = end[end.rfind(b"\r") :]
        return len(data) >= most and not (
            self._delimiter.startswith(start) or start.startswith(self._delimiter)
        )

    def _parse(self, data: bytes) -> None:
        collector = self._collector
        limit_reached, fault = self._errors
        try:
            for event in self._parser.parse(data):
                if event is None:
                    collector.end()
                    self._is_in_content = False
                elif event.__class__ is bytes or isinstance(event, bytearray):
                    collector.data(event)
                else:
                    headers = _read_headers(event.headerlist)
                    name, filename = _disposition(headers)
                    collector.start(name, filename, headers.get("Content-Type", "text/plain"))
                    self._is_in_content = "Content-Length" not in headers
        except limit_reached as error:
            raise malformed(
                f"{error.args[0]}: a part may have {_MAX_HEADERS} headers "
                f"of at most {_MAX_HEADER_BYTES} bytes"
            ) from error
        except fault as error:
            raise malformed(error.args[0]) from error

    def end(self) -> FormData:
        """Returns the form; the content of its files may still have to be written."""
        try:
            self._parser.close()
        except self._errors as error:
            raise malformed(
                f"Unexpected end: the final boundary --{self._boundary}-- is missing"
            ) from error
        return self._collector.form()

    def close(self) -> None:
        """Discards the parsed parts, and closes the temporary file."""
        self._collector.close()


class _Padding:
    """Removes blanks after a delimiter (RFC 2046 section 5.1.1, "transport-padding")."""

    __slots__ = ("_delimiter", "_end", "_place")

    def __init__(self, delimiter: bytes) -> None:
        self._delimiter = delimiter
        self._place = _Place.CONTENT
        # Bytes that the next chunk may complete. On the line of a delimiter, the parser hasn't got
        # them yet; elsewhere it has. At first, the line break that the first delimiter may lack.
        self._end = b"\r\n"

    def remove(self, data: bytes) -> bytes:
        """Returns a chunk without padding; the parser refuses blanks that don't end a line."""
        known = 0 if self._place is _Place.LINE else len(self._end)
        chunk, data = data, self._end + data
        pieces: list[bytes] = []
        start = 0
        while self._place is not _Place.REST:
            if self._place is _Place.LINE:
                end = _blanks(data, start).end()  # type: ignore[union-attr]  # also matches nothing
                rest = data[end : end + 2]
                is_cut = rest in (b"", b"\r", b"-")
                if is_cut or (rest == b"\r\n" and end > start):
                    pieces.append(data[known:start])
                    known = end
                if is_cut:
                    # One blank stands for all of them.
                    self._end = data[start : min(end, start + 1)] + rest
                    return b"".join(pieces)
                start = end
                self._place = _Place.HEADERS if rest == b"\r\n" else _Place.REST
                continue
            # The empty line after the headers isn't a line break before a delimiter.
            is_content = self._place is _Place.CONTENT
            ending = self._delimiter if is_content else b"\r\n\r\n"
            found = data.find(ending, start)
            if found < 0:
                self._end = data[max(start, len(data) - len(ending) + 1) :]
                break
            start = found + len(ending)
            self._place = _Place.LINE if is_content else _Place.CONTENT
        else:
            self._end = b""
        if not pieces and known == len(data) - len(chunk):  # PERF: nearly always; copies nothing
            return chunk
        pieces.append(data[known:])
        return b"".join(pieces)


class _Place(Enum):
    """A place in a multipart body."""

    LINE = auto()
    """The line of a delimiter, after it."""
    HEADERS = auto()
    CONTENT = auto()
    REST = auto()
    """After the last delimiter, or a delimiter that the parser refuses."""


def _read_headers(lines: list[tuple[str, str]]) -> dict[str, str]:
    """Returns the headers of a part by name; raises a 400 if a header is repeated or invalid."""
    headers: dict[str, str] = {}
    for name, value in lines:
        if name in headers and name in ("Content-Disposition", "Content-Type"):
            raise malformed(f"a part has the header {name} twice")
        if not value.isprintable() and ("\0" in value or "\n" in value or "\r" in value):
            what = "a NUL character" if "\0" in value else "a line break"
            raise malformed(f"the header {name:.100} of a part holds {what}")
        headers[name] = value
    return headers


def _disposition(headers: dict[str, str]) -> tuple[str, str | None]:
    """Returns the field's name, and the file name if the part is a file; or raises a 400."""
    value = headers.get("Content-Disposition")
    if value is None:
        raise malformed("Missing Content-Disposition segment header")
    name, filename = parse_disposition(value)
    if name is None:
        raise malformed('a part has no name: expected Content-Disposition: form-data; name="..."')
    return name, filename
