# SPDX-License-Identifier: MIT
"""What a store has to do."""

from __future__ import annotations

from typing import Protocol

from ._entries import Key, Stored


class Store(Protocol):
    """Keeps responses. An exception that it raises is logged, and the request goes on uncached.

    `encode` and `decode` turn what is stored into bytes and back.
    """

    async def get(self, key: Key) -> Stored | None:
        """Returns what was stored under a key, or None if that is too old or was never there."""

    async def set(self, key: Key, stored: Stored, ttl: float) -> None:
        """Stores something for some seconds, in place of what was there."""

    async def delete(self, cache: str, group: str) -> None:
        """Removes everything whose key begins with these."""

    async def clear(self, cache: str) -> None:
        """Removes everything of a cache."""
