# SPDX-License-Identifier: MIT
"""Refresh tokens: rotated, and used once however many requests want to."""

from __future__ import annotations

import time
from typing import Any

import anyio
import pytest


@pytest.fixture
async def expired(site: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A site with a user whose access token has expired."""
    site.provider.lifetime_s = 60
    await site.log_in()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 55)
    return site


def refreshes(site: Any) -> int:
    return int(site.provider.requests.count(("POST", "/token"))) - 1


async def test_a_fresh_token_is_not_refreshed(site: Any) -> None:
    await site.log_in()
    first = await (await site.get("/token")).text()
    assert first == await (await site.get("/token")).text()
    assert refreshes(site) == 0


async def test_rotation(expired: Any) -> None:
    first = await (await expired.get("/token")).text()
    assert refreshes(expired) == 1
    assert await (await expired.get("/token")).text() == first
    assert refreshes(expired) == 1
    expired.provider.lifetime_s = 1
    assert await expired.who() == "ann"


async def test_again_and_again(expired: Any) -> None:
    expired.provider.lifetime_s = 1  # each token has expired when it comes
    tokens = {await (await expired.get("/token")).text() for _ in range(3)}
    assert len(tokens) == 3
    assert refreshes(expired) == 3


async def test_without_rotation(expired: Any) -> None:
    expired.provider.rotates_refresh_tokens = False
    expired.provider.lifetime_s = 1
    tokens = {await (await expired.get("/token")).text() for _ in range(3)}
    assert len(tokens) == 3
    assert refreshes(expired) == 3


async def test_concurrent_requests_refresh_once(expired: Any) -> None:
    """A provider that sees a refresh token twice revokes all of the login."""
    tokens: list[str] = []
    handle = expired.provider.handle

    async def slow(*args: Any) -> Any:
        await anyio.sleep(0.05)
        return await handle(*args)

    expired.provider.handle = slow

    async def ask() -> None:
        tokens.append(await (await expired.get("/token")).text())

    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(ask)
    assert len(tokens) == 10
    assert len({*tokens}) == 1
    assert refreshes(expired) == 1
    assert await expired.who() == "ann"


async def test_a_request_that_is_cancelled_loses_no_tokens(expired: Any) -> None:
    handle = expired.provider.handle
    began = anyio.Event()

    async def slow(*args: Any) -> Any:
        began.set()
        await anyio.sleep(0.05)
        return await handle(*args)

    expired.provider.handle = slow
    async with anyio.create_task_group() as group:
        group.start_soon(expired.get, "/token")
        await began.wait()
        group.cancel_scope.cancel()
    assert (await expired.get("/token")).status == 200
    assert refreshes(expired) == 1


async def test_a_refused_refresh_ends_the_session(expired: Any) -> None:
    expired.provider.revoke()
    response = await expired.get("/token")
    assert response.status == 401
    assert response.headers["www-authenticate"] == 'Cookie cookie-name="__Host-session"'
    assert await expired.who() is None


async def test_a_provider_that_is_down_ends_nothing(expired: Any) -> None:
    expired.provider.faults.is_down = True
    response = await expired.get("/token")
    assert (response.status, response.headers["retry-after"]) == (503, "5")
    expired.provider.faults.is_down = False
    assert (await expired.get("/token")).status == 200


async def test_without_a_refresh_token(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    site.provider.faults.token_response = {"refresh_token": None, "expires_in": 60}
    await site.log_in()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 70)
    page = {"accept": "text/html"}
    response = await site.get("/token", **page)
    assert response.status == 302
    assert response.headers["location"].startswith("https://id.example/authorize?")


async def test_nobody_is_logged_in(site: Any) -> None:
    assert (await site.get("/token")).status == 401


@pytest.mark.parametrize(
    "changed",
    [
        {"sub": "eve"},
        {"iss": "https://evil.example"},
        {"aud": "another"},
        {"nonce": "another"},
        {"auth_time": 7},
    ],
)
async def test_rp_refresh_id_token_of_another_login(expired: Any, changed: Any) -> None:
    """OpenID Connect Core, section 12.2."""
    expired.provider.faults.id_token = lambda claims: {**claims, **changed}
    assert (await expired.get("/token")).status == 401
    assert await expired.who() is None


async def test_no_id_token_in_a_refresh(expired: Any) -> None:
    expired.provider.faults.token_response = {"id_token": None, "scope": None}
    assert (await expired.get("/token")).status == 200
    response = await expired.client.post("/auth/logout", headers={"origin": "http://localhost"})
    assert "id_token_hint" in response.headers["location"]
