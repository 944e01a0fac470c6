# SPDX-License-Identifier: MIT
"""The protocol of stores that keep sessions on the server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

__all__ = ("ImmediateSessionStore", "SessionRecord", "SessionStore")


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session as a store keeps it.

    Attributes:
        data: A JSON object, which a store needn't interpret.
        version: At least 1; it increases by 1 with each write of the data.
        created_at: When the session started, in seconds since the epoch.
        expires_at: When it expires unless extended, in seconds since the epoch. A store never
            returns a record at that time or later.
        user: The user of the session, for `delete_user`, or None.
        login: The login at an identity provider that started the session, for `delete_login`, or
            None.
    """

    data: bytes
    version: int
    created_at: float
    expires_at: float
    user: str | None = None
    login: str | None = None


@runtime_checkable
class SessionStore(Protocol):
    """Keeps sessions; `kit.session.testing` has the conformance tests for a store.

    A key is the SHA-256 digest of a session id as 64 hexadecimal digits. The id can't be computed
    from it, so a leaked store can't be used to log in. Keys are compared exactly.

    A record at or past its `expires_at` is gone for every method: it is never returned, replaced
    or touched, and its key is free.

    Each method is atomic, even if other tasks, processes and machines use the store. Each raises
    `SessionStoreError` if it isn't known to have succeeded within a bounded time. A store that
    isn't open opens itself on first use.
    """

    async def open(self) -> None:
        """Connects, and creates e.g. tables. Does nothing if the store is open.

        A store may be opened again after `close`, also in another event loop.

        Raises:
            SessionStoreError: If the store can't be used.
        """
        ...

    async def close(self) -> None:
        """Disconnects, and ends all tasks and threads of the store. Never raises."""
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
            record: The record, with any version.

        Returns:
            False, without any change, if the key already has a record.
        """
        ...

    async def replace(self, key: str, record: SessionRecord, /) -> bool:
        """Replaces a record unless another task has done so meanwhile (compare and swap).

        Args:
            key: The key.
            record: The new record, including `user`, `login` and `expires_at`. Its version is one
                more than that of the record that it replaces.

        Returns:
            False, without any change, if the stored version isn't `record.version - 1`, or the
            record is gone.
        """
        ...

    async def touch(self, key: str, expires_at: float, /) -> bool:
        """Moves the end of a session to a later time, and keeps data and version.

        An earlier time changes nothing: a request that read the session before another one
        extended it must not undo that.

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
            keep: The key of a session to keep; ignored if it isn't a session of the user.

        Returns:
            The number of removed sessions.
        """
        ...

    async def delete_login(self, login: str, /) -> int:
        """Removes all sessions that a login at an identity provider started, as `delete_user` does.

        Args:
            login: The login, compared exactly.

        Returns:
            The number of removed sessions.
        """
        ...


@runtime_checkable
class ImmediateSessionStore(SessionStore, Protocol):
    """A store that can read without waiting, e.g. from memory or a file in the system's cache.

    `get_session(c)` reads such a store when the session is used, so handlers needn't await.
    """

    def read_now(self, key: str, /) -> SessionRecord | None:
        """Returns the record of a key, like `read`, without waiting.

        It may be called in any thread, since plain handlers may run in threads.

        Args:
            key: The key.

        Raises:
            BlockingIOError: If it would have to wait this time; `read` is then called instead.
            SessionStoreError: If the store can't be used.
        """
        ...
