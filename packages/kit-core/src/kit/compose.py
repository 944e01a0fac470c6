# SPDX-License-Identifier: MIT
"""Runs the handlers that match a request; each wraps the next.

The handlers of a match are compiled to a chain of functions, once, since most requests match the
same few lists of handlers. Each level of a chain is a coroutine that runs a handler, sets its
response, and handles its exceptions: so middleware further out continues after its `await next()`,
and finds the error response in `c.res`. The first handler has no level, since nothing is further
out.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from types import CoroutineType, FunctionType, MethodType
from typing import Any, TypeAlias, TypeVar

from kit._app.errors import handle_error
from kit._app.fallbacks import answer_no_route
from kit._response.results import settle
from kit._state.route import Route
from kit.authoring.signatures import describe
from kit.context import Context, accept, join
from kit.interface import HandlerError
from kit.web import Response
from kit.web._response import BuiltResponse

__all__ = ("chain_for", "respond")

Chain: TypeAlias = tuple[Callable[[Context[Any, Any]], Any], int]
Level: TypeAlias = Callable[[Context[Any, Any]], Coroutine[Any, Any, None]]
_LevelT = TypeVar("_LevelT", bound=Callable[..., Any])
_Handlers: TypeAlias = Sequence[tuple[Route, Any]]

# Most apps need far fewer. In some, nearly every path matches another subset of the middleware.
_MOST_CHAINS = 4096
_COROUTINE = 0x80  # PERF: `inspect`, which has a name for it, takes 10 ms to import


async def respond(c: Context[Any, Any]) -> Response:
    """Runs the matched handlers unless they have run already, and returns the response.

    Args:
        c: The context.

    Returns:
        The response, even if handlers raised exceptions.
    """
    try:
        if not c._match[0]:
            return join(c, await answer_no_route(c))
        if c._index < 0:
            await _run(c)
        return c._final_response()
    except BaseException as error:
        return join(c, await handle_error(error, c))


async def _run(c: Context[Any, Any]) -> None:
    """Runs the matched handlers. The response is then in `c.res`.

    PERF: `serve` does the same without another coroutine.
    """
    handlers = c._match[0]
    start, last = chain_for(c._state.chains, handlers)
    try:
        result = start(c)
        if result.__class__ is not BuiltResponse:
            result = await settle(result, handlers[0][0].handler)
        if result is not None:
            accept(c, result, handlers[0][0].handler)
    except BaseException as error:
        c.res = await handle_error(error, c, handlers[min(c._index, last)][0])
    finally:
        if c._index <= last:
            c._next = None  # as in _passage()


def chain_for(chains: dict[object, Chain], handlers: _Handlers) -> Chain:
    """Returns what runs the matched handlers of a request.

    Args:
        chains: The chains of the app, to which a new one is added.
        handlers: The handlers that the router returned.

    Returns:
        A function that calls the first handler with the context, and returns what that returns; and
        the index of the last handler whose exceptions come from there. The exceptions of all others
        are handled where they are raised.
    """
    # Most routers return the same list for the same routes. A chain keeps its list alive, so the
    # id isn't that of another list.
    chain = chains.get(id(handlers))
    if chain is None:
        routes = tuple([route for route, _ in handlers])
        chain = chains.get(routes)
        if chain is None:
            if handlers[-1][0].is_temporary:
                return _compile(handlers)
            if len(chains) >= _MOST_CHAINS:
                chains.clear()
            chain = chains[routes] = chains[id(handlers)] = _compile(handlers)
    return chain


def _compile(handlers: _Handlers) -> Chain:
    routes = [route for route, _ in handlers]
    level = _end(handlers)
    end = len(routes)  # of the handlers that aren't part of the chain yet
    while True:
        start = _start_of_passage(routes, end)
        if start == 0:
            return _start(handlers, end - 1, level), end - 1
        if end - start > 1:
            level = _passage(handlers, start, end, level)
        elif routes[start].takes_next and _is_coroutine_function(routes[start].handler):
            level = _middleware(handlers, start, level)
        else:
            level = _handler(handlers, start, level)
        end = start


def _named_next(level: _LevelT) -> _LevelT:
    """Names a function as middleware calls it, for the errors of Python."""
    level.__name__ = level.__qualname__ = "next"
    return level


def _start(handlers: _Handlers, last: int, following: Level) -> Callable[[Context[Any, Any]], Any]:
    """Returns the function that calls the first handler, see `chain_for`."""
    handler = handlers[0][0].handler
    takes_next = handlers[0][0].takes_next
    step = _step(handlers, last, following) if last else None

    def start(c: Context[Any, Any]) -> Any:
        c._index = 0
        if c._req is not None:
            c._req.route_index = 0
        if step is not None:
            # PERF: one `next` for all of them, since each calls it only once.
            c._next = MethodType(step, c)
            return handler(c, c._next)
        return handler(c, MethodType(following, c)) if takes_next else handler(c)

    return start


def _end(handlers: _Handlers) -> Level:
    """Returns the end of a chain, for middleware without a handler after it."""
    index = len(handlers)

    async def end(c: Context[Any, Any]) -> None:
        if index <= c._index:
            raise _called_again(handlers, index)
        c._index = index
        if not c.finalized:
            c.res = await answer_no_route(c)

    return _named_next(end)


def _handler(handlers: _Handlers, index: int, following: Level) -> Level:
    """Returns the level of any handler. Its `next` runs the following levels."""
    route = handlers[index][0]
    handler, takes_next = route.handler, route.takes_next

    async def level(c: Context[Any, Any]) -> None:
        if index <= c._index:
            raise _called_again(handlers, index)
        c._index = index
        if c._req is not None:
            c._req.route_index = index
        try:
            result = handler(c, MethodType(following, c)) if takes_next else handler(c)
            if result.__class__ is CoroutineType:
                result = await result
            if result.__class__ is not BuiltResponse:
                result = await settle(result, handler)
            if result is None:
                return
            if c._lines is None and not c._finalized:
                c._res = result  # PERF: what accept() does if no headers were set
                c._finalized = True
            else:
                accept(c, result, handler)
        except BaseException as error:
            c.res = await handle_error(error, c, route)

    return _named_next(level)


def _middleware(handlers: _Handlers, index: int, following: Level) -> Level:
    """Returns the level of an async middleware.

    PERF: like `_handler`, without asking what a call returns.
    """
    route = handlers[index][0]
    handler = route.handler

    async def level(c: Context[Any, Any]) -> None:
        if index <= c._index:
            raise _called_again(handlers, index)
        c._index = index
        if c._req is not None:
            c._req.route_index = index
        try:
            result = await handler(c, MethodType(following, c))
            if result is None:
                return
            result = await settle(result, handler)
            if result is None:
                return
            accept(c, result, handler)
        except BaseException as error:
            c.res = await handle_error(error, c, route)

    return _named_next(level)


def _passage(handlers: _Handlers, start: int, end: int, following: Level) -> Level:
    """Returns one level for several middleware, see `_start_of_passage`.

    Their coroutines await each other directly. An exception of one ends all of them, and no other
    code of theirs runs; so the middleware that was called last is the one that raised it.
    """
    last = end - 1
    first = handlers[start][0].handler
    step = _step(handlers, last, following)

    async def level(c: Context[Any, Any]) -> None:
        if start <= c._index:
            raise _called_again(handlers, start)
        c._index = start
        if c._req is not None:
            c._req.route_index = start
        c._next = MethodType(step, c)  # as in _start()
        try:
            result = await first(c, c._next)
            if result is None:
                return
            result = await settle(result, first)
            if result is None:
                return
            accept(c, result, first)
        except BaseException as error:
            c.res = await handle_error(error, c, handlers[min(c._index, last)][0])
        finally:
            # Or the context would refer to itself. If all of them called next, leave() has done it,
            # and a later level may still run, in a task.
            if c._index <= last:
                c._next = None

    return _named_next(level)


def _step(handlers: _Handlers, last: int, following: Level) -> Callable[[Context[Any, Any]], Any]:
    """Returns the function that middleware of a passage calls as `next`, bound to the context."""

    def leave(c: Context[Any, Any], next: Any) -> Coroutine[Any, Any, None]:
        c._next = None  # none of them calls it again
        c._index = last
        if c._req is not None:
            c._req.route_index = last
        return following(c)

    calls = [*[route.handler for route, _ in handlers[: last + 1]], leave]

    def step(c: Context[Any, Any]) -> Any:
        index = c._index + 1
        c._index = index
        if c._req is not None:
            c._req.route_index = index
        return calls[index](c, c._next)

    return _named_next(step)


def _start_of_passage(routes: Sequence[Route], end: int) -> int:
    """Returns the first of the middleware before `end` that can share a level.

    The last action of such middleware is to call `next`. An exception of the middleware that `next`
    runs may pass through, since nothing in between handles it. A returned response may not, since
    the middleware in between would drop it.
    """
    start = end - 1
    if not (start and _may_call_last(routes[start]) and _may_call_last(routes[start - 1])):
        return start
    tail = _tail_of(routes[start])
    if not tail.is_call:
        return start
    while tail.is_quiet and start:
        tail = _tail_of(routes[start - 1])
        if not tail.is_call:
            break
        start -= 1
    return start


def _may_call_last(route: Route) -> bool:
    return route.takes_next and _is_coroutine_function(route.handler)


def _is_coroutine_function(handler: Any) -> bool:
    return type(handler) is FunctionType and bool(handler.__code__.co_flags & _COROUTINE)


def _tail_of(route: Route) -> Any:
    if route.tail is None:
        from kit._app.tail_calls import tail_of  # PERF: imports `dis`

        route.tail = tail_of(route.handler)
    return route.tail


def _called_again(handlers: _Handlers, index: int) -> HandlerError:
    caller = describe(handlers[index - 1][0].handler)
    return HandlerError(caller, "called next() multiple times; call it once")
