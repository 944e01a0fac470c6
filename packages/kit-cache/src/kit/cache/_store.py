# SPDX-License-Identifier: MIT
"""The protocol for stores."""

from __future__ import annotations

from typing import Protocol

from ._entries import Key, Stored


class Store(Protocol):
    """Keeps responses. If it raises, the exception is logged and the request continues uncached.

    `encode` and `decode` convert stored values to bytes and back.
    """

    async def get(self, key: Key) -> Stored | None:
        """Returns the value of a key, or None if it is absent or has expired."""

    async def set(self, key: Key, stored: Stored, ttl: float) -> None:
        """Stores a value for `ttl` seconds, replacing any earlier value."""

    async def delete(self, cache: str, group: str) -> None:
        """Removes all entries of a group."""

    async def clear(self, cache: str) -> None:
        """Removes all entries of a cache."""
