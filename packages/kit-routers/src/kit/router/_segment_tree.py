# SPDX-License-Identifier: MIT
"""The patterns of one method as a tree of segments, from which RegExpRouter builds its matcher.

Patterns with segments that match the same text share an edge, regardless of parameter names.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Any, NamedTuple

from kit.interface import UnsupportedPathError
from kit.router.patterns import (
    PathExpression,
    compile_expression,
    first_stretch,
    parse_segment,
    split_pattern,
    traits,
)

# One item of an expression: an escape, a class, or a single character.
_ITEM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)


class Kind(Enum):
    """What a segment of a pattern matches."""

    LITERAL = "the text itself"
    PREFIX = "a rest of the path that starts with the text"
    PARAMETER = "any non-empty segment"
    EXPRESSION = "a segment that the expression matches"
    WIDE = "a stretch of the path that the expression matches"
    BOUND = "text that the expression matches, depending on its surroundings"
    ANY = "any segment"
    REST = "the rest of the path"


class Step(NamedTuple):
    """One segment of a pattern; `text` is the literal, the prefix, or the expression."""

    kind: Kind
    text: str = ""
    name: str | None = None


class Leaf(NamedTuple):
    """A handler, and the number of the step for each of its parameters."""

    order: int
    handler: Any
    params: dict[str, int]


class Node:
    """The edges that can follow, and the leaves of patterns that end here.

    `rests` are the leaves of patterns that continue with a last `*`, `wide` those of patterns that
    continue with a last expression that may match slashes. `untold` means that some patterns that
    continue here are missing from the tree.
    """

    __slots__ = (
        "any",
        "expressions",
        "leaves",
        "literals",
        "parameter",
        "prefixes",
        "rests",
        "untold",
        "wide",
    )

    def __init__(self) -> None:
        self.literals: dict[str, Node] = {}
        self.prefixes: dict[str, list[Leaf]] = {}
        self.parameter: Node | None = None
        self.expressions: dict[str, Node] = {}
        self.wide: dict[str, list[Leaf]] = {}
        self.any: Node | None = None
        self.rests: list[Leaf] = []
        self.leaves: list[Leaf] = []
        self.untold = False

    def follow(self, step: Step) -> Node:
        """Returns the node after a step that takes one segment; creates it if needed."""
        if step.kind is Kind.LITERAL or step.kind is Kind.EXPRESSION:
            nodes = self.literals if step.kind is Kind.LITERAL else self.expressions
            node = nodes.get(step.text)
            if node is None:
                node = nodes[step.text] = Node()
            return node
        if step.kind is Kind.PARAMETER:
            if self.parameter is None:
                self.parameter = Node()
            return self.parameter
        if self.any is None:
            self.any = Node()
        return self.any


def read_steps(method: str, pattern: str, variant: str) -> list[Step]:
    """Parses a pattern without optional parameters; raises UnsupportedPathError for `pattern`."""
    segments = [parse_segment(text) for text in split_pattern(variant)]
    stretch = first_stretch(segments)
    if stretch is not None:
        PathExpression(pattern, segments[stretch:], method)  # TrieRouter has to take it as well
    last = len(segments) - 1
    steps: list[Step] = []
    for index, (text, name, expression, _) in enumerate(segments):
        if name is not None and expression is not None:
            steps.append(_read_expression(method, pattern, name, expression))
        elif name is not None:
            steps.append(Step(Kind.PARAMETER, "", name))
        elif text == "*":
            steps.append(Step(Kind.REST if index == last else Kind.ANY))
        elif text.endswith("*") and index == last:
            steps.append(Step(Kind.PREFIX, text[:-1]))
        else:
            steps.append(Step(Kind.LITERAL, text))
    return steps


def _read_expression(method: str, pattern: str, name: str, expression: str) -> Step:
    compile_expression(expression, pattern, method)
    text = _without_outer_group(expression)
    found = traits(text)
    if found.has_groups:
        raise UnsupportedPathError(
            pattern,
            f"RegExpRouter can't make {expression!r} a part of a larger expression, "
            "since it has capturing groups, back-references or flags",
            method,
            pattern.find("{" + expression + "}") + 1,
        )
    if found.is_anchored or found.looks_around:
        return Step(Kind.BOUND, text, name)
    return Step(Kind.WIDE if found.takes_slash else Kind.EXPRESSION, text, name)


def _without_outer_group(expression: str) -> str:
    """Removes a capturing group around the whole expression: `(a|b)` becomes `a|b`."""
    if expression[:1] != "(" or expression[-1] != ")" or expression[1:2] == "?":
        return expression
    depth = 0
    for match in _ITEM.finditer(expression):
        depth += match[0] == "("
        depth -= match[0] == ")"
        if depth == 0 and match.end() < len(expression):
            return expression
    return expression[1:-1] if depth == 0 else expression


def insert(root: Node, steps: list[Step], order: int, handler: Any) -> None:
    """Adds a pattern to the tree."""
    params: dict[str, int] = {}
    for number, step in enumerate(steps):
        if step.name is not None:
            params.setdefault(step.name, number)
    leaf = Leaf(order, handler, params)
    node = root
    for number, step in enumerate(steps):
        if step.kind is Kind.REST:
            node.rests.append(leaf)
            return
        if step.kind is Kind.PREFIX:
            node.prefixes.setdefault(step.text, []).append(leaf)
            node.untold |= "/" in step.text
            return
        if step.kind is Kind.WIDE and number == len(steps) - 1:
            node.wide.setdefault(step.text, []).append(leaf)
            return
        if step.kind is Kind.WIDE or step.kind is Kind.BOUND:
            # The following steps may start at any segment.
            node.untold = True
            return
        node = node.follow(step)
    node.leaves.append(leaf)
