# SPDX-License-Identifier: MIT
"""The provider for tests."""

from __future__ import annotations

import time
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from secrets import token_urlsafe
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

import httpx

from kit.oidc._login import Login, get_settings
from kit.oidc._provider import OAuthProvider, OpenIDProvider

from ._asgi import serve
from ._described import describe_provider
from ._faults import Faults
from ._grants import Grant, Grants
from ._keys import TestKey
from ._transport import ProviderTransport

__all__ = ("TestProvider",)

_MINUTE_S = 60
# At Microsoft, the issuer of many tenants has this in place of the tenant.
_TENANT_MARK = "{tenantid}"
TENANT = "11111111-2222-3333-4444-555555555555"
"""The tenant of users who have no `tid`, at an issuer of many tenants."""
_USER = {"sub": "ann", "name": "Ann", "email": "ann@example.com", "email_verified": True}
_LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"


@cache
def _default_key() -> TestKey:
    return TestKey("key-1")


class TestProvider:
    """A provider of OpenID Connect, in process.

    With a login, it takes the place of its provider within a `with` block. Without one, its
    `transport` is for the option of that name. It is also an ASGI app, which a server can serve for
    development; then anybody logs in as `user`.

    Args:
        login: The login whose provider it replaces.
        issuer: The issuer, if there is no login.
        client_id: The client, if there is no login.
        client_secret: Its secret, if there is no login; None for a client without one.

    Attributes:
        issuer: The issuer.
        client_id: The client.
        client_secret: Its secret.
        user: The claims of the user who logs in.
        key: The key that signs tokens. `rotate_key` replaces it.
        lifetime_s: The lifetime of access tokens, in seconds.
        rotates_refresh_tokens: Whether each refresh token works once. If one is used again, all of
            its login are revoked.
        faults: What it does wrong.
        requests: The requests that it got: method and path.
        answers: What to answer to requests for other addresses, by URL: what to send as JSON.
        transport: A transport of httpx that sends requests to it.
    """

    __test__ = False  # it isn't a class of tests

    def __init__(
        self,
        login: Login[Any] | None = None,
        *,
        issuer: str = "https://provider.test",
        client_id: str = "test-client",
        client_secret: str | None = "test-secret",  # noqa: S107 - of no real client
    ) -> None:
        self._login = login
        self.answers: dict[str, Any] = {}
        self._token_paths: set[str] = set()
        self._discovery_paths: set[str] = set()
        if login is not None:
            settings = get_settings(login)
            issuer, client_id = login.issuer, settings.client.id
            client_secret = settings.client.secret
            if isinstance(settings.provider, OAuthProvider):
                self._token_paths.add(urlsplit(settings.provider.endpoints.token_endpoint).path)
            if isinstance(settings.provider, OpenIDProvider):
                self._discovery_paths.add(urlsplit(settings.provider.discovery_url).path)
        self.issuer = issuer
        self._base = issuer.removesuffix("/").replace(_TENANT_MARK, TENANT)
        self.client_id = client_id
        self.client_secret = client_secret
        self.user: dict[str, Any] = dict(_USER)
        self.key = _default_key()
        self.lifetime_s = 10 * _MINUTE_S
        self.rotates_refresh_tokens = True
        self.faults = Faults()
        self.requests: list[tuple[str, str]] = []
        self.transport: httpx.AsyncBaseTransport = ProviderTransport(self._handle_request)
        self._grants = Grants()
        self._before: httpx.AsyncBaseTransport | None = None

    def __enter__(self) -> Self:
        if self._login is None:
            raise TypeError("with TestProvider(...) needs the login: write TestProvider(login)")
        provider = get_settings(self._login).provider
        self._before, provider.http.transport = provider.http.transport, self.transport
        if isinstance(provider, OpenIDProvider):
            provider.forget()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._login is not None  # noqa: S101 - checked by __enter__
        provider = get_settings(self._login).provider
        provider.http.transport = self._before
        if isinstance(provider, OpenIDProvider):
            provider.forget()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serves one ASGI 3 scope."""
        await serve(self.handle, scope, receive, send)

    async def log_in(
        self, client: Any, user: Mapping[str, Any] | None = None, *, path: str = "/auth/login"
    ) -> Any:
        """Logs a user in, with a client of kit-testing.

        Args:
            client: What `test_client(app)` returns.
            user: The claims of the user, at least `sub`. Default: `user`.
            path: The path of the login's route.

        Returns:
            The response of the callback.
        """
        started = await client.get(path)
        location = started.headers.get("location")
        assert location is not None, f"{path} is no redirect: {started.status}"  # noqa: S101
        return await client.get(self.authorize(location, user))

    def authorize(self, location: str, user: Mapping[str, Any] | None = None) -> str:
        """Logs a user in at the provider; returns the path of the callback, with its query.

        Args:
            location: The redirect of the app to the provider.
            user: The claims of the user, at least `sub`. Default: `user`.

        Raises:
            ValueError: If the request isn't what a provider accepts.
        """
        parts = urlsplit(self.redirect(location, user))
        return f"{parts.path}?{parts.query}"

    def redirect(self, location: str, user: Mapping[str, Any] | None = None) -> str:
        """Like `authorize`, but returns the whole URL of the callback.

        Args:
            location: The redirect of the app to the provider.
            user: The claims of the user, at least `sub`. Default: `user`.

        Raises:
            ValueError: If the request isn't what a provider accepts.
        """
        asked = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
        expected = {
            "response_type": "code",
            "client_id": self.client_id,
            "code_challenge_method": "S256",
        }
        for name, value in expected.items():
            if asked.get(name) != value:
                raise ValueError(f"{name} is {asked.get(name)!r}, expected {value!r}")
        for name in ("redirect_uri", "state", "code_challenge"):
            if not asked.get(name):
                raise ValueError(f"the request has no {name}")
        code = token_urlsafe(16)
        self._grants.codes[code] = Grant(dict(self.user if user is None else user), asked)
        answer: dict[str, str | None] = {"code": code, "state": asked["state"], "iss": self.issuer}
        if _TENANT_MARK in self.issuer:
            answer["iss"] = None
        answer |= self.faults.authorization_response
        query = urlencode({name: value for name, value in answer.items() if value is not None})
        return f"{asked['redirect_uri']}?{query}"

    def rotate_key(self, alg: str = "ES256") -> TestKey:
        """Replaces the key by a new one, and returns the old one.

        Args:
            alg: The algorithm of the new key.
        """
        old, self.key = self.key, TestKey(f"key-{token_urlsafe(4)}", alg)
        return old

    def revoke(self) -> None:
        """Revokes all refresh tokens, as when a user removes the app at the provider."""
        self._grants.refresh_tokens.clear()

    def access_token(
        self,
        audience: str,
        *,
        scope: str = "",
        sub: str = "machine",
        header: Mapping[str, Any] | None = None,
        **claims: Any,
    ) -> str:
        """Returns an access token of RFC 9068, for `kit.oidc.access_token`.

        Args:
            audience: Who it is for.
            scope: Its scopes, separated by spaces.
            sub: Whom it stands for.
            header: Members of its header.
            **claims: More claims, or other values; None leaves a claim out.
        """
        now = int(time.time())
        all_claims = {
            "iss": self.issuer,
            "aud": audience,
            "sub": sub,
            "client_id": self.client_id,
            "iat": now,
            "exp": now + self.lifetime_s,
            "jti": token_urlsafe(8),
            "scope": scope or None,
            **claims,
        }
        return self.key.sign(_present(all_claims), {"typ": "at+jwt", **(header or {})})

    def logout_token(self, *, header: Mapping[str, Any] | None = None, **claims: Any) -> str:
        """Returns a logout token, to be sent to `{path}/backchannel-logout` as `logout_token`.

        Args:
            header: Members of its header.
            **claims: `sub` or `sid`, and other values for claims; None leaves a claim out.
        """
        now = int(time.time())
        all_claims = {
            "iss": self.issuer,
            "aud": self.client_id,
            "iat": now,
            "exp": now + 2 * _MINUTE_S,
            "jti": token_urlsafe(8),
            "events": {_LOGOUT_EVENT: {}},
            **claims,
        }
        return self.key.sign(_present(all_claims), {"typ": "logout+jwt", **(header or {})})

    async def handle(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, Any]:
        """Returns the status of a response, and its JSON, or the location of a redirect.

        Args:
            method: The method.
            url: The URL.
            headers: The headers, with names in lower case.
            body: The body.
        """
        parts = urlsplit(url)
        path = parts.path
        self.requests.append((method, path))
        if self.faults.is_down:
            raise httpx.ConnectError("the provider is down")
        if path in self.faults.answers:
            return self.faults.answers[path]
        plain = url.partition("?")[0]
        if plain in self.answers:
            return 200, self.answers[plain]
        base = urlsplit(self._base).path
        if path in (
            *self._discovery_paths,
            f"{base}/.well-known/openid-configuration",
            f"/.well-known/oauth-authorization-server{base}",
        ):
            return 200, self._metadata()
        if path == f"{base}/jwks":
            return 200, {"keys": [self.key.public]}
        if path == f"{base}/token" or path in self._token_paths:
            return self._token(headers, parse_qs(body.decode()))
        if path == f"{base}/userinfo":
            return self._userinfo(headers)
        if path == f"{base}/authorize":
            return 302, self.redirect(url)
        if path == f"{base}/logout":
            asked = parse_qs(parts.query)
            state = urlencode({"state": asked.get("state", [""])[0]})
            return 302, f"{asked.get('post_logout_redirect_uri', ['/'])[0]}?{state}"
        return 404, {"error": "not_found"}

    async def _handle_request(self, *request: Any) -> tuple[int, Any]:
        return await self.handle(*request)  # which a test may replace

    def _metadata(self) -> dict[str, Any]:
        return _present(
            {**describe_provider(self.issuer, self._base, self.key), **self.faults.metadata}
        )

    def _token(
        self, headers: Mapping[str, str], form: Mapping[str, list[str]]
    ) -> tuple[int, dict[str, Any]]:
        sent = {name: values[0] for name, values in form.items()}
        if not self._is_client(headers, sent):
            return 401, {"error": "invalid_client"}
        grant = self._grants.redeem(sent, self.rotates_refresh_tokens)
        if grant is None:
            return 400, {"error": "invalid_grant"}
        access_token, refresh_token = token_urlsafe(16), token_urlsafe(16)
        self._grants.access_tokens[access_token] = grant
        found: dict[str, Any] = {
            "access_token": access_token,
            "token_type": "Bearer",
            "expires_in": self.lifetime_s,
            "scope": grant.asked.get("scope", ""),
        }
        if sent["grant_type"] == "authorization_code" or self.rotates_refresh_tokens:
            self._grants.refresh_tokens[refresh_token] = grant
            found["refresh_token"] = refresh_token
        if "openid" in grant.asked.get("scope", "").split():
            found["id_token"] = self._id_token(grant, access_token)
        return 200, _present({**found, **self.faults.token_response})

    def _is_client(self, headers: Mapping[str, str], sent: Mapping[str, str]) -> bool:
        scheme, _, encoded = headers.get("authorization", "").partition(" ")
        name, secret = sent.get("client_id"), sent.get("client_secret")
        if scheme.lower() == "basic":
            name, _, secret = b64decode(encoded).decode().partition(":")
            name, secret = unquote_plus(name), unquote_plus(secret)
        # A private key is the app's, so an assertion is not checked.
        has_key = "client_assertion" in sent
        return name == self.client_id and (has_key or secret == self.client_secret)

    def _id_token(self, grant: Grant, access_token: str) -> str:
        now = int(time.time())
        digest = sha256(access_token.encode()).digest()
        claims: dict[str, Any] = {
            **grant.user,
            "iss": self.issuer.replace(_TENANT_MARK, str(grant.user.get("tid", TENANT))),
            "aud": self.client_id,
            "iat": now,
            "exp": now + 5 * _MINUTE_S,
            "auth_time": grant.auth_time,
            "sid": grant.sid,
            "nonce": grant.asked.get("nonce"),
        }
        if self.key.alg.endswith("256"):
            claims["at_hash"] = urlsafe_b64encode(digest[:16]).rstrip(b"=").decode()
        if _TENANT_MARK in self.issuer:
            claims.setdefault("tid", TENANT)
        claims = _present(claims)
        if self.faults.id_token is not None:
            claims = _present(self.faults.id_token(claims))
        signer = self.faults.signer or self.key
        return signer.sign(claims, self.faults.header)

    def _userinfo(self, headers: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        token = headers.get("authorization", "").partition(" ")[2]
        grant = self._grants.access_tokens.get(token)
        if grant is None:
            return 401, {"error": "invalid_token"}
        return 200, _present({**grant.user, **self.faults.userinfo})


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
