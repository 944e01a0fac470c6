# SPDX-License-Identifier: MIT
"""What keeps the sessions of an app on the server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

__all__ = ("ImmediateSessionStore", "SessionRecord", "SessionStore")


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session as a store keeps it.

    Attributes:
        data: A JSON object, of which a store has to know nothing.
        version: At least 1, and one more with each write of the data.
        created_at: When the session began, in seconds since the epoch.
        expires_at: When it ends unless it is moved on, in seconds since the epoch. A store never
            returns a record at that time or later.
        user: Whose session it is, for `delete_user`; None if it is nobody's.
    """

    data: bytes
    version: int
    created_at: float
    expires_at: float
    user: str | None = None


@runtime_checkable
class SessionStore(Protocol):
    """Keeps sessions; `kit.session.testing` has the conformance tests for a store.

    A key is the SHA-256 digest of a session id as 64 hexadecimal digits. The id can't be computed
    from it, so what leaks from a store logs nobody in. Keys are compared exactly.

    A record at or past its `expires_at` is gone for every method: it is never returned, replaced
    or touched, and its key is free.

    Each method is atomic, whatever other tasks, processes and machines do with the store. Each
    raises `SessionStoreError` if it isn't known to have worked within a bounded time. A store that
    was not opened opens itself at first use.
    """

    async def open(self) -> None:
        """Connects, and makes what is to be made, e.g. tables. Does nothing if that was done.

        A store may be opened again after `close`, also in another event loop.

        Raises:
            SessionStoreError: If the store can't be used.
        """
        ...

    async def close(self) -> None:
        """Disconnects, and ends all tasks and threads of the store. Raises nothing."""
        ...

    async def read(self, key: str, /) -> SessionRecord | None:
        """Returns the record of a key; None if there is none or it has expired.

        Args:
            key: The key.
        """
        ...

    async def insert(self, key: str, record: SessionRecord, /) -> bool:
        """Adds a record.

        Args:
            key: The key.
            record: The record, of whatever version.

        Returns:
            False, and changes nothing, if the key has a record already.
        """
        ...

    async def replace(self, key: str, record: SessionRecord, /) -> bool:
        """Replaces a record if nobody else has done so meanwhile (compare and swap).

        Args:
            key: The key.
            record: The new record, `user` and `expires_at` included. Its version is one more than
                that of the record that it replaces.

        Returns:
            False, and changes nothing, if the stored version isn't `record.version - 1`, or the
            record is gone.
        """
        ...

    async def touch(self, key: str, expires_at: float, /) -> bool:
        """Moves the end of a session, and leaves data and version as they are.

        Args:
            key: The key.
            expires_at: The new end, in seconds since the epoch.

        Returns:
            False if the record is gone.
        """
        ...

    async def delete(self, key: str, /) -> bool:
        """Removes a record.

        Args:
            key: The key.

        Returns:
            False if the record is gone.
        """
        ...

    async def delete_user(self, user: str, /, *, keep: str | None = None) -> int:
        """Removes all sessions of a user.

        A `replace` or `touch` that comes later, by a task that read its record before, returns
        False.

        Args:
            user: The user, compared exactly.
            keep: The key of a session to leave as it is; ignored if it is no session of the user.

        Returns:
            How many it has removed.
        """
        ...


@runtime_checkable
class ImmediateSessionStore(SessionStore, Protocol):
    """A store that can read without waiting, e.g. from memory or a file in the system's cache.

    `get_session(c)` reads such a store when the session is used, so that handlers need not await.
    """

    def read_now(self, key: str, /) -> SessionRecord | None:
        """Returns the record of a key, as `read` does, without waiting for anything.

        It may be called in any thread, as plain handlers may run in threads.

        Args:
            key: The key.

        Raises:
            BlockingIOError: If it would have to wait this time; `read` is called then.
            SessionStoreError: If the store can't be used.
        """
        ...
