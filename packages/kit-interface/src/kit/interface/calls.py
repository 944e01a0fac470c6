# SPDX-License-Identifier: MIT
"""Calls functions that may be plain or async, checks their results, and awaits by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator
from types import AsyncGeneratorType, GeneratorType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ._errors import HandlerError
from ._web import is_response
from .signatures import describe

if TYPE_CHECKING:
    from ._context import Context
    from ._web import Response

__all__ = ("call", "check_answer", "check_second", "resume")

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
    if response is not res and not _has_all_of(res, response):
        raise HandlerError(
            describe(function),
            "returned a Response after `await next()` or after setting c.res, which would be "
            "ignored: write c.res = response to replace the one there is, and return nothing",
        )


def _has_all_of(res: Response, other: Response) -> bool:
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
