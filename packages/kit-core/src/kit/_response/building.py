# SPDX-License-Identifier: MIT
"""Makes the responses of `c.text`, `c.json` and the like, out of what was set before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import AsyncGeneratorType
from typing import Any, TypeAlias

from kit.web import Response
from kit.web._body import extract
from kit.web._headers import HeaderLine, encode_name, encode_value, known_names, set_line
from kit.web._response import check_status

HeaderArgument: TypeAlias = Mapping[str, str | Iterable[str]]

OWN_NAMES = frozenset((b"content-type", b"content-length"))
"""The headers that a response may have made by itself."""

# PERF: what extract() gives back as it is, after a look for everything else.
_AS_THEY_ARE = frozenset((bytes, AsyncGeneratorType))
_new = object.__new__


def make_response(
    data: Any,
    content_type: HeaderLine | None,
    status: int | None,
    headers: HeaderArgument | None,
    prepared: Sequence[HeaderLine] | None,
) -> Response:
    """Makes a response.

    Args:
        data: The body; bytes, or anything that is a `BodyInit`.
        content_type: The Content-Type line, if it is not that of `data`.
        status: HTTP status code; 200 if None.
        headers: Headers to set; a list gives several lines, an empty one removes the header.
        prepared: Lines that were set before, which are left as they are.

    Raises:
        TypeError: If `data` can't be sent, or the status allows no body.
        ValueError: If the status or a header is invalid.
    """
    body, implied_type = (data, None) if data.__class__ in _AS_THEY_ARE else extract(data)
    if status is None:
        status = 200
    else:
        check_status(status, has_body=body is not None)
    lines = [*prepared] if prepared else []
    if content_type is not None:
        set_line(lines, content_type)
    if headers is not None:
        _set_headers(lines, headers)
    has_length = False
    for key, _ in lines:
        if key == b"content-type":
            implied_type = None
        elif key == b"content-length":
            has_length = True
    if implied_type is not None:
        lines.append((b"content-type", encode_value("content-type", implied_type)))
    # PERF: written out, here and below: two calls less are 2 % of a short stream.
    response: Response = _new(Response)
    response._body = body
    response._status = status
    response._lines = lines if has_length else tuple(lines)
    return response


def _set_headers(lines: list[HeaderLine], headers: HeaderArgument) -> None:
    for name, value in headers.items():
        key = known_names.get(name) or encode_name(name)
        if isinstance(value, str):
            line = (key, encode_value(name, value))
            if lines:
                set_line(lines, line)
            else:
                lines.append(line)
        else:
            lines[:] = [line for line in lines if line[0] != key]
            lines += [(key, encode_value(name, each)) for each in value]


def response_of(
    body: Any, status: int, lines: list[HeaderLine] | tuple[HeaderLine, ...]
) -> Response:
    """Puts together a response out of parts that were checked.

    Args:
        body: As `Response` keeps it.
        status: HTTP status code.
        lines: Header lines; a tuple may be shared, and holds no content-length.
    """
    response: Response = _new(Response)
    response._body = body
    response._status = status
    response._lines = lines
    return response


def own(response: Response) -> Response:
    """Gives a response whose headers may be changed for one request.

    It is a copy, for the handler may keep the response and give it again; a streamed one, which
    can't be given again, is itself.
    """
    body = response._body
    return response._copy() if body is None or isinstance(body, bytes) else response


def take_over(response: Response, old: Response) -> Response:
    """Gives a response with the headers of the one whose place it takes.

    Those of the old one replace its own, cookies all together; what they say of the old one's body,
    which is Content-Type and Content-Length, is left out.
    """
    response = own(response)
    headers = response.headers
    if response._body is not old._body and (
        headers.get("content-length") == old.headers.get("content-length")
    ):
        # Most likely copied along with the other headers, and that of the other body.
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
