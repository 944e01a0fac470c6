# SPDX-License-Identifier: MIT
"""Runs the parts for all requests except those that a condition exempts."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Any

from kit.authoring.maybe_await import check_answer, is_awaitable, settle
from kit.authoring.options import OptionChecks
from kit.authoring.signatures import accepts, describe
from kit.interface import Context, Middleware, Next, UnsupportedPathError, is_response
from kit.interface.metadata import attach
from kit.router import path_matcher
from kit.router.patterns import covers

from ._bindable import build_middleware
from ._facts import facts_of_every
from ._parts import Condition, Part, is_type, split_parts
from ._some_every import run_every

__all__ = ("except_",)

_logger = logging.getLogger("kit")
_CHECK = OptionChecks("except_")
_EXPECTED = "a path pattern, a condition (c), or a list of them"


def except_(
    condition: str | Condition | Iterable[str | Condition], *middleware: Middleware | Condition
) -> Middleware:
    """Returns middleware that applies its parts to all requests except exempt ones.

    If a condition raises, the request isn't exempt.

    Args:
        condition: Which requests to exempt: a route pattern such as `/public/*`, matched against
            the whole path, `c.req.path`; a function `(c)`, plain or async, that returns a true
            value; or a list of patterns and functions, any of which exempts the request. In an app
            added with `route`, the pattern has to include the prefix.
        *middleware: The parts, as for `every`.

    Returns:
        The middleware, for `app.use(...)`.

    Raises:
        TypeError: If an argument is of the wrong type, or there are no parts.
        ValueError: If a pattern can't match any path, or matches every path.

    Example:
        app.use("/api/*", except_("/api/public/*", bearer_auth(token=TOKEN)))
    """
    patterns, functions = _conditions(condition)
    matches = path_matcher(*patterns)

    def build(parts: tuple[Part, ...]) -> Middleware:
        async def by_function(c: Context[Any, Any], next: Next) -> None:
            for function in functions:
                if await _exempts(function, c):
                    await next()
                    return
            await run_every("except_()", parts, c, next)

        # PERF: not async, which saves a coroutine for exempt requests.
        def except_(c: Context[Any, Any], next: Next) -> Awaitable[None]:
            if patterns and matches(c.req.path):
                return next()
            if functions:
                return by_function(c, next)
            return run_every("except_()", parts, c, next)

        facts = facts_of_every(parts)
        if functions and facts.get("security"):
            # It is unknown which requests the function exempts; those need no credentials.
            choices = facts["security"]
            facts["security"] = choices if () in choices else (*choices, ())
        # For tools: the paths to which these facts don't apply.
        return attach(except_, **facts, combine_except=tuple(patterns))

    return build_middleware(split_parts("except_()", middleware), build, all_run=True)


def _conditions(condition: Any) -> tuple[list[str], list[Callable[..., Any]]]:
    """Sorts patterns and functions.

    Raises:
        TypeError: If something is neither.
        ValueError: If there are none, or a pattern is invalid.
    """
    if isinstance(condition, str) or callable(condition):
        condition = (condition,)
    if not isinstance(condition, Iterable) or isinstance(condition, (bytes, Mapping)):
        _CHECK.wrong_type("condition", condition, _EXPECTED)
    if not isinstance(condition, Collection):
        condition = list(condition)
    if not condition:
        _CHECK.unusable(
            "condition", condition, "at least one; without any, use the middleware itself"
        )
    patterns: list[str] = []
    functions: list[Callable[..., Any]] = []
    for each in condition:
        if isinstance(each, str):
            _check_pattern(each)
            patterns.append(each)
        elif callable(each) and accepts(each, 1) and not is_type(each):
            functions.append(each)
        else:
            _CHECK.wrong_type("condition", each, _EXPECTED)
    return patterns, functions


def _check_pattern(pattern: str) -> None:
    try:
        path_matcher(pattern)
    except UnsupportedPathError as error:
        raise ValueError(
            f"except_(condition={pattern!r:.100}) can't be used: {error.reason}"
        ) from None
    if covers(pattern, "/*"):
        _CHECK.unusable("condition", pattern, "a pattern that leaves paths to the middleware")


async def _exempts(function: Callable[..., Any], c: Context[Any, Any]) -> bool:
    """Returns whether a condition exempts a request; False if it raises."""
    try:
        result = function(c)
        if is_awaitable(result):
            result = await settle(result, function)
        if result is not True:
            check_answer(describe(function), result, may_respond=True)
        if is_response(result):
            raise TypeError("a condition of except_() returned a response: return a bool")
    except Exception as error:
        _logger.warning("%s failed, so nothing is exempt", describe(function), exc_info=error)
        return False
    return bool(result)
