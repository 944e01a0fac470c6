# SPDX-License-Identifier: MIT
"""What the text of an expression in braces tells about its matches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ._parsing import FLAGS

# One item of an expression: an escape, a class, the start of a group, or a single character.
_ITEM = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[0-7]{1,3}|.)"
    r"|\[\^?\]?(?:\\.|[^\]\\])*\]"
    r"|\(\?(?:P=[^)]*\)|#[^)]*\)|\([^)]*\)|[aiLmsux-]+[:)]|P<[^>]*>|<?[=!]|[:>])"
    r"|.",
    re.DOTALL,
)
_BACK_REFERENCE = re.compile(r"\\[1-9][0-9]?")
_ANCHORS = ("^", "$", r"\A", r"\Z")
_BOUNDARIES = (r"\b", r"\B")
_LOOKAROUNDS = ("(?=", "(?!", "(?<=", "(?<!")
_PLAIN_GROUPS = ("(?:", "(?>", *_LOOKAROUNDS)


class Traits(NamedTuple):
    """What an expression consists of.

    Attributes:
        takes_slash: Whether a match may contain a slash. False is certain.
        is_anchored: Whether it has anchors, such as `^` and `$`.
        looks_around: Whether it has lookarounds or word boundaries.
        has_groups: Whether it has capturing groups, references to groups, or flags.
        stands_alone: Whether it can't be a part of a larger expression, since it has references to
            groups, groups with names, or flags for all of it.
    """

    takes_slash: bool
    is_anchored: bool
    looks_around: bool
    has_groups: bool
    stands_alone: bool


@lru_cache(maxsize=4096)
def traits(expression: str) -> Traits:
    """Determines the traits of an expression.

    Args:
        expression: The text between the braces of a parameter.

    Returns:
        The traits.
    """
    items = [match[0] for match in _ITEM.finditer(expression)]
    groups = [item for item in items if item[0] == "(" and item not in _PLAIN_GROUPS]
    alone = [item for item in groups if item != "(" and item[-1] != ":"]
    alone += filter(_BACK_REFERENCE.fullmatch, items)
    # A reference may take what a lookaround has captured.
    taken = items if alone else _without_lookarounds(items)
    return Traits(
        takes_slash=any(map(_matches_slash, taken)),
        is_anchored=any(item in _ANCHORS for item in items),
        looks_around=any(item in _BOUNDARIES or item in _LOOKAROUNDS for item in items),
        has_groups=bool(groups),
        stands_alone=bool(alone),
    )


def _without_lookarounds(items: list[str]) -> Iterator[str]:
    """Yields the items outside lookarounds, whose text is no part of a match."""
    depth = 0
    for item in items:
        if depth:
            depth += item[0] == "("
            depth -= item == ")"
        elif item in _LOOKAROUNDS:
            depth = 1
        else:
            yield item


def _matches_slash(item: str) -> bool:
    """Returns whether an item may match a slash."""
    # Only an escape, a class or a dot has to be compiled to see that.
    if item[0] == "(" or (len(item) == 1 and item != "."):
        return item == "/"
    if _BACK_REFERENCE.fullmatch(item):  # it repeats what other items take
        return False
    try:
        return re.compile(item, FLAGS).fullmatch("/") is not None
    except re.error:  # whoever compiles the whole expression reports it
        return True
