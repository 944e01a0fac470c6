# SPDX-License-Identifier: MIT
"""The provider for tests itself, also served over HTTP."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from kit.oidc.testing import TestProvider

REDIRECT = "http://localhost/auth/callback"


async def test_it_is_an_asgi_app() -> None:
    provider = TestProvider(issuer="http://127.0.0.1:9000")
    transport = httpx.ASGITransport(app=provider)
    async with httpx.AsyncClient(transport=transport, base_url=provider.issuer) as client:
        metadata = (await client.get("/.well-known/openid-configuration")).json()
        assert metadata["issuer"] == "http://127.0.0.1:9000"
        asked = {
            "response_type": "code",
            "client_id": "test-client",
            "redirect_uri": REDIRECT,
            "state": "a",
            "code_challenge": "b",
            "code_challenge_method": "S256",
        }
        response = await client.get(metadata["authorization_endpoint"], params=asked)
        assert response.status_code == 302
        back = urlsplit(response.headers["location"])
        assert parse_qs(back.query).keys() == {"code", "state", "iss"}
        refused = await client.post(
            "/token", data={"grant_type": "authorization_code", "code": "a"}, auth=("a", "b")
        )
        assert (refused.status_code, refused.json()) == (401, {"error": "invalid_client"})
        assert (await client.get("/userinfo")).status_code == 401
        assert (await client.get("/nonesuch")).status_code == 404


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"response_type": "token"}, "response_type"),
        ({"client_id": "another"}, "client_id"),
        ({"code_challenge_method": "plain"}, "code_challenge_method"),
        ({"state": ""}, "state"),
        ({"redirect_uri": ""}, "redirect_uri"),
    ],
)
def test_a_request_that_no_provider_accepts(changed: dict[str, str], words: str) -> None:
    asked = {
        "response_type": "code",
        "client_id": "test-client",
        "redirect_uri": REDIRECT,
        "state": "a",
        "code_challenge": "b",
        "code_challenge_method": "S256",
        **changed,
    }
    with pytest.raises(ValueError, match=words):
        TestProvider().authorize(f"https://provider.test/authorize?{httpx.QueryParams(asked)}")
