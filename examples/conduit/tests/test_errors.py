# SPDX-License-Identifier: MIT
from __future__ import annotations

import logging
from dataclasses import replace

import pytest
from conduit.application import create_app
from conduit.database import Database
from conduit.settings import Settings
from conduit.testing import PASSWORD, Client
from sqlalchemy import text

JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/articles/a/b/c", 404),
        ("PATCH", "/user", 405),
        ("GET", "/users", 405),
        ("POST", "/tags", 405),
    ],
)
async def test_errors_of_routing_have_the_form(
    api: Client, method: str, path: str, status: int
) -> None:
    answer = await api(method, path)
    assert answer.status == status
    assert answer.messages
    assert ("allow" in answer.headers) is (status == 405)


@pytest.mark.parametrize("path", ["/users", "/users/login"])
@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", "null", '{"user": 1}', '{"user": {"email": "\\ud800"}}', "\x00", "\ud800"],
)
async def test_bodies_that_are_no_user(api: Client, path: str, body: str) -> None:
    sent = body.encode("utf-8", "surrogatepass")
    response = await api.app.request(f"/api{path}", method="POST", headers=JSON, body=sent)
    assert response.status == 422
    assert (await response.json())["errors"]["body"]


async def test_a_body_of_another_type(api: Client) -> None:
    headers = {"content-type": "text/plain"}
    response = await api.app.request("/api/users", method="POST", headers=headers, body="{}")
    assert response.status == 415
    assert response.headers.get("accept") == "application/json"


async def test_a_body_that_is_too_large(api: Client) -> None:
    answer = await api.post("/users", {"user": "x" * 1024 * 1024})
    assert answer.status == 413
    assert answer.messages


async def test_an_internal_error_reveals_nothing(
    api: Client, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    async with database.transaction() as session:
        await session.execute(text("DROP TABLE tags"))
    with caplog.at_level(logging.ERROR, "conduit"):
        answer = await api.get("/tags")
    assert (answer.status, answer.messages) == (500, ["Internal Server Error"])
    assert "no such table: tags" in caplog.text


async def test_a_locked_database_is_busy(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conduit.database.BUSY_TIMEOUT_MS", 10)
    app = create_app(settings)
    async with app.running():
        api = Client(app)
        database = Database(settings)
        async with database.transaction() as session:
            await session.execute(text("SELECT 1"))  # begins, and so may write alone
            answer = await api.post("/users", NEW)
        await database.close()
    assert (answer.status, answer.messages) == (503, ["the database is busy, try again"])
    assert answer.headers["retry-after"] == "1"


async def test_logins_are_limited(settings: Settings) -> None:
    app = create_app(replace(settings, login_limit="2/minute"))
    async with app.running():
        api = Client(app)
        login = {"user": {"email": "ann@example.com", "password": PASSWORD}}
        statuses = [(await api.post("/users/login", login)).status for _ in range(2)]
        answer = await api.post("/users/login", login)
    assert (statuses, answer.status) == ([401, 401], 429)
    assert answer.messages == ["Try again in 60 seconds"]
    assert answer.headers["retry-after"] == "60"


@pytest.mark.parametrize(
    ("hops", "emails", "last"),
    [
        # Nothing that a client writes into the header makes it another one...
        (0, ["a@b.c", "d@e.f", "g@h.i"], 429),
        # ...but proxies say who it is.
        (1, ["a@b.c", "d@e.f", "g@h.i"], 401),
        # All of them together may not try one account more often, in whatever case.
        (1, ["ann@b.c", "Ann@b.c", "ANN@B.C"], 429),
    ],
)
async def test_who_is_limited(settings: Settings, hops: int, emails: list[str], last: int) -> None:
    app = create_app(replace(settings, login_limit="2/minute", trusted_hops=hops))
    statuses = []
    async with app.running():
        for number, email in enumerate(emails):
            login = {"user": {"email": email, "password": PASSWORD}}
            headers = {"x-forwarded-for": f"192.0.2.{number}"}
            statuses.append((await Client(app)("POST", "/users/login", login, headers)).status)
    assert statuses == [401, 401, last]


async def test_scripts_of_other_sites_may_send_tokens(api: Client) -> None:
    asked = {
        "origin": "https://app.example.com",
        "access-control-request-method": "PUT",
        "access-control-request-headers": "authorization,content-type",
    }
    answer = await api("OPTIONS", "/user", headers=asked)
    assert answer.status == 204
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-allow-headers"] == "authorization,content-type"
    answer = await api("GET", "/user", headers={"origin": "https://app.example.com"})
    assert (answer.status, answer.headers["access-control-allow-origin"]) == (401, "*")


NEW = {"user": {"username": "ann", "email": "ann@example.com", "password": PASSWORD}}
