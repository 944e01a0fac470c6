# SPDX-License-Identifier: MIT
"""The middleware that sets Server-Timing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any, TypeAlias

from kit.authoring.maybe_await import call, check_answer
from kit.authoring.options import OptionChecks
from kit.interface import AnyContext, AsyncMiddleware, Context, Next

from ._metrics import TOTAL, VARIABLE, Metrics, description_part

__all__ = ("timing",)

_Enabled: TypeAlias = Callable[[AnyContext], bool | Awaitable[bool]]
_CrossOrigin: TypeAlias = Callable[[AnyContext], bool | str | Awaitable[bool | str | None] | None]

_ORIGIN = "a bool, an origin such as 'https://example.com', or a function (c)"


def timing(
    *,
    total: bool = True,
    enabled: bool | _Enabled = True,
    total_description: str = "Total Response Time",
    auto_end: bool = True,
    cross_origin: bool | str | _CrossOrigin = False,
) -> AsyncMiddleware:
    """Returns middleware that sends metrics in the Server-Timing header (W3C Server Timing).

    Handlers and middleware registered after it add metrics with `set_metric`, `start_timer`,
    `end_timer` and `wrap_time`. If a request passes several of them, the outermost one sends all
    metrics.

    Metrics reveal how the app works, e.g. whether a user exists. Enable them only for users who may
    see them.

    Args:
        total: Whether to send the time of the handlers as the metric `total`.
        enabled: Whether to send the header. A function, plain or async, is called with `c` after
            the handlers.
        total_description: The description of `total`; `""` for none.
        auto_end: Whether running timers end when the response is ready. Otherwise they are dropped.
        cross_origin: Other origins that may read the metrics (Timing-Allow-Origin): True for all, a
            str for one origin. A function, plain or async, is called with `c` and returns one of
            these, or False.

    Returns:
        The middleware, for `app.use(...)`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a text can't be sent in a header.

    Example:
        app.use(timing())
    """
    part = _checked(total, enabled, total_description, auto_end, cross_origin)
    origin: Any = "*" if cross_origin is True else cross_origin

    async def timing(c: Context[Any, Any], next: Next) -> None:
        if c.get(VARIABLE) is not None:
            await next()
            return
        metrics = Metrics()
        c.set(VARIABLE, metrics)
        if total:
            metrics.timers[TOTAL] = (perf_counter(), part)
        await next()
        metrics.end(total, auto_end)
        if enabled is True or (enabled is not False and await _is_enabled(enabled, c)):
            c.header("Server-Timing", ", ".join(metrics.members), append=True)
            allowed = await call(origin, c) if callable(origin) else origin
            if allowed:
                c.header("Timing-Allow-Origin", "*" if allowed is True else allowed, append=True)

    return timing


async def _is_enabled(enabled: _Enabled, c: Context[Any, Any]) -> bool:
    answer = await call(enabled, c)
    check_answer("timing(enabled=...)", answer)
    return bool(answer)


def _checked(
    total: Any, enabled: Any, total_description: Any, auto_end: Any, cross_origin: Any
) -> str:
    """Checks the options, and returns the description part of the member `total`."""
    check = OptionChecks("timing")
    check.flag("total", total)
    if callable(enabled):
        check.function("enabled", enabled, "(c)")
    elif not isinstance(enabled, bool):
        check.wrong_type("enabled", enabled, "a bool or a function (c)")
    check.flag("auto_end", auto_end)
    if isinstance(cross_origin, str):
        check.header_value("cross_origin", cross_origin)
    elif callable(cross_origin):
        check.function("cross_origin", cross_origin, "(c)")
    elif not isinstance(cross_origin, bool):
        check.wrong_type("cross_origin", cross_origin, _ORIGIN)
    try:
        return description_part("timing", check.text("total_description", total_description))
    except ValueError:
        expected = "latin-1 text without control characters"
        check.unusable("total_description", total_description, expected)
