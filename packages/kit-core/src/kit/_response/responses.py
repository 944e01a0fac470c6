# SPDX-License-Identifier: MIT
"""Builds, combines, checks and discards the responses of a request."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from types import AsyncGeneratorType, NoneType
from typing import Any

from kit.authoring.maybe_await import is_awaitable
from kit.authoring.signatures import describe
from kit.interface import HandlerError
from kit.web import Response
from kit.web._body import USED, extract, is_stream, peek, put
from kit.web._header_lines import (
    CONTENT_LENGTH,
    HeaderArgument,
    HeaderLine,
    as_plain,
    encode_value,
    find_value,
    has_name,
    set_headers,
    set_line,
)
from kit.web._response import (
    IMPLIED_TEXT_LINE,
    build_response,
    check_status,
)
from kit.web._streams import close_stream

_logger = logging.getLogger("kit")

# PERF: extract() would return these types unchanged, after checking for all others.
_AS_THEY_ARE = frozenset((bytes, NoneType, AsyncGeneratorType))


def make_response(
    data: Any,
    content_type: HeaderLine | None,
    status: int | None,
    headers: HeaderArgument | None,
    prepared: Sequence[HeaderLine] | None,
) -> Response:
    """Builds a response from a body, lines set before, and headers.

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
        set_headers(lines, headers)
    if implied_type is not None and not has_name(lines, b"content-type"):
        lines.append((b"content-type", encode_value("content-type", implied_type)))
    return build_response(body, status, as_plain(lines))


def own(response: Response) -> Response:
    """Returns a response whose headers may be changed for one request.

    This is a copy, since the handler may return the same response again; a streamed response isn't
    copied, since it can't be sent twice.
    """
    body = peek(response)
    return response.__copy__() if body is None or isinstance(body, bytes) else response


def joined(response: Response, lines: Iterable[HeaderLine]) -> Response:
    """Returns a response with the lines that were set before it became the request's response.

    The response's own line wins if a name may occur only once; otherwise, both lines are sent. A
    Content-Length set before doesn't belong to this body.
    """
    own_lines = response._lines
    names = {name for name, _ in own_lines}
    if any(line is IMPLIED_TEXT_LINE for line in own_lines):
        names.discard(b"content-type")  # it wasn't set explicitly
    added = [line for line in lines if line[0] not in names and line[0] != CONTENT_LENGTH]
    added += _added(own_lines, [line for line in lines if line[0] in names & _SEVERAL])
    if not added:
        return response
    if any(name == b"content-type" for name, _ in added):
        own_lines = [line for line in own_lines if line is not IMPLIED_TEXT_LINE]
    response = own(response)
    response._lines = as_plain([*added, *own_lines])
    return response


# SPEC: RFC 9110 section 5.3: a response may have several lines of these names, so lines of both
# are kept. Allow, Cache-Control and others are lists, too, but the response's own list is complete.
_SEVERAL = frozenset(
    (
        b"accept-ch",
        b"access-control-expose-headers",
        b"cache-status",
        b"link",
        b"proxy-authenticate",
        b"proxy-status",
        b"server-timing",
        b"set-cookie",
        b"vary",
        b"via",
        b"warning",
        b"www-authenticate",
        b"x-robots-tag",
    )
)
_SETS = frozenset((b"accept-ch", b"access-control-expose-headers", b"vary"))


def _added(own_lines: Sequence[HeaderLine], lines: Iterable[HeaderLine]) -> Iterator[HeaderLine]:
    """Yields the lines with names in `_SEVERAL`, reduced to members that a response lacks."""
    cookies: set[tuple[bytes, ...]] | None = None
    for line in lines:
        name, value = line
        if name == b"set-cookie":
            if cookies is None:
                cookies = {_cookie(text) for each, text in own_lines if each == name}
            if _cookie(value) not in cookies:
                yield line
        elif name in _SETS:
            texts = [text for each, text in own_lines if each == name]
            members = {member.lower() for text in texts for member in _members(text)}
            new = [member for member in _members(value) if member.lower() not in members]
            if new and b"*" not in members:
                yield name, b", ".join(new)
        elif line not in own_lines:
            yield line


def _members(value: bytes) -> list[bytes]:
    return [stripped for member in value.split(b",") if (stripped := member.strip(b" \t"))]


def _cookie(value: bytes) -> tuple[bytes, ...]:
    """Returns a cookie's identity (RFC 6265 section 5.3): its name, domain and path."""
    pair, *attributes = value.split(b";")
    found = {b"domain": b"", b"path": b""}
    for attribute in attributes:
        name, _, text = attribute.partition(b"=")
        if (key := name.strip().lower()) in found:
            found[key] = text.strip()
    domain = found[b"domain"].lower().removeprefix(b".")
    return pair.partition(b"=")[0].strip(), domain, found[b"path"]


def take_over(response: Response, old: Response, lines: Iterable[HeaderLine]) -> Response:
    """Returns a response with lines of the response that it replaces; see `lines_to_keep`."""
    length = _length(response)
    if length is not None and peek(response) is not peek(old) and length == _length(old):
        # Most likely, this is the old body's length, copied with the other headers.
        response = own(response)
        response.headers.delete("content-length")
    return joined(response, lines)


def _length(response: Response) -> str | None:
    return find_value(response._lines, "content-length")


# SPEC: RFC 9110 sections 8 and 14.4, RFC 9530, RFC 6266; and headers about the freshness of the
# representation (RFC 9111 section 5).
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
        b"content-md5",
        b"content-range",
        b"content-type",
        b"digest",
        b"etag",
        b"expires",
        b"last-modified",
        b"repr-digest",
    )
)
# SPEC: RFC 9110 section 15.4.5: a 304 has these headers of the corresponding 200.
_OF_A_304 = frozenset(
    (b"cache-control", b"content-location", b"etag", b"expires", b"last-modified")
)
# SPEC: RFC 9111 section 5.2.2: directives that restrict who may store a response.
_RESTRICTING = frozenset((b"no-cache", b"no-store", b"private"))


def lines_to_keep(lines: Iterable[HeaderLine], status: int = 0) -> list[HeaderLine]:
    """Returns the header lines of a response that stay when another response replaces it.

    Headers that describe the representation are dropped, unless the new status is 304. Headers that
    belong to the exchange stay: cookies, Vary, CORS, a request id. Directives that keep a response
    out of caches stay, too.
    """
    kept = []
    for line in lines:
        name, value = line
        if name not in _OF_THE_REPRESENTATION or (status == 304 and name in _OF_A_304):
            kept.append(line)
        elif name == b"cache-control":
            members = [each for each in _members(value) if each.lower() in _RESTRICTING]
            if members:
                kept.append((name, b", ".join(members)))
    return kept


def without_representation(response: Response) -> Response:
    """Returns an empty response without cookies and without headers that describe the body."""
    lines = [line for line in lines_to_keep(response._lines) if line[0] != b"set-cookie"]
    return build_response(None, response.status, lines)


async def close_discarded(response: Response, kept: Any = None) -> None:
    """Closes the unread streams of a response, but not the body of `kept`; logs exceptions."""
    replaced = response._replaced
    if replaced is not None:
        await close_discarded(replaced, kept)
    body = peek(response)
    if not is_stream(body) or (isinstance(kept, Response) and peek(kept) is body):
        return
    put(response, USED)
    try:
        await close_stream(body)
    except Exception:
        _logger.exception("Exception while closing the body of a response that isn't sent")


async def settle(result: Any, handler: Any) -> Response | None:
    """Awaits the result of a handler.

    Raises:
        HandlerError: If it is neither a response nor None; the message names the handler.
    """
    while not (result is None or isinstance(result, Response)):
        # A handler may return an awaitable that it got elsewhere, e.g. `return c.not_found()`.
        if not is_awaitable(result):
            raise _refused(result, handler)
        result = await result
    return result


def _refused(result: Any, handler: Any) -> HandlerError:
    from kit._hints.table import hint

    what = type(result).__name__
    if isinstance(result, type):
        what = f"the class {result.__qualname__}"
    return HandlerError(
        describe(handler), f"returned {what}, expected a Response{hint('result', result)}"
    )
