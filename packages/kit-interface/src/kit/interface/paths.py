# SPDX-License-Identifier: MIT
"""Paths: percent-decoding as in JavaScript, routing paths of URLs, joining of route paths."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re

__all__ = ("decode_component", "decode_path", "merge_path", "path_of_url")

# The escapes that decodeURI doesn't decode: those of # $ & + , / : ; = ? @; and that of %.
_KEPT = r"(%(?:2[3-6BCFbcf]|3[ABDFabdf]|40))"


def decode_component(text: str) -> str:
    """Decodes percent escapes as decodeURIComponent does (ECMA-262, section 19.2.6.2).

    Path parameters, and names and values in queries, are decoded like this.

    Args:
        text: Percent-encoded text.

    Returns:
        The decoded text. Runs of escapes that aren't UTF-8 aren't changed, whereas JavaScript would
        throw.
    """
    return _escapes().sub(_decode_run, text)


def decode_path(text: str) -> str:
    """Decodes a path for routing, as decodeURI does (ECMA-262, section 19.2.6.1).

    The escapes of the characters that structure a URL, `# $ & + , / : ; = ? @`, aren't decoded.
    Neither is `%25`, since a parameter is decoded again when it is read.

    Args:
        text: Percent-encoded path.

    Returns:
        The routing path. Runs of escapes that aren't UTF-8 aren't changed. A `%` that begins no
        escape becomes `%25` if it would begin one in the decoded path, as in `%%361`.
    """
    decoded = _decoded(text)
    # Decoded once more, as a parameter or a part of a file's path, it would be another path than
    # the one that guards are matched with.
    if "%" in decoded and _lone_percent().search(text) and _decoded(decoded) != decoded:
        return _decoded(_lone_percent().sub("%25", text))
    return decoded


def path_of_url(url: str) -> str:
    """Returns the routing path of an absolute URL, decoded as `decode_path` does.

    Args:
        url: A URL with scheme and host, e.g. `http://localhost/users?page=2`.

    Returns:
        The path without query and fragment; `/` if the URL has none.

    Raises:
        ValueError: If the URL has no scheme.
    """
    scheme, colon, _ = url.partition(":")
    if not colon:
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
    if base == "/" or not base:
        return path if path.startswith("/") else "/" + path
    if not base.startswith("/"):
        base = "/" + base
    if path == "/":
        return base
    return base.removesuffix("/") + "/" + path.removeprefix("/")


# PERF: compiled at first use, not at import.
@cache
def _escapes() -> re.Pattern[str]:
    """Returns the expression for runs of percent escapes."""
    import re

    return re.compile(r"(?:%[0-9A-Fa-f]{2})+")


@cache
def _lone_percent() -> re.Pattern[str]:
    """Returns the expression for a percent sign that begins no escape."""
    import re

    return re.compile(r"%(?![0-9A-Fa-f]{2})")


def _decode_run(match: re.Match[str]) -> str:
    run = match[0]
    try:
        return bytes.fromhex(run.replace("%", "")).decode()
    except UnicodeDecodeError:
        return run


def _decoded(path: str) -> str:
    return _escapes().sub(_decode_run_but_reserved, path)


def _decode_run_but_reserved(match: re.Match[str]) -> str:
    run = match[0]
    try:
        bytes.fromhex(run.replace("%", "")).decode()
    except UnicodeDecodeError:
        return run
    import re

    parts = re.split(_KEPT, run)
    parts[::2] = [bytes.fromhex(part.replace("%", "")).decode() for part in parts[::2]]
    return "".join(parts)
