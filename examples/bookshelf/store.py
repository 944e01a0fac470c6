# SPDX-License-Identifier: MIT
"""The shelf's database: SQLite through aiosqlite, and nothing of HTTP."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiosqlite
from books import Book, NewBook
from msgspec.structs import astuple
from seeds import BOOKS

SCHEMA = """
CREATE TABLE IF NOT EXISTS books (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    title  TEXT NOT NULL,
    author TEXT,
    year   INTEGER,
    isbn   TEXT UNIQUE
);
CREATE TABLE IF NOT EXISTS covers (
    book_id INTEGER PRIMARY KEY REFERENCES books(id) ON DELETE CASCADE,
    type    TEXT NOT NULL,
    data    BLOB NOT NULL
);
"""
COLUMNS = ("id", "title", "author", "year", "isbn")
ROWS_PER_STEP = 200


class DuplicateISBNError(Exception):
    """Another book has this ISBN already."""


class Page(NamedTuple):
    """One page of a list, and how many books there are on all pages."""

    items: list[Book]
    total: int


class Cover(NamedTuple):
    """The image on a book, and its media type."""

    type: str
    data: bytes


class Store:
    """One connection that writes, one that reads; an export has one of its own."""

    def __init__(self, file: Path, writer: aiosqlite.Connection, reader: aiosqlite.Connection):
        self._file = file
        self._writer = writer
        self._reader = reader

    async def page(self, number: int, size: int, q: str = "") -> Page:
        where, values = "", []
        if q:
            where = "WHERE title LIKE ? ESCAPE '\\' OR author LIKE ? ESCAPE '\\'"
            pattern = "%" + q.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
            values = [pattern, pattern]
        [[total]] = await self._reader.execute_fetchall(
            f"SELECT count(*) FROM books {where}", values
        )
        rows = await self._reader.execute_fetchall(
            f"SELECT * FROM books {where} ORDER BY id LIMIT ? OFFSET ?",
            [*values, size, (number - 1) * size],
        )
        return Page([Book(*row) for row in rows], total)

    async def get(self, book_id: int) -> Book | None:
        row = await self._one("SELECT * FROM books WHERE id = ?", [book_id])
        return Book(*row) if row else None

    async def create(self, book: NewBook) -> Book:
        """Puts a book on the shelf.

        Raises:
            DuplicateISBNError: If there is a book with its ISBN already.
        """
        sql = "INSERT INTO books (title, author, year, isbn) VALUES (?, ?, ?, ?) RETURNING *"
        [row] = await self._write(sql, astuple(book))
        return Book(*row)

    async def update(self, book_id: int, book: NewBook) -> Book | None:
        """Replaces a book; None if there is none.

        Raises:
            DuplicateISBNError: If another book has its ISBN.
        """
        sql = "UPDATE books SET title = ?, author = ?, year = ?, isbn = ? WHERE id = ? RETURNING *"
        rows = await self._write(sql, [*astuple(book), book_id])
        return Book(*rows[0]) if rows else None

    async def delete(self, book_id: int) -> bool:
        return bool(await self._write("DELETE FROM books WHERE id = ? RETURNING id", [book_id]))

    async def set_cover(self, book_id: int, type: str, data: bytes) -> bool:
        """Stores a cover; False if there is no such book."""
        # The book could go between a look and the insert; one statement does both.
        sql = (
            "INSERT INTO covers (book_id, type, data) SELECT id, ?, ? FROM books WHERE id = ? "
            "ON CONFLICT (book_id) DO UPDATE SET type = excluded.type, data = excluded.data "
            "RETURNING book_id"
        )
        return bool(await self._write(sql, [type, data, book_id]))

    async def get_cover(self, book_id: int) -> Cover | None:
        row = await self._one("SELECT type, data FROM covers WHERE book_id = ?", [book_id])
        return Cover(*row) if row else None

    async def rows(self) -> AsyncGenerator[list[tuple[Any, ...]], None]:
        """Yields the whole shelf, a few rows at a time, as it is when reading begins."""
        # A connection of its own: another statement's end must not end this one's snapshot. Closing
        # it is a matter of its own thread, which goes on also if the request was cancelled.
        async with connect(self._file) as connection:
            connection.row_factory = None
            cursor = await connection.execute(f"SELECT {', '.join(COLUMNS)} FROM books ORDER BY id")
            while rows := await cursor.fetchmany(ROWS_PER_STEP):
                yield [tuple(row) for row in rows]

    async def _one(self, sql: str, values: Sequence[Any]) -> aiosqlite.Row | None:
        rows = list(await self._reader.execute_fetchall(sql, values))
        return rows[0] if rows else None

    async def _write(self, sql: str, values: Sequence[Any]) -> list[aiosqlite.Row]:
        """Runs one statement, which is a transaction of its own; returns its rows."""
        try:
            return list(await self._writer.execute_fetchall(sql, values))
        except sqlite3.IntegrityError as error:
            if "books.isbn" in str(error):
                raise DuplicateISBNError from error
            raise


@asynccontextmanager
async def connect(file: Path) -> AsyncIterator[aiosqlite.Connection]:
    # Without isolation_level each statement commits by itself, so none is ever half done.
    async with aiosqlite.connect(file, isolation_level=None) as connection:
        connection.row_factory = aiosqlite.Row
        await connection.execute("PRAGMA foreign_keys = ON")
        await connection.execute("PRAGMA busy_timeout = 5000")
        # In WAL mode this keeps what was answered safe from a killed process; a power cut could
        # take the last moments. FULL would wait for the disk at every write.
        await connection.execute("PRAGMA synchronous = NORMAL")
        yield connection


@asynccontextmanager
async def open_store(file: Path) -> AsyncIterator[Store]:
    """Opens the database; if there is no such file, creates it with the first books."""
    is_new = _created(file)
    async with connect(file) as writer:
        await writer.execute("PRAGMA journal_mode = WAL")
        await writer.executescript(SCHEMA)
        async with connect(file) as reader:
            store = Store(file, writer, reader)
            if is_new:
                for book in BOOKS:
                    await store.create(book)
            yield store


def _created(file: Path) -> bool:
    """Creates a file; False if there is one, e.g. because another worker was first."""
    try:
        file.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
