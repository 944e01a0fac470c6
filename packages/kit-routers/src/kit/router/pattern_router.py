# SPDX-License-Identifier: MIT
"""PatternRouter: one regular expression per route, tried in registration order.

Cheap to build and easy to inspect (`routes`), but a match tries every route: good for fewer than
about 50 routes, not for 100 or more. A trailing slash of the path is accepted for every route.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from kit.interface import (
    METHOD_NAME_ALL,
    Params,
    Result,
    RouterClosedError,
    UnsupportedPathError,
)
from kit.router.patterns import PathExpression, expand_optional, parse_segment, split_pattern

if TYPE_CHECKING:
    import re

__all__ = ("PatternRouter",)

T = TypeVar("T")


class PatternRouter(Generic[T]):
    """A list of regular expressions."""

    name = "PatternRouter"
    cacheable = True

    def __init__(self) -> None:
        self._routes: list[tuple[PathExpression, str, T]] = []
        self._closed = False

    @property
    def routes(self) -> list[tuple[re.Pattern[str], str, T]]:
        """The routes in the order they are tried, for debugging: expression, method and handler."""
        return [(each.pattern, method, handler) for each, method, handler in self._routes]

    def add(self, method: str, path: str, handler: T) -> None:
        """Adds a route; see `kit.interface.Router.add`.

        Raises:
            UnsupportedPathError: Also if a parameter name is repeated.
            RouterClosedError: If `match` has been called.
        """
        if self._closed:
            raise RouterClosedError(method, path)
        made = [_compile(method, path, variant) for variant in expand_optional(path, method)]
        self._routes += [(expression, method, handler) for expression in made]

    def match(self, method: str, path: str) -> Result[T]:
        """Finds the handlers for a request; see `kit.interface.Router.match`."""
        self._closed = True
        if not path.startswith("/"):
            path = "/" + path
        found: list[tuple[T, Params]] = []
        for expression, route_method, handler in self._routes:
            if route_method in (method, METHOD_NAME_ALL):
                params = expression.read(path)
                if params is not None:
                    found.append((handler, params))
        return (found,)


def _compile(method: str, pattern: str, variant: str) -> PathExpression:
    """Returns the expression for a path."""
    segments = [parse_segment(text) for text in split_pattern(variant)]
    names: set[str] = set()
    for segment in segments:
        if segment.name in names:
            raise UnsupportedPathError(
                pattern,
                "PatternRouter allows each parameter name only once, "
                f"but {segment.name!r} is repeated",
                method,
                pattern.rfind(f":{segment.name}"),
            )
        if segment.name is not None:
            names.add(segment.name)
    return PathExpression(pattern, segments, method, ends_with_slash=True)
