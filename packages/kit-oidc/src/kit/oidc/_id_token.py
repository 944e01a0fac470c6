# SPDX-License-Identifier: MIT
"""Validates ID tokens (OpenID Connect Core 1.0, section 3.1.3.7)."""

from __future__ import annotations

import re
import time
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from hashlib import sha256, sha384, sha512, shake_256
from hmac import compare_digest
from typing import Any, NamedTuple, TypeGuard

from kit.jwk import JwksUnavailableError, KeySource
from kit.jwt import AsymmetricAlgorithm, JwtError, VerifyOptions, decode_header

from ._errors import LoginError, ProviderError

__all__ = ("Expected", "IdTokens", "invalid", "is_number")

_REQUIRED = ("iss", "sub", "aud", "exp", "iat")
_HASHES: Mapping[str, Callable[[bytes], Any]] = {"256": sha256, "384": sha384, "512": sha512}
# SPEC: OpenID Connect Core section 2: at most 255 ASCII characters.
_is_sub = re.compile(r"[!-~](?:[ -~]{0,253}[!-~])?").fullmatch


class Expected(NamedTuple):
    """What the ID token of a login has to match.

    Attributes:
        nonce: The nonce of the login; None after a refresh.
        max_age_s: How long ago the user may have been authenticated; None if it wasn't asked.
        acr_values: One of which the token must have; empty if none was asked.
        access_token: The access token that came with it.
    """

    nonce: str | None
    max_age_s: float | None = None
    acr_values: Collection[str] = ()
    access_token: str | None = None


def invalid(detail: str) -> LoginError:
    """Returns the error for a token that can't be trusted."""
    return LoginError("invalid_token", detail)


def is_number(value: Any) -> TypeGuard[float]:
    """Returns whether the value of a claim is a number; True and False are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class IdTokens:
    """Validates the ID tokens of a provider for a client.

    Args:
        keys: The keys of the provider.
        algorithms: The allowed algorithms, never `none` or one with a secret.
        issuer: The issuer; `{tenantid}` stands for the `tid` of the token.
        client_id: The client.
        trusted_audiences: Other audiences that a token may have.
        required_claims: Claims that a token must have.
        leeway_s: Seconds by which clocks may differ.
        tenants: The accepted values of `tid`; None for all.
    """

    def __init__(
        self,
        keys: KeySource,
        *,
        algorithms: Sequence[AsymmetricAlgorithm],
        issuer: str,
        client_id: str,
        trusted_audiences: Collection[str] = (),
        required_claims: Mapping[str, Any],
        leeway_s: float,
        tenants: Collection[str] | None = None,
    ) -> None:
        self._issuer = issuer
        self._has_tenants = "{tenantid}" in issuer
        self._tenants = tenants
        self._client_id = client_id
        self._audiences = {client_id, *trusted_audiences}
        self._leeway_s = leeway_s
        self._required = required_claims
        common: VerifyOptions = {"aud": client_id, "leeway": leeway_s}
        if not self._has_tenants:
            common["iss"] = issuer
        self._verify = keys.verifier(algorithms, VerifyOptions(**common, required=list(_REQUIRED)))
        of_logout = [each for each in _REQUIRED if each != "sub"] + ["jti", "events"]
        self._verify_logout = keys.verifier(algorithms, VerifyOptions(**common, required=of_logout))
        self._verify_typed_logout = keys.verifier(
            algorithms, VerifyOptions(**common, required=of_logout, typ="logout+jwt")
        )

    async def validate(self, token: str, expected: Expected) -> dict[str, Any]:
        """Returns the claims of an ID token.

        Raises:
            LoginError: If it is rejected.
        """
        claims = await _verified(self._verify, token)
        self._check_issuer(claims)
        if not isinstance(claims["sub"], str) or not _is_sub(claims["sub"]):
            raise invalid("the ID token has no valid sub")
        self._check_audience(claims)
        nonce = claims.get("nonce")
        if expected.nonce is not None and (
            not isinstance(nonce, str)
            or not compare_digest(nonce.encode(), expected.nonce.encode())
        ):
            raise invalid("the nonce of the ID token is not that of the login")
        if expected.access_token is not None and "at_hash" in claims:
            self._check_at_hash(token, claims["at_hash"], expected.access_token)
        self._check_authentication(claims, expected)
        for name, value in self._required.items():
            if claims.get(name) != value:
                raise LoginError(
                    "access_denied", f"the claim {name!r} is {claims.get(name)!r:.100}"
                )
        return claims

    async def validate_logout(self, token: str) -> dict[str, Any]:
        """Returns the claims of a logout token (Back-Channel Logout 1.0, section 2.6).

        The caller has to check that its `jti` is new.

        Raises:
            LoginError: If it is rejected.
        """
        try:
            typ = str(decode_header(token).get("typ", "")).lower()
        except (JwtError, TypeError) as error:
            raise invalid(f"the logout token is rejected: {error}") from error
        is_typed = typ.removeprefix("application/") == "logout+jwt"
        claims = await _verified(
            self._verify_typed_logout if is_typed else self._verify_logout, token
        )
        self._check_issuer(claims)
        self._check_audience(claims)
        if "nonce" in claims:
            raise invalid("the logout token has a nonce, so it is an ID token")
        events = claims["events"]
        event = "http://schemas.openid.net/event/backchannel-logout"
        if not isinstance(events, dict) or not isinstance(events.get(event), dict):
            raise invalid("the logout token has no event for a logout")
        if not isinstance(claims["jti"], str) or not claims["jti"]:
            raise invalid("the logout token has no valid jti")
        named = [claims[name] for name in ("sub", "sid") if name in claims]
        if not named or not all(isinstance(each, str) and each for each in named):
            raise invalid("the logout token has neither a valid sub nor a valid sid")
        return claims

    def _check_issuer(self, claims: Mapping[str, Any]) -> None:
        if not self._has_tenants:
            return
        tenant = claims.get("tid")
        if not isinstance(tenant, str) or not re.fullmatch("[0-9a-f-]{36}", tenant):
            raise invalid("the token names no tenant")
        if claims["iss"] != self._issuer.replace("{tenantid}", tenant):
            raise invalid(f"the token is from the issuer {claims['iss']!r:.200}")
        if self._tenants is not None and tenant not in self._tenants:
            raise LoginError("access_denied", f"the tenant {tenant} is not accepted")

    def _check_audience(self, claims: Mapping[str, Any]) -> None:
        audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        for each in audiences:
            if not isinstance(each, str) or each not in self._audiences:
                raise invalid(f"the token is also for the audience {each!r:.100}")
        if len(audiences) > 1 and "azp" not in claims:
            raise invalid("the token has several audiences, and no azp")
        if "azp" in claims and claims["azp"] != self._client_id:
            raise invalid(f"the token was issued to {claims['azp']!r:.100}")

    def _check_at_hash(self, token: str, at_hash: Any, access_token: str) -> None:
        """SPEC: OpenID Connect Core section 3.1.3.6."""
        alg = str(decode_header(token)["alg"])
        data = access_token.encode()
        if alg == "EdDSA":
            # The ID token of Ed25519 has the hash of that curve, and so has that of Ed448.
            digests = [sha512(data).digest()[:32], shake_256(data).digest(114)[:57]]
        else:
            digest = _HASHES[alg[2:]](data).digest()
            digests = [digest[: len(digest) // 2]]
        expected = [urlsafe_b64encode(each).rstrip(b"=") for each in digests]
        if not isinstance(at_hash, str) or at_hash.encode() not in expected:
            raise invalid("the access token is not the one that the ID token was issued with")

    def _check_authentication(self, claims: Mapping[str, Any], expected: Expected) -> None:
        if expected.max_age_s is not None:
            at = claims.get("auth_time")
            if not is_number(at):
                raise invalid("the ID token has no auth_time, which max_age asks for")
            if at > time.time() + self._leeway_s:
                raise invalid("the auth_time of the ID token is in the future")
            if time.time() - at > expected.max_age_s + self._leeway_s:
                raise invalid("the user was authenticated longer ago than max_age allows")
        if expected.acr_values and claims.get("acr") not in expected.acr_values:
            raise LoginError(
                "insufficient_acr", f"the ID token has the acr {claims.get('acr')!r:.100}"
            )


async def _verified(
    verify: Callable[[str, Any], Awaitable[dict[str, Any]]], token: str
) -> dict[str, Any]:
    try:
        return await verify(token, None)
    except JwtError as error:
        raise invalid(f"the token is rejected: {type(error).__name__}: {error}") from error
    except JwksUnavailableError as error:
        raise ProviderError(str(error)) from error
