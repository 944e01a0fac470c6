# SPDX-License-Identifier: MIT
"""LinearRouter: tries the routes one by one, and builds nothing.

For processes that handle one request and exit, and for apps with few routes: adding a route only
appends it to a list, and a match compares each pattern until it fails. Only a pattern with an
expression becomes a regular expression when it is added.
"""

from __future__ import annotations

from typing import Generic, TypeAlias, TypeVar

from kit.interface import METHOD_NAME_ALL, Params, Result, RouterClosedError
from kit.router.patterns import (
    PathExpression,
    expand_optional,
    parse_parameter,
    parse_segment,
    split_pattern,
)

__all__ = ("LinearRouter",)

T = TypeVar("T")
_NO_PARAMS: Params = {}
_Pattern: TypeAlias = str | PathExpression


class LinearRouter(Generic[T]):
    """A list of routes, searched from the first to the last."""

    name = "LinearRouter"
    cacheable = True

    def __init__(self) -> None:
        self._routes: list[tuple[str, _Pattern, T]] = []
        self._closed = False

    def add(self, method: str, path: str, handler: T) -> None:
        """Adds a route; see `kit.interface.Router.add`."""
        if self._closed:
            raise RouterClosedError(method, path)
        made = [_prepare(method, path, variant) for variant in expand_optional(path, method)]
        self._routes += [(method, pattern, handler) for pattern in made]

    def match(self, method: str, path: str) -> Result[T]:
        """Finds the handlers for a request; see `kit.interface.Router.match`."""
        self._closed = True
        if not path.startswith("/"):
            path = "/" + path
        found: list[tuple[T, Params]] = []
        for route_method, pattern, handler in self._routes:
            if route_method not in (method, METHOD_NAME_ALL):
                continue
            params: Params | None
            if not isinstance(pattern, str):
                params = pattern.read(path)
            elif ":" in pattern or "*" in pattern:
                params = _read(pattern, path)
            else:
                params = _NO_PARAMS if path == pattern else None
            if params is not None:
                found.append((handler, params))
        return (found,)


def _prepare(method: str, path: str, variant: str) -> _Pattern:
    """Returns a pattern with a leading slash, or the expression for one with expressions."""
    if "{" in variant:
        segments = [parse_segment(text) for text in split_pattern(variant)]
        if any(segment.expression is not None for segment in segments):
            return PathExpression(path, segments, method)
    return variant if variant.startswith("/") else "/" + variant


def _read(pattern: str, path: str) -> Params | None:
    """Returns the parameters of a path that matches a pattern without expressions, or None."""
    segments = split_pattern(pattern)
    last = len(segments) - 1
    params: dict[str, str] = {}
    start = 1
    for number, segment in enumerate(segments):
        if segment == "*" and number == last:
            # The rest can be absent, but not after another `*`.
            is_there = start <= len(path) or segments[number - 1 : number] != ["*"]
            return params if is_there else None
        if start > len(path):
            return None
        end = path.find("/", start)
        if end < 0:
            end = len(path)
        parameter = parse_parameter(segment)
        if parameter is not None:
            if start == end:
                return None
            params.setdefault(parameter.name, path[start:end])
        elif segment.endswith("*") and number == last:
            return params if path.startswith(segment[:-1], start) else None
        elif segment not in ("*", path[start:end]):
            return None
        start = end + 1
    return params if start > len(path) else None
