# SPDX-License-Identifier: MIT
"""The request of WHATWG Fetch, section 5.4, made in process or from an ASGI scope."""

from __future__ import annotations

import re
from typing import Any, TypedDict

from kit.web._body import Body, BodyInit, Stream, extract
from kit.web._headers import Headers, HeadersInit, encode_value
from kit.web._received import ReceivedBody
from kit.web._url import URL

_METHOD = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_NORMALIZED_METHODS = frozenset(("DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"))
_FORBIDDEN_METHODS = frozenset(("CONNECT", "TRACE", "TRACK"))
# SPEC: RFC 3986 section 3.2.2; whatever else a Host header holds can't be part of a URL.
_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\x00-\x20\"#%/:<>?@\[\\\]^`{|}\x7f]+)(?::[0-9]*)?")


_new = object.__new__


class RequestInit(TypedDict, total=False):
    """What `Kit.request` takes besides the URL (WHATWG Fetch, section 5.4)."""

    method: str
    headers: HeadersInit
    body: BodyInit | None


class Request(Body):
    """A request.

    Args:
        input: Absolute URL, any object whose `str` is one, or another request.
        method: HTTP method; the standard ones are made upper case. Default GET.
        headers: Headers, a mapping, or pairs.
        body: As for `Response`.

    Raises:
        ValueError: If the URL, the method or a header is invalid.
        TypeError: If a GET or HEAD request is given a body, or the body can't be sent.
    """

    __slots__ = ("_headers", "_method", "_received", "_url", "_whole_url", "scope")

    _whole_url: str
    """The URL before a mount cut its path; not there if none did."""

    scope: dict[str, Any] | None
    """The ASGI scope, or None for a request made in process."""

    def __init__(
        self,
        input: Any,
        *,
        method: str | None = None,
        headers: HeadersInit | None = None,
        body: BodyInit | None = None,
    ) -> None:
        self.scope = None
        self._received: ReceivedBody | None = None
        source = input if isinstance(input, Request) else None
        self._url: str | None = source.url if source else URL(str(input)).href
        self._method = _checked_method(method or (source.method if source else "GET"))
        self._headers: Headers | None = Headers(
            source.headers if source and headers is None else headers
        )
        self._body = None
        given = body is not None or (source is not None and source._has_body())
        if given and self._method in ("GET", "HEAD"):
            raise TypeError(f"A {self._method} request can't have a body")
        if body is None and source is not None:
            self._body = source._take()
        elif body is not None:
            self._body, content_type = extract(body)
            if content_type is not None and not self._headers.has("content-type"):
                self._headers._lines.append(
                    (b"content-type", encode_value("content-type", content_type))
                )

    @classmethod
    def _from_scope(cls, scope: dict[str, Any], receive: Any) -> Request:
        """The request that an ASGI server received; url and headers are made when read."""
        request: Request = _new(cls)
        request.scope = scope
        request._method = scope["method"]
        request._url = request._headers = None
        request._body = request._received = ReceivedBody(receive)
        return request

    def _has_body(self) -> bool:
        """Whether there is something to read; a served GET or HEAD is taken to have none."""
        return self._body is not None and not (
            self._received is not None and self._method in ("GET", "HEAD")
        )

    def _received_body(self) -> ReceivedBody:
        """What reads the body from the server, for who waits for the client to leave."""
        assert self._received is not None  # noqa: S101 - asked of served requests only
        return self._received

    @property
    def method(self) -> str:
        """HTTP method."""
        return self._method

    @property
    def url(self) -> str:
        """Absolute URL, normalised (WHATWG URL)."""
        if self._url is None:
            assert self.scope is not None  # noqa: S101 - one of the two is always there
            self._url = url_of_scope(self.scope)
        return self._url

    @property
    def headers(self) -> Headers:
        """The header lines."""
        if self._headers is None:
            assert self.scope is not None  # noqa: S101 - one of the two is always there
            self._headers = Headers._over(list(map(tuple, self.scope["headers"])))
        return self._headers

    async def json(self) -> Any:
        """Reads the body as JSON.

        Raises:
            TypeError: If the body was read before.
            ValueError: If it is no JSON; the text has the position.
        """
        return await self._read_json()

    def clone(self) -> Request:
        """Gives a second request with the same content, to be read apart from this one.

        A body in memory is shared. A streamed one is read as the faster of the two asks; what the
        slower has not read yet is kept in memory, so read or drop both. It is closed when both
        are. The headers are copied, and `scope` is the same object.

        SPEC: WHATWG Fetch section 5.4, "The clone() method steps".

        Raises:
            TypeError: If the body was read, or is being read.
        """
        return self._with_body(self._tee())

    def _with_body(self, body: bytes | Stream | None) -> Request:
        """A request like this one with another body, and header lines of its own."""
        copy = Request.__new__(Request)
        copy.scope = self.scope
        copy._method = self._method
        copy._url = self._url
        copy._headers = None if self._headers is None else Headers(self._headers)
        copy._received = self._received
        copy._body = body
        return copy

    def __repr__(self) -> str:
        return f"<Request {self._method} {self.url}>"


def url_of_scope(scope: dict[str, Any]) -> str:
    """Builds the URL of an ASGI http scope from scheme, Host header, path and query.

    A Host header that is missing or can't be part of a URL gives way to the server's own address.
    """
    path = scope.get("raw_path")
    text = path.decode("utf-8", "replace") if path else _quoted(scope["path"])
    if not text.startswith("/"):  # a target such as `@other.example` would become part of the host
        text = "/" + text
    query = scope.get("query_string", b"").decode("utf-8", "replace")
    rest = text + (f"?{query}" if query else "")
    scheme = scope.get("scheme", "http")
    host = next((v.decode("latin-1") for n, v in scope["headers"] if n == b"host"), "")
    if _HOST.fullmatch(host):
        try:
            return URL(f"{scheme}://{host}{rest}").href
        except ValueError:  # a port beyond 65535, an IPv4 address beyond 255
            pass
    name, port = scope.get("server") or ("localhost", None)
    # A Unix socket has a path in the place of a name, and no port.
    host = "localhost" if port is None else f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
    return URL(f"{scheme}://{host}{rest}").href


def _quoted(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3F").replace("#", "%23")


def _checked_method(method: str) -> str:
    if not isinstance(method, str) or not _METHOD.fullmatch(method):
        raise ValueError(f"Invalid method {method!r}: expected a token such as GET")
    upper = method.upper()
    if upper in _FORBIDDEN_METHODS:
        raise ValueError(f"The method {method!r} can't be used (WHATWG Fetch, section 2.2.1)")
    return upper if upper in _NORMALIZED_METHODS else method
