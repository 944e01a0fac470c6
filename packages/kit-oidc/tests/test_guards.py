# SPDX-License-Identifier: MIT
"""Who gets in, who is redirected, and who gets a 401."""

from __future__ import annotations

import time
from typing import Annotated, Any

import pytest

from kit import Context, HTTPException, Kit, Response
from kit.interface.metadata import get_facts
from kit.oidc import User, oauth2, oidc
from kit.oidc.testing import TestProvider
from kit.openapi import build_document
from kit.session import session
from kit.session.stores import MemoryStore
from kit.testing import test_client as new_client
from kit.typed import Depends, Var, typed

NAVIGATION = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
FETCH = {"sec-fetch-mode": "cors", "sec-fetch-dest": "empty"}
CHROME = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"


def new_login(**options: Any) -> Any:
    return oidc(issuer="https://id.example", client_id="a", client_secret="a", **options)


def new_app(login: Any) -> Kit[Any, Any]:
    app = Kit()
    app.use(session(store=MemoryStore()))
    login.register(app)
    return app


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", NAVIGATION, 302),
        ("GET", {**NAVIGATION, "accept": "*/*"}, 302),
        ("GET", {"accept": CHROME}, 302),
        ("GET", {**FETCH, "accept": "text/html"}, 401),
        ("GET", {"sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}, 401),
        ("GET", {"sec-fetch-mode": "websocket", "sec-fetch-dest": "websocket"}, 401),
        ("GET", {"accept": "application/json"}, 401),
        ("GET", {"accept": "application/json, text/html;q=0.5"}, 401),
        ("GET", {"accept": "*/*"}, 401),
        ("GET", {}, 401),
        ("POST", {**NAVIGATION, "accept": "text/html"}, 401),
    ],
)
async def test_redirect_or_401(site: Any, method: str, headers: Any, status: int) -> None:
    login = site.login
    app = Kit()
    app.use(session(store=MemoryStore()))
    own = new_login()
    own.register(app)
    app.all("/page", own.required, lambda c: c.text("in"))
    with TestProvider(own):
        async with new_client(app) as client:
            response = await client.request(method, "http://localhost/page", headers=headers)
    assert response.status == status
    if status == 401:
        challenge = response.headers["www-authenticate"]
        assert challenge == 'Cookie cookie-name="__Host-session"'
    assert login is not own


async def test_user_as_a_dependency() -> None:
    login = new_login()
    app = new_app(login)

    @app.get("/me")
    @typed
    async def me(user: Annotated[User, Depends(login.user)]) -> User:
        return user

    @app.get("/var", use=login.required)
    @typed
    async def var(user: Annotated[User, Var()]) -> str:
        return user.sub

    with TestProvider(login) as provider:
        async with new_client(app) as client:
            assert (await client.get("/me")).status == 401
            sent = await client.get("/me", headers=NAVIGATION)
            assert sent.status == 302
            back = await client.get(provider.authorize(sent.headers["location"]))
            assert back.headers["location"] == "/me"
            assert (await (await client.get("/me")).json())["sub"] == "ann"
            assert await (await client.get("/var")).json() == "ann"
    document = build_document(app)
    schemes = document["components"]["securitySchemes"]
    assert [*schemes.values()] == [
        {
            "type": "openIdConnect",
            "openIdConnectUrl": "https://id.example/.well-known/openid-configuration",
        }
    ]
    assert document["paths"].keys() == {"/me", "/var"}
    assert "401" in document["paths"]["/me"]["get"]["responses"]


async def test_load() -> None:
    accounts = {"https://id.example ann": {"id": 7}}

    async def find(user: User, c: Context) -> dict[str, int] | None:
        return accounts.get(user.id)

    login = new_login(load=find)
    app = new_app(login)
    app.get("/me", login.required, lambda c: c.json(c.get("user")))
    app.get("/maybe", login.optional, lambda c: c.json(c.get("user")))
    with TestProvider(login) as provider:
        async with new_client(app) as client:
            assert await (await client.get("/maybe")).json() is None
            await provider.log_in(client)
            assert await (await client.get("/me")).json() == {"id": 7}
            assert await (await client.get("/maybe")).json() == {"id": 7}
            await provider.log_in(client, {"sub": "eve"})
            # Also for a browser: a redirect to the login would lead back here for ever.
            assert (await client.get("/me", headers=NAVIGATION)).status == 403
            assert (await client.get("/maybe")).status == 403
    assert get_facts(login.required).provides == {"user": dict[str, int]}
    assert get_facts(login.required).responses.keys() == {401, 403}


async def test_load_that_forgets_its_result() -> None:
    login = new_login(load=lambda user, c: ValueError("no user"))
    app = new_app(login)
    app.get("/me", login.required, lambda c: c.text("in"))
    with TestProvider(login) as provider:
        async with new_client(app) as client:
            await provider.log_in(client)
            assert (await client.get("/me")).status == 500


async def test_on_login() -> None:
    seen: list[User] = []

    async def check(user: User, c: Context) -> Response | None:
        seen.append(user)
        if user.sub == "eve":
            return c.text("not you", 403)
        if user.sub == "bob":
            raise HTTPException(403, "nor you")
        return None

    login = new_login(on_login=check)
    app = new_app(login)
    app.get("/me", login.required, lambda c: c.text("in"))
    with TestProvider(login) as provider:
        async with new_client(app) as client:
            for sub in ("eve", "bob"):
                assert (await provider.log_in(client, {"sub": sub})).status == 403
                assert (await client.get("/me")).status == 401
            assert (await provider.log_in(client)).status == 303
            assert (await client.get("/me")).status == 200
    assert [user.sub for user in seen] == ["eve", "bob", "ann"]


@pytest.mark.parametrize("answer", [True, False, "ann", ValueError("no")])
async def test_on_login_that_returns_something_else(answer: Any) -> None:
    login = new_login(on_login=lambda user, c: answer)
    app = new_app(login)
    app.get("/me", login.required, lambda c: c.text("in"))
    with TestProvider(login) as provider:
        async with new_client(app) as client:
            assert (await provider.log_in(client)).status == 500
            assert (await client.get("/me")).status == 401


async def test_on_error() -> None:
    login = new_login(on_error=lambda error, c: c.html(f"<p>{error.code}</p>", error.status))
    app = new_app(login)
    async with new_client(app) as client:
        with TestProvider(login) as provider:
            provider.faults.authorization_response = {"error": "access_denied", "code": None}
            response = await provider.log_in(client)
    assert (response.status, await response.text()) == (403, "<p>access_denied</p>")


async def test_require_max_age(monkeypatch: pytest.MonkeyPatch) -> None:
    login = new_login()
    app = new_app(login)
    app.get("/pay", login.require(max_age=300), lambda c: c.text("paid"))
    with TestProvider(login) as provider:
        async with new_client(app) as client:
            assert (await client.get("/pay")).status == 401
            await provider.log_in(client)
            assert (await client.get("/pay")).status == 200
            now = time.time()
            monkeypatch.setattr(time, "time", lambda: now + 331)
            assert (await client.get("/pay")).status == 401
            sent = await client.get("/pay", headers=NAVIGATION)
            assert "max_age=300" in sent.headers["location"]
            await client.get(provider.authorize(sent.headers["location"]))
            assert (await client.get("/pay")).status == 200


async def test_require_acr() -> None:
    login = new_login()
    app = new_app(login)
    app.get("/pay", login.require(acr_values="mfa"), lambda c: c.text("paid"))
    with TestProvider(login) as provider:
        async with new_client(app) as client:
            await provider.log_in(client)
            sent = await client.get("/pay", headers=NAVIGATION)
            assert "acr_values=mfa" in sent.headers["location"]
            # A provider that can't do it ends in an error, not in a loop.
            assert (await client.get(provider.authorize(sent.headers["location"]))).status == 403
            sent = await client.get("/pay", headers=NAVIGATION)
            provider.faults.id_token = lambda claims: {**claims, "acr": "mfa"}
            assert (await client.get(provider.authorize(sent.headers["location"]))).status == 303
            assert (await client.get("/pay")).status == 200


async def test_prompt_none() -> None:
    login = new_login()
    app = new_app(login)

    @app.get("/silent")
    async def silent(c: Context) -> Response:
        return await login.start(c, prompt="none", return_to="/back")

    with TestProvider(login) as provider:
        async with new_client(app) as client:
            for error in ("login_required", "interaction_required", "consent_required"):
                provider.faults.authorization_response = {"error": error, "code": None}
                response = await provider.log_in(client, path="/silent")
                assert (response.status, response.headers["location"]) == (303, "/back")
            provider.faults.authorization_response = {"error": "access_denied", "code": None}
            assert (await provider.log_in(client, path="/silent")).status == 403
            provider.faults.authorization_response = {"error": "login_required", "code": None}
            assert (await provider.log_in(client)).status == 400


async def test_a_prefix_and_a_mount() -> None:
    login = new_login()
    inner = Kit()
    inner.use(session(store=MemoryStore()))
    login.register(inner, "/account")
    inner.get("/me", login.required, lambda c: c.text("in"))
    app = Kit()
    app.route("/shop", inner)
    with TestProvider(login) as provider:
        async with new_client(app) as client:
            sent = await client.get("/shop/me", headers=NAVIGATION)
            back = await client.get(provider.authorize(sent.headers["location"]))
            assert (back.status, back.headers["location"]) == (303, "/shop/me")


async def test_routes_that_are_not_registered() -> None:
    login = new_login()
    app = Kit()
    app.use(session(store=MemoryStore()))
    app.get("/me", login.required, lambda c: c.text("in"))
    seen: list[str] = []
    app.on_error(lambda error, c: seen.append(str(error)) or c.text("error", 500))
    async with new_client(app) as client:
        assert (await client.get("/me", headers=NAVIGATION)).status == 500
    assert "login.register(app)" in seen[0]


async def test_no_session() -> None:
    login = new_login()
    app = Kit()
    login.register(app)
    app.get("/me", login.required, lambda c: c.text("in"))
    async with new_client(app) as client:
        assert (await client.get("/me")).status == 500


def test_openapi_of_oauth2() -> None:
    async def fetch(get: Any) -> Any:
        return {"sub": "a"}

    login = oauth2(
        issuer="https://git.example",
        authorization_endpoint="https://git.example/authorize",
        token_endpoint="https://git.example/token",
        fetch_claims=fetch,
        client_id="a",
        scopes="read",
    )
    assert get_facts(login.optional).security == (
        {
            "type": "oauth2",
            "flows": {
                "authorizationCode": {
                    "authorizationUrl": "https://git.example/authorize",
                    "tokenUrl": "https://git.example/token",
                    "scopes": {"read": ""},
                }
            },
        },
        (),
    )
    with pytest.raises(ValueError, match="ID tokens"):
        login.require(max_age=5)
