# SPDX-License-Identifier: MIT
"""Makes the responses of `c.text`, `c.json` and the like, out of what was set before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from .web import Response
from .web._body import extract
from .web._headers import HeaderLine, encode_name, encode_value, set_line
from .web._response import check_status

HeaderArgument: TypeAlias = Mapping[str, str | Iterable[str]]

OWN_NAMES = frozenset((b"content-type", b"content-length"))
"""The headers that a response may have made by itself."""

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
    body, implied_type = (data, None) if data.__class__ is bytes else extract(data)
    if status is None:
        status = 200
    else:
        check_status(status, has_body=body is not None)
    lines: list[HeaderLine] | tuple[HeaderLine, ...]
    names = dict(prepared) if prepared else {}
    if headers is None and content_type is not None and OWN_NAMES.isdisjoint(names):
        # PERF: nearly every response that something was set for: nothing is replaced.
        lines = (*prepared, content_type) if prepared else (content_type,)
        return response_of(body, status, lines)
    lines = list(prepared or ())
    if content_type is not None:
        set_line(lines, content_type)
    if headers is not None:
        _set_all(lines, headers)
    names = dict(lines)
    if implied_type is not None and b"content-type" not in names:
        lines.append((b"content-type", encode_value("content-type", implied_type)))
    return response_of(body, status, lines if b"content-length" in names else tuple(lines))


def _set_all(lines: list[HeaderLine], headers: HeaderArgument) -> None:
    for name, value in headers.items():
        key = encode_name(name)
        if isinstance(value, str):
            set_line(lines, (key, encode_value(name, value)))
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
