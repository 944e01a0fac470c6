# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Annotated, assert_type

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from kit.pages import (
    CursorPages,
    Filter,
    NumberedPage,
    NumberedPageRequest,
    NumberedPages,
    Page,
    PageRequest,
    cursor_pages,
    numbered_pages,
    paginate,
)
from kit.pages.sqlalchemy import paginate as paginate_rows
from kit.pages.sqlalchemy import paginate_sync
from kit.typed import Depends, typed


class Base(DeclarativeBase):
    pass


class BookRow(Base):
    __tablename__ = "book"

    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]


class Book:
    title: str


class BookFilter:
    since: Annotated[int | None, Filter("ge", "year")] = None


book_pages = cursor_pages(BookRow, sort=["title"], filters=BookFilter)
plain_pages = numbered_pages(BookRow)

assert_type(book_pages, CursorPages[BookFilter])
assert_type(plain_pages, NumberedPages[None])
assert_type(book_pages(limit=3), PageRequest[BookFilter])
assert_type(book_pages().filters, BookFilter)


@typed
async def list_books(
    page: Annotated[PageRequest[BookFilter], Depends(book_pages)], session: AsyncSession
) -> Page[Book]:
    rows = await paginate_rows(session, select(BookRow), page)
    assert_type(rows, Page[BookRow])
    return rows.into(Book)


def number_books(page: NumberedPageRequest[None], session: Session) -> NumberedPage[str]:
    rows = paginate_sync(session, select(BookRow), page)
    assert_type(rows, NumberedPage[BookRow])
    titles = paginate_sync(session, select(BookRow.title), page)
    assert_type(titles, NumberedPage[str])
    pairs = paginate_sync(session, select(BookRow.id, BookRow.title), page)
    assert_type(pairs, NumberedPage[tuple[int, str]])
    return rows.map(lambda row: row.title)


assert_type(paginate([Book()], book_pages()), Page[Book])
assert_type(paginate([Book()], plain_pages()), NumberedPage[Book])
assert_type(paginate([Book()], book_pages()).next, str | None)
