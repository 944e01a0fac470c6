# SPDX-License-Identifier: MIT
"""SegmentHashRouter: finds routes by a hash of the literal segments in a path.

Every pattern has a shape: the number of segments, which of them are literals, and whether a last
`*` matches the rest. For each shape, a dict maps the literals to the routes. A match does one
lookup for each shape that a path of this length can have, so its cost depends on the number of
shapes, not routes. Packet filters call this tuple space search.
"""

from __future__ import annotations

import re
from operator import attrgetter
from typing import Generic, NamedTuple, NoReturn, TypeAlias, TypeVar

from kit.interface import (
    METHOD_NAME_ALL,
    ParamIndexMap,
    Result,
    RouterClosedError,
    UnsupportedPathError,
)

__all__ = ("SegmentHashRouter",)

T = TypeVar("T")


class _Pattern(NamedTuple):
    """A parsed route pattern; positions are indexes of segments.

    `segments` excludes a last `*`. `names` has the positions of the parameters.
    """

    segments: list[str]
    literals: tuple[int, ...]
    names: ParamIndexMap
    rest: bool


class _Route(NamedTuple, Generic[T]):
    """A route: its position in the registration order, and its entry in the result of `match`."""

    order: int
    method: str
    found: tuple[T, ParamIndexMap]


class _Shape(Generic[T]):
    """All routes with literals and parameters in the same positions."""

    __slots__ = ("literals", "parameters", "rest", "routes", "size")

    def __init__(self, size: int, literals: tuple[int, ...], rest: bool) -> None:
        self.size = size
        self.literals = literals
        self.parameters = tuple(sorted({*range(size)}.difference(literals)))
        self.rest = rest
        self.routes: dict[tuple[str, ...], list[_Route[T]]] = {}

    def key(self, segments: list[str]) -> tuple[str, ...]:
        """Returns the literals that a pattern of this shape and its matching paths share."""
        return tuple([segments[position] for position in self.literals])

    def find(self, segments: list[str]) -> list[_Route[T]]:
        """Returns the routes of any method that match the segments of a path."""
        routes = self.routes.get(self.key(segments), [])
        # A parameter doesn't match an empty segment.
        if routes and "" in [segments[position] for position in self.parameters]:
            return []
        return routes

    def takes(self, count: int) -> bool:
        """Returns whether a path with `count` segments can match. The rest may be empty."""
        return self.size <= count if self.rest else self.size == count


_Tables: TypeAlias = tuple[list[list[_Shape[T]]], dict[tuple[str, str], Result[T]]]


class SegmentHashRouter(Generic[T]):
    """A router with a dict of path segments for each shape of pattern.

    Supports literals, `:name` and a last `*`; rejects expressions, optional parameters and any
    other `*`. To support these too, combine it with a TrieRouter in a SmartRouter.
    """

    name = "SegmentHashRouter"

    def __init__(self) -> None:
        self._shapes: dict[tuple[int, tuple[int, ...], bool], _Shape[T]] = {}
        self._count = 0
        # Method and path of the routes that contain only literals.
        self._literal: set[tuple[str, str]] = set()
        self._tables: _Tables[T] | None = None
        self._closed = False

    def add(self, method: str, path: str, handler: T) -> None:
        """Adds a route; see `kit.interface.Router.add`.

        Args:
            method: Upper-case method, or `ALL`.
            path: Route pattern.
            handler: The object that `match` returns.

        Raises:
            UnsupportedPathError: If the pattern has an expression, an optional parameter, or a `*`
                that isn't its last segment.
            RouterClosedError: If `match` was called before.
        """
        if self._closed:
            raise RouterClosedError(method, path)
        # Fails before any state changes, so that a rejected route leaves no trace.
        pattern = _parse(method, path)
        shape_of = (len(pattern.segments), pattern.literals, pattern.rest)
        shape = self._shapes.setdefault(shape_of, _Shape(*shape_of))
        route = _Route(self._count, method, (handler, pattern.names))
        shape.routes.setdefault(shape.key(pattern.segments), []).append(route)
        self._count += 1
        if not shape.parameters and not shape.rest:
            self._literal.add((method, path))

    def match(self, method: str, path: str) -> Result[T]:
        """Finds the handlers for a request; see `kit.interface.Router.match`.

        Args:
            method: Method of the request.
            path: Routing path.

        Returns:
            `([(handler, indexes), ...], segments)` in registration order. Parameters are
            indexes into the segments of the path, so they aren't copied.
        """
        tables = self._tables
        if tables is None:
            # Closed first, so that adding a route during the build raises an error.
            self._closed = True
            # Several threads may build concurrently: all get the same result, and none exposes an
            # incomplete one.
            tables = self._tables = self._build()
        by_count, known = tables
        return known.get((method, path)) or _search(by_count, method, path)

    def _build(self) -> _Tables[T]:
        """Groups the shapes by path length, and precomputes the matches of literal routes."""
        longest = max((shape.size for shape in self._shapes.values()), default=0)
        # The last entry is for all paths longer than any pattern.
        by_count = [
            [shape for shape in self._shapes.values() if shape.takes(count)]
            for count in range(longest + 2)
        ]
        known = {request: _search(by_count, *request) for request in self._literal}
        return by_count, known


def _search(by_count: list[list[_Shape[T]]], method: str, path: str) -> Result[T]:
    """Searches every shape that a path of this length can have."""
    segments = path.removeprefix("/").split("/")
    routes: list[_Route[T]] = []
    for shape in by_count[min(len(segments), len(by_count) - 1)]:
        routes += shape.find(segments)
    routes.sort(key=attrgetter("order"))
    return [route.found for route in routes if route.method in (method, METHOD_NAME_ALL)], segments


def _parse(method: str, path: str) -> _Pattern:
    """Parses a pattern, or raises an error with the position and reason."""

    def refuse(position: int, reason: str) -> NoReturn:
        raise UnsupportedPathError(path, f"SegmentHashRouter {reason}", method, position)

    if brace := re.search("[{}]", path):
        refuse(brace.start(), "doesn't support expressions in braces")
    # As in Kit's own routers, only the end of a pattern makes its parameters optional.
    if path.endswith("?") and ":" in path:
        refuse(len(path) - 1, "doesn't support optional parameters: register two routes")
    segments = path.removeprefix("/").split("/")
    rest = segments[-1] == "*"
    if rest:
        del segments[-1]
    literals: list[int] = []
    names: dict[str, int] = {}
    end = 0 if path.startswith("/") else -1
    for number, segment in enumerate(segments):
        end += len(segment) + 1
        if segment.startswith(":") and segment != ":":
            # If two parameters have the same name, the first one counts.
            names.setdefault(segment[1:], number)
        elif segment.endswith("*"):
            refuse(end - 1, "supports '*' only as the whole last segment")
        else:
            literals.append(number)
    return _Pattern(segments, tuple(literals), names, rest)
