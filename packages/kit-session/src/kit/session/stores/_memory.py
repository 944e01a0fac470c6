# SPDX-License-Identifier: MIT
"""The store for an app that runs in one process."""

from __future__ import annotations

import time
from dataclasses import replace
from heapq import heapify, heappop, heappush

from kit.authoring.options import OptionChecks

from ._protocol import SessionRecord

__all__ = ("MemoryStore",)

# The minimum number of expiry times kept before outdated ones are removed.
_LEAST_NOTED = 64


class MemoryStore:
    """Keeps sessions in the memory of this process, on asyncio and trio.

    For development, tests, and apps with one process: sessions end with the process, and each
    worker has its own.

    Args:
        max_sessions: How many sessions it keeps. Beyond that, the least recently written session is
            dropped.

    Raises:
        TypeError: If `max_sessions` is not an int.
        ValueError: If it is less than 1.
    """

    def __init__(self, *, max_sessions: int = 100_000) -> None:
        check = OptionChecks("MemoryStore")
        self._max_sessions: int = check.number("max_sessions", max_sessions, least=1)
        # In the order of their last write.
        self._records: dict[str, SessionRecord] = {}
        self._keys_by_user: dict[str, set[str]] = {}
        self._keys_by_login: dict[str, set[str]] = {}
        # A heap; an outdated expiry time stays in it until that time.
        self._ends: list[tuple[float, str]] = []

    def __len__(self) -> int:
        """Returns the number of stored sessions, including expired ones."""
        return len(self._records)

    async def open(self) -> None:
        """Does nothing."""

    async def close(self) -> None:
        """Does nothing: the sessions exist as long as the object."""

    async def read(self, key: str, /) -> SessionRecord | None:
        """Returns the record of a key; None if there is none or it has expired."""
        return self.read_now(key)

    def read_now(self, key: str, /) -> SessionRecord | None:
        """Returns the record of a key; None if there is none or it has expired."""
        # It changes nothing, since other threads may call it.
        record = self._records.get(key)
        return record if record is not None and time.time() < record.expires_at else None

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
        """Replaces the previous version of a record; returns False if it isn't there."""
        self._sweep()
        stored = self.read_now(key)
        if stored is None or stored.version != record.version - 1:
            return False
        self._add(key, record)
        return True

    async def touch(self, key: str, expires_at: float, /) -> bool:
        """Moves the end of a session, unless it is later already; returns False if it is gone."""
        stored = self.read_now(key)
        if stored is None:
            return False
        if expires_at > stored.expires_at:
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

    async def delete_login(self, login: str, /) -> int:
        """Removes all sessions that a login started, and returns how many."""
        return sum([await self.delete(key) for key in [*self._keys_by_login.get(login, ())]])

    def _add(self, key: str, record: SessionRecord) -> None:
        if key in self._records:
            self._remove(key)
        self._records[key] = record
        heappush(self._ends, (record.expires_at, key))
        if len(self._ends) > 2 * len(self._records) + _LEAST_NOTED:
            self._ends = [(each.expires_at, name) for name, each in self._records.items()]
            heapify(self._ends)
        if record.user is not None:
            self._keys_by_user.setdefault(record.user, set()).add(key)
        if record.login is not None:
            self._keys_by_login.setdefault(record.login, set()).add(key)

    def _remove(self, key: str) -> None:
        record = self._records.pop(key)
        if record.user is not None:
            _discard(self._keys_by_user, record.user, key)
        if record.login is not None:
            _discard(self._keys_by_login, record.login, key)

    def _sweep(self) -> None:
        """Removes expired sessions."""
        now = time.time()
        while self._ends and self._ends[0][0] <= now:
            _, key = heappop(self._ends)
            record = self._records.get(key)
            if record is not None and record.expires_at <= now:
                self._remove(key)


def _discard(index: dict[str, set[str]], name: str, key: str) -> None:
    """Removes a key from an index."""
    keys = index[name]
    keys.discard(key)
    if not keys:
        del index[name]
