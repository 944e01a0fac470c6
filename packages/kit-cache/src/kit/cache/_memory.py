# SPDX-License-Identifier: MIT
"""A store in the memory of the process."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import NamedTuple

from kit.authoring.options import OptionChecks

from ._entries import Entry, Key, Stored

# Approximate memory of an entry's objects, in addition to its strings and its body.
_OVERHEAD_BYTES = 1000


class _Kept(NamedTuple):
    stored: Stored
    size: int
    ends_at: float


class MemoryStore:
    """Keeps the most recently used responses in memory.

    Args:
        max_size: Approximate maximum size in bytes.

    Raises:
        TypeError: If `max_size` is not an int.
        ValueError: If it is below 1.
    """

    def __init__(self, max_size: int = 64 * 1024 * 1024) -> None:
        self._max_size = OptionChecks("MemoryStore").number(
            "max_size", max_size, least=1, unit="byte"
        )
        self._size = 0
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()
        self._groups: dict[tuple[str, str], set[Key]] = {}

    @property
    def size(self) -> int:
        """Approximate size in bytes."""
        return self._size

    async def get(self, key: Key) -> Stored | None:
        """Returns the value of a key, or None."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        if kept.ends_at <= time.monotonic():
            self._remove(key)
            return None
        self._kept.move_to_end(key)
        return kept.stored

    async def set(self, key: Key, stored: Stored, ttl: float) -> None:
        """Stores a value, unless it is larger than `max_size`."""
        if key in self._kept:
            self._remove(key)
        size = _estimate_size(key, stored)
        if size > self._max_size or ttl <= 0:
            return
        self._kept[key] = _Kept(stored, size, time.monotonic() + ttl)
        self._groups.setdefault(key[:2], set()).add(key)
        self._size += size
        while self._size > self._max_size:
            self._remove(next(iter(self._kept)))

    async def delete(self, cache: str, group: str) -> None:
        """Removes a group."""
        for key in [*self._groups.get((cache, group), ())]:
            self._remove(key)

    async def clear(self, cache: str) -> None:
        """Removes all entries of a cache."""
        for key in [key for key in self._kept if key.cache == cache]:
            self._remove(key)

    def _remove(self, key: Key) -> None:
        self._size -= self._kept.pop(key).size
        group = self._groups[key[:2]]
        group.discard(key)
        if not group:
            del self._groups[key[:2]]


def _estimate_size(key: Key, stored: Stored) -> int:
    size = _OVERHEAD_BYTES + sum(len(part) for part in key)
    if isinstance(stored, Entry):
        size += len(stored.body) + sum(len(name) + len(value) for name, value in stored.headers)
    return size
