# SPDX-License-Identifier: MIT
"""Sends the requests of a test client to its app."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn
from urllib.parse import urlsplit

from kit.authoring.options import OptionChecks
from kit.interface import ExecutionContext as AnyExecutionContext
from kit.testing._errors import RouteNotFoundError
from kit.testing._execution import ExecutionContext, WatchedBody
from kit.testing._inputs import (
    Call,
    RequestOptions,
    Values,
    WebSocketOptions,
    build_call,
    build_headers,
    list_pairs,
    read_options,
    with_query,
)
from kit.testing._paths import Names, fill
from kit.testing._redirects import redirected
from kit.testing._routes import Routes, expression
from kit.web import URL, BodyStream, Response

if TYPE_CHECKING:
    from kit.app import Kit
    from kit.testing._cookies import Cookies

_MOST_REDIRECTS = 20

# The key is that of RFC 6455, section 1.3.
_OF_HANDSHAKE = (
    ("connection", "Upgrade"),
    ("upgrade", "websocket"),
    ("sec-websocket-version", "13"),
    ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
)


class Settings(NamedTuple):
    """The arguments of `test_client` and `sync_test_client` that both have, in their order."""

    env: Mapping[str, Any] | None
    execution_ctx: AnyExecutionContext | None
    headers: Values | None
    cookies: Values | None
    keep_cookies: bool
    follow_redirects: bool
    base_url: str


def _check(settings: Settings) -> None:
    check = OptionChecks("test_client")
    if settings.env is not None and not isinstance(settings.env, Mapping):
        check.wrong_type("env", settings.env, "a mapping for c.env")
    if settings.execution_ctx is not None and not hasattr(settings.execution_ctx, "wait_until"):
        check.wrong_type("execution_ctx", settings.execution_ctx, "an ExecutionContext")
    check.flag("keep_cookies", settings.keep_cookies)
    check.flag("follow_redirects", settings.follow_redirects)


class Caller:
    """State that the steps of a client share: the app, and the defaults of each request.

    Args:
        step: The class of a step.
        ws_step: The class of a step whose last name is `ws`.
        app: The app.
        settings: The arguments of the client.
        served: What requests are sent to. Default: the app.

    Attributes:
        env: The bindings.
        origin: Scheme and host of the requests.
        routes: The routes of the app.
        unread: Streamed bodies of responses that have not been read to their end.

    Raises:
        ValueError: If `base_url`, a header or a cookie is invalid.
        TypeError: If a setting has the wrong type.
    """

    def __init__(
        self,
        step: Any,
        ws_step: Any,
        app: Kit[Any, Any],
        settings: Settings,
        served: Kit[Any, Any] | None = None,
    ) -> None:
        _check(settings)
        self.step = step
        self.ws_step = ws_step
        self.app = served or app
        self.env = settings.env
        self._execution_ctx = settings.execution_ctx
        self._headers = build_headers(settings.headers)
        self._keeps_cookies = settings.keep_cookies
        self._follows = settings.follow_redirects
        self.origin = _origin(settings.base_url)
        self.routes = Routes(app)
        self.unread: set[WatchedBody] = set()
        self._cookies: Cookies | None = None
        if settings.cookies:
            for name, value in list_pairs("cookies", settings.cookies):
                self.cookies.set(name, value)

    @property
    def cookies(self) -> Cookies:
        """The cookies that are sent with each request."""
        if self._cookies is None:
            from kit.testing._cookies import Cookies

            self._cookies = Cookies(self.origin)
        return self._cookies

    def call(self, names: Names, path: Any, options: Mapping[str, Any]) -> Call:
        """Returns the request of a call.

        Args:
            names: All names of the call, the last of which is the method.
            path: The path that it was given, or None if the names before the method are the path.
            options: Its options.
        """
        if path is not None:
            method = self._method_before_path(names, path)
            return self.call_to(f"client.{names[0]}({path!r:.100})", method, path, options)
        call = expression(names) + "()"
        read: RequestOptions = read_options(call, options, RequestOptions.__annotations__)
        method = names[-1].removeprefix("$").upper()
        variant = self.routes.find(names, method, any_method=names[-1].startswith("$"))
        filled = fill(variant, names[:-1], read.get("param"), call)
        return self._build_call(method, self.origin + filled, read)

    def call_to(self, call: str, method: str, path: Any, options: Mapping[str, Any]) -> Call:
        """Returns the request of a call to a path or URL.

        Args:
            call: The call, for error messages.
            method: The method.
            path: The path or URL.
            options: The options of the call.
        """
        names = [name for name in RequestOptions.__annotations__ if name != "param"]
        if "param" in options:
            raise TypeError(
                f"{call}: param is for calls that name a route; write the values into the path"
            )
        read = read_options(call, options, names)
        return self._build_call(method, self._url(call, path), read)

    def call_by_method(self, method: Any, path: Any, options: Mapping[str, Any]) -> Call:
        """Returns the request of `client.request(method, path)`.

        Raises:
            TypeError: If the method isn't a str, an option is unknown, or a value has the wrong
                type.
            ValueError: If the path or a value is invalid.
        """
        call = f"client.request({method!r:.100}, {path!r:.100})"
        if not isinstance(method, str):
            raise TypeError(f"{call}: the method comes first, e.g. client.request('GET', '/books')")
        return self.call_to(call, method.upper(), path, options)

    def _build_call(self, method: str, url: str, options: RequestOptions) -> Call:
        return build_call(method, url, self._headers, options, follows=self._follows)

    def _method_before_path(self, names: Names, path: Any) -> str:
        """Returns the method of a call such as `client.get("/books")`."""
        call = f"{expression(names)}({path!r:.100})"
        if len(names) > 1:
            raise TypeError(f"{call}: a call that names a route takes keywords only")
        method = names[0].removeprefix("$").upper()
        if not names[0].startswith("$") and not self.routes.knows(method):
            raise TypeError(f"{call}: no route has the method {method}; client.request() sends it")
        return method

    def _url(self, call: str, path: Any) -> str:
        """Returns the URL of a path, or of a URL of the app's host."""
        if not isinstance(path, (str, URL)):
            raise TypeError(f"{call}: expected a path such as '/books', not {path!r:.100}")
        text = str(path)
        if text.startswith("/"):
            return self.origin + text
        if not text.startswith(("http://", "https://")):
            raise ValueError(f"{call}: a path begins with a slash: write {'/' + text!r:.100}")
        if not self._is_own(URL(text)):
            raise ValueError(
                f"{call}: the client sends requests to its app alone, as {self.origin}; "
                "give it another host by base_url=..."
            )
        return text

    def _is_own(self, url: URL) -> bool:
        return url.hostname == urlsplit(self.origin).hostname

    def path(self, names: Names, options: Mapping[str, Any]) -> str:
        """Returns the path of a call, with its query."""
        call = expression(names) + "()"
        read = read_options(call, options, ("param", "query"))
        path = fill(self.routes.find_path(names), names[:-1], read.get("param"), call)
        return with_query(path, read.get("query"))

    def handshake(
        self, names: Names, path: Any, options: WebSocketOptions
    ) -> tuple[Call, list[str]]:
        """Returns the request that opens a WebSocket connection, and the subprotocols it offers.

        SPEC: RFC 6455 section 4.1.
        """
        call = expression(names) + "()"
        read = read_options(call, options, WebSocketOptions.__annotations__)
        protocols = read.pop("protocols", None) or []
        if isinstance(protocols, str) or not all(isinstance(each, str) for each in protocols):
            raise TypeError(f"{call} takes protocols as a list of str, not {protocols!r:.100}")
        if path is None:
            made = self._build_call(
                "GET", self._handshake_url(names, read.get("param"), call), read
            )
        elif len(names) > 1:
            raise TypeError(
                f"{expression(names)}({path!r:.100}): a call that names a route takes keywords "
                "only; a whole path is given to the client: client.ws('/...')"
            )
        else:
            made = self.call_to(f"client.ws({path!r:.100})", "GET", path, read)
        headers = made.request.headers
        for name, value in _OF_HANDSHAKE:
            headers.set(name, value)
        if not headers.has("host"):
            headers.set("host", self.origin.partition("://")[2])
        if protocols:
            headers.set("sec-websocket-protocol", ", ".join(protocols))
        return made, [*protocols]

    def _handshake_url(self, names: Names, param: Any, call: str) -> str:
        """Returns the URL of a connection; names are those of segments, or values of parameters."""
        try:
            variant = self.routes.find(names, "GET", any_method=False)
        except RouteNotFoundError:
            found = self.routes.find_values(names[:-1], "GET")
            if found is None:
                raise
            variant, values = found
            if param is None or isinstance(param, Mapping):
                param = {**(param or {}), **values}
        return self.origin + fill(variant, names[:-1], param, call)

    def context(self) -> AnyExecutionContext:
        """Returns the execution context of a new request."""
        return ExecutionContext() if self._execution_ctx is None else self._execution_ctx

    def add_cookies(self, call: Call) -> None:
        """Adds the cookies of the client to a request."""
        if self._cookies is None:
            return
        headers = call.request.headers
        pairs = [
            pair
            for pair in self._cookies.pairs_for(call.request.url)
            if pair.partition("=")[0] not in call.without
        ]
        if pairs:
            headers.set("cookie", "; ".join([*pairs, *headers.get_all("cookie")]))

    def keep_cookies(self, url: str, response: Response) -> None:
        """Keeps the cookies of a response.

        Args:
            url: The URL of its request.
            response: The response.
        """
        lines = response.headers.get_set_cookie() if self._keeps_cookies else ()
        if lines:
            self.cookies.store(url, lines)

    async def fetch(self, call: Call) -> Response:
        """Sends a request, and does what a server does after its response."""
        response, _ = await self.fetch_watched(call)
        return response

    async def fetch_watched(self, call: Call) -> tuple[Response, WatchedBody | None]:
        """Sends a request; returns the response, and its streamed body if it has one.

        Raises:
            RuntimeError: If it is redirected too often.
        """
        if not call.follows:
            return await self._exchange(call)
        for _ in range(_MOST_REDIRECTS + 1):
            request = call.request
            is_streamed = isinstance(request.body, BodyStream)
            again = request.replace(body=None) if is_streamed else request.clone()
            response, watched = await self._exchange(call)
            following = redirected(again, response, self._is_own, is_streamed=is_streamed)
            if following is None:
                return response, watched
            if watched is not None:
                await watched.aclose()
            call = self._renewed(call._replace(request=following), response)
        raise RuntimeError(
            f"The app redirected more than {_MOST_REDIRECTS} times, at last to {call.request.url}"
        )

    def _renewed(self, call: Call, response: Response) -> Call:
        """Leaves out the cookies of a call that a response has set anew, or deleted."""
        lines = response.headers.get_set_cookie() if self._keeps_cookies else ()
        names = {line.partition("=")[0].strip() for line in lines}
        headers = call.request.headers
        pairs = [
            pair.strip()
            for line in headers.get_all("cookie")
            for pair in line.split(";")
            if pair.partition("=")[0].strip() not in names
        ]
        headers.delete("cookie")
        if pairs:
            headers.set("cookie", "; ".join(pairs))
        return call._replace(without=call.without - names)

    async def _exchange(self, call: Call) -> tuple[Response, WatchedBody | None]:
        """Sends one request."""
        request = call.request
        self.add_cookies(call)
        own = ExecutionContext()
        context = own if self._execution_ctx is None else self._execution_ctx
        try:
            response = await self.app.fetch(request, self.env, context)
            self.keep_cookies(request.url, response)

            async def finish() -> None:
                try:
                    # A context of another class runs its tasks itself.
                    if isinstance(context, ExecutionContext):
                        await context.finish()
                finally:
                    request.close()

            body = response.body
            if not isinstance(body, BodyStream) or response.body_used:
                await finish()
                return response, None
            watched = WatchedBody(body, finish, self.unread)
            length = response.headers.get("content-length")
            response = response.replace(body=watched)
            if length is not None:
                response.headers.set("content-length", length)
            return response, watched
        except BaseException:
            own.close()
            raise

    async def close(self) -> None:
        """Closes the unread bodies, which runs their background tasks."""
        async with AsyncExitStack() as stack:
            for body in self.unread:
                stack.push_async_callback(body.aclose)


def refuse_others(names: Names, path: Any) -> NoReturn:
    """Refuses a second value without a name, e.g. a body.

    Raises:
        TypeError: Always.
    """
    call = f"{expression(names)}({path!r:.100}, ...)"
    raise TypeError(f"{call}: only the path is given without a name")


def _origin(base_url: Any) -> str:
    """Returns the origin that is the base of all URLs.

    Raises:
        ValueError: If it isn't scheme and host alone.
    """
    if isinstance(base_url, (str, URL)) and str(base_url).startswith(("http://", "https://")):
        url = URL(str(base_url))
        if (url.pathname, url.search, url.hash) == ("/", "", ""):
            return url.origin
    raise ValueError(f"base_url is scheme and host, e.g. 'https://example.com', not {base_url!r}")
