# SPDX-License-Identifier: MIT
"""The decorator of typed endpoints."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import iscoroutinefunction
from types import FrameType, UnionType
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    overload,
)

from kit.interface import App, Context, Response, RouterRoute, ValidationProblem
from kit.interface.callers import calling_frame
from kit.interface.metadata import attach, facts_of, security_of_all
from kit.interface.models import check_union
from kit.interface.options import OptionChecks
from kit.interface.patterns import covers
from kit.interface.signatures import describe

from ._plan import Plan, read_overrides
from ._running import Answers
from ._shown import shown_type
from ._signature import REQUIRED, Signature, is_connection, read_signature, unwrapped
from ._source import Source
from ._types import aliased, allows_none, split
from ._unread import unread_name

P = ParamSpec("P")
R = TypeVar("R")

_ALL = "ALL"
# SPEC: RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5: responses with these statuses have no content.
_WITHOUT_CONTENT = (204, 205, 304)


class Typed(Generic[P, R]):
    """A function whose parameters are read from the request.

    An app compiles it to a handler for each of its routes. Called with its own parameters, e.g. in
    a unit test, it runs the function. Called with only the context of a request, as by functions
    that wrap a handler, it handles the request.

    Args:
        function: The function.
        signature: Its parameters.
        status: The status of its result, or None.
    """

    __slots__ = ("__dict__", "__weakref__", "_function", "_made", "_signature", "_status")

    def __init__(self, function: Callable[P, R], signature: Signature, status: int | None) -> None:
        self._function = function
        self._signature = signature
        self._status = status
        self._made: dict[tuple[str, ...], Any] = {}
        functools.update_wrapper(self, function)

    @overload
    def __call__(self, c: Context[Any, Any], /) -> Awaitable[Response | None]: ...
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function; or handles the request, if a context is the only argument."""
        if len(args) == 1 and not kwargs and hasattr(type(args[0]), "matched_routes"):
            return self._answer(args[0])
        return self._function(*args, **kwargs)

    async def _answer(self, c: Context[Any, Any]) -> Response | None:
        routes = c.matched_routes
        if not routes:  # as the handler of not_found
            return await self._answer_at(c, _ALL, "/*")
        route = routes[c.req.route_index]
        bound = getattr(route.handler, "__dict__", {}).get("__wrapped__")
        while bound is not None and getattr(bound, "__dict__", {}).get("__wrapped__") is not self:
            bound = getattr(bound, "__dict__", {}).get("__wrapped__")
        if bound is None:  # a wrapper that doesn't refer to the wrapped function
            return await self._answer_at(c, route.method, route.path)
        response = bound(c)
        return cast("Response | None", await response if _is_later(response) else response)

    async def _answer_at(self, c: Context[Any, Any], *place: str) -> Response | None:
        bound = self._made.get(place)
        if bound is None:
            bound = self._made[place] = self.__kit_bind__(*place)
        response = bound(c)
        return cast("Response | None", await response if _is_later(response) else response)

    def __kit_function__(self) -> Callable[P, R]:
        """Returns the function, for dependencies that are also endpoints."""
        return self._function

    def __kit_bind__(self, method: str, pattern: str) -> Callable[[Context[Any, Any]], Any]:
        """Compiles the handler for a route; see `kit.interface.binding`."""
        signature = self._signature
        if signature.connections:
            signature.refuse(
                f"the parameter {signature.connections[0]!r} is a WebSocket, which no decorator "
                f"above accepts ({method} {pattern!r}): write @upgrade_websocket, imported from "
                "kit.websocket, between the route and @typed"
            )
        return self._bound_to(method, pattern)

    def __kit_bind_websocket__(
        self, method: str, pattern: str
    ) -> Callable[[Context[Any, Any]], Any]:
        """Compiles the handler of connections for a route; see `kit.interface.binding`."""
        signature = self._signature
        if not signature.connections:
            signature.refuse(
                f"@upgrade_websocket is above it, but it takes no WebSocket ({method} {pattern!r}):"
                " add the parameter ws: WebSocket, with the type imported from kit.websocket"
            )
        if method not in ("GET", _ALL):
            signature.refuse(
                f"it is registered for {method} ({pattern!r}), but the handshake of a WebSocket is "
                "a GET request: write @app.get()"
            )
        return self._bound_to("GET", pattern)

    def _bound_to(self, method: str, pattern: str) -> Callable[[Context[Any, Any]], Any]:
        route = _Route(self._signature, self._status, method, pattern)
        handler = route.handler
        handler.__dict__.update(
            __wrapped__=self,
            __kit_origin__=self._function,
            __kit_check__=route.check,
            __kit_route__=route,
        )
        for name in ("__qualname__", "__module__", "__doc__"):
            setattr(handler, name, getattr(self._function, name, getattr(handler, name)))
        bound: Callable[[Context[Any, Any]], Any] = route.with_facts(handler)
        return bound

    def __repr__(self) -> str:
        return f"typed({self._function!r})"


class _Route:
    """An endpoint at one method and pattern.

    Args:
        signature: The endpoint.
        status: The status of its result, or None.
        method: The method.
        pattern: The whole pattern.
    """

    def __init__(self, signature: Signature, status: int | None, method: str, pattern: str) -> None:
        self._signature = signature
        self._status = status
        self._method = method
        self._pattern = pattern
        self._overrides: list[Mapping[Any, Signature]] = []
        empty = 204 if status is None else status
        self._answers = Answers(status, empty)
        self.plan, self.source = self._compiled()
        self.handler = self.source.compile()
        self._code = self.handler.__code__

    def _compiled(self) -> tuple[Plan, Source]:
        overrides = {key: value for each in self._overrides for key, value in each.items()}
        plan = Plan(self._signature, self._method, self._pattern, overrides)
        return plan, Source(plan, self._answers, self._status)

    def override(self, overrides: Mapping[Any, Signature]) -> None:
        """Replaces dependencies by other functions from now on."""
        self._overrides.append(overrides)
        try:
            self._replace()
        except TypeError:
            self._overrides.remove(overrides)
            raise

    def restore(self, overrides: Mapping[Any, Signature]) -> None:
        """Ends an `override`."""
        self._overrides = [each for each in self._overrides if each is not overrides]
        self._replace()

    def _replace(self) -> None:
        # The app already has the handler, so the handler gets other code of the same kind.
        if not self._overrides:
            self.handler.__code__ = self._code
            return
        _, source = self._compiled()
        self.handler.__globals__["_overridden"] = source.compile()
        is_async = iscoroutinefunction(self.handler)
        self.handler.__code__ = (_await_overridden if is_async else _call_overridden).__code__

    def check(self, before: Sequence[RouterRoute], route: RouterRoute | None = None) -> None:
        """Rejects parameters that nothing provides, and names in the pattern that nothing reads.

        See `kit.interface.binding`.
        """
        place = f"{self._method} {self._pattern!r}"
        for signature, name in self.plan.absent:
            signature.refuse(
                f"Path() reads the parameter {name!r} of the path, which {place} doesn't have"
            )
        if route is not None:
            self._check_names(before, route)
        needed = [
            each
            for each in self.plan.values
            if not each.is_env
            and each.parameter.is_required
            and not allows_none(each.parameter.annotation)
        ]
        provided = self._provided(before) if needed else set()
        for value in needed:
            if value.name not in provided:
                value.signature.refuse(
                    f"Var() reads the variable {value.name!r} ({place}), which no middleware before"
                    " the route provides: register the middleware before it; if its factory "
                    "doesn't declare the variable, declare it with "
                    f"kit.interface.metadata.attach(middleware, provides={{{value.name!r}: type}})"
                )

    def _check_names(self, before: Sequence[RouterRoute], route: RouterRoute) -> None:
        """Rejects a parameter of the route's own pattern that nothing reads."""
        read = self.plan.path_names
        # A dependency or a decorator above @typed that gets the context can read all of them.
        if read is None or self._is_wrapped(route.handler):
            return
        name = unread_name(route, before, read)
        if name is None:
            return
        added = f"{name}: str" if name.isidentifier() else f"with Path({name!r})"
        self._signature.refuse(
            f"the pattern {self._pattern!r} ({self._method}) has {':' + name!r}, which no "
            f"parameter reads: add a parameter {added}, or remove it from the pattern, or write * "
            "there"
        )

    def _is_wrapped(self, handler: Any) -> bool:
        """Returns whether a decorator is between the route and this handler."""
        layers = 0
        while handler is not None and handler is not self.handler:
            layers += 1
            handler = getattr(handler, "__wrapped__", None)
        return handler is None or layers > (1 if self.plan.connection else 0)

    def _provided(self, before: Sequence[RouterRoute]) -> set[str]:
        names: set[str] = set()
        for route in before:
            provides = facts_of(route.handler).provides if route.takes_next else ()
            is_around = provides and route.method in (_ALL, self._method)
            if is_around and covers(route.path, self._pattern):
                names.update(provides)
        return names

    def with_facts(self, handler: Any) -> Any:
        """Attaches the metadata of the endpoint for tools."""
        plan = self.plan
        validates: dict[Any, Any] = {}
        for part in plan.parts:
            if part.target not in validates:
                same = [each for each in plan.parts if each.target == part.target]
                validates[part.target] = shown_type(same)
        if plan.body is not None:
            validates["json"] = plan.body.shown_type
            attach(handler, body_required=plan.body.default is REQUIRED)
        responses: dict[int, Any] = {}
        for call in plan.calls:
            responses.update(facts_of(call.signature.function).responses)
        if validates:
            responses[400] = ValidationProblem
        if not plan.connection:
            responses.update(_responses(self._signature.returns, self._status))
        attach(handler, validates=validates, responses=responses, source=self.source.text)
        # The exceptions of these functions are documented too.
        calls = tuple(call.signature.function for call in plan.calls)
        if calls:
            attach(handler, typed_calls=calls)
        # Every guard among the dependencies can reject a request.
        security = security_of_all([self._signature.function, *calls])
        return attach(handler, security=security) if security else handler


_overridden: Any = None  # the code below runs with the globals of a handler


def _call_overridden(c: Any) -> Any:
    return _overridden(c)


async def _await_overridden(c: Any) -> Any:
    response = _overridden(c)
    return await response if hasattr(response, "__await__") else response


def _responses(returns: Any, status: int | None) -> dict[int, Any]:
    """Returns the responses of an endpoint, from its return annotation."""
    kind, _ = split(returns)
    if kind is REQUIRED or kind is Any:
        return {}
    if kind is None or kind is type(None):
        return {204 if status is None else status: None}
    data = _data_of(returns)
    found: dict[int, Any] = {}
    if data is not None:
        found[200 if status is None else status] = data
    if allows_none(returns) and status is None:
        found[204] = None
    return found


def _data_of(kind: Any) -> Any:
    """Returns a type without None and without responses; None if nothing else is in it."""
    inner, metadata = split(kind)
    if (value := aliased(inner)) is not None and (allows_none(value) or _has_response(value)):
        inner = value
    origin, held = get_origin(inner), get_args(inner)
    data = inner
    if origin is Literal:
        values = tuple(each for each in held if each is not None)
        data = Literal[values] if values else None
    elif origin in (Union, UnionType):
        members = tuple(each for each in map(_data_of, held) if each is not None)
        data = Union[members] if members else None  # noqa: UP007
    elif inner is type(None) or _is_response(inner):
        return None
    if data is None or not metadata:
        return data
    return Annotated[(data, *metadata)]


def _has_response(kind: Any) -> bool:
    return any(map(_is_response, (kind, *get_args(kind))))


def _is_response(kind: Any) -> bool:
    return all(hasattr(kind, name) for name in ("status", "headers", "body_used"))


def _is_later(value: Any) -> bool:
    return hasattr(value, "__await__")


@overload
def typed(function: Callable[P, R], /) -> Typed[P, R]: ...
@overload
def typed(*, status: int | None = None) -> Callable[[Callable[P, R]], Typed[P, R]]: ...
def typed(function: Any = None, /, *, status: int | None = None) -> Any:
    """Creates a handler from a function whose parameters are read from the request.

        @app.get("/books/:id")
        @typed
        async def read_book(id: int, db: Annotated[Pool, Env("db")]) -> Book: ...

    A parameter with the name of a path parameter is read from the path; a dataclass, msgspec
    Struct, TypedDict, attrs class or pydantic model is the JSON body; a parameter of a simple type,
    or a list of them, is read from the query. To read from elsewhere, use `Annotated` with `Query`,
    `Header`, `Cookie`, `Form`, `File`, `Body`, `Path`, `Env`, `Var` or `Depends`. `c: Context` is
    the context.

    `ws: WebSocket` is the connection; it needs `@upgrade_websocket` above `@typed`. All other
    parameters are read during the handshake, which is rejected if they are invalid.

    All errors of a request are reported in one problem document with status 400. A returned
    Response is sent unchanged, None becomes 204, anything else is sent as JSON.

    The signature is read here, and compiled into code for each route at registration, so requests
    don't pay for inspection.

    Args:
        function: The function, plain or async. Without it, a decorator is returned.
        status: The status of the result. Default: 200, or the status set by `c.status`; 204 for
            None.

    Returns:
        The handler, which a unit test can call like the function.

    Raises:
        TypeError: If nothing can provide a parameter, or if `function` can't be an endpoint. For
            mistakes that depend on the route, it is raised when the handler is registered.
        ValueError: If the status isn't valid for a response.
    """
    check = OptionChecks("typed")
    if status is not None:
        check.number("status", status, least=200, most=599)
    # The names in annotations may be local to the function that defines the endpoint.
    names = calling_frame()[0].f_locals
    if function is not None:
        return _typed(function, status, names)
    return lambda each: _typed(each, status, names)


def _typed(function: Any, status: int | None, names: Mapping[str, Any]) -> Typed[Any, Any]:
    if not callable(function) or isinstance(function, type):
        raise TypeError(f"typed() takes a function, not {function!r:.100}")
    function = unwrapped(function)
    if facts_of(function).others.get("kit_websocket"):
        raise TypeError(
            f"typed() was given {describe(function)}, which @upgrade_websocket has already "
            f"wrapped: put @upgrade_websocket above @typed"
        )
    signature = read_signature(function, names)
    if signature.mode in ("manager", "async manager"):
        signature.refuse(
            "it yields or returns a context manager, so it can't be an endpoint: return "
            "c.body(stream()) for a stream, and use such a function in Depends()"
        )
    if signature.connections:
        _check_connections(signature, status)
    try:
        check_union(signature.returns)  # a document of the app would crash the process
    except TypeError as error:
        signature.refuse(f"the type of its result can't be documented: {error}")
    if status in _WITHOUT_CONTENT and 200 in _responses(signature.returns, None):
        signature.refuse(
            f"a response with the status {status} has no body: return None, or leave the status out"
        )
    return Typed(function, signature, status)


def _check_connections(signature: Signature, status: int | None) -> None:
    for parameter in signature.parameters:
        name, kind = parameter.name, parameter.annotation
        if is_connection(parameter) and get_origin(kind) is not None:
            signature.refuse(
                f"the parameter {name!r} has the type {kind!r:.100}, but a handshake opens one "
                f"connection, which is never absent: write {name}: WebSocket"
            )
    first, *others = signature.connections
    if others:
        signature.refuse(
            f"the parameters {first!r} and {others[0]!r} are both a WebSocket, but a handshake "
            "opens one connection: keep one"
        )
    if status is not None:
        signature.refuse(
            f"it takes a WebSocket, {first!r}, so the status {status} is never sent: leave it out"
        )
    if signature.mode == "plain" and signature.returns in (None, type(None)):
        signature.refuse(f"it takes a WebSocket, {first!r}, so it has to be async: write async def")


@contextmanager
def override(
    app: App, dependencies: Mapping[Callable[..., Any], Callable[..., Any]], /
) -> Iterator[None]:
    """Replaces dependencies by other functions, in tests.

        with override(app, {get_pool: lambda: fake_pool}):
            response = await app.request("/books/1")

    It applies to all currently registered routes of the app, until the end of the block.

    Args:
        app: The app.
        dependencies: A mapping of functions given to `Depends` to the functions to call instead.
            Their parameters are read like those of any dependency.

    Raises:
        TypeError: If a function can't be a dependency of one of these routes.
        LookupError: If no route of the app uses a dependency.
    """
    frame: FrameType | None = calling_frame()[0]
    while frame is not None and frame.f_globals.get("__name__") == "contextlib":
        frame = frame.f_back  # `with` calls this generator through contextlib
    signatures = read_overrides(dependencies, {} if frame is None else frame.f_locals)
    routes = [route for each in app.routes for route in _routes_of(each.handler)]
    used = {call for route in routes for call in route.plan.functions}
    for function in signatures:
        if function not in used:
            raise LookupError(f"override() was given {function!r:.100}, which no route uses")
    changed = []
    try:
        for route in routes:
            route.override(signatures)
            changed.append(route)
        yield
    finally:
        for route in changed:
            route.restore(signatures)


def _routes_of(handler: Any) -> Iterator[_Route]:
    while handler is not None:
        attributes = getattr(handler, "__dict__", {})
        if "__kit_route__" in attributes:
            yield attributes["__kit_route__"]
            return
        handler = attributes.get("__wrapped__")
