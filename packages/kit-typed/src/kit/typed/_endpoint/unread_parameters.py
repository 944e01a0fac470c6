# SPDX-License-Identifier: MIT
"""Finds the path parameters of a route that nothing reads."""

from __future__ import annotations

from collections.abc import Container, Sequence

from kit.interface import RouterRoute
from kit.router.patterns import Parameter, parse_parameter, split_pattern


def unread_name(
    route: RouterRoute, before: Sequence[RouterRoute], read: Container[str]
) -> str | None:
    """Returns the name of a parameter in the route's own pattern that nothing reads, or None.

    The prefixes of apps don't count, since all of their routes share them. Middleware reads the
    names in its own pattern, so a parameter there counts as read, whatever its name, except if it
    is a typed guard that doesn't read it.

    Args:
        route: The route.
        before: The routes registered before it.
        read: The names that the endpoint reads.
    """
    base = route.base_path.removesuffix("/")
    start = len(split_pattern(base)) if base else 0
    segments = split_pattern(route.path)
    for index, segment in enumerate(segments):
        parameter = _parameter(segment)
        if index < start or parameter is None or parameter.name in read:
            continue
        if not any(_may_read(each, route.method, segments, index) for each in before):
            return parameter.name
    return None


def _may_read(other: RouterRoute, method: str, segments: list[str], index: int) -> bool:
    """Returns whether a route is middleware that may read the parameter at this segment."""
    is_around = other.method == method or "ALL" in (other.method, method)
    if not (other.takes_next and is_around):
        return False
    *first, last = split_pattern(other.path)[: index + 1]
    parameter = _parameter(last)
    guard = getattr(other.handler, "__dict__", {}).get("__kit_route__")
    if parameter is not None and guard is not None:
        read = guard.resolution.path_names
        if read is not None and parameter.name not in read:
            return False
    if parameter is None or (len(first) < index and parameter.expression is None):
        return False  # only an expression can match beyond its own segment
    return all(map(_may_match, first, segments))


def _may_match(one: str, other: str) -> bool:
    return one in (other, "*") or ":" in one or other == "*" or ":" in other


def _parameter(segment: str) -> Parameter | None:
    is_optional = segment.startswith(":") and segment.endswith("?")
    return parse_parameter(segment[:-1] if is_optional else segment)
