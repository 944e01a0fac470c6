# SPDX-License-Identifier: MIT
"""Keeps sessions in a SQLite file."""

from __future__ import annotations

import asyncio
import os
import time
import weakref
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from anyio import CancelScope, to_thread

from kit.authoring.options import OptionChecks
from kit.session.stores import SessionRecord

from ._connections import Connections

__all__ = ("SQLiteStore",)

# The key of an expired record is free.
_INSERT = (
    "INSERT INTO sessions (key, data, version, created_at, expires_at, user, login)"
    " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET data = excluded.data,"
    " version = excluded.version, created_at = excluded.created_at,"
    " expires_at = excluded.expires_at, user = excluded.user, login = excluded.login"
    " WHERE sessions.expires_at <= ?"
)
_REPLACE = (
    "UPDATE sessions SET data = ?, version = ?, created_at = ?, expires_at = ?, user = ?,"
    " login = ? WHERE key = ? AND version = ? AND expires_at > ?"
)
_TOUCH = "UPDATE sessions SET expires_at = max(expires_at, ?) WHERE key = ? AND expires_at > ?"
_DELETE = "DELETE FROM sessions WHERE key = ? AND expires_at > ?"
_DELETE_USER = "DELETE FROM sessions WHERE user = ? AND key IS NOT ? AND expires_at > ?"
_DELETE_LOGIN = "DELETE FROM sessions WHERE login = ? AND expires_at > ?"
_OPEN = None


class SQLiteStore:
    """Keeps sessions in a SQLite file, on asyncio and trio.

    For an app on one machine: all processes that open the file share its sessions, and they outlive
    the processes. The file must be on a local disk, in a folder where the app may create files,
    since SQLite keeps two more next to it (`-wal` and `-shm`).

    A read is a lookup of about ten microseconds, done in the event loop: a worker thread would take
    many times as long. A thread of the store does the writes, and commits concurrent ones together.
    Writing also removes expired sessions, a few at a time.

    A store can be used before the process forks, and afterwards by both processes. A fork waits for
    pending writes.

    Args:
        path: The file. If it doesn't exist, it is created with permissions only for its owner.
        timeout: How long a write waits for other processes before it fails, in seconds.
        durable: Whether written data survives a power failure. Otherwise the latest writes may be
            lost, including revocations. A killed process loses nothing either way.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument can't be used.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, timeout: float = 5.0, durable: bool = False
    ) -> None:
        check = OptionChecks("SQLiteStore")
        connections = Connections(
            _checked_path(check, path),
            check.number("timeout", timeout, least=0.001, unit="seconds", whole=False),
            durable=check.flag("durable", durable),
        )
        self._connections = connections
        # For a store that is dropped without being closed.
        weakref.finalize(self, connections.abandon)

    async def open(self) -> None:
        """Opens the file, and creates it if it doesn't exist.

        Raises:
            SessionStoreError: If it can't be used, or isn't a session file.
        """
        await self._execute(_OPEN)

    async def close(self) -> None:
        """Waits for all writes, and closes the file."""
        with CancelScope(shield=True):
            await to_thread.run_sync(self._connections.close_and_wait)

    async def read(self, key: str, /) -> SessionRecord | None:
        """Returns the record of a key; None if there is none or it has expired.

        Raises:
            SessionStoreError: If the file can't be read.
        """
        if not self._connections.is_prepared:
            await self.open()
        try:
            return self._connections.read(key)
        except BlockingIOError:
            return await to_thread.run_sync(self._connections.read_patiently, key)

    def read_now(self, key: str, /) -> SessionRecord | None:
        """Returns the record of a key; None if there is none or it has expired.

        If the store isn't open, this opens it, which blocks the event loop.

        Raises:
            BlockingIOError: If another process keeps the file locked.
            SessionStoreError: If the file can't be read.
        """
        if not self._connections.is_prepared:
            self._connections.submit(_OPEN).result()
            self._connections.is_prepared = True
        return self._connections.read(key)

    async def insert(self, key: str, record: SessionRecord, /) -> bool:
        """Adds a record; returns False if the key has one.

        Raises:
            SessionStoreError: If the file can't be written in time.
        """
        return await self._execute(_INSERT, key, *_columns(record), time.time()) == 1

    async def replace(self, key: str, record: SessionRecord, /) -> bool:
        """Replaces the previous version of a record; returns False if it isn't there.

        Raises:
            SessionStoreError: If the file can't be written in time.
        """
        before = record.version - 1
        return await self._execute(_REPLACE, *_columns(record), key, before, time.time()) == 1

    async def touch(self, key: str, expires_at: float, /) -> bool:
        """Moves the end of a session, unless it is later already; returns False if it is gone.

        Raises:
            SessionStoreError: If the file can't be written in time.
        """
        return await self._execute(_TOUCH, expires_at, key, time.time()) == 1

    async def delete(self, key: str, /) -> bool:
        """Removes a record; returns False if it is gone.

        Raises:
            SessionStoreError: If the file can't be written in time.
        """
        return await self._execute(_DELETE, key, time.time()) == 1

    async def delete_user(self, user: str, /, *, keep: str | None = None) -> int:
        """Removes all sessions of a user, and returns how many.

        Raises:
            SessionStoreError: If the file can't be written in time.
        """
        return await self._execute(_DELETE_USER, user, keep, time.time())

    async def delete_login(self, login: str, /) -> int:
        """Removes all sessions that a login started, and returns how many.

        Raises:
            SessionStoreError: If the file can't be written in time.
        """
        return await self._execute(_DELETE_LOGIN, login, time.time())

    async def _execute(self, statement: str | None, *parameters: Any) -> int:
        count = await _result(self._connections.submit(statement, parameters))
        self._connections.is_prepared = True
        return count


async def _result(future: Future[int]) -> int:
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # trio, which can wait for such a future only in a thread
        try:
            return await to_thread.run_sync(future.result, abandon_on_cancel=True)
        finally:
            future.cancel()
    return await asyncio.wrap_future(future, loop=loop)


def _columns(record: SessionRecord) -> Sequence[Any]:
    times = record.created_at, record.expires_at
    return record.data, record.version, *times, record.user, record.login


def _checked_path(check: OptionChecks, path: Any) -> str:
    try:
        text = os.fspath(path)
    except TypeError:
        check.wrong_type("path", path, "a path")
    if not isinstance(text, str):
        check.wrong_type("path", path, "a path that is a str")
    if text in ("", ":memory:"):
        raise ValueError(
            f"SQLiteStore(path={text!r}) would create a database for each connection: use "
            "kit.session.stores.MemoryStore() to keep sessions in memory"
        )
    if text.startswith("file:"):
        check.unusable("path", text, "a path, not a URI")
    # A process may change its working directory later.
    return os.path.abspath(text)
