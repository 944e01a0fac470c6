# SPDX-License-Identifier: MIT
"""LinearRouter: tries the routes one by one, and builds nothing.

For processes that handle one request and exit, and for apps with few routes: adding a route only
appends it to a list, and a match compares each pattern until it fails. A trailing slash of the path
is accepted for every route. As in Hono, this search can't match a pattern with both a parameter and
a `*`; for methods with such a pattern, it uses TrieRouter.
"""

from __future__ import annotations

import re
from typing import Generic, TypeVar

from kit.interface import METHOD_NAME_ALL, Params, Result, RouterClosedError
from kit.interface.patterns import (
    compile_expression,
    expand_optional,
    parse_parameter,
    split_pattern,
)

from .trie_router import TrieRouter

__all__ = ("LinearRouter",)

T = TypeVar("T")
_NO_PARAMS: Params = {}


class LinearRouter(Generic[T]):
    """A list of routes, searched from the first to the last."""

    name = "LinearRouter"
    is_pure = True

    def __init__(self) -> None:
        self._routes: list[tuple[str, str, T]] = []
        # Methods with a pattern that the search can't match, and their router.
        self._beyond: set[str] = set()
        self._trie: TrieRouter[T] | None = None
        self._closed = False

    def add(self, method: str, path: str, handler: T) -> None:
        """Adds a route; see `kit.interface.Router.add`.

        Args:
            method: Upper-case method, or `ALL`.
            path: Route pattern.
            handler: The object for `match` to return.

        Raises:
            UnsupportedPathError: If an expression in braces is invalid.
            RouterClosedError: If `match` has been called.
        """
        if self._closed:
            raise RouterClosedError(method, path)
        if "{" in path:
            for segment in split_pattern(path):
                parameter = parse_parameter(segment.removesuffix("?"))
                if parameter is not None and parameter.expression is not None:
                    compile_expression(parameter.expression, path, method)
        variants = expand_optional(path)
        if ":" in path and "*" in path:
            self._beyond.add(method)
        self._routes += [(method, variant, handler) for variant in variants]

    def match(self, method: str, path: str) -> Result[T]:
        """Finds the handlers for a request; see `kit.interface.Router.match`.

        Args:
            method: Method of the request.
            path: Routing path.

        Returns:
            `([(handler, params), ...],)` in registration order.
        """
        self._closed = True
        if self._beyond and not self._beyond.isdisjoint((method, METHOD_NAME_ALL)):
            return self._match_by_trie(method, path)
        found: list[tuple[T, Params]] = []
        for route_method, pattern, handler in self._routes:
            if route_method not in (method, METHOD_NAME_ALL):
                continue
            params: Params | None
            if ":" in pattern:
                params = _read_parameters(pattern, path)
            elif "*" in pattern:
                params = _NO_PARAMS if _fits_wildcards(pattern, path) else None
            else:
                params = _NO_PARAMS if path in (pattern, pattern + "/") else None
            if params is not None:
                found.append((handler, params))
        return (found,)

    def _match_by_trie(self, method: str, path: str) -> Result[T]:
        if self._trie is None:
            trie: TrieRouter[T] = TrieRouter()
            for route_method, variant, handler in self._routes:
                trie.add_variants(route_method, variant, [variant], handler)
            self._trie = trie
        return self._trie.search(method, path)


def _fits_wildcards(pattern: str, path: str) -> bool:
    segments = split_pattern(pattern)
    start = 1 if path.startswith("/") else 0
    last = len(segments) - 1
    for number, segment in enumerate(segments):
        if segment == "*" and number == last:
            # As in TrieRouter, the rest can be absent, but not after another `*`.
            return start <= len(path) or segments[number - 1 : number] != ["*"]
        if start > len(path):
            return False
        if segment.endswith("*") and number == last:
            return path.startswith(segment[:-1], start)
        end = _end_of_segment(path, start)
        if segment not in ("*", path[start:end]):
            return False
        start = end + 1
    return start >= len(path)


def _read_parameters(pattern: str, path: str) -> Params | None:
    """Returns the parameters of a path that matches a pattern without wildcards, or None."""
    # A trailing slash is accepted whether the pattern has one or not.
    segments = split_pattern(pattern.removesuffix("/"))
    params: dict[str, str] = {}
    start = 1 if path.startswith("/") else 0
    for number, segment in enumerate(segments):
        if start > len(path):
            return None
        end = _end_of_segment(path, start)
        parameter = parse_parameter(segment)
        if parameter is None:
            if path[start:end] != segment:
                return None
        elif parameter.expression is None:
            if start == end:
                return None
            params.setdefault(parameter.name, path[start:end])
        else:
            following = segments[number + 1] if number + 1 < len(segments) else None
            match = _match_expression(parameter.expression, following, path, start, end)
            if match is None:
                return None
            end = match.end()
            params.setdefault(parameter.name, match[0])
        start = end + 1
    return params if start >= len(path) else None


def _match_expression(
    expression: str, following: str | None, path: str, start: int, end: int
) -> re.Match[str] | None:
    """Matches an expression from `start`; `end` is where the segment ends.

    It matches slashes as far as possible: up to the literal that follows, or the end of the path.
    """
    if following is None:
        return compile_expression(expression, "", "", r"(?=/?\Z)").match(path, start)
    if not following.startswith(":"):
        then = f"(?=/{re.escape(following)})"
        return compile_expression(expression, "", "", then).match(path, start)
    match = compile_expression(expression, "", "", "(?:)").match(path, start)
    if match is None or path[match.end() : match.end() + 1] in ("", "/"):
        return match
    if "/" in match[0]:
        return None
    return compile_expression(expression, "", "").match(path, start, end)


def _end_of_segment(path: str, start: int) -> int:
    end = path.find("/", start)
    return end if end >= 0 else len(path)
