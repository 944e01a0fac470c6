# SPDX-License-Identifier: MIT
"""Decides which responses may be stored, for how long, and for which requests (RFC 9111)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from kit.http.dates import parse_http_date
from kit.http.fields import list_members
from kit.interface import Headers

from ._control import parse_directives, seconds
from ._entries import Entry

NONCE = "secure_headers_nonce"
"""The variable in which kit-secure-headers stores the nonce of a response."""

# SPEC: section 3.1; also headers that the cache itself writes.
_NOT_STORED = frozenset(
    (
        "age",
        "connection",
        "content-length",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authentication-info",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)
# SPEC: RFC 9110, section 15: the statuses that the cache understands.
_UNDERSTOOD = frozenset((*range(200, 206), *range(300, 309), *range(400, 418), 421, 422, 426))
_UNDERSTOOD |= {*range(500, 506)}
# SPEC: RFC 9110, section 12.5: fields whose values are lists, so blanks and empty members in them
# mean nothing. In others, handlers may tell such values apart.
_LISTS = frozenset(("accept", "accept-charset", "accept-encoding", "accept-language"))
# A response that depends on more headers isn't stored.
_MOST_VARYING = 20
# SPEC: section 3.5.
_FOR_AUTHORIZED = ("public", "s-maxage", "must-revalidate")
# Directives that forbid storing.
_PERSONAL = frozenset(("no-cache", "no-store", "private"))
# SPEC: sections 4.2.4, 5.2.2.2, 5.2.2.8 and 5.2.2.10.
_MUST_REVALIDATE = ("must-revalidate", "proxy-revalidate", "s-maxage")


class Storing(NamedTuple):
    """How a response may be stored.

    Attributes:
        initial_age: Its age in seconds.
        lifetime: How long it is fresh, in seconds of age.
        stale_while_revalidate: See `Entry`.
        stale_if_error: See `Entry`.
        must_revalidate: See `Entry`.
        for_authorized: See `Entry`.
        vary: The names of the headers it depends on, in lower case, sorted.
    """

    initial_age: float
    lifetime: float
    stale_while_revalidate: float
    stale_if_error: float
    must_revalidate: bool
    for_authorized: bool
    vary: tuple[str, ...]


def storing(
    asked: Mapping[str, str],
    status: int,
    headers: Headers,
    depends_on: str | None,
    statuses: Collection[int],
    now: float,
) -> Storing | None:
    """Decides whether a response may be stored (section 3).

    Args:
        asked: The headers of the request.
        status: Status of the response.
        headers: Headers of the response.
        depends_on: What else it depends on, as in Vary.
        statuses: The statuses that may be stored.
        now: Seconds since 1970-01-01 00:00:00 UTC.

    Returns:
        How it may be stored; None if it may not be stored, or would be stale immediately.
    """
    if status not in statuses or headers.has("set-cookie") or headers.has("content-range"):
        return None
    control = parse_directives(headers.get("cache-control"))
    if not _is_allowed(asked, status, control):
        return None
    vary = vary_names(_joined(headers.get("vary"), depends_on))
    if vary is None:
        return None
    lifetime = _lifetime(headers, control, now)
    if lifetime is None:
        return None
    age = _initial_age(headers, now)
    must_revalidate = any(name in control for name in _MUST_REVALIDATE)
    found = Storing(
        age,
        lifetime,
        0 if must_revalidate else seconds(control, "stale-while-revalidate") or 0,
        0 if must_revalidate else seconds(control, "stale-if-error") or 0,
        must_revalidate,
        any(name in control for name in _FOR_AUTHORIZED),
        vary,
    )
    usable = lifetime - age + max(found.stale_while_revalidate, found.stale_if_error)
    return found if usable > 0 else None


def is_for_one(asked: Mapping[str, str], headers: Headers, depends_on: str | None) -> bool:
    """Returns whether a response is for a single client, or must not be stored.

    Args:
        asked: The headers of the request.
        headers: The headers of the response.
        depends_on: What else it depends on, as in Vary.
    """
    if "authorization" in asked or headers.has("set-cookie"):
        return True
    if not _PERSONAL.isdisjoint(parse_directives(headers.get("cache-control"))):
        return True
    return vary_names(_joined(headers.get("vary"), depends_on)) is None


def has_nonce(nonce: str | None, headers: Iterable[tuple[str, str]], body: bytes) -> bool:
    """Returns whether a response has a nonce, which is for one response (CSP Level 3, section 7.1).

    Args:
        nonce: The nonce of the request, if it has one.
        headers: The headers that would be stored.
        body: The content.
    """
    for name, value in headers:
        if name.startswith("content-security-policy") and "'nonce-" in value:
            return True
        if nonce and name == "content-encoding":  # the encoded body may contain the nonce
            return True
    return bool(nonce) and str(nonce).encode() in body


def vary_names(value: str | None) -> tuple[str, ...] | None:
    """Returns the names in Vary, in lower case and sorted; None if nothing can match them."""
    names = {name.lower() for name in list_members(value)}
    if "*" in names or len(names) > _MOST_VARYING:
        return None
    return tuple(sorted(names))


def vary_values(
    headers: Mapping[str, str], names: Iterable[str]
) -> tuple[tuple[str, str | None], ...]:
    """Returns the normalized values of request headers (section 4.1)."""
    return tuple((name, _normal(name, headers.get(name))) for name in names)


def stored_headers(headers: Headers, before: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Returns the headers of a response that are stored.

    Args:
        headers: The headers of the response.
        before: The headers that outer middleware set before; each request gets its own.
    """
    unwanted = {name.strip().lower() for name in (headers.get("connection") or "").split(",")}
    return tuple(
        (name, value)
        for name, value in headers.items()
        if name not in _NOT_STORED and name not in unwanted and before.get(name) != value
    )


def may_be_sent(headers: Mapping[str, str], entry: Entry) -> bool:
    """Returns whether a stored response may be sent to a request with these headers."""
    return entry.for_authorized or "authorization" not in headers


def _joined(*values: str | None) -> str:
    return ", ".join(value for value in values if value)


def _is_allowed(asked: Mapping[str, str], status: int, control: Mapping[str, str | None]) -> bool:
    # SPEC: section 5.2.2.3: `must-understand` overrides `no-store` for known statuses.
    if "must-understand" in control:
        if status not in _UNDERSTOOD:
            return False
    elif "no-store" in control:
        return False
    # `private` and `no-cache` for some fields are treated as if they applied to all.
    if "private" in control or "no-cache" in control:
        return False
    return "authorization" not in asked or any(name in control for name in _FOR_AUTHORIZED)


def _lifetime(headers: Headers, control: Mapping[str, str | None], now: float) -> float | None:
    """Returns the freshness lifetime (section 4.2.1); None if it isn't specified."""
    for name in ("s-maxage", "max-age"):
        found = seconds(control, name)
        if found is not None:
            return found
    lines = headers.get_all("expires")
    if not lines:
        return None
    expires = parse_http_date(lines[0])
    if expires is None:
        return 0
    date = parse_http_date(headers.get("date"))
    return max(0.0, expires - (now if date is None else date))


def _initial_age(headers: Headers, now: float) -> float:
    """Returns the age of a response when it is received (section 4.2.3)."""
    date = parse_http_date(headers.get("date"))
    apparent = 0.0 if date is None else max(0.0, now - date)
    lines = headers.get_all("age")
    value = seconds({"age": list_members(lines[0])[0] if lines and lines[0] else ""}, "age")
    return max(apparent, float(value or 0))


def _normal(name: str, value: str | None) -> str | None:
    if value is None:
        return None
    return ", ".join(list_members(value)) if name in _LISTS else value.strip(" \t")
