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

__all__ = ("TrieRouter",)

T = TypeVar("T")
_Found: TypeAlias = "tuple[list[tuple[T, Params]]]"
_NO_PARAMS: Params = {}


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

    One segment must match `segment` (None: anything but the empty one), or the start of the
    remaining path `rest`; both are None for a parameter without expression.
    """

    __slots__ = ("name", "node", "rest", "segment")

    def __init__(
        self, name: str, segment: re.Pattern[str] | None, rest: re.Pattern[str] | None
    ) -> None:
        self.name = name
        self.segment = segment
        self.rest = rest
        self.node: _Node = _Node()


class _Node:
    """The edges that can follow a segment, and the handlers of the patterns that end with it.

    `star` is the node of a segment `*`, `prefixes` those of a last segment such as `assets*`,
    which matches every rest of a path that begins with `assets`.
    """

    __slots__ = ("branches", "children", "leaves", "prefixes", "star")

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self.branches: dict[tuple[str, str], _Branch] = {}
        self.star: _Node | None = None
        self.prefixes: dict[str, _Node] = {}
        self.leaves: list[_Leaf] = []

    def has_more(self) -> bool:
        """Returns whether any pattern continues from here."""
        return bool(self.children or self.branches or self.star or self.prefixes)


class TrieRouter(Generic[T]):
    """A tree of path segments. Supports every valid route pattern."""

    name = "TrieRouter"
    is_pure = True

    def __init__(self) -> None:
        self._root: _Node = _Node()
        self._count = 0
        self._methods = {METHOD_NAME_ALL}
        # For each path registered as a literal: results by method, each filled at first use.
        self._literal: dict[str, dict[str, _Found[T]]] = {}
        self._closed = False

    def add(self, method: str, path: str, handler: T) -> None:
        """Adds a route; see `kit.interface.Router.add`.

        Args:
            method: Upper-case method, or `ALL`.
            path: Route pattern.
            handler: The object for `match` to return.

        Raises:
            UnsupportedPathError: If an expression in braces is invalid.
            RouterClosedError: If `match` has been called.
        """
        if self._closed:
            raise interface.RouterClosedError(method, path)
        if is_plain(path):
            variants = [path]
        else:
            from kit.interface.patterns import expand_optional

            variants = expand_optional(path)
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
        """Finds the handlers for a request; see `kit.interface.Router.match`.

        Args:
            method: Method of the request.
            path: Routing path.

        Returns:
            `([(handler, params), ...],)` in registration order.
        """
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

    def _parse(
        self, method: str, pattern: str, path: str
    ) -> tuple[str, list[str | tuple[tuple[str, str], Any]]]:
        """Returns the pattern and its steps: a literal, `*`, or a parameter's key and branch."""
        if is_plain(path):
            return path, [*path.removeprefix("/").split("/")]
        import re

        from kit.interface.patterns import compile_expression, parse_parameter, split_pattern

        segments = split_pattern(path)
        steps: list[str | tuple[tuple[str, str], Any]] = []
        for index, segment in enumerate(segments):
            parameter = parse_parameter(segment)
            if parameter is None:
                steps.append(segment)
                continue
            name, expression = parameter
            if expression is None:
                steps.append(((segment, ""), _Branch(name, None, None)))
                continue
            # An expression may match slashes, so it is tried on the rest of the path. It has to end
            # where a following literal starts, or else at the end of the path.
            following = segments[index + 1] if index + 1 < len(segments) else ""
            if index + 2 == len(segments):
                following = following.removesuffix("*")
            literal = "" if following.startswith((":", "*")) else following
            then = f"(?=/{re.escape(literal)})" if literal else ""
            whole = compile_expression(expression, pattern, method)
            rest = compile_expression(expression, pattern, method, then) if then else whole
            steps.append(((segment, literal), _Branch(name, None if then else whole, rest)))
        return path, steps

    def _insert(self, steps: list[str | tuple[tuple[str, str], Any]]) -> _Node:
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
            else:
                key, branch = step
                node = node.branches.setdefault(key, branch).node
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
        "waiting",
    )

    def __init__(self, root: _Node, method: str, path: str) -> None:
        self.root = root
        self.method = method
        self.path = path
        self.found: list[tuple[_Leaf, Params]] = []
        # Nodes to visit for the next segment, each with the parameters found on the way to it.
        self.following: list[tuple[_Node, Params]] = []
        # By segment number: nodes after an expression that matched slashes, to visit then.
        self.waiting: dict[int, list[tuple[_Node, Params]]] = {}

    def run(self) -> list[tuple[_Leaf, Params]]:
        """Returns all leaves whose pattern matches, in no particular order."""
        self.offset = 1 if self.path.startswith("/") else 0
        segments = self.path[self.offset :].split("/")
        self.last = len(segments) - 1
        level: list[tuple[_Node, Params]] = [(self.root, _NO_PARAMS)]
        for self.index, segment in enumerate(segments):
            self.following = []
            for node, params in level:
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
            level = self.following
            if self.waiting:
                level += self.waiting.pop(self.index + 1, ())
            elif not level:
                break
            self.offset += len(segment) + 1
        return self.found

    def _follow(self, branch: _Branch, segment: str, params: Params) -> None:
        """Follows the branch of a parameter, if the path matches it."""
        if branch.rest is None:
            if segment:
                self._enter(branch.node, _with(params, branch.name, segment))
            return
        match = branch.rest.match(self.path, self.offset)
        if match is None:
            if branch.segment is not None and branch.segment.match(segment):
                self._enter(branch.node, _with(params, branch.name, segment))
            return
        node = branch.node
        params = _with(params, branch.name, match[0])
        self._collect(node, params)
        if node.star is not None and match.end() == len(self.path):
            self._collect(node.star, params)
        if node.has_more():
            at = self.index + 1 + match[0].count("/")
            self.waiting.setdefault(at, []).append((node, params))

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
