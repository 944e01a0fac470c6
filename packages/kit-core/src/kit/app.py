# SPDX-License-Identifier: MIT
"""The application: registers routes, answers requests, and runs under any ASGI server."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from types import CoroutineType
from typing import Any, Self

from kit._app.answers import (
    answer_no_route,
    answer_used_body,
    handle_error,
    outcome,
    plain_not_found,
)
from kit._app.composition import Composition, RouteTable
from kit._app.results import settle
from kit._app.types import B, GetPath, Lifespan, V
from kit._serving.response import Receive, Scope, Send, send_response, serve_other
from kit._state.lifespan import Life
from kit._state.route import Route
from kit._support.errors import HandlerError, describe
from kit._support.limits import Limits
from kit._support.paths import merge_path, path_of_scope, path_of_url
from kit.compose import dispatch
from kit.context import Context
from kit.interface import METHOD_NAME_ALL, ExecutionContext, Router, RouterRoute, plugins
from kit.request import KitRequest
from kit.router import default_router
from kit.web import Request, RequestInit, Response
from kit.web._body import USED, close_stream
from kit.web._headers import length_line, length_lines

# PERF: looked for in bytes as a number, which is four times as fast as b"%".
_PERCENT = ord("%")


class Kit(Composition[B, V]):
    """A web application.

    Handlers are registered with `get`, `post`, `put`, `delete`, `patch`, `options`, `all`, `on`
    and `use`; requests are answered by `fetch`, `request`, or an ASGI server. Handlers and
    middleware run in the order they were registered.

    `B` types `c.env`, `V` types `c.var`; both are TypedDicts and default to Any.

    Args:
        strict: Whether `/about` and `/about/` are different paths.
        router: A router, or the name of an installed one. Default: SmartRouter with
            RegExpRouter and TrieRouter.
        get_path: Gives the routing path of a request. Default: the path of its URL.
        lifespan: Given the app, an async context manager around its life under a server; the
            mapping that it yields is the base of `c.env`.
        limits: Bounds for request bodies.
        method_not_allowed: Whether a path that has routes for other methods only is answered with
            405 and `Allow` in place of 404, and OPTIONS with 204 and `Allow`.

    Raises:
        PluginError: If no router of this name is installed, or it can't be loaded.
        TypeError: If an argument is of the wrong type.
    """

    def __init__(
        self,
        *,
        strict: bool = True,
        router: Router[Any] | str | None = None,
        get_path: GetPath | None = None,
        lifespan: Lifespan[B, V] | None = None,
        limits: Limits = Limits(),
        method_not_allowed: bool = False,
    ) -> None:
        super().__init__()
        for name, value in (("get_path", get_path), ("lifespan", lifespan)):
            if value is not None and not callable(value):
                raise TypeError(f"Kit({name}=...) takes a function, not {value!r:.100}")
        if (
            router is not None
            and not isinstance(router, str)
            and not (hasattr(router, "add") and hasattr(router, "match"))
        ):
            raise TypeError(f"Kit(router=...) takes a Router or a name, not {router!r:.100}")
        used: Router[Any]
        if router is None:
            used = default_router()
        else:
            used = plugins.load("kit.routers", router)() if isinstance(router, str) else router
        self._life = Life(self, lifespan)
        self._table = RouteTable(used, self._life)
        self._base_path = "/"
        self._strict = strict
        self._get_path = get_path
        self._own_path = get_path is not None or not strict
        self._limits = limits
        self._method_not_allowed = method_not_allowed
        self._on_error: Any = None
        self._not_found: Any = None
        # PERF: replaced by the router's own method after the first match.
        self._match: Any = self._first_match

    @property
    def routes(self) -> list[RouterRoute]:
        """All registered routes, in order.

        Raises:
            RuntimeError: If a decorator never got its function.
        """
        self._check_pending()
        return list(self._table.routes)

    @property
    def router(self) -> Router[Any]:
        """The router in use."""
        return self._table.router

    async def fetch(
        self,
        request: Request,
        env: Mapping[str, Any] | None = None,
        execution_ctx: ExecutionContext | None = None,
    ) -> Response:
        """Answers a request in process.

        Args:
            request: The request.
            env: Bindings for `c.env`, on top of those of a running lifespan.
            execution_ctx: What `c.execution_ctx` gives.

        Returns:
            The response; an exception in a handler has become one.

        Raises:
            UnsupportedPathError: If the router finds only now that it can't take a route.
        """
        response, _ = await self._fetch(request, env, execution_ctx)
        return response

    async def request(
        self,
        input: Any,
        init: RequestInit | None = None,
        env: Mapping[str, Any] | None = None,
        execution_ctx: ExecutionContext | None = None,
    ) -> Response:
        """Builds a request and answers it; meant for tests.

        Args:
            input: A path such as `/users?page=2`, which is taken on `http://localhost`; a URL as
                text or any URL object; or a `Request`.
            init: Method, headers and body.
            env: As for `fetch`.
            execution_ctx: As for `fetch`.

        Returns:
            The response.

        Raises:
            ValueError: If the URL, the method or a header is invalid.
            TypeError: If a GET or HEAD request is given a body.
        """
        if isinstance(input, Request):
            request = Request(input, **init) if init else input
        else:
            url = str(input)
            if not url.startswith(("http://", "https://")):
                url = "http://localhost" + merge_path("/", url)
            request = Request(url, **(init or {}))
        return await self.fetch(request, env, execution_ctx)

    # C901: every request comes through here, and each function more would cost it a call.
    async def __call__(  # noqa: C901
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Serves one ASGI 3 scope: http and lifespan; a websocket is closed.

        Raises:
            Exception: What a streamed response raised after it was started.
        """
        if scope["type"] != "http":
            await serve_other(self.running, scope, receive, send)
            return
        method = scope["method"]
        path = scope["path"]
        # PERF: the path of the scope will do, unless something in it was encoded.
        try:
            as_it_is = not (scope["root_path"] or _PERCENT in scope["raw_path"]) and path
        except (KeyError, TypeError):  # both keys are optional, and raw_path may be None
            as_it_is = False
        if self._own_path:
            c = self._context_by_own_path(scope, receive)
            handlers = c._handlers
        else:
            if not as_it_is:
                path = path_of_scope(scope)
            find = self._match
            match = find("GET" if method == "HEAD" else method, path)
            handlers = match[0]
            if not handlers and method != "HEAD" and self._has_plain_not_found():
                # PERF: what probes and crawlers get: no handler runs, so nothing is made for one.
                for message in plain_not_found():
                    await send(message)
                return
            c = Context(self, scope, receive, path, match, handlers, self._life.bindings)
        response: Any = None
        try:
            if len(handlers) == 1 and not handlers[0][0].takes_next:
                # PERF: nothing to run around a single handler, so it is called from here.
                route = handlers[0][0]
                handler = route.handler
                c._index = 0
                try:
                    response = handler(c)
                    if response.__class__ is CoroutineType:
                        response = await response
                    if response.__class__ is not Response:
                        response = await settle(response, handler)
                except Exception as error:
                    response = await handle_error(error, c, route)
            elif handlers:
                # PERF: as _respond() does, without a coroutine around it where all is well.
                try:
                    await dispatch(c)
                except Exception as error:
                    only = handlers[0][0] if len(handlers) == 1 else None
                    response = await handle_error(error, c, only)
                else:
                    if c._finalized and not c._failed:
                        response = c._res
            if response is None:
                response = await self._respond(c)
            body = response._body
            if body.__class__ is bytes and response._lines.__class__ is tuple and method != "HEAD":
                # PERF: nearly every response: bytes, and header lines that nobody has touched.
                await send(
                    {
                        "type": "http.response.start",
                        "status": response._status,
                        "headers": [
                            *response._lines,
                            length_lines.get(len(body)) or length_line(len(body)),
                        ],
                    }
                )
                await send({"type": "http.response.body", "body": body})
            else:
                if body is USED:
                    response = answer_used_body(c)
                await send_response(response, c, send)
        except Exception:
            await c._run_tasks()  # they were promised, whatever became of the response
            raise
        else:
            if c._execution_ctx is not None:
                await c._run_tasks()
        finally:
            reader = None if c._req is None else c._req._reader
            if c._execution_ctx is not None or (reader is not None and reader.may_hold_files):
                c._close()

    def running(self) -> AbstractAsyncContextManager[None]:
        """Runs the lifespan in process: in a test, or in a host that runs no lifespans.

        It may be entered several times; the lifespan starts with the first and ends with the last.
        Where they overlap in different tasks, a lifespan that holds a task group or a cancel scope
        open must be entered first by the one that leaves last, as anyio asks for.

        Returns:
            An async context manager. Entering it raises what the startup raises, and TypeError if
            the lifespan is no async context manager, or yields no mapping.
        """
        return self._life.running()

    def _clone(self) -> Self:
        app = object.__new__(type(self))
        app.__dict__.update(self.__dict__)
        app._match = app._first_match
        return app

    def _first_match(self, method: str, path: str) -> Any:
        self._check_pending()
        table = self._table
        match = table.router.match(method, path)
        table.closed = True
        self._match = table.router.match
        return match

    async def _fetch(
        self,
        request: Request,
        env: Mapping[str, Any] | None,
        execution_ctx: ExecutionContext | None,
    ) -> tuple[Response, KitRequest]:
        """Does what `fetch` does; gives the request as well, for who closes it when all is done."""
        method = request.method
        path, match = self._match_request(request, path_of_url(request.url))
        bindings = self._life.bindings
        if env is not None:
            bindings = {**bindings, **env} if bindings else env
        c: Context[B, V] = Context(self, None, None, path, match, match[0], bindings)
        c._req = KitRequest(request, path, match)
        c._req._limits = self._limits
        c._execution_ctx = execution_ctx
        response = await self._respond(c)
        if method == "HEAD":
            response = response._copy()
            if not isinstance(response._body, bytes):
                await close_stream(response._body)
            response._body = None
        return response, c._req

    def _has_plain_not_found(self) -> bool:
        """Whether a request that no route answers gets the plain 404, whatever it is."""
        return self._not_found is None and not self._method_not_allowed

    def _match_request(self, request: Request, path: str) -> tuple[str, Any]:
        """Gives routing path and match. What `get_path` raises is raised as if by a handler."""
        try:
            if self._get_path is not None:
                path = self._get_path(request)
                if not isinstance(path, str):
                    raise HandlerError(
                        describe(self._get_path), f"gave {type(path).__name__}, expected a str"
                    )
        except Exception as error:
            failure = error

            def get_path(c: Context[B, V]) -> None:
                raise failure

            return "/", ([(Route("/", "*", METHOD_NAME_ALL, get_path), {})],)
        if not self._strict and len(path) > 1 and path.endswith("/"):
            path = path[:-1]
        method = request.method
        return path, self._match("GET" if method == "HEAD" else method, path)

    def _context_by_own_path(self, scope: Scope, receive: Receive) -> Context[B, V]:
        """Makes the context of an app that has `get_path`, or takes `/a/` for `/a`."""
        request = Request._from_scope(scope, receive)
        path, match = self._match_request(request, path_of_scope(scope))
        bindings = self._life.bindings
        c: Context[B, V] = Context(self, scope, receive, path, match, match[0], bindings)
        c.req._raw = request
        return c

    async def _respond(self, c: Context[B, V]) -> Response:
        """Runs what matches; whatever happens there, a response comes of it."""
        handlers = c._handlers
        try:
            if not handlers:
                return await answer_no_route(c)
            if c._index < 0:
                await dispatch(c)
            return outcome(c)
        except Exception as error:
            return await handle_error(error, c, handlers[0][0] if len(handlers) == 1 else None)
