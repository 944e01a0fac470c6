# SPDX-License-Identifier: MIT
"""Creates the context of a request, with the routes that match it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from typing import Any

from kit._routing.app_state import AppState, Run
from kit._routing.error_handlers import ErrorHandlers
from kit._routing.route import Route
from kit.authoring.maybe_await import plain_result
from kit.authoring.signatures import describe
from kit.context import Context
from kit.interface import METHOD_NAME_ALL, ExecutionContext, HandlerError, HTTPException
from kit.interface.metadata import get_facts
from kit.request import KitRequest
from kit.web import Request
from kit.web._body_reader import BodyReader
from kit.web._limits import Limits, body_too_large
from kit.web._request import limit_body, served_request

from .paths import parse_scope_path

_MOST_DIGITS = 30  # Python refuses to parse numbers with many thousands of digits


def create_served_context(state: AppState, scope: Any, receive: Any) -> Context[Any, Any]:
    """Returns the context of a request that a server received.

    Args:
        state: The state of the app.
        scope: The ASGI scope.
        receive: Receives messages from the server.
    """
    path = parse_scope_path(scope)
    if path[0] != "/" or "#" in path:
        return Context(state, scope, receive, path, ([],), _refuse_target, scope["method"])
    if not state.needs_request:
        method = scope["method"]
        match, run = state.find("GET" if method == "HEAD" else method, path)
        return Context(state, scope, receive, path, match, run, method)
    request = served_request(scope, BodyReader(receive, scope), is_used=False)
    path, match, run = _match_request(state, request, path)
    c: Context[Any, Any] = Context(state, scope, receive, path, match, run, request.method)
    c._adopt(request)
    _limit_context(c)
    return c


def create_context(
    state: AppState,
    request: Request,
    path: str,
    env: Mapping[str, Any] | None,
    execution_ctx: ExecutionContext | None,
) -> Context[Any, Any]:
    """Returns the context of a request that is handled in process.

    Args:
        state: The state of the app.
        request: The request.
        path: The path of the request, see `kit._engine.paths`.
        env: See `Kit.fetch`.
        execution_ctx: See `Kit.fetch`.
    """
    path, match, run = _match_request(state, request, path)
    bindings = state.lifespan.bindings
    if env is not None and bindings:
        env = {**bindings, **env}
    c: Context[Any, Any] = Context(state, None, None, path, match, run, request.method, env)
    c._begin(KitRequest(request, path, match, codecs=state.codecs), execution_ctx)
    _limit_context(c)
    return c


async def _refuse_target(c: Context[Any, Any]) -> None:
    """Rejects a request target that isn't a path; no middleware or handler sees the request.

    Some servers pass on targets such as `admin/users`, `*`, or those with a fragment. Code that
    adds the slash, or encodes or drops the fragment, would read another path than the one that
    guards were matched with.

    SPEC: RFC 9112, sections 3.2 and 3.2.1.
    """
    c.res = c.text("400 Bad Request: the target must begin with a slash, and have no fragment", 400)


def _match_request(state: AppState, request: Request, path: str) -> tuple[str, Any, Run]:
    """Returns the routing path, the router's result, and the function that runs the handlers.

    If `get_path` raises an exception or the body is too large, the exception is raised as if by a
    handler, after the middleware of the path has run.

    Args:
        state: The state of the app.
        request: The request.
        path: The routing path, unless the app has a `get_path`.
    """
    if state.get_path is not None:
        try:
            path = _own_path(state.get_path, request)
        except Exception as error:
            return "/", *_raising(state, error, ([],))
    if not state.strict and len(path) > 1 and path.endswith("/"):
        path = path[:-1]
    match, run = state.find("GET" if request.method == "HEAD" else request.method, path)
    limits = _find_limits(state, match[0])
    most = limits.max_body_size_bytes
    if most is not None:
        try:
            _limit_body(request, most)
        except HTTPException as error:
            return path, *_raising(state, error, match, state.error_handlers_at(path))
    return path, match, run


def _own_path(get_path: Any, request: Request) -> str:
    """Returns the routing path that `get_path` chooses.

    Raises:
        HandlerError: If it returns anything but a str.
    """
    path = plain_result(get_path(request), get_path, "Kit(get_path=...)")
    if not isinstance(path, str):
        raise HandlerError(describe(get_path), f"returned {type(path).__name__}, expected a str")
    return path if path.startswith("/") else "/" + path  # as routers read it


def _limit_context(c: Context[Any, Any]) -> None:
    """Applies the limits of apps added with `route` to reading the request."""
    if c._state.has_limited_parts:
        c.req._limits = _find_limits(c._state, c._match[0])


def _find_limits(state: AppState, matched: Iterable[tuple[Route, Any]]) -> Limits:
    """Returns the limits for a request: the app's, and the limits of the routes that may run."""
    if not state.has_limited_parts:
        return state.limits
    others: list[Limits] = []
    for route, _ in matched:
        others += route.limits
        if not route.takes_next:
            break  # the routes after it never run
    return _limits_within(state.limits, tuple(others)) if others else state.limits


# An app has few combinations of limits.
@lru_cache
def _limits_within(limits: Limits, others: tuple[Limits, ...]) -> Limits:
    return limits.within(others)


def _limit_body(request: Request, most: int) -> None:
    """Limits the size of a request body.

    Raises:
        HTTPException: 413, if its Content-Length is larger, or more bytes have already arrived.
    """
    if _declared_size(request) > most:
        raise body_too_large(most)
    if not request.body_used:
        # A body may have no Content-Length, and a gateway may pass on a wrong one.
        limit_body(request, most, partial(body_too_large, most))


def _declared_size(request: Request) -> int:
    digits = (request.headers.get("content-length") or "").lstrip("0")
    if not (digits.isascii() and digits.isdigit()):
        return 0  # SPEC: RFC 9110 section 8.6; rejecting such a value is the server's job
    return int(digits[:_MOST_DIGITS])


def _raising(
    state: AppState, failure: Exception, match: Any, handlers: Iterable[ErrorHandlers] = ()
) -> tuple[Any, Run]:
    """Returns a router result that runs the middleware of another result, and then raises.

    The error handlers come from the route that would have responded, or else from the path. A
    mounted application matches like middleware, but responds itself.
    """

    def fail(c: Context[Any, Any]) -> None:
        raise failure

    middleware = [
        entry
        for entry in match[0]
        if entry[0].takes_next and not get_facts(entry[0].handler).mounted
    ]
    route = Route("/", "*", METHOD_NAME_ALL, fail, state.codecs)
    answering = next((entry[0] for entry in match[0] if not entry[0].takes_next), None)
    route.add_error_handlers(handlers if answering is None else answering.error_handlers)
    route.limits = () if answering is None else answering.limits
    matched = [*middleware, (route, {})]
    return (matched, *match[1:]), state.compose([route for route, _ in matched])
