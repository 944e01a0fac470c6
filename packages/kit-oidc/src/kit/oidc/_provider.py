# SPDX-License-Identifier: MIT
"""Providers: what is asked of them after a login, to find out who the user is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias

import msgspec

from kit.authoring.maybe_await import settle
from kit.jwk import KeySource
from kit.jwt import AsymmetricAlgorithm

from ._errors import ProviderError
from ._http import HttpClient
from ._id_token import Expected, IdTokens, invalid
from ._metadata import Discovery, ProviderMetadata
from ._user import Tokens, User, user_from_claims

__all__ = ("FetchClaims", "Identity", "OAuthProvider", "OpenIDProvider", "Provider")

GetJson: TypeAlias = Callable[[str], Awaitable[Any]]
FetchClaims: TypeAlias = Callable[[GetJson], Awaitable[Mapping[str, Any]]]
"""Returns the claims of the user: `async def fetch_claims(get)`; `await get(url)` returns JSON."""


class Identity(NamedTuple):
    """Who has logged in.

    Attributes:
        user: The user.
        id_claims: The claims of the ID token; empty without one.
    """

    user: User
    id_claims: Mapping[str, Any]


class Provider(Protocol):
    """A provider.

    Attributes:
        issuer: Its name among all providers.
        http: Sends requests to it.
        has_nonce: Whether an ID token repeats the nonce of a login.
        security: Its Security Scheme Object (OpenAPI 3.1.1, section 4.8.27).
    """

    issuer: str
    http: HttpClient
    has_nonce: bool
    security: Mapping[str, Any]

    async def metadata(self) -> ProviderMetadata:
        """Returns the addresses of the provider."""
        ...

    async def identify(self, tokens: Tokens, expected: Expected) -> Identity:
        """Returns who has logged in; raises a LoginError if that can't be trusted."""
        ...

    def assertion_audience(self, metadata: ProviderMetadata) -> str:
        """Returns who gets the assertion of `private_key_jwt`."""
        ...


class OpenIDProvider:
    """A provider of OpenID Connect.

    Args:
        issuer: The issuer; `{tenantid}` stands for the tenant of a token.
        discovery_url: Where its metadata is.
        client_id: The client.
        http: Sends requests to it.
        algorithms: The allowed algorithms of tokens.
        trusted_audiences: Other audiences that ID tokens may have.
        required_claims: Claims that ID tokens must have.
        leeway_s: Seconds by which clocks may differ.
        asks_userinfo: Whether UserInfo is asked for more claims.
        tenants: The accepted tenants; None for all.
        asserts_to_endpoint: Whether assertions are for the token endpoint, not for the issuer.

    Attributes:
        discovery_url: Where its metadata is.
        id_tokens: Validates its tokens.
    """

    has_nonce = True

    def __init__(
        self,
        issuer: str,
        discovery_url: str,
        client_id: str,
        http: HttpClient,
        *,
        algorithms: Sequence[AsymmetricAlgorithm],
        trusted_audiences: Collection[str],
        required_claims: Mapping[str, Any],
        leeway_s: float,
        asks_userinfo: bool,
        tenants: Collection[str] | None = None,
        asserts_to_endpoint: bool = False,
    ) -> None:
        self.issuer = issuer
        self.http = http
        self.security: Mapping[str, Any] = {
            "type": "openIdConnect",
            "openIdConnectUrl": discovery_url,
        }
        self._asks_userinfo = asks_userinfo
        self._asserts_to_endpoint = asserts_to_endpoint
        self.discovery_url = discovery_url
        self._make_id_tokens = partial(
            IdTokens,
            algorithms=algorithms,
            issuer=issuer,
            client_id=client_id,
            trusted_audiences=trusted_audiences,
            required_claims=required_claims,
            leeway_s=leeway_s,
            tenants=tenants,
        )
        self.forget()

    def forget(self) -> None:
        """Forgets the metadata and the keys, e.g. since a provider for tests takes over."""
        urls = [self.discovery_url]
        self._discovery = Discovery(self.http, ProviderMetadata, self.issuer, urls)
        keys = KeySource(jwks_uri=self._find_jwks_uri, fetch=self._fetch_keys)
        self.id_tokens: IdTokens = self._make_id_tokens(keys)

    async def metadata(self) -> ProviderMetadata:
        """Returns the addresses of the provider."""
        return await self._discovery.get()

    def assertion_audience(self, metadata: ProviderMetadata) -> str:
        """Returns who gets the assertion of `private_key_jwt`."""
        return metadata.token_endpoint if self._asserts_to_endpoint else self.issuer

    async def identify(self, tokens: Tokens, expected: Expected) -> Identity:
        """Returns who has logged in; raises a LoginError if that can't be trusted."""
        if tokens.id_token is None:
            raise invalid("the provider sent no ID token")
        claims = await self.id_tokens.validate(tokens.id_token, expected)
        metadata = await self.metadata()
        more: Mapping[str, Any] = {}
        if self._asks_userinfo and metadata.userinfo_endpoint is not None:
            more = await self._userinfo(metadata.userinfo_endpoint, tokens, claims["sub"])
        merged = {**more, **claims}
        if "email_verified" not in claims and merged.get("email") != more.get("email"):
            # APPSEC: UserInfo has verified another address than that of the ID token.
            merged.pop("email_verified", None)
        user = user_from_claims(claims["iss"], claims["sub"], merged)
        return Identity(user, claims)

    async def _userinfo(self, url: str, tokens: Tokens, sub: str) -> dict[str, Any]:
        answer = await self.http.get(url, {"Authorization": f"Bearer {tokens.access_token}"})
        claims = answer.decode(dict[str, Any])
        # SPEC: OpenID Connect Core section 5.3.2: else the claims may be those of another user.
        if claims.get("sub") != sub:
            raise invalid("the sub of UserInfo is not that of the ID token")
        return claims

    async def _find_jwks_uri(self, c: Any) -> str:
        metadata = await self.metadata()
        if metadata.jwks_uri is None:
            raise ProviderError(f"the metadata of {self.issuer} has no jwks_uri", "invalid_token")
        return metadata.jwks_uri

    async def _fetch_keys(self, uri: str) -> Any:
        return await fetch_keys(self.http, uri)


class OAuthProvider:
    """A provider of OAuth 2 without ID tokens, such as GitHub.

    Args:
        metadata: Its addresses.
        http: Sends requests to it.
        fetch_claims: Returns the claims of the user.
        scopes: The scopes of logins, for OpenAPI.

    Attributes:
        endpoints: Its addresses.
    """

    has_nonce = False

    def __init__(
        self,
        metadata: ProviderMetadata,
        http: HttpClient,
        fetch_claims: FetchClaims,
        scopes: Sequence[str],
    ) -> None:
        self.issuer = metadata.issuer
        self.http = http
        self.security: Mapping[str, Any] = {
            "type": "oauth2",
            "flows": {
                "authorizationCode": {
                    "authorizationUrl": metadata.authorization_endpoint,
                    "tokenUrl": metadata.token_endpoint,
                    "scopes": dict.fromkeys(scopes, ""),
                }
            },
        }
        self.endpoints = metadata
        self._fetch_claims = fetch_claims

    async def metadata(self) -> ProviderMetadata:
        """Returns the addresses of the provider."""
        return self.endpoints

    def assertion_audience(self, metadata: ProviderMetadata) -> str:
        """Returns who gets the assertion of `private_key_jwt`."""
        return self.issuer

    async def identify(self, tokens: Tokens, expected: Expected) -> Identity:
        """Returns who has logged in; raises a LoginError if that can't be trusted."""

        async def get(url: str) -> Any:
            headers = {"Authorization": f"Bearer {tokens.access_token}"}
            answer = await self.http.get(url, headers)
            return answer.decode(object)

        claims: Any = await settle(self._fetch_claims(get), "oauth2(fetch_claims=...)")
        sub = claims.get("sub") if isinstance(claims, Mapping) else None
        if not isinstance(sub, str) or not sub:
            raise invalid("fetch_claims returned no mapping with the str 'sub'")
        return Identity(user_from_claims(self.issuer, sub, claims), {})


async def fetch_keys(http: HttpClient, uri: str) -> Any:
    """Fetches a JSON Web Key Set for a `KeySource`.

    A token needs no `kid` if the set has only one key (OpenID Connect Core, section 10.1), so this
    key is there a second time, without one.
    """
    found = (await http.get(uri)).decode(msgspec.Raw)
    keys = msgspec.json.decode(found)
    if not isinstance(keys, dict) or not isinstance(keys.get("keys"), list):
        return keys
    only = keys["keys"][0] if len(keys["keys"]) == 1 else None
    if isinstance(only, dict) and "kid" in only:
        bare = {name: value for name, value in only.items() if name != "kid"}
        return {"keys": [only, bare]}
    return keys
