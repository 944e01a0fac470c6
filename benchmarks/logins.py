# SPDX-License-Identifier: MIT
"""The app of `overhead` with a login at a provider: the guard of a request of a logged-in user."""

from __future__ import annotations

import asyncio
from typing import Any

from .sessions import memory, with_cookie

Pair = tuple[Any, Any]


def kit_login() -> Pair:
    """A route of Kit behind `login.required`, with a session in memory."""
    from kit import Context, Kit
    from kit.oidc import oidc
    from kit.session import session

    login = oidc(issuer="https://id.example", client_id="books", client_secret="s3cret")

    async def text(c: Context[Any, Any]) -> Any:
        return c.text("Hello, World!")

    async def nothing(c: Context[Any, Any], next: Any) -> None:
        await next()

    app: Any = Kit()
    app.use(session(**memory()))
    login.register(app)
    app.get("/", login.required, text)
    bare: Any = Kit()
    bare.use(nothing).get("/", nothing, text)
    return with_cookie(app, bare, asyncio.run(_log_in(app, login)))


async def _log_in(app: Any, login: Any) -> bytes:
    """Logs a user in; returns the cookie of the session."""
    from kit.oidc.testing import TestProvider

    with TestProvider(login) as provider:
        started = await app.request("/auth/login")
        callback = provider.authorize(started.headers["location"])
        done = await app.request(callback, headers={"cookie": _cookie(started)})
        return _cookie(done).encode()


def _cookie(response: Any) -> str:
    cookie: str = response.headers.get_set_cookie()[0]
    return cookie.partition(";")[0]
