# SPDX-License-Identifier: MIT
"""Builds the responses of `c.text`, `c.json` and the like from headers and status set before."""

from __future__ import annotations

from collections.abc import Sequence
from types import AsyncGeneratorType, NoneType
from typing import Any

from kit.web import Response
from kit.web._body import extract, peek
from kit.web._header_lines import (
    HeaderArgument,
    HeaderLine,
    encode_value,
    set_headers,
    set_line,
)
from kit.web._response import STATUSES, STATUSES_WITH_BODY, BuiltResponse, check_status, lines_of

# PERF: types that extract() would return unchanged, after checking for all others.
_AS_THEY_ARE = frozenset((bytes, NoneType, AsyncGeneratorType))


def make_response(
    data: Any,
    content_type: HeaderLine | None,
    status: int | None,
    headers: HeaderArgument | None,
    prepared: Sequence[HeaderLine] | None,
) -> Response:
    """Builds a response.

    Args:
        data: The body; bytes, or any other `BodyInit`.
        content_type: The Content-Type line; None uses the one that `data` implies.
        status: HTTP status code; 200 if None.
        headers: Headers to set; a list sets several lines, an empty one removes the header.
        prepared: Lines that were set before; this sequence is not changed.

    Raises:
        TypeError: If `data` can't be sent, or the status allows no body.
        ValueError: If the status or a header is invalid.
    """
    body, implied_type = (data, None) if data.__class__ in _AS_THEY_ARE else extract(data)
    if status is None:
        status = 200
    elif status.__class__ is not int or status not in (
        STATUSES if body is None else STATUSES_WITH_BODY
    ):
        check_status(status, has_body=body is not None)
    lines = [*prepared] if prepared else []
    if content_type is not None:
        set_line(lines, content_type)
    if headers is not None:
        set_headers(lines, headers)
    has_length = False
    for key, _ in lines:
        if key == b"content-type":
            implied_type = None
        elif key == b"content-length":
            has_length = True
    if implied_type is not None:
        lines.append((b"content-type", encode_value("content-type", implied_type)))
    return BuiltResponse(body, status, lines if has_length else tuple(lines))


def own(response: Response) -> Response:
    """Returns a response whose headers may be changed for one request.

    Returns a copy, since the handler may keep the response and return it again. A streamed response
    can't be sent twice, so it is returned itself.
    """
    body = peek(response)
    return response.__copy__() if body is None or isinstance(body, bytes) else response


def take_over(response: Response, old: Response) -> Response:
    """Returns a response with the headers of the response that it replaces.

    Headers of the old response replace those of the new one, cookies all together. Content-Type and
    Content-Length of the old response describe its body, so they are left out.
    """
    response = own(response)
    headers = response.headers
    if peek(response) is not peek(old) and (
        headers.get("content-length") == old.headers.get("content-length")
    ):
        # Most likely copied with the other headers, and so the length of the old body.
        headers.delete("content-length")
    for name, text in old.headers.items():
        if name not in ("content-type", "content-length", "set-cookie"):
            headers.set(name, text)
    cookies = old.headers.get_set_cookie()
    if cookies:
        headers.delete("set-cookie")
        for cookie in cookies:
            headers.append("set-cookie", cookie)
    return response


# SPEC: RFC 9110 sections 8 and 14.4, RFC 9530, RFC 6266; and the headers that say how long the
# representation is fresh (RFC 9111 section 5).
_OF_THE_REPRESENTATION = frozenset(
    (
        b"accept-ranges",
        b"age",
        b"cache-control",
        b"content-digest",
        b"content-disposition",
        b"content-encoding",
        b"content-language",
        b"content-length",
        b"content-location",
        b"content-range",
        b"content-type",
        b"etag",
        b"expires",
        b"last-modified",
        b"repr-digest",
        b"set-cookie",
    )
)


def without_representation(response: Response) -> Response:
    """Returns an empty response, without cookies and headers that describe the given body.

    Headers that middleware set before can't be told from those of the handler, so all are removed.
    """
    lines = [line for line in lines_of(response) if line[0] not in _OF_THE_REPRESENTATION]
    return BuiltResponse(None, response.status, lines)


def encode_location(location: str) -> str:
    """Returns a URL for use in a header: unchanged if it is latin-1, else percent-encoded."""
    if location.isascii() or max(location) <= "\xff":
        return location
    from urllib.parse import quote

    # SPEC: the characters that ECMA-262's encodeURI leaves alone.
    return quote(location, safe=";/?:@&=+$,#-_.!~*'()", errors="replace")
