# SPDX-License-Identifier: MIT
"""Turns states into regular expressions, with switches where one would be too large."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from kit.router.patterns import FLAGS

from ._segment_tree import Leaf
from ._states import Edge, State

Handlers: TypeAlias = list[tuple[Any, dict[str, int]]]

# The time of a match depends on the number of groups in the expression, and on the number of
# literals tried before the right one; beyond these numbers a dict is faster.
_MOST_GROUPS = 100
_MOST_LITERALS = 24
_ANY_SEGMENT = "[^/]*+"


class Group:
    """One regular expression, compiled at first use.

    Attributes:
        match: Like `re.Pattern.match`.
        handlers: The handlers for each `lastindex` of a match; None if only a search can find them.
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
        # Idempotent, so several threads may do it at once; `re` caches equal expressions.
        self.match = match = re.compile(text, FLAGS).match
        return match


class Switch:
    """Selects a matcher by one segment of the path.

    Attributes:
        switch: The index of the segment, from 1.
        get: Returns the matcher for a segment, like `dict.get`.
        rest: The matcher for all other segments, and for paths with fewer segments.
    """

    __slots__ = ("get", "rest", "switch")

    def __init__(self, switch: int, matchers: dict[str, Matcher], rest: Matcher) -> None:
        self.switch = switch
        self.get = matchers.get
        self.rest = rest


Matcher: TypeAlias = Group | Switch


def build_matcher(root: State) -> Matcher:
    """Returns the matcher for whole paths, given the state at their start."""
    return _build(root, [])


def _build(state: State, way: list[tuple[State, Edge]]) -> Matcher:
    """Returns the matcher for a state that is reached by the given edges."""
    if state.size <= _MOST_GROUPS and state.fan_out <= _MOST_LITERALS:
        return Group(_restricted(state, way))
    literal = [edge for edge in state.edges if edge.literal is not None]
    others = [edge for edge in state.edges if edge.literal is None]
    if len(state.edges) == 1:
        # There is nothing to select here: the next segment may be decisive.
        edge = state.edges[0]
        return _build(edge.state, [*way, (state, edge)])
    if not literal:
        return Group(_restricted(state, way))
    matchers: dict[str, Matcher] = {}
    for edge in literal:
        # The switch has already compared the segment, so the expression needn't contain it. Routes
        # of the same shape then share one expression, which is compiled once.
        text = f"({_ANY_SEGMENT})" if edge.captured else _ANY_SEGMENT
        matchers[str(edge.literal)] = _build(edge.state, [*way, (state, edge._replace(text=text))])
    rest = State(state.ends, state.rests, others)
    return Switch(len(way) + 1, matchers, _build(rest, way))


def _restricted(state: State, way: list[tuple[State, Edge]]) -> State:
    """Returns the state at the start of a path, with only the edges that lead to the given one."""
    for before, edge in reversed(way):
        state = State(before.ends, before.rests, [edge._replace(state=state)])
    return state


class _Writer:
    """Builds the regular expression of a state.

    Each alternative ends with an empty group. Its number is the `lastindex` of the match, which
    thus identifies the handlers in one step. The values of parameters are in groups, too, so the
    match itself is the stash.
    """

    def __init__(self) -> None:
        self.handlers: list[Handlers | None] = [None]

    def write(self, state: State, groups: tuple[int, ...]) -> str:
        """Returns what can follow; `groups` is the group of each segment so far, 0 if none."""
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
