# SPDX-License-Identifier: MIT
"""The cases of the OpenID conformance suite for relying parties, each under its name there.

SPEC: OpenID Connect Conformance Profiles v3.0, "RP Tests"; OpenID Connect Core 1.0, 3.1.3.7.
"""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from kit.oidc.testing import TestKey

UNTRUSTED = "The provider sent data that can't be trusted: log in again"


async def is_refused(site: Any, message: str = UNTRUSTED, status: int = 502) -> None:
    response = await site.log_in()
    assert (response.status, await response.text()) == (status, message)
    assert await site.who() is None


def without(name: str) -> Any:
    return lambda claims: {key: value for key, value in claims.items() if key != name}


async def test_rp_response_type_code(site: Any) -> None:
    assert (await site.log_in()).status == 303
    assert await site.who() == "ann"


async def test_rp_scope_userinfo_claims(site: Any) -> None:
    site.provider.faults.userinfo = {"picture": "https://id.example/ann.png"}
    await site.log_in()
    assert (await (await site.get("/me")).json())["picture"] == "https://id.example/ann.png"


async def test_rp_nonce_invalid(site: Any) -> None:
    site.provider.faults.id_token = lambda claims: {**claims, "nonce": "another"}
    await is_refused(site)


async def test_rp_nonce_absent(site: Any) -> None:
    site.provider.faults.id_token = without("nonce")
    await is_refused(site)


async def test_rp_token_endpoint_client_secret_basic(site: Any) -> None:
    await site.log_in()
    assert ("POST", "/token") in site.provider.requests


async def test_rp_id_token_aud(site: Any) -> None:
    site.provider.faults.id_token = lambda claims: {**claims, "aud": "another"}
    await is_refused(site)


async def test_rp_id_token_aud_of_others_too(site: Any) -> None:
    site.provider.faults.id_token = lambda claims: {
        **claims,
        "aud": ["books", "another"],
        "azp": "books",
    }
    await is_refused(site)


@pytest.mark.parametrize(("azp", "status"), [("books", 303), ("another", 502), (None, 502)])
async def test_rp_id_token_azp(open_site: Any, azp: str | None, status: int) -> None:
    async with open_site(trusted_audiences="another") as site:
        site.provider.faults.id_token = lambda claims: {
            **claims,
            "aud": ["books", "another"],
            "azp": azp,
        }
        assert (await site.log_in()).status == status


async def test_rp_id_token_azp_of_one_audience(site: Any) -> None:
    site.provider.faults.id_token = lambda claims: {**claims, "azp": "another"}
    await is_refused(site)


async def test_rp_id_token_iat(site: Any) -> None:
    site.provider.faults.id_token = without("iat")
    await is_refused(site)


async def test_rp_id_token_iat_in_the_future(site: Any) -> None:
    site.provider.faults.id_token = lambda claims: {**claims, "iat": time.time() + 60}
    await is_refused(site)


@pytest.mark.parametrize(("late_s", "status"), [(20, 303), (40, 502)])
async def test_rp_id_token_exp_and_clock_skew(site: Any, late_s: int, status: int) -> None:
    site.provider.faults.id_token = lambda claims: {**claims, "exp": int(time.time()) - late_s}
    assert (await site.log_in()).status == status


async def test_rp_id_token_exp_absent(site: Any) -> None:
    site.provider.faults.id_token = without("exp")
    await is_refused(site)


async def test_rp_id_token_sub(site: Any) -> None:
    site.provider.faults.id_token = without("sub")
    await is_refused(site)


@pytest.mark.parametrize("sub", ["", 7, "a" * 256, "a\nb", "\u00e9", None])
async def test_rp_id_token_sub_invalid(site: Any, sub: Any) -> None:
    site.provider.faults.id_token = lambda claims: {**claims, "sub": sub}
    await is_refused(site)


@pytest.mark.parametrize("issuer", ["https://evil.example", "https://id.example/", None])
async def test_rp_id_token_issuer_mismatch(site: Any, issuer: str | None) -> None:
    site.provider.faults.id_token = lambda claims: {**claims, "iss": issuer}
    await is_refused(site)


async def test_rp_id_token_kid_absent_single_jwks(site: Any) -> None:
    site.provider.faults.header = {"kid": None}
    assert (await site.log_in()).status == 303


async def test_rp_id_token_kid_absent_multiple_jwks(site: Any) -> None:
    keys = [site.provider.key.public, TestKey("other").public]
    site.provider.faults.answers["/jwks"] = (200, {"keys": keys})
    site.provider.faults.header = {"kid": None}
    await is_refused(site)


async def test_rp_id_token_bad_sig_es256(site: Any) -> None:
    site.provider.faults.signer = TestKey(site.provider.key.kid)
    await is_refused(site)


@pytest.mark.parametrize("alg", ["RS256", "PS256", "ES384", "ES512", "EdDSA"])
async def test_rp_id_token_sig(site: Any, alg: str) -> None:
    site.provider.rotate_key(alg)
    assert (await site.log_in()).status == 303


async def test_rp_id_token_bad_sig_rs256(site: Any) -> None:
    site.provider.rotate_key("RS256")
    site.provider.faults.signer = TestKey(site.provider.key.kid, "RS256")
    await is_refused(site)


async def test_rp_id_token_sig_none(site: Any) -> None:
    site.provider.faults.header = {"alg": "none"}
    await is_refused(site)


async def test_rp_id_token_alg_not_allowed(open_site: Any) -> None:
    async with open_site(algorithms="RS256") as site:
        await is_refused(site)


async def test_rp_id_token_hs256_with_the_secret_of_the_client(open_site: Any) -> None:
    """A key set has no secrets, so tokens with one are refused: see the README."""
    secret = "a-secret-of-the-client-of-32-bytes"
    async with open_site(client_secret=secret) as site:
        from kit.jwt import sign

        class Symmetric(TestKey):
            def sign(self, claims: Any, header: Any) -> str:
                return sign(claims, secret, "HS256")

        site.provider.faults.signer = Symmetric("key-1")
        await is_refused(site)


@pytest.mark.parametrize("at_hash", ["wrong", 7])
async def test_rp_id_token_bad_at_hash(site: Any, at_hash: Any) -> None:
    site.provider.faults.id_token = lambda claims: {**claims, "at_hash": at_hash}
    await is_refused(site)


async def test_rp_id_token_missing_at_hash(site: Any) -> None:
    """It is optional in the code flow (OpenID Connect Core, section 3.1.3.6)."""
    site.provider.faults.id_token = without("at_hash")
    assert (await site.log_in()).status == 303


async def test_rp_id_token_absent(site: Any) -> None:
    site.provider.faults.token_response = {"id_token": None}
    await is_refused(site)


async def test_rp_id_token_malformed(site: Any) -> None:
    site.provider.faults.token_response = {"id_token": "a.b"}
    await is_refused(site)


async def test_rp_userinfo_bad_sub_claim(site: Any) -> None:
    site.provider.faults.userinfo = {"sub": "eve"}
    await is_refused(site)


async def test_rp_userinfo_without_sub(site: Any) -> None:
    site.provider.faults.userinfo = {"sub": None}
    await is_refused(site)


async def test_rp_userinfo_does_not_replace_claims_of_the_id_token(site: Any) -> None:
    site.provider.faults.userinfo = {"email_verified": True, "email": "eve@example.com"}
    site.provider.faults.id_token = lambda claims: {**claims, "email": "ann@example.com"}
    await site.log_in()
    found = await (await site.get("/me")).json()
    assert (found["email"], found["email_verified"]) == ("ann@example.com", False)


@pytest.mark.parametrize(
    ("value", "verified"),
    [(True, True), ("true", True), (False, False), ("false", False), (1, False), (None, False)],
)
async def test_email_verified(site: Any, value: Any, verified: bool) -> None:
    await site.log_in(email="ann@example.com", email_verified=value)
    assert (await (await site.get("/me")).json())["email_verified"] is verified


async def test_userinfo_is_optional(open_site: Any) -> None:
    async with open_site(userinfo=False) as site:
        await site.log_in()
        assert ("GET", "/userinfo") not in site.provider.requests
        assert await site.who() == "ann"


async def test_rp_token_type_is_not_bearer(site: Any) -> None:
    site.provider.faults.token_response = {"token_type": "DPoP"}
    await is_refused(site)


@pytest.mark.parametrize("expires_in", ["soon", -1, 1e300])
async def test_rp_token_response_with_a_bad_lifetime(site: Any, expires_in: Any) -> None:
    site.provider.faults.token_response = {"expires_in": expires_in}
    await is_refused(site)


async def test_rp_discovery_openid_configuration(site: Any) -> None:
    await site.log_in()
    requests = site.provider.requests
    assert requests.count(("GET", "/.well-known/openid-configuration")) == 1
    assert requests.count(("GET", "/jwks")) == 1
    await site.log_in()
    assert requests.count(("GET", "/.well-known/openid-configuration")) == 1
    assert requests.count(("GET", "/jwks")) == 1


@pytest.mark.parametrize("issuer", ["https://evil.example", "https://id.example/", ""])
async def test_rp_discovery_issuer_not_matching_config(site: Any, issuer: str) -> None:
    site.provider.faults.metadata = {"issuer": issuer}
    response = await site.get("/auth/login")
    assert response.status == 400
    assert await response.text() == "The response comes from another provider: log in again"


@pytest.mark.parametrize(
    "metadata",
    [
        {"authorization_endpoint": "http://id.example/authorize"},
        {"token_endpoint": "javascript:alert(1)"},
        {"jwks_uri": "http://169.254.169.254/"},
        {"jwks_uri": "http://127.0.0.1:6379/"},
        {"userinfo_endpoint": "http://localhost/"},
        {"token_endpoint": "http://[::1]/"},
        {"userinfo_endpoint": "https://user@id.example/"},
        {"token_endpoint": None},
        {"jwks_uri": 7},
    ],
)
async def test_rp_discovery_with_bad_addresses(site: Any, metadata: dict[str, Any]) -> None:
    site.provider.faults.metadata = metadata
    response = await site.get("/auth/login")
    assert response.status in (502, 503)


async def test_rp_discovery_follows_no_redirect(site: Any) -> None:
    path = "/.well-known/openid-configuration"
    site.provider.faults.answers[path] = (302, "https://evil.example/")
    assert (await site.get("/auth/login")).status == 503
    assert site.provider.requests == [("GET", path)]


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, stream=httpx.ByteStream(b"{" * (600 * 1024))),
        httpx.Response(200, stream=httpx.ByteStream(b"<html>")),
        httpx.Response(
            200, headers={"content-encoding": "gzip"}, stream=httpx.ByteStream(b"\x1f\x8b")
        ),
        httpx.Response(500, stream=httpx.ByteStream(b"{}")),
    ],
)
async def test_rp_discovery_with_a_bad_response(site: Any, answer: httpx.Response) -> None:
    site.provider.faults.answers["/.well-known/openid-configuration"] = (200, answer)
    response = await site.get("/auth/login")
    assert response.status in (502, 503)
    # A provider with a problem isn't asked by each request.
    assert (await site.get("/auth/login")).status == response.status
    assert len(site.provider.requests) == 1


async def test_rp_key_rotation_op_sign_key(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    await site.log_in()
    site.provider.rotate_key()
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 31)
    assert (await site.log_in()).status == 303
    assert site.provider.requests.count(("GET", "/jwks")) == 2


async def test_rp_key_rotation_is_not_asked_for_again_and_again(site: Any) -> None:
    await site.log_in()
    for _ in range(3):
        site.provider.faults.signer = TestKey("unknown")
        assert (await site.log_in()).status == 502
    assert site.provider.requests.count(("GET", "/jwks")) <= 2


async def test_rp_jwks_is_down(site: Any) -> None:
    site.provider.faults.answers["/jwks"] = (500, {})
    await is_refused(site, "The provider can't be reached: try again later", 503)


@pytest.mark.parametrize("answer", [[], {"keys": 7}, {"keys": [7]}, {"keys": []}, "keys"])
async def test_rp_jwks_invalid(site: Any, answer: Any) -> None:
    site.provider.faults.answers["/jwks"] = (200, answer)
    response = await site.log_in()
    assert response.status in (502, 503)
    assert await site.who() is None


@pytest.mark.parametrize(
    ("error", "status"),
    [("access_denied", 403), ("server_error", 502), ("<script>alert(1)</script>", 502)],
)
async def test_rp_error_response(site: Any, error: str, status: int) -> None:
    site.provider.faults.authorization_response = {
        "code": None,
        "error": error,
        "error_description": "<b>call 555 1234</b>",
    }
    response = await site.log_in()
    assert response.status == status
    text = await response.text()
    assert "<" not in text
    assert "555" not in text
    assert response.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize(("age_s", "status"), [(5, 303), (100, 502), (None, 502)])
async def test_rp_max_age(open_site: Any, age_s: int | None, status: int) -> None:
    async with open_site(max_age=10) as site:
        assert "max_age=10" in await site.start()
        site.provider.faults.id_token = lambda claims: {
            **claims,
            "auth_time": None if age_s is None else int(time.time()) - age_s,
        }
        assert (await site.log_in()).status == status


@pytest.mark.parametrize(("acr", "status"), [("mfa", 303), ("pwd", 403), (None, 403)])
async def test_rp_acr_values(open_site: Any, acr: str | None, status: int) -> None:
    async with open_site(acr_values=["mfa", "hwk"]) as site:
        assert "acr_values=mfa+hwk" in await site.start()
        site.provider.faults.id_token = lambda claims: {**claims, "acr": acr}
        assert (await site.log_in()).status == status


async def test_required_claims(open_site: Any) -> None:
    async with open_site(required_claims={"hd": "example.com"}) as site:
        assert (await site.log_in(hd="evil.example")).status == 403
        assert (await site.log_in()).status == 403
        assert await site.who() is None
        assert (await site.log_in(hd="example.com")).status == 303


async def test_metadata_is_used_for_a_day_while_the_provider_is_down(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    await site.start()
    now = time.monotonic()
    site.provider.faults.is_down = True
    monkeypatch.setattr(time, "monotonic", lambda: now + 7200)
    assert (await site.get("/auth/login")).status == 302
    monkeypatch.setattr(time, "monotonic", lambda: now + 100_000)
    assert (await site.get("/auth/login")).status == 503
