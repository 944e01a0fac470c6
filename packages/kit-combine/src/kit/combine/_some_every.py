# SPDX-License-Identifier: MIT
"""Runs the parts in order, until one lets the request through or rejects it."""

from __future__ import annotations

import logging
from collections.abc import Coroutine
from typing import Any

from kit.authoring.maybe_await import check_answer, check_second, is_awaitable, settle
from kit.authoring.signatures import describe
from kit.interface import Context, HTTPException, Middleware, Next, Response, is_response
from kit.interface.metadata import attach

from ._bindable import build_middleware
from ._facts import facts_of_every, facts_of_some
from ._parts import Condition, Part, UnmetConditionError, called_again, split_parts

__all__ = ("every", "run_every", "some")

_logger = logging.getLogger("kit")


def some(*middleware: Middleware | Condition) -> Middleware:
    """Returns middleware that lets a request through if one of its parts does.

    The parts are tried in order until one calls `next`, returns a response, or is a condition that
    is met. If a part raises before it calls `next`, or a condition isn't met, the next part is
    tried; if none is left, the last error is raised. Variables, headers and the status that a
    failed part has set on `c` are kept.

    Args:
        *middleware: The parts: middleware `(c, next)`, or conditions `(c)`, plain or async.

    Returns:
        The middleware, for `app.use(...)` or a route.

    Raises:
        TypeError: If there are no parts, or one is neither middleware nor condition.

    Example:
        app.use("/api/*", some(is_read, bearer_auth(token=TOKEN)))
    """

    def build(parts: tuple[Part, ...]) -> Middleware:
        async def some(c: Context[Any, Any], next: Next) -> Response | None:
            return await _run_some(parts, c, next)

        return attach(some, **facts_of_some(parts))

    return build_middleware(split_parts("some()", middleware), build, all_run=False)


def every(*middleware: Middleware | Condition) -> Middleware:
    """Returns middleware that lets a request through if all of its parts do.

    Each part wraps the parts after it. If one raises or returns a response, the parts after it
    don't run. A condition that isn't met raises `UnmetConditionError`, which becomes a 403.

    Args:
        *middleware: The parts: middleware `(c, next)`, or conditions `(c)`, plain or async.

    Returns:
        The middleware, for `app.use(...)` or a route.

    Raises:
        TypeError: If there are no parts, or one is neither middleware nor condition.

    Example:
        app.use("/admin/*", every(ip_restriction(rules=OFFICE), bearer_auth(token=TOKEN)))
    """

    def build(parts: tuple[Part, ...]) -> Middleware:
        async def every(c: Context[Any, Any], next: Next) -> None:
            await run_every("every()", parts, c, next)

        return attach(every, **facts_of_every(parts))

    return build_middleware(split_parts("every()", middleware), build, all_run=True)


# C901: awaiting each part in a separate function would cost an extra coroutine.
async def _run_some(  # noqa: C901
    parts: tuple[Part, ...], c: Context[Any, Any], next: Next
) -> Response | None:
    is_called = False

    def called() -> Coroutine[Any, Any, None]:
        nonlocal is_called
        if is_called:
            raise called_again(part)
        is_called = True
        return next()

    error: Exception  # set by the last part, and there is one
    for part in parts:
        try:
            result = _call(part, c, called)
            if is_awaitable(result):
                result = await settle(result, part.function)
            if part.is_condition and result is not True:
                check_answer(describe(part.function), result, may_respond=True)
        except Exception as raised:
            if is_called:  # the handlers have run: no other part may run them again
                raise
            _note(raised, part)
            error = raised
            continue
        if is_response(result):
            if c.finalized and is_called:
                check_second(c, result, part.function)
            return result
        if is_called:
            return None
        # The presence of a response proves nothing: outer middleware may have set one before.
        if _is_refusal(result, part):
            error = UnmetConditionError("some()", describe(part.function))
            continue
        if part.is_condition or (result is True and not c.finalized):
            await next()
        return None
    raise error


async def run_every(
    combinator: str, parts: tuple[Part, ...], c: Context[Any, Any], next: Next, start: int = 0
) -> None:
    """Runs the parts from `start` on, and then `next`.

    Args:
        combinator: The function that combined them, for errors.
        parts: The parts.
        c: The context.
        next: Runs the middleware and handlers after the parts.
        start: The number of the first part to run.

    Raises:
        UnmetConditionError: If a condition is not met.
    """
    for index in range(start, len(parts)):
        part = parts[index]
        following = _following(combinator, parts, c, next, index + 1)
        result = _call(part, c, _once(following, part))
        if is_awaitable(result):
            result = await settle(result, part.function)
        if is_response(result):
            if c.finalized:
                check_second(c, result, part.function)
            else:
                c.res = result
            return
        if _is_refusal(result, part):
            raise UnmetConditionError(combinator, describe(part.function))
        if part.is_condition:
            if result is not True:
                check_answer(describe(part.function), result, may_respond=True)
        else:
            if result is True and not c.finalized:
                await following()
            return
    await next()


def _call(part: Part, c: Context[Any, Any], next: Next) -> Any:
    """Returns the result of a part, or an awaitable of it."""
    return part.function(c) if part.is_condition else part.function(c, next)


def _once(next: Next, part: Part) -> Next:
    """Returns a `next` for one part that raises if it is called again."""
    is_called = False

    def once() -> Coroutine[Any, Any, None]:
        nonlocal is_called
        if is_called:
            raise called_again(part)
        is_called = True
        return next()

    return once


def _is_refusal(result: Any, part: Part) -> bool:
    """Whether a condition isn't met; middleware may also return False."""
    return not result if part.is_condition else result is False


def _following(
    combinator: str, parts: tuple[Part, ...], c: Context[Any, Any], next: Next, start: int
) -> Next:
    # PERF: the last part gets the outer `next`, without a call in between.
    if start == len(parts):
        return next
    return lambda: run_every(combinator, parts, c, next, start)


def _note(error: Exception, part: Part) -> None:
    """Logs an error that the next part may hide; a rejection isn't an error."""
    if not isinstance(error, HTTPException):
        _logger.warning(
            "%s failed, so the next part decides", describe(part.function), exc_info=error
        )
