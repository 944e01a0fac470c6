# SPDX-License-Identifier: MIT
"""Analyzes an expression in braces: how far a match can reach, and its groups."""

from __future__ import annotations

import re
from enum import Enum

from kit.router.patterns import traits

# One item of an expression: an escape, a class, or a single character.
_ITEM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)


class Extent(Enum):
    """How far a match of an expression can reach, judging by its text."""

    SEGMENT = "nothing that takes a slash"
    SLASHES = "what may take slashes"
    AROUND = "anchors or lookarounds"
    REFERENCES = "capturing groups, back-references or flags"


def extent(expression: str) -> Extent:
    """Returns the last of the extents that apply to an expression."""
    kind = traits(expression)
    if kind.has_groups:
        return Extent.REFERENCES
    if kind.is_anchored or kind.looks_around:
        return Extent.AROUND
    return Extent.SLASHES if kind.takes_slash else Extent.SEGMENT


def without_outer_group(expression: str) -> str:
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
