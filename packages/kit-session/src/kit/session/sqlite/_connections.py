# SPDX-License-Identifier: MIT
"""The connections of a process to the file: a reader, and a writer in its own thread."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import closing

from kit.authoring.fork_safety import close_at_forks
from kit.session.stores import SessionRecord

from ._database import is_broken, is_busy, open_reader, store_error
from ._writer import Writer

__all__ = ("Connections",)

_READ = (
    "SELECT data, version, created_at, expires_at, user, login FROM sessions"
    " WHERE key = ? AND expires_at > ?"
)


class Connections:
    """Opens connections on demand, also again after `close` and after a fork in both processes.

    Args:
        path: The file.
        timeout_s: How long to wait for other processes.
        durable: Whether committed data survives a power failure.

    Attributes:
        is_prepared: Whether the file exists and is a session file, as known after any successful
            write.
    """

    def __init__(self, path: str, timeout_s: float, *, durable: bool) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._durable = durable
        # Held while a connection is opened. Reentrant, since the garbage collector may close a
        # store that was dropped in a thread that forks, which has the lock.
        self._lock = threading.RLock()
        # How many threads read patiently, with a connection of their own; notified when one ends.
        self._patient = 0
        self._reads_ended = threading.Condition(self._lock)
        self._writer: Writer | None = None
        self._reader: sqlite3.Connection | None = None
        self.is_prepared = False
        close_at_forks(self)

    def begin_fork(self) -> None:
        """Closes the connections, the writer after all writes; none is opened before `end_fork`."""
        self._lock.acquire()
        try:
            self._reads_ended.wait_for(lambda: not self._patient)
            self._stop()
        except BaseException:  # e.g. KeyboardInterrupt
            self._lock.release()
            raise

    def end_fork(self) -> None:
        """Lets connections be opened again, in the process that was forked and in the new one."""
        self._lock.release()

    def submit(self, statement: str | None, parameters: Sequence[object] = ()) -> Future[int]:
        """Returns a future with the number of rows that a statement changes.

        Without a statement, the file is opened, and created if it doesn't exist.
        """
        with self._lock:
            if self._writer is None:
                self._writer = Writer(self._path, self._timeout_s, durable=self._durable)
            return self._writer.submit(statement, parameters)

    def read(self, key: str) -> SessionRecord | None:
        """Reads a record from a prepared file, without waiting.

        Raises:
            BlockingIOError: If another process keeps the file locked.
            SessionStoreError: If the file can't be read.
        """
        # One thread at a time; the lock is held for a few microseconds.
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
        """Reads a record, and waits while other processes lock the file.

        Raises:
            SessionStoreError: If the file can't be read.
        """
        with self._lock:
            self._patient += 1
        try:
            with closing(open_reader(self._path, self._timeout_s)) as connection:
                return _read(connection, key)
        except sqlite3.Error as error:
            raise store_error(error, self._path) from error
        finally:
            with self._lock:
                self._patient -= 1
                self._reads_ended.notify_all()

    def close(self) -> Writer | None:
        """Closes both connections, the writer after all writes.

        Returns:
            The writer that has yet to end.
        """
        with self._lock:
            return self._stop()

    def close_and_wait(self) -> None:
        """Closes both connections, and waits for all writes."""
        writer = self.close()
        if writer is not None:
            writer.join()

    def abandon(self) -> None:
        """Closes both connections of a store that was dropped, unless a fork is closing them.

        It doesn't wait for the fork: the garbage collector may call this in a thread that the fork
        waits for, such as one that reads from another store.
        """
        if self._lock.acquire(blocking=False):
            try:
                self._stop()
            finally:
                self._lock.release()

    def _stop(self) -> Writer | None:
        writer, self._writer = self._writer, None
        self._close_reader()
        self.is_prepared = False
        if writer is not None:
            writer.stop()
        return writer

    def _close_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()


def _read(connection: sqlite3.Connection, key: str) -> SessionRecord | None:
    row = connection.execute(_READ, (key, time.time())).fetchone()
    return None if row is None else SessionRecord(*row)
