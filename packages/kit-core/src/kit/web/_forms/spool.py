# SPDX-License-Identifier: MIT
"""Stores files of a form that are too large for memory."""

from __future__ import annotations

import threading
import weakref
from contextlib import suppress
from typing import Any


class Spool:
    """A temporary file that contains the files of one form, one after another.

    If each upload had its own file, a client could use up the process's file descriptors. The file
    has no name in the file system, so nothing is left once it is closed.
    """

    __slots__ = ("__weakref__", "_file", "_is_closed", "_lock", "size")

    def __init__(self) -> None:
        self._file: Any = None
        self._is_closed = False
        self._lock = threading.Lock()
        self.size = 0

    async def write(self, data: bytes) -> None:
        """Appends data. A cancelled call appends nothing; the next call writes in its place."""
        from anyio import to_thread

        await to_thread.run_sync(self._write_at, self.size, data)
        self.size += len(data)

    def _write_at(self, start: int, data: bytes) -> None:
        with self._lock:  # a thread may continue after the task that waited for it was cancelled
            if self._is_closed:
                return
            if self._file is None:
                import tempfile

                # The form closes the file, or, if the form was read from a raw request, the
                # garbage collector. A finalizer keeps a reference to the file; __del__ could run
                # after the file had been collected with its owner.
                self._file = tempfile.TemporaryFile()  # noqa: SIM115
                weakref.finalize(self, _close_quietly, self._file)
            self._file.seek(start)
            self._file.write(data)
            self._file.flush()
            if self._is_closed:  # closed meanwhile, see close()
                self._file.close()

    def read_at(self, start: int, size: int) -> bytes | None:
        """Reads in any thread; returns None if the file is closed."""
        with self._lock:  # readers share one file position
            if self._is_closed:
                return None
            self._file.seek(start)
            data = bytes(self._file.read(size))
            if self._is_closed:
                self._file.close()
            return data

    def close(self) -> None:
        """Closes and removes the file; may be called again."""
        self._is_closed = True
        # The event loop doesn't wait for a thread that reads or writes: that thread closes it.
        if self._lock.acquire(blocking=False):
            try:
                if self._file is not None:
                    self._file.close()
            finally:
                self._lock.release()


def _close_quietly(file: Any) -> None:
    with suppress(OSError):
        file.close()
