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
        What the function returned, or what awaiting that returned.
    """
    result: Any = function(*args)
    if hasattr(result, "__await__"):
        result = await result
    return cast(T, result)


def resume(
    steps: Generator[Any, Any, T] | Coroutine[Any, Any, T], waits_for: Any, /
) -> Generator[Any, Any, T]:
    """Continues what was awaited by hand, and has waited for the first time.

    So what is needed only for work that waits, such as a task that watches over it, can be left out
    for work that doesn't:

        @types.coroutine
        def watched(work: Awaitable[None]) -> Generator[Any, Any, None]:
            steps = work.__await__()
            for waits_for in steps:
                ...  # start what watches over it
                yield from resume(steps, waits_for)

    Args:
        steps: What `__await__` of the awaitable returned, or a coroutine itself.
        waits_for: The value that it yielded to the event loop last.

    Yields:
        What it yields to the event loop, `waits_for` first.

    Returns:
        What it returns.

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
            # Outside `except`, so that what the work raises next doesn't get this as its context.
            try:
                waits_for = steps.send(value) if thrown is None else steps.throw(thrown)
            finally:
                del thrown
    except StopIteration as end:
        return cast(T, end.value)
