# SPDX-License-Identifier: MIT
"""Turns the tree of patterns into states that a single walk can follow.

A state is the set of all tree nodes that some beginning of a path leads to. Its edges are ordered:
where an edge takes some of the segments that another takes, it stands before that, and its state
has all that the other's has. So the first edge behind which the whole rest of the path fits has all
the handlers, and no other need be looked at. (It is the subset construction for automata, on
segments in place of characters.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from kit.interface.patterns import compile_expression

from ._segment_tree import Leaf, Node

# Patterns that overlap in many ways can need a state for each set of them.
_MOST_STATES_FOR_A_PATTERN = 50
# Expressions in one place are told apart by all their combinations.
_MOST_EXPRESSIONS = 4
# Each segment is a nested group in the regular expression.
_MOST_SEGMENTS = 50


class Edge(NamedTuple):
    """What a segment has to be, and the state behind it.

    `text` is the regular expression for the segment, with one group if it is `captured`, which
    it is when a parameter takes it as its value; `literal` is the segment itself if it is just one.
    """

    text: str
    literal: str | None
    captured: bool
    state: State


class State:
    """Where a beginning of a path leads.

    Attributes:
        ends: The leaves for a path that ends here.
        rests: The leaves for a path that goes on, and that no edge takes; None if only a search can
            tell what a path that goes on matches.
        edges: What can follow, in the order to try.
        size: How many groups a regular expression for the state and those behind it has.
        fan_out: The most literals that follow one another here or behind.
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

    Behind such a `*` another one at the end can't be absent, as in Hono.
    """

    node: Node
    by_any: bool


class StateBuilder:
    """Makes the states of one tree.

    Args:
        root: The tree.
        count: How many patterns it has; bounds the number of states.
        any_takes_empty: Whether a `*` in the middle takes an empty segment.
    """

    def __init__(self, root: Node, count: int, *, any_takes_empty: bool) -> None:
        self.root = root
        self.any_takes_empty = any_takes_empty
        self.left = _MOST_STATES_FOR_A_PATTERN * (count + 20)

    def build(self) -> State:
        """Returns the state at the beginning of a path; its `ends` do not count."""
        return self._state([_Place(self.root, True)], [], 0)

    def _state(self, places: list[_Place], tails: list[Leaf], depth: int) -> State:
        """The state for some nodes, behind patterns that take every rest of the path."""
        self.left -= 1
        ends = list(tails)
        rests = list(tails)
        for node, by_any in places:
            rests += node.rests
            if not by_any:
                ends += node.leaves
                ends += node.rests
        following = _Following([node for node, _ in places], any_takes_empty=self.any_takes_empty)
        if self.left < 0 or depth > _MOST_SEGMENTS or not following.can_be_told:
            return State(ends, None, [])
        return State(ends, rests, self._edges(following, rests, depth + 1))

    def _edges(self, following: _Following, tails: list[Leaf], depth: int) -> list[Edge]:
        """The edges of a state, the most particular first."""
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
        behind_any = following.behind_any if text else following.behind_any_empty
        for expression, places in following.expressions.items():
            if compile_expression(expression, "", "").match(text):
                valued += places
        state = self._state(
            [*following.literals[text], *valued, *behind_any],
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
                # An expression may take the empty segment, which others do not.
                if others and compile_expression(first, "", "").match(""):
                    state = self._state([*places, *others], tails, depth)
                    yield Edge(f"(?=[^/]){guards}({first})", None, True, state)
                    state = self._state([*places, *following.behind_any_empty], tails, depth)
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
    """All that the nodes of a state have behind them, by what leads there."""

    def __init__(self, nodes: list[Node], *, any_takes_empty: bool) -> None:
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
        # Beside an expression that takes slashes, any number of segments is in question.
        alone = len(self.wide) == 1 and not any(edges) and not self.behind_any
        self.can_be_told = (
            (alone or not self.wide)
            and len(self.expressions) <= _MOST_EXPRESSIONS
            and not (self.expressions and self.prefixes)
            and not any(at.untold for at in nodes)
        )
        self.behind_any_empty = self.behind_any if any_takes_empty else []
        if self.behind_any_empty:
            self.literals.setdefault("", [])

    def leaves_by_prefix(self, text: str) -> list[Leaf]:
        """The leaves of the patterns such as `/assets*` that take a segment."""
        return [
            leaf
            for prefix, leaves in self.prefixes.items()
            if text.startswith(prefix)
            for leaf in leaves
        ]
