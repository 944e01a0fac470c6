# SPDX-License-Identifier: MIT
"""The Request of WHATWG Fetch, section 5.4, created in process or from an ASGI scope."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Any, TypedDict

from kit.authoring.maybe_await import plain_result
from kit.interface import FormData as AnyFormData
from kit.web._paths import encode_delimiters, encode_dropped

from ._body import USED, Body, BodyInit, extract, take
from ._body_reader import BodyReader, Refuse
from ._forms.form_data import FormData
from ._header_lines import HeaderLine
from ._headers import Headers, HeadersInit, headers_over
from ._streams import Stream
from ._url import URL, text_of_url

_METHOD = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_NORMALIZED_METHODS = frozenset(("DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"))
_FORBIDDEN_METHODS = frozenset(("CONNECT", "TRACE", "TRACK"))
# SPEC: RFC 3986 section 3.2.2; any other Host header can't be part of a URL.
_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\x00-\x20\"#%/:<>?@\[\\\]^`{|}\x7f]+)(?::[0-9]*)?")


_new = object.__new__


class RequestInit(TypedDict, total=False):
    """Options of `Kit.request` besides the URL (WHATWG Fetch, section 5.4)."""

    method: str
    headers: HeadersInit
    body: BodyInit | None


class Request(Body):
    """A request.

    Args:
        input: Absolute URL, any object that `str` turns into one, or another request. The body of
            the other request then counts as read; `scope` is the same object.
        method: HTTP method; standard methods are converted to upper case. Default GET.
        headers: Headers, a mapping, or pairs.
        body: As for `Response`.

    Raises:
        ValueError: If the URL, the method or a header is invalid.
        TypeError: If `input` is neither a URL nor a request, if a GET or HEAD request is given a
            body, or if the body can't be sent.
    """

    __module__ = "kit.web"  # shown as it is imported

    __slots__ = (
        "_body",
        "_channel",
        "_closer",
        "_headers",
        "_is_below",
        "_is_moved",
        "_method",
        "_root_path",
        "_root_pattern",
        "_url",
        "scope",
    )

    _channel: BodyReader | None
    _closer: Callable[[], None] | None
    _headers: Headers | None
    _is_below: bool
    _is_moved: bool
    _root_path: str | None
    _root_pattern: str | None
    _url: str | None

    scope: dict[str, Any] | None
    """The ASGI scope, or None for a request created in process."""

    def __init__(
        self,
        input: Any,
        *,
        method: str | None = None,
        headers: HeadersInit | None = None,
        body: BodyInit | None = None,
    ) -> None:
        source = input if isinstance(input, Request) else None
        # APPSEC: guards read the client's address in the scope, so a copy must not lose it.
        self._set_place(source)
        self._url = source.url if source else _checked_url("Request()", input)
        if method is None:
            method = source.method if source else "GET"
        self._method = _checked_method(method)
        self._headers = Headers(source.headers if source and headers is None else headers)
        self._body = None
        given = body is not None or (source is not None and source._has_body())
        if given and self._method in ("GET", "HEAD"):
            raise TypeError(f"A {self._method} request can't have a body")
        if body is None and source is not None:
            self._body = take(source)
        elif body is not None:
            self._body, content_type = extract(body)
            if content_type is not None and not self._headers.has("content-type"):
                self._headers.append("content-type", content_type)

    def _has_body(self) -> bool:
        """Returns whether there is a body to read; a served GET or HEAD is assumed to have none."""
        return self._body is not None and not (
            self._channel is not None and self._method in ("GET", "HEAD")
        )

    async def wait_for_disconnect(self) -> bool:
        """Waits until the client disconnects; the body can be read meanwhile.

        Returns:
            True once it has disconnected. False, without waiting, if this can't be detected: the
            request was created in process, or the server stopped reporting disconnects.
        """
        return self._channel is not None and await self._channel.wait_for_disconnect()

    @property
    def method(self) -> str:
        """HTTP method."""
        return self._method

    @property
    def url(self) -> str:
        """Absolute URL, normalized (WHATWG URL)."""
        if self._url is None:
            assert self.scope is not None  # noqa: S101 - one of the two is always there
            self._url = url_of_scope(self.scope)
        return self._url

    @property
    def root_path(self) -> str:
        """The decoded path that the app or mounted application is served below; `""` for `/`.

        SPEC: ASGI HTTP, "HTTP Connection Scope", `root_path`; PEP 3333, SCRIPT_NAME.
        """
        if self._root_path is not None:
            return self._root_path
        root: str = (self.scope or {}).get("root_path") or ""
        return root.rstrip("/")

    @property
    def root_pattern(self) -> str:
        """`root_path` with parameters of mounts by name, e.g. `/:tenant`."""
        return self.root_path if self._root_pattern is None else self._root_pattern

    @property
    def is_below_root_path(self) -> bool:
        """Whether a mount or `replace` has set `root_path`, so that `url` doesn't contain it.

        The URL of a request from a server may or may not contain it; hypercorn leaves it out.
        """
        return self._is_below

    @property
    def is_moved(self) -> bool:
        """Whether a mount or `replace` may have set a URL that differs from `scope`."""
        return self.scope is None or self._root_path is not None or self._is_moved

    @property
    def headers(self) -> Headers:
        """The header lines."""
        if self._headers is None:
            assert self.scope is not None  # noqa: S101 - one of the two is always there
            self._headers = headers_over(list(map(tuple, self.scope["headers"])))
        return self._headers

    async def json(self) -> Any:
        """Reads the body as JSON.

        Raises:
            TypeError: If the body was already read.
            ValueError: If it isn't valid JSON; the message includes the position.
        """
        return await self._read_json()

    def clone(self) -> Request:
        """Returns a second request with the same content, which is read independently of this one.

        A body in memory is shared. A streamed body is read at the pace of the faster reader; chunks
        that the slower one has not read yet are kept in memory, so read or drop both. The stream
        closes when both are closed. Headers are copied; `scope` is the same object.

        SPEC: WHATWG Fetch section 5.4, "The clone() method steps".

        Raises:
            TypeError: If the body was read, or is being read.
        """
        return self._with_body(self._tee())

    def replace(
        self,
        *,
        method: str | None = None,
        url: str | None = None,
        headers: HeadersInit | None = None,
        body: BodyInit | AnyFormData | EllipsisType | None = ...,
        root_path: str | None = None,
        root_pattern: str | None = None,
    ) -> Request:
        """Returns a copy of this request with some parts changed.

        Args:
            method: The new HTTP method.
            url: The new absolute URL.
            headers: The new headers, which replace all existing ones.
            body: The new body. Content-Length is removed; Content-Type is kept, except for a form,
                whose boundary it must name. Default: the body of this request, which then counts
                as read.
            root_path: The new `root_path`, which the URL doesn't contain.
            root_pattern: The new `root_pattern`. Default: `root_path`, if given.

        Returns:
            The request; `scope` is the same object.

        Raises:
            TypeError: If the body can't be sent.
            ValueError: If the URL, the method or a header is invalid.
        """
        if body is ...:
            request = self._with_body(self._body)
            if not self.body_used:
                take(self)
        else:
            content, content_type = extract(body)
            request = self._with_body(content)
            request.headers.delete("content-length")
            if content_type is not None and isinstance(body, FormData):
                request.headers.set("content-type", content_type)
        if method is not None:
            request._method = _checked_method(method)
        if url is not None:
            request._url = _checked_url("replace(url=...)", url)
            request._is_moved = True
        if headers is not None:
            request._headers = Headers(headers)
        if root_path is not None:
            request._root_path = root_path
            request._root_pattern = root_path
            request._is_below = True
        if root_pattern is not None:
            request._root_pattern = root_pattern
        return request

    def close(self) -> None:
        """Removes the temporary files of a form that an app read from this request.

        A server does this once the response is sent; code that calls `Kit.fetch` may do it.
        """
        if self._closer is not None:
            self._closer()

    def _with_body(self, body: bytes | Stream | None) -> Request:
        """Returns a copy of this request with another body and a copy of the header lines."""
        copy: Request = _new(Request)
        copy._set_place(self)
        copy._method = self._method
        copy._url = self._url
        copy._headers = None if self._headers is None else Headers(self._headers)
        copy._body = body
        return copy

    def _set_place(self, source: Request | None) -> None:
        """Sets the connection, and how to interpret `root_path` and the URL."""
        self.scope = source.scope if source else None
        self._channel = source._channel if source else None
        self._root_path = source._root_path if source else None
        self._root_pattern = source._root_pattern if source else None
        self._is_below = source._is_below if source else False
        self._is_moved = source._is_moved if source else False
        self._closer = None

    def __repr__(self) -> str:
        return f"<Request {self._method} {self.url}>"


def served_request(scope: dict[str, Any], reader: BodyReader, *, is_used: bool) -> Request:
    """Returns the request that an ASGI server received; URL and headers are built on first use."""
    request: Request = _new(Request)
    request._set_place(None)
    request.scope = scope
    request._method = scope["method"]
    request._url = request._headers = None
    request._channel = reader
    request._body = USED if is_used else reader
    return request


def limit_body(request: Request, most: int, refuse: Refuse) -> None:
    """Makes reading more than `most` bytes of a request's body raise the exception from `refuse`.

    Raises:
        Exception: The exception from `refuse`, if there are already more bytes.
        RuntimeError: If the body was read without recording its size.
    """
    # The channel knows how much has arrived.
    body = request._channel if request._body is USED else request._body
    if body is None and request._body is USED:
        raise RuntimeError(
            "The body can't be limited any more: it was already read, without recording its "
            "size; set the limit before code that reads it"
        )
    if isinstance(body, bytes):
        if len(body) > most:
            raise plain_result(refuse(), refuse, "limit_body()")
    elif body is not None:
        reader = BodyReader.of(body)
        if request._body is body:
            request._body = reader
        reader.limit(most, refuse)


def header_lines(request: Request) -> Sequence[HeaderLine]:
    """Returns the header lines, read-only. PERF: doesn't build a Headers."""
    if request._headers is None and request.scope is not None:
        lines: Sequence[HeaderLine] = request.scope["headers"]
        return lines
    return request.headers.raw


def has_served_path(request: Request) -> bool:
    """Returns whether a request still has the path of its ASGI scope."""
    scope = request.scope
    if scope is None or request._root_path is not None or not {"path", "headers"} <= scope.keys():
        return False
    url = request._url
    return url is None or url.partition("?")[0] == url_of_scope(scope).partition("?")[0]


def url_of_scope(scope: dict[str, Any]) -> str:
    """Builds the URL of an ASGI http scope from scheme, Host header, path and query.

    A Host that is missing, repeated or invalid in a URL is replaced by the server's own address.
    """
    path = scope.get("raw_path")
    text = path.decode("utf-8", "replace") if path else encode_delimiters(scope["path"])
    if not text.startswith("/"):  # a target such as `@other.example` would become part of the host
        text = "/" + text
    query = scope.get("query_string", b"").decode("utf-8", "replace")
    # A request has no fragment (RFC 9112, section 3.2). The router treats a backslash as part of a
    # name, but a URL turns it into a slash.
    text = text.replace("\\", "%5C")
    rest = encode_dropped(text + (f"?{query}" if query else "")).replace("#", "%23")
    scheme = scope.get("scheme", "http")
    # APPSEC: if there are several (RFC 9112, section 3.2, demands a 400), other programs may pick
    # a different one.
    hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    host = hosts[0] if len(hosts) == 1 else ""
    if _HOST.fullmatch(host):
        try:
            return URL(f"{scheme}://{host}{rest}").href
        except ValueError:  # a port beyond 65535, an IPv4 address beyond 255
            pass
    name, port = scope.get("server") or ("localhost", None)
    # For a Unix socket, the name is a path and there is no port.
    host = "localhost" if port is None else f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
    return URL(f"{scheme}://{host}{rest}").href


def _checked_url(call: str, url: object) -> str:
    is_request = call == "Request()"
    expected = f"a URL, as a str or a URL object{', or a Request' if is_request else ''}"
    return URL(text_of_url(call, url, expected)).href


def _checked_method(method: str) -> str:
    if not isinstance(method, str):
        raise TypeError(f"The method of a request is a str such as 'GET', not {method!r:.100}")
    if not _METHOD.fullmatch(method):
        raise ValueError(f"Invalid method {method!r}: expected a token such as GET")
    upper = method.upper()
    if upper in _FORBIDDEN_METHODS:
        raise ValueError(f"The method {method!r} can't be used (WHATWG Fetch, section 2.2.1)")
    return upper if upper in _NORMALIZED_METHODS else method
