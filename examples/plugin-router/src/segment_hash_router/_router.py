# SPDX-License-Identifier: MIT
"""SegmentHashRouter: finds routes by a hash of the literal segments in a path.

Every pattern has a shape: how many segments it has, which of them are literals, and whether a last
`*` takes the rest. Each shape has a dict from the literals to the routes. A match looks once into
the dict of each shape that a path of this length can have, so what it costs depends on the number
of shapes, not of routes; in packet filters this is known as tuple space search.
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
    """A route pattern as it was read; its positions are numbers of segments.

    `segments` are those before a last `*`, `names` has the positions of the parameters.
    """

    segments: list[str]
    literals: tuple[int, ...]
    names: ParamIndexMap
    rest: bool


class _Route(NamedTuple, Generic[T]):
    """A route: its place in the order of registration, and what `match` gives for it."""

    order: int
    method: str
    found: tuple[T, ParamIndexMap]


class _Shape(Generic[T]):
    """All routes whose patterns have literals and parameters in the same places."""

    __slots__ = ("literals", "parameters", "rest", "routes", "size")

    def __init__(self, size: int, literals: tuple[int, ...], rest: bool) -> None:
        self.size = size
        self.literals = literals
        self.parameters = tuple(sorted({*range(size)}.difference(literals)))
        self.rest = rest
        self.routes: dict[tuple[str, ...], list[_Route[T]]] = {}

    def key(self, segments: list[str]) -> tuple[str, ...]:
        """What a pattern of this shape and the paths that fit it have in common."""
        return tuple([segments[position] for position in self.literals])

    def find(self, segments: list[str]) -> list[_Route[T]]:
        """The routes, of any method, that the segments of a path fit."""
        routes = self.routes.get(self.key(segments), [])
        # A parameter takes no empty segment.
        if routes and "" in [segments[position] for position in self.parameters]:
            return []
        return routes

    def takes(self, count: int) -> bool:
        """Whether a path of so many segments can fit. The rest may be absent."""
        return self.size <= count if self.rest else self.size == count


_Tables: TypeAlias = tuple[list[list[_Shape[T]]], dict[tuple[str, str], Result[T]]]


class SegmentHashRouter(Generic[T]):
    """Dicts of path segments, one for each shape of pattern.

    Takes literals, `:name` and a last `*`; refuses expressions, optional parameters and any other
    `*`. Give it to SmartRouter with a TrieRouter behind it to have those too.
    """

    name = "SegmentHashRouter"

    def __init__(self) -> None:
        self._shapes: dict[tuple[int, tuple[int, ...], bool], _Shape[T]] = {}
        self._count = 0
        # Method and path of the routes that are nothing but literals.
        self._literal: set[tuple[str, str]] = set()
        self._tables: _Tables[T] | None = None
        self._closed = False

    def add(self, method: str, path: str, handler: T) -> None:
        """Adds a route; see `kit.interface.Router.add`.

        Args:
            method: Upper-case method, or `ALL`.
            path: Route pattern.
            handler: What `match` is to give back.

        Raises:
            UnsupportedPathError: If the pattern has an expression, an optional parameter, or a `*`
                that is not its last segment.
            RouterClosedError: If the router has matched before.
        """
        if self._closed:
            raise RouterClosedError(method, path)
        # What can fail comes before anything is changed, so a refused route leaves no trace.
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
            `([(handler, indexes), ...], segments)` in registration order: the segments of the path
            are the stash, so parameters need no copying.
        """
        tables = self._tables
        if tables is None:
            # Closed first: a route that comes during the build is an error, not lost.
            self._closed = True
            # Several threads may build at once: all build the same, and none shows it unfinished.
            tables = self._tables = self._build()
        by_count, known = tables
        return known.get((method, path)) or _search(by_count, method, path)

    def _build(self) -> _Tables[T]:
        """Sorts the shapes by the length of paths, and answers the literal routes beforehand."""
        longest = max((shape.size for shape in self._shapes.values()), default=0)
        # The last entry is for all paths that are longer than any pattern.
        by_count = [
            [shape for shape in self._shapes.values() if shape.takes(count)]
            for count in range(longest + 2)
        ]
        known = {request: _search(by_count, *request) for request in self._literal}
        return by_count, known


def _search(by_count: list[list[_Shape[T]]], method: str, path: str) -> Result[T]:
    """Looks into every shape that a path of this length can have."""
    segments = path.removeprefix("/").split("/")
    routes: list[_Route[T]] = []
    for shape in by_count[min(len(segments), len(by_count) - 1)]:
        routes += shape.find(segments)
    routes.sort(key=attrgetter("order"))
    return [route.found for route in routes if route.method in (method, METHOD_NAME_ALL)], segments


def _parse(method: str, path: str) -> _Pattern:
    """Reads a pattern, or says where and why this router can't take it."""

    def refuse(position: int, reason: str) -> NoReturn:
        raise UnsupportedPathError(path, f"SegmentHashRouter {reason}", method, position)

    if brace := re.search("[{}]", path):
        refuse(brace.start(), "reads no expressions in braces")
    # As in Kit's own routers, only the end of a pattern makes its parameters optional.
    if path.endswith("?") and ":" in path:
        refuse(len(path) - 1, "has no optional parameters: register one route with, one without")
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
            # Of two parameters with one name the first counts.
            names.setdefault(segment[1:], number)
        elif segment.endswith("*"):
            refuse(end - 1, "takes a '*' as the whole last segment only")
        else:
            literals.append(number)
    return _Pattern(segments, tuple(literals), names, rest)
