# SPDX-License-Identifier: MIT
"""Reads the language from parts of a request."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias

from kit.cookie import get_cookie
from kit.interface import Context

from ._lookup import Lookup

__all__ = (
    "Read",
    "cookie_reader",
    "detect_from_cookie",
    "detect_from_header",
    "detect_from_path",
    "detect_from_query",
    "header_reader",
    "path_reader",
    "query_reader",
)

Read: TypeAlias = Callable[[Context[Any, Any]], str | None]
"""Returns the language from one part of a request, or None."""


def query_reader(name: str) -> Read:
    """Returns a function that reads a query parameter."""
    return lambda c: c.req.query(name)


def cookie_reader(name: str, prefix: Literal["secure", "host"] | None = None) -> Read:
    """Returns a function that reads a cookie."""

    def read(c: Context[Any, Any]) -> str | None:
        cookies = c.req.header("cookie")
        # PERF: most requests with cookies don't have this one.
        return get_cookie(c, name, prefix) if cookies and name in cookies else None

    return read


def header_reader(name: str) -> Read:
    """Returns a function that reads a header."""
    return lambda c: c.req.header(name)


def path_reader(index: int) -> Read:
    """Returns a function that reads a segment of the URL's path, not counting empty segments."""

    def read(c: Context[Any, Any]) -> str | None:
        url = c.req.url
        path = url.partition("#")[0].partition("?")[0]
        segments = path[url.find("/", url.find("://") + 3) :].split("/")
        filled = [segment for segment in segments if segment]
        return filled[index] if index < len(filled) else None

    return read


def detect_from_query(
    c: Context[Any, Any],
    supported_languages: Iterable[str],
    *,
    lookup_query_string: str = "lang",
    ignore_case: bool = True,
) -> str | None:
    """Detects the language from a query parameter.

    Args:
        c: The context.
        supported_languages: What to choose from.
        lookup_query_string: Name of the parameter.
        ignore_case: Whether tags are compared without case.

    Returns:
        One of the supported languages, or None.
    """
    value = query_reader(lookup_query_string)(c)
    return Lookup(supported_languages, ignore_case).find(value) if value else None


def detect_from_cookie(
    c: Context[Any, Any],
    supported_languages: Iterable[str],
    *,
    lookup_cookie: str = "language",
    ignore_case: bool = True,
) -> str | None:
    """Detects the language from a cookie.

    Args:
        c: The context.
        supported_languages: What to choose from.
        lookup_cookie: Name of the cookie.
        ignore_case: Whether tags are compared without case.

    Returns:
        One of the supported languages, or None.
    """
    value = cookie_reader(lookup_cookie)(c)
    return Lookup(supported_languages, ignore_case).find(value) if value else None


def detect_from_header(
    c: Context[Any, Any],
    supported_languages: Iterable[str],
    *,
    lookup_from_header_key: str = "accept-language",
    ignore_case: bool = True,
) -> str | None:
    """Detects the language from Accept-Language: the supported language with the highest quality.

    Args:
        c: The context.
        supported_languages: What to choose from.
        lookup_from_header_key: Name of the header.
        ignore_case: Whether tags are compared without case.

    Returns:
        One of the supported languages, or None.
    """
    value = header_reader(lookup_from_header_key)(c)
    return Lookup(supported_languages, ignore_case).find_accepted(value) if value else None


def detect_from_path(
    c: Context[Any, Any],
    supported_languages: Iterable[str],
    *,
    lookup_from_path_index: int = 0,
    ignore_case: bool = True,
) -> str | None:
    """Detects the language from a segment of the URL's path, such as `de` in `/de/books`.

    Args:
        c: The context.
        supported_languages: What to choose from.
        lookup_from_path_index: Which segment, from 0.
        ignore_case: Whether tags are compared without case.

    Returns:
        One of the supported languages, or None.
    """
    value = path_reader(lookup_from_path_index)(c)
    return Lookup(supported_languages, ignore_case).find(value) if value else None
