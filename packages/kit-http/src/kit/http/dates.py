# SPDX-License-Identifier: MIT
"""Dates in HTTP headers (RFC 9110, section 5.6.7)."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache

__all__ = ("format_http_date", "parse_http_date")

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH = f"(?P<month>{'|'.join(_MONTHS)})"
_TIME = "(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
_IMF_FIXDATE = re.compile(
    f"(?:{'|'.join(_DAYS)}), (?P<day>[0-9]{{2}}) {_MONTH} (?P<year>[0-9]{{4}}) {_TIME} GMT"
)
# SPEC: the two obsolete formats, which recipients must accept.
_ASCTIME = re.compile(
    f"(?:{'|'.join(_DAYS)}) {_MONTH} (?P<day>[ 0-9][0-9]) {_TIME} (?P<year>[0-9]{{4}})"
)
_RFC_850 = re.compile(
    "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, "
    f"(?P<day>[0-9]{{2}})-{_MONTH}-(?P<year>[0-9]{{2}}) {_TIME} GMT"
)
_LONGEST_DATE = len("Wednesday, 31-Dec-99 23:59:59 GMT")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_SECOND = -62_135_596_800  # 0001-01-01 00:00:00
_LAST_SECOND = 253_402_300_799  # 9999-12-31 23:59:59
_LEAP_SECOND = 60
_MOST_YEARS_AHEAD = 50


def format_http_date(timestamp: float) -> str:
    """Formats a point in time, e.g. for Last-Modified (section 5.6.7, IMF-fixdate).

    Args:
        timestamp: Seconds since 1970-01-01 00:00:00 UTC, rounded down to whole seconds.

    Returns:
        A date such as `Sun, 06 Nov 1994 08:49:37 GMT`.

    Raises:
        ValueError: If the year isn't between 1 and 9999.
    """
    if not _FIRST_SECOND <= timestamp < _LAST_SECOND + 1:
        raise ValueError(
            f"{timestamp!r:.100} can't be formatted as an HTTP date: "
            "expected seconds since 1970 within the years 1 to 9999"
        )
    return _formatted(int(timestamp // 1))


def parse_http_date(value: str | None, *, now: float | None = None) -> int | None:
    """Parses a date in any of the three formats of HTTP (section 5.6.7).

    The name of the day isn't compared with the date.

    Args:
        value: The value of a header such as If-Modified-Since; None if the header is absent.
        now: The current time, in seconds since 1970-01-01 00:00:00 UTC. A two-digit year is
            interpreted as the latest year at most 50 years ahead. Default: the system clock.

    Returns:
        Seconds since 1970-01-01 00:00:00 UTC; None if the date is invalid.
    """
    if value is None or len(value) > _LONGEST_DATE:  # PERF: keeps long text out of the cache
        return None
    # RFC 850 dates bypass the cache, since the result depends on the clock.
    return _parsed_rfc_850(value, now) if "-" in value else _parsed(value)


@lru_cache(maxsize=256)
def _formatted(timestamp: int) -> str:
    at = _EPOCH + timedelta(seconds=timestamp)
    day, month = _DAYS[at.weekday()], _MONTHS[at.month - 1]
    return f"{day}, {at.day:02} {month} {at.year:04} {at:%H:%M:%S} GMT"


@lru_cache(maxsize=256)
def _parsed(value: str) -> int | None:
    found = _IMF_FIXDATE.fullmatch(value) or _ASCTIME.fullmatch(value)
    return None if found is None else _timestamp(int(found["year"]), *_within_year(found))


def _parsed_rfc_850(value: str, now: float | None) -> int | None:
    found = _RFC_850.fullmatch(value)
    if found is None:
        return None
    present = time.gmtime(now)
    last_year = present.tm_year + _MOST_YEARS_AHEAD
    year = last_year - (last_year - int(found["year"])) % 100
    rest = _within_year(found)
    # SPEC: a time more than 50 years ahead, to the second, is in the past.
    if (year, *rest) > (last_year, *present[1:6]):
        year -= 100
    return _timestamp(year, *rest)


def _within_year(found: re.Match[str]) -> tuple[int, int, int, int, int]:
    """Returns month, day, hour, minute and second."""
    day, hour, minute, second = map(int, found.group("day", "hour", "minute", "second"))
    return _MONTHS.index(found["month"]) + 1, day, hour, minute, second


def _timestamp(year: int, month: int, day: int, hour: int, minute: int, second: int) -> int | None:
    if second > _LEAP_SECOND:
        return None
    try:
        start = datetime(year, month, day, hour, minute, tzinfo=UTC)
    except ValueError:
        return None
    # A leap second, :60, counts as the first second of the next minute, as in POSIX.
    timestamp = (start - _EPOCH) // timedelta(seconds=1) + second
    return timestamp if timestamp <= _LAST_SECOND else None
