# SPDX-License-Identifier: MIT
"""`upgrade_websocket`: accepts a handshake and runs the connection."""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Awaitable, Callable, Iterable
from types import CoroutineType
from typing import (
    Any,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
    overload,
)

from kit.authoring.maybe_await import call, check_answer, is_awaitable, settle
from kit.authoring.options import OptionChecks
from kit.authoring.origins import check_origins
from kit.authoring.route_hooks import bind, is_bindable
from kit.authoring.signatures import (
    accepts,
    behind_wrappers,
    copy_names,
    describe,
    describe_signature,
    parameter_names,
)
from kit.context import B, Context, V, get_scope, switching_protocols
from kit.http.fields import is_token
from kit.http.origins import is_own_origin
from kit.interface import Codecs, HTTPException
from kit.interface.hooks import BindableWebSocket
from kit.interface.metadata import attach, get_facts
from kit.interface.websocket import WSEvents
from kit.web import Response

from ._conversation import converse
from ._events import check_events, run_events
from ._handshake import KEY, Handshake, Receive, Send
from ._handshake import begin as accept
from ._socket import WebSocket

_logger = logging.getLogger("kit")

# The default limit of uvicorn and hypercorn.
_MOST_BYTES = 16 * 1024 * 1024

# First parameters of functions that were written for another framework.
_OF_CONNECTIONS = (("ws",), ("websocket",))

Handler: TypeAlias = Callable[[Context[B, V], WebSocket], Awaitable[None]]
CreateEvents: TypeAlias = Callable[[Context[B, V]], WSEvents | Awaitable[WSEvents]]
Upgrade: TypeAlias = Callable[[Context[B, V]], Awaitable[Response]]
IsAllowedOrigin: TypeAlias = Callable[[str, Context[Any, Any]], bool | Awaitable[bool]]
"""Returns whether an origin may connect: `def allowed(origin, c)`, plain or async."""
_Work: TypeAlias = Callable[[WebSocket], Any]
_Begin: TypeAlias = Callable[[Context[Any, Any]], _Work | Awaitable[_Work]]
H = TypeVar("H", bound=BindableWebSocket)


class Upgrades(Protocol):
    """The decorator that `upgrade_websocket(...)` returns if it gets no function."""

    @overload
    def __call__(self, handler: H, /) -> H: ...
    @overload
    def __call__(self, handler: Handler[B, V], /) -> Upgrade[B, V]: ...
    @overload
    def __call__(self, create_events: CreateEvents[B, V], /) -> Upgrade[B, V]: ...


class UpgradeOptions(TypedDict, total=False):
    """The options of `upgrade_websocket`; see its documentation."""

    origins: str | Iterable[str] | IsAllowedOrigin | None
    protocols: str | Iterable[str]
    max_message_size_bytes: int | None
    cancel_on_disconnect: bool


@overload
def upgrade_websocket(handler: H, /, **options: Unpack[UpgradeOptions]) -> H: ...
@overload
def upgrade_websocket(
    handler: Handler[B, V], /, **options: Unpack[UpgradeOptions]
) -> Upgrade[B, V]: ...
@overload
def upgrade_websocket(
    create_events: CreateEvents[B, V], /, **options: Unpack[UpgradeOptions]
) -> Upgrade[B, V]: ...
@overload
def upgrade_websocket(**options: Unpack[UpgradeOptions]) -> Upgrades: ...
def upgrade_websocket(
    function: Any = None,
    /,
    *,
    origins: str | Iterable[str] | IsAllowedOrigin | None = None,
    protocols: str | Iterable[str] = (),
    max_message_size_bytes: int | None = _MOST_BYTES,
    cancel_on_disconnect: bool = False,
) -> Any:
    """Turns a function into a GET handler that accepts WebSocket connections.

    A request that isn't a handshake gets 426, a handshake from a page of another origin 403, and
    a handshake that offers only unknown subprotocols 400. All three are HTTPExceptions.

    Args:
        function: `async def handler(c, ws)`; the connection stays open as long as it runs. Or, as
            in Hono, `def create_events(c)`, which returns `WSEvents`. Or a function below
            `@typed` that takes a `WebSocket`. If omitted, returns a decorator.
        origins: The origins whose pages may connect: one or several, such as
            `https://example.com`; `"*"` for all origins; or a function `(origin, c)`, plain or
            async, that returns whether an origin may connect. Default: the app's own origin, by the
            Host header; a list replaces it. A handshake without an origin is accepted, since only
            browsers send one. Browsers don't apply CORS to WebSockets, but send cookies, so this
            check protects users who are logged in.
        protocols: The subprotocols that the handler supports, best first. The first one that the
            client offers is chosen; clients that offer none may connect as well.
        max_message_size_bytes: Largest message to receive; a larger one closes the connection with
            1009. None: no limit. The server's limits apply first. Default: 16 MiB.
        cancel_on_disconnect: Whether the handler is cancelled when the client disconnects, even if
            there are messages to receive. If the client has sent 16 messages or 64 KiB more than
            the handler has received, its disconnect is noticed only when the handler catches up.
            Default: False.

    Returns:
        The handler, or the decorator.

    Raises:
        TypeError: If an option has the wrong type, or the function takes neither `(c, ws)` nor
            `(c)`.
        ValueError: If an origin, a subprotocol or the size is invalid.

    Example:
        ```python
        @app.get("/echo")
        @upgrade_websocket
        async def echo(c: Context, ws: WebSocket) -> None:
            async for message in ws:
                await ws.send(message)
        ```
    """
    check = OptionChecks("upgrade_websocket")
    may_connect = _make_origin_check(check, origins)
    known = check.texts("protocols", protocols)
    for each in known:
        if not is_token(each):
            check.unusable("protocols", each, "a token such as 'chat.v2' (RFC 6455, section 4.1)")
    if max_message_size_bytes is None:
        most = sys.maxsize
    else:
        most = check.number("max_message_size_bytes", max_message_size_bytes, least=1, unit="byte")
    cancels = check.flag("cancel_on_disconnect", cancel_on_disconnect)

    terms = _Terms(may_connect, known, most, cancels)
    if function is None:
        return lambda function: _make_handler(function, terms)
    return _make_handler(function, terms)


class _Terms(NamedTuple):
    """The checked options of `upgrade_websocket`."""

    may_connect: Callable[[str, Any], Any] | None
    protocols: tuple[str, ...]
    max_message_size_bytes: int
    cancel_on_disconnect: bool


def _make_handler(function: Any, terms: _Terms) -> Any:
    if get_facts(function).others.get("kit_websocket"):
        raise TypeError(
            f"upgrade_websocket() was given {describe(function)}, which is already its result: "
            "call it once"
        )
    if is_bindable(function, websocket=True):
        return _BoundUpgrade(function, terms)
    return _make_upgrade(_make_begin(function), function, terms)


def _make_upgrade(begin: _Begin, function: Any, terms: _Terms) -> Upgrade[Any, Any]:
    """Returns the handler; `function` provides the name, the metadata and the text of errors."""
    may_connect, protocols, most, cancels = terms

    async def upgrade(c: Context[Any, Any]) -> Response:
        scope = get_scope(c)
        handshake: Handshake | None = None if scope is None else scope.get(KEY)
        if scope is None or handshake is None:
            raise _upgrade_required(scope)
        req = c.req
        if may_connect is not None:
            origin = req.header("origin")
            if origin is not None:
                await _check_origin(origin, c, may_connect)
        offered = scope.get("subprotocols") if protocols else None
        protocol = _choose_protocol(protocols, offered) if offered else ""
        work: Any = begin(c)
        if work.__class__ is CoroutineType:
            work = await work

        def run(receive: Receive, send: Send) -> Awaitable[Exception | None]:
            ws = WebSocket(receive, send, req, protocol, most, c.codecs)
            return converse(work, ws, function, cancels)

        accept(handshake, run, protocol)
        return switching_protocols(c)

    copy_names(upgrade, function)
    upgrade.__wrapped__ = function  # type: ignore[attr-defined]
    # Errors name the file and line of the function.
    origin = getattr(function, "__dict__", {}).get("__kit_origin__", function)
    upgrade.__kit_origin__ = origin  # type: ignore[attr-defined]
    responses = {101: "Switching Protocols", 426: "Upgrade Required"}
    return attach(upgrade, responses=responses, kit_websocket=True)


class _BoundUpgrade:
    """A handler that an app binds to each route, such as one above `@typed`.

    Called with only the context of a request, e.g. by a wrapper, it handles the handshake. Called
    with other arguments, e.g. in a unit test, it calls the original handler.
    """

    def __init__(self, handler: Any, terms: _Terms) -> None:
        self._handler = handler
        self._terms = terms
        self._bound: dict[tuple[str, str], Any] = {}
        functools.update_wrapper(self, handler, updated=())
        attach(self, kit_websocket=True)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) != 1 or kwargs or not isinstance(args[0], Context):
            return self._handler(*args, **kwargs)
        c = args[0]
        routes = c.matched_routes
        place = ("ALL", "/*")  # used as the handler of not_found
        if routes:
            route = routes[c.req.route_index]
            place = (route.method, route.path)
        return (self._bound.get(place) or self.__kit_bind__(*place, c.codecs))(c)

    def __kit_bind__(self, method: str, pattern: str, codecs: Codecs) -> Any:
        """Returns the handshake handler for a route; see `kit.authoring.route_hooks`."""
        bound = bind(self._handler, method, pattern, codecs, websocket=True)
        upgrade = self._bound[method, pattern] = _make_upgrade(bound, bound, self._terms)
        facts = get_facts(self)  # also those that a decorator above has attached
        attach(upgrade, describes=facts.describes, responses=facts.responses, **facts.others)
        if facts.security:
            attach(upgrade, security=facts.security)
        return upgrade

    def __repr__(self) -> str:
        return f"upgrade_websocket({self._handler!r})"


def _make_origin_check(check: OptionChecks, origins: Any) -> Callable[[str, Any], Any] | None:
    """Returns the function that checks an origin; None if all origins may connect."""
    if origins is None:
        return lambda origin, c: is_own_origin(origin, c.req.url)
    if isinstance(origins, str) and origins == "*":
        return None
    if callable(origins):
        return check.function("origins", origins, "(origin, c)")  # type: ignore[no-any-return]
    known = check_origins(check, "origins", origins)
    if not known:
        check.unusable("origins", origins, "at least one origin, or None for that of the app")
    return lambda origin, c: origin in known


def _make_begin(function: Any) -> _Begin:
    """Returns a function that takes a handshake and returns the connection's handler."""
    if not callable(function):
        raise TypeError(f"upgrade_websocket() takes a function (c, ws), not {function!r:.100}")
    shown = behind_wrappers(function)
    is_swapped = parameter_names(shown)[:1] in _OF_CONNECTIONS
    if accepts(shown, 2) and not is_swapped:
        return lambda c: functools.partial(function, c)
    if accepts(shown, 1) and not is_swapped:

        async def begin_by_events(c: Context[Any, Any]) -> _Work:
            events = await call(function, c)
            return functools.partial(run_events, check_events(events, function))

        return begin_by_events
    raise TypeError(
        "upgrade_websocket() takes a handler (c, ws), or a function (c) that returns WSEvents: "
        f"got the signature {describe_signature(function)}"
    )


async def _check_origin(
    origin: str, c: Context[Any, Any], may_connect: Callable[[str, Any], Any]
) -> None:
    """Rejects a handshake from a page of a forbidden origin."""
    # Two headers are joined by a comma, which no origin has; a function might check only the end.
    allowed: Any = "," not in origin and may_connect(origin, c)
    if is_awaitable(allowed):
        allowed = await settle(allowed, "upgrade_websocket(origins=...)")
    if not allowed:
        _logger.warning(
            "Refused a WebSocket at %s: pages of %s may not connect; if they should, name the "
            "origin in upgrade_websocket(origins=[...])",
            ascii(c.req.path)[1:-1],
            ascii(origin)[1:-1][:100],
        )
        raise HTTPException(403, "Pages of this origin may not connect")
    check_answer("upgrade_websocket(origins=...)", allowed)


def _choose_protocol(known: tuple[str, ...], offered: Iterable[str]) -> str:
    """Returns the first of the known subprotocols that the client offers.

    SPEC: RFC 6455 section 4.2.2: the server may choose none. But then a browser fails the
    connection (WHATWG WebSockets, section 4), and other clients may use an unexpected protocol.
    """
    names = [*offered]
    for each in known:
        if each in names:
            return each
    raise HTTPException(400, f"The subprotocol must be one of: {', '.join(known)}")


def _upgrade_required(scope: dict[str, Any] | None) -> HTTPException:
    headers = {"Upgrade": "websocket", "Connection": "Upgrade"}
    if scope is not None:
        # SPEC: RFC 9113 section 8.2.2: later versions have neither header.
        if not str(scope.get("http_version", "1.1")).startswith("1"):
            headers = {}
        if any(
            name == b"upgrade" and value.lower() == b"websocket" for name, value in scope["headers"]
        ):
            _logger.warning(
                "The server handed a WebSocket handshake on as an ordinary request: it supports "
                'no WebSockets; for uvicorn, install "uvicorn[standard]"'
            )
    return HTTPException(426, "426 Upgrade Required: connect by WebSocket", headers=headers)
