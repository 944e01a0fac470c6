# SPDX-License-Identifier: MIT
"""Advisories of Hono, of PyJWT and of others that must not hold here, each by its number."""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from jwt_keys import SECRET, pem, private_key, public_jwk

from kit import Kit
from kit.jwk import jwk, verify_with_jwks
from kit.jwt import (
    JwtAlgorithmMismatchError,
    JwtAlgorithmNotAllowedError,
    JwtHeaderInvalidError,
    JwtTokenAudienceError,
    jwt,
    sign,
    verify,
)

PUBLIC = pem(private_key("RS256").public_key())


def forged(header: dict[str, Any], key: bytes) -> str:
    """A token with a signature by HMAC, whatever the header says."""
    parts = (json.dumps(header).encode(), b'{"sub":"admin"}')
    signed = b".".join(urlsafe_b64encode(part).rstrip(b"=") for part in parts)
    signature = hmac.digest(key, signed, "sha256")
    return (signed + b"." + urlsafe_b64encode(signature).rstrip(b"=")).decode()


async def status(middleware: Any, value: str) -> int:
    app: Kit[Any, Any] = Kit()
    app.use(middleware)
    app.get("/x", lambda c: c.text("inside"))
    return (await app.request("/x", {"headers": {"Authorization": value}})).status


async def test_cve_2026_22817_the_token_does_not_choose_the_algorithm() -> None:
    """A public key that anyone has served as the secret of a token with `alg: HS256`."""
    for key in (PUBLIC, PUBLIC.strip(), public_jwk("RS256")["n"]):
        token = forged({"alg": "HS256", "typ": "JWT"}, key.encode())
        with pytest.raises(JwtAlgorithmMismatchError):
            verify(token, PUBLIC, "RS256")
        assert await status(jwt(secret=PUBLIC, alg="RS256"), f"Bearer {token}") == 401
    with pytest.raises(ValueError, match="HS256 needs a secret"):
        jwt(secret=PUBLIC, alg="HS256")
    with pytest.raises(ValueError, match=r"^jwt\(\) needs alg"):
        jwt(secret=PUBLIC)


async def test_cve_2026_22818_the_key_of_a_set_decides_the_algorithm() -> None:
    """A key without `alg` in a key set was used with the algorithm of the token."""
    keys = [public_jwk("RS256", kid="1")]
    guard = jwk(keys=keys, alg=["RS256"])
    for key in (PUBLIC, keys[0]["n"], json.dumps(keys[0])):
        token = forged({"alg": "HS256", "typ": "JWT", "kid": "1"}, key.encode())
        assert await status(guard, f"Bearer {token}") == 401
        with pytest.raises(JwtAlgorithmNotAllowedError):
            await verify_with_jwks(token, keys=keys, allowed_algorithms="RS256")
    with pytest.raises(ValueError, match="public-key algorithms"):
        jwk(keys=keys, alg=["RS256", "HS256"])  # type: ignore[list-item]
    token = sign({}, private_key("PS256"), "PS256", header={"kid": "1"})
    assert await status(guard, f"Bearer {token}") == 401


async def test_cve_2025_62610_the_audience_is_verified() -> None:
    """A token for another service was accepted, since nothing looked at its audience."""
    token = sign({"aud": "other-service"}, SECRET)
    with pytest.raises(JwtTokenAudienceError, match="set aud="):
        verify(token, SECRET, "HS256")
    for verification in (None, {"aud": "api"}):
        guard = jwt(secret=SECRET, alg="HS256", verification=verification)  # type: ignore[call-overload]
        assert await status(guard, f"Bearer {token}") == 401


async def test_cve_2026_47673_the_scheme_is_bearer() -> None:
    """Any word before the token was taken for the scheme."""
    token = sign({}, SECRET)
    guards = (
        jwt(secret=SECRET, alg="HS256"),
        jwk(keys=[public_jwk("ES256", kid="1")], alg="ES256"),
    )
    tokens = (token, sign({}, private_key("ES256"), "ES256", header={"kid": "1"}))
    for guard, each in zip(guards, tokens, strict=True):
        assert await status(guard, f"Bearer {each}") == 200
        for scheme in ("Basic", "Digest", "Token", "Bearer,", "Bearer:", "X", "-"):
            assert await status(guard, f"{scheme} {each}") == 401


def test_cve_2026_32597_critical_extensions_are_refused() -> None:
    """PyJWT went on where `crit` named an extension that it doesn't know (RFC 7515, 4.1.11)."""
    for crit in (["exp"], ["b64"], ["x"], [], "x", None):
        header = {"alg": "HS256", "typ": "JWT", "crit": crit, "x": 1}
        with pytest.raises(JwtHeaderInvalidError, match="requires an extension"):
            verify(forged(header, SECRET.encode()), SECRET, "HS256")


def test_cve_2026_48524_unknown_key_ids_do_not_flood_the_issuer(run: Any) -> None:
    """Each token with an invented `kid` made PyJWT fetch the key set."""
    calls: list[str] = []

    def fetch(uri: str) -> Any:
        calls.append(uri)
        return [public_jwk("ES256", kid="1")]

    guard = jwk(jwks_uri="https://issuer.example/jwks", alg="ES256", fetch=fetch)

    async def main() -> None:
        for number in range(100):
            header = {"kid": f"invented-{number}"}
            token = sign({}, private_key("ES256"), "ES256", header=header)
            assert await status(guard, f"Bearer {token}") == 401
        token = sign({}, private_key("ES256"), "ES256", header={"kid": "1"})
        assert await status(guard, f"Bearer {token}") == 200

    run(main)
    assert len(calls) == 1
