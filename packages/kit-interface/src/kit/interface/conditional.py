# SPDX-License-Identifier: MIT
"""Conditional requests: entity tags, dates and preconditions (RFC 9110, sections 8.8 and 13).

status = evaluate(c.req.method, c.req.header, etag='"v2"', last_modified=modified_at)
if status is not None:
    return c.body(None, status, {"ETag": '"v2"'})
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

__all__ = (
    "EntityTag",
    "GetField",
    "evaluate",
    "format_http_date",
    "parse_entity_tag",
    "parse_entity_tags",
    "parse_http_date",
    "range_applies",
    "weakened",
)

GetField: TypeAlias = Callable[[str], str | None]
"""Returns the value of a request header, or None: `c.req.header`, or `get` of headers."""

# SPEC: section 8.8.3: no blanks, no escapes; `W/` is case-sensitive.
_ENTITY_TAG = re.compile(r'(W/)?"([!#-~\x80-\xff]*)"')
# A comma within quotes separates nothing. Unlike in a quoted-string, a backslash escapes nothing.
_MEMBER = re.compile(r'(?:[^",]+|"[^"]*"?)+')

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH = f"(?P<month>{'|'.join(_MONTHS)})"
_TIME = "(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
# SPEC: section 5.6.7: IMF-fixdate, and the obsolete formats of RFC 850 and of asctime.
_DATES = (
    re.compile(
        f"(?:{'|'.join(_DAYS)}), (?P<day>[0-9]{{2}}) {_MONTH} (?P<year>[0-9]{{4}}) {_TIME} GMT"
    ),
    re.compile(
        "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, "
        f"(?P<day>[0-9]{{2}})-{_MONTH}-(?P<year>[0-9]{{2}}) {_TIME} GMT"
    ),
    re.compile(f"(?:{'|'.join(_DAYS)}) {_MONTH} (?P<day>[ 0-9][0-9]) {_TIME} (?P<year>[0-9]{{4}})"),
)
_LONGEST_DATE = len("Wednesday, 31-Dec-99 23:59:59 GMT")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_SECOND = -62_135_596_800  # 0001-01-01 00:00:00
_LAST_SECOND = 253_402_300_799  # 9999-12-31 23:59:59

# SPEC: section 13.2.1: methods that select no representation have no preconditions.
_WITHOUT_PRECONDITIONS = frozenset(("CONNECT", "OPTIONS", "TRACE"))
# SPEC: section 13.1.2. A QUERY is conditional as a GET is (draft-ietf-httpbis-safe-method-w-body).
_ANSWERED_NOT_MODIFIED = frozenset(("GET", "HEAD", "QUERY"))


class EntityTag(NamedTuple):
    """An entity tag; `str` of it is the value of an ETag header.

    Attributes:
        opaque: What stands between the quotes.
        weak: Whether it only says that two representations are equivalent, not that they are the
            same bytes.
    """

    opaque: str
    weak: bool = False

    def __str__(self) -> str:
        return f'W/"{self.opaque}"' if self.weak else f'"{self.opaque}"'

    def matches(self, other: EntityTag, *, strong: bool = False) -> bool:
        """Compares two entity tags (section 8.8.3.2).

        Args:
            other: The other one.
            strong: Use the strong comparison, which no weak tag passes. The weak one compares what
                is between the quotes alone.
        """
        return self.opaque == other.opaque and not (strong and (self.weak or other.weak))


def parse_entity_tag(value: str) -> EntityTag | None:
    """Parses one entity tag, e.g. the value of an ETag header (section 8.8.3).

    Args:
        value: The text, without blanks around it.

    Returns:
        The tag; None if the text is malformed, such as one without quotes.
    """
    found = _ENTITY_TAG.fullmatch(value)
    return EntityTag(found[2], found[1] is not None) if found else None


def parse_entity_tags(value: str | None) -> list[EntityTag]:
    """Parses a list of entity tags, as If-Match and If-None-Match have them.

    Args:
        value: The value; that of several lines is joined by commas. None if there is none.

    Returns:
        The tags in order. Malformed members, and a `*`, are left out.
    """
    if not value:
        return []
    members = (parse_entity_tag(member.strip(" \t")) for member in _MEMBER.findall(value))
    return [tag for tag in members if tag is not None]


def weakened(etag: str) -> str:
    """Returns an entity tag as a weak one (section 8.8.1).

    What changes the bytes of a response, but not what they mean, weakens its ETag.

    Args:
        etag: The value of an ETag header. One that isn't a strong entity tag is returned as it is.
    """
    return f"W/{etag}" if etag.startswith('"') else etag


def format_http_date(timestamp: float) -> str:
    """Formats a point in time, e.g. for Last-Modified (section 5.6.7, IMF-fixdate).

    Args:
        timestamp: Seconds since 1970-01-01 00:00:00 UTC. Fractions are cut off.

    Returns:
        E.g. `Sun, 06 Nov 1994 08:49:37 GMT`.

    Raises:
        ValueError: If the year isn't between 1 and 9999.
    """
    if not _FIRST_SECOND <= timestamp < _LAST_SECOND + 1:
        raise ValueError(
            f"{timestamp!r:.100} can't be formatted as an HTTP date: "
            "expected seconds since 1970 within the years 1 to 9999"
        )
    return _formatted(int(timestamp // 1))


def parse_http_date(value: str | None) -> int | None:
    """Parses a date in any of the three formats of HTTP (section 5.6.7).

    The name of the day isn't compared with the date.

    Args:
        value: The value of a header such as If-Modified-Since; None if there is none.

    Returns:
        Seconds since 1970-01-01 00:00:00 UTC; None if it is no valid date.
    """
    if value is None or len(value) > _LONGEST_DATE:  # PERF: what is long isn't kept in the cache
        return None
    return _parsed(value)


def evaluate(
    method: str,
    get: GetField,
    *,
    etag: str | None = None,
    last_modified: float | None = None,
    exists: bool = True,
) -> Literal[304, 412] | None:
    """Evaluates the preconditions of a request, in the order of section 13.2.2.

    To be called where the response would be a 2xx or 412 without them (section 13.2.1), and before
    the method does anything. If-Range is not among them; see `range_applies`.

    Entity tags are compared strongly for If-Match, weakly for If-None-Match. Malformed tags equal
    none, so a malformed If-Match fails. Malformed dates are ignored.

    Args:
        method: The method of the request.
        get: Returns the value of a request header, e.g. `c.req.header`.
        etag: Value of the ETag header of the current representation; None if it has none.
        last_modified: When it was modified, in seconds since 1970-01-01 00:00:00 UTC; None if that
            is unknown.
        exists: Whether there is a current representation.

    Returns:
        The status to answer with, 304 or 412, or None to go on. A 304 has to carry the headers that
        section 15.4.5 lists.
    """
    if method in _WITHOUT_PRECONDITIONS:
        return None
    listed = get("If-Match")
    if listed is not None:
        if not _is_listed(listed, etag, exists=exists, strong=True):
            return 412
    elif last_modified is not None:
        since = parse_http_date(get("If-Unmodified-Since"))
        if since is not None and last_modified // 1 > since:
            return 412
    listed = get("If-None-Match")
    if listed is not None:
        if _is_listed(listed, etag, exists=exists, strong=False):
            return 304 if method in _ANSWERED_NOT_MODIFIED else 412
    elif last_modified is not None and method in _ANSWERED_NOT_MODIFIED:
        since = parse_http_date(get("If-Modified-Since"))
        if since is not None and last_modified // 1 <= since:
            return 304
    return None


def range_applies(
    get: GetField,
    *,
    etag: str | None = None,
    last_modified: float | None = None,
    now: float | None = None,
) -> bool:
    """Returns whether If-Range lets the Range of a request apply (section 13.1.5).

    To be called once the other preconditions passed. If it returns False, the whole representation
    is sent.

    Args:
        get: Returns the value of a request header, e.g. `c.req.header`.
        etag: Value of the ETag header of the current representation; None if it has none. A weak
            one matches nothing.
        last_modified: When it was modified, in seconds since 1970-01-01 00:00:00 UTC; None if that
            is unknown. If-Range has to have exactly this date, which counts only if it is at least
            one second old: until then the representation might change once more within that second
            (section 8.8.2.2).
        now: The present time, in the same unit; default that of the clock.

    Returns:
        True if there is no If-Range, or if it matches.
    """
    value = get("If-Range")
    if value is None:
        return True
    asked = parse_entity_tag(value)
    if asked is not None:
        current = None if etag is None else parse_entity_tag(etag)
        return current is not None and asked.matches(current, strong=True)
    since = parse_http_date(value)
    if since is None or last_modified is None or last_modified // 1 != since:
        return False
    return since + 1 <= (time.time() if now is None else now)


def _is_listed(value: str, etag: str | None, *, exists: bool, strong: bool) -> bool:
    if value.strip(" \t") == "*":
        return exists
    current = None if etag is None else parse_entity_tag(etag)
    if current is None:
        return False
    return any(current.matches(tag, strong=strong) for tag in parse_entity_tags(value))


@lru_cache(maxsize=256)
def _formatted(timestamp: int) -> str:
    at = _EPOCH + timedelta(seconds=timestamp)
    day, month = _DAYS[at.weekday()], _MONTHS[at.month - 1]
    return f"{day}, {at.day:02} {month} {at.year:04} {at:%H:%M:%S} GMT"


@lru_cache(maxsize=256)
def _parsed(value: str) -> int | None:
    for pattern in _DATES:
        found = pattern.fullmatch(value)
        if found:
            break
    else:
        return None
    year, second = int(found["year"]), int(found["second"])
    if len(found["year"]) == 2:
        this_year = time.gmtime().tm_year
        year += this_year // 100 * 100
        # SPEC: section 5.6.7: what seems to be more than 50 years ahead is in the past.
        if year > this_year + 50:
            year -= 100
    if second > 60:
        return None
    try:
        minute = datetime(
            year,
            _MONTHS.index(found["month"]) + 1,
            int(found["day"]),
            int(found["hour"]),
            int(found["minute"]),
            tzinfo=UTC,
        )
    except ValueError:
        return None
    # A leap second, :60, is the first one of the next minute, as in POSIX.
    return (minute - _EPOCH) // timedelta(seconds=1) + second
