# SPDX-License-Identifier: MIT
"""Finds what to run for a request that is looked at for more than its method and path."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial
from typing import Any

from kit._state.app_state import AppState
from kit._state.error_handlers import ErrorHandlers
from kit._state.plans import Plan
from kit._state.route import Route
from kit._support.limits import Limits, body_too_large
from kit.context import Context
from kit.interface import METHOD_NAME_ALL, HandlerError, HTTPException
from kit.interface.calls import plain_result
from kit.interface.signatures import describe
from kit.web import Request
from kit.web._body_reader import BodyReader
from kit.web._request import limit_body, served_request

from .plans import plan_for

_MOST_DIGITS = 30  # Python refuses to parse numbers with many thousands of digits


def context_of(
    state: AppState, scope: Any, receive: Any, path: str
) -> tuple[Context[Any, Any], Plan]:
    """Returns the context of a served request, and what to run.

    Args:
        state: The state of the app.
        scope: The ASGI scope.
        receive: Returns the messages of the server.
        path: The routing path, unless the app has a `get_path`.
    """
    request = served_request(scope, BodyReader(receive, scope), is_used=False)
    path, plan = plan_of_request(state, request, path)
    c: Context[Any, Any] = Context(state, scope, receive, path, plan[0])
    c._adopt(request)
    limit_context(c)
    return c, plan


def limit_context(c: Context[Any, Any]) -> None:
    """Applies the limits of the apps that `route` added to what is read from a request.

    Args:
        c: The context, which already has its request.
    """
    if c._state.has_limited_parts:
        c.req._limits = _limits_of(c._state, c._match[0])


def _limits_of(state: AppState, matched: Iterable[tuple[Route, Any]]) -> Limits:
    """Returns the limits for a request: the app's, and those of the routes that may run for it."""
    others: list[Limits] = []
    for route, _ in matched:
        others += route.limits
        if not route.takes_next:
            break  # the routes after it never run
    return _limits_within(state.limits, tuple(others)) if others else state.limits


# PERF: an app has few of these.
@lru_cache
def _limits_within(limits: Limits, others: tuple[Limits, ...]) -> Limits:
    return limits.within(others)


def plan_of_request(state: AppState, request: Request, path: str) -> tuple[str, Plan]:
    """Returns the routing path of a request, and what to run.

    If `get_path` raises, or the body is too large, the exception is raised as if by a handler,
    after the middleware of the path has run.

    Args:
        state: The state of the app.
        request: The request.
        path: The routing path, unless the app has a `get_path`.
    """
    if state.get_path is not None:
        try:
            path = plain_result(state.get_path(request), state.get_path, "Kit(get_path=...)")
            if not isinstance(path, str):
                raise HandlerError(
                    describe(state.get_path),
                    f"returned {type(path).__name__}, expected a str",
                )
            if not path.startswith("/"):
                path = "/" + path  # as routers read it
        except Exception as error:
            return "/", _raising(error, ([],))
    if not state.strict and len(path) > 1 and path.endswith("/"):
        path = path[:-1]
    plan = plan_for(state, request.method, path)
    limits = _limits_of(state, plan[0][0]) if state.has_limited_parts else state.limits
    most = limits.max_body_size_bytes
    if most is not None:
        if _declared_size(request) > most:
            failure = body_too_large(most)
            return path, _raising(failure, plan[0], state.error_handlers_at(path))
        if not request.body_used:
            # A body may have no Content-Length, and a gateway may pass on a wrong one.
            try:
                limit_body(request, most, partial(body_too_large, most))
            except HTTPException as error:
                return path, _raising(error, plan[0], state.error_handlers_at(path))
    return path, plan


def _declared_size(request: Request) -> int:
    digits = (request.headers.get("content-length") or "").lstrip("0")
    if not (digits.isascii() and digits.isdigit()):
        return 0  # SPEC: RFC 9110 section 8.6; rejecting such a value is the server's job
    return int(digits[:_MOST_DIGITS])


def _raising(failure: Exception, match: Any, handlers: Iterable[ErrorHandlers] = ()) -> Plan:
    """Returns what runs the middleware of a match, and then raises an exception.

    The error handlers are those of the route that would have responded, or else those of the path.
    A mounted application matches like middleware, but responds.
    """
    from kit.interface.metadata import facts_of

    def fail(c: Context[Any, Any]) -> None:
        raise failure

    middleware = [
        entry
        for entry in match[0]
        if entry[0].takes_next and not facts_of(entry[0].handler).mounted
    ]
    route = Route("/", "*", METHOD_NAME_ALL, fail)
    route.is_temporary = True
    answering = next((entry[0] for entry in match[0] if not entry[0].takes_next), None)
    route.add_error_handlers(handlers if answering is None else answering.error_handlers)
    route.limits = () if answering is None else answering.limits
    # No chain: `respond` makes the one that it needs.
    return ([*middleware, (route, {})], *match[1:]), None, None, 0
