# SPDX-License-Identifier: MIT
"""TrieRouter: accepts every pattern, and defines the correct matches for all routers.

The routes are stored as a tree of segments. A search follows every branch that matches, level by
level, so it takes a few steps for each segment of the path, whatever the number of routes. The most
frequent paths, those registered without any parameter or wildcard, are looked up in a dict: their
result can't change once the routes are fixed, so it is searched once per method.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from kit import interface  # its errors are imported when they are raised
from kit.interface import METHOD_NAME_ALL

if TYPE_CHECKING:
    import re

    from kit.interface import Params
    from kit.router.patterns import PathExpression

__all__ = ("TrieRouter",)

T = TypeVar("T")
_Found: TypeAlias = "tuple[list[tuple[T, Params]]]"
_NO_PARAMS: Params = {}
# A literal or `*`; a parameter's text and branch; or all that follows.
_Step: TypeAlias = "str | tuple[str, _Branch] | PathExpression"


def is_plain(pattern: str) -> bool:
    """Returns whether every segment of a pattern is certainly a literal, which needs no parser."""
    return not (":" in pattern or "*" in pattern or "{" in pattern)


# PERF: the classes of a tree have no type parameter, which takes longer to create than the rest
# of a small class.
class _Leaf:
    """A handler at the node where its pattern ends."""

    __slots__ = ("handler", "method", "order")

    def __init__(self, order: int, method: str, handler: Any) -> None:
        self.order = order
        self.method = method
        self.handler = handler


class _Branch:
    """The edge for `:name` or `:name{regex}`.

    `expression` is None for any segment but the empty one. If it may match slashes (`is_wide`), its
    pattern ends here and it has to match the rest of the path, otherwise it has to match a segment.
    """

    __slots__ = ("expression", "is_wide", "name", "node")

    def __init__(
        self, name: str, expression: re.Pattern[str] | None = None, *, is_wide: bool = False
    ) -> None:
        self.name = name
        self.expression = expression
        self.is_wide = is_wide
        self.node: _Node = _Node()


class _Node:
    """The edges that can follow a segment, and the handlers of the patterns that end with it.

    `star` is the node of a segment `*`, `prefixes` those of a last segment such as `assets*`,
    which matches every rest of a path that begins with `assets`. `ends` are those of patterns that
    continue with an expression that may match slashes, and more behind it.
    """

    __slots__ = ("branches", "children", "ends", "leaves", "prefixes", "star")

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self.branches: dict[str, _Branch] = {}
        self.star: _Node | None = None
        self.prefixes: dict[str, _Node] = {}
        self.ends: list[tuple[PathExpression, _Node]] = []
        self.leaves: list[_Leaf] = []


class TrieRouter(Generic[T]):
    """A tree of path segments. Supports every valid route pattern."""

    name = "TrieRouter"
    cacheable = True

    def __init__(self) -> None:
        self._root: _Node = _Node()
        self._count = 0
        self._methods = {METHOD_NAME_ALL}
        # For each path registered as a literal: results by method, each filled at first use.
        self._literal: dict[str, dict[str, _Found[T]]] = {}
        self._closed = False

    def add(self, method: str, path: str, handler: T) -> None:
        """Adds a route; see `kit.interface.Router.add`."""
        if self._closed:
            raise interface.RouterClosedError(method, path)
        if is_plain(path):
            variants = [path]
        else:
            from kit.router.patterns import expand_optional

            variants = expand_optional(path, method)
        self.add_variants(method, path, variants, handler)

    def add_variants(self, method: str, path: str, variants: list[str], handler: T) -> None:
        """Adds a route like `add`, with its optional parameters already expanded."""
        # Steps that can fail run before the tree is changed, so a rejected route has no effect.
        parsed_variants = [self._parse(method, path, variant) for variant in variants]
        self._methods.add(method)
        for variant, parsed in parsed_variants:
            self._count += 1
            if all(isinstance(step, str) for step in parsed) and not variant.endswith("*"):
                self._literal.setdefault(variant, {})
            self._insert(parsed).leaves.append(_Leaf(self._count, method, handler))

    def match(self, method: str, path: str) -> _Found[T]:
        """Finds the handlers for a request; see `kit.interface.Router.match`."""
        results = self._literal.get(path)
        if results is None:
            return self.search(method, path)
        found = results.get(method)
        if found is None:
            found = self.search(method, path)
            # Results for unknown methods aren't stored, which limits their number.
            if method in self._methods:
                results[method] = found
        return found

    def _parse(self, method: str, pattern: str, path: str) -> tuple[str, list[_Step]]:
        """Returns the pattern and its steps."""
        if is_plain(path):
            return path, [*path.removeprefix("/").split("/")]
        from kit.router.patterns import (
            PathExpression,
            compile_expression,
            first_stretch,
            parse_segment,
            split_pattern,
            traits,
        )

        segments = [parse_segment(text) for text in split_pattern(path)]
        stretch = first_stretch(segments)
        steps: list[_Step] = []
        for segment in segments[:stretch]:
            if segment.name is None:
                steps.append(segment.text)
            elif segment.expression is None:
                steps.append((segment.text, _Branch(segment.name)))
            else:
                expression = compile_expression(segment.expression, pattern, method)
                is_wide = traits(segment.expression).takes_slash
                branch = _Branch(segment.name, expression, is_wide=is_wide)
                steps.append((segment.text, branch))
        if stretch is not None:
            steps.append(PathExpression(pattern, segments[stretch:], method))
        return path, steps

    def _insert(self, steps: list[_Step]) -> _Node:
        node = self._root
        last = len(steps) - 1
        for index, step in enumerate(steps):
            if step == "*":
                if node.star is None:
                    node.star = _Node()
                node = node.star
            elif isinstance(step, str) and step.endswith("*") and index == last:
                node = node.prefixes.setdefault(step[:-1], _Node())
            elif isinstance(step, str):
                node = node.children.setdefault(step, _Node())
            elif isinstance(step, tuple):
                key, branch = step
                node = node.branches.setdefault(key, branch).node
            else:
                end = _Node()
                node.ends.append((step, end))
                node = end
        return node

    def search(self, method: str, path: str) -> _Found[T]:
        """Finds the handlers like `match`, but doesn't store the result."""
        self._closed = True
        found = _Search(self._root, method, path).run()
        if len(found) > 1:
            found.sort(key=_order)
        return ([(leaf.handler, params) for leaf, params in found],)


def _order(found: tuple[_Leaf, Params]) -> int:
    return found[0].order


class _Search:
    """One walk through the tree, for one method and path."""

    __slots__ = (
        "following",
        "found",
        "index",
        "last",
        "method",
        "offset",
        "path",
        "root",
    )

    def __init__(self, root: _Node, method: str, path: str) -> None:
        self.root = root
        self.method = method
        # A path without a leading slash is read as if it had one.
        self.path = path if path.startswith("/") else "/" + path
        self.found: list[tuple[_Leaf, Params]] = []
        # Nodes to visit for the next segment, each with the parameters found on the way to it.
        self.following: list[tuple[_Node, Params]] = []

    def run(self) -> list[tuple[_Leaf, Params]]:
        """Returns all leaves whose pattern matches, in no particular order."""
        self.offset = 1
        segments = self.path[1:].split("/")
        self.last = len(segments) - 1
        level: list[tuple[_Node, Params]] = [(self.root, _NO_PARAMS)]
        for self.index, segment in enumerate(segments):
            self.following = []
            for node, params in level:
                self._visit(node, segment, params)
            level = self.following
            if not level:
                break
            self.offset += len(segment) + 1
        return self.found

    def _visit(self, node: _Node, segment: str, params: Params) -> None:
        """Follows every edge of a node that matches the path from this segment on."""
        child = node.children.get(segment)
        if child is not None:
            self._enter(child, params)
        if node.star is not None:
            self._collect(node.star, params)
            self.following.append((node.star, params))
        for prefix, child in node.prefixes.items():
            if self.path.startswith(prefix, self.offset):
                self._collect(child, params)
        for branch in node.branches.values():
            self._follow(branch, segment, params)
        for expression, child in node.ends:
            more = expression.read(self.path, self.offset - 1)
            if more is not None:
                self._collect(child, {**params, **more, **params})

    def _follow(self, branch: _Branch, segment: str, params: Params) -> None:
        """Follows the branch of a parameter, if the path matches it."""
        if branch.is_wide:
            value = self.path[self.offset :]
            if branch.expression is not None and branch.expression.match(value):
                self._collect(branch.node, _with(params, branch.name, value))
        elif branch.expression.match(segment) if branch.expression is not None else segment:
            self._enter(branch.node, _with(params, branch.name, segment))

    def _enter(self, node: _Node, params: Params) -> None:
        """Continues at a node that matched the segment."""
        if self.index < self.last:
            self.following.append((node, params))
            return
        self._collect(node, params)
        # A wildcard also matches if the last segment is absent: `/a/*` matches `/a`.
        if node.star is not None:
            self._collect(node.star, params)

    def _collect(self, node: _Node, params: Params) -> None:
        for leaf in node.leaves:
            if leaf.method in (self.method, METHOD_NAME_ALL):
                self.found.append((leaf, params))


def _with(params: Params, name: str, value: str) -> Params:
    """Returns the parameters with one more; the first of several with the same name wins."""
    return params if name in params else {**params, name: value}
