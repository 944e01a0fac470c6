# SPDX-License-Identifier: MIT
"""URLs of upstream servers, and how paths are appended to them.

APPSEC: the host comes from the developer's URL, the path partly from the client. A path is rejected
if it could mean a path outside of the base to any server that decodes or normalizes it.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

import httpx

from kit.interface import HTTPException

__all__ = ("append_path", "encode_path", "encode_query", "parse_base", "parse_url")

# No user, whose `@` could hide the host; a `%` or a backslash is read differently by URL parsers.
_URL = re.compile(
    r"(?P<origin>https?://[^\s/?#@\\%\x00-\x20\x7f]+)(?P<path>/[^?#]*)?(?:\?(?P<query>[^#]*))?"
    r"(?:\#.*)?",
    re.DOTALL | re.IGNORECASE,
)
# SPEC: RFC 3986 sections 3.3 and 3.4, without the letters and digits that `quote` always keeps.
_IN_PATH = "/%:@!$&'()*+,;=~"
_IN_QUERY = _IN_PATH + "?"
_LONE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
# A dot segment, with the parameters that some servers remove before they resolve it (`..;a=b`);
# backslashes separate for some. A decoded `?` or `#` ends the path for the next server.
_DOT_SEGMENT = re.compile(r"(?:\A|[/\\])\.{1,2}(?:;[^/\\]*)?(?:[/\\?#]|\Z)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LAST_PORT = 65535
# Servers behind servers may decode more than once.
_MOST_DECODINGS = 3


def parse_url(url: str) -> httpx.URL:
    """Returns a URL whose path is encoded; a fragment is dropped.

    Args:
        url: The URL. Its path may be decoded, as in `c.req.path`.

    Raises:
        HTTPException: 400 if the path has a dot segment or a control character in any encoding.
        ValueError: If it isn't an absolute `http` or `https` URL, or has a user or a password.
    """
    found = _URL.fullmatch(url)
    if found is None:
        raise _unusable(url)
    path = encode_path(found["path"] or "/")
    query = found["query"]
    return _parse_origin(found["origin"], url).copy_with(raw_path=_join(path, query))


def parse_base(url: str) -> httpx.URL:
    """Returns a URL that paths can be appended to.

    Raises:
        ValueError: If it isn't an absolute `http` or `https` URL, or has more than a path: a user,
            a query, a fragment, or a dot segment.
    """
    found = _URL.fullmatch(url)
    if found is None or "?" in url or "#" in url:
        raise _unusable(url)
    try:
        path = encode_path(found["path"] or "/")
    except HTTPException:
        raise _unusable(url) from None
    return _parse_origin(found["origin"], url).copy_with(raw_path=path.encode())


def append_path(base: httpx.URL, path: str, query: str | None) -> httpx.URL:
    """Returns a URL below a base; scheme, host and port are those of the base.

    Args:
        base: The result of `parse_base`.
        path: The rest of the path as `encode_path` returns it; empty for the base itself.
        query: The encoded query; None if there is none.

    Raises:
        HTTPException: 400 if the path could lead out of the base.
    """
    whole = base.raw_path.decode("ascii")
    if path:
        whole = whole.removesuffix("/") + "/" + path.removeprefix("/")
        if path.startswith("//"):  # an empty segment stays one
            whole = base.raw_path.decode("ascii").removesuffix("/") + path
        _check_path(whole)
    return base.copy_with(raw_path=_join(whole, query))


def encode_path(path: str | bytes) -> str:
    """Returns a path with every character encoded that a path can't contain.

    Escapes stay as they are. A `%` that begins no escape is encoded.

    Raises:
        HTTPException: 400 if it has a dot segment or a control character in any encoding.
    """
    encoded = _LONE_PERCENT.sub("%25", quote(path, safe=_IN_PATH))
    _check_path(encoded)
    return encoded


def encode_query(query: str | bytes) -> str:
    """Returns a query with every character encoded that a query can't contain."""
    return quote(query, safe=_IN_QUERY)


def _check_path(path: str) -> None:
    for _ in range(_MOST_DECODINGS + 1):
        if _DOT_SEGMENT.search(path) or _CONTROL.search(path):
            raise HTTPException(400, "The path has dot segments or control characters")
        if "%" not in path:
            return
        path = unquote(path, "latin-1")


def _join(path: str, query: str | None) -> bytes:
    return (path if query is None else f"{path}?{encode_query(query)}").encode("ascii")


def _parse_origin(origin: str, url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(origin)
    except (httpx.InvalidURL, ValueError):
        raise _unusable(url) from None
    if not parsed.host or (parsed.port is not None and not 0 < parsed.port <= _LAST_PORT):
        raise _unusable(url)
    return parsed


def _unusable(url: str) -> ValueError:
    return ValueError(
        f"{url!r:.200} can't be the URL of an upstream server: expected one such as "
        "'http://backend:8080/base', without a user, and with neither dot segments, query nor "
        "fragment if a path is appended"
    )
