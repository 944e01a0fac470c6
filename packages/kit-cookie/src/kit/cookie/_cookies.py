# SPDX-License-Identifier: MIT
"""Reads, writes and checks cookies, plain and signed."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, overload

from kit.authoring.vary import depend_on
from kit.interface import Context

from ._attributes import (
    MOST_OCTETS,
    CookieOptions,
    Prefix,
    add_prefix,
    build_frame,
    checked_name,
    format_expires,
)
from ._reading import cookie_header, find_cookie, parse_cookies

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

# ECMA-262's encodeURIComponent encodes all other characters.
_ENCODED = re.compile(r"[^A-Za-z0-9\-_.!~*'()]")
# PERF: urllib.parse.quote() takes twice as long, and its import longer than that of this package.
_OCTETS = [
    f"%{octet:02X}" if octet > 127 or _ENCODED.match(chr(octet)) else chr(octet)
    for octet in range(256)
]


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
            It needs a `name`.

    Returns:
        The value as `parse_cookies` decodes it, or None if there is no such cookie; without `name`,
        a dict of values by full name. If a name occurs more than once, the first cookie wins.

    Raises:
        ValueError: If `prefix` is unknown, or given without `name`.
    """
    if name is None:
        _check_no_prefix("get_cookie", prefix)
        return _all_cookies(c)
    return find_cookie(_read_header(c), name if prefix is None else add_prefix(name, prefix))


def get_cookie_values(c: Context, name: str) -> list[str]:
    """Returns the values of all cookies of the request that have this name, in order.

    A browser sends several if they were set for different paths or domains, and a different host of
    the same site may have set any of them.

    Args:
        c: The context.
        name: The full name, with the prefix.
    """
    header = _read_header(c)
    return [value for _, value in parse_cookies(header, name)] if header else []


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
        ValueError: If `secret` is empty, or `prefix` is unknown or given without `name`.
        TypeError: If `secret` is neither str nor bytes.
    """
    key = _key(secret)
    if name is not None:
        text = get_cookie(c, name, prefix)
        return None if text is None else _verified(text, key)
    _check_no_prefix("get_signed_cookie", prefix)
    verified = ((name, _verified(text, key)) for name, text in _all_cookies(c).items())
    return {name: value for name, value in verified if value is not None}


def _check_no_prefix(call: str, prefix: Any) -> None:
    if prefix is not None:
        raise ValueError(
            f"{call}(prefix={prefix!r:.100}) has no effect without a name: all cookies are "
            "returned by their full names"
        )


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


def _read_header(c: Context) -> str:
    # APPSEC: or a cache would send the response of one client to another.
    depend_on(c, "Cookie")
    return cookie_header(c)


def _all_cookies(c: Context) -> dict[str, str]:
    cookies: dict[str, str] = {}
    for name, value in parse_cookies(_read_header(c)):
        cookies.setdefault(name, value)
    return cookies


def _key(secret: str | bytes) -> bytes:
    if not isinstance(secret, (str, bytes)):
        raise TypeError(f"The secret of a cookie must be str or bytes, not {type(secret).__name__}")
    if not secret:
        raise ValueError("The secret of a cookie is empty: anyone could sign with it")
    return secret if isinstance(secret, bytes) else secret.encode()


@cache
def _crypto() -> tuple[Callable[[str, bytes], str], Callable[[bytes, bytes], bool]]:
    """Returns a function that signs a value with a key, and one that compares in constant time.

    PERF: the imports load OpenSSL, which plain cookies don't need, and take as long as a signature
    even if that was loaded before.
    """
    from binascii import b2a_base64
    from hmac import compare_digest, digest

    def sign(value: str, key: bytes) -> str:
        octets = digest(key, value.encode(), "sha256")
        return b2a_base64(octets, newline=False).decode("ascii")

    return sign, compare_digest


def _verified(text: str, key: bytes) -> str | Literal[False] | None:
    """Returns the value without its signature: False if that is wrong, None if there is none."""
    value, dot, signature = text.rpartition(".")
    # The 32 octets of SHA-256 are 44 characters of base64, the last of which is padding.
    if not dot or len(signature) != 44 or not signature.endswith("="):
        return None
    sign, compare_digest = _crypto()
    # Compared as text: other base64 spellings of the same octets are not valid signatures.
    right = sign(value, key)
    return value if compare_digest(signature.encode(), right.encode()) else False


def _serialize(name: str, value: str, options: CookieOptions, key: bytes | None = None) -> str:
    """Returns the value of a Set-Cookie header; takes `expires` out of the options."""
    expires = options.pop("expires", None)
    start, before, after = build_frame(name, options)
    encoded = _encoded(name, value, len(start) - 1, key)
    if expires is not None:
        before += format_expires(name, expires)
    return f"{start}{encoded}{before}{after}"


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
    full_name = checked_name(name, None)
    return f"{full_name}={_encoded(name, value, len(full_name), None)}"


def _encoded(name: str, value: str, name_size: int, key: bytes | None) -> str:
    """Returns a value encoded, and signed if there is a key.

    Args:
        name: Name of the cookie, for errors.
        value: The value.
        name_size: Length of the name with its prefix, in octets.
        key: The key to sign with.
    """
    if not isinstance(value, str):
        raise TypeError(f"The value of cookie {name!r} must be a str, not {type(value).__name__}")
    signature = "" if key is None else f".{_crypto()[0](value, key)}"
    # PERF: most values need no encoding.
    if value.__class__ is not str or _ENCODED.search(value):
        value = "".join([_OCTETS[octet] for octet in value.encode()])
    if signature:
        # The only characters of base64 that are encoded.
        value += signature.replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")
    size = name_size + len(value)
    if size > MOST_OCTETS:
        raise ValueError(
            f"Cookie {name!r} is too large: name and encoded value have {size} octets, "
            f"browsers accept at most {MOST_OCTETS}"
        )
    return value
