# SPDX-License-Identifier: MIT
"""Keeps what to run for the paths that are requested often."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

Plan: TypeAlias = "tuple[Any, Any, Any, int]"
"""What to run for a request: the result of the router, the only handler, and the chain of several.

The handler or the chain is None, or both: a single handler that takes no `next` is called without a
chain, see `kit.compose.chain_for`. The int is the index of the last handler in the chain. PERF: a
plain tuple is unpacked faster than a named one.
"""

_COMMON_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
# Of each method. A path and its plan take about 500 bytes and the length of the path; with another
# router than RegExpRouter, 100 more for each middleware.
_MOST_PATHS = 512
# However many routes there are.
_MOST_PATHS_OF_MANY_ROUTES = 4096
_LONGEST_PATH = 256
# PERF: keeping a plan takes about as long as finding it, so only one of so many is kept. Paths that
# are requested often are soon among those, while few other paths are.
_SEARCHES_PER_PLAN = 32


class Plans:
    """The plans of an app.

    Attributes:
        by_method: The plans that are kept, by method and path. It has only the methods whose plans
            may be kept: none before the first match, and none if the router isn't cacheable.
        until_next: How many more plans to find until one is kept. Whoever finds one counts down.
    """

    __slots__ = ("_most", "by_method", "until_next")

    def __init__(self) -> None:
        self.by_method: dict[str, dict[str, Plan]] = {}
        self.until_next = _SEARCHES_PER_PLAN
        self._most = _MOST_PATHS

    def begin(self, methods: Iterable[str], routes: int) -> None:
        """Lets plans be kept.

        Args:
            methods: The methods of the routes. Clients can send any others; those aren't kept.
            routes: How many there are.
        """
        self.by_method = {method: {} for method in (*_COMMON_METHODS, *methods)}
        self._most = max(_MOST_PATHS, min(2 * routes, _MOST_PATHS_OF_MANY_ROUTES))

    def keep(self, method: str, path: str, plan: Plan) -> None:
        """Keeps a plan. If there are too many, drops those of the other paths."""
        self.until_next = _SEARCHES_PER_PLAN
        plans = self.by_method.get(method)
        if plans is None or len(path) > _LONGEST_PATH:
            return
        if len(plans) >= self._most:
            # Replaced, not cleared, since other threads may be looking up paths in it.
            plans = self.by_method[method] = {}
        plans[path] = plan
