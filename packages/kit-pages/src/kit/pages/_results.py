# SPDX-License-Identifier: MIT
"""The results of endpoints: pages with their items, and cursors or numbers of other pages."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from kit.authoring.models import find_model

T = TypeVar("T")
U = TypeVar("U")


# Dataclasses, which both msgspec and pydantic can describe with the items of either.
@dataclass(frozen=True)
class Page(Generic[T]):
    """A page between two positions in the results.

    Attributes:
        items: The results.
        next: The cursor of the next page; None on the last page.
        prev: The cursor of the previous page; None on the first page.
        total: The number of results on all pages; None if they weren't counted.
    """

    items: list[T]
    next: str | None = None
    prev: str | None = None
    total: int | None = None

    def into(self, kind: type[U]) -> Page[U]:
        """Returns the page with each item converted to a type, by its attributes.

        Args:
            kind: A Struct, dataclass, attrs class or pydantic model.

        Raises:
            ValueError: If an item doesn't fit.
        """
        return Page(_converted(self.items, kind), self.next, self.prev, self.total)

    def map(self, function: Callable[[T], U]) -> Page[U]:
        """Returns the page with what a function returns for each item."""
        return Page([function(each) for each in self.items], self.next, self.prev, self.total)


@dataclass(frozen=True)
class NumberedPage(Generic[T]):
    """A page with a number.

    Attributes:
        items: The results.
        page: The number of the page, from 1.
        limit: The number of results on a full page.
        total: The number of results on all pages; None if they weren't counted.
        pages: The number of pages; None if the results weren't counted.
    """

    items: list[T]
    page: int
    limit: int
    total: int | None = None
    pages: int | None = None

    def into(self, kind: type[U]) -> NumberedPage[U]:
        """Returns the page with each item converted to a type, by its attributes.

        Args:
            kind: A Struct, dataclass, attrs class or pydantic model.

        Raises:
            ValueError: If an item doesn't fit.
        """
        items = _converted(self.items, kind)
        return NumberedPage(items, self.page, self.limit, self.total, self.pages)

    def map(self, function: Callable[[T], U]) -> NumberedPage[U]:
        """Returns the page with what a function returns for each item."""
        items = [function(each) for each in self.items]
        return NumberedPage(items, self.page, self.limit, self.total, self.pages)


def _converted(items: list[Any], kind: type[U]) -> list[U]:
    # A named tuple is an array to msgspec.
    items = [each._asdict() if hasattr(each, "_asdict") else each for each in items]
    if find_model(kind) is None:
        return msgspec.convert(items, list[kind], from_attributes=True)  # type: ignore[valid-type]
    # Already imported, since the model comes from it; type checkers may not have it.
    adapter = sys.modules["pydantic"].TypeAdapter(list[kind])  # type: ignore[valid-type]
    converted: list[U] = adapter.validate_python(items, from_attributes=True)
    return converted
