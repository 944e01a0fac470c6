# SPDX-License-Identifier: MIT
"""Paths and queries: percent-decoding as JavaScript does it, and joining of route paths."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
# The escapes that decodeURI leaves alone: of # $ & + , / : ; = ? @.
_KEPT = re.compile(r"(%(?:2[346BCFbcf]|3[ABDFabdf]|40))")
_KEPT_IN_PATH = re.compile(rb"%(?:2[3-6BCFbcf]|3[ABDFabdf]|40)")


def decode_component(text: str) -> str:
    """Does what decodeURIComponent (ECMA-262) does; runs that are no UTF-8 stay as they are."""
    return _ESCAPES.sub(_decode_run, text)


def decode_path(text: str) -> str:
    """Does what decodeURI (ECMA-262) does; `%25` and runs that are no UTF-8 stay as they are."""
    # Doubled first, as Hono does, so that a parameter can be decoded once more.
    return _ESCAPES.sub(_decode_run_but_reserved, text.replace("%25", "%2525"))


def decode_query(text: str) -> str:
    """Decodes a name or value of a query: `+` is a blank."""
    return decode_component(text.replace("+", " ")) if "+" in text or "%" in text else text


def _decode_run(match: re.Match[str]) -> str:
    run = match[0]
    try:
        return bytes.fromhex(run.replace("%", "")).decode()
    except UnicodeDecodeError:
        return run


def _decode_run_but_reserved(match: re.Match[str]) -> str:
    run = match[0]
    try:
        bytes.fromhex(run.replace("%", "")).decode()
    except UnicodeDecodeError:
        return run
    parts = _KEPT.split(run)
    parts[::2] = [bytes.fromhex(part.replace("%", "")).decode() for part in parts[::2]]
    return "".join(parts)


def path_of_url(url: str) -> str:
    """Gives the routing path of an absolute URL."""
    start = url.find("/", url.index(":") + 3)
    if start < 0:
        return "/"
    path = re.split(r"[?#]", url[start:], maxsplit=1)[0]
    return decode_path(path) if "%" in path else path


def path_of_scope(scope: Any) -> str:
    """Gives the routing path of an ASGI http scope.

    It is the percent-encoded `raw_path`, decoded as `decode_path` does, without `root_path`.
    Where there is none, or a host has changed `path` alone, what can't stand unencoded in a path
    is encoded again.

    PERF: what the server decoded is the same, unless there is an escape that `decode_path` keeps
    or bytes that are no UTF-8; then it takes half the time.
    """
    raw = scope.get("raw_path")
    path: str = scope["path"]
    if raw is None:
        path = _encoded(path)
    elif "%" in path or "\ufffd" in path or _KEPT_IN_PATH.search(raw):
        text = raw.decode("utf-8", "replace")
        path = decode_path(text) if _is_decoded(path, text) else _encoded(path)
    root = (scope.get("root_path") or "").rstrip("/")
    if root and (scope["path"] + "/").startswith(root + "/"):
        # By segments: the root is decoded, and what is encoded in the path may differ from it.
        path = "/" + "/".join(path.split("/")[root.count("/") + 1 :])
    return path or "/"


def _encoded(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3F").replace("#", "%23")


def _is_decoded(path: str, raw: str) -> bool:
    """Whether a path is what a server makes of the encoded one."""
    from urllib.parse import unquote

    return unquote(raw) == path


def encode_location(location: str) -> str:
    """Gives a URL as it can stand in a header: as it is if it is latin-1, else percent-encoded."""
    if all(character <= "\xff" for character in location):
        return location
    from urllib.parse import quote

    # SPEC: what encodeURI of ECMA-262 leaves alone.
    return quote(location, safe=";/?:@&=+$,#-_.!~*'()", errors="replace")


def merge_path(base: str, path: str) -> str:
    """Joins a prefix and a route path with one slash between.

    A path `/` adds nothing to a prefix; an empty one adds a slash.
    """
    if base == "/" or not base:
        return path if path.startswith("/") else "/" + path
    if not base.startswith("/"):
        base = "/" + base
    if path == "/":
        return base
    return base.removesuffix("/") + "/" + path.removeprefix("/")


def query_pairs(query: str) -> list[tuple[str, str]]:
    """Reads a query string: names and values, decoded, in order; empty names are dropped."""
    pairs = []
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if name:
            pairs.append((decode_query(name), decode_query(value)))
    return [pair for pair in pairs if pair[0]]


def query_value(query: str, key: str, pairs: Callable[[], list[tuple[str, str]]]) -> str | None:
    """Gives the first value of a key, or None.

    A name that equals the key unencoded wins over an earlier one that has to be decoded first.

    Args:
        query: The query string without `?`.
        key: The decoded key.
        pairs: Gives the decoded pairs of the query.
    """
    if not key:
        return None
    if "+" not in key and "%" not in key:
        for part in query.split("&"):
            name, _, value = part.partition("=")
            if name == key:
                return decode_query(value)
        if "%" not in query and "+" not in query:
            return None
    for name, value in pairs():
        if name == key:
            return value
    return None
