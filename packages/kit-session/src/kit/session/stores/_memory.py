# SPDX-License-Identifier: MIT
"""The store of an app that runs in one process."""

from __future__ import annotations

import time
from dataclasses import replace

from kit.interface.options import OptionChecks

from ._protocol import SessionRecord

__all__ = ("MemoryStore",)

# Each write looks at this many of the oldest records, and removes those that have expired.
_SWEPT = 2


class MemoryStore:
    """Keeps sessions in the memory of this process, on asyncio and trio.

    For development, tests, and apps of one process: sessions end with the process, and each worker
    has its own.

    Args:
        max_sessions: How many it keeps. Beyond that, the session that was written the longest time
            ago is dropped.

    Raises:
        TypeError: If `max_sessions` is not an int.
        ValueError: If it is less than 1.
    """

    def __init__(self, *, max_sessions: int = 100_000) -> None:
        check = OptionChecks("MemoryStore")
        self._max_sessions: int = check.number("max_sessions", max_sessions, least=1)
        # In the order in which they were written last.
        self._records: dict[str, SessionRecord] = {}
        self._keys_by_user: dict[str, set[str]] = {}

    def __len__(self) -> int:
        """Returns how many sessions are kept, those included that have expired since."""
        return len(self._records)

    async def open(self) -> None:
        """Does nothing."""

    async def close(self) -> None:
        """Does nothing: the sessions stay as long as the object."""

    async def read(self, key: str, /) -> SessionRecord | None:
        """Returns the record of a key; None if there is none or it has expired."""
        return self.read_now(key)

    def read_now(self, key: str, /) -> SessionRecord | None:
        """Returns the record of a key; None if there is none or it has expired."""
        record = self._records.get(key)
        if record is None or time.time() < record.expires_at:
            return record
        self._remove(key)
        return None

    async def insert(self, key: str, record: SessionRecord, /) -> bool:
        """Adds a record; returns False if the key has one."""
        self._sweep()
        if self.read_now(key) is not None:
            return False
        if len(self._records) >= self._max_sessions:
            self._remove(next(iter(self._records)))
        self._add(key, record)
        return True

    async def replace(self, key: str, record: SessionRecord, /) -> bool:
        """Replaces the record of the version before; returns False if it isn't there."""
        self._sweep()
        stored = self.read_now(key)
        if stored is None or stored.version != record.version - 1:
            return False
        self._remove(key)
        self._add(key, record)
        return True

    async def touch(self, key: str, expires_at: float, /) -> bool:
        """Moves the end of a session; returns False if it is gone."""
        stored = self.read_now(key)
        if stored is None:
            return False
        self._remove(key)
        self._add(key, replace(stored, expires_at=expires_at))
        return True

    async def delete(self, key: str, /) -> bool:
        """Removes a record; returns False if it is gone."""
        if self.read_now(key) is None:
            return False
        self._remove(key)
        return True

    async def delete_user(self, user: str, /, *, keep: str | None = None) -> int:
        """Removes all sessions of a user, and returns how many."""
        keys = [key for key in self._keys_by_user.get(user, ()) if key != keep]
        return sum([await self.delete(key) for key in keys])

    def _add(self, key: str, record: SessionRecord) -> None:
        self._records[key] = record
        if record.user is not None:
            self._keys_by_user.setdefault(record.user, set()).add(key)

    def _remove(self, key: str) -> None:
        user = self._records.pop(key).user
        if user is not None:
            keys = self._keys_by_user[user]
            keys.discard(key)
            if not keys:
                del self._keys_by_user[user]

    def _sweep(self) -> None:
        now = time.time()
        for _ in range(_SWEPT):
            oldest = next(iter(self._records), None)
            if oldest is None or now < self._records[oldest].expires_at:
                return
            self._remove(oldest)
