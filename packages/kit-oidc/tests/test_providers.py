# SPDX-License-Identifier: MIT
"""The presets, and several logins in one app."""

from __future__ import annotations

from typing import Any

import pytest

from kit import Kit
from kit.oidc import Login, User, logins, oidc
from kit.oidc.providers import github, gitlab, google, keycloak, microsoft
from kit.oidc.testing import TestProvider
from kit.session import session
from kit.session.stores import MemoryStore
from kit.testing import test_client as new_client

TENANT = "72f988bf-86f1-41af-91ab-2d7cd011db47"
PAGE = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
OWN = {"origin": "http://localhost"}


def new_app(login: Any) -> Kit[Any, Any]:
    app = Kit()
    app.use(session(store=MemoryStore()))
    login.register(app)
    app.get("/me", login.required, lambda c: c.json(c.get("user")))
    return app


@pytest.mark.parametrize(
    ("login", "issuer"),
    [
        (google(client_id="a", client_secret="a"), "https://accounts.google.com"),
        (gitlab(client_id="a", client_secret="a"), "https://gitlab.com"),
        (
            keycloak(client_id="a", url="https://id.example", realm="books", client_secret="a"),
            "https://id.example/realms/books",
        ),
        (
            microsoft(client_id="a", client_secret="a", tenant=TENANT),
            f"https://login.microsoftonline.com/{TENANT}/v2.0",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_log_in(login: Login[User], issuer: str) -> None:
    with TestProvider(login) as provider:
        async with new_client(new_app(login)) as client:
            provider.faults.id_token = lambda claims: {**claims, "tid": TENANT}
            assert (await provider.log_in(client)).status == 303
            found = await (await client.get("/me")).json()
    assert (found["issuer"], found["sub"]) == (issuer, "ann")


async def test_google_of_a_domain() -> None:
    login = google(client_id="a", client_secret="a", hosted_domain="example.com")
    with TestProvider(login) as provider:
        async with new_client(new_app(login)) as client:
            started = await client.get("/auth/login")
            assert "hd=example.com" in started.headers["location"]
            assert (await provider.log_in(client)).status == 403
            user = {"sub": "ann", "hd": "example.com"}
            assert (await provider.log_in(client, user)).status == 303


EMAILS = [
    {"email": "old@example.com", "primary": False, "verified": True},
    {"email": "ann@example.com", "primary": True, "verified": True},
]


@pytest.mark.parametrize(
    ("emails", "email"),
    [(EMAILS, "ann@example.com"), ([{**EMAILS[1], "verified": False}], None), ([], None)],
)
async def test_github(emails: Any, email: str | None) -> None:
    login = github(client_id="a", client_secret="s3cret")
    with TestProvider(login) as provider:
        provider.answers["https://api.github.com/user"] = {
            "id": 7,
            "login": "ann",
            "name": None,
            "email": "public@example.com",
            "avatar_url": "https://git.example/ann.png",
        }
        provider.answers["https://api.github.com/user/emails"] = emails
        async with new_client(new_app(login)) as client:
            started = await client.get("/auth/login")
            assert started.headers["location"].startswith(
                "https://github.com/login/oauth/authorize?"
            )
            assert "nonce" not in started.headers["location"]
            callback = provider.authorize(started.headers["location"])
            assert "iss=https%3A%2F%2Fgithub.com%2Flogin%2Foauth" in callback
            assert (await client.get(callback)).status == 303
            found = await (await client.get("/me")).json()
            assert found["issuer"] == "https://github.com/login/oauth"
            assert (found["sub"], found["name"], found["username"]) == ("7", "ann", "ann")
            assert (found["email"], found["email_verified"]) == (email, email is not None)
            response = await client.post("/auth/logout", headers=OWN)
            assert (response.status, response.headers["location"]) == (303, "/")
            assert (await client.get("/me")).status == 401
            # GitHub sends errors of the token endpoint with the status 200.
            path = "/login/oauth/access_token"
            provider.faults.answers[path] = (200, {"error": "bad_verification_code"})
            assert (await provider.log_in(client)).status == 400
            backchannel = await client.post("/auth/backchannel-logout", form={"logout_token": "a"})
            assert backchannel.status == 400


@pytest.mark.parametrize(
    ("tenants", "claims", "status"),
    [
        (None, {}, 303),
        ([TENANT], {}, 303),
        (["9188040d-6c67-4c5b-b112-36a304b66dad"], {}, 403),
        (None, {"tid": None}, 502),
        (None, {"tid": "../common"}, 502),
        (None, {"tid": "9188040d-6c67-4c5b-b112-36a304b66dad"}, 502),
        (None, {"iss": "https://login.microsoftonline.com/{tenantid}/v2.0"}, 502),
        (None, {"iss": f"https://evil.example/{TENANT}/v2.0"}, 502),
    ],
)
async def test_microsoft_of_many_tenants(tenants: Any, claims: Any, status: int) -> None:
    login = microsoft(client_id="a", client_secret="a", tenant="organizations", tenants=tenants)
    template = "https://login.microsoftonline.com/{tenantid}/v2.0"
    assert login.issuer == template
    with TestProvider(login) as provider:
        own = {"iss": template.replace("{tenantid}", TENANT), "tid": TENANT}
        provider.faults.id_token = lambda found: {**found, **own, **claims}
        async with new_client(new_app(login)) as client:
            assert (await provider.log_in(client)).status == status
            me = await client.get("/me")
            if status == 303:
                assert (await me.json())["issuer"] == own["iss"]
            else:
                assert me.status == 401


@pytest.mark.parametrize("tenant", ["common", "organizations", "consumers", TENANT])
async def test_microsoft_by_kind_of_tenant(tenant: str) -> None:
    login = microsoft(client_id="a", client_secret="a", tenant=tenant)
    with TestProvider(login) as provider:
        async with new_client(new_app(login)) as client:
            assert (await provider.log_in(client)).status == 303
        paths = [path for _, path in provider.requests]
        assert paths[0] == f"/{tenant}/v2.0/.well-known/openid-configuration"


async def test_several_logins() -> None:
    one = oidc(issuer="https://one.example", client_id="a", client_secret="a", name="one")
    two = oidc(issuer="https://two.example", client_id="a", client_secret="a", name="two")
    both = logins(one, two)
    app = new_app(both)
    app.get("/maybe", both.optional, lambda c: c.json(c.get("user") and c.get("user").id))

    @app.get("/who")
    async def who(c: Any) -> Any:
        return c.text((await both.user(c)).id)

    with TestProvider(one) as first, TestProvider(two) as second:
        async with new_client(app) as client:
            assert (await client.get("/me")).status == 401
            assert (await client.get("/who")).status == 401
            assert await (await client.get("/maybe")).json() is None
            sent = await client.get("/me?a=b", headers=PAGE)
            assert (sent.status, sent.headers["location"]) == (
                302,
                "/login?return_to=%2Fme%3Fa%3Db",
            )
            for provider, name in ((first, "one"), (second, "two")):
                await provider.log_in(client, path=f"/auth/{name}/login")
                expected = f"https://{name}.example ann"
                assert await (await client.get("/who")).text() == expected
                assert await (await client.get("/maybe")).json() == expected
                assert (await client.get("/me")).status == 200
