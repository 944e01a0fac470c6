# SPDX-License-Identifier: MIT
"""Runs the handlers that match a request; each wraps the next."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from types import CoroutineType, MethodType
from typing import Any, TypeAlias

from kit._app.errors import handle_error
from kit._app.fallbacks import answer_no_route
from kit._response.results import settle
from kit.context import Context
from kit.interface import HandlerError
from kit.interface.signatures import describe
from kit.web import Response

__all__ = ("dispatch", "respond")

Dispatch: TypeAlias = Callable[[Context[Any, Any]], Coroutine[Any, Any, None]]


# C901: all middleware of all requests passes through here, so it is one function.
def _dispatch_from(index: int) -> Dispatch:  # noqa: C901
    """Returns a dispatcher for handler `index`; its `next` runs the handlers after it."""
    # PERF: one function per position, so that `next` can be a bound method of the context: creating
    # and calling one costs about half as much as with `functools.partial`.
    following: Dispatch | None = None

    async def dispatch(c: Context[Any, Any]) -> None:  # noqa: C901
        nonlocal following
        handlers = c._handlers
        if index <= c._index:
            caller = describe(handlers[index - 1][0].handler)
            raise HandlerError(caller, "called next() multiple times; call it once")
        c._index = index
        # PERF: catching IndexError at the end is cheaper than calling len() at each level.
        try:
            route = handlers[index][0]
        except IndexError:
            route = None
        if route is None:
            if not c._finalized:
                c.res = await answer_no_route(c)
            return
        if c._req is not None:
            c._req.route_index = index
        handler = route.handler
        try:
            if route.takes_next:
                if following is None:
                    following = _dispatch_from(index + 1)
                result = handler(c, MethodType(following, c))
            else:
                result = handler(c)
            if result.__class__ is CoroutineType:
                result = await result
            if result is None:
                return
            if result.__class__ is not Response:
                result = await settle(result, handler)
        except Exception as error:
            c.res = await handle_error(error, c, route)
            return
        if result is not None and not c._finalized:
            if c._res is None:
                c._res = result
                c._finalized = True
            else:
                c.res = result

    return dispatch


dispatch = _dispatch_from(0)
"""Runs the matched handlers: `await dispatch(c)`; the response is then in `c.res`.

An exception is handled where it was raised, so that outer middleware continues as usual after
its `await next()`. A HandlerError is raised if the app's `not_found` returns no response.
"""


async def respond(c: Context[Any, Any]) -> Response:
    """Runs the matched handlers unless they have run already, and returns the response.

    Args:
        c: The context.

    Returns:
        The response, even if handlers raised exceptions.
    """
    try:
        if not c._handlers:
            return await answer_no_route(c)
        if c._index < 0:
            await dispatch(c)
        return c._final_response()
    except Exception as error:
        return await handle_error(error, c)
