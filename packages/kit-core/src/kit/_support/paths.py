# SPDX-License-Identifier: MIT
"""Paths: percent-decoding as JavaScript does it, and joining of route paths."""

from __future__ import annotations

import re

_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
# The escapes that decodeURI leaves alone: of # $ & + , / : ; = ? @.
_KEPT = re.compile(r"(%(?:2[346BCFbcf]|3[ABDFabdf]|40))")


def decode_component(text: str) -> str:
    """Does what decodeURIComponent (ECMA-262) does; runs that are no UTF-8 stay as they are."""
    return _ESCAPES.sub(_decode_run, text)


def decode_path(text: str) -> str:
    """Does what decodeURI (ECMA-262) does; `%25` and runs that are no UTF-8 stay as they are."""
    # Doubled first, as Hono does, so that a parameter can be decoded once more.
    return _ESCAPES.sub(_decode_run_but_reserved, text.replace("%25", "%2525"))


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


def encode_delimiters(path: str) -> str:
    """Encodes the characters of a decoded path that would end it, or begin an escape, in a URL."""
    return path.replace("%", "%25").replace("?", "%3F").replace("#", "%23")
