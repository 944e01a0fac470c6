# SPDX-License-Identifier: MIT
"""The whole way of a login, as a browser goes it."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

ISSUER = "https://id.example"
CLIENT = "books"
PAGE = {"accept": "text/html", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
OWN = {"origin": "http://localhost"}


async def test_a_page_leads_to_the_login_and_back(site: Any) -> None:
    sent = await site.get("/me?tab=2", **PAGE)
    assert sent.status == 302
    assert sent.headers["cache-control"] == "no-store"
    location = sent.headers["location"]
    assert location.startswith(f"{ISSUER}/authorize?")
    asked = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
    assert asked.keys() == {
        "response_type",
        "client_id",
        "redirect_uri",
        "scope",
        "state",
        "nonce",
        "code_challenge",
        "code_challenge_method",
    }
    assert asked["client_id"] == CLIENT
    assert asked["redirect_uri"] == "http://localhost/auth/callback"
    assert asked["scope"] == "openid profile email"
    back = await site.get(site.provider.authorize(location))
    assert back.status == 303, await back.text()
    assert back.headers["location"] == "/me?tab=2"
    me = await site.get("/me", **PAGE)
    found = await me.json()
    assert found.pop("claims")["sid"]
    assert found == {
        "issuer": ISSUER,
        "sub": "ann",
        "name": "Ann",
        "email": "ann@example.com",
        "email_verified": True,
        "username": None,
        "picture": None,
    }
    assert me.headers["cache-control"] == "private"


async def test_log_out_here_and_at_the_provider(site: Any) -> None:
    await site.log_in()
    assert await site.who() == "ann"
    sent = await site.client.post("/auth/logout", headers=OWN)
    assert sent.status == 303
    location = sent.headers["location"]
    asked = parse_qs(urlsplit(location).query)
    assert asked["post_logout_redirect_uri"] == ["http://localhost/auth/logged-out"]
    assert asked["client_id"] == [CLIENT]
    assert asked["id_token_hint"][0].count(".") == 2
    assert await site.who() is None
    back = await site.get(f"/auth/logged-out?state={asked['state'][0]}")
    assert (back.status, back.headers["location"]) == (303, "/")
    assert (await site.get(f"/auth/logged-out?state={asked['state'][0]}")).status == 400
