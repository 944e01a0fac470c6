# SPDX-License-Identifier: MIT
"""The view that one request has of a shared store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from ._entries import Key, Stored

T = TypeVar("T")


class View(Generic[T]):
    """A `RequestView` that remembers what its first read told about purges.

    Args:
        read: Returns the value of a key, and which purges its group has had.
        write: Stores a value for a number of seconds, unless its group has had more purges since;
            None if nothing was read before.
    """

    __slots__ = ("_purges", "_read", "_write")

    def __init__(
        self,
        read: Callable[[Key], Awaitable[tuple[Stored | None, T]]],
        write: Callable[[Key, Stored, float, T | None], Awaitable[None]],
    ) -> None:
        self._read = read
        self._write = write
        self._purges: T | None = None

    async def get(self, key: Key) -> Stored | None:
        """Returns the value of a key, or None if it is absent or has expired."""
        stored, purges = await self._read(key)
        if self._purges is None:
            self._purges = purges
        return stored

    async def set(self, key: Key, stored: Stored, ttl: float) -> None:
        """Stores a value for `ttl` seconds, unless the group was removed since the first `get`."""
        await self._write(key, stored, ttl, self._purges)
