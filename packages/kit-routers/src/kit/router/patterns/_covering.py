# SPDX-License-Identifier: MIT
"""Determines whether one route pattern matches every path that another one matches.

Doesn't use the routers themselves, since a match would close them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Generic, TypeAlias, TypeVar

from ._expressions import traits
from ._parsing import FLAGS, Segment, variants

T = TypeVar("T")
_Segments: TypeAlias = Sequence[Segment]


def covers(general: str, special: str) -> bool:
    """Returns whether `general` matches every path that `special` matches.

    True is certain. If this can't be determined, especially for two different expressions, the
    result is False.

    Args:
        general: The pattern that may cover the other, e.g. of a middleware.
        special: The pattern that may be covered, e.g. of a handler.

    Returns:
        Whether it does. A pattern that can't match any path is covered by every other.
    """
    return all(any(_covers(one, other) for one in variants(general)) for other in variants(special))


def may_overlap(one: str, other: str) -> bool:
    """Returns whether a path may match both patterns.

    Args:
        one: A pattern.
        other: Another pattern.

    Returns:
        Whether there may be such a path. False is certain.
    """
    return any(_may_overlap(ours, theirs) for ours in variants(one) for theirs in variants(other))


class PatternIndex(Generic[T]):
    """Items by pattern: finds those that may cover a pattern without checking all of them.

    An app may have thousands of routes, each related to only a few others.
    """

    def __init__(self) -> None:
        self._root: _Node[T] = _Node()
        self._count = 0

    def add(self, pattern: str, item: T) -> None:
        """Adds an item.

        Args:
            pattern: Its pattern.
            item: The item for `candidates` to yield.
        """
        for segments in variants(pattern):
            node = self._root
            for segment in segments:
                node = node.children.setdefault(_key(segment), _Node())
            node.items.append((self._count, item))
        self._count += 1

    def candidates(self, pattern: str) -> Iterator[T]:
        """Yields every item with a pattern that covers this one, and possibly others: use `covers`.

        Args:
            pattern: The pattern to cover.

        Yields:
            The items, in the order in which they were added.
        """
        # A pattern that covers this one covers all its variants, so checking one is enough.
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
            for node in nodes:  # includes items that end here, since `*` or `{.+}` matches the rest
                found.update(node.items)
        for node in nodes:  # `*` also matches nothing: `/a/*` covers `/a`
            rest = node.children.get(None)
            if rest is not None:
                found.update(rest.items)
        for order in sorted(found):
            yield found[order]


class _Node(Generic[T]):
    """The patterns with a common beginning.

    Attributes:
        children: Patterns that continue, by their next segment: its text if it is literal,
            otherwise None.
        items: Items of patterns that end here, numbered in the order of addition.
    """

    __slots__ = ("children", "items")

    def __init__(self) -> None:
        self.children: dict[str | None, _Node[T]] = {}
        self.items: list[tuple[int, T]] = []


def _key(segment: Segment) -> str | None:
    is_literal = segment.name is None and not segment.text.endswith("*")
    return segment.text if is_literal else None


def _may_overlap(ours: _Segments, theirs: _Segments) -> bool:
    for index, (one, other) in enumerate(zip_longest(ours, theirs)):
        if _may_be_several(ours, index) or _may_be_several(theirs, index):
            return one is None or other is None or _may_start_alike(one, other)
        if one is None or other is None or not _may_be_same(one, other):
            return False
    return True


def _may_be_several(segments: _Segments, index: int) -> bool:
    """Whether a segment of a pattern may match another number of segments of a path than one."""
    if index >= len(segments):
        return False
    segment = segments[index]
    if segment.expression is not None:
        return not _in_one_segment(segment.expression)
    return index + 1 == len(segments) and _is_prefix(segment)


def _may_start_alike(one: Segment, other: Segment) -> bool:
    """Whether texts that start like two literals or prefixes may be the same."""
    if one.name is not None or other.name is not None:
        return True
    start, other_start = (each.text.removesuffix("*") for each in (one, other))
    return start.startswith(other_start) or other_start.startswith(start)


def _may_be_same(one: Segment, other: Segment) -> bool:
    """Whether a segment of a path may match both segments, each of which matches only one."""
    literals = [each.text for each in (one, other) if each.name is None and not each.is_wildcard]
    if len(literals) == 2:
        return literals[0] == literals[1]
    expressions = [each.expression for each in (one, other) if each.expression is not None]
    if literals and expressions:
        return re.fullmatch(expressions[0], literals[0], FLAGS) is not None
    return literals != [""] or one.is_wildcard or other.is_wildcard  # `:name` takes no empty text


def _covers(general: _Segments, special: _Segments) -> bool:
    for index, one in enumerate(general):
        is_last = index + 1 == len(general)
        rest = special[index:]
        if one.is_wildcard and is_last:
            return True  # even if no segment is left: `/a/*` matches `/a`
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
        # A last `*` matches the rest of the path, or nothing, which a single segment can't cover.
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
    """Whether a segment of a pattern matches everything that another one matches."""
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
    """Whether a last segment matches more than one segment, like `*` and `assets*`."""
    return segment.name is None and segment.text.endswith("*")


def _may_be_absent(rest: _Segments) -> bool:
    return len(rest) == 1 and rest[0].is_wildcard


def _is_filled(segment: Segment) -> bool:
    """Whether it matches exactly one non-empty segment of a path."""
    if segment.name is None:
        return bool(segment.text) and not segment.is_wildcard
    if segment.expression is None:
        return True
    return _in_one_segment(segment.expression) and not re.fullmatch(segment.expression, "", FLAGS)


def _in_one_segment(expression: str) -> bool:
    """Whether an expression certainly can't match a slash."""
    kind = traits(expression)
    if kind.takes_slash or kind.is_anchored or kind.looks_around or kind.stands_alone:
        return False
    try:
        re.compile(expression, FLAGS)
    except (re.error, OverflowError, RecursionError):
        return False
    return True
