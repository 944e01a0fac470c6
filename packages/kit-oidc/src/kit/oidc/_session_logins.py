# SPDX-License-Identifier: MIT
"""What a session keeps of a login."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from kit.interface import Context, HTTPException
from kit.session import Session, SessionStoreError, get_session, get_store
from kit.session.stores import SessionStore

from ._user import LoginRecord

__all__ = ("find_login", "raise_unavailable", "require_store", "save_login")

_KEY = "kit.oidc"


async def find_login(c: Context[Any, Any], key: str) -> LoginRecord | None:
    """Returns the login of a request; None if nobody is logged in, or by another provider.

    Args:
        c: The context.
        key: The provider and the client.

    Raises:
        RuntimeError: If the middleware `session()` doesn't cover the route.
        HTTPException: 503 if the store can't be reached.
    """
    session = await get_session(c)
    user = session.user
    found = None if user is None else session.get(_KEY)
    if found is None or found.get("client") != key:
        return None
    record = msgspec.convert(found, LoginRecord)
    # APPSEC: the app may have logged another user in since then.
    return record if record.user.id == user else None


def save_login(session: Session[dict[str, Any]], record: LoginRecord) -> None:
    """Keeps a login in a session, whose user must be that of the login."""
    session[_KEY] = msgspec.to_builtins(record)


@contextmanager
def raise_unavailable() -> Iterator[None]:
    """Turns an error of the store into a 503, as kit-session does."""
    try:
        yield
    except SessionStoreError as error:
        raise HTTPException(
            503,
            "The session is not available; try again later",
            headers={"Retry-After": "5"},
        ) from error


def require_store(c: Context[Any, Any]) -> SessionStore:
    """Returns the store of the sessions.

    Raises:
        RuntimeError: If sessions are in cookies, which could be replayed after a logout.
    """
    store = get_store(c)
    if store is None:
        raise RuntimeError(
            "Logins need sessions in a store, since sessions in cookies can't be ended by the "
            "provider, are too small for tokens, and show them to the browser: write "
            "session(store=MemoryStore()), or another store of kit-session"
        )
    return store
