# SPDX-License-Identifier: MIT
"""The connections of a process to the file: one that reads, and one that writes in its thread."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import closing, suppress

from kit.session.stores import SessionRecord

from ._database import is_broken, is_busy, open_reader, store_error
from ._writer import Writer

__all__ = ("Connections",)

_READ = (
    "SELECT data, version, created_at, expires_at, user FROM sessions"
    " WHERE key = ? AND expires_at > ?"
)
# What no process may use or close but the one that opened it, so not one forked from it:
# https://www.sqlite.org/howtocorrupt.html, section 2.6.
_of_the_parent: list[object] = []
_all: weakref.WeakSet[Connections] = weakref.WeakSet()


class Connections:
    """Opens connections when they are needed, again after `close` and in a forked process.

    Args:
        path: The file.
        timeout_s: How long to wait for other processes.
        durable: Whether what was committed survives a loss of power.

    Attributes:
        is_prepared: Whether the file is there, and is one of sessions: so after anything that was
            submitted has succeeded.
    """

    def __init__(self, path: str, timeout_s: float, *, durable: bool) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._durable = durable
        self._forget()
        _all.add(self)

    def _forget(self) -> None:
        # Another thread may have held the lock when the process was forked.
        self._lock = threading.Lock()
        self._writer: Writer | None = None
        self._reader: sqlite3.Connection | None = None
        self.is_prepared = False

    def leave_to_parent(self) -> None:
        """Starts anew in a forked process."""
        _of_the_parent.append((self._writer, self._reader))
        self._forget()

    def submit(self, statement: str | None, parameters: Sequence[object] = ()) -> Future[int]:
        """Returns the future number of rows that a statement changes.

        Without a statement, the file is opened, and made if it isn't there.
        """
        with self._lock:
            if self._writer is None:
                self._writer = Writer(self._path, self._timeout_s, durable=self._durable)
            return self._writer.submit(statement, parameters)

    def read(self, key: str) -> SessionRecord | None:
        """Reads a record without waiting, from a file that is prepared.

        Raises:
            BlockingIOError: If another process keeps the file locked.
            SessionStoreError: If the file can't be read.
        """
        # One thread at a time; the lock is held for some microseconds.
        with self._lock:
            try:
                if self._reader is None:
                    self._reader = open_reader(self._path)
                return _read(self._reader, key)
            except sqlite3.Error as error:
                if is_busy(error):
                    raise BlockingIOError(f"The session file {self._path!r} is locked") from error
                if is_broken(error):
                    self._close_reader()
                raise store_error(error, self._path) from error

    def read_patiently(self, key: str) -> SessionRecord | None:
        """Reads a record, and waits for other processes that lock the file.

        Raises:
            SessionStoreError: If the file can't be read.
        """
        try:
            with closing(open_reader(self._path, self._timeout_s)) as connection:
                return _read(connection, key)
        except sqlite3.Error as error:
            raise store_error(error, self._path) from error

    def close(self) -> Writer | None:
        """Closes both connections, that which writes once all is written.

        Returns:
            What has yet to end.
        """
        with self._lock:
            writer, self._writer = self._writer, None
            self._close_reader()
            self.is_prepared = False
        if writer is not None:
            writer.stop()
        return writer

    def close_and_wait(self) -> None:
        """Closes both connections, and waits until all is written."""
        writer = self.close()
        if writer is not None:
            writer.join()

    def _close_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()


def _read(connection: sqlite3.Connection, key: str) -> SessionRecord | None:
    row = connection.execute(_READ, (key, time.time())).fetchone()
    return None if row is None else SessionRecord(*row)


def _after_fork() -> None:
    for each in list(_all):
        each.leave_to_parent()


with suppress(AttributeError):  # on Windows, where no process is forked
    os.register_at_fork(after_in_child=_after_fork)
