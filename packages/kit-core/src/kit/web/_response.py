# SPDX-License-Identifier: MIT
"""The Response of WHATWG Fetch, section 5.5."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import EllipsisType
from typing import TYPE_CHECKING, Any, overload

from ._body import TEXT_TYPE, Body, BodyInit, extract, is_stream, take
from ._header_lines import Lines, encode_value, has_name
from ._headers import Headers, HeadersInit, headers_over, lines_from

if TYPE_CHECKING:
    from ._streams import Stream
    from ._tracked import BodyProgress

NULL_BODY_STATUSES = frozenset((101, 204, 205, 304))
# PERF: dicts, since the garbage collector visits every slot of a set in each run.
STATUSES = dict.fromkeys((101, *range(200, 600)))
IMPLIED_TEXT_LINE = (b"content-type", TEXT_TYPE.encode())
"""The default Content-Type of a str. Compare by identity: this object means none was set."""

# SPEC: RFC 9110 sections 8.6, 15.2, 15.3.5 and 15.4.5: responses with these statuses end with the
# header lines.
WITHOUT_CONTENT = frozenset((101, 204, 304))
_REDIRECT_STATUSES = frozenset((301, 302, 303, 307, 308))

_new = object.__new__


def check_status(status: int, *, has_body: bool) -> None:
    """Checks that a response can have a status: 200 to 599 (WHATWG Fetch, section 5.5), or 101.

    Raises:
        ValueError: If it can't.
        TypeError: If a body is given for a status that allows none.
    """
    if not isinstance(status, int) or status not in STATUSES:
        raise ValueError(
            f"Invalid response status {status!r:.100}: expected an int from 200 to 599"
        )
    if has_body and status in NULL_BODY_STATUSES:
        raise TypeError(f"A response with status {status} has no body: give None")


def _is_reason_phrase(text: str) -> bool:
    """SPEC: RFC 9112 section 4, reason-phrase."""
    import re

    return re.fullmatch(r"[\t\x20-\x7e\x80-\xff]*", text) is not None


class _Json:
    """The two functions that WHATWG calls `json`: a reader on instances, a factory on the class."""

    @overload
    def __get__(self, response: None, owner: type) -> Callable[..., Response]: ...
    @overload
    def __get__(self, response: Response, owner: type) -> Callable[[], Awaitable[Any]]: ...
    def __get__(self, response: Response | None, owner: type) -> Callable[..., Any]:
        return _json_response if response is None else response._read_json


def _json_response(
    value: Any, *, status: int = 200, headers: HeadersInit | None = None
) -> Response:
    """Returns an application/json response (WHATWG Fetch, section 5.5, `Response.json`).

    Args:
        value: The value to encode, see `Context.json`.
        status: HTTP status code.
        headers: Headers to set; a Content-Type among them takes precedence.

    Raises:
        TypeError: If the value can't be encoded.
    """
    from kit.web._json import encode

    response = Response(encode(value), status=status, headers=headers)
    if not response.headers.has("content-type"):
        response.headers.set("content-type", "application/json")
    return response


class Response(Body):
    """A response: status, headers and body.

    Args:
        body: str, bytes, Blob, FormData, URLSearchParams, an (async) iterable of str or bytes, or
            None.
        status: HTTP status code, 200 to 599, or 101.
        status_text: Reason phrase (RFC 9112 section 4). Stored, but no ASGI server sends it.
        headers: Headers, a mapping, or pairs. If they contain no Content-Type, it is set according
            to the body.

    Raises:
        ValueError: If the status, its text or a header is invalid.
        TypeError: If the body can't be sent, or the status allows none.
    """

    __module__ = "kit.web"  # shown as it is imported

    __slots__ = ("_body", "_lines", "_replaced", "_status", "_status_text")

    _lines: Lines
    _replaced: Response | None
    """A response whose stream was replaced by this one, which closes it."""

    def __init__(
        self,
        body: BodyInit | None = None,
        *,
        status: int = 200,
        status_text: str = "",
        headers: HeadersInit | None = None,
    ) -> None:
        self._body, content_type = extract(body)
        check_status(status, has_body=self._body is not None)
        if status_text and not _is_reason_phrase(status_text):
            raise ValueError(
                f"Invalid status text {status_text!r}: expected printable latin-1 characters, "
                "blanks and tabs"
            )
        self._status = status
        self._status_text = status_text
        self._replaced = None
        lines = [] if headers is None else lines_from(headers)
        if content_type is not None and not has_name(lines, b"content-type"):
            lines.append(
                IMPLIED_TEXT_LINE
                if content_type is TEXT_TYPE
                else (b"content-type", encode_value("content-type", content_type))
            )
        self._lines = lines

    @property
    def status(self) -> int:
        """HTTP status code."""
        return self._status

    if not TYPE_CHECKING:  # to type checkers, it is read-only

        @status.setter
        def status(self, status: int) -> None:
            raise AttributeError("The status of a Response can't be changed: use replace()")

    @property
    def status_text(self) -> str:
        """The reason phrase given at construction."""
        return self._status_text

    @property
    def ok(self) -> bool:
        """Whether the status is 200 to 299."""
        return 200 <= self._status <= 299

    @property
    def headers(self) -> Headers:
        """The header lines; changing them changes this response."""
        lines = self._lines
        if isinstance(lines, tuple):
            lines = self._lines = [*lines]
        return headers_over(lines)

    def clone(self) -> Response:
        """Returns a second response with the same content, which is read independently of this one.

        A body in memory is shared. A streamed body is read at the pace of the faster reader; chunks
        that the slower one has not read yet are kept in memory, so read or drop both. The stream
        closes when both are closed. Headers are copied.

        SPEC: WHATWG Fetch section 5.5, "The clone() method steps".

        Raises:
            TypeError: If the body was read, or is being read.
        """
        body = self._tee()
        clone = self.__copy__()
        clone._body = body
        return clone

    def track_body(self) -> BodyProgress:
        """Returns an object that records how much of the body is read or sent from now on.

        Returns:
            The progress; the same object if the streamed body is already tracked.
        """
        from ._tracked import track

        self._body, progress = track(self._body)
        return progress

    def replace(
        self,
        *,
        body: BodyInit | EllipsisType | None = ...,
        status: int | None = None,
        headers: HeadersInit | None = None,
    ) -> Response:
        """Returns a copy of this response with some parts changed.

        Args:
            body: The new body. It doesn't add headers: Content-Type is kept, Content-Length is
                removed. A replaced stream is closed at the end of the request. Default: the body of
                this response, which then counts as read if it is streamed.
            status: The new HTTP status code. Default: the status of this response.
            headers: The new headers, which replace all existing ones. Default: no change.

        Raises:
            TypeError: If the body can't be sent, if the status allows none, or if the body of this
                response was read and no new one is given.
            ValueError: If the status or a header is invalid.
        """
        response = self.__copy__()
        if headers is not None:
            response._lines = lines_from(headers)
        if body is not ...:
            response._body, _ = extract(body)
            response._lines = [line for line in response._lines if line[0] != b"content-length"]
            if is_stream(self._body) and response._body is not self._body:
                response._replaced = self
        elif not isinstance(self._body, bytes):
            response._body = take(self)
        if status is not None:
            response._status = status
        check_status(response._status, has_body=response._body is not None)
        return response

    json = _Json()

    @staticmethod
    def redirect(url: str, status: int = 302) -> Response:
        """Returns a redirect.

        Args:
            url: The target; characters that aren't allowed in a URL are percent-encoded.
            status: 301, 302, 303, 307 or 308.

        Raises:
            ValueError: If the status is none of these, or the URL contains CR, LF or NUL.
        """
        if status not in _REDIRECT_STATUSES:
            raise ValueError(
                f"Invalid redirect status {status!r}: expected 301, 302, 303, 307 or 308"
            )
        from ._location import encode_location

        # A value that isn't a str is refused when the header is set.
        location = encode_location(url) if isinstance(url, str) else url
        return Response(None, status=status, headers={"location": location})

    def __copy__(self) -> Response:
        lines = self._lines
        copy = build_response(
            self._body, self._status, [*lines] if isinstance(lines, list) else lines
        )
        copy._status_text = self._status_text
        copy._replaced = self._replaced
        return copy

    def __repr__(self) -> str:
        return f"<Response {self._status}>"


def build_response(body: bytes | Stream | None, status: int, lines: Lines) -> Response:
    """Returns a response of parts that were already checked. PERF: skips `Response.__init__`."""
    response: Response = _new(Response)
    response._body = body
    response._status = status
    response._status_text = ""
    response._lines = lines
    response._replaced = None
    return response
