# SPDX-License-Identifier: MIT
"""Calls functions that may be plain or async, and awaits by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Any, TypeVar, cast

__all__ = ("call", "resume")

T = TypeVar("T")


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
