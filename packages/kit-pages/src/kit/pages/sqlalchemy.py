# SPDX-License-Identifier: MIT
"""Pages of rows of SQLAlchemy 2: `pip install 'kit-pages[sqlalchemy]'`."""

from __future__ import annotations

import enum
from collections import namedtuple
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, TypeVar, TypeVarTuple, overload

from sqlalchemy import ColumnElement, Select, and_, case, false, func, literal, or_, select
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
from sqlalchemy.orm import Session

from ._cursors import EnumName
from ._filters import Condition
from ._ordering import Term
from ._requests import NumberedPageRequest, PageRequest
from ._results import NumberedPage, Page

__all__ = ("paginate", "paginate_sync")

T = TypeVar("T")
T2 = TypeVar("T2")
Ts = TypeVarTuple("Ts")

# The databases whose own place for NULL is that of `Term`, so that an index has the same order.
_NULL_IS_GREATEST = ("oracle", "postgresql")
# Those that have NULLS FIRST and NULLS LAST.
_WITH_NULLS_LAST = ("sqlite",)
_NUMBERS = (int, float, Decimal)


# In SQLAlchemy 2.0, `select(Book)` is a `Select[tuple[Book]]`; in 2.1, a `Select[Book]`.
@overload
async def paginate(
    session: AsyncSession | AsyncConnection, statement: Select[tuple[T]], page: PageRequest[Any]
) -> Page[T]: ...
@overload
async def paginate(
    session: AsyncSession | AsyncConnection,
    statement: Select[tuple[T]],
    page: NumberedPageRequest[Any],
) -> NumberedPage[T]: ...
@overload
async def paginate(
    session: AsyncSession | AsyncConnection, statement: Select[T], page: PageRequest[Any]
) -> Page[T]: ...
@overload
async def paginate(
    session: AsyncSession | AsyncConnection, statement: Select[T], page: NumberedPageRequest[Any]
) -> NumberedPage[T]: ...
@overload
async def paginate(
    session: AsyncSession | AsyncConnection,
    statement: Select[T, T2, *Ts],
    page: PageRequest[Any],
) -> Page[tuple[T, T2, *Ts]]: ...
@overload
async def paginate(
    session: AsyncSession | AsyncConnection,
    statement: Select[T, T2, *Ts],
    page: NumberedPageRequest[Any],
) -> NumberedPage[tuple[T, T2, *Ts]]: ...
async def paginate(session: Any, statement: Any, page: Any) -> Any:
    """Returns a page of the rows of a statement, and sets the Link header.

    The filters and the position become conditions of the statement. The order of the page replaces
    that of the statement.

    Args:
        session: The session or connection.
        statement: A `select`. For one entity or column, the items of the page are its values; for
            several, they are named tuples. It may have conditions, joins and options, but must not
            yield a row twice.
        page: The request for a page.

    Raises:
        RequestValidationError: If the cursor has values of other types: a 400.
    """
    query = _Query(statement, page, _dialect(session))
    total = None
    if page.pages.count:
        total = (await session.execute(query.counting)).scalar_one()
    return query.build_page(await session.execute(query.selecting), total)


@overload
def paginate_sync(
    session: Session | Connection, statement: Select[tuple[T]], page: PageRequest[Any]
) -> Page[T]: ...
@overload
def paginate_sync(
    session: Session | Connection, statement: Select[tuple[T]], page: NumberedPageRequest[Any]
) -> NumberedPage[T]: ...
@overload
def paginate_sync(
    session: Session | Connection, statement: Select[T], page: PageRequest[Any]
) -> Page[T]: ...
@overload
def paginate_sync(
    session: Session | Connection, statement: Select[T], page: NumberedPageRequest[Any]
) -> NumberedPage[T]: ...
@overload
def paginate_sync(
    session: Session | Connection,
    statement: Select[T, T2, *Ts],
    page: PageRequest[Any],
) -> Page[tuple[T, T2, *Ts]]: ...
@overload
def paginate_sync(
    session: Session | Connection,
    statement: Select[T, T2, *Ts],
    page: NumberedPageRequest[Any],
) -> NumberedPage[tuple[T, T2, *Ts]]: ...
def paginate_sync(session: Any, statement: Any, page: Any) -> Any:
    """Returns a page like `paginate`, for a synchronous session or connection.

    Args:
        session: See `paginate`.
        statement: See `paginate`.
        page: See `paginate`.

    Raises:
        RequestValidationError: See `paginate`.
    """
    query = _Query(statement, page, _dialect(session))
    total = None
    if page.pages.count:
        total = session.execute(query.counting).scalar_one()
    return query.build_page(session.execute(query.selecting), total)


def _dialect(session: Any) -> str:
    bind = session.get_bind() if hasattr(session, "get_bind") else session
    return str(bind.dialect.name)


class _Query:
    """The statements of a page.

    Attributes:
        selecting: Selects the rows of the page, and one more if there are more.
        counting: Counts all rows.
    """

    def __init__(self, statement: Any, page: Any, dialect: str) -> None:
        self._page = page
        self._is_numbered = isinstance(page, NumberedPageRequest)
        self._names = [each["name"] for each in statement.column_descriptions]
        self._is_entity = [each["entity"] is each["expr"] for each in statement.column_descriptions]
        filtered = statement.where(*(self._condition(each) for each in page.conditions))
        unordered = filtered.order_by(None)
        self.counting = select(func.count()).select_from(unordered.subquery())
        terms = page.terms
        columns = [self._column(each.field) for each in terms]
        if not self._is_numbered and page.is_backward:
            terms = [each.reversed() for each in terms]
        ordered = unordered.order_by(
            *(
                one
                for column, term in zip(columns, terms, strict=True)
                for one in _order(column, term, self._is_nullable(term.field), dialect)
            )
        )
        if self._is_numbered:
            self.selecting = ordered.offset(page.offset).limit(page.limit + 1)
            return
        if page.position is not None:
            ordered = ordered.where(self._is_after(terms, columns))
        labels = [each.label(f"kit_page_{index}") for index, each in enumerate(columns)]
        self.selecting = ordered.add_columns(*labels).limit(page.limit + 1)

    def build_page(self, result: Any, total: int | None) -> Any:
        """Returns the page with the rows of a result."""
        if self._is_entity == [True]:  # which may have collections that are loaded by a join
            result = result.unique()
        width = len(self._names)
        rows = [*result]
        if width == 1:
            items: list[Any] = [row[0] for row in rows]
        else:
            create: Any = namedtuple  # whose fields type checkers want to know
            build = create("Row", self._names, rename=True)
            items = [build(*row[:width]) for row in rows]
        if self._is_numbered:
            return self._page.build_page(items, total)
        values = [tuple(row[width:]) for row in rows]
        return self._page.build_page([*zip(items, values, strict=True)], total)

    def _column(self, name: str) -> Any:
        pages = self._page.pages
        return pages.columns[name] if name in pages.columns else getattr(pages.model, name)

    def _is_nullable(self, name: str) -> bool:
        """Returns whether a field may be NULL; a column of a joined table always may."""
        if name in self._page.pages.columns:
            return True
        expression = getattr(self._column(name), "expression", None)
        return bool(getattr(expression, "nullable", True))

    def _condition(self, condition: Condition) -> ColumnElement[bool]:
        column, value = self._column(condition.field), condition.value
        found: ColumnElement[bool] = {
            "eq": lambda: column == value,
            "ne": lambda: column != value,
            "lt": lambda: column < value,
            "le": lambda: column <= value,
            "gt": lambda: column > value,
            "ge": lambda: column >= value,
            "in": lambda: column.in_(value),
            "not_in": lambda: column.not_in(value),
            "contains": lambda: column.icontains(value, autoescape=True),
            "starts_with": lambda: column.istartswith(value, autoescape=True),
            "is_null": lambda: column.is_(None) if value else column.is_not(None),
        }[condition.operator]()
        return found

    def _is_after(self, terms: Sequence[Term], columns: Sequence[Any]) -> ColumnElement[bool]:
        """Returns the condition for the rows that come after the position."""
        choices: list[ColumnElement[bool]] = []
        equal: list[ColumnElement[bool]] = []
        for term, column, given in zip(terms, columns, self._page.position.values, strict=True):
            value = self._checked(column, given)
            is_nullable = self._is_nullable(term.field)
            choices.append(and_(*equal, _is_beyond(column, value, term, is_nullable=is_nullable)))
            equal.append(column.is_(None) if value is None else column == value)
        return or_(*choices)

    def _checked(self, column: Any, value: Any) -> Any:
        """Returns a value of a cursor in the type of its column.

        Raises:
            RequestValidationError: If it has another type.
        """
        try:
            expected = column.type.python_type
        except NotImplementedError:
            return value
        if value is None:
            return None
        if isinstance(value, EnumName):
            members = expected.__members__ if issubclass(expected, enum.Enum) else {}
            if value not in members:
                raise self._page.reject_cursor()
            return members[value]
        is_bool = isinstance(value, bool) and expected is not bool  # a bool is an int, too
        is_number = expected in _NUMBERS and isinstance(value, _NUMBERS)
        if is_bool or not (is_number or isinstance(value, expected)):
            raise self._page.reject_cursor()
        # SQLAlchemy compares a bare bool by IS only.
        return literal(value, column.type) if expected is bool else value


def _order(column: Any, term: Term, is_nullable: bool, dialect: str) -> list[Any]:
    order = column.desc() if term.descending else column.asc()
    if not is_nullable or dialect in _NULL_IS_GREATEST:
        return [order]
    if dialect in _WITH_NULLS_LAST:
        return [order.nulls_first() if term.descending else order.nulls_last()]
    is_null = case((column.is_(None), 1), else_=0)
    return [is_null.desc() if term.descending else is_null.asc(), order]


def _is_beyond(column: Any, value: Any, term: Term, *, is_nullable: bool) -> Any:
    """Returns the condition that a column is greater than a value, or less if descending."""
    if term.descending:
        return column.is_not(None) if value is None else column < value
    if value is None:
        return false()
    return or_(column > value, column.is_(None)) if is_nullable else column > value
