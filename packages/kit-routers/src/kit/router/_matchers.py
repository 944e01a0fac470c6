# SPDX-License-Identifier: MIT
"""Turns states into regular expressions, with switches where one would be too large."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from kit.interface.patterns import FLAGS

from ._segment_tree import Leaf
from ._states import Edge, State

Handlers: TypeAlias = list[tuple[Any, dict[str, int]]]

# A match costs time for each group of its expression, and for each literal that is tried before the
# right one; from here on a dict is faster.
_MOST_GROUPS = 100
_MOST_LITERALS = 24
_ANY_SEGMENT = "[^/]*+"


class Group:
    """One regular expression, compiled when it is first needed.

    Attributes:
        match: As `re.Pattern.match`.
        handlers: What the last group that took part in a match stands for; None if a search has to
            tell.
        switch: 0, see `Switch`.
    """

    __slots__ = ("handlers", "match", "switch")

    def __init__(self, state: State) -> None:
        writer = _Writer()
        text = writer.write(state, ())
        self.handlers = writer.handlers
        self.switch = 0
        self.match: Callable[[str], re.Match[str] | None] = lambda path: self._compile(text)(path)

    def _compile(self, text: str) -> Callable[[str], re.Match[str] | None]:
        # Idempotent, so threads may do it at the same time; `re` keeps equal ones for us.
        self.match = match = re.compile(text, FLAGS).match
        return match


class Switch:
    """Picks a matcher by one segment of the path.

    Attributes:
        switch: The number of the segment, from 1.
        get: As `dict.get`, the matcher for a segment.
        rest: The matcher for all other segments, and for paths with fewer.
    """

    __slots__ = ("get", "rest", "switch")

    def __init__(self, switch: int, matchers: dict[str, Matcher], rest: Matcher) -> None:
        self.switch = switch
        self.get = matchers.get
        self.rest = rest


Matcher: TypeAlias = Group | Switch


def build_matcher(root: State) -> Matcher:
    """Returns the matcher for whole paths, given the state at their beginning."""
    return _build(root, [])


def _build(state: State, way: list[tuple[State, Edge]]) -> Matcher:
    """The matcher for a state, once it is known which edges led to it."""
    if state.size <= _MOST_GROUPS and state.fan_out <= _MOST_LITERALS:
        return Group(_restricted(state, way))
    literal = [edge for edge in state.edges if edge.literal is not None]
    others = [edge for edge in state.edges if edge.literal is None]
    if len(state.edges) == 1:
        # Nothing to pick: the next segment may tell.
        edge = state.edges[0]
        return _build(edge.state, [*way, (state, edge)])
    if not literal:
        return Group(_restricted(state, way))
    matchers: dict[str, Matcher] = {}
    for edge in literal:
        # The switch has seen the segment, so the expression need not spell it: routes of the
        # same shape have the same expression, and it is compiled once.
        text = f"({_ANY_SEGMENT})" if edge.captured else _ANY_SEGMENT
        matchers[str(edge.literal)] = _build(edge.state, [*way, (state, edge._replace(text=text))])
    rest = State(state.ends, state.rests, others)
    return Switch(len(way) + 1, matchers, _build(rest, way))


def _restricted(state: State, way: list[tuple[State, Edge]]) -> State:
    """The state at the beginning of a path, with those edges alone that lead to the given one."""
    for before, edge in reversed(way):
        state = State(before.ends, before.rests, [edge._replace(state=state)])
    return state


class _Writer:
    """Writes the regular expression of a state.

    Each alternative ends with an empty group, whose number is then `lastindex` of the match: it
    tells in one step which handlers are meant. The values of parameters are in groups as well, so
    the match itself is the stash.
    """

    def __init__(self) -> None:
        self.handlers: list[Handlers | None] = [None]

    def write(self, state: State, groups: tuple[int, ...]) -> str:
        """Writes what can follow; `groups` has the group of each segment so far, 0 if none."""
        alternatives = []
        if state.edges:
            edges = [self._write_edge(edge, groups) for edge in state.edges]
            alternatives.append("/" + _alternation(edges))
        if groups and state.ends and state.rests and _same(state.ends, state.rests):
            alternatives.append(r"(?:/|\Z)" + self._mark(state.ends, groups))
        else:
            if groups and state.ends:
                alternatives.append(r"\Z" + self._mark(state.ends, groups))
            if groups and state.rests:
                alternatives.append("/" + self._mark(state.rests, groups))
            if state.rests is None:
                self.handlers.append(None)
                alternatives.append("/()")
        return _alternation(alternatives)

    def _write_edge(self, edge: Edge, groups: tuple[int, ...]) -> str:
        group = 0
        if edge.captured:
            group = len(self.handlers)
            self.handlers.append(None)
        return edge.text + self.write(edge.state, (*groups, group))

    def _mark(self, leaves: list[Leaf], groups: tuple[int, ...]) -> str:
        self.handlers.append(
            [
                (leaf.handler, {name: groups[step] for name, step in leaf.params.items()})
                for leaf in sorted(leaves, key=_order)
            ]
        )
        return "()"


def _alternation(alternatives: list[str]) -> str:
    if not alternatives:
        return "(?!)"
    return alternatives[0] if len(alternatives) == 1 else f"(?:{'|'.join(alternatives)})"


def _order(leaf: Leaf) -> int:
    return leaf.order


def _same(some: list[Leaf], others: list[Leaf]) -> bool:
    return len(some) == len(others) and {*map(_order, some)} == {*map(_order, others)}
