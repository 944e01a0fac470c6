# SPDX-License-Identifier: MIT
"""Ends all sessions of a user, or of a login at an identity provider."""

from __future__ import annotations

from typing import Any

from kit.interface import Context

from ._errors import SessionStoreError
from ._session import Session, get_session, get_state
from ._state import unavailable
from .stores import SessionStore

__all__ = ("get_store", "revoke_login", "revoke_sessions")


async def revoke_sessions(
    store: Context[Any, Any] | SessionStore,
    user: str,
    *,
    keep: Session[Any] | str | None = None,
) -> int:
    """Ends all sessions of a user, e.g. when the password has changed.

    It takes effect immediately. Requests in progress that have read one of the sessions can't save
    it again.

    Args:
        store: The context of a request with sessions in a store, or the store itself.
        user: The user, as given to `Session.rotate`.
        keep: A session to keep, usually the one of the request; or its `id`. After `rotate`, an
            `id` needs the context as `store`, as the new id isn't saved yet.

    Returns:
        The number of ended sessions.

    Raises:
        TypeError: If the user is not a str, or `keep` neither a session nor its id.
        ValueError: If the sessions are in cookies, which can't be revoked.
        HTTPException: 503 if the store of the context can't be reached.
        SessionStoreError: If the given store can't be reached.

    Example:
        session.rotate()
        await revoke_sessions(c, user, keep=session)
    """
    if not isinstance(user, str):
        raise TypeError(f"revoke_sessions(user=...) takes a str, not {user!r:.100}")
    if keep is not None and not isinstance(keep, (str, Session)):
        raise TypeError(
            f"revoke_sessions(keep=...) takes a Session, its id or None, not {keep!r:.100}"
        )
    key = await _key(keep) if isinstance(keep, Session) else keep
    if isinstance(store, SessionStore):
        return await store.delete_user(user, keep=key)
    state = get_state(get_session(store))
    backend = state.backend
    own = _revocable(backend.store)
    if state.saved is not None and key == backend.public_id(state.token):
        key = backend.public_id(state.saved.token)
    try:
        return await own.delete_user(user, keep=key)
    except SessionStoreError as error:
        raise unavailable(error) from error


async def revoke_login(store: Context[Any, Any] | SessionStore, login: str) -> int:
    """Ends all sessions that a login at an identity provider started, e.g. when it logs out there.

    It takes effect immediately, as with `revoke_sessions`.

    Args:
        store: The context of a request with sessions in a store, or the store itself.
        login: The login, as given to `Session.rotate`.

    Returns:
        The number of ended sessions.

    Raises:
        TypeError: If the login is not a str.
        ValueError: If the sessions are in cookies, which can't be revoked.
        HTTPException: 503 if the store of the context can't be reached.
        SessionStoreError: If the given store can't be reached.
    """
    if not isinstance(login, str):
        raise TypeError(f"revoke_login(login=...) takes a str, not {login!r:.100}")
    if isinstance(store, SessionStore):
        return await store.delete_login(login)
    try:
        return await _revocable(get_store(store)).delete_login(login)
    except SessionStoreError as error:
        raise unavailable(error) from error


def get_store(c: Context[Any, Any]) -> SessionStore | None:
    """Returns the store with the session of a request; None if sessions are in cookies.

    Packages that log users in can keep records of their own in it, under keys that are digests of
    their own names.

    Args:
        c: The context.

    Raises:
        RuntimeError: If the middleware `session()` doesn't cover the route.
    """
    return get_state(get_session(c)).backend.store


def _revocable(store: SessionStore | None) -> SessionStore:
    if store is None:
        raise ValueError(
            "Sessions in cookies can't be revoked, as the server has no list of them: "
            "give session(store=...) a store"
        )
    return store


async def _key(session: Session[Any]) -> str | None:
    """Returns the current key of a session in the store, before this request rotates it."""
    state = get_state(await session)
    return None if state.saved is None else state.backend.public_id(state.saved.token)
