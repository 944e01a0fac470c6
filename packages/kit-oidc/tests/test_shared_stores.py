# SPDX-License-Identifier: MIT
"""Several processes, which share nothing but the store of the sessions."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import anyio
import pytest

from kit import Context, Kit, Response
from kit.oidc import Login, User, oidc
from kit.oidc.testing import TestProvider
from kit.session import SessionStoreError, session
from kit.session.sqlite import SQLiteStore
from kit.session.stores import MemoryStore, SessionRecord, SessionStore
from kit.testing import test_client as new_client

FORM = {"content-type": "application/x-www-form-urlencoded"}


def new_login(provider: TestProvider) -> Login[User]:
    return oidc(
        issuer=provider.issuer,
        client_id=provider.client_id,
        client_secret=provider.client_secret,
        transport=provider.transport,
    )


def new_app(login: Login[User], store: SessionStore) -> Kit[Any, Any]:
    app = Kit()
    app.use(session(store=store))
    login.register(app)
    app.get("/me", login.required, lambda c: c.text(c.get("user").sub))

    @app.get("/token")
    async def token(c: Context) -> Response:
        return c.text(await login.get_access_token(c))

    return app


async def test_a_refresh_of_several_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = TestProvider()
    provider.lifetime_s = 60
    apps = [new_app(new_login(provider), SQLiteStore(tmp_path / "sessions.db")) for _ in range(3)]
    async with (
        new_client(apps[0]) as first,
        new_client(apps[1]) as second,
        new_client(apps[2]) as third,
    ):
        await provider.log_in(first)
        clients = (first, second, third)
        for each in (second, third):
            each.cookies.update(first.cookies)
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 55)
        provider.requests.clear()
        handle = provider.handle

        async def slow(*args: Any) -> Any:
            await anyio.sleep(0.05)
            return await handle(*args)

        monkeypatch.setattr(provider, "handle", slow)
        tokens: list[str] = []

        async def ask(client: Any) -> None:
            tokens.append(await (await client.get("/token")).text())

        async with anyio.create_task_group() as group:
            for client in clients * 2:
                group.start_soon(ask, client)
    assert len(tokens) == 6
    assert len({*tokens}) == 1
    assert provider.requests.count(("POST", "/token")) == 1


async def test_a_back_channel_logout_at_another_process(tmp_path: Path) -> None:
    provider = TestProvider()
    apps = [new_app(new_login(provider), SQLiteStore(tmp_path / "sessions.db")) for _ in range(2)]
    async with new_client(apps[0]) as browser, new_client(apps[1]) as other:
        await provider.log_in(browser)
        assert (await browser.get("/me")).status == 200
        body = urlencode({"logout_token": provider.logout_token(sub="ann")})
        path = "/auth/backchannel-logout"
        assert (await other.post(path, headers=FORM, content=body)).status == 200
        assert (await browser.get("/me")).status == 401
        # A token works once, whichever process gets it.
        assert (await browser.post(path, headers=FORM, content=body)).status == 400


class Failing(MemoryStore):
    """A store in memory that fails when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.fails: set[str] = set()

    def _check(self, name: str) -> None:
        if name in self.fails:
            raise SessionStoreError("gone")

    async def insert(self, key: str, record: SessionRecord, /) -> bool:
        self._check("insert")
        return await super().insert(key, record)

    async def delete_user(self, user: str, /, *, keep: str | None = None) -> int:
        self._check("delete_user")
        return await super().delete_user(user, keep=keep)


async def test_a_store_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is logged in by half, and a provider can try its logout again."""
    provider = TestProvider()
    provider.lifetime_s = 60
    store = Failing()
    async with new_client(new_app(new_login(provider), store)) as client:
        started = await client.get("/auth/login")
        callback = provider.authorize(started.headers["location"])
        store.fails = {"insert"}
        response = await client.get(callback)
        assert (response.status, response.headers["retry-after"]) == (503, "5")
        assert ("POST", "/token") not in provider.requests
        assert (await client.get("/auth/backchannel-logout")).status in (404, 405)
        store.fails = set()
        assert (await provider.log_in(client)).status == 303
        token = provider.logout_token(sub="ann")
        body = urlencode({"logout_token": token})
        path = "/auth/backchannel-logout"
        store.fails = {"delete_user"}
        assert (await client.post(path, headers=FORM, content=body)).status == 503
        store.fails = set()
        now = time.time()
        with monkeypatch.context() as later:
            later.setattr(time, "time", lambda: now + 55)
            store.fails = {"insert"}
            assert (await client.get("/token")).status == 503
            store.fails = set()
        assert (await client.post(path, headers=FORM, content=body)).status == 200
        assert (await client.get("/me")).status == 401
