# SPDX-License-Identifier: MIT
"""The application: registers routes, handles requests, and runs under any ASGI server."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Self, TypeAlias, TypeVar, overload

from kit._engine.framing import without_body
from kit._engine.handlers import compose, final_response
from kit._engine.matching import create_context
from kit._engine.paths import path_of_request
from kit._registration.parts import ONE_FOR_ALL, check_options
from kit._registration.registrations import (
    Registrations,
    Verb,
    check_function,
    check_lifespan,
    check_path,
    check_validation_status,
    refuse_keywords,
    split_arguments,
    strings,
)
from kit._routing.app_state import AppState
from kit._routing.error_handlers import ErrorFormat, ErrorHandlers
from kit._routing.table import RouteTable
from kit._serving.asgi import ASGIApplication
from kit._serving.rsgi import import_rsgi
from kit.authoring.caller_frame import describe_call_site
from kit.authoring.codecs import TypeCodecs
from kit.authoring.signatures import describe, is_async
from kit.context import B, Context, V
from kit.http.paths import merge_path
from kit.interface import METHOD_NAME_ALL
from kit.interface.generics import fill_arguments
from kit.lifespan import Lifespan
from kit.router import default_router
from kit.web._limits import Limits

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from kit._registration.registrations import HandlerT, Use
    from kit._registration.types import (
        AnyHandler,
        ApplicationHandler,
        ErrorHandler,
        GetPath,
        Handler,
        OptionHandler,
        ReplaceRequest,
    )
    from kit.interface import ExecutionContext, HandlerResult, Router, RouterRoute
    from kit.web import BodyInit, HeadersInit, Request, RequestInit, Response

__all__ = ("Kit",)

_ErrorT = TypeVar("_ErrorT", bound=Exception)
_ErrorHandlerT = TypeVar("_ErrorHandlerT", bound="ErrorHandler[Any, Any]")
_ResultT = TypeVar("_ResultT", bound="HandlerResult")

OpenLifespan: TypeAlias = "Callable[[Kit[B, V]], AbstractAsyncContextManager[B | None]]"


class Kit(ASGIApplication, Generic[B, V]):
    """A web application.

    Register handlers with `get`, `post`, `put`, `delete`, `patch`, `query`, `options`, `all`, `on`
    and `use`. To handle requests, run the app on an ASGI server, or call `fetch` or `request`.
    Handlers and middleware run in the order they were registered.

    `B` is the type of `c.env`, `V` the type of `c.var`; both are TypedDicts and default to Any.

    Args:
        strict: Whether `/about` and `/about/` are different paths. Default: True.
        router: A router, or the name of an installed one. Default: SmartRouter with
            RegExpRouter and TrieRouter.
        get_path: Returns the routing path of a request. Default: the path of its URL.
        lifespan: Called with the app; returns an async context manager that a server enters before
            the first request and leaves after the last. The mapping it yields is the base of
            `c.env`.
        limits: Limits for request bodies.
        method_not_allowed: Whether a request whose path has only routes for other methods gets a
            405 instead of a 404, or a 204 for OPTIONS, both with `Allow`. Default: False.
        validation_status: The status of responses to invalid requests, such as 422, for each
            `RequestValidationError`. In an app that `route` adds, it applies to the app's routes.
            Default: that of the app around, or 400.
        encoders: By class, functions that encode its instances wherever the app writes JSON. They
            return a str or anything else that can be encoded. The function for the nearest base
            class counts.
        decoders: By class, functions that build an instance from text, or from the type with which
            their parameter is annotated, wherever the app reads values of a type. A ValueError,
            TypeError or the like means that the value doesn't fit, which is a 400.

    Raises:
        PluginError: If no router with this name is installed, or it can't be loaded.
        TypeError: If an argument is of the wrong type, or an encoder or decoder would never run,
            since the class already has a form in JSON.
        ValueError: If `validation_status` isn't the status of a client's error, 400 to 499.
    """

    if not TYPE_CHECKING and sys.version_info < (3, 13):

        def __class_getitem__(cls, arguments: Any) -> Any:
            return super().__class_getitem__(fill_arguments(cls, arguments))

    def __init__(
        self,
        *,
        strict: bool | None = None,
        router: Router[Any] | str | None = None,
        get_path: GetPath | None = None,
        lifespan: OpenLifespan[B, V] | None = None,
        limits: Limits = Limits(),  # noqa: B008 - immutable
        method_not_allowed: bool | None = None,
        validation_status: int | None = None,
        encoders: Mapping[Any, Callable[[Any], Any]] | None = None,
        decoders: Mapping[Any, Callable[[Any], Any]] | None = None,
    ) -> None:
        for name, value in (("get_path", get_path), ("lifespan", lifespan)):
            if value is not None and not callable(value):
                raise TypeError(f"Kit({name}=...) takes a function, not {value!r:.100}")
        for name, flag in (("strict", strict), ("method_not_allowed", method_not_allowed)):
            if flag is not None and not isinstance(flag, bool):
                raise TypeError(f"Kit({name}=...) takes True or False, not {flag!r:.100}")
        if validation_status is not None:
            check_validation_status(validation_status)
        if not isinstance(limits, Limits):
            raise TypeError(f"Kit(limits=...) takes Limits(...), not {limits!r:.100}")
        if get_path is not None:
            from kit.authoring.options import OptionChecks  # PERF: most apps have none

            OptionChecks("Kit").function("get_path", get_path, "(request)", plain=True)
        if lifespan is not None:
            check_lifespan(lifespan)
        routing: tuple[Router[Any], Callable[[], Router[Any]] | None]
        if router is None:
            routing = (default_router(), default_router)
        else:
            from kit._registration.routers import resolve_router  # PERF: most apps have none

            routing = resolve_router(router)
        open_lifespan = None if lifespan is None else partial(lifespan, self)
        self._state = AppState(
            table=RouteTable(*routing, strict=strict is not False),
            lifespan=Lifespan(open_lifespan, lifespan),
            limits=limits,
            codecs=TypeCodecs(encoders, decoders, factory="Kit"),
            strict=strict is not False,
            get_path=get_path,
            method_not_allowed=method_not_allowed is True,
            validation_status=validation_status,
            compose=compose,
        )
        options = {
            "strict": strict,
            "router": router,
            "get_path": get_path,
            "method_not_allowed": method_not_allowed,
        }
        self._state.given.update(name for name, value in options.items() if value is not None)
        self._registrations = Registrations(self._state)

    @property
    def routes(self) -> list[RouterRoute]:
        """All registered routes, in order.

        Raises:
            RuntimeError: If a decorator was never applied to a function.
        """
        self._state.check_pending()
        return list(self._state.table.routes)

    @property
    def router(self) -> Router[Any]:
        """The router in use."""
        return self._state.table.router

    @property
    def strict(self) -> bool:
        """Whether `/about` and `/about/` are different paths."""
        return self._state.strict

    @property
    def get_path(self) -> GetPath | None:
        """Returns the routing path of a request; None for the path of its URL."""
        return self._state.get_path

    @property
    def codecs(self) -> TypeCodecs:
        """The encoders and decoders, with those of the apps added by `route`."""
        return self._state.codecs

    @property
    def validation_status(self) -> int:
        """The status of validation errors, apart from those of apps with their own setting."""
        return ErrorHandlers.find_validation_status(self._state.error_handlers) or 400

    @property
    def body_limits(self) -> Mapping[str, int]:
        """The limits of request bodies that differ from the defaults, by name; see `Limits`."""
        return self._state.limits.of_bodies

    @property
    def get(self) -> Verb[Self, B, V]:
        """Registers handlers for GET and HEAD; see `Verb`."""
        return Verb(self, self._registrations, "GET", "get")

    @property
    def post(self) -> Verb[Self, B, V]:
        """Registers handlers for POST; see `Verb`."""
        return Verb(self, self._registrations, "POST", "post")

    @property
    def put(self) -> Verb[Self, B, V]:
        """Registers handlers for PUT; see `Verb`."""
        return Verb(self, self._registrations, "PUT", "put")

    @property
    def delete(self) -> Verb[Self, B, V]:
        """Registers handlers for DELETE; see `Verb`."""
        return Verb(self, self._registrations, "DELETE", "delete")

    @property
    def patch(self) -> Verb[Self, B, V]:
        """Registers handlers for PATCH; see `Verb`."""
        return Verb(self, self._registrations, "PATCH", "patch")

    @property
    def query(self) -> Verb[Self, B, V]:
        """Registers handlers for QUERY (RFC 10008); see `Verb`. It isn't `c.req.query`."""
        return Verb(self, self._registrations, "QUERY", "query")

    @property
    def options(self) -> Verb[Self, B, V]:
        """Registers handlers for OPTIONS; see `Verb`."""
        return Verb(self, self._registrations, "OPTIONS", "options")

    @property
    def all(self) -> Verb[Self, B, V]:
        """Registers handlers for every method; see `Verb`."""
        return Verb(self, self._registrations, METHOD_NAME_ALL, "all")

    @overload
    def use(
        self, path: str = ..., /, *, use: Use[B, V] = ...
    ) -> Callable[[HandlerT], HandlerT]: ...
    @overload
    def use(
        self,
        path: str,
        middleware: AnyHandler[B, V],
        /,
        *more: AnyHandler[B, V],
        use: Use[B, V] = ...,
    ) -> Self: ...
    @overload
    def use(
        self,
        middleware: AnyHandler[B, V],
        /,
        *more: AnyHandler[B, V],
        use: Use[B, V] = ...,
    ) -> Self: ...
    def use(self, *arguments: Any, use: Any = (), **others: Any) -> Any:
        """Registers middleware for every method; it wraps the handlers registered after it.

        Args:
            *arguments: A route pattern (default: `*`), then middleware.
            use: One middleware that runs before them, or a sequence.
            **others: Not accepted.

        Raises:
            TypeError: If a middleware can't be called with `(c, next)` or `(c)`.
            UnsupportedPathError: If the router doesn't support the pattern.
            RouterClosedError: If the app has already handled a request.
        """
        paths, handlers = split_arguments("use", arguments)
        call = f"use({paths[0]!r})" if paths else "use()"
        refuse_keywords(call, others)
        decorator = self._registrations.register(
            call, [METHOD_NAME_ALL], paths or ["*"], handlers, use, has_path=paths is not None
        )
        return decorator or self

    @overload
    def on(
        self,
        method: str | Sequence[str],
        path: str | Sequence[str],
        /,
        *,
        use: Use[B, V] = ...,
    ) -> Callable[[HandlerT], HandlerT]: ...
    @overload
    def on(
        self,
        method: str | Sequence[str],
        path: str | Sequence[str],
        handler: AnyHandler[B, V],
        /,
        *handlers: AnyHandler[B, V],
        use: Use[B, V] = ...,
    ) -> Self: ...
    def on(
        self,
        method: str | Sequence[str],
        path: str | Sequence[str],
        /,
        *handlers: Any,
        use: Any = (),
        **others: Any,
    ) -> Any:
        """Registers handlers for one or more methods and paths; custom methods are allowed.

        Args:
            method: A method or a list of methods, in any letter case.
            path: A route pattern or a list of them.
            *handlers: Handlers and middleware.
            use: One middleware that runs before them, or a sequence.
            **others: Not accepted.

        Raises:
            TypeError: As for `get`, or if a method or path is not a str.
            ValueError: If a method is HEAD, which the routes for GET handle.
            UnsupportedPathError: If the router doesn't support a pattern.
            RouterClosedError: If the app has already handled a request.
        """
        call = f"on({method!r}, {path!r})"
        refuse_keywords(call, others)
        methods = strings(f"The method of {call}", method)
        paths = strings(f"The path of {call}", path)
        if methods[0].startswith("/"):
            raise ValueError(f"{call}: the method comes first")
        if any(each.upper() == "HEAD" for each in methods):
            raise ValueError(f"{call} would never run: a HEAD request is handled by the GET route")
        return self._registrations.register(call, methods, paths, handlers, use) or self

    @overload
    def on_error(self, /) -> Callable[[_ErrorHandlerT], _ErrorHandlerT]: ...
    @overload
    def on_error(
        self, error: type[_ErrorT], /
    ) -> Callable[
        [Callable[[_ErrorT, Context[B, V]], _ResultT]],
        Callable[[_ErrorT, Context[B, V]], _ResultT],
    ]: ...
    @overload
    def on_error(
        self, error: type[_ErrorT], handler: Callable[[_ErrorT, Context[B, V]], HandlerResult], /
    ) -> Self: ...
    @overload
    def on_error(self, handler: ErrorHandler[B, V], /) -> Self: ...
    def on_error(self, *arguments: Any) -> Any:
        """Sets the error handler: `handler(error, c)`, plain or async.

        On an app returned by `base_path`, the handler handles exceptions of the routes registered
        with that app. If it raises an exception itself, the outer app handles that exception.

        Args:
            *arguments: The handler. To handle only certain exceptions, put their class before it.
                The handler for the most specific class of an exception handles it.

        Returns:
            This app; without a handler, a decorator that returns its function unchanged.

        Raises:
            TypeError: If the handler can't be called or takes the context first, or the class isn't
                an exception class.
            RuntimeError: If the app was already added to another one.
        """
        kind: Any = Exception
        if arguments and isinstance(arguments[0], type):
            kind, *arguments = arguments  # type: ignore[assignment]
            if not issubclass(kind, Exception):
                raise TypeError(
                    f"on_error() takes a class derived from Exception, not {kind.__qualname__}"
                )
        elif len(arguments) > 1:
            raise TypeError(
                "on_error() takes an exception class and a handler, or only a handler: "
                f"expected a class first, not {arguments[0]!r:.100}"
            )
        call = "on_error()" if kind is Exception else f"on_error({kind.__qualname__})"

        def check_and_set(function: Any) -> None:
            check_function("on_error", function, ("error", "c"))
            self._registrations.check_open("on_error")
            self._state.on_error.set(kind, function)

        return self._set(call, check_and_set, arguments)

    @overload
    def not_found(self, /) -> Callable[[HandlerT], HandlerT]: ...
    @overload
    def not_found(self, handler: Handler[B, V], /) -> Self: ...
    def not_found(self, *arguments: Any) -> Any:
        """Sets the handler for requests that match no route: `handler(c)`, plain or async.

        On an app returned by `base_path`, the handler handles requests below the prefix.

        Args:
            *arguments: The handler.

        Returns:
            This app; without a handler, a decorator that returns its function unchanged.

        Raises:
            TypeError: If the handler can't be called.
            RuntimeError: If the app was already added to another one.
        """

        def check_and_set(function: Any) -> None:
            check_function("not_found", function, ("c",))
            self._registrations.check_open("not_found")
            self._state.set_not_found(function)
            self._registrations.add_lifespan(function)

        return self._set("not_found()", check_and_set, arguments)

    def format_errors(self, function: ErrorFormat, /) -> Self:
        """Sets the format of errors that no `on_error` or `not_found` handles.

        kit-problem-details, for instance, sends each as a problem document. For an app that `route`
        adds or `base_path` returns, the format applies to its routes, and to the paths below its
        prefix.

        Args:
            function: `function(error, c)`, not async. It gets each HTTPException, such as the 404
                of a path without a route, and each other exception, which would become the plain
                500. It returns the HTTPException to send instead, or None for the default response.
                An exception that becomes a 500 or higher is logged. To document the type of the
                bodies, attach it: `attach(function, error_type=Problem)`.

        Returns:
            This app.

        Raises:
            TypeError: If the function can't be called with `(error, c)`, or is async.
            RuntimeError: If the app was already added to another one.
        """
        check_function("format_errors", function, ("error", "c"))
        if is_async(function):
            raise TypeError(
                f"format_errors() takes a plain function: {describe(function)} is async"
            )
        self._registrations.check_open("format_errors")
        self._state.on_error.format = function
        return self

    @property
    def error_format(self) -> ErrorFormat | None:
        """The function given to `format_errors`, or None."""
        return ErrorHandlers.find_format(self._state.error_handlers)

    def route(self, path: str, app: Kit[Any, Any], /) -> Self:
        """Adds all routes of another app below a path.

        The routes are copied, so the other app must be complete. Its own `on_error`, if any,
        handles the errors of its routes; this app handles exceptions raised there. Its lifespan
        runs with this app's. Its `limits` apply to its routes, together with this app's; its
        `not_found` and `method_not_allowed` apply below the path, its `validation_status` to its
        routes. Its `encoders` and `decoders` are added to this app's. The app that receives a
        request determines `strict`, `get_path` and the router, so the other app can't set different
        ones.

        Args:
            path: The prefix for its routes, e.g. `/api`; may have parameters.
            app: The other app.

        Returns:
            This app.

        Raises:
            TypeError: If `path` is not a str or `app` not a Kit.
            ValueError: If `app` is this app; if it was created with a different `strict`,
                `get_path` or router, or with larger `limits`; if both apps have a `not_found` for
                the same paths; or if they have different encoders or decoders for a class.
            RuntimeError: If a decorator of the other app was never applied to a function.
            UnsupportedPathError: If the router doesn't support one of the routes.
            RouterClosedError: If this app has already handled a request.
        """
        check_path("route", path)
        if not isinstance(app, Kit):
            raise TypeError(f"route({path!r}, ...) takes a Kit app, not {app!r:.100}")
        state, other = self._state, app._state
        if other.table is state.table:
            raise ValueError(f"route({path!r}, ...) was given the app itself")
        other.check_pending()
        check_options(f"route({path!r}, ...)", state, other)
        state.codecs.merge(other.codecs, f"route({path!r}, ...)")
        prefix = merge_path(state.base_path, path)
        place = f"route({path!r}) at {describe_call_site()}"
        parts = state.parts(other, prefix, place)
        routes = [route.below(prefix, state.codecs) for route in other.table.routes]
        limits = (other.limits,) if other.limits.changes else ()
        for route in routes:
            route.add_error_handlers(other.error_handlers)
            route.limits += limits
        self._registrations.add_routes(routes)
        state.add_parts(parts)
        if limits or other.has_limited_parts:
            state.limit_parts()
        state.given |= other.given & ONE_FOR_ALL
        other.table.routed = place
        state.lifespan.children.append(other.lifespan)
        state.table.linked += other.table.linked
        return self

    def path_to(
        self,
        handler: Callable[..., Any] | str,
        /,
        *,
        query: Any = None,
        **values: Any,
    ) -> str:
        """Returns the path of the route of a handler, e.g. for a link in an email.

        It doesn't have the path that the app is served below, which only a request knows: in a
        request, use `c.path_to`.

        Args:
            handler: The registered function, or its name, if need be with names around it, such as
                `books.read_book`.
            query: The query as a mapping: a value, or a list of values, for each name. None leaves
                a name out. Anything but a mapping is the value of a parameter named `query`.
            **values: The values of the path's parameters; for typed endpoints, also those of
                parameters that are read from the query. None leaves an optional one out.

        Returns:
            The path and the query, percent-encoded.

        Raises:
            LookupError: If the handler has no route; if it has several, and the values don't decide
                between them; or if several handlers have the name.
            TypeError: If a value is missing or can't be text, or the route has no such parameter.
            ValueError: If a value doesn't match the pattern, or the endpoint would refuse it; if it
                is `.`, `..` or empty; or if it has a slash, but its parameter is one segment.
            RuntimeError: If the app is part of another one, or has a `get_path`.

        Example:
            ```python
            app.path_to(read_book, id=7)  # "/books/7"
            ```
        """
        return self._state.path_to(handler, query, values)

    def link(self, *handlers: Callable[..., Any] | str) -> Self:
        """Declares that the app has links to handlers, so that it doesn't start without them.

        In an app that is added by `route`, the handlers may be those of the other apps, too.

        Args:
            *handlers: Functions, or names as for `path_to`. At startup, and at the first request,
                a LookupError is raised if one of them has no route.

        Returns:
            This app.

        Raises:
            TypeError: If one is neither a function nor a name.
            RuntimeError: If the app was already added to another one.
        """
        place = f"link() at {describe_call_site()}"
        for handler in handlers:
            if not callable(handler) and not isinstance(handler, str):
                raise TypeError(f"link() takes handlers or their names, not {handler!r:.100}")
        self._registrations.check_open("link")
        self._state.table.linked += [(handler, place) for handler in handlers]
        return self

    def base_path(self, path: str, /) -> Self:
        """Returns an app that adds a prefix to every path it registers.

        The new app shares routes, router and lifespan with this app, so serving either app serves
        both. Its `on_error` and `not_found` apply to its own routes and the paths below its prefix;
        the handlers of this app apply to everything else.

        Args:
            path: The prefix, e.g. `/api/v1`; appended to the prefix of this app.

        Returns:
            The new app.

        Raises:
            TypeError: If `path` is not a str.
        """
        check_path("base_path", path)
        app = object.__new__(type(self))
        app.__dict__.update(self.__dict__)
        app._state = self._state.below(merge_path(self._state.base_path, path))
        app._registrations = Registrations(app._state)
        return app

    def mount(
        self,
        path: str,
        application_handler: ApplicationHandler,
        /,
        *,
        option_handler: OptionHandler | None = None,
        replace_request: ReplaceRequest | bool | None = None,
    ) -> Self:
        """Passes every request below a path to another framework.

        The application gets a request with a URL that begins after `path`. If it returns None,
        the app tries the routes registered after it. The lifespan of a mounted application runs
        with this app's if it is wrapped by `kit.asgi.from_asgi`, or is the `fetch` method of a Kit
        app.

        Args:
            path: The path of the application, e.g. `/legacy`; includes everything below it.
            application_handler: Called with the request, the bindings and the execution context
                (None if there is none); returns a Response. For ASGI and WSGI applications, see
                `kit.asgi`.
            option_handler: Called with the context; returns the arguments that follow the request,
                in place of bindings and execution context: a list or a single value.
            replace_request: Returns the request to pass on, in place of the one with the shorter
                URL; False passes on the original request.

        Returns:
            This app.

        Raises:
            TypeError: If an argument is of the wrong type.
            UnsupportedPathError: If the router doesn't support the path.
            RouterClosedError: If the app has already handled a request.
        """
        check_path("mount", path)
        call = f"mount({path!r}, ...)"
        if isinstance(application_handler, Kit):
            raise TypeError(f"{call} was given a Kit app: use route(), or mount its fetch method")
        from kit._registration.mount import mounted_handler  # here, since most apps mount nothing

        handler = mounted_handler(call, application_handler, option_handler, replace_request)
        self._registrations.add([METHOD_NAME_ALL], [merge_path(path, "*")], [handler])
        lifespan = getattr(application_handler, "lifespan", None)
        mounted = getattr(application_handler, "__self__", None)
        if callable(lifespan):  # from_asgi
            self._state.lifespan.mount(lifespan)
        elif isinstance(mounted, Kit) and mounted._state.lifespan is not self._state.lifespan:
            self._state.lifespan.mount(mounted.running)  # its fetch method
        return self

    async def fetch(
        self,
        request: Request,
        env: Mapping[str, Any] | None = None,
        execution_ctx: ExecutionContext | None = None,
    ) -> Response:
        """Handles a request in process.

        Args:
            request: The request.
            env: Bindings for `c.env`; they override the bindings of a running lifespan.
            execution_ctx: The value of `c.execution_ctx`.

        Returns:
            The response. An exception in a handler results in an error response.

        Raises:
            UnsupportedPathError: If the router detects only now that it doesn't support a route.
            TypeError: If an argument is of the wrong type.
        """
        from kit._serving.in_process import check_fetch  # here, since apps on servers don't need it

        state = self._state
        check_fetch(request, env, execution_ctx)
        path = path_of_request(request)
        c: Context[B, V] = create_context(state, request, path, env, execution_ctx)
        try:
            await c._run(c)
            response = final_response(c)
            if request.method == "HEAD":
                response = without_body(response, c)
        except BaseException as error:
            await c._run_exits(error)
            raise
        scope = request.scope
        if c._exits is not None or (scope is not None and "kit.websocket" in scope):
            from kit._serving.in_process import end_in_process

            await end_in_process(request, response, c._run_exits)
        return response

    async def request(
        self,
        input: Any,
        init: RequestInit | None = None,
        env: Mapping[str, Any] | None = None,
        execution_ctx: ExecutionContext | None = None,
        *,
        method: str | None = None,
        headers: HeadersInit | None = None,
        body: BodyInit | None = None,
        json: Any = None,
    ) -> Response:
        """Builds a request and handles it; meant for tests.

        Args:
            input: A path such as `/users?page=2`, resolved against `http://localhost`; a URL as
                text or any URL object; or a `Request`.
            init: Method, headers and body, as in the Fetch standard.
            env: As for `fetch`.
            execution_ctx: As for `fetch`.
            method: HTTP method. Default: GET.
            headers: A `Headers`, a mapping, or pairs.
            body: The body.
            json: A value to send as the body, encoded as `Context.json` encodes it, with the
                Content-Type `application/json` unless the headers have one. None: no body.

        Returns:
            The response.

        Raises:
            ValueError: If the URL, the method or a header is invalid.
            TypeError: If an argument is of the wrong type, if a GET or HEAD request is given a
                body, if `json` can't be encoded, or if a value is given twice.

        Example:
            ```python
            response = await app.request("/books", method="POST", json={"title": "Dune"})
            ```
        """
        from kit._serving.in_process import build_request

        keywords = {"method": method, "headers": headers, "body": body}
        request = build_request(input, init, keywords, json, self._state.codecs)
        return await self.fetch(request, env, execution_ctx)

    def running(self) -> AbstractAsyncContextManager[None]:
        """Runs the lifespan in process: in a test, or in a host that runs no lifespans.

        The context manager may be entered several times: the first entry starts the lifespan, the
        last exit stops it. If a lifespan holds a task group or a cancel scope open, anyio requires
        the task that enters first to leave last.

        Returns:
            An async context manager. Entering it raises the startup's exceptions, RuntimeError if a
            decorator was never applied to a function, and TypeError if the lifespan isn't an async
            context manager or doesn't yield a mapping.
        """
        return self._state.lifespan.running()

    def __rsgi__(self, scope: Any, protocol: Any) -> Coroutine[Any, Any, None]:
        """Serves a request or WebSocket from an RSGI server, such as granian, through kit-rsgi.

        Args:
            scope: The RSGI scope.
            protocol: The RSGI protocol.

        Raises:
            ModuleNotFoundError: If kit-rsgi is not installed.
        """
        return import_rsgi().serve(self, scope, protocol)  # type: ignore[no-any-return]

    def __rsgi_init__(self, loop: Any) -> None:
        """Runs the lifespan's startup before an RSGI server starts to serve.

        Args:
            loop: The event loop, which isn't running yet.

        Raises:
            Exception: The exception of the startup.
            ModuleNotFoundError: If kit-rsgi is not installed.
        """
        self._stop_lifespan = import_rsgi().start_lifespan(self, loop)

    def __rsgi_del__(self, loop: Any) -> None:
        """Runs the lifespan's shutdown after an RSGI server has stopped serving.

        Args:
            loop: The event loop, which is no longer running.

        Raises:
            Exception: The exception of the shutdown.
        """
        self._stop_lifespan()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            from kit._hints.table import hint

            text = f"{type(self).__name__!r} object has no attribute {name!r}{hint('app', name)}"
            raise AttributeError(text, name=name, obj=self)

    def _set(self, call: str, add: Callable[[Any], None], arguments: Sequence[Any]) -> Any:
        """Sets a handler, or returns the decorator that does."""
        if not arguments:
            return self._registrations.decorator(call, add)
        if len(arguments) > 1:
            raise TypeError(f"{call} takes one handler, not {len(arguments)}")
        add(arguments[0])
        return self
