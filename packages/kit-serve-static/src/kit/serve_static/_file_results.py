# SPDX-License-Identifier: MIT
"""Responds with a file: preconditions, ranges, headers (RFC 9110, sections 13 and 14)."""

from __future__ import annotations

from collections.abc import Sequence
from time import time
from typing import Literal, NamedTuple, TypeAlias

from kit.http.conditional import GetField, evaluate, range_applies
from kit.http.dates import format_http_date
from kit.http.methods import READING_METHODS

from ._bodies import FileBody, Piece, Span
from ._files import OpenFile
from ._ranges import content_range, measure, multipart, parse_ranges

SMALL_BYTES = 1024 * 1024
"""Files up to this size are read in one go, in the thread that opened them.

PERF: this takes less than half the processor time of reading in chunks. It is also the memory limit
for one response.
"""

IS_FOLDER: Literal["is folder"] = "is folder"
"""Returned instead of a response: the path needs a trailing slash for relative links."""

_NANOSECONDS = 1_000_000_000
# The start of 2001. Reproducible builds give all files the same date: Nix 1970, Cloud Native
# Buildpacks 1980, Bazel (rules_pkg) 2000.
_FIRST_NS = 978_307_200 * _NANOSECONDS


class FileRequest(NamedTuple):
    """The relevant parts of a request for a file.

    Attributes:
        method: GET or HEAD.
        get: Returns the value of a request header, or None.
    """

    method: str
    get: GetField


class FileResult(NamedTuple):
    """The response with a file.

    Attributes:
        status: HTTP status code.
        headers: The headers.
        body: The body; None if there is none.
        path: The path of the file.
        name: Its path below the root, with slashes, or its name.
    """

    status: int
    headers: dict[str, str]
    body: bytes | FileBody | None
    path: str
    name: str = ""


class FileHeaders(NamedTuple):
    """Details of the response that don't come from the open file.

    Attributes:
        content_type: Its content type.
        encoding: Its content coding, if it is precompressed.
        disposition: Content-Disposition, if any.
        hand_over: Whether the server may open the file by its path.
    """

    content_type: str
    encoding: str | None = None
    disposition: str | None = None
    hand_over: bool = False


Parts: TypeAlias = tuple[int, dict[str, str], bytes | FileBody | None]


def answer(file_request: FileRequest, file: OpenFile, file_headers: FileHeaders) -> FileResult:
    """Responds to a request with an open file. May block.

    Args:
        file_request: The request.
        file: The file. It is closed here, or with the body.
        file_headers: Details of the response.

    Returns:
        A 200, 206, 304, 412 or 416.

    Raises:
        OSError: If the file can't be read.
    """
    etag, last_modified = _validators(file, file_headers.encoding)
    status = None
    # SPEC: section 13.2.1: for other methods, the file is their result, not their target.
    if file_request.method in READING_METHODS:
        status = evaluate(
            file_request.method, file_request.get, etag=etag, last_modified=last_modified
        )
    parts: Parts
    if status == 412:
        parts = 412, {}, None  # the validators would belong to the error
    elif status == 304:
        # SPEC: section 15.4.5: no content headers, and no Last-Modified next to an ETag.
        parts = 304, {"ETag": etag}, None
    else:
        parts = _with_content(
            file_request, file, _headers(etag, last_modified, file_headers), file_headers
        )
    if not isinstance(parts[2], FileBody):
        file.close()
    return FileResult(*parts, file.path)


def _validators(file: OpenFile, encoding: str | None) -> tuple[str, int | None]:
    """Returns the ETag of a file, and when it was modified, in seconds since 1970.

    The ETag contains the time of the last change on this machine only if the modification time is
    unusable. That time would also distinguish a file from a replacement of the same size and date,
    but copies of one file on other machines, which must have the same ETag, have other times.
    """
    stamp_ns, modified_s = file.modified_ns, None
    if stamp_ns >= _FIRST_NS:
        modified_s = stamp_ns // _NANOSECONDS
        now_s = int(time())
        if modified_s > now_s:
            # SPEC: section 8.8.2.1: not later than now. Unlike the current time, the time of the
            # last change is stable, so that the client's date still matches in the next request.
            modified_s = min(file.changed_ns // _NANOSECONDS, now_s)
    else:
        # With this date, a file of the same size would look unchanged in the next build.
        stamp_ns = file.changed_ns
    suffix = f"-{encoding}" if encoding else ""
    return f'"{stamp_ns:x}-{file.size_bytes:x}{suffix}"', modified_s


def _headers(etag: str, last_modified: int | None, file_headers: FileHeaders) -> dict[str, str]:
    headers = {"ETag": etag}
    if last_modified is not None:
        headers["Last-Modified"] = format_http_date(last_modified)
    headers["Content-Type"] = file_headers.content_type
    if file_headers.encoding:
        headers["Content-Encoding"] = file_headers.encoding
    if file_headers.disposition is not None:
        headers["Content-Disposition"] = file_headers.disposition
    headers["Accept-Ranges"] = "bytes"
    return headers


def _with_content(
    file_request: FileRequest, file: OpenFile, headers: dict[str, str], file_headers: FileHeaders
) -> Parts:
    size_bytes = file.size_bytes
    if file_request.method == "HEAD":
        return 200, headers | {"Content-Length": str(size_bytes)}, None
    # SPEC: section 14.2: only GET has ranges.
    wanted = file_request.get("Range") if file_request.method == "GET" else None
    spans = None if wanted is None else parse_ranges(wanted, size_bytes)
    # SPEC: section 13.1.5: the date of a file isn't a strong validator, since the file may change
    # twice in one second.
    if spans is None or not range_applies(file_request.get, etag=headers["ETag"]):
        return _whole(file, headers, file_headers)
    if spans == "unsatisfiable":
        return _unsatisfiable(size_bytes)
    return _partial(file, headers, spans, file_headers.content_type)


def _whole(file: OpenFile, headers: dict[str, str], file_headers: FileHeaders) -> Parts:
    size_bytes = file.size_bytes
    if size_bytes <= SMALL_BYTES:
        return 200, headers, file.read(0, size_bytes)
    headers["Content-Length"] = str(size_bytes)
    path = file.path if file_headers.hand_over else None
    return 200, headers, FileBody(file, [Span(0, size_bytes)], send_path=path)


def _unsatisfiable(size_bytes: int) -> Parts:
    # SPEC: section 15.5.17.
    return 416, {"Accept-Ranges": "bytes", "Content-Range": f"bytes */{size_bytes}"}, None


def _partial(
    file: OpenFile, headers: dict[str, str], spans: Sequence[Span], content_type: str
) -> Parts:
    pieces: list[Piece]
    if len(spans) == 1:
        pieces = [spans[0]]
        headers["Content-Range"] = content_range(spans[0], file.size_bytes)
    else:
        headers["Content-Type"], pieces = multipart(spans, file.size_bytes, content_type)
    size_bytes = measure(pieces)
    if size_bytes <= SMALL_BYTES:
        content = b"".join(each if isinstance(each, bytes) else file.read(*each) for each in pieces)
        return 206, headers, content
    headers["Content-Length"] = str(size_bytes)
    return 206, headers, FileBody(file, pieces)
