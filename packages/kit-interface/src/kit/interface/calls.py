# SPDX-License-Identifier: MIT
"""Calls functions that may be plain or async, checks their results, and awaits by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator
from types import AsyncGeneratorType, GeneratorType
from typing import Any, TypeVar, cast

from ._web import is_response

__all__ = ("call", "check_answer", "resume")

T = TypeVar("T")

_NO_ANSWERS = (BaseException, GeneratorType, AsyncGeneratorType)


async def call(function: Callable[..., Awaitable[T] | T], /, *args: Any) -> T:
    """Calls a function, and awaits its result if that is awaitable.

    Args:
        function: A plain or async function.
        *args: Its arguments.

    Returns:
        The result of the function, awaited if it is awaitable.
    """
    result: Any = function(*args)
    if hasattr(result, "__await__"):
        result = await result
    return cast(T, result)


def check_answer(
    function: str, answer: Any, expected: str = "True or False", *, may_respond: bool = False
) -> None:
    """Rejects a result of a function that is always true, and so can't be an intended answer.

    For guards that ask a function whether to let a request in. If it returned a coroutine, since an
    `await` was forgotten, or an exception that it should have raised, everyone would be let in.

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
        or hasattr(answer, "__await__")
        or (is_response(answer) and not may_respond)
    ):
        raise TypeError(
            f"{function} returned {type(answer).__name__}: expected {expected}; "
            "await coroutines, raise exceptions, and write return, not yield"
        )


def resume(
    steps: Generator[Any, Any, T] | Coroutine[Any, Any, T], waits_for: Any, /
) -> Generator[Any, Any, T]:
    """Resumes an awaitable that was iterated by hand, after it first had to wait.

    This makes it possible to set up things such as a supervising task only for work that actually
    waits:

        @types.coroutine
        def watched(work: Awaitable[None]) -> Generator[Any, Any, None]:
            steps = work.__await__()
            for waits_for in steps:
                ...  # start the supervising task
                yield from resume(steps, waits_for)

    Args:
        steps: The result of the awaitable's `__await__`, or a coroutine.
        waits_for: The last value that it yielded to the event loop.

    Yields:
        The values it yields to the event loop, `waits_for` first.

    Returns:
        Its result.

    Raises:
        BaseException: The exception that it raises.
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
