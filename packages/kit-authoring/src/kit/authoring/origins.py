# SPDX-License-Identifier: MIT
"""Checks options that list origins, such as `https://example.com`."""

from __future__ import annotations

import re
from typing import Any

from kit.http.origins import DEFAULT_PORTS, is_origin

from .options import OptionChecks

__all__ = ("check_origins",)

# Common mistakes in place of an origin: a URL, or a host with or without a port.
_URL = re.compile(
    r"(?:(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*):)?//)?"
    r"(?P<host>\[[^\]/?#]*\]|[^:/?#@\[\]]+)(?::(?P<port>[0-9]+))?(?:[/?#].*)?",
    re.DOTALL,
)
_LOCAL = re.compile(r"localhost|.+\.localhost|127\.[0-9.]+|\[::1\]")


def check_origins(
    check: OptionChecks, name: str, value: Any, several: str = "a function"
) -> frozenset[str]:
    """Checks an option that lists origins.

    Args:
        check: The checks of the factory that has the option.
        name: The option.
        value: Its value: an origin or several.
        several: What to use for origins that can't be listed; for errors.

    Returns:
        The origins.

    Raises:
        TypeError: If the value is neither a str nor an iterable of them.
        ValueError: If one of them isn't an origin; the error suggests the correct form.
    """
    origins = check.texts(name, value)
    for each in origins:
        if not is_origin(each):
            check.unusable(name, each, _expected(each, several))
    return frozenset(origins)


def _expected(text: str, several: str) -> str:
    if text == "*":
        return "an origin such as 'https://example.com'; '*' is not an origin"
    if text == "null":
        return (
            "an origin such as 'https://example.com'; 'null' is what every sandboxed page sends, "
            "so use a function to let it in"
        )
    if "*" in text:
        return (
            "an origin such as 'https://example.com', since there are no wildcards; "
            f"use {several} for many origins"
        )
    if not text.isascii():
        return "an origin in ASCII, such as 'https://xn--bcher-kva.example', as browsers send it"
    meant = _meant(text)
    if meant is None:
        return "an origin such as 'https://example.com'"
    return f"only scheme, host and port, in lower case: write {meant!r}"


def _meant(text: str) -> str | None:
    """Returns the origin that a text was probably meant to be; None if that is unclear."""
    match = _URL.fullmatch(text.strip())
    if match is None:
        return None
    host, port = match["host"].lower(), (match["port"] or "").lstrip("0")
    scheme = (match["scheme"] or ("http" if _LOCAL.fullmatch(host) else "https")).lower()
    if port == DEFAULT_PORTS.get(scheme):
        port = ""
    origin = f"{scheme}://{host}" + (port and f":{port}")
    return origin if is_origin(origin) else None
