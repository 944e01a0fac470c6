# SPDX-License-Identifier: MIT
"""Converts the tree of patterns to states that can be matched in a single pass.

A state is the set of all tree nodes that the start of a path leads to. Its edges are ordered: if
the segments of one edge are a subset of another's, it comes first, and its state includes the state
of the other. So the first edge after which the whole rest of the path matches has all the handlers,
and no other edge has to be tried. (This is the subset construction for automata, on segments
instead of characters.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from kit.router.patterns import compile_expression

from ._segment_tree import Leaf, Node

# Patterns that overlap in many ways may require a state for each combination.
_MOST_STATES_FOR_A_PATTERN = 50
# Expressions in the same place require an edge for each combination.
_MOST_EXPRESSIONS = 4
# Each segment is a nested group in the regular expression.
_MOST_SEGMENTS = 50


class Edge(NamedTuple):
    """A condition on a segment, and the state after it.

    `text` is the regular expression for the segment. It has one group if it is `captured`, as the
    value of a parameter. `literal` is the segment itself if there is only one possible.
    """

    text: str
    literal: str | None
    captured: bool
    state: State


class State:
    """The state after the start of a path.

    Attributes:
        ends: The leaves for a path that ends here.
        rests: The leaves for a path that continues, but follows no edge; None if only a search can
            find the matches of a path that continues.
        edges: The edges that can follow, in the order to try.
        size: Number of groups in the regular expression of this state and those after it.
        fan_out: The largest number of literals to try in a row, here or in a later state.
    """

    __slots__ = ("edges", "ends", "fan_out", "rests", "size")

    def __init__(self, ends: list[Leaf], rests: list[Leaf] | None, edges: list[Edge]) -> None:
        self.ends = ends
        self.rests = rests
        self.edges = edges
        self.size = bool(ends) + (rests is None or bool(rests))
        literals = 0
        self.fan_out = 0
        for edge in edges:
            self.size += edge.captured + edge.state.size
            self.fan_out = max(self.fan_out, edge.state.fan_out)
            literals += edge.literal is not None
        self.fan_out = max(self.fan_out, literals)


class _Place(NamedTuple):
    """A node in a state; `by_any` if a `*` in the middle of a pattern led to it.

    After such a `*`, a `*` at the end can't be absent, as in Hono.
    """

    node: Node
    by_any: bool


class StateBuilder:
    """Builds the states of one tree.

    Args:
        root: The tree.
        count: Number of patterns in it; limits the number of states.
    """

    def __init__(self, root: Node, count: int) -> None:
        self.root = root
        self.left = _MOST_STATES_FOR_A_PATTERN * (count + 20)

    def build(self) -> State:
        """Returns the state at the start of a path; its `ends` aren't used."""
        return self._state([_Place(self.root, True)], [], 0)

    def _state(self, places: list[_Place], tails: list[Leaf], depth: int) -> State:
        """Returns the state for some nodes; `tails` are leaves that match any rest of the path."""
        self.left -= 1
        ends = list(tails)
        rests = list(tails)
        for node, by_any in places:
            rests += node.rests
            if not by_any:
                ends += node.leaves
                ends += node.rests
        following = _Following([node for node, _ in places])
        if self.left < 0 or depth > _MOST_SEGMENTS or not following.can_be_told:
            return State(ends, None, [])
        return State(ends, rests, self._edges(following, rests, depth + 1))

    def _edges(self, following: _Following, tails: list[Leaf], depth: int) -> list[Edge]:
        """Returns the edges of a state, the most specific first."""
        literals = [
            self._literal_edge(text, following, tails, depth) for text in following.literals
        ]
        return [
            *literals,
            *self._expression_edges(following, tails, depth),
            *self._other_edges(following, tails, depth),
            *(
                Edge(f"({text})", None, True, State([*tails, *leaves], [], []))
                for text, leaves in following.wide.items()
            ),
        ]

    def _literal_edge(
        self, text: str, following: _Following, tails: list[Leaf], depth: int
    ) -> Edge:
        valued = list(following.parameters) if text else []
        for expression, places in following.expressions.items():
            if compile_expression(expression, "", "").match(text):
                valued += places
        state = self._state(
            [*following.literals[text], *valued, *following.behind_any],
            [*tails, *following.leaves_by_prefix(text)],
            depth,
        )
        escaped = re.escape(text)
        return Edge(f"({escaped})" if valued else escaped, text, bool(valued), state)

    def _expression_edges(
        self, following: _Following, tails: list[Leaf], depth: int
    ) -> Iterator[Edge]:
        expressions = following.expressions
        others = [*following.parameters, *following.behind_any]
        for number in range(len(expressions), 0, -1):
            for chosen in combinations(expressions, number):
                first, *more = chosen
                guards = "".join(rf"(?=(?:{text})(?:/|\Z))" for text in more)
                places = [place for text in chosen for place in expressions[text]]
                # Unlike the others, an expression may match the empty segment.
                if others and compile_expression(first, "", "").match(""):
                    state = self._state([*places, *others], tails, depth)
                    yield Edge(f"(?=[^/]){guards}({first})", None, True, state)
                    state = self._state([*places, *following.behind_any], tails, depth)
                else:
                    state = self._state([*places, *others], tails, depth)
                yield Edge(f"{guards}({first})", None, True, state)

    def _other_edges(self, following: _Following, tails: list[Leaf], depth: int) -> Iterator[Edge]:
        others = [*following.parameters, *following.behind_any]
        text = "([^/]++)" if following.parameters else "[^/]++"
        captured = bool(following.parameters)
        for prefix in sorted(following.prefixes, key=len, reverse=True):
            more = [*tails, *following.leaves_by_prefix(prefix)]
            state = self._state(others, more, depth)
            yield Edge(f"(?={re.escape(prefix)}){text}", None, captured, state)
        if others:
            yield Edge(text, None, captured, self._state(others, tails, depth))


class _Following:
    """Everything that follows the nodes of a state, by what leads there."""

    def __init__(self, nodes: list[Node]) -> None:
        self.literals: dict[str, list[_Place]] = {}
        self.expressions: dict[str, list[_Place]] = {}
        self.prefixes: dict[str, list[Leaf]] = {}
        self.wide: dict[str, list[Leaf]] = {}
        self.parameters: list[_Place] = []
        self.behind_any: list[_Place] = []
        for at in nodes:
            for text, node in at.literals.items():
                self.literals.setdefault(text, []).append(_Place(node, False))
            for text, node in at.expressions.items():
                self.expressions.setdefault(text, []).append(_Place(node, False))
            for text, leaves in at.prefixes.items():
                self.prefixes.setdefault(text, []).extend(leaves)
            for text, leaves in at.wide.items():
                self.wide.setdefault(text, []).extend(leaves)
            if at.parameter is not None:
                self.parameters.append(_Place(at.parameter, False))
            if at.any is not None:
                self.behind_any.append(_Place(at.any, True))
        edges = (self.literals, self.expressions, self.prefixes, self.parameters)
        # Next to an expression that matches slashes, any number of segments may match.
        alone = len(self.wide) == 1 and not any(edges) and not self.behind_any
        self.can_be_told = (
            (alone or not self.wide)
            and len(self.expressions) <= _MOST_EXPRESSIONS
            and not (self.expressions and self.prefixes)
            and not any(at.untold for at in nodes)
        )
        if self.behind_any:
            # A `*` matches the empty segment as well, which nothing else but literals does.
            self.literals.setdefault("", [])

    def leaves_by_prefix(self, text: str) -> list[Leaf]:
        """Returns the leaves of patterns such as `/assets*` that match a segment."""
        return [
            leaf
            for prefix, leaves in self.prefixes.items()
            if text.startswith(prefix)
            for leaf in leaves
        ]
