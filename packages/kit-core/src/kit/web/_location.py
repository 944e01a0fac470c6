# SPDX-License-Identifier: MIT
"""The Location of a redirect (RFC 9110 section 10.2.2)."""

from __future__ import annotations

import re

__all__ = ("encode_location",)

# SPEC: RFC 3986 section 2: reserved and unreserved characters, and the sign of an escape.
_ALLOWED = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*+")
_AUTHORITY = re.compile(r"((?:[A-Za-z][A-Za-z0-9+.-]*:)?//(?:[^/?#@]*@)?)([^/?#@:\[\]]+)")


def encode_location(location: str) -> str:
    """Returns a URL or relative reference in ASCII, as Location requires.

    Characters that aren't allowed in a URL are percent-encoded as UTF-8, such as spaces, and
    backslashes, which browsers treat as slashes; escapes stay. A non-ASCII host becomes its DNS
    name. A location with CR, LF or NUL is returned unchanged; setting the header then fails.

    SPEC: RFC 9110 section 10.2.2, RFC 3986 section 2; WHATWG URL section 1.3 for the encoding.
    """
    if _ALLOWED.fullmatch(location):  # PERF: nearly every location
        return location
    location = location.strip(" \t\r\n")
    if not {"\r", "\n", "\0"}.isdisjoint(location):
        return location  # APPSEC: refused as the value of any header
    from urllib.parse import quote

    if not location.isascii():
        location = _AUTHORITY.sub(_with_ascii_host, location, count=1)
    # WHATWG Encoding section 4.3: half of a surrogate pair is U+FFFD.
    text = location.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return quote(text, safe=":/?#[]@!$&'()*+,;=%")


def _with_ascii_host(match: re.Match[str]) -> str:
    from ._url import URL

    before, host = match.groups()
    if match.start() > 0 or host.isascii():
        return match[0]
    try:
        return before + URL(f"http://{host}").hostname
    except ValueError:  # not a valid DNS name
        return match[0]
