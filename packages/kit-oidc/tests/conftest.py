# SPDX-License-Identifier: MIT
"""An app with a login, a provider for tests, and a browser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kit import Context, Kit, Response
from kit.oidc import Login, oidc
from kit.oidc.testing import TestProvider
from kit.session import get_session, session
from kit.session.stores import MemoryStore
from kit.testing import test_client as new_client

ISSUER = "https://id.example"
CLIENT = "books"


class Site:
    """An app with a login, its provider, and a browser.

    Args:
        client: The browser.
        login: The login.
        provider: The provider.
        store: The store of the sessions.
    """

    def __init__(
        self, client: Any, login: Login[Any], provider: TestProvider, store: MemoryStore
    ) -> None:
        self.client = client
        self.login = login
        self.provider = provider
        self.store = store

    async def get(self, path: str, **headers: str) -> Any:
        return await self.client.get(path, headers=headers)

    async def start(self, path: str = "/auth/login") -> str:
        """Starts a login; returns the redirect to the provider."""
        response = await self.client.get(path)
        assert response.status == 302, await response.text()
        return str(response.headers["location"])

    async def log_in(self, sub: str = "ann", **claims: Any) -> Any:
        return await self.provider.log_in(self.client, {"sub": sub, **claims})

    async def who(self) -> Any:
        """The user for the app: the `sub`, or None."""
        response = await self.client.get("/who")
        assert response.status == 200
        return (await response.json())["sub"]


def new_app(login: Login[Any], store: Any) -> Kit[Any, Any]:
    app = Kit()
    app.use(session(store=store))
    login.register(app)

    @app.get("/who", use=login.optional)
    async def who(c: Context) -> Response:
        user = c.get("user")
        saved = await get_session(c)
        return c.json({"sub": user and user.sub, "session": saved.user, "id": saved.id})

    @app.get("/me", use=login.required)
    async def me(c: Context) -> Response:
        return c.json(c.get("user"))

    @app.get("/token")
    async def token(c: Context) -> Response:
        return c.text(await login.get_access_token(c))

    return app


@asynccontextmanager
async def _open_site(**options: Any) -> AsyncIterator[Site]:
    login = oidc(**{"issuer": ISSUER, "client_id": CLIENT, "client_secret": "s3cret", **options})
    store = MemoryStore()
    with TestProvider(login) as provider:
        async with new_client(new_app(login, store)) as client:
            yield Site(client, login, provider, store)


@pytest.fixture
def open_site() -> Any:
    """Opens a site with options of `oidc`: `async with open_site(max_age=60) as site`."""
    return _open_site


@pytest.fixture
def new_site() -> Any:
    """Returns a site with a login of its own: `new_site(client, login, provider, store)`."""
    return Site


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with _open_site() as found:
        yield found
