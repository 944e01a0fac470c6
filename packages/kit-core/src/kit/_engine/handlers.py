# SPDX-License-Identifier: MIT
"""Runs the handlers that match a request; each wraps the next."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from types import CoroutineType, MethodType
from typing import Any, TypeAlias

from kit._response.responses import settle
from kit._routing.route import Route
from kit.authoring.signatures import describe
from kit.context import Context, accept
from kit.interface import HandlerError
from kit.web import Response
from kit.web._body import USED

from .errors import answer_fault, handle_error
from .no_route import answer_no_route

Level: TypeAlias = Callable[[Context[Any, Any]], Coroutine[Any, Any, None]]


def compose(routes: Sequence[Route]) -> Level:
    """Returns the function that runs the handlers of a request, each of which wraps the next.

    Args:
        routes: The matched routes.

    Returns:
        A coroutine function that takes the context. It sets `c.res` to the response, even if
        handlers raise exceptions. It raises a BaseException if the request is cancelled or the
        process is ending.
    """
    level = _end(routes)
    for index in reversed(range(len(routes))):
        level = _level(routes, index, level)
    return level


def _level(routes: Sequence[Route], index: int, following: Level) -> Level:
    """Returns the function that runs one handler. The handler's `next` runs the following ones.

    The function sets the handler's response and handles its exceptions. Middleware further out
    therefore continues after its `await next()`, and finds the error response in `c.res`.
    """
    route = routes[index]
    handler, takes_next = route.handler, route.takes_next

    async def run(c: Context[Any, Any]) -> None:
        if index <= c._index:
            raise _called_again(routes[index - 1])
        c._index = index
        if c._req is not None:
            c._req.route_index = index
        try:
            result = handler(c, MethodType(following, c)) if takes_next else handler(c)
            if result.__class__ is CoroutineType:
                result = await result
            if result is not None and result.__class__ is not Response:
                result = await settle(result, handler)
            if result is None:
                if index == 0 and not c._finalized:
                    last = routes[min(c._index, len(routes) - 1)]
                    c.res = await handle_error(_nothing_returned(last), c, last)
            elif not c._finalized and (
                c._lines is None or (result is c._taker and c._taken is c._lines)
            ):
                c._res = result  # nearly always: the response has all headers that were set
                c._finalized = True
            else:
                accept(c, result, handler)
        except BaseException as error:
            c.res = await handle_error(error, c, route)

    run.__qualname__ = "next"  # Python's errors then use the name that middleware uses
    return run


def _end(routes: Sequence[Route]) -> Level:
    """Returns the function that runs after the last handler, or for a path without handlers."""
    index = len(routes)

    async def run(c: Context[Any, Any]) -> None:
        if index <= c._index:
            raise _called_again(routes[index - 1])
        c._index = index
        if c._finalized:
            return
        try:
            c.res = await answer_no_route(c)
        except BaseException as error:
            if index:
                raise  # the level of the last middleware handles it
            c.res = await handle_error(error, c)

    run.__qualname__ = "next"
    return run


def final_response(c: Context[Any, Any]) -> Response:
    """Returns the response to send, once all handlers have run.

    Args:
        c: The context.
    """
    response = c._res or c.res
    if c._failed and response._status != 500:
        # An error handler that raises results in a 500, even if middleware changed the response.
        c.res = c.text("Internal Server Error", 500)
        response = c.res
    if response._body is USED:
        fault = TypeError("The response can't be sent: its body was already read")
        response = answer_fault(fault, c)
    if response._replaced is not None:
        c._close_later(response._replaced)
    c._res = response
    return response


def _called_again(route: Route) -> HandlerError:
    return HandlerError(describe(route.handler), "called next() multiple times; call it once")


def _nothing_returned(route: Route) -> HandlerError:
    advice = "return a Response or await next()" if route.takes_next else "return a Response"
    what = f"returned nothing for {route.method} {route.path!r}: {advice}"
    return HandlerError(describe(route.handler), what)
