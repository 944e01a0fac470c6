# SPDX-License-Identifier: MIT
"""Limits, and their text form."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kit.authoring.options import OptionChecks

__all__ = ("Limit", "read_limits")

# SPEC: RFC 9651 section 3.3.1: the largest Integer of a structured field.
_MOST = 10**15 - 1
# More than 300 years; Redis can't calculate with much longer windows.
_LONGEST_S = 10**10
_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_SYNTAX = re.compile(
    r"\s*([0-9]{1,16})\s*(?:/|\s+per\s+)\s*(?:([0-9]{1,16})\s*)?([a-z]+?)s?\s*",
    re.ASCII | re.IGNORECASE,
)
_EXPECTED = "an amount and a time, such as '100/minute', '5 per 10 seconds' or '1000/day'"


@dataclass(frozen=True, slots=True)
class Limit:
    """The amount that a client may use in a window.

    Attributes:
        amount: Number of requests, or sum of their costs, from 1 to 999,999,999,999,999.
        seconds: Length of the window in seconds, from 1 to 10,000,000,000.
    """

    amount: int
    seconds: int

    def __post_init__(self) -> None:
        check = OptionChecks("Limit")
        check.number("amount", self.amount, least=1, most=_MOST)
        check.number("seconds", self.seconds, least=1, most=_LONGEST_S, unit="seconds")

    def __str__(self) -> str:
        """Returns the limit as text, e.g. `100/minute` or `5/10 seconds`."""
        unit, seconds = next(
            each for each in reversed(_UNITS.items()) if self.seconds % each[1] == 0
        )
        count = self.seconds // seconds
        return f"{self.amount}/{unit}" if count == 1 else f"{self.amount}/{count} {unit}s"


def read_limits(check: OptionChecks, given: tuple[Any, ...]) -> tuple[Limit, ...]:
    """Reads the limits of a factory.

    Args:
        check: Checks of the factory.
        given: Its positional arguments: strings, limits, and lists of them.

    Raises:
        TypeError: If one of them is something else.
        ValueError: If there are none, if a string can't be parsed, or if two windows have the same
            length.
    """
    limits: list[Limit] = []
    for each in given:
        if isinstance(each, (str, Limit)) or not isinstance(each, Iterable):
            limits.append(_read(check, each))
        else:
            limits += [_read(check, one) for one in each]
    if not limits:
        raise ValueError(f"{check.factory}() needs a limit: {_EXPECTED}")
    seen: dict[int, Limit] = {}
    for limit in limits:
        other = seen.setdefault(limit.seconds, limit)
        if other is not limit:
            raise ValueError(
                f"{check.factory}() has two limits for windows of the same length, '{other}' and "
                f"'{limit}': leave out the larger one"
            )
    return tuple(limits)


def _read(check: OptionChecks, given: Any) -> Limit:
    if isinstance(given, Limit):
        return given
    if not isinstance(given, str):
        raise TypeError(f"{check.factory}() takes limits such as '100/minute', not {given!r:.100}")
    if ";" in given or "," in given:
        raise ValueError(
            f"{check.factory}({given!r:.100}) has several limits in one string: pass each as its "
            f"own argument, such as '5/second', '100/minute'"
        )
    found = _SYNTAX.fullmatch(given)
    seconds = 0 if found is None else _UNITS.get(found[3].lower(), 0) * int(found[2] or 1)
    if found is None or not seconds or not 0 < int(found[1]) <= _MOST or seconds > _LONGEST_S:
        raise ValueError(
            f"{check.factory}({given!r:.100}) can't be used: expected {_EXPECTED}; units are "
            "second, minute, hour, day and week"
        )
    return Limit(int(found[1]), seconds)
