# SPDX-License-Identifier: MIT
"""The metrics of one request, and the functions with which handlers add them."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from time import perf_counter
from typing import Any, TypeVar, overload

from kit.http.fields import is_token, quoted_string
from kit.interface import Context

__all__ = (
    "TOTAL",
    "VARIABLE",
    "Metrics",
    "description_part",
    "end_timer",
    "set_metric",
    "start_timer",
    "wrap_time",
)

T = TypeVar("T")

VARIABLE = "metric"
"""The variable of the context that holds the metrics."""

TOTAL = "total"
"""The name of the timer of the middleware."""

# That of JavaScript's toFixed.
_MOST_DECIMALS = 100
_logger = logging.getLogger("kit.timing")


class Metrics:
    """The metrics of one request.

    Attributes:
        members: The members of Server-Timing so far.
        timers: The running timers by name: the start time, and the description as part of the
            member.
        is_sent: Whether the header has been set.
    """

    __slots__ = ("is_sent", "members", "timers")

    def __init__(self) -> None:
        self.members: list[str] = []
        self.timers: dict[str, tuple[float, str]] = {}
        self.is_sent = False

    def end(self, total: bool, auto_end: bool) -> None:
        """Ends the running timers, `total` first, and accepts no more metrics.

        Args:
            total: Whether the timer `total` belongs to the middleware.
            auto_end: Whether the others count.
        """
        self.is_sent = True
        timers = self.timers
        if timers:
            now = perf_counter()
            if total and (timer := timers.pop(TOTAL, None)) is not None:
                self.members.append(_member(TOTAL, timer, now))
            if auto_end:
                self.members += [_member(name, timer, now) for name, timer in timers.items()]


@overload
def set_metric(
    c: Context[Any, Any],
    name: str,
    value: float,
    description: str | None = None,
    precision: int | None = None,
) -> None: ...
@overload
def set_metric(
    c: Context[Any, Any], name: str, value: None = None, description: str | None = None
) -> None: ...
@overload
def set_metric(c: Context[Any, Any], name: str, description: str | None = None, /) -> None: ...
def set_metric(
    c: Context[Any, Any],
    name: str,
    value: float | str | None = None,
    description: str | None = None,
    precision: int | None = None,
) -> None:
    """Adds a metric to the Server-Timing header of the response.

    If `timing()` isn't registered before the handler, or the header has already been set, as in the
    callback of a stream, it only logs a warning.

    Args:
        c: The context.
        name: Name of the metric, a token such as `db-read`.
        value: A duration in seconds; it is sent in milliseconds. A str here is the description
            of a metric without a duration: `set_metric(c, "region", "europe-west3")`.
        description: Text that developer tools show next to the name, in latin-1; it is sent quoted.
        precision: Decimal places of the milliseconds, 1 by default.

    Raises:
        ValueError: If the name is not a token, the description can't be sent, the value is not
            finite, or the precision is not from 0 to 100.
        TypeError: If an argument has the wrong type.

    Example:
        set_metric(c, "cache", description="hit")
    """
    if isinstance(value, str):
        value, description = None, value
    member = _checked_name("set_metric", name)
    if value is not None:
        member += f";dur={_milliseconds(value, _checked_precision('set_metric', precision))}"
    elif precision is not None:
        raise ValueError(
            f"set_metric(precision={precision!r:.100}) has no effect without a duration: give a "
            "value, or leave it out"
        )
    member += description_part("set_metric", description)
    metrics = _get_metrics(c, "set_metric", name)
    if metrics is not None:
        metrics.members.append(member)


def start_timer(c: Context[Any, Any], name: str, description: str | None = None) -> None:
    """Starts a timer, which `end_timer` turns into a metric.

    A running timer ends when the response is ready, unless `timing(auto_end=False)`. A running
    timer with the same name is restarted.

    Args:
        c: The context.
        name: Name of the metric, a token such as `db-read`.
        description: As for `set_metric`.

    Raises:
        ValueError: As for `set_metric`.
        TypeError: As for `set_metric`.
    """
    timer_name = _checked_name("start_timer", name)
    part = description_part("start_timer", description)
    metrics = _get_metrics(c, "start_timer", name)
    if metrics is not None:
        metrics.timers[timer_name] = (perf_counter(), part)


def end_timer(c: Context[Any, Any], name: str, precision: int | None = None) -> None:
    """Ends a timer started by `start_timer`, and adds its metric.

    If no such timer is running, it only logs a warning.

    Args:
        c: The context.
        name: Name of the timer.
        precision: As for `set_metric`.

    Raises:
        ValueError: If the precision is not from 0 to 100.
        TypeError: If the precision is not an int.
    """
    now = perf_counter()
    decimals = _checked_precision("end_timer", precision)
    metrics = _get_metrics(c, "end_timer", name)
    if metrics is None:
        return
    timer = metrics.timers.pop(name, None)
    if timer is None:
        _logger.warning("end_timer(): no timer %r is running", name)
        return
    metrics.members.append(_member(name, timer, now, decimals))


async def wrap_time(
    c: Context[Any, Any],
    name: str,
    awaitable: Awaitable[T],
    description: str | None = None,
    precision: int | None = None,
) -> T:
    """Awaits an awaitable, and adds its duration as a metric, even if it fails.

    Several with the same name may run at the same time: each adds a metric. The other arguments are
    checked before anything is awaited.

    Args:
        c: The context.
        name: As for `set_metric`.
        awaitable: What to await, e.g. the coroutine of a query.
        description: As for `set_metric`.
        precision: As for `set_metric`.

    Returns:
        The result of the awaitable.

    Raises:
        ValueError: As for `set_metric`.
        TypeError: As for `set_metric`.

    Example:
        books = await wrap_time(c, "db", read_books())
    """
    try:
        timer_name = _checked_name("wrap_time", name)
        part = description_part("wrap_time", description)
        decimals = _checked_precision("wrap_time", precision)
    except (TypeError, ValueError):
        if hasattr(awaitable, "close"):
            awaitable.close()  # it is never awaited, and Python would warn about that
        raise
    start = perf_counter()
    try:
        return await awaitable
    finally:
        now = perf_counter()
        metrics = _get_metrics(c, "wrap_time", name)
        if metrics is not None:
            metrics.members.append(_member(timer_name, (start, part), now, decimals))


def description_part(function: str, description: str | None) -> str:
    """Returns the description part of a member, `;desc="..."`; empty if there is none.

    Args:
        function: Name of the calling function, for errors.
        description: The description.

    Raises:
        TypeError: If it is not a str.
        ValueError: If it can't be sent.
    """
    if not description:
        return ""
    if not isinstance(description, str):
        raise TypeError(f"{function}(description=...) takes a str, not {description!r:.100}")
    try:
        # SPEC: RFC 9110 section 5.6.4.
        return f";desc={quoted_string(description)}"
    except ValueError:
        raise ValueError(
            f"{function}(description={description!r:.100}) can't be used: "
            "expected latin-1 text without control characters"
        ) from None


def _member(name: str, timer: tuple[float, str], now: float, decimals: int = 1) -> str:
    start, part = timer
    return f"{name};dur={(now - start) * 1000:.{decimals}f}{part}"


def _get_metrics(c: Context[Any, Any], function: str, name: str) -> Metrics | None:
    metrics = c.get(VARIABLE)
    if metrics.__class__ is not Metrics:
        _logger.warning("%s(): %r is dropped; register timing() before the handler", function, name)
    elif metrics.is_sent:
        _logger.warning("%s(): %r is dropped; Server-Timing has already been set", function, name)
    else:
        found: Metrics = metrics
        return found
    return None


def _checked_name(function: str, name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{function}(name=...) takes a str, not {name!r:.100}")
    if not is_token(name):
        raise ValueError(
            f"{function}(name={name!r:.100}) can't be used: expected a token such as 'db-read'"
        )
    return name


def _checked_precision(function: str, precision: int | None) -> int:
    if precision is None:
        return 1
    if not isinstance(precision, int) or isinstance(precision, bool):
        raise TypeError(f"{function}(precision=...) takes an int, not {precision!r:.100}")
    if not 0 <= precision <= _MOST_DECIMALS:
        raise ValueError(
            f"{function}(precision={precision}) can't be used: expected 0 to {_MOST_DECIMALS}"
        )
    return precision


def _milliseconds(value_s: float, decimals: int) -> str:
    """Returns seconds as milliseconds, rounded as JavaScript's toFixed does."""
    from decimal import ROUND_HALF_UP, Context, Decimal

    if not isinstance(value_s, (int, float)) or isinstance(value_s, bool):
        raise TypeError(f"set_metric(value=...) takes seconds or a str, not {value_s!r:.100}")
    if not -1e15 < value_s < 1e15:
        raise ValueError(f"set_metric(value={value_s}) can't be used: expected a finite number")
    # 0.0123 * 1000 is 12.299999999999999.
    milliseconds = Decimal(round(value_s * 1000, 9) or 0)
    wide = Context(prec=_MOST_DECIMALS + 30, rounding=ROUND_HALF_UP)
    return f"{milliseconds.quantize(Decimal(1).scaleb(-decimals), context=wide):f}"
