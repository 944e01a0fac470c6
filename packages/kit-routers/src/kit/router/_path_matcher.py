# SPDX-License-Identifier: MIT
"""Matches paths with patterns outside of an app's routes, by the app's default router."""

from __future__ import annotations

from collections.abc import Callable

from kit.http.paths import merge_path
from kit.interface import METHOD_NAME_ALL, UnsupportedPathError

from .route_patterns import check_literals, check_syntax, for_router, forms
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
        if not pattern:
            raise UnsupportedPathError(pattern, "it is empty; the root is '/'")
        check_syntax(pattern)
        check_literals(pattern)
        for _, form in forms("/", pattern):
            router.add(METHOD_NAME_ALL, for_router(merge_path("/", form)), True)

    def matches(path: str) -> bool:
        return bool(router.match(METHOD_NAME_ALL, path)[0])

    return matches
