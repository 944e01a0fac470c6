# SPDX-License-Identifier: MIT
"""Opens the dependencies of an endpoint, and closes them at the end of their scope."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from types import AsyncGeneratorType, GeneratorType
from typing import Any, TypeAlias

from kit.authoring.maybe_await import is_awaitable, plain_result, settle
from kit.interface import Context

from .._signature.signature import Mode
from .calls import DependencyCall

_Close: TypeAlias = Callable[[Any, Any, Any], Any]
"""The exit of a context manager, plain or async."""


async def provide(
    c: Context[Any, Any], call: DependencyCall, result: Any, exits: AsyncExitStack | None
) -> Any:
    """Returns the value of a dependency.

    Args:
        c: The context.
        call: The dependency.
        result: What its function returned, awaited once if it is async.
        exits: Where a dependency with the scope `function` registers its exit. Dependencies with
            the scope `request` close at the end of the request.

    Raises:
        TypeError: If a plain function returned an awaitable, or a function a generator.
    """
    signature = call.signature
    if signature.mode == "plain":
        return plain_result(result, signature.call, "@typed", may_enter=True)
    if signature.mode == "async":
        return await settle(result, signature.call, may_enter=True)
    value, close = await _open(result, signature.mode)
    if close is None:
        return value
    if exits is not None and call.scope == "function":
        exits.push_async_exit(_as_async(close))
    else:
        c.add_cleanup(lambda error: close(*exit_arguments(error)))
    return value


async def _open(result: Any, mode: Mode) -> tuple[Any, _Close | None]:
    """Returns the value of a dependency, and the function that closes it, if it has one."""
    is_async = mode == "async manager"
    if mode in ("unclear", "unclear manager"):
        result = await settle(result, "a dependency", may_yield=True, may_enter=True)
        if isinstance(result, AsyncGeneratorType):
            result = asynccontextmanager(lambda generator=result: generator)()
        elif isinstance(result, GeneratorType):
            result = contextmanager(lambda generator=result: generator)()
        elif mode == "unclear" or not (hasattr(result, "__aexit__") or hasattr(result, "__exit__")):
            return result, None
        is_async = hasattr(result, "__aexit__")
    if is_async:
        return await result.__aenter__(), result.__aexit__
    return result.__enter__(), result.__exit__


def _as_async(close: _Close) -> Callable[[Any, Any, Any], Any]:
    async def leave(*arguments: Any) -> Any:
        result = close(*arguments)
        return await result if is_awaitable(result) else result

    return leave


def exit_arguments(error: BaseException | None) -> Any:
    """Returns the arguments of `__exit__` for an exception, or for none."""
    return (None, None, None) if error is None else (type(error), error, error.__traceback__)
