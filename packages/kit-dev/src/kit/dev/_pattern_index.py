# SPDX-License-Identifier: MIT
"""Finds the route patterns that may take the paths of another, without a look at each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ._patterns import Segment, read_variants

T = TypeVar("T")


@dataclass(slots=True)
class _Node(Generic[T]):
    """What patterns that begin alike lead to.

    Attributes:
        children: The next segment of those that go on: its text if it is literal, else None.
        items: Those whose patterns end here, with their number in the order of addition.
    """

    children: dict[str | None, _Node[T]] = field(default_factory=dict)
    items: list[tuple[int, T]] = field(default_factory=list)


class PatternIndex(Generic[T]):
    """Items by their patterns.

    An app may have thousands of routes, of which each has to do with few others.
    """

    def __init__(self) -> None:
        self._root: _Node[T] = _Node()
        self._count = 0

    def add(self, pattern: str, item: T) -> None:
        """Adds an item."""
        for segments in read_variants(pattern):
            node = self._root
            for segment in segments:
                node = node.children.setdefault(_key(segment), _Node())
            node.items.append((self._count, item))
        self._count += 1

    def candidates(self, pattern: str) -> Iterator[T]:
        """Gives every item whose pattern covers this one, and perhaps others.

        Args:
            pattern: What is to be covered.

        Returns:
            The items in the order in which they were added.
        """
        # One that covers the pattern covers each of its variants, so the first one will do.
        segments = read_variants(pattern)[0]
        nodes = [self._root]
        found: dict[int, T] = {}
        for segment in segments:
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
        return (found[order] for order in sorted(found))


def _key(segment: Segment) -> str | None:
    is_literal = segment.name is None and not segment.text.endswith("*")
    return segment.text if is_literal else None
