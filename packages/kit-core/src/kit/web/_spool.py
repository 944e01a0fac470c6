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

    __slots__ = ("_file", "_lock", "size")

    def __init__(self, file: Any) -> None:
        self._file = file
        self._lock = threading.Lock()
        self.size = 0

    @classmethod
    async def open(cls) -> Spool:
        """Makes an empty one."""
        from anyio import TemporaryFile

        # It lives longer than this function: the form closes it.
        return cls(await TemporaryFile().__aenter__())

    async def write(self, data: bytes | bytearray) -> None:
        """Appends to it."""
        await self._file.write(data)
        self.size += len(data)

    async def flush(self) -> None:
        """Makes sure that what was written is in the file.

        Raises:
            OSError: If there is no space left.
        """
        await self._file.flush()

    def read_at(self, start: int, size: int) -> bytes | None:
        """Reads in any thread; gives None if it is closed."""
        with self._lock:  # readers share one file position
            file = self._file.wrapped
            if file.closed:
                return None
            file.seek(start)
            return bytes(file.read(size))

    def close(self) -> None:
        """Closes and removes it; may be called again."""
        with self._lock:
            self._file.wrapped.close()

    def __del__(self) -> None:
        # A form that was read from the raw request, which nobody closes.
        with suppress(OSError):
            self._file.wrapped.close()
