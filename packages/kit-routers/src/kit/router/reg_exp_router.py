# SPDX-License-Identifier: MIT
"""RegExpRouter: a dict for literal paths, and a few regular expressions for all others.

The reasons for this design, in terms of CPython:

- A path that is registered literally costs one dict lookup. Its handlers, including wildcards and
  parameters of other routes, are found once, by TrieRouter.
- For other paths, the routes of a method become alternatives of one expression. `re` runs in C, so
  a match costs less than walking the segments in Python; the match object contains the values of
  the parameters, and its `lastindex` identifies the alternative, so nothing is built or searched.
- `re` tries alternatives one by one, and each group of an expression costs time, matched or not. So
  one expression has at most about 100 groups, and where more than 24 literals would be tried in a
  row, a dict picks the expression by that segment: time hardly grows with the number of routes.
  Expressions are compiled at first use.
- Routes that overlap (`/users/me/:tab` and `/users/:id/posts`) are split so that the first matching
  alternative has the handlers of all of them, in registration order. Where that is impossible, next
  to an expression that may match slashes, such paths are looked up in TrieRouter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from kit import interface  # its errors are imported when they are raised
from kit.interface import METHOD_NAME_ALL, is_cacheable

from .trie_router import TrieRouter, is_plain

if TYPE_CHECKING:
    from kit.interface import Params, Result

    from ._matchers import Matcher
    from ._segment_tree import Step

__all__ = ("RegExpRouter",)

T = TypeVar("T")

# The results of literal paths; the matcher for all other paths; and the result if nothing matches.
# PERF: a plain tuple is unpacked faster than a named one.
_Table: TypeAlias = "tuple[dict[str, Result[T]], Matcher, Result[T]]"


class _Route:
    """A route as added.

    `variants` are its patterns without optional parameters, and their steps; None if all of them
    are certainly literals.
    """

    __slots__ = ("handler", "method", "path", "variants")

    def __init__(
        self, method: str, path: str, handler: Any, variants: list[tuple[str, list[Step] | None]]
    ) -> None:
        self.method = method
        self.path = path
        self.handler = handler
        self.variants = variants


class RegExpRouter(Generic[T]):
    """Matches paths with regular expressions.

    Accepts every pattern whose expressions have no capturing groups, back-references or flags; a
    group around the whole expression, as in `{(a|b)}`, is accepted.
    """

    name = "RegExpRouter"
    cacheable = True

    def __init__(self) -> None:
        self._routes: list[_Route] = []
        # By method, built at first use.
        self._tables: dict[str, _Table[T]] = {}
        # Finds the results of literal paths, and of paths that the expressions can't decide.
        self._trie: TrieRouter[T] = TrieRouter()
        self._methods: frozenset[str] = frozenset()
        self._closed = False

    def add(self, method: str, path: str, handler: T) -> None:
        """Adds a route; see `kit.interface.Router.add`.

        Raises:
            UnsupportedPathError: Also if an expression can't be part of a larger expression.
            RouterClosedError: If `match` has been called.
        """
        if self._closed:
            raise interface.RouterClosedError(method, path)
        self._routes.append(_Route(method, path, handler, _variants(method, path)))

    def match(self, method: str, path: str) -> Result[T]:
        """Finds the handlers for a request; see `kit.interface.Router.match`.

        Returns:
            Indexes with the match object as their stash, or the parameters themselves.
        """
        if not self._closed:
            trie: TrieRouter[T] = TrieRouter()
            for route in self._routes:
                texts = [text for text, _ in route.variants]
                trie.add_variants(route.method, route.path, texts, route.handler)
            self._trie = trie
            self._methods = frozenset(route.method for route in self._routes)
            self._closed = True
        # PERF: a closure over the tables needs no lookups on the instance.
        match: Any = self._make_match()
        found: Result[T] = match(method, path)
        if is_cacheable(self):
            # Of this `match` as well. A subclass may have a property of this name.
            vars(self)["cacheable"] = True
        self.match = match  # type: ignore[method-assign]
        return found

    def _make_match(self) -> Callable[[str, str], Result[T]]:
        tables = self._tables
        prepare = self._prepare
        search = self._trie.search

        def match(method: str, path: str) -> Any:
            matcher: Any  # a Switch while its `switch` is not 0, then a Group
            literals, matcher, missed = tables.get(method) or prepare(method)
            result = literals.get(path)
            if result is not None:
                return result
            switch = matcher.switch
            while switch:
                try:
                    matcher = matcher.get(path.split("/", switch + 1)[switch], matcher.rest)
                except IndexError:
                    matcher = matcher.rest
                switch = matcher.switch
            found = matcher.match(path)
            if found is not None:
                handlers = matcher.handlers[found.lastindex]
                return (handlers, found) if handlers is not None else search(method, path)
            if path.startswith("/"):
                return missed
            # A routing path starts with a slash; any other path is matched as if it did.
            return match(method, "/" + path)

        return match

    def _prepare(self, method: str) -> _Table[T]:
        """Builds the table of a method; methods without routes share that of `ALL`."""
        if method not in self._methods:
            method = METHOD_NAME_ALL
        table = self._tables.get(method)
        if table is None:
            literals: dict[str, Result[T]] = {}
            others: list[tuple[int, list[Step], T]] = []
            for order, route in enumerate(self._routes):
                if route.method not in (method, METHOD_NAME_ALL):
                    continue
                for variant, steps in route.variants:
                    path = _literal(variant, steps)
                    if path is not None:
                        literals[path] = self._trie.search(method, path)
                    elif steps is not None:
                        others.append((order, steps, route.handler))
            matcher, missed = self._build(others)
            table = self._tables[method] = (literals, matcher, (missed,))
        return table

    def _build(self, routes: list[tuple[int, list[Step], T]]) -> tuple[Any, list[tuple[T, Params]]]:
        """Returns the matcher for routes that aren't literal, and what other paths match."""
        if not routes:
            return _Nothing(), []
        from ._matchers import build_matcher
        from ._segment_tree import Node, insert
        from ._states import StateBuilder

        tree = Node()
        for order, steps, handler in routes:
            insert(tree, steps, order, handler)
        builder = StateBuilder(tree, len(routes))
        state = builder.build()
        return build_matcher(state), [(leaf.handler, {}) for leaf in state.rests or ()]


# PERF: what follows needs the parser of patterns, expressions and states only for routes that
# aren't literal; importing these takes a tenth of the time up to the first app.
def _variants(method: str, path: str) -> list[tuple[str, list[Step] | None]]:
    """Returns the patterns of a route without optional parameters, and their steps."""
    if is_plain(path):
        return [(path, None)]
    from kit.router.patterns import expand_optional

    from ._segment_tree import read_steps

    return [
        (variant, read_steps(method, path, variant)) for variant in expand_optional(path, method)
    ]


def _literal(variant: str, steps: list[Step] | None) -> str | None:
    """Returns the only path that a pattern matches; None if there may be several."""
    if steps is None:
        return "/" + variant.removeprefix("/")
    from ._segment_tree import Kind

    if all(step.kind is Kind.LITERAL for step in steps):
        return "/" + "/".join(step.text for step in steps)
    return None


class _Nothing:
    """The matcher of a method with only literal routes; see `_matchers.Group`."""

    switch = 0

    @staticmethod
    def match(path: str) -> None:
        """Matches no path."""
