# SPDX-License-Identifier: MIT
"""Paths: percent-decoding as in JavaScript, routing paths of URLs, joining of route paths."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re

__all__ = ("decode_component", "decode_path", "merge_path", "parse_url_path", "slash_location")

# A decoded `/` would separate segments, and `?` and `#` would end the path in a URL. A parameter is
# decoded again when it is read, so `%` also stays. The other entries are bytes that aren't UTF-8,
# as decoded by the error handler surrogateescape.
_KEPT = {ord(each): f"%{ord(each):02X}" for each in "/?#%"} | {
    0xDC00 + byte: f"%{byte:02X}" for byte in range(0x80, 0x100)
}


def decode_component(text: str) -> str:
    """Decodes percent escapes as decodeURIComponent does (ECMA-262, section 19.2.6.2).

    Path parameters, and names and values in queries, are decoded like this.

    Args:
        text: Percent-encoded text.

    Returns:
        The decoded text. Runs of escapes that aren't UTF-8 stay unchanged; JavaScript would throw.
    """
    return _escapes().sub(_decode_run, text)


def decode_path(text: str) -> str:
    """Decodes a path for routing, so that routers, guards and all later code read the same path.

    All escapes are decoded, except the escapes of `/`, `?`, `#` and `%`, and of bytes that aren't
    UTF-8. These are written in upper case (`%2f` becomes `%2F`), so that a path has one spelling.

    Unlike decodeURI, this also decodes the escapes of `$ & + , : ; = @`, which mean the same as
    the characters within a segment (WHATWG URL, section 4.4): a guard on `/@private/*` also
    protects `/%40private/a`.

    Args:
        text: Percent-encoded path.

    Returns:
        The routing path. Decoding it again doesn't change it. A `%` that doesn't begin an escape
        becomes `%25` if it would begin one in the decoded path, as in `%%361`.
    """
    decoded = _decoded(text)
    # If it were decoded once more, as a parameter or a part of a file's path, it would differ from
    # the path that guards are matched with.
    if "%" in decoded and _lone_percent().search(text):
        plain = _decoded(_lone_percent().sub("%25", text))
        if _decoded_whole(plain) != _decoded_whole(decoded):
            return plain
    return decoded


def parse_url_path(url: str) -> str:
    """Returns the routing path of an absolute URL, decoded by `decode_path`.

    Args:
        url: A URL with scheme and host, e.g. `http://localhost/users?page=2`.

    Returns:
        The path without query and fragment; `/` if the URL has none.

    Raises:
        ValueError: If the URL has no scheme, or no `//` after it, such as `mailto:ada@example.com`.
    """
    scheme, colon, rest = url.partition(":")
    if not colon or not rest.startswith("//"):
        raise ValueError(f"{url!r} is not an absolute URL: expected e.g. 'http://localhost/path'")
    url = url.partition("?")[0].partition("#")[0]
    start = url.find("/", len(scheme) + 3)
    if start < 0:
        return "/"
    path = url[start:]
    return decode_path(path) if "%" in path else path


def merge_path(base: str, path: str) -> str:
    """Joins a prefix and a route path with a single slash.

    The path `/` adds nothing to a prefix; an empty path adds a slash.

    Args:
        base: The prefix, e.g. `/api`; `/` or empty for none.
        path: The path of the route, e.g. `/users/:id`.

    Returns:
        The whole path, with a leading slash.
    """
    if not base.startswith("/"):
        base = "/" + base
    if path == "/":
        return base
    return base.removesuffix("/") + "/" + path.removeprefix("/")


def slash_location(url: str, *, with_slash: bool) -> str:
    """Returns a Location that leads to the same path with or without a slash at its end.

    The Location is relative to the request's path (RFC 9110, section 10.2.2; RFC 3986, section
    5.2). Neither the Host header nor a path such as `//other.example` can therefore lead to another
    host, and the Location also works behind a proxy and below a mount, which may have removed the
    start of the path.

    Args:
        url: The URL of the request, with or without a slash at the end of its path.
        with_slash: Whether the path of the Location ends with a slash.

    Returns:
        A relative URL with the query and fragment of the URL, e.g. `../about?page=2`.
    """
    path = url.partition("#")[0].partition("?")[0]
    rest = url[len(path) :]
    start = "../" if path.endswith("/") else "./"
    name = path.removesuffix("/").rpartition("/")[2]
    return f"{start}{name}{'/' if with_slash else ''}{rest}"


# PERF: compiled at first use, not at import.
@cache
def _escapes() -> re.Pattern[str]:
    """Returns the expression for runs of percent escapes."""
    import re

    return re.compile(r"(?:%[0-9A-Fa-f]{2})+")


@cache
def _lone_percent() -> re.Pattern[str]:
    """Returns the expression for a percent sign that doesn't begin an escape."""
    import re

    return re.compile(r"%(?![0-9A-Fa-f]{2})")


def _decode_run(match: re.Match[str]) -> str:
    run = match[0]
    try:
        return bytes.fromhex(run.replace("%", "")).decode()
    except UnicodeDecodeError:
        return run


def _decoded(path: str) -> str:
    return _escapes().sub(_decode_run_but_kept, path)


def _decoded_whole(path: str) -> str:
    def decode(match: re.Match[str]) -> str:
        return bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "surrogateescape")

    return _escapes().sub(decode, path)


def _decode_run_but_kept(match: re.Match[str]) -> str:
    # Byte by byte, unlike `_decode_run`: characters that a URL encodes, such as `"`, are decoded
    # even next to `%FF`, so that encoding a path and decoding it again doesn't change it.
    run = bytes.fromhex(match[0].replace("%", ""))
    return run.decode("utf-8", "surrogateescape").translate(_KEPT)
