# SPDX-License-Identifier: MIT
"""The decorator of typed endpoints."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import (
    Any,
    Generic,
    NamedTuple,
    ParamSpec,
    TypeVar,
    cast,
    get_origin,
    overload,
)

from msgspec import UNSET, UnsetType

from kit.authoring.caller_frame import find_caller_frame
from kit.authoring.maybe_await import is_awaitable
from kit.authoring.models import check_union
from kit.authoring.options import OptionChecks
from kit.authoring.signatures import copy_names, describe
from kit.interface import METHOD_NAME_ALL, Codecs, Context, Response
from kit.interface.metadata import get_facts

from .._results.responses import describe_responses
from .._results.results import Result, ResultOptions, compile_result
from .._results.streams import with_stream
from .._signature.signature import Signature, is_connection, read_signature, unwrapped
from .._signature.socket import Socket
from .._signature.types import is_type
from .compiled_route import CompiledRoute
from .links import read_link
from .sockets import check_sockets

P = ParamSpec("P")
R = TypeVar("R")

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
        result: How its results are sent.
    """

    __slots__ = ("__dict__", "__weakref__", "_function", "_made", "_result", "_signature")

    def __init__(self, function: Callable[P, R], signature: Signature, result: Result) -> None:
        self._function = function
        self._signature = signature
        self._result = result
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
        if not routes:  # used as the handler of not_found
            return await self._answer_at(c, METHOD_NAME_ALL, "/*")
        route = routes[c.req.route_index]
        bound = getattr(route.handler, "__dict__", {}).get("__wrapped__")
        while bound is not None and getattr(bound, "__dict__", {}).get("__wrapped__") is not self:
            bound = getattr(bound, "__dict__", {}).get("__wrapped__")
        if bound is None:  # a wrapper that doesn't refer to the wrapped function
            return await self._answer_at(c, route.method, route.path)
        response = bound(c)
        return cast("Response | None", await response if _is_later(response) else response)

    async def _answer_at(self, c: Context[Any, Any], method: str, pattern: str) -> Response | None:
        bound = self._made.get((method, pattern))
        if bound is None:
            bound = self._made[method, pattern] = self.__kit_bind__(method, pattern, c.codecs)
        response = bound(c)
        return cast("Response | None", await response if _is_later(response) else response)

    def __kit_function__(self) -> Callable[P, R]:
        """Returns the function, for dependencies that are also endpoints."""
        return self._function

    def __kit_bind__(
        self, method: str, pattern: str, codecs: Codecs
    ) -> Callable[[Context[Any, Any]], Any]:
        """Compiles the handler for a route; see `kit.authoring.route_hooks`."""
        signature = self._signature
        if signature.connections:
            signature.refuse(
                f"the parameter {signature.connections[0]!r} is a WebSocket, which no decorator "
                f"above accepts ({method} {pattern!r}): write @upgrade_websocket, imported from "
                "kit.websocket, between the route and @typed"
            )
        return self._bound_to(method, pattern, codecs)

    def __kit_bind_websocket__(
        self, method: str, pattern: str, codecs: Codecs
    ) -> Callable[[Context[Any, Any]], Any]:
        """Compiles the handler of connections for a route; see `kit.authoring.route_hooks`."""
        signature = self._signature
        if not signature.connections:
            signature.refuse(
                f"@upgrade_websocket is above it, but it takes no WebSocket ({method} {pattern!r}):"
                " add the parameter ws: WebSocket, with the type imported from kit.websocket"
            )
        if method not in ("GET", METHOD_NAME_ALL):
            signature.refuse(
                f"it is registered for {method} ({pattern!r}), but the handshake of a WebSocket is "
                "a GET request: write @app.get()"
            )
        return self._bound_to("GET", pattern, codecs)

    def _bound_to(
        self, method: str, pattern: str, codecs: Codecs
    ) -> Callable[[Context[Any, Any]], Any]:
        route = CompiledRoute(self._signature, self._result, method, pattern, codecs)
        handler = route.handler
        handler.__dict__.update(
            __wrapped__=self,
            __kit_origin__=self._function,
            __kit_check__=route.check,
            __kit_check_env__=route.check_env,
            __kit_link__=functools.partial(read_link, route.resolution),
            __kit_route__=route,
        )
        copy_names(handler, self._function)
        bound: Callable[[Context[Any, Any]], Any] = route.with_facts(handler)
        return bound

    def __repr__(self) -> str:
        return f"typed({self._function!r})"


def _is_later(value: Any) -> bool:
    return is_awaitable(value)


@overload
def typed(function: Callable[P, R], /) -> Typed[P, R]: ...
@overload
def typed(
    *,
    status: int | None = None,
    response: Any = None,
    by_alias: bool | None = None,
    exclude_unset: bool = False,
    exclude_defaults: bool = False,
    exclude_none: bool = False,
    keep_alive: float | UnsetType | None = UNSET,
) -> Callable[[Callable[P, R]], Typed[P, R]]: ...
def typed(
    function: Any = None,
    /,
    *,
    status: int | None = None,
    response: Any = None,
    by_alias: bool | None = None,
    exclude_unset: bool = False,
    exclude_defaults: bool = False,
    exclude_none: bool = False,
    keep_alive: float | UnsetType | None = UNSET,
) -> Any:
    """Creates a handler from a function whose parameters are read from the request.

        @app.get("/books/:id")
        @typed
        async def read_book(id: int, db: Annotated[Pool, Env("db")]) -> Book: ...

    A parameter with the name of a path parameter is read from the path; a dataclass, msgspec
    Struct, TypedDict, attrs class or pydantic model is the JSON body; a parameter of a simple type,
    or a list of them, is read from the query. To read from elsewhere, use `Annotated` with `Query`,
    `Header`, `Cookie`, `Form`, `File`, `Body`, `Path`, `Env`, `Var` or `Depends`. `c: Context` is
    the context.

    `ws: WebSocket` is the connection, and `ws: Socket[Received, Sent]` the connection with typed
    messages; both need `@upgrade_websocket` above `@typed`. All other
    parameters are read during the handshake, which is rejected if they are invalid.

    If the function yields, its items are sent as server-sent events or JSON Lines, depending on the
    Accept header. The response starts with the first item, or after a second. An exception before
    that is handled like that of any other endpoint; later, the response breaks off.

    All errors of a request are reported in one problem document with status 400. A returned
    Response is sent unchanged, and None becomes 204. Anything else is converted to the type that
    the function declares, and sent as JSON: an object of another class is read by its attributes,
    and only the declared fields are sent. A result that doesn't fit is a `ResponseValidationError`.

    The signature is read here, and the source of each parameter is resolved at registration, so
    requests don't pay for inspection.

    Args:
        function: The function, plain or async. Without it, a decorator is returned.
        status: The status of the result. Default: 200, or the status set by `c.status`; 204 for
            None.
        response: The type of the result. Default: the return annotation.
        by_alias: Whether fields of pydantic models are sent by their aliases. Default: the
            `serialize_by_alias` of each model. This and the following three options are for
            pydantic models.
        exclude_unset: Whether fields that were never set are left out.
        exclude_defaults: Whether fields with their default value are left out.
        exclude_none: Whether fields with None are left out.
        keep_alive: Seconds without an event after which a stream of events sends a comment, so that
            proxies don't close the connection; None: never. Default: 15.

    Returns:
        The handler, which a unit test can call like the function.

    Raises:
        TypeError: If nothing can provide a parameter, or if `function` can't be an endpoint. For
            mistakes that depend on the route, it is raised when the handler is registered.
        ValueError: If the status isn't valid for a response, or `keep_alive` is not above 0.
    """
    check = OptionChecks("typed")
    if status is not None:
        check.number("status", status, least=200, most=599)
    if response is not None and not is_type(response):
        check.wrong_type("response", response, "a type")
    if keep_alive is not None and keep_alive is not UNSET:
        check.number("keep_alive", keep_alive, whole=False)
        if keep_alive <= 0:
            check.unusable("keep_alive", keep_alive, "seconds above 0, or None")
    fields = ResultOptions(
        None if by_alias is None else check.flag("by_alias", by_alias),
        exclude_unset=check.flag("exclude_unset", exclude_unset),
        exclude_defaults=check.flag("exclude_defaults", exclude_defaults),
        exclude_none=check.flag("exclude_none", exclude_none),
    )
    options = _Options(status, response, fields, keep_alive)
    # The names in annotations may be local to the function that defines the endpoint.
    names = find_caller_frame()[0].f_locals
    if function is not None:
        return _typed(function, options, names)
    return lambda each: _typed(each, options, names)


class _Options(NamedTuple):
    """The options of `typed`."""

    status: int | None
    response: Any
    fields: ResultOptions
    keep_alive: float | UnsetType | None


def _typed(function: Any, options: _Options, names: Mapping[str, Any]) -> Typed[Any, Any]:
    if not callable(function) or isinstance(function, type):
        raise TypeError(f"typed() takes a function, not {function!r:.100}")
    function = unwrapped(function)
    if get_facts(function).others.get("kit_websocket"):
        raise TypeError(
            f"typed() was given {describe(function)}, which @upgrade_websocket has already "
            f"wrapped: put @upgrade_websocket above @typed"
        )
    status = options.status
    signature = read_signature(function, names)
    if options.response is not None:
        signature = signature._replace(returns=options.response)
    signature = with_stream(signature, status, options.keep_alive)
    if signature.mode in ("manager", "async manager", "unclear manager"):
        signature.refuse(
            "it returns a context manager, so it can't be an endpoint: use it in Depends()"
        )
    if signature.connections:
        _check_connections(signature, status)
    try:
        check_union(signature.returns)  # otherwise, creating the document would crash the process
    except TypeError as error:
        signature.refuse(f"the type of its result can't be documented: {error}")
    is_json = signature.stream is None and 200 in describe_responses(signature.returns, None)
    if status in _WITHOUT_CONTENT and is_json:
        signature.refuse(
            f"a response with the status {status} has no body: return None, or leave the status out"
        )
    return Typed(function, signature, compile_result(signature, status, options.fields))


def _check_connections(signature: Signature, status: int | None) -> None:
    for parameter in signature.parameters:
        name, kind = parameter.name, parameter.annotation
        if is_connection(parameter) and get_origin(kind) not in (None, Socket):
            signature.refuse(
                f"the parameter {name!r} has the type {kind!r:.100}, but a handshake opens one "
                f"connection, which is never absent: write {name}: WebSocket"
            )
    check_sockets(signature)
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
    if signature.mode in ("plain", "unclear") and signature.returns in (None, type(None)):
        signature.refuse(f"it takes a WebSocket, {first!r}, so it has to be async: write async def")
