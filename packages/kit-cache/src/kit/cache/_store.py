# SPDX-License-Identifier: MIT
"""The protocols for stores."""

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


class RequestView(Protocol):
    """A shared store as one request uses it; all its keys belong to one group.

    `set` has no effect if the group was removed, by any process, since the first `get`: the
    handlers may have produced the response from data that is outdated now.
    """

    async def get(self, key: Key) -> Stored | None:
        """Returns the value of a key, or None if it is absent or has expired."""

    async def set(self, key: Key, stored: Stored, ttl: float) -> None:
        """Stores a value for `ttl` seconds, unless the group was removed since the first `get`."""


class SharedStore(Store, Protocol):
    """A store that several processes share, with an optional method that a `Store` may lack.

    Without the method, a response that another process is producing during a purge is stored after
    it. In the process that purges, the cache itself prevents this.
    """

    def for_request(self) -> RequestView:
        """Returns a view of the store for one request."""
