# SPDX-License-Identifier: MIT
"""Determines the header lines and the body that are sent for a response."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from kit.context import Context
from kit.web import Response
from kit.web._body import USED, is_stream, peek, put
from kit.web._header_lines import (
    CONTENT_LENGTH,
    FRAMING_NAMES,
    HOP_BY_HOP,
    HeaderLine,
    length_line,
)
from kit.web._response import WITHOUT_CONTENT

from .handlers import final_response

_logger = logging.getLogger("kit")


def frame(c: Context[Any, Any]) -> tuple[int, list[HeaderLine], Any]:
    """Returns the status, header lines and content to send for a request.

    SPEC: RFC 9110 section 8.6 for Content-Length; section 9.3.2 for HEAD.

    Args:
        c: The context of the request, after its handlers have run. A HEAD request gets the header
            lines of a GET request but no content; a stream is closed unread at the end.

    Returns:
        Status, lines and content. The lines are a new list. The content is bytes, or a stream that
        counts as read.
    """
    response = c._res
    if response is not None and not c._failed and c._method != "HEAD":
        body, lines = response._body, response._lines
        if body.__class__ is bytes and lines.__class__ is tuple and response._replaced is None:
            # PERF: nearly every response consists of bytes, and has no lines to check.
            return response._status, [*lines, length_line(len(body))], body
    response = final_response(c)
    body, lines = response._body, _select_lines(response)
    status = response._status
    is_head = c._method == "HEAD"
    if is_stream(body):
        if is_head:
            without_body(response, c)
            return status, lines, b""
        put(response, USED)
        return status, lines, body
    content: Any = body or b""
    without_content = status in WITHOUT_CONTENT
    if status == 304 or (is_head and body is None and not without_content):
        return status, lines, b""
    lines = [line for line in lines if line[0] != CONTENT_LENGTH]
    if without_content:
        return status, lines, b""
    return status, [*lines, length_line(len(content))], b"" if is_head else content


def without_body(response: Response, c: Context[Any, Any]) -> Response:
    """Returns the response to a HEAD request, without content.

    Args:
        response: The response; a stream is closed unread at the end of the request.
        c: The context of the request.
    """
    empty = response.__copy__()
    put(empty, None)
    if is_stream(peek(response)):
        c._res = empty
        c._close_later(response)
    return empty


def _select_lines(response: Response) -> list[HeaderLine]:
    """Returns the header lines of a response without fields that belong to the server.

    If an app passes on the headers of an upstream, they include fields of another connection.

    SPEC: RFC 9110 section 7.6.1; RFC 9113 section 8.2.2 forbids them in HTTP/2.
    """
    lines = response._lines
    names = {name for name, _ in lines}
    dropped = names & HOP_BY_HOP
    if b"connection" in dropped:
        for name, value in lines:
            if name == b"connection":
                named = {each.strip().lower() for each in value.split(b",")}
                dropped |= named & names - _NEVER_NAMED
    if response._status == 426:
        # SPEC: RFC 9110 sections 7.8 and 15.5.22: a 426 has Upgrade, and Connection names it.
        dropped -= {b"upgrade"}
        if {value.lower() for name, value in lines if name == b"connection"} == {b"upgrade"}:
            dropped -= {b"connection"}
    if is_stream(response._body) and b"content-length" in names and not _has_length(lines):
        dropped |= {b"content-length"}
    if not dropped:
        return [*lines]
    for name in dropped:
        _warn(name)
    return [line for line in lines if line[0] not in dropped]


# SPEC: RFC 9110 section 7.6.1: fields for the recipient; Connection shouldn't name them.
_NEVER_NAMED = frozenset((b"cache-control", b"content-length", b"content-type", b"set-cookie"))


def _has_length(lines: Sequence[HeaderLine]) -> bool:
    """Returns whether the lines have a single valid Content-Length (RFC 9110 section 8.6)."""
    lengths = {value for name, value in lines if name == b"content-length"}
    return len(lengths) == 1 and lengths.pop().isdigit()


_warned: set[bytes] = set()


def _warn(name: bytes) -> None:
    """Warns once for each header that isn't sent; once for all headers named by Connection."""
    known = name if name in FRAMING_NAMES else b""
    if known in _warned:
        return
    _warned.add(known)
    if name == b"content-length":
        reason = "it isn't a single number"
    else:
        reason = "it belongs to a connection, which the server manages"
    _logger.warning(
        "The response header %r isn't sent: %s. If you pass on the response of another server, "
        "leave it out",
        name.decode("latin-1"),
        reason,
    )
