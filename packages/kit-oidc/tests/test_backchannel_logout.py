# SPDX-License-Identifier: MIT
"""OpenID Connect Back-Channel Logout 1.0: the provider ends sessions."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from kit.oidc.testing import TestKey

PATH = "/auth/backchannel-logout"
FORM = {"content-type": "application/x-www-form-urlencoded"}
EVENT = "http://schemas.openid.net/event/backchannel-logout"


async def sid_of(site: Any) -> str:
    return str((await (await site.get("/me")).json())["claims"]["sid"])


async def end(site: Any, token: str | None = None, **claims: Any) -> Any:
    token = site.provider.logout_token(**claims) if token is None else token
    return await site.client.post(PATH, headers=FORM, content=urlencode({"logout_token": token}))


async def test_by_sid(site: Any) -> None:
    await site.log_in()
    first = dict(site.client.cookies)
    sid = await sid_of(site)
    site.client.cookies.clear()
    await site.log_in()  # the same user in another browser
    response = await end(site, sid=sid, sub="ann")
    assert (response.status, response.headers["cache-control"]) == (200, "no-store")
    assert await site.who() == "ann"
    site.client.cookies.clear()
    site.client.cookies.update(first)
    assert await site.who() is None


async def test_by_sub(site: Any) -> None:
    await site.log_in()
    assert (await end(site, sub="eve")).status == 200
    assert await site.who() == "ann"
    assert (await end(site, sub="ann")).status == 200
    assert await site.who() is None


@pytest.mark.parametrize("header", [{}, {"typ": "JWT"}, {"typ": None}])
async def test_types(site: Any, header: Any) -> None:
    await site.log_in()
    token = site.provider.logout_token(sub="ann", header=header)
    assert (await end(site, token)).status == 200
    assert await site.who() is None


async def test_replayed_jti(site: Any) -> None:
    token = site.provider.logout_token(sub="ann")
    assert (await end(site, token)).status == 200
    await site.log_in()
    assert (await end(site, token)).status == 400
    assert await site.who() == "ann"


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "another"},
        {"aud": ["books", "another"]},
        {"aud": None},
        {"iat": None},
        {"iat": 4_000_000_000},
        {"exp": 1},
        {"exp": None},
        {"jti": None},
        {"jti": 7},
        {"jti": ""},
        {"events": None},
        {"events": {}},
        {"events": {EVENT: True}},
        {"events": [EVENT]},
        {"nonce": "a"},
        {"sub": None},
        {"sub": 7},
        {"sid": ""},
    ],
)
async def test_invalid_tokens(site: Any, claims: Any) -> None:
    await site.log_in()
    response = await end(site, **{"sub": "ann", **claims})
    assert response.status == 400
    assert await response.json() == {"error": "invalid_request"}
    assert await site.who() == "ann"


async def test_signatures(site: Any) -> None:
    await site.log_in()
    good = site.provider.key
    site.provider.key = TestKey(good.kid)
    assert (await end(site, sub="ann")).status == 400
    site.provider.key = good
    for header in ({"alg": "none"}, {"typ": "at+jwt"}):
        token = site.provider.logout_token(sub="ann", header=header)
        assert (await end(site, token)).status == 400
    assert await site.who() == "ann"


async def test_an_id_token_is_no_logout_token(site: Any) -> None:
    await site.log_in()
    own = {"origin": "http://localhost"}
    location = (await site.client.post("/auth/logout", headers=own)).headers["location"]
    id_token = parse_qs(urlsplit(location).query)["id_token_hint"][0]
    await site.log_in()
    assert (await end(site, id_token)).status == 400
    assert await site.who() == "ann"


async def test_a_logout_token_is_no_id_token(site: Any) -> None:
    site.provider.faults.token_response = {"id_token": site.provider.logout_token(sub="ann")}
    assert (await site.log_in()).status == 502


@pytest.mark.parametrize("body", ["", "logout_token=", "logout_token=a.b.c", "other=a"])
async def test_no_token(site: Any, body: str) -> None:
    assert (await site.client.post(PATH, headers=FORM, content=body)).status == 400


async def test_no_form(site: Any) -> None:
    token = site.provider.logout_token(sub="ann")
    assert (await site.client.post(PATH, json={"logout_token": token})).status == 400


async def test_keys_that_can_not_be_fetched(site: Any) -> None:
    site.provider.faults.answers["/jwks"] = (500, {})
    assert (await end(site, sub="ann")).status == 503


async def test_the_session_ends_after_its_id_has_changed(site: Any) -> None:
    await site.log_in()
    sid = await sid_of(site)
    await site.provider.log_in(site.client, {"sub": "ann"})
    assert (await end(site, sid=sid)).status == 200
    assert await site.who() == "ann"  # another login of the provider has replaced it
    assert (await end(site, sid=await sid_of(site))).status == 200
    assert await site.who() is None
