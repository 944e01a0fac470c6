# SPDX-License-Identifier: MIT
"""Runs the handlers that match a request, one around the other."""

from __future__ import annotations

from functools import partial
from types import CoroutineType
from typing import Any

from ._answers import answer_no_route, handle_error
from ._errors import HandlerError, describe
from ._result import settle
from .context import Context
from .web import Response


async def dispatch(c: Context[Any, Any], index: int) -> None:
    """Runs the matched handler number `index`; its `next` runs the one after it.

    The response that comes of it is in `c.res`. An exception is handled here, where it was
    raised, so that middleware further out goes on as usual after its `await next()`.

    Args:
        c: The context.
        index: Which of the matched handlers, from 0; beyond the last, the not-found answer.

    Raises:
        HandlerError: If `next()` is called twice.
    """
    handlers = c._handlers
    if index <= c._index:
        caller = describe(handlers[index - 1][0].handler)
        raise HandlerError(caller, "called next() multiple times; call it once")
    c._index = index
    if index == len(handlers):
        await _finish(c)
        return
    if c._req is not None:
        c._req.route_index = index
    route = handlers[index][0]
    try:
        if route.takes_next:
            result = route.handler(c, partial(dispatch, c, index + 1))
        else:
            result = route.handler(c)
        if result.__class__ is CoroutineType:
            result = await result
        if result.__class__ is not Response and result is not None:
            result = await settle(result, route.handler)
    except Exception as error:
        c.res = await handle_error(error, c, route)
        return
    if result is not None and not c._finalized:
        if c._res is None:
            c._res = result
            c._finalized = True
        else:
            c.res = result


async def _finish(c: Context[Any, Any]) -> None:
    """What `next` of the last handler runs: the not-found answer, unless there is a response."""
    if not c._finalized:
        c.res = await answer_no_route(c)
