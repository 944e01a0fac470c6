# SPDX-License-Identifier: MIT
"""The connection of a process to a SQLite file.

SPEC: <https://www.sqlite.org/howtocorrupt.html>, sections 2.2 and 2.6.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from kit.authoring.fork_safety import close_at_forks

T = TypeVar("T")

_BUSY_S = 5.0
# Not even garbage collection may close a connection in a process that didn't open it.
_of_the_parent: list[sqlite3.Connection] = []


class Connection:
    """Opens a file on demand, also again after `close` and after a fork.

    Args:
        path: The file; created if it doesn't exist, readable only by its owner.
        schema: SQL script that creates the tables.
    """

    def __init__(self, path: Path, schema: str) -> None:
        self._path = path
        self._schema = schema
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._process = 0
        close_at_forks(self)

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs a function in a transaction, one at a time.

        Args:
            work: The function.

        Returns:
            Its result.

        Raises:
            OSError: If the file can't be created.
            sqlite3.Error: If it can't be used.
        """
        with self._lock:
            db = self._opened()
            with db:
                return work(db)

    def close(self) -> None:
        """Closes the file; the next use opens it again."""
        with self._lock:
            self._close()

    def begin_fork(self) -> None:
        """Closes the file, and keeps it closed until `end_fork`."""
        self._lock.acquire()
        try:
            with contextlib.suppress(sqlite3.Error):
                self._close()
        except BaseException:  # e.g. KeyboardInterrupt
            self._lock.release()
            raise

    def end_fork(self) -> None:
        """Lets the file be opened again, in the process that was forked and in the new one."""
        self._lock.release()

    def _close(self) -> None:
        self._leave_to_parent()
        db, self._db = self._db, None
        if db is not None:
            db.close()

    def _opened(self) -> sqlite3.Connection:
        self._leave_to_parent()
        if self._db is None:
            # Only a file that doesn't exist: closing a descriptor of an existing one would drop the
            # locks that this process holds on it.
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            db = sqlite3.connect(self._path, timeout=_BUSY_S, check_same_thread=False)
            try:
                db.execute("PRAGMA journal_mode = WAL")
                # Responses lost in a crash of the machine are fetched again.
                db.execute("PRAGMA synchronous = OFF")
                db.executescript(self._schema)
            except BaseException:
                db.close()
                raise
            self._db, self._process = db, os.getpid()
        return self._db

    def _leave_to_parent(self) -> None:
        # Native code may fork without calling `begin_fork`.
        if self._db is not None and self._process != os.getpid():
            _of_the_parent.append(self._db)
            self._db = None
