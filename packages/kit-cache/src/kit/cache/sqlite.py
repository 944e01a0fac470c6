# SPDX-License-Identifier: MIT
"""A store in a SQLite file, shared by the processes on one machine."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from kit.interface.options import OptionChecks

from ._entries import Key, Stored, decode, encode

__all__ = ("SQLiteStore",)

T = TypeVar("T")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS responses_1 (
    cache TEXT NOT NULL, part TEXT NOT NULL, rest TEXT NOT NULL,
    ends_at REAL NOT NULL, size INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (cache, part, rest)
);
CREATE INDEX IF NOT EXISTS responses_1_end ON responses_1 (ends_at);
"""
_BUSY_S = 5.0
# How many responses are stored between checks of the total size, which read all sizes.
_STORED_BETWEEN = 100
# The share of the maximum size to keep when the store is too large.
_KEPT_SHARE = 0.9


class SQLiteStore:
    """Keeps responses in a SQLite file. Calls run in worker threads.

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
        self._path = Path(path).absolute()
        if not self._path.parent.is_dir():
            check.unusable("path", str(path), f"a file in a folder, {self._path.parent} isn't one")
        self._max_size = check.number("max_size", max_size, least=1, unit="byte")
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._stored = 0

    async def get(self, key: Key) -> Stored | None:
        """Returns the value of a key, or None."""

        def read(db: sqlite3.Connection) -> bytes | None:
            row = db.execute(
                "SELECT data FROM responses_1 "
                "WHERE cache = ? AND part = ? AND rest = ? AND ends_at > ?",
                (*key, time.time()),
            ).fetchone()
            return None if row is None else row[0]

        data = await self._run(read)
        return None if data is None else decode(data)

    async def set(self, key: Key, stored: Stored, ttl: float) -> None:
        """Stores a value, and removes expired entries."""
        data = encode(stored)

        def write(db: sqlite3.Connection) -> None:
            now = time.time()
            db.execute(
                "INSERT OR REPLACE INTO responses_1 VALUES (?, ?, ?, ?, ?, ?)",
                (*key, now + ttl, len(data), data),
            )
            db.execute("DELETE FROM responses_1 WHERE ends_at <= ?", (now,))
            if self._stored % _STORED_BETWEEN == 0:
                self._shrink(db)
            self._stored += 1

        await self._run(write)

    async def delete(self, cache: str, group: str) -> None:
        """Removes a group."""
        await self._run(
            lambda db: db.execute(
                "DELETE FROM responses_1 WHERE cache = ? AND part = ?", (cache, group)
            )
        )

    async def clear(self, cache: str) -> None:
        """Removes all entries of a cache."""
        await self._run(lambda db: db.execute("DELETE FROM responses_1 WHERE cache = ?", (cache,)))

    async def close(self) -> None:
        """Closes the file; the next use opens it again."""

        def close() -> None:
            with self._lock:
                if self._connection is not None and self._process == os.getpid():
                    self._connection.close()
                self._connection = None

        await _in_thread(close)

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def locked() -> T:
            with self._lock:
                db = self._opened()
                with db:
                    return work(db)

        return await _in_thread(locked)

    def _opened(self) -> sqlite3.Connection:
        # A connection must not be used in a process that was forked.
        if self._connection is None or self._process != os.getpid():
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            db = sqlite3.connect(self._path, timeout=_BUSY_S, check_same_thread=False)
            db.execute("PRAGMA journal_mode = WAL")
            # Responses lost in a crash of the machine are fetched again.
            db.execute("PRAGMA synchronous = OFF")
            db.executescript(_SCHEMA)
            self._connection, self._process = db, os.getpid()
        return self._connection

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


async def _in_thread(work: Callable[[], T]) -> T:
    from anyio.to_thread import run_sync

    return await run_sync(work)
