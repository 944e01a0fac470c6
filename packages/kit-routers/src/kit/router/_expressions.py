# SPDX-License-Identifier: MIT
"""Analyzes an expression in braces: how far a match can reach, and its groups."""

from __future__ import annotations

import re
from enum import Enum

from kit.interface.patterns import FLAGS

# One item of an expression: an escape, a class, the start of a group, or a single character.
_ITEM = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[0-7]{1,3}|.)"
    r"|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?(?::|=|!|<=|<!|>))?|.",
    re.DOTALL,
)
_BACK_REFERENCE = re.compile(r"\\[1-9][0-9]?")
_BOUNDARIES = ("^", "$", r"\b", r"\B", r"\A", r"\Z", "(?=", "(?!", "(?<=", "(?<!")


class Extent(Enum):
    """How far a match of an expression can reach, judging by its text."""

    SEGMENT = "nothing that takes a slash"
    SLASHES = "what may take slashes"
    AROUND = "anchors or lookarounds"
    REFERENCES = "capturing groups, back-references or flags"


def extent(expression: str) -> Extent:
    """Returns how far a match of an expression can reach.

    Args:
        expression: A valid regular expression, the text between the braces.

    Returns:
        The last of the extents that apply.
    """
    reach = Extent.SEGMENT
    for match in _ITEM.finditer(expression):
        item = match[0]
        if item == "(" or _BACK_REFERENCE.fullmatch(item):
            return Extent.REFERENCES
        if item in _BOUNDARIES:
            reach = Extent.AROUND
        # Only an escape, a class or a dot has to be compiled to see whether it matches a slash.
        elif item == "." or (len(item) > 1 and item[0] != "("):
            takes_slash = re.compile(item, FLAGS).match("/") is not None
            reach = Extent.SLASHES if takes_slash and reach is Extent.SEGMENT else reach
        elif item == "/" and reach is Extent.SEGMENT:
            reach = Extent.SLASHES
    return reach


def has_back_reference(expression: str) -> bool:
    r"""Returns whether an expression refers to its own groups by number, e.g. `(a|b)\1`."""
    return any(_BACK_REFERENCE.fullmatch(match[0]) for match in _ITEM.finditer(expression)) or bool(
        re.search(r"\(\?\([0-9]", expression)
    )


def without_outer_group(expression: str) -> str:
    """Removes a capturing group around the whole expression: `(a|b)` becomes `a|b`."""
    if expression[:1] != "(" or expression[-1] != ")" or expression[1:2] == "?":
        return expression
    depth = 0
    for match in _ITEM.finditer(expression):
        depth += match[0][0] == "("
        depth -= match[0] == ")"
        if depth == 0 and match.end() < len(expression):
            return expression
    return expression[1:-1] if depth == 0 else expression
