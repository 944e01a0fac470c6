# SPDX-License-Identifier: MIT
"""The prefix of an app that `base_path` returned."""

from __future__ import annotations

import re

from kit.http.paths import merge_path
from kit.router import TrieRouter
from kit.router.patterns import expand_optional, split_pattern
from kit.router.route_patterns import for_router, forms


class Prefix:
    """Matches the paths that lie below a prefix.

    Args:
        pattern: The prefix, e.g. `/api/:tenant`.

    Attributes:
        depth: The number of segments; `/` has none.

    Raises:
        UnsupportedPathError: If routes can't be registered below it.
    """

    __slots__ = ("_router", "depth")

    def __init__(self, pattern: str) -> None:
        self.depth = sum(map(bool, split_pattern(pattern)))
        self._router: TrieRouter[bool] = TrieRouter()
        for _, form in forms("/", pattern):
            for each in expand_optional(form):
                self._router.add("ALL", for_router(merge_path(each, "*")), True)

    def covers(self, path: str) -> bool:
        """Returns whether a routing path is the prefix or lies below it."""
        return bool(self._router.match("ALL", path)[0])


def same_paths(one: str, other: str) -> bool:
    """Returns whether two prefixes differ at most in the names of their parameters."""
    return _unnamed(one) == _unnamed(other)


def _unnamed(pattern: str) -> list[str]:
    segments = [each for each in split_pattern(pattern) if each]
    return [re.sub(r"\A:[^{?]+", ":", each) for each in segments]
