# SPDX-License-Identifier: MIT
"""Who is using the site: the session in a signed cookie, and the user in it."""

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

# The user, in handlers behind `for_users`.
Me = Annotated[User, Var("user")]


def sessions(settings: Settings) -> AsyncMiddleware:
    """The middleware of sessions.

    They are in the cookie, so that all machines can read them, and none has to keep them. The
    price: a logout takes the cookie from this browser alone. A copy of it is worth something until
    it expires, or until the password changes, as is a token of the API.
    """
    # A key of its own: a token of the API is never taken for a session, nor the other way round.
    secret = hmac.digest(settings.secret.encode(), b"sessions of the front end", "sha256").hex()
    # Browsers drop a `Secure` cookie on plain HTTP, some of them also on this machine.
    return session(secret, max_age=settings.token_lifetime_s, secure=settings.is_production)


async def current_user(c: Context) -> User | None:
    """Returns the user who is logged in."""
    session = await get_session(c)
    if session.user is None:
        return None
    db: AsyncSession = c.get("db")
    # A second call in one request asks nothing: the transaction knows the user by then.
    user = await db.get(User, int(session.user))
    if user is None or session.get("password_digest") != password_digest(user):
        # Was deleted, or has changed the password since this login.
        session.destroy()
        return None
    return user


async def log_in(c: Context, user: User) -> None:
    session = await get_session(c)
    # A new id, so that one that somebody planted in this browser is worth nothing.
    session.rotate(user=str(user.id))
    session["password_digest"] = password_digest(user)


def password_digest(user: User) -> str:
    """What a session keeps of the hash of a password: with another password it ends."""
    return sha256(user.password.encode()).hexdigest()[:32]


async def for_users(c: Context, next: Next) -> Response | None:
    """Finds out who is logged in, for `Me`; sends all others to the login."""
    user = await current_user(c)
    if user is None:
        return await to_login(c)
    c.set("user", user)
    await next()
    return None


attach(for_users, provides={"user": User})


async def to_login(c: Context) -> Response:
    """Sends a visitor to the login, and from there back to where that was needed."""
    form = await read_form(c)
    back = form["next"] or (page_address(c) if c.req.method == "GET" else "")
    return to(c, f"/login?{urlencode({'next': back})}" if back else "/login")
