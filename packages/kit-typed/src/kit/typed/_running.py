# SPDX-License-Identifier: MIT
"""Functions that the generated code calls during a request, besides those that read it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from functools import partial
from types import AsyncGeneratorType, GeneratorType
from typing import Any, NoReturn

from kit.authoring.maybe_await import is_awaitable, settle
from kit.interface import Context, is_response

# Results of these types are encoded as JSON without further checks.
_PLAIN = (dict, list, tuple, str, int, float, bool)
_MOST_TYPES = 1000
# PERF: results of these types are neither awaited nor closed.
VALUES = frozenset({*_PLAIN, bytes, type(None), set})


def enter(c: Context[Any, Any], manager: AbstractContextManager[Any]) -> Any:
    """Enters a context manager that exits at the end of the request."""
    value = manager.__enter__()

    async def leave(error: BaseException | None) -> object:
        return manager.__exit__(*_as_arguments(error))

    c.add_cleanup(leave)
    return value


async def enter_async(c: Context[Any, Any], manager: AbstractAsyncContextManager[Any]) -> Any:
    """Enters an async context manager that exits at the end of the request."""
    value = await manager.__aenter__()
    c.add_cleanup(partial(_leave_async, manager))
    return value


async def _leave_async(
    manager: AbstractAsyncContextManager[Any], error: BaseException | None
) -> object:
    return await manager.__aexit__(*_as_arguments(error))


class Opened:
    """Gets the value of a dependency whose result shows how: an async context manager.

    Args:
        result: What the call returned: the value, an awaitable of it, or the generator of a
            function that yields it.
        is_manager: Whether it may also be a context manager, since its function wraps one that
            yields. The context manager that another function returns is a value.

    Attributes:
        has_exit: Whether the value has to be closed; known once it was entered.
    """

    __slots__ = ("_exit", "_is_manager", "_result", "has_exit")

    def __init__(self, result: Any, is_manager: bool) -> None:
        self._result = result
        self._is_manager = is_manager
        self._exit: Any = None
        self.has_exit = False

    async def __aenter__(self) -> Any:
        result, self._result = self._result, None
        result = await settle(result, "a dependency", may_yield=True, may_enter=True)
        if isinstance(result, AsyncGeneratorType):
            manager: Any = asynccontextmanager(lambda: result)()
        elif isinstance(result, GeneratorType):
            manager = contextmanager(lambda: result)()
        elif self._is_manager and (hasattr(result, "__aexit__") or hasattr(result, "__exit__")):
            manager = result
        else:
            return result
        if hasattr(manager, "__aexit__"):
            value = await manager.__aenter__()
            self._exit = manager.__aexit__
        else:
            value = manager.__enter__()
            self._exit = manager.__exit__
        self.has_exit = True
        return value

    async def __aexit__(self, *arguments: Any) -> Any:
        if self._exit is None:
            return None
        result = self._exit(*arguments)
        return await result if is_awaitable(result) else result


async def enter_unclear(c: Context[Any, Any], result: Any, is_manager: bool) -> Any:
    """Returns the value of a dependency; what `Opened` has to close ends with the request."""
    opened = Opened(result, is_manager)
    value = await opened.__aenter__()
    if opened.has_exit:
        c.add_cleanup(partial(_leave_async, opened))
    return value


async def enter_until_returned(
    c: Context[Any, Any], exits: AsyncExitStack, manager: Any, is_async: bool
) -> Any:
    """Enters a context manager that exits when the handler of a WebSocket has returned.

    If the connection is rejected after all, it exits at the end of the request.
    """
    value = await manager.__aenter__() if is_async else manager.__enter__()
    has_left = False

    async def leave(kind: Any, error: BaseException | None, traceback: Any) -> Any:
        nonlocal has_left
        if has_left:
            return None
        has_left = True
        if is_async:
            return await manager.__aexit__(kind, error, traceback)
        return manager.__exit__(kind, error, traceback)

    exits.push_async_exit(leave)

    async def leave_at_end(error: BaseException | None) -> object:
        return await leave(*_as_arguments(error))

    c.add_cleanup(leave_at_end)
    return value


def leaving(exits: AsyncExitStack, handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Returns a handler of a WebSocket after which context managers exit."""

    async def handle(ws: Any) -> Any:
        async with exits:
            return await handler(ws)

    return handle


def _as_arguments(error: BaseException | None) -> Any:
    return (None, None, None) if error is None else (type(error), error, error.__traceback__)


class Answers:
    """Creates responses from the return values of an endpoint.

    Args:
        status: The status of JSON responses; None for the status of the context.
        empty_status: The status for None.

    Attributes:
        data: Classes whose objects are data; generated code checks it before a call.
    """

    def __init__(self, status: int | None, empty_status: int) -> None:
        self._status = status
        self._empty_status = empty_status
        self.data: set[type] = set(_PLAIN)

    def answer(self, c: Context[Any, Any], result: Any) -> Any:
        """Returns the response for a result, or an awaitable of it."""
        if result is None:
            return c.body(None, self._empty_status)
        if is_response(result):
            return result
        if is_awaitable(result):
            return self._later(c, result)
        if len(self.data) < _MOST_TYPES:
            self.data.add(type(result))
        return c.json(result, self._status)

    async def _later(self, c: Context[Any, Any], result: Any) -> Any:
        response = self.answer(c, await result)
        return await response if is_awaitable(response) else response


def no_env(function: str, name: str) -> NoReturn:
    """Raises the error for a value that is missing in `c.env`."""
    raise LookupError(
        f"{function} reads c.env[{name!r}], which isn't there: run the app with the lifespan that "
        "yields it, or pass env={...} to request()"
    )


def variable(c: Context[Any, Any], function: str, name: str) -> Any:
    """Returns a variable that must have been set.

    Raises:
        LookupError: If it is None, or isn't set.
    """
    value = c.get(name)
    if value is None:
        raise LookupError(
            f"{function} reads the variable {name!r}, which no middleware has set for this "
            "request: give the parameter a default, or a type with None, if it may be absent"
        )
    return value
