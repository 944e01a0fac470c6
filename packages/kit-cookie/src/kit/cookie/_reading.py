# SPDX-License-Identifier: MIT
"""Reads the Cookie header of a request: the only parser of it in the packages of Kit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kit.http.paths import decode_component
from kit.interface import Context

__all__ = ("cookie_header", "find_cookie", "parse_cookies")

_BLANKS = " \t"
# SPEC: RFC 6265bis section 5.6: clients keep no cookie that contains one of these.
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# What Python's http.cookies and Werkzeug write within quotes: octets, and escaped characters.
_ESCAPES = re.compile(r'((?:\\[0-3][0-7]{2})+)|\\(["\\])')


def cookie_header(c: Context) -> str:
    """Returns the Cookie header of a request, or an empty text.

    Unlike `get_cookie`, this does not tell caches that the response depends on cookies. Middleware
    that uses it calls `kit.authoring.vary.depend_on` when a handler uses what it has read.

    Args:
        c: The context.
    """
    header = c.req.header("cookie") or ""
    if "," in header:
        # SPEC: RFC 9113 section 8.2.3: HTTP/2 may split the header into several lines, which are
        # joined with commas here.
        return "; ".join(c.req.raw.headers.get_all("cookie"))
    return header


def parse_cookies(header: str, name: str | None = None) -> list[tuple[str, str]]:
    """Returns the cookies of a Cookie header.

    Reading is more lenient than writing: clients send whatever was set, by any server or script.
    Only pairs without a name or an equals sign, and pairs with control characters, are left out:
    no client keeps such a cookie with a name.

    SPEC: RFC 6265bis section 5.6, "Set-Cookie Header Field", for what a client may have stored, and
    section 5.8.3, "Retrieval Algorithm", for how it sends that. Quoted values are read as Python's
    `http.cookies` and Werkzeug write them.

    Args:
        header: The value of the header; bytes are decoded as latin-1, as in ASGI.
        name: The name of the cookies to return. Default: all.

    Returns:
        Names and values in the order of the header; a name may occur several times. Both are text
        of UTF-8 where they can be, else of latin-1. Values have no quotes around them, and are
        percent-decoded.

    Raises:
        TypeError: If the name isn't a str.
    """
    if name is not None and _is_ascii(name):
        return [(name, value) for value in _values(header, name)]
    cookies = []
    for pair in header.split(";"):
        key, equals, value = pair.partition("=")
        key = key.strip(_BLANKS)
        if equals and key and _CONTROLS.search(pair) is None:
            key = _as_utf8(key)
            if name is None or name == key:
                cookies.append((key, _decode_value(value)))
    return cookies


def _is_ascii(name: str) -> bool:
    if not isinstance(name, str):
        raise TypeError(f"The name of a cookie is a str, not {name!r:.100}")
    return name.isascii()


def find_cookie(header: str, name: str) -> str | None:
    """Returns the value of the first cookie of this name, or None."""
    if _is_ascii(name):
        for value in _values(header, name):
            return value
        return None
    cookies = parse_cookies(header, name)
    return cookies[0][1] if cookies else None


def _values(header: str, name: str) -> Iterator[str]:
    """Yields the values of an ASCII name.

    PERF: a request may have many other cookies, so they are not parsed.
    """
    end = -1
    while name and (at := header.find(name, end + 1)) >= 0:
        start = header.rfind(";", end + 1, at) + 1 or end + 1
        end = header.find(";", at)
        pair = header[start:] if end < 0 else header[start:end]
        found, equals, value = pair.partition("=")
        if equals and found.strip(_BLANKS) == name and _CONTROLS.search(pair) is None:
            yield _decode_value(value)
        if end < 0:
            break


def _as_utf8(text: str) -> str:
    """Returns latin-1 text as the UTF-8 that its bytes are; unchanged if they aren't."""
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def _decode_value(value: str) -> str:
    """Returns a value as it was before a server or script wrote it."""
    value = value.strip(_BLANKS)
    if not value.isascii():
        value = _as_utf8(value)
    if value[:1] == '"' and len(value) > 1 and value[-1] == '"':
        value = value[1:-1]
        if "\\" in value:
            value = _ESCAPES.sub(_unescaped, value)
    return decode_component(value) if "%" in value else value


def _unescaped(match: re.Match[str]) -> str:
    octets, character = match.groups()
    if octets is None:
        return str(character)
    return _as_utf8(bytes(int(each, 8) for each in octets[1:].split("\\")).decode("latin-1"))
