# SPDX-License-Identifier: MIT
"""Matches paths with patterns outside of an app's routes, by the app's default router."""

from __future__ import annotations

from collections.abc import Callable

from kit.interface import METHOD_NAME_ALL, UnsupportedPathError

from .patterns import check_syntax, literal_in_paths, split_pattern
from .smart_router import default_router


def path_matcher(*patterns: str) -> Callable[[str], bool]:
    """Returns a function that checks whether a path matches any of the given route patterns.

    Use it for code that has to recognize paths but doesn't handle requests, such as a list of
    exceptions. It matches like a route of an app with its default router.

    Args:
        *patterns: Route patterns, e.g. `/public/*` or `/users/:id{[0-9]+}`. A missing leading slash
            is added.

    Returns:
        A function that takes a routing path, `c.req.path`.

    Raises:
        UnsupportedPathError: If a pattern is invalid, in the syntax of another framework, or can't
            match any path.
    """
    router = default_router()
    for pattern in patterns:
        for each in _routable(pattern):
            router.add(METHOD_NAME_ALL, each, True)

    def matches(path: str) -> bool:
        return bool(router.match(METHOD_NAME_ALL, path)[0])

    return matches


def _routable(pattern: str) -> list[str]:
    """Returns the patterns that a router gets for a pattern, as an app does for a route."""
    if not pattern:
        raise UnsupportedPathError(pattern, "it is empty; the root is '/'")
    check_syntax(pattern)
    segments = [
        each if each.startswith(":") else literal_in_paths(pattern, each)
        for each in split_pattern(pattern)
    ]
    routable = "/" + "/".join(segments)
    if split_pattern(routable) != segments:
        reason = "a literal { and the next literal } have to be in one segment"
        raise UnsupportedPathError(pattern, reason)
    return _without_optional_inside(segments)


def _without_optional_inside(segments: list[str]) -> list[str]:
    """Expands optional parameters before the end, which routers don't."""
    end = len(segments)
    while end and _is_optional(segments[end - 1]):
        end -= 1
    for place in range(end):
        if _is_optional(segments[place]):
            before, after = segments[:place], segments[place + 1 :]
            return [
                each
                for chosen in ([], [segments[place][:-1]])
                for each in _without_optional_inside([*before, *chosen, *after])
            ]
    return ["/" + "/".join(segments)]


def _is_optional(segment: str) -> bool:
    return segment.startswith(":") and segment.endswith("?")
