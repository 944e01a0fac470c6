# SPDX-License-Identifier: MIT
"""What an app answers when no handler does: not found, method not allowed, errors."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kit._app.results import settle
from kit._state.route import Route
from kit._support.errors import HandlerError, describe
from kit.interface import METHOD_NAME_ALL, HTTPException
from kit.web import ClientDisconnectedError, Response
from kit.web._body import TEXT_TYPE
from kit.web._response import NULL_BODY_STATUSES

if TYPE_CHECKING:
    from kit.context import Context

_logger = logging.getLogger("kit")
_NOT_FOUND = "404 Not Found"
_NOT_FOUND_BODY = _NOT_FOUND.encode()
_NOT_FOUND_LINES = (
    (b"content-type", TEXT_TYPE.encode()),
    (b"content-length", b"%d" % len(_NOT_FOUND_BODY)),
)


async def answer_not_found(c: Context[Any, Any]) -> Response:
    """Gives the answer of the app's `not_found`, by default a plain 404."""
    not_found = c._app._not_found
    if not_found is None:
        return c.text(_NOT_FOUND, 404)
    response = await settle(not_found(c), not_found)
    if response is None:
        raise HandlerError(describe(not_found), "returned nothing: return a Response")
    return response


def plain_not_found() -> tuple[dict[str, Any], ...]:
    """Gives the messages of the plain 404, new ones each time: a server may change them.

    SPEC: ASGI HTTP & WebSocket message format, "Response Start" and "Response Body".
    """
    return (
        {"type": "http.response.start", "status": 404, "headers": [*_NOT_FOUND_LINES]},
        {"type": "http.response.body", "body": _NOT_FOUND_BODY},
    )


async def answer_no_route(c: Context[Any, Any]) -> Response:
    """Gives the answer to a request that no route answered.

    With `method_not_allowed` that is a 405, or what OPTIONS asks for, if the path has routes for
    other methods (RFC 9110 sections 15.5.6 and 9.3.7).
    """
    app = c._app
    if app._method_not_allowed and not any(_answers(route) for route, _ in c._handlers):
        allowed = _allowed_methods(c)
        if allowed:
            headers = {"allow": ", ".join(allowed)}
            if c.req.method == "OPTIONS":
                return c.body(None, 204, headers)
            return c.text("405 Method Not Allowed", 405, headers)
    return await answer_not_found(c)


def _allowed_methods(c: Context[Any, Any]) -> list[str]:
    table = c._app._table
    methods = {route.method for route in table.routes} - {METHOD_NAME_ALL}
    allowed = {
        method
        for method in methods
        if any(_answers(route) for route, _ in table.router.match(method, c.req.path)[0])
    }
    if "GET" in allowed:
        allowed.add("HEAD")
    return sorted(allowed | {"OPTIONS"}) if allowed else []


def _answers(route: Route) -> bool:
    return not route.takes_next


async def handle_error(
    error: Exception, c: Context[Any, Any], route: Route | None = None
) -> Response:
    """Gives the response for an exception.

    Args:
        error: What was raised.
        c: The context; its `error` is set.
        route: The route whose handler raised it. The error handlers of the apps it came through
            are asked first, innermost first; what one raises is for the next.

    Returns:
        The response. An HTTPException that the app's own `on_error` raises again is answered as if
        there were no `on_error`; anything else that it raises is logged, and answered with 500.
    """
    error = _unwrapped(error)
    if isinstance(error, ClientDisconnectedError):
        c._error = error
        _logger.debug("%s", error)
        return Response(None, status=400)
    for on_error in route.error_handlers if route is not None else ():
        try:
            return await _ask(on_error, error, c)
        except Exception as second:
            error = _unwrapped(second)
    on_error = c._app._on_error
    try:
        if on_error is not None:
            try:
                return await _ask(on_error, error, c)
            except HTTPException as second:
                if second is not error:
                    raise
        c._error = error
        if isinstance(error, HTTPException):
            return _answer_exception(error, c)
    except Exception as fault:
        c._failed = True
        return answer_fault(fault, c)
    return answer_fault(error, c)


async def _ask(on_error: Any, error: Exception, c: Context[Any, Any]) -> Response:
    c._error = error
    response = await settle(on_error(error, c), on_error)
    if response is None:
        raise HandlerError(describe(on_error), "returned nothing: return a Response")
    return response


def _answer_exception(error: HTTPException, c: Context[Any, Any]) -> Response:
    res: Any = error.res
    if res is None:
        message = error.message
        res = Response(message or ("" if error.status not in NULL_BODY_STATUSES else None))
    # The exception, and its response with it, may be one that is raised again and again.
    body = res._body if isinstance(res._body, bytes) else res._take()
    response = c._respond(body, None, error.status, None)
    headers = response.headers
    for name in dict.fromkeys(name.decode("latin-1") for name, _ in res._lines):
        # Cookies add up; but one set on `c` is in a response that `c` made as well.
        if name != "set-cookie":
            headers.delete(name)
        kept = headers.get_all(name)
        for value in res.headers.get_all(name):
            if value not in kept:
                headers.append(name, value)
    for name, value in (error.headers or {}).items():
        headers.set(name, value)
    return response


def outcome(c: Context[Any, Any]) -> Response:
    """Gives the response once all handlers have run.

    Raises:
        HandlerError: If there is none.
    """
    if not c._finalized:
        route = c._handlers[min(c._index, len(c._handlers) - 1)][0]
        raise HandlerError(
            describe(route.handler),
            f"answered {route.method} {route.path!r} with nothing: return a Response"
            + (" or await next()" if route.takes_next else ""),
        )
    if c._failed and c.res.status != 500:
        # Whatever middleware made of it: an error handler that raises is a fault.
        return c.text("Internal Server Error", 500)
    return c.res


def answer_used_body(c: Context[Any, Any]) -> Response:
    """Gives the answer where a response was to be sent whose body is gone."""
    return answer_fault(TypeError("The response can't be sent: its body was already read"), c)


def answer_fault(error: Exception, c: Context[Any, Any]) -> Response:
    """Logs an exception and gives the plain 500."""
    _logger.error("Exception in %s %s", c.req.method, ascii(c.req.path)[1:-1], exc_info=error)
    return c.text("Internal Server Error", 500)


def _unwrapped(error: Exception) -> Exception:
    """What an exception group comes to, such as a task group makes.

    That is the one HTTPException in it, or that the client is gone, where nothing else is in it:
    each task that reads is told so. Any other group stays one.
    """
    if not isinstance(error, ExceptionGroup):
        return error
    leaves = [*_leaves(error)]
    is_gone = all(isinstance(leaf, ClientDisconnectedError) for leaf in leaves)
    is_answer = len(leaves) == 1 and isinstance(leaves[0], HTTPException)
    return leaves[0] if is_gone or is_answer else error


def _leaves(error: Exception) -> Iterator[Exception]:
    if isinstance(error, ExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
