# SPDX-License-Identifier: MIT
"""Reads, writes and checks cookies, plain and signed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, overload
from urllib.parse import quote

from kit.interface import Context
from kit.interface.paths import decode_component

if TYPE_CHECKING:
    from typing import Unpack

Prefix: TypeAlias = Literal["secure", "host"]
SameSite: TypeAlias = Literal["Strict", "Lax", "None", "strict", "lax", "none"]
Priority: TypeAlias = Literal["Low", "Medium", "High", "low", "medium", "high"]

# SPEC: RFC 6265bis section 4.1.1, cookie-name = token.
_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
# Reading is more lenient, as in Hono: any character that doesn't end a name or value.
_NAME_READ = re.compile(r"[!#-:<>-\[\]-~]+")
_VALUE_READ = re.compile(r"[ !#-:<-\[\]-~]*")
# Characters other than letters and digits that ECMA-262's encodeURIComponent doesn't encode.
_UNENCODED = "-_.!~*'()"

# SPEC: RFC 6265bis section 5.6: clients ignore larger cookies.
_MOST_OCTETS = 4096
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


@overload
def get_cookie(c: Context) -> dict[str, str]: ...
@overload
def get_cookie(c: Context, name: str, prefix: Prefix | None = None) -> str | None: ...
def get_cookie(c: Context, name: str | None = None, prefix: Prefix | None = None) -> Any:
    """Returns a cookie of the request, or all of them.

    Args:
        c: The context.
        name: Name of the cookie, without the prefix.
        prefix: `"secure"` or `"host"`: looks up `name` with `__Secure-` or `__Host-` prepended.
            Ignored without `name`.

    Returns:
        The percent-decoded value, or None if there is no such cookie; without `name`, a dict of
        values by full name. If a name occurs more than once, the first cookie wins. Quotes around
        a value are removed; percent sequences that aren't valid UTF-8 are left as they are.

    Raises:
        ValueError: If `prefix` is unknown.
    """
    if name is None:
        return _all_cookies(c)
    full_name = _full_name(name, prefix)
    for found, value in _cookies(c):
        if found == full_name:
            return decode_component(value)
    return None


@overload
def get_signed_cookie(c: Context, secret: str | bytes) -> dict[str, str | Literal[False]]: ...
@overload
def get_signed_cookie(
    c: Context, secret: str | bytes, name: str, prefix: Prefix | None = None
) -> str | Literal[False] | None: ...
def get_signed_cookie(
    c: Context, secret: str | bytes, name: str | None = None, prefix: Prefix | None = None
) -> Any:
    """Returns a cookie of the request that `set_signed_cookie` set, or all of them.

    The signature proves that the value was signed with this secret, not for which cookie or when:
    a client may send it under another name, or again after it expired. If that matters, use a
    different secret for each cookie, or include the name and time in the value.

    Args:
        c: The context.
        secret: The secret that the cookie was signed with; a str is encoded as UTF-8.
        name: Name of the cookie, without the prefix.
        prefix: As for `get_cookie`.

    Returns:
        The value without its signature, False if the signature is wrong, None if there is no such
        cookie or it is not signed; without `name`, a dict of all signed cookies.

    Raises:
        ValueError: If `secret` is empty or `prefix` is unknown.
        TypeError: If `secret` is neither str nor bytes.
    """
    key = _key(secret)
    if name is not None:
        text = get_cookie(c, name, prefix)
        return None if text is None else _verified(text, key)
    verified = ((name, _verified(text, key)) for name, text in _all_cookies(c).items())
    return {name: value for name, value in verified if value is not None}


def set_cookie(c: Context, name: str, value: str, **options: Unpack[CookieOptions]) -> None:
    """Adds a cookie to the response.

    A cookie of the same name that was set earlier stays, and comes first; browsers use the last.

    Args:
        c: The context.
        name: Name of the cookie, a token.
        value: Its value, any text.
        **options: Fields of `CookieOptions`.

    Raises:
        ValueError: If name, value or an option is invalid, or clients would reject the cookie.
        TypeError: If the value is not a str, or an option is unknown.
    """
    c.header("set-cookie", _serialize(name, value, options), append=True)


def set_signed_cookie(
    c: Context, name: str, value: str, secret: str | bytes, **options: Unpack[CookieOptions]
) -> None:
    """Adds a signed cookie to the response: its value can't be changed without the secret.

    The value is not encrypted: the client can read it.

    Args:
        c: The context.
        name: Name of the cookie, a token.
        value: Its value, any text.
        secret: The secret to sign with, ideally 32 random bytes or more (RFC 2104 section 3); a
            str is encoded as UTF-8.
        **options: Fields of `CookieOptions`.

    Raises:
        ValueError: As for `set_cookie`, or if `secret` is empty.
        TypeError: As for `set_cookie`, or if `secret` is neither str nor bytes.
    """
    c.header("set-cookie", _serialize(name, value, options, _key(secret)), append=True)


def delete_cookie(c: Context, name: str, **options: Unpack[CookieOptions]) -> str | None:
    """Adds a header to the response that makes the client delete a cookie.

    Args:
        c: The context.
        name: Name of the cookie, without the prefix.
        **options: Fields of `CookieOptions`. `path`, `domain`, `partitioned` and `prefix` must be
            the same as when the cookie was set; `max_age` is ignored.

    Returns:
        The cookie's value in the request, as `get_cookie` returns it, or None.

    Raises:
        ValueError: As for `set_cookie`.
        TypeError: As for `set_cookie`.
    """
    options["max_age"] = 0
    set_cookie(c, name, "", **options)
    return get_cookie(c, name, options.get("prefix"))


def _cookies(c: Context) -> Iterator[tuple[str, str]]:
    """Yields the names and still encoded values of the Cookie header, without malformed pairs."""
    # SPEC: RFC 9113 section 8.2.3: HTTP/2 may split the header into several lines.
    for pair in "; ".join(c.req.raw.headers.get_all("cookie")).split(";"):
        name, equals, value = pair.partition("=")
        name = name.strip(" \t")
        if not equals or not _NAME_READ.fullmatch(name):
            continue
        value = value.strip(" \t")
        if value.startswith('"') and value.endswith('"'):
            value = value[1:-1]
        if _VALUE_READ.fullmatch(value):
            yield name, value


def _all_cookies(c: Context) -> dict[str, str]:
    cookies: dict[str, str] = {}
    for name, value in _cookies(c):
        cookies.setdefault(name, value)
    return {name: decode_component(value) for name, value in cookies.items()}


def _key(secret: str | bytes) -> bytes:
    if not isinstance(secret, (str, bytes)):
        raise TypeError(f"The secret of a cookie must be str or bytes, not {type(secret).__name__}")
    if not secret:
        raise ValueError("The secret of a cookie is empty: anyone could sign with it")
    return secret if isinstance(secret, bytes) else secret.encode()


def _signature(value: str, key: bytes) -> str:
    # PERF: these imports load OpenSSL, which plain cookies don't need.
    from binascii import b2a_base64
    from hmac import digest

    return b2a_base64(digest(key, value.encode(), "sha256"), newline=False).decode("ascii")


def _verified(text: str, key: bytes) -> str | Literal[False] | None:
    """Returns the value without its signature: False if that is wrong, None if there is none."""
    value, dot, signature = text.rpartition(".")
    # The 32 octets of SHA-256 are 44 characters of base64, the last of which is padding.
    if not dot or len(signature) != 44 or not signature.endswith("="):
        return None
    from hmac import compare_digest

    # Compared as text: other base64 spellings of the same octets are not valid signatures.
    right = _signature(value, key)
    return value if compare_digest(signature.encode(), right.encode()) else False


def _full_name(name: str, prefix: Prefix | None) -> str:
    if prefix not in _PREFIXES:
        raise ValueError(f"Invalid cookie prefix {prefix!r}: expected 'secure' or 'host'")
    return _PREFIXES[prefix] + name


def _serialize(name: str, value: str, options: CookieOptions, key: bytes | None = None) -> str:
    """Returns the value of a Set-Cookie header, attributes in Hono's order."""
    known = CookieOptions.__annotations__
    for option in options:
        if option not in known:
            raise TypeError(f"Unknown cookie option {option!r}: expected {', '.join(known)}")
    prefix = options.get("prefix")
    pair = _pair(name, value, prefix, key)
    wanted: dict[str, Any] = {"path": "/", **options, **_IMPLIED.get(prefix, {})}
    attributes: dict[str, str | bool] = {}
    for option, attribute, convert in _ATTRIBUTES:
        given = wanted.get(option)
        if given is not None:
            try:
                attributes[attribute] = convert(given)
            except ValueError as rule:
                text = f"Invalid {option} {given!r} of cookie {name!r}: {rule}"
                raise ValueError(text) from None
    _check_combination(name, pair, attributes)
    parts = (a if text is True else f"{a}={text}" for a, text in attributes.items() if text)
    return "; ".join((pair, *parts))


def generate_cookie(name: str, value: str, **options: Unpack[CookieOptions]) -> str:
    """Returns the value of a Set-Cookie header.

    Args:
        name: Name of the cookie, a token.
        value: Its value, any text.
        **options: Fields of `CookieOptions`.

    Raises:
        ValueError: As for `set_cookie`.
        TypeError: As for `set_cookie`.
    """
    return _serialize(name, value, options)


def format_cookie(name: str, value: str) -> str:
    """Returns `name=value` for a Cookie request header, encoded as `set_cookie` does.

    Args:
        name: Name of the cookie.
        value: Its value; any text.

    Raises:
        ValueError: If the name is not a token, or name and value together are too large.
        TypeError: If the value is not a str.
    """
    return _pair(name, value, None, None)


def _pair(name: str, value: str, prefix: Prefix | None, key: bytes | None) -> str:
    """Returns `name=value`, with the prefix, encoded, and signed if there is a key."""
    full_name = _full_name(name, prefix) if isinstance(name, str) else ""
    if not _NAME.fullmatch(full_name):
        raise ValueError(f"Invalid cookie name {name!r}: expected a token of RFC 9110")
    if not isinstance(value, str):
        raise TypeError(f"The value of cookie {name!r} must be a str, not {type(value).__name__}")
    if key is not None:
        value = f"{value}.{_signature(value, key)}"
    pair = f"{full_name}={quote(value, safe=_UNENCODED)}"
    size = len(pair) - 1
    if size > _MOST_OCTETS:
        raise ValueError(
            f"Cookie {name!r} is too large: name and encoded value have {size} octets, "
            f"browsers accept at most {_MOST_OCTETS}"
        )
    return pair


def _check_combination(name: str, pair: str, attributes: dict[str, str | bool]) -> None:
    """Raises ValueError for combinations of attributes that clients reject."""
    # SPEC: RFC 6265bis section 5.7; draft-cutler-httpbis-partitioned-cookies-01 section 2.1.
    get, start = attributes.get, pair[:9].lower()
    insecure = not get("Secure")
    by_host = start.startswith("__host-")
    prefixed = by_host or start == "__secure-"
    for broken, rule in (
        (prefixed and insecure, "secure=True, since its name begins with __Secure- or __Host-"),
        (by_host and get("Path") != "/", "path='/', since its name begins with __Host-"),
        (by_host and get("Domain"), "no domain, since its name begins with __Host-"),
        (get("SameSite") == "None" and insecure, "secure=True, since it has same_site='None'"),
        (get("Partitioned") and insecure, "secure=True, since it is partitioned"),
    ):
        if broken:
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
    return f"{day}, {utc.day:02} {month} {utc.year} {utc:%H:%M:%S} GMT"


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


_ATTRIBUTES: tuple[tuple[str, str, Callable[[Any], str | bool]], ...] = (
    ("max_age", "Max-Age", _max_age),
    # SPEC: RFC 6265bis section 4.1.1: domain-value = <subdomain>; many hosts contain an underscore.
    ("domain", "Domain", _matching(r"A-Za-z0-9._\-", "a host name in ASCII")),
    # SPEC: RFC 6265bis section 4.1.1: path-value = *av-octet.
    ("path", "Path", _matching(" -:<-~", "printable ASCII without ';'")),
    ("expires", "Expires", _expires),
    ("http_only", "HttpOnly", bool),
    ("secure", "Secure", bool),
    ("same_site", "SameSite", _choice("Strict", "Lax", "None")),
    ("priority", "Priority", _choice("Low", "Medium", "High")),
    ("partitioned", "Partitioned", bool),
)
