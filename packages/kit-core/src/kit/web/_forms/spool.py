# SPDX-License-Identifier: MIT
"""Where a form keeps files that are too large for memory."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any


class Spool:
    """A temporary file with the files of one form, one behind the other.

    A form has one at most: with one for each file, a client could use up the file descriptors of
    the process. It has no name in the file system, so nothing is left when it is closed.

    Attributes:
        size: Number of bytes in it.
    """

    __slots__ = ("_file", "_is_closed", "_lock", "size")

    def __init__(self) -> None:
        self._file: Any = None
        self._is_closed = False
        self._lock = threading.Lock()
        self.size = 0

    async def write(self, data: bytes) -> None:
        """Appends to it.

        Who is cancelled has appended nothing: the next call writes to the same place.

        Raises:
            OSError: If there is no space left.
        """
        from anyio import to_thread

        await to_thread.run_sync(self._write_at, self.size, data)
        self.size += len(data)

    def _write_at(self, start: int, data: bytes) -> None:
        with self._lock:  # a thread may go on when the task that waited for it was cancelled
            if self._is_closed:
                return
            if self._file is None:
                import tempfile

                # It lives longer than this function: the form closes it.
                self._file = tempfile.TemporaryFile()  # noqa: SIM115
            self._file.seek(start)
            self._file.write(data)
            self._file.flush()
            if self._is_closed:  # meanwhile, see close()
                self._file.close()

    def read_at(self, start: int, size: int) -> bytes | None:
        """Reads in any thread; gives None if it is closed."""
        with self._lock:  # readers share one file position
            if self._is_closed:
                return None
            self._file.seek(start)
            data = bytes(self._file.read(size))
            if self._is_closed:
                self._file.close()
            return data

    def close(self) -> None:
        """Closes and removes it; may be called again."""
        self._is_closed = True
        # The event loop waits for no thread that still reads or writes: that one closes it.
        if self._lock.acquire(blocking=False):
            try:
                if self._file is not None:
                    self._file.close()
            finally:
                self._lock.release()

    def __del__(self) -> None:
        # A form that was read from the raw request, which nobody closes.
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
