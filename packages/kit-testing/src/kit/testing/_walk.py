# SPDX-License-Identifier: MIT
"""Turns attributes and subscripts of a test client into the path and method of a call."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kit.interface import ExecutionContext as AnyExecutionContext
from kit.testing._execution import ExecutionContext, WatchedBody
from kit.testing._inputs import (
    ORIGIN,
    RequestOptions,
    Values,
    WebSocketOptions,
    check_options,
    headers_of,
    request_of,
    with_query,
)
from kit.testing._paths import Names, fill
from kit.testing._routes import Routes, expression, is_attribute
from kit.web import URL, BodyStream, Request, Response

if TYPE_CHECKING:
    from kit.app import Kit

_StepT = TypeVar("_StepT")


# The key is that of RFC 6455, section 1.3.
_OF_HANDSHAKE = (
    ("connection", "Upgrade"),
    ("upgrade", "websocket"),
    ("sec-websocket-version", "13"),
    ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
)


class Caller:
    """State that the steps of a client share: the app, and the defaults of each request.

    Args:
        step: The class of a step.
        ws_step: The class of a step whose last name is `ws`.
        app: The app.
        env: Bindings for each request.
        execution_ctx: The execution context of each request; None creates a new one for each.
        headers: Headers of each request.

    Attributes:
        env: The bindings.
        routes: The routes of the app.
        unread: Streamed bodies of responses that have not been read to their end.
    """

    def __init__(
        self,
        step: Any,
        ws_step: Any,
        app: Kit[Any, Any],
        env: Mapping[str, Any] | None,
        execution_ctx: AnyExecutionContext | None,
        headers: Values | None,
    ) -> None:
        self._step = step
        self._ws_step = ws_step
        self.app = app
        self.env = env
        self._execution_ctx = execution_ctx
        self._headers = headers_of(headers)
        self.routes = Routes(app)
        self.unread: set[WatchedBody] = set()

    def step(self, names: Names) -> Any:
        """Returns the step that names lead to."""
        name = names[-1]
        if name in ("ws", "$ws"):
            return self._ws_step(self, names)
        return _LAST_STEPS.get(name, self._step)(self, names)

    def request(self, names: Names, options: RequestOptions) -> Request:
        """Returns the request of a call."""
        call = expression(names) + "()"
        check_options(call, options, RequestOptions.__annotations__)
        method = names[-1].removeprefix("$").upper()
        variant = self.routes.find(names, method, any_method=names[-1].startswith("$"))
        path = fill(variant, names[:-1], options.get("param"), call)
        return request_of(method, path, self._headers, options)

    def path(self, names: Names, options: Mapping[str, Any]) -> str:
        """Returns the path of a call, with its query."""
        call = expression(names) + "()"
        check_options(call, options, ("param", "query"))
        path = fill(self.routes.find_path(names), names[:-1], options.get("param"), call)
        return with_query(path, options.get("query"))

    def handshake(self, names: Names, options: WebSocketOptions) -> tuple[Request, list[str]]:
        """Returns the request that opens a WebSocket connection, and the subprotocols it offers.

        SPEC: RFC 6455 section 4.1.
        """
        call = expression(names) + "()"
        check_options(call, options, WebSocketOptions.__annotations__)
        variant = self.routes.find(names, "GET", any_method=False)
        path = fill(variant, names[:-1], options.get("param"), call)
        protocols = options.get("protocols") or []
        if isinstance(protocols, str) or not all(isinstance(each, str) for each in protocols):
            raise TypeError(f"{call} takes protocols as a list of str, not {protocols!r:.100}")
        of_request: Any = {key: value for key, value in options.items() if key != "protocols"}
        request = request_of("GET", path, self._headers, of_request)
        headers = request.headers
        for name, value in _OF_HANDSHAKE:
            headers.set(name, value)
        if not headers.has("host"):
            headers.set("host", ORIGIN.partition("://")[2])
        if protocols:
            headers.set("sec-websocket-protocol", ", ".join(protocols))
        return request, [*protocols]

    def context(self) -> AnyExecutionContext:
        """Returns the execution context of a new request."""
        return ExecutionContext() if self._execution_ctx is None else self._execution_ctx

    async def fetch(self, request: Request) -> Response:
        """Sends a request, and does what a server does after its response."""
        response, _ = await self.fetch_watched(request)
        return response

    async def fetch_watched(self, request: Request) -> tuple[Response, WatchedBody | None]:
        """Sends a request; returns the response, and its streamed body if it has one."""
        own = ExecutionContext()
        context = own if self._execution_ctx is None else self._execution_ctx
        try:
            response = await self.app.fetch(request, self.env, context)

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


class Walk(Generic[_StepT]):
    """A client, or a step that its names lead to."""

    # An attribute of this class can't be a segment of a path, so there are few, with a prefix.
    __slots__ = ("_kit_caller", "_kit_names")

    __test__ = False  # keeps pytest from collecting it

    __iter__ = None  # else __getitem__ would make it iterable, with numbers as names

    def __init__(self, caller: Caller, names: Names = ()) -> None:
        self._kit_caller = caller
        self._kit_names = names

    if TYPE_CHECKING:
        # For completion in editors; at run time __getattr__ finds every name.
        delete: _StepT
        get: _StepT
        head: _StepT
        index: _StepT
        options: _StepT
        patch: _StepT
        post: _StepT
        put: _StepT

        @property
        def path(self) -> PathStep[_StepT]:
            """Returns the path and query when called."""

        @property
        def url(self) -> UrlStep[_StepT]:
            """Returns the URL when called."""

    def __getattr__(self, name: str) -> _StepT:
        # copy, pickle, pytest, IPython and debuggers look for protocols by names that begin with an
        # underscore, and must not find one.
        if name.startswith("_") and (
            name.startswith(("__", "_kit_"))
            or not self._kit_caller.routes.has((*self._kit_names, name))
        ):
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}; "
                f"a segment of that name is written [{name!r}]"
            )
        return self[name]

    def __getitem__(self, name: str) -> _StepT:
        if not isinstance(name, str):
            raise TypeError(
                f"{expression(self._kit_names)}[{name!r:.100}]: a segment is named as the route "
                "does, by a str; the value of a parameter is given at the call, in param={...}"
            )
        step: _StepT = self._kit_caller.step((*self._kit_names, name))
        return step

    def __dir__(self) -> list[str]:
        names = filter(is_attribute, self._kit_next())
        return [*object.__dir__(self), *names]

    def _ipython_key_completions_(self) -> list[str]:
        return [name for name in self._kit_next() if not is_attribute(name)]

    def _kit_next(self) -> list[str]:
        routes, names = self._kit_caller.routes, self._kit_names
        methods = [method.lower() for method in routes.methods(names)]
        if "all" in methods:
            methods = ["get", "post", "put", "delete", "patch"]
        return [*routes.next_names(names), *methods, *(("url", "path") if methods else ())]

    def __repr__(self) -> str:
        routes, names = self._kit_caller.routes, self._kit_names
        name = expression(names)
        lines = routes.lines(names)
        head = f"{len(lines)} route{'s' if len(lines) != 1 else ''}" if lines else "no route"
        if names and names[-1].removeprefix("$").upper() in routes.methods(names[:-1]):
            path = "/" + "/".join(names[:-1])
            head = f"{names[-1].removeprefix('$').upper()} {path}"
        return f"<{name}: " + "\n  ".join([head, *lines]) + ">"


class UrlStep(Walk[_StepT]):
    """A step whose last name is `url`."""

    __slots__ = ()

    def __call__(
        self, *, param: Mapping[str, Any] | None = None, query: Values | None = None
    ) -> URL:
        """Returns the URL of the path before `url`.

        Args:
            param: Parameters of the path.
            query: Parameters of the query.

        Raises:
            RouteNotFoundError: If no route has the path.
            ParameterError: If a parameter is missing or unknown.
        """
        options = {"param": param, "query": query}
        return URL(ORIGIN + self._kit_caller.path(self._kit_names, options))


class PathStep(Walk[_StepT]):
    """A step whose last name is `path`."""

    __slots__ = ()

    def __call__(
        self, *, param: Mapping[str, Any] | None = None, query: Values | None = None
    ) -> str:
        """Returns path and query, percent-encoded; arguments and exceptions as for `UrlStep`."""
        options = {"param": param, "query": query}
        return self._kit_caller.path(self._kit_names, options)


_LAST_STEPS: dict[str, Any] = {
    "url": UrlStep,
    "$url": UrlStep,
    "path": PathStep,
    "$path": PathStep,
}
