# SPDX-License-Identifier: MIT
"""The writer thread, which commits concurrent writes together."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from copy import copy
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from kit.authoring.fork_safety import join_before_forks
from kit.session import SessionStoreError

from ._database import is_broken, open_writer, store_error

__all__ = ("Writer",)

_MOST_AT_ONCE = 256
# Small enough to keep the wait for a batch of expired rows short.
_SWEPT_AT_ONCE = 200
_SWEEP_INTERVAL_S = 60.0
_SWEEP = (
    "DELETE FROM sessions WHERE rowid IN"
    " (SELECT rowid FROM sessions WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)"
)


class _Job(NamedTuple):
    """A waiting statement; the future has the number of rows that it changed.

    Without a statement, the file is opened.
    """

    statement: str | None
    parameters: Sequence[Any]
    future: Future[int]


class Writer:
    """Runs statements in its own thread, which starts with the first one and ends with `stop`.

    Args:
        path: The file.
        timeout_s: How long to wait for other processes.
        durable: Whether what was committed survives a loss of power.
    """

    def __init__(self, path: str, timeout_s: float, *, durable: bool) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._durable = durable
        self._next_sweep = 0.0
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._connection: sqlite3.Connection | None = None
        # A process may exit without closing the store.
        self._thread = threading.Thread(target=self._run, name="kit.session: SQLite", daemon=True)
        self._thread.start()
        join_before_forks(self)

    def submit(self, statement: str | None, parameters: Sequence[Any] = ()) -> Future[int]:
        """Returns a future with the number of rows that a statement changes.

        Without a statement, the file is opened, which needs no lock if it exists.
        """
        job = _Job(statement, parameters, Future())
        self._jobs.put(job)
        return job.future

    def stop(self) -> None:
        """Makes the thread write all submitted statements, close the file, and end."""
        self._jobs.put(None)

    def join(self) -> None:
        """Waits until the thread has ended."""
        self._thread.join()

    def _run(self) -> None:
        ended = False
        while not ended:
            jobs, ended = self._take()
            if jobs:
                self._write(jobs)
                # They refer to the result while the thread waits for the next ones.
                del jobs
        self._close()

    def _take(self) -> tuple[list[_Job], bool]:
        jobs: list[_Job] = []
        job = self._jobs.get()
        with suppress(Empty):
            while job is not None:
                # Statements cancelled before they started aren't run.
                if job.future.set_running_or_notify_cancel():
                    jobs.append(job)
                if len(jobs) == _MOST_AT_ONCE:
                    break
                job = self._jobs.get_nowait()
        return jobs, job is None

    def _write(self, jobs: list[_Job]) -> None:
        try:
            counts = self._transact(jobs)
        except Exception as error:
            if len(jobs) == 1 or isinstance(error, (sqlite3.OperationalError, SessionStoreError)):
                self._fail(jobs, error)
                return
            # One of them can't be written, e.g. because of a lone surrogate; the others can.
            for job in jobs:
                self._write([job])
        else:
            for job, count in zip(jobs, counts, strict=True):
                job.future.set_result(count)

    def _transact(self, jobs: list[_Job]) -> list[int]:
        if self._connection is None:
            self._connection = open_writer(self._path, self._timeout_s, durable=self._durable)
        connection = self._connection
        try:
            with connection:  # commits, or rolls back
                if any(job.statement for job in jobs):
                    connection.execute("BEGIN IMMEDIATE")
                    self._sweep(connection)
                return [
                    connection.execute(job.statement, job.parameters).rowcount
                    if job.statement
                    else 0
                    for job in jobs
                ]
        except sqlite3.Error as error:
            if is_broken(error):
                self._close()
            raise

    def _sweep(self, connection: sqlite3.Connection) -> None:
        now = time.monotonic()
        if now >= self._next_sweep:
            count = connection.execute(_SWEEP, (time.time(), _SWEPT_AT_ONCE)).rowcount
            if count < _SWEPT_AT_ONCE:  # otherwise the next transaction continues
                self._next_sweep = now + _SWEEP_INTERVAL_S

    def _fail(self, jobs: list[_Job], error: Exception) -> None:
        if isinstance(error, sqlite3.Error):
            error = store_error(error, self._path)
        for job in jobs:
            # Each is raised in its own task, which adds its traceback.
            job.future.set_exception(copy(error))

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()
