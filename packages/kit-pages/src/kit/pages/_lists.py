# SPDX-License-Identifier: MIT
"""Pages of objects in memory."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, overload

from ._filters import COMPARISONS, Condition
from ._ordering import Term
from ._requests import NumberedPageRequest, PageRequest
from ._results import NumberedPage, Page

T = TypeVar("T")


@overload
def paginate(items: Iterable[T], page: PageRequest[Any]) -> Page[T]: ...
@overload
def paginate(items: Iterable[T], page: NumberedPageRequest[Any]) -> NumberedPage[T]: ...
def paginate(items: Iterable[T], page: Any) -> Any:
    """Returns a page of objects in memory, filtered and sorted, and sets the Link header.

    For a database, use `kit.pages.sqlalchemy.paginate`, which returns the same pages.

    Args:
        items: The objects, e.g. a list; fields are their attributes, or the keys of dicts.
        page: The request for a page.

    Raises:
        RequestValidationError: If the cursor has values of other types: a 400.
        TypeError: If values of a field can't be compared with each other.
    """
    kept = [each for each in items if all(_fits(each, one) for one in page.conditions)]
    total = len(kept) if page.pages.count else None
    if isinstance(page, NumberedPageRequest):
        found = _sorted(kept, page.terms)
        return page.build_page(found[page.offset : page.offset + page.limit + 1], total)
    terms = [each.reversed() for each in page.terms] if page.is_backward else page.terms
    rows = [(each, _read_all(each, page.terms)) for each in _sorted(kept, terms)]
    if page.position is not None:
        try:
            rows = [row for row in rows if _is_after(row[1], page.position.values, terms)]
        except TypeError as error:
            raise page.reject_cursor() from error
    return page.build_page(rows[: page.limit + 1], total)


def _fits(item: Any, condition: Condition) -> bool:
    value = _read(item, condition.field)
    if condition.operator == "is_null":
        return bool((value is None) is condition.value)
    return value is not None and COMPARISONS[condition.operator](value, condition.value)


def _read(item: Any, name: str) -> Any:
    value = item.get(name) if isinstance(item, Mapping) else getattr(item, name)
    if isinstance(value, enum.Enum):
        return value.value
    return None if value != value else value


def _read_all(item: Any, terms: Sequence[Term]) -> tuple[Any, ...]:
    return tuple(_read(item, each.field) for each in terms)


def _sorted(items: list[T], terms: Sequence[Term]) -> list[T]:
    for term in reversed(terms):  # each sort keeps the order of equal items

        def key(item: T, field: str = term.field) -> tuple[Any, ...]:
            value = _read(item, field)
            return (1,) if value is None else (0, value)

        items = sorted(items, key=key, reverse=term.descending)
    return items


def _is_after(values: Sequence[Any], position: Sequence[Any], terms: Sequence[Term]) -> bool:
    for value, other, term in zip(values, position, terms, strict=True):
        if value is None or other is None:
            if value is other:
                continue
            is_greater = value is None
        elif value == other:
            continue
        else:
            is_greater = value > other
        return is_greater is not term.descending
    return False
