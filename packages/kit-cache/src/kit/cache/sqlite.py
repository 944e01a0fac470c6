# SPDX-License-Identifier: MIT
"""A store in a SQLite file, shared by the processes on one machine."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from kit.authoring.options import OptionChecks

from ._connection import Connection
from ._entries import Key, Stored, decode, encode
from ._store import RequestView
from ._view import View

__all__ = ("SQLiteStore",)

T = TypeVar("T")

# Each purge has a number one higher than the one before. A purge of a whole cache has no part.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS responses_1 (
    cache TEXT NOT NULL, part TEXT NOT NULL, rest TEXT NOT NULL,
    ends_at REAL NOT NULL, size INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (cache, part, rest)
);
CREATE INDEX IF NOT EXISTS responses_1_end ON responses_1 (ends_at);
CREATE TABLE IF NOT EXISTS purges_1 (
    number INTEGER PRIMARY KEY, cache TEXT NOT NULL, part TEXT
);
"""
# How many purges are remembered. A response that took more of them to produce isn't stored.
_PURGES_KEPT = 10_000
# Higher than the number of any purge.
_NO_PURGE = 2**62
_READ = (
    "SELECT (SELECT MAX(number) FROM purges_1), (SELECT data FROM responses_1"
    " WHERE cache = ? AND part = ? AND rest = ? AND ends_at > ?)"
)
_WRITE = (
    "INSERT OR REPLACE INTO responses_1 SELECT :cache, :part, :rest, :ends_at, :size, :data"
    " WHERE NOT EXISTS (SELECT 1 FROM purges_1"
    " WHERE number > :purge AND cache = :cache AND (part IS NULL OR part = :part))"
    " AND (SELECT COALESCE(MAX(number), 0) FROM purges_1) <= :last_known"
)
# How many responses are stored between checks of the total size, which read all sizes.
_STORED_BETWEEN = 100
# The share of the maximum size to keep when the store is too large.
_KEPT_SHARE = 0.9


class SQLiteStore:
    """Keeps responses in a SQLite file. Calls run in worker threads.

    The file is closed before the process is forked, and opened again on the next use.

    Args:
        path: The file. It is created if it doesn't exist, readable only by its owner; its folder
            has to exist.
        max_size: Approximate maximum size of all responses, in bytes. If it is exceeded, the
            responses that expire first are removed.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the path is `:memory:`, the folder doesn't exist, or `max_size` is below 1.
    """

    def __init__(self, path: str | os.PathLike[str], *, max_size: int = 256 * 1024 * 1024) -> None:
        check = OptionChecks("SQLiteStore")
        if not isinstance(path, (str, os.PathLike)):
            check.wrong_type("path", path, "a path")
        if os.fspath(path) in (":memory:", ""):
            check.unusable("path", path, "a file: use MemoryStore for the memory of a process")
        file = Path(path).absolute()
        if not file.parent.is_dir():
            check.unusable("path", str(path), f"a file in a folder, {file.parent} isn't one")
        self._max_size = check.number("max_size", max_size, least=1, unit="byte")
        self._connection = Connection(file, _SCHEMA)
        self._stored = 0

    def for_request(self) -> RequestView:
        """Returns a view for one request; see `SharedStore`."""
        return View(self._read, self._write)

    async def get(self, key: Key) -> Stored | None:
        """Returns the value of a key, or None."""
        return (await self._read(key))[0]

    async def set(self, key: Key, stored: Stored, ttl: float) -> None:
        """Stores a value, and removes expired entries."""
        await self._write(key, stored, ttl, None)

    async def delete(self, cache: str, group: str) -> None:
        """Removes a group."""

        def remove(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM responses_1 WHERE cache = ? AND part = ?", (cache, group))
            _note_purge(db, cache, group)

        await self._run(remove)

    async def clear(self, cache: str) -> None:
        """Removes all entries of a cache."""

        def remove(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM responses_1 WHERE cache = ?", (cache,))
            _note_purge(db, cache, None)

        await self._run(remove)

    async def close(self) -> None:
        """Closes the file; the next use opens it again."""
        await _in_thread(self._connection.close)

    async def _read(self, key: Key) -> tuple[Stored | None, int]:
        """Returns the value of a key, and the number of the last purge."""

        def read(db: sqlite3.Connection) -> tuple[int | None, bytes | None]:
            found: tuple[int | None, bytes | None] = db.execute(
                _READ, (*key, time.time())
            ).fetchone()
            return found

        purge, data = await self._run(read)
        return None if data is None else decode(data), purge or 0

    async def _write(self, key: Key, stored: Stored, ttl: float, purge: int | None) -> None:
        """Stores a value, unless it was purged after the purge with this number."""
        data = encode(stored)
        if purge is None:
            purge = _NO_PURGE

        def write(db: sqlite3.Connection) -> None:
            now = time.time()
            values = {
                "cache": key.cache,
                "part": key.group,
                "rest": key.rest,
                "ends_at": now + ttl,
                "size": len(data),
                "data": data,
                "purge": purge,
                "last_known": purge + _PURGES_KEPT,
            }
            db.execute(_WRITE, values)
            db.execute("DELETE FROM responses_1 WHERE ends_at <= ?", (now,))
            if self._stored % _STORED_BETWEEN == 0:
                self._shrink(db)
            self._stored += 1

        await self._run(write)

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await _in_thread(lambda: self._connection.run(work))

    def _shrink(self, db: sqlite3.Connection) -> None:
        (size,) = db.execute("SELECT COALESCE(SUM(size), 0) FROM responses_1").fetchone()
        if size <= self._max_size:
            return
        db.execute(
            "DELETE FROM responses_1 WHERE rowid IN (SELECT rowid FROM ("
            "SELECT rowid, SUM(size) OVER (ORDER BY ends_at, rowid) - size AS before "
            "FROM responses_1) WHERE before < ?)",
            (size - self._max_size * _KEPT_SHARE,),
        )


def _note_purge(db: sqlite3.Connection, cache: str, group: str | None) -> None:
    # The last one is never removed, so the numbers go on from it.
    insert = "INSERT INTO purges_1 (cache, part) VALUES (?, ?)"
    number = db.execute(insert, (cache, group)).lastrowid or 0
    db.execute("DELETE FROM purges_1 WHERE number <= ?", (number - _PURGES_KEPT,))


async def _in_thread(work: Callable[[], T]) -> T:
    from anyio.to_thread import run_sync

    return await run_sync(work)
