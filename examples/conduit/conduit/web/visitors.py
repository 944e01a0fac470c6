# SPDX-License-Identifier: MIT
"""Visitors of the site: their sessions, in signed cookies, and the logged-in user."""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import Annotated
from urllib.parse import urlencode

from sqlalchemy.ext.asyncio import AsyncSession

from conduit.settings import Settings
from conduit.tables import User
from conduit.web.forms import read_form
from conduit.web.requests import page_address, to
from kit import Context, Next, Response
from kit.interface import AsyncMiddleware
from kit.interface.metadata import attach
from kit.session import get_session, session
from kit.typed import Var

# The logged-in user, in handlers after `for_users`.
Me = Annotated[User, Var("user")]


def sessions(settings: Settings) -> AsyncMiddleware:
    """Returns the session middleware.

    Sessions are stored in the cookie, so that every machine can read them and none has to store
    them. The price: a logout only deletes the cookie in this browser. A copy of the cookie remains
    valid until it expires or the password changes.
    """
    # A separate key, so that API tokens and sessions can't be used in place of each other.
    secret = hmac.digest(settings.secret.encode(), b"sessions of the front end", "sha256").hex()
    # Browsers drop `Secure` cookies on plain HTTP, some of them even on localhost.
    return session(secret, max_age=settings.token_lifetime_s, secure=settings.is_production)


async def current_user(c: Context) -> User | None:
    """Returns the logged-in user, if any."""
    session = await get_session(c)
    if session.user is None:
        return None
    db: AsyncSession = c.get("db")
    # A second call in the same request runs no statement: the database session has the user.
    user = await db.get(User, int(session.user))
    if user is None or session.get("password_digest") != password_digest(user):
        # The user was deleted, or has changed the password since this login.
        session.destroy()
        return None
    return user


async def log_in(c: Context, user: User) -> None:
    session = await get_session(c)
    # A new session id prevents session fixation.
    session.rotate(user=str(user.id))
    session["password_digest"] = password_digest(user)


def password_digest(user: User) -> str:
    """Returns a digest of the password's hash, which ends sessions when the password changes."""
    return sha256(user.password.encode()).hexdigest()[:32]


async def for_users(c: Context, next: Next) -> Response | None:
    """Provides the logged-in user for `Me`, and redirects other visitors to the login page."""
    user = await current_user(c)
    if user is None:
        return await to_login(c)
    c.set("user", user)
    await next()
    return None


attach(for_users, provides={"user": User})


async def to_login(c: Context) -> Response:
    """Redirects a visitor to the login page, which leads back to the current page."""
    form = await read_form(c)
    back = form["next"] or (page_address(c) if c.req.method == "GET" else "")
    return to(c, f"/login?{urlencode({'next': back})}" if back else "/login")
