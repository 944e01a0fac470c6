# SPDX-License-Identifier: MIT
"""The club's database: SQLite with aiosqlite, independent of HTTP."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import aiosqlite

from club.seed import seed

SCHEMA = """
CREATE TABLE IF NOT EXISTS members (
    id       INTEGER PRIMARY KEY,
    name     TEXT NOT NULL UNIQUE COLLATE NOCASE,
    password TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS books (
    id         INTEGER PRIMARY KEY,
    title      TEXT NOT NULL,
    author     TEXT NOT NULL,
    year       INTEGER NOT NULL,
    pages      INTEGER NOT NULL,
    about      TEXT NOT NULL,
    is_current INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE IF NOT EXISTS readings (
    book_id   INTEGER NOT NULL REFERENCES books(id) ON DELETE CASCADE,
    member_id INTEGER NOT NULL REFERENCES members(id) ON DELETE CASCADE,
    PRIMARY KEY (book_id, member_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS notes (
    id        INTEGER PRIMARY KEY,
    book_id   INTEGER NOT NULL REFERENCES books(id) ON DELETE CASCADE,
    member_id INTEGER NOT NULL REFERENCES members(id) ON DELETE CASCADE,
    text      TEXT NOT NULL,
    page      INTEGER,
    written   INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS notes_of_book ON notes (book_id, id);
"""
BOOKS = """SELECT *,
    (SELECT count(*) FROM readings WHERE book_id = books.id) AS readers,
    (SELECT count(*) FROM notes WHERE book_id = books.id) AS notes
FROM books"""
NOTES = """SELECT notes.id, notes.text, notes.page, notes.written,
    members.name AS member, books.id AS book_id, books.title
FROM notes JOIN members ON members.id = member_id JOIN books ON books.id = book_id"""


class NameTakenError(Exception):
    """Another member has this name already."""


@dataclass
class Member:
    """A member of the club; the password is a hash, or empty if the member can't log in."""

    id: int
    name: str
    password: str


@dataclass
class Book:
    """A book, with the number of members who have read it and the number of notes."""

    id: int
    title: str
    author: str
    year: int
    pages: int
    about: str
    is_current: int
    readers: int
    notes: int


@dataclass
class Note:
    """A member's note about a book; `written` is in seconds since 1970."""

    id: int
    text: str
    page: int | None
    written: int
    member: str
    book_id: int
    title: str


class Page(NamedTuple):
    """One page of a list, and the number of books on all pages."""

    books: list[Book]
    total: int


class Store:
    """A connection for writing, and one for reading."""

    def __init__(self, writer: aiosqlite.Connection, reader: aiosqlite.Connection) -> None:
        self._writer = writer
        self._reader = reader

    async def current_book(self) -> Book | None:
        return await self._book("WHERE is_current")

    async def book(self, book_id: int) -> Book | None:
        return await self._book("WHERE id = ?", book_id)

    async def find_books(self, q: str, page: int, size: int) -> Page:
        """Finds books by a part of their title or author."""
        where, values = "", []
        if q:
            where = "WHERE title LIKE ? ESCAPE '\\' OR author LIKE ? ESCAPE '\\'"
            pattern = "%" + q.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
            values = [pattern, pattern]
        [[total]] = await self._read(f"SELECT count(*) FROM books {where}", *values)
        rows = await self._read(
            f"{BOOKS} {where} ORDER BY title LIMIT ? OFFSET ?",
            *values,
            size,
            (page - 1) * size,
        )
        return Page([Book(*row) for row in rows], total)

    async def book_ids(self) -> list[int]:
        return [row[0] for row in await self._read("SELECT id FROM books ORDER BY id")]

    async def newest_notes(self, amount: int) -> list[Note]:
        rows = await self._read(
            f"{NOTES} ORDER BY notes.written DESC, notes.id DESC LIMIT ?", amount
        )
        return [Note(*row) for row in rows]

    async def notes(self, book_id: int) -> list[Note]:
        rows = await self._read(
            f"{NOTES} WHERE book_id = ? ORDER BY notes.written DESC, notes.id DESC", book_id
        )
        return [Note(*row) for row in rows]

    async def add_note(self, book: Book, member: Member, text: str, page: int | None) -> None:
        await self._writer.execute(
            "INSERT INTO notes (book_id, member_id, text, page, written) VALUES (?, ?, ?, ?, ?)",
            (book.id, member.id, text, page, int(time.time())),
        )

    async def has_read(self, book: Book, member: Member | None) -> bool:
        if member is None:
            return False
        sql = "SELECT 1 FROM readings WHERE book_id = ? AND member_id = ?"
        return bool(await self._read(sql, book.id, member.id))

    async def set_read(self, book: Book, member: Member, is_read: bool) -> None:
        sql = (
            "INSERT OR IGNORE INTO readings (book_id, member_id) VALUES (?, ?)"
            if is_read
            else "DELETE FROM readings WHERE book_id = ? AND member_id = ?"
        )
        await self._writer.execute(sql, (book.id, member.id))

    async def member(self, member_id: int) -> Member | None:
        return await self._member("id = ?", member_id)

    async def member_named(self, name: str) -> Member | None:
        return await self._member("name = ?", name)

    async def add_member(self, name: str, password: str) -> Member:
        """Adds a member with a hash of the password.

        Raises:
            NameTakenError: If another member has this name.
        """
        try:
            cursor = await self._writer.execute(
                "INSERT INTO members (name, password) VALUES (?, ?)", (name, password)
            )
        except sqlite3.IntegrityError:
            raise NameTakenError(name) from None
        return Member(cursor.lastrowid or 0, name, password)

    async def set_password(self, member: Member, password: str) -> None:
        """Replaces the hash of a password with a new hash of the same password."""
        await self._writer.execute(
            "UPDATE members SET password = ? WHERE id = ? AND password = ?",
            (password, member.id, member.password),
        )

    async def _book(self, where: str, *values: Any) -> Book | None:
        rows = await self._read(f"{BOOKS} {where} LIMIT 1", *values)
        return Book(*rows[0]) if rows else None

    async def _member(self, where: str, value: Any) -> Member | None:
        rows = await self._read(f"SELECT id, name, password FROM members WHERE {where}", value)
        return Member(*rows[0]) if rows else None

    async def _read(self, sql: str, *values: Any) -> Sequence[Any]:
        return list(await self._reader.execute_fetchall(sql, values))


@asynccontextmanager
async def connect(file: Path) -> AsyncIterator[aiosqlite.Connection]:
    # Without isolation_level, each statement commits by itself, and so is atomic.
    async with aiosqlite.connect(file, isolation_level=None) as connection:
        await connection.execute("PRAGMA foreign_keys = ON")
        await connection.execute("PRAGMA busy_timeout = 5000")
        await connection.execute("PRAGMA synchronous = NORMAL")
        yield connection


@asynccontextmanager
async def open_store(file: Path) -> AsyncIterator[Store]:
    """Opens the database; creates it with example data if it doesn't exist."""
    async with connect(file) as writer:
        await writer.execute("PRAGMA journal_mode = WAL")
        await writer.executescript(SCHEMA)
        await seed(writer)
        async with connect(file) as reader:
            yield Store(writer, reader)
