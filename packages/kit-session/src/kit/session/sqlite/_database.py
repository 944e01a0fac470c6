# SPDX-License-Identifier: MIT
"""The file: how to create and open it, and the meaning of its errors.

SPEC: <https://www.sqlite.org/wal.html>, <https://www.sqlite.org/rescode.html>.
"""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

from kit.session import SessionStoreError

__all__ = ("is_broken", "is_busy", "open_reader", "open_writer", "store_error")

_APPLICATION_ID = 0x4B497453
_SCHEMA_VERSION = 2
_BY_LOGIN = (
    "CREATE INDEX IF NOT EXISTS sessions_by_login ON sessions (login) WHERE login IS NOT NULL"
)
_SCHEMA = (
    # With rowids, a new expiry doesn't change the index of the keys: half the time of WITHOUT
    # ROWID. Processes that start together may all find an empty file.
    "CREATE TABLE IF NOT EXISTS sessions (key TEXT NOT NULL UNIQUE, data BLOB NOT NULL,"
    " version INTEGER NOT NULL, created_at REAL NOT NULL, expires_at REAL NOT NULL, user TEXT,"
    " login TEXT)",
    "CREATE INDEX IF NOT EXISTS sessions_by_expiry ON sessions (expires_at)",
    "CREATE INDEX IF NOT EXISTS sessions_by_user ON sessions (user) WHERE user IS NOT NULL",
    _BY_LOGIN,
    f"PRAGMA application_id = {_APPLICATION_ID}",
    f"PRAGMA user_version = {_SCHEMA_VERSION}",
)
_FROM_VERSION_1 = (
    "ALTER TABLE sessions ADD COLUMN login TEXT",
    _BY_LOGIN,
    f"PRAGMA user_version = {_SCHEMA_VERSION}",
)
_RETRY_S = 0.01
_MOST_WAL_BYTES = 16 * 1024 * 1024


def open_writer(path: str, timeout_s: float, *, durable: bool) -> sqlite3.Connection:
    """Opens the file for writing; creates it if it doesn't exist.

    Args:
        path: The file.
        timeout_s: How long the connection waits for other processes.
        durable: Whether what was committed survives a loss of power.

    Raises:
        SessionStoreError: If the file isn't a session file, or has a later version.
        sqlite3.Error: If it can't be opened.
    """
    _create(path)
    connection = sqlite3.connect(
        path, timeout=timeout_s, isolation_level=None, check_same_thread=False
    )
    try:
        _prepare(connection, path, time.monotonic() + timeout_s)
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        connection.execute(f"PRAGMA journal_size_limit = {_MOST_WAL_BYTES}")
    except BaseException:
        connection.close()
        raise
    return connection


def open_reader(path: str, timeout_s: float = 0.0) -> sqlite3.Connection:
    """Opens a file that `open_writer` has prepared, for reading.

    Args:
        path: The file.
        timeout_s: How long the connection waits for other processes; by default, it never waits.

    Raises:
        sqlite3.Error: If it can't be opened.
    """
    connection = sqlite3.connect(
        # As a URI, so that it isn't created if it is gone.
        f"{Path(path).as_uri()}?mode=rw",
        uri=True,
        timeout=timeout_s,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("PRAGMA query_only = 1")
    return connection


def is_busy(error: sqlite3.Error) -> bool:
    """Returns whether the error is a lock of another process."""
    return _code(error) == sqlite3.SQLITE_BUSY


def is_broken(error: sqlite3.Error) -> bool:
    """Returns whether to reopen the file, since it is damaged or was replaced."""
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR)


def store_error(error: sqlite3.Error, path: str) -> SessionStoreError:
    """Returns the error for users of the store."""
    return SessionStoreError(f"The session file {path!r} can't be used: {error}")


def _code(error: sqlite3.Error) -> int | None:
    code: int | None = getattr(error, "sqlite_errorcode", None)
    # The lower byte is the primary code.
    return None if code is None else code & 0xFF


def _create(path: str) -> None:
    # Only a file that doesn't exist: closing a descriptor of an existing one would drop the locks
    # that this process holds on it (https://www.sqlite.org/howtocorrupt.html, section 2.2). SQLite
    # creates its other files with the same permissions.
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        pass
    except OSError as error:
        raise SessionStoreError(
            f"The session file {path!r} can't be created: {error.strerror}"
        ) from error


def _prepare(connection: sqlite3.Connection, path: str, end: float) -> None:
    while True:
        try:
            _check(connection, path)
            connection.execute("PRAGMA journal_mode = WAL")
            _make_schema(connection)
            return
        except sqlite3.OperationalError as error:
            # SQLite doesn't wait if two processes that change the mode would wait for each other.
            if not is_busy(error) or time.monotonic() >= end:
                raise
        time.sleep(_RETRY_S)


def _check(connection: sqlite3.Connection, path: str) -> None:
    # In one transaction: another process may make the schema between two reads.
    with connection:
        connection.execute("BEGIN")
        application, version = _marks(connection)
        schema_version = connection.execute("PRAGMA schema_version").fetchone()[0]
    if application == _APPLICATION_ID:
        if version > _SCHEMA_VERSION:
            raise SessionStoreError(
                f"The session file {path!r} has version {version}, from a later kit-session; this "
                f"one supports version {_SCHEMA_VERSION}"
            )
    elif application or version or schema_version:
        raise SessionStoreError(
            f"The file {path!r} is a database of another program: use a separate file for sessions"
        )


def _make_schema(connection: sqlite3.Connection) -> None:
    if _marks(connection) == (_APPLICATION_ID, _SCHEMA_VERSION):
        return
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        application, version = _marks(connection)  # another process may have been faster
        steps = _SCHEMA if application == 0 else _FROM_VERSION_1 if version == 1 else ()
        for statement in steps:
            connection.execute(statement)


def _marks(connection: sqlite3.Connection) -> tuple[int, int]:
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return application, version
