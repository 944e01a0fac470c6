# SPDX-License-Identifier: MIT
"""Calls functions that may be plain or async, checks their results, and awaits by hand.

Whether a function is async is decided by its result, since a decorator, a partial, an object with
`__call__` or a mock may return an awaitable without being an `async def`. `call` and `settle` await
it, however often that takes; `plain_result` refuses it, where nothing can be awaited. None of them
lets a generator pass for a result, since none of its code has run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import lru_cache
from types import AsyncGeneratorType, GeneratorType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from kit.interface import HandlerError, is_response

from .signatures import describe

if TYPE_CHECKING:
    from kit.interface import Context, Response

__all__ = (
    "call",
    "check_answer",
    "check_second",
    "dispose",
    "is_awaitable",
    "plain_result",
    "resume",
    "settle",
)

T = TypeVar("T")

_CO_ITERABLE_COROUTINE = 0x100  # inspect.CO_ITERABLE_COROUTINE
_NO_ANSWERS = (BaseException, GeneratorType, AsyncGeneratorType)


async def call(
    function: Callable[..., Awaitable[T] | T], /, *args: Any, may_yield: bool = False
) -> T:
    """Calls a function, and awaits its result if that is awaitable.

    Args:
        function: A plain or async function.
        *args: Its arguments.
        may_yield: Whether it may return a generator, e.g. for the chunks of a body.

    Returns:
        The result of the function, awaited if it is awaitable.

    Raises:
        TypeError: If the result is a generator, unless it may be one.
    """
    result: Any = function(*args)
    return cast(T, await settle(result, function, may_yield=may_yield))


def is_awaitable(value: object, /) -> bool:
    """Returns whether `await` accepts a value: a coroutine, a Future, an object with `__await__`.

    Args:
        value: Any value, such as the result of a function.
    """
    kind: Any = type(value)
    if _has_await(kind):
        return True
    # A coroutine of types.coroutine() is a generator with a flag.
    return isinstance(value, GeneratorType) and value.gi_code.co_flags & _CO_ITERABLE_COROUTINE != 0


# PERF: until 3.12, a missing attribute of a class takes 0.1 us, as an exception is created for it.
@lru_cache(maxsize=1024)
def _has_await(kind: Any) -> bool:
    return hasattr(kind, "__await__")


async def settle(
    result: Any, function: object, /, *, may_yield: bool = False, may_enter: bool = False
) -> Any:
    """Awaits the result of a function until it can't be awaited any more.

    Args:
        result: The result, awaitable or not.
        function: The function, or what to call it in the error.
        may_yield: Whether the result may be a generator.
        may_enter: Whether an awaitable that is also an async context manager, such as a connection
            or a pool, is a result that isn't awaited.

    Returns:
        The result.

    Raises:
        TypeError: If it is a generator, unless it may be one.
    """
    while is_awaitable(result) and not (may_enter and _can_be_entered(result)):
        value = await result
        if value is result:  # such as a session or a pool, which `await` only opens
            break
        result = value
    if not may_yield and isinstance(result, (GeneratorType, AsyncGeneratorType)):
        raise TypeError(
            f"{_named(function)} returned a generator, of which nothing has run: "
            "write return, not yield"
        )
    return result


def plain_result(
    result: T, function: object, /, where: str, *, may_yield: bool = False, may_enter: bool = False
) -> T:
    """Refuses a result that has to be awaited, where nothing can be awaited, and disposes of it.

    Args:
        result: The result of a function.
        function: The function, for the error.
        where: What the function was given to, e.g. `Kit(get_path=...)`.
        may_yield: Whether the result may be a generator.
        may_enter: Whether it may be an awaitable that is also an async context manager.

    Returns:
        The result.

    Raises:
        TypeError: If it is awaitable, or a generator, unless it may be one.
    """
    if is_awaitable(result) and not (may_enter and _can_be_entered(result)):
        dispose(result)
        raise TypeError(
            f"{where} takes a plain function: {_named(function)} is async, and nothing awaits its "
            f"result, {type(result).__name__}"
        )
    if not may_yield and isinstance(result, (GeneratorType, AsyncGeneratorType)):
        raise TypeError(
            f"{where} takes a plain function: {_named(function)} returned a generator, of which "
            "nothing has run: write return, not yield"
        )
    return result


def _can_be_entered(value: object) -> bool:
    return hasattr(type(value), "__aenter__")


def dispose(awaitable: Any, /) -> None:
    """Closes a coroutine or cancels a Future, which nothing will await.

    Args:
        awaitable: Any awaitable; one that has neither method is left alone.
    """
    for name in ("close", "cancel"):
        end = getattr(awaitable, name, None)
        if callable(end):
            end()
            return


def _named(function: object) -> str:
    return function if isinstance(function, str) else describe(function)


def check_answer(
    function: str, answer: Any, expected: str = "True or False", *, may_respond: bool = False
) -> None:
    """Rejects a result that is always true, so that a guard would let everyone in.

    Args:
        function: What to call the function in the error, e.g. `basic_auth(verify_user=...)`.
        answer: Its result, awaited.
        expected: What it should return, for the error.
        may_respond: Whether it may return a response.

    Raises:
        TypeError: If the result is an awaitable, a generator, an exception or a response.
    """
    if (
        isinstance(answer, _NO_ANSWERS)
        or is_awaitable(answer)
        or (is_response(answer) and not may_respond)
    ):
        raise TypeError(
            f"{function} returned {type(answer).__name__}: expected {expected}; "
            "await coroutines, raise exceptions, and write return, not yield"
        )


def check_second(c: Context[Any, Any], response: Response, function: object) -> None:
    """Rejects a response that a function returned although the request has one already.

    It would be ignored: after `await next()`, the response is `c.res`.

    Args:
        c: The context, which is finalized.
        response: What the function returned.
        function: The function, for the error.

    Raises:
        HandlerError: Unless the response is `c.res`, or has nothing that `c.res` doesn't have.
    """
    res = c.res
    if response is not res and not _has_all_from(res, response):
        raise HandlerError(
            describe(function),
            "returned a Response after `await next()` or after setting c.res, which would be "
            "ignored: write c.res = response to replace the one there is, and return nothing",
        )


def _has_all_from(res: Response, other: Response) -> bool:
    """Whether a response has everything of another one, which is e.g. an earlier state of it."""
    body = res.body
    if body is not None and not isinstance(body, bytes):
        return False  # a stream belongs to one response
    return (
        res.status == other.status
        and body == other.body
        and {*other.headers.items()} <= {*res.headers.items()}
    )


def resume(
    steps: Generator[Any, Any, T] | Coroutine[Any, Any, T], waits_for: Any, /
) -> Generator[Any, Any, T]:
    """Resumes an awaitable that was iterated by hand, after it first had to wait.

    So a task that supervises the work, for instance, is started only for work that waits.

    Args:
        steps: The result of the awaitable's `__await__`, or a coroutine.
        waits_for: The last value that it yielded to the event loop.

    Yields:
        The values it yields to the event loop, `waits_for` first.

    Returns:
        Its result.
    """
    try:
        while True:
            thrown: BaseException | None = None
            try:
                value = yield waits_for
            except BaseException as error:  # above all, a cancellation
                thrown = error
            # Outside `except`, so that later exceptions don't get this one as their context.
            try:
                waits_for = steps.send(value) if thrown is None else steps.throw(thrown)
            finally:
                del thrown
    except StopIteration as end:
        return cast(T, end.value)
