# SPDX-License-Identifier: MIT
"""What is before and after the value in a Set-Cookie header: the name, prefix and attributes."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Literal, TypeAlias, TypedDict

Prefix: TypeAlias = Literal["secure", "host"]
SameSite: TypeAlias = Literal["Strict", "Lax", "None", "strict", "lax", "none"]
Priority: TypeAlias = Literal["Low", "Medium", "High", "low", "medium", "high"]

# SPEC: RFC 6265bis section 4.1.1, cookie-name = token.
_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")

# SPEC: RFC 6265bis section 5.6: clients ignore larger cookies.
MOST_OCTETS = 4096
# SPEC: RFC 6265bis section 5.5: clients cap longer lifetimes.
_LONGEST_S = 400 * 24 * 60 * 60
# SPEC: RFC 6265bis section 5.1.1: clients reject earlier dates.
_EARLIEST = datetime(1601, 1, 1, tzinfo=UTC)

# SPEC: RFC 6265bis section 4.1.3: the prefixes, and the attributes that they require.
_PREFIXES = {None: "", "secure": "__Secure-", "host": "__Host-"}
_IMPLIED: dict[str | None, dict[str, Any]] = {
    "secure": {"secure": True},
    "host": {"secure": True, "path": "/", "domain": None},
}
# strftime would use the names of the process's locale.
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_MOST_FRAMES = 256
# Values of other types may change their text or truth, so nothing made from them is kept.
_CONSTANT = frozenset((str, int, float, bool, type(None)))


class CookieOptions(TypedDict, total=False):
    """Keyword options of `set_cookie`, `set_signed_cookie` and `delete_cookie`.

    Attributes:
        path: The cookie is sent for this path and all paths below it. Default `/`; None lets the
            client use the directory of the request's path.
        domain: The cookie is sent to this host and all its subdomains. Default None: only to the
            host that set it.
        expires: When the cookie expires, an aware datetime at most 400 days ahead. Default None:
            unless `max_age` is set, it expires when the browser is closed.
        max_age: Seconds until the cookie expires, at most 34560000 (400 days); 0 expires it
            immediately. Takes precedence over `expires`. Default None; a negative number means
            None.
        secure: Send it over HTTPS only. Default False.
        http_only: Hide it from scripts. Default False.
        same_site: `"Strict"`, `"Lax"` or `"None"`: whether it is sent with cross-site requests.
            Default None, the object: the browser decides.
        partitioned: Store it separately for each site that embeds this one (CHIPS). Default False.
        priority: `"Low"`, `"Medium"` or `"High"`: the order in which Chromium evicts cookies.
            Default None.
        prefix: `"secure"` prepends `__Secure-` to the name and sets `secure`; `"host"` prepends
            `__Host-`, sets `secure`, sets `path` to `/` and drops `domain`, overriding the values
            given for them. Default None.
    """

    path: str | None
    domain: str | None
    expires: datetime | None
    max_age: float | None
    secure: bool
    http_only: bool
    same_site: SameSite | None
    partitioned: bool
    priority: Priority | None
    prefix: Prefix | None


def add_prefix(name: str, prefix: Prefix | None) -> str:
    """Returns the name with its prefix.

    Raises:
        ValueError: If the prefix is unknown.
    """
    if prefix not in _PREFIXES:
        raise ValueError(f"Invalid cookie prefix {prefix!r}: expected 'secure' or 'host'")
    return _PREFIXES[prefix] + name


def checked_name(name: str, prefix: Prefix | None) -> str:
    """Returns the name with its prefix.

    Raises:
        ValueError: If the prefix is unknown or the name is not a token.
    """
    full_name = add_prefix(name, prefix) if isinstance(name, str) else ""
    if not _NAME.fullmatch(full_name):
        raise ValueError(f"Invalid cookie name {name!r}: expected a token of RFC 9110")
    return full_name


def build_frame(name: str, options: CookieOptions) -> tuple[str, str, str]:
    """Returns what a Set-Cookie header has around the value.

    PERF: apps set the same cookies with the same options again and again, so they are checked and
    formatted once.

    Args:
        name: Name of the cookie, without the prefix.
        options: The options except `expires`, which is rarely the same again.

    Returns:
        The name and an equals sign; the attributes before Expires, each after `"; "`; those after
        it.

    Raises:
        ValueError: If the name or an option is invalid, or clients would reject the cookie.
        TypeError: If an option is unknown.
    """
    try:
        return _kept_frame(name, **options)
    except TypeError:  # not kept, or an unknown option
        pass
    return _frame(name, options)


@lru_cache(_MOST_FRAMES, typed=True)
def _kept_frame(name: str, /, **options: Any) -> tuple[str, str, str]:
    """Returns `_frame(name, options)`.

    Raises:
        ValueError: As `_frame` does.
        TypeError: As `_frame` does, or if the frame must not be kept.
    """
    if len(name) > MOST_OCTETS or not {type(each) for each in options.values()} <= _CONSTANT:
        raise TypeError
    return _frame(name, options)


def _frame(name: str, options: CookieOptions | dict[str, Any]) -> tuple[str, str, str]:
    known = CookieOptions.__annotations__
    for option in options:
        if option not in known:
            raise TypeError(f"Unknown cookie option {option!r}: expected {', '.join(known)}")
    prefix: Any = options.get("prefix")
    full_name = checked_name(name, prefix)
    wanted: dict[str, Any] = {"path": "/", **options, **_IMPLIED.get(prefix, {})}
    attributes: dict[str, str | bool] = {}
    before = _formatted(name, wanted, _BEFORE_EXPIRES, attributes)
    after = _formatted(name, wanted, _AFTER_EXPIRES, attributes)
    _check_combination(name, full_name, attributes)
    return f"{full_name}=", before, after


def _formatted(
    name: str,
    wanted: dict[str, Any],
    table: tuple[_Attribute, ...],
    attributes: dict[str, str | bool],
) -> str:
    """Returns the attributes of a table, each after `"; "`, and adds them to `attributes`."""
    line = ""
    for option, attribute, convert in table:
        given = wanted.get(option)
        if given is not None:
            text = attributes[attribute] = _converted(name, option, given, convert)
            if text:
                line += f"; {attribute}" if text is True else f"; {attribute}={text}"
    return line


def _converted(name: str, option: str, given: Any, convert: Callable[[Any], Any]) -> Any:
    try:
        return convert(given)
    except ValueError as rule:
        raise ValueError(f"Invalid {option} {given!r} of cookie {name!r}: {rule}") from None


def format_expires(name: str, expires: Any) -> str:
    """Returns the attribute Expires after `"; "`.

    Raises:
        ValueError: If clients would ignore or shorten the time.
    """
    return f"; Expires={_converted(name, 'expires', expires, _expires)}"


def _check_combination(name: str, full_name: str, attributes: dict[str, str | bool]) -> None:
    """Raises ValueError for combinations of attributes that clients reject."""
    # SPEC: RFC 6265bis section 5.7; draft-cutler-httpbis-partitioned-cookies-01 section 2.1.
    get, start = attributes.get, full_name[:9].lower()
    insecure = not get("Secure")
    by_host = start.startswith("__host-")
    rule = None
    if insecure and (by_host or start == "__secure-"):
        rule = "secure=True, since its name begins with __Secure- or __Host-"
    elif by_host and get("Path") != "/":
        rule = "path='/', since its name begins with __Host-"
    elif by_host and get("Domain"):
        rule = "no domain, since its name begins with __Host-"
    elif insecure and get("SameSite") == "None":
        rule = "secure=True, since it has same_site='None'"
    elif insecure and get("Partitioned"):
        rule = "secure=True, since it is partitioned"
    if rule is not None:
        raise ValueError(f"Cookie {name!r} needs {rule}")


def _max_age(value: Any) -> str:
    if not isinstance(value, (int, float)) or value > _LONGEST_S:
        raise ValueError(f"expected seconds, at most {_LONGEST_S} (400 days)")
    return str(int(value)) if value >= 0 else ""


def _expires(value: Any) -> str:
    """Returns the date as IMF-fixdate (RFC 9110 section 5.6.7)."""
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise ValueError("expected a datetime with a time zone, such as datetime.now(UTC)")
    if value < _EARLIEST or (value - datetime.now(UTC)).total_seconds() > _LONGEST_S:
        raise ValueError("expected a time after the year 1600 and at most 400 days ahead")
    utc = value.astimezone(UTC)
    day, month = _DAYS[utc.weekday()], _MONTHS[utc.month - 1]
    time = (
        f"{utc.hour:02}:{utc.minute:02}:{utc.second:02}"  # PERF: strftime takes three times as long
    )
    return f"{day}, {utc.day:02} {month} {utc.year} {time} GMT"


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("expected True or False")
    return value


def _matching(allowed: str, rule: str) -> Callable[[Any], str]:
    # SPEC: RFC 6265bis section 5.6: clients ignore longer attributes.
    pattern = re.compile(f"[{allowed}]{{0,1024}}")

    def convert(value: Any) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise ValueError(f"expected {rule}, at most 1024 characters")
        return value

    return convert


def _choice(*choices: str) -> Callable[[Any], str]:
    def convert(value: Any) -> str:
        text = str(value).capitalize()
        if text not in choices:
            raise ValueError(f"expected one of {', '.join(map(repr, choices))}")
        return text

    return convert


_Attribute: TypeAlias = tuple[str, str, Callable[[Any], str | bool]]

# In Hono's order.
_BEFORE_EXPIRES: tuple[_Attribute, ...] = (
    ("max_age", "Max-Age", _max_age),
    # SPEC: RFC 6265bis section 4.1.1: domain-value = <subdomain>; many hosts contain an underscore.
    ("domain", "Domain", _matching(r"A-Za-z0-9._\-", "a host name in ASCII")),
    # SPEC: RFC 6265bis section 4.1.1: path-value = *av-octet.
    ("path", "Path", _matching(" -:<-~", "printable ASCII without ';'")),
)
_AFTER_EXPIRES: tuple[_Attribute, ...] = (
    ("http_only", "HttpOnly", _flag),
    ("secure", "Secure", _flag),
    ("same_site", "SameSite", _choice("Strict", "Lax", "None")),
    ("priority", "Priority", _choice("Low", "Medium", "High")),
    ("partitioned", "Partitioned", _flag),
)
