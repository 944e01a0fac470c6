# SPDX-License-Identifier: MIT
"""Finds out whether one route pattern takes every path that another one takes.

The routers themselves can't be asked: a match would close them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Generic, TypeAlias, TypeVar

from ._parsing import FLAGS, Segment, variants

T = TypeVar("T")
_Segments: TypeAlias = Sequence[Segment]

# Expressions made of these alone are known to take no slash. A class or an escape is tried on its
# own; lookarounds, references and flags are not among them.
_ITEMS = re.compile(
    r"(?P<takes>\\[dw]|\[\^?\]?(?:\\.|[^\]\\])*\])|\\[-._~]|[A-Za-z0-9_~@%,;-]"
    r"|[*+?|()]|\(\?:|\{[0-9]+(?:,[0-9]*)?\}",
    re.DOTALL,
)


def covers(general: str, special: str) -> bool:
    """Returns whether every path that the pattern `special` takes is one that `general` takes too.

    True is certain. Where it can't be told, above all between two different expressions, the
    answer is False.

    Args:
        general: The pattern that may cover the other, e.g. that of a middleware.
        special: The pattern that may be covered, e.g. that of a handler.

    Returns:
        Whether it does. A pattern that no path can match is covered by every other.
    """
    return all(any(_covers(one, other) for one in variants(general)) for other in variants(special))


class PatternIndex(Generic[T]):
    """Items by their patterns: finds those that may cover a pattern without a look at all of them.

    An app may have thousands of routes, each of which has to do with few others.
    """

    def __init__(self) -> None:
        self._root: _Node[T] = _Node()
        self._count = 0

    def add(self, pattern: str, item: T) -> None:
        """Adds an item.

        Args:
            pattern: Its pattern.
            item: What `candidates` yields.
        """
        for segments in variants(pattern):
            node = self._root
            for segment in segments:
                node = node.children.setdefault(_key(segment), _Node())
            node.items.append((self._count, item))
        self._count += 1

    def candidates(self, pattern: str) -> Iterator[T]:
        """Yields every item whose pattern covers this one, and perhaps others: ask `covers`.

        Args:
            pattern: The pattern that is to be covered.

        Yields:
            The items, in the order in which they were added.
        """
        # What covers the pattern covers each of its variants, so one of them will do.
        segments = next(iter(variants(pattern)), None)
        nodes = [] if segments is None else [self._root]
        found: dict[int, T] = {}
        for segment in segments or ():
            nodes = [
                child
                for node in nodes
                for key in (segment.text, None)
                if (child := node.children.get(key)) is not None
            ]
            for node in nodes:  # also what ends here, as `*` or `{.+}` takes all that follows
                found.update(node.items)
        for node in nodes:  # `*` takes nothing as well: `/a/*` covers `/a`
            rest = node.children.get(None)
            if rest is not None:
                found.update(rest.items)
        for order in sorted(found):
            yield found[order]


class _Node(Generic[T]):
    """The patterns that begin alike.

    Attributes:
        children: Those that go on, by their next segment: its text if it is literal, else None.
        items: Those that end here, each with its number in the order of addition.
    """

    __slots__ = ("children", "items")

    def __init__(self) -> None:
        self.children: dict[str | None, _Node[T]] = {}
        self.items: list[tuple[int, T]] = []


def _key(segment: Segment) -> str | None:
    is_literal = segment.name is None and not segment.text.endswith("*")
    return segment.text if is_literal else None


def _covers(general: _Segments, special: _Segments) -> bool:
    for index, one in enumerate(general):
        is_last = index + 1 == len(general)
        rest = special[index:]
        if one.is_wildcard and is_last:
            return True  # also where there is no segment any more: `/a/*` takes `/a`
        if not rest:
            return False
        other = rest[0]
        if is_last and _is_prefix(one):
            return other.name is None and other.text.startswith(one.text[:-1])
        if is_last and one.expression in (".*", ".+"):
            return (
                _is_filled(other)
                or other.expression == ".+"
                or (len(rest) == 1 and other.expression == one.expression)
                or (one.expression == ".*" and not _may_be_absent(rest))
            )
        # A last `*` is the rest of the path, or none, which one segment can't stand for.
        if _is_prefix(other) and len(rest) == 1:
            return False
        if one.expression is not None and one.expression == other.expression:
            if _in_one_segment(one.expression):
                continue
            return [s.text for s in general[index + 1 :]] == [s.text for s in rest[1:]]
        if not _takes(one, other):
            return False
    return len(special) == len(general)


def _takes(one: Segment, other: Segment) -> bool:
    """Whether a segment of a pattern takes whatever another one does, and no more than that."""
    if one.is_wildcard:
        return other.is_wildcard or _is_filled(other)
    if one.name is None:
        return other.name is None and one.text == other.text
    if one.expression is None:
        return _is_filled(other)
    return (
        other.name is None
        and not other.is_wildcard
        and _in_one_segment(one.expression)
        and re.fullmatch(one.expression, other.text, FLAGS) is not None
    )


def _is_prefix(segment: Segment) -> bool:
    """Whether a last segment takes more than itself, as `*` and `assets*` do."""
    return segment.name is None and segment.text.endswith("*")


def _may_be_absent(rest: _Segments) -> bool:
    return len(rest) == 1 and rest[0].is_wildcard


def _is_filled(segment: Segment) -> bool:
    """Whether it takes exactly one segment of a path, and never an empty one."""
    if segment.name is None:
        return bool(segment.text) and not segment.is_wildcard
    if segment.expression is None:
        return True
    return _in_one_segment(segment.expression) and not re.fullmatch(segment.expression, "", FLAGS)


def _in_one_segment(expression: str) -> bool:
    """Whether an expression is certain to take no slash."""
    position = 0
    while position < len(expression):
        match = _ITEMS.match(expression, position)
        if match is None:
            return False
        if match["takes"] and re.match(match["takes"], "/", FLAGS):
            return False
        position = match.end()
    try:
        re.compile(expression, FLAGS)
    except (re.error, OverflowError, RecursionError):
        return False
    return True
