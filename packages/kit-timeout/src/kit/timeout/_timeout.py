# SPDX-License-Identifier: MIT
"""The middleware that cancels handlers when their time is up."""

from __future__ import annotations

from asyncio import get_running_loop
from collections.abc import Awaitable, Callable, Generator
from time import monotonic
from types import coroutine
from typing import Any, TypeAlias

from anyio import CancelScope, current_time

from kit.authoring.cancellation import Cancellation
from kit.authoring.event_loops import running_trio
from kit.authoring.maybe_await import call, resume
from kit.authoring.options import OptionChecks
from kit.authoring.signatures import describe
from kit.interface import AnyContext, Context, HandlerError, HTTPException, Middleware, Next
from kit.interface.metadata import attach

__all__ = ("ExceptionFunction", "timeout")

ExceptionFunction: TypeAlias = Callable[[AnyContext], HTTPException | Awaitable[HTTPException]]
"""Returns what to raise when time is up: `def exception(c)`, plain or async."""

_STATUS = 504


def timeout(
    seconds: float, exception: HTTPException | ExceptionFunction | None = None
) -> Middleware:
    """Returns middleware that cancels handlers that take too long.

    They are cancelled at their current `await`, on asyncio and trio. `finally` blocks and context
    managers run first, then the response is sent. On asyncio they may await, since handlers are
    cancelled once, as by `asyncio.timeout()`; on trio they need a shield for that. The response
    waits for shielded blocks, and for functions with `in_thread`, since a thread can't be
    cancelled. If a handler returns a response after its cancellation, that response is sent. The
    limit ends once there is a response: streamed bodies may take longer.

    Args:
        seconds: Time limit for the handlers, in seconds; more than 0.
        exception: The exception to raise when time is up: an `HTTPException`, or a function
            `exception(c)`, plain or async, that returns one. Default: 504 with the text `Gateway
            Timeout` (RFC 9110, section 15.6.5).

    Returns:
        The middleware, for `app.use(...)` or a route.

    Raises:
        TypeError: If an option is of the wrong type.
        ValueError: If `seconds` is not a finite number above 0.

    Example:
        app.use("/reports/*", timeout(5))
    """
    check = OptionChecks("timeout")
    check.number("seconds", seconds, whole=False)
    if seconds <= 0:
        check.unusable("seconds", seconds, "more than 0 seconds")
    if isinstance(exception, HTTPException) or exception is None:
        status = _STATUS if exception is None else exception.status
        responses = {status: "The request took too long"}
    elif isinstance(exception, type) or not callable(exception):
        check.wrong_type("exception", exception, "an HTTPException, or a function (c)")
    else:
        check.function("exception", exception, "(c)")
        responses = {}  # its return value is known only during a request

    async def timeout(c: Context[Any, Any], next: Next) -> None:
        if running_trio() is None:
            is_late = await _bounded(next(), seconds)
        else:
            with CancelScope() as scope:
                await _bounded_on_trio(next(), scope, seconds)
            is_late = scope.cancelled_caught
        if is_late:
            raise await _made(exception, c)

    return attach(timeout, responses=responses)


@coroutine
def _bounded(work: Awaitable[None], seconds: float) -> Generator[Any, Any, bool]:
    """Runs work that is cancelled when its time is up; returns whether it was."""
    began = monotonic()
    steps = work.__await__()
    for waits_for in steps:
        # PERF: only now, since work that never waits can't be cancelled and needs no timer.
        left_s = seconds - (monotonic() - began)
        with Cancellation() as cancellation:
            timer = get_running_loop().call_later(left_s, cancellation.request)
            try:
                yield from resume(cancellation.checked(steps), waits_for)
            finally:
                timer.cancel()
        return cancellation.is_caught
    return False


@coroutine
def _bounded_on_trio(
    work: Awaitable[None], scope: CancelScope, seconds: float
) -> Generator[Any, Any, None]:
    """Runs work within a scope that is cancelled when its time is up."""
    began = monotonic()
    steps = work.__await__()
    for waits_for in steps:
        scope.deadline = current_time() + seconds - (monotonic() - began)
        yield from resume(steps, waits_for)
        return


async def _made(
    exception: HTTPException | ExceptionFunction | None, c: Context[Any, Any]
) -> HTTPException:
    if exception is None:
        return HTTPException(_STATUS, "Gateway Timeout")
    if isinstance(exception, HTTPException):
        # Each raise would add to the traceback that an exception keeps.
        return exception.with_traceback(None)
    made = await call(exception, c)
    if not isinstance(made, HTTPException):
        raise HandlerError(
            describe(exception),
            f"returned {made!r:.100} as the exception of timeout(): return an HTTPException",
        )
    return made
