# SPDX-License-Identifier: MIT
"""The provider for tests."""

from __future__ import annotations

import time
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from secrets import token_urlsafe
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

import httpx
import msgspec

from kit.oidc._login import Login, get_settings
from kit.oidc._provider import OAuthProvider, OpenIDProvider

from ._asgi import serve
from ._keys import TestKey

__all__ = ("Faults", "TestProvider")

_MINUTE_S = 60
_USER = {"sub": "ann", "name": "Ann", "email": "ann@example.com", "email_verified": True}
_LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"


@cache
def _default_key() -> TestKey:
    return TestKey("key-1")


@dataclass
class Faults:
    """What the provider does wrong. All of it is off at first.

    Attributes:
        is_down: Whether requests fail.
        id_token: Returns other claims of an ID token, for its claims.
        header: Members of the header of ID tokens; None leaves one out, `{"alg": "none"}` leaves
            the signature out.
        signer: Another key, which the key set doesn't have, that signs ID tokens.
        metadata: Members of the metadata; None leaves one out.
        token_response: Members of token responses; None leaves one out.
        userinfo: Members of UserInfo; None leaves one out.
        authorization_response: Parameters of authorization responses; None leaves one out.
        answers: Responses, by the path of the request: a status, and what to send as JSON.
    """

    is_down: bool = False
    id_token: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None
    header: Mapping[str, Any] = field(default_factory=dict)
    signer: TestKey | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    token_response: Mapping[str, Any] = field(default_factory=dict)
    userinfo: Mapping[str, Any] = field(default_factory=dict)
    authorization_response: Mapping[str, str | None] = field(default_factory=dict)
    answers: dict[str, tuple[int, Any]] = field(default_factory=dict)


class _Grant(msgspec.Struct):
    """What a code or a refresh token stands for."""

    user: dict[str, Any]
    asked: dict[str, str]
    sid: str
    auth_time: int


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
        self._paths = {"/token"}
        if login is not None:
            settings = get_settings(login)
            issuer, client_id = login.issuer, settings.client.id
            client_secret = settings.client.secret
            if isinstance(settings.provider, OAuthProvider):
                self._paths.add(urlsplit(settings.provider.endpoints.token_endpoint).path)
        self.issuer = issuer
        self.client_id = client_id
        self.client_secret = client_secret
        self.user: dict[str, Any] = dict(_USER)
        self.key = _default_key()
        self.lifetime_s = 10 * _MINUTE_S
        self.rotates_refresh_tokens = True
        self.faults = Faults()
        self.requests: list[tuple[str, str]] = []
        self.transport: httpx.AsyncBaseTransport = _Transport(self)
        self._codes: dict[str, _Grant] = {}
        self._refresh_tokens: dict[str, _Grant] = {}
        self._used_refresh_tokens: dict[str, _Grant] = {}
        self._access_tokens: dict[str, _Grant] = {}
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
        self._codes[code] = _Grant(
            dict(self.user if user is None else user), asked, token_urlsafe(8), int(time.time())
        )
        answer: dict[str, str | None] = {"code": code, "state": asked["state"], "iss": self.issuer}
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
        base = urlsplit(self.issuer).path.rstrip("/")
        if path in (
            f"{base}/.well-known/openid-configuration",
            f"/.well-known/oauth-authorization-server{base}",
        ):
            return 200, self._metadata()
        if path == f"{base}/jwks":
            return 200, {"keys": [self.key.public]}
        if path.removeprefix(base) in self._paths:
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

    def _metadata(self) -> dict[str, Any]:
        base = self.issuer.rstrip("/")
        found = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{base}/authorize",
            "token_endpoint": f"{base}/token",
            "jwks_uri": f"{base}/jwks",
            "userinfo_endpoint": f"{base}/userinfo",
            "end_session_endpoint": f"{base}/logout",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [self.key.alg],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
            "authorization_response_iss_parameter_supported": True,
            "backchannel_logout_supported": True,
            "backchannel_logout_session_supported": True,
            **self.faults.metadata,
        }
        return _present(found)

    def _token(
        self, headers: Mapping[str, str], form: Mapping[str, list[str]]
    ) -> tuple[int, dict[str, Any]]:
        sent = {name: values[0] for name, values in form.items()}
        if not self._is_client(headers, sent):
            return 401, {"error": "invalid_client"}
        grant = self._redeem(sent)
        if grant is None:
            return 400, {"error": "invalid_grant"}
        access_token, refresh_token = token_urlsafe(16), token_urlsafe(16)
        self._access_tokens[access_token] = grant
        found: dict[str, Any] = {
            "access_token": access_token,
            "token_type": "Bearer",
            "expires_in": self.lifetime_s,
            "scope": grant.asked.get("scope", ""),
        }
        if sent["grant_type"] == "authorization_code" or self.rotates_refresh_tokens:
            self._refresh_tokens[refresh_token] = grant
            found["refresh_token"] = refresh_token
        if "openid" in grant.asked.get("scope", "").split():
            found["id_token"] = self._id_token(grant, access_token)
        return 200, _present({**found, **self.faults.token_response})

    def _redeem(self, sent: Mapping[str, str]) -> _Grant | None:
        if sent.get("grant_type") == "authorization_code":
            grant = self._codes.pop(sent.get("code", ""), None)
            verifier = sent.get("code_verifier", "").encode()
            challenge = urlsafe_b64encode(sha256(verifier).digest()).rstrip(b"=").decode()
            if (
                grant is None
                or grant.asked["code_challenge"] != challenge
                or grant.asked["redirect_uri"] != sent.get("redirect_uri")
            ):
                return None
            return grant
        if sent.get("grant_type") != "refresh_token":
            return None
        token = sent.get("refresh_token", "")
        reused = self._used_refresh_tokens.get(token)
        if reused is not None:
            for kept in [key for key, one in self._refresh_tokens.items() if one is reused]:
                del self._refresh_tokens[kept]
            return None
        if not self.rotates_refresh_tokens:
            return self._refresh_tokens.get(token)
        grant = self._refresh_tokens.pop(token, None)
        if grant is not None:
            self._used_refresh_tokens[token] = grant
        return grant

    def _is_client(self, headers: Mapping[str, str], sent: Mapping[str, str]) -> bool:
        scheme, _, encoded = headers.get("authorization", "").partition(" ")
        name, secret = sent.get("client_id"), sent.get("client_secret")
        if scheme.lower() == "basic":
            name, _, secret = b64decode(encoded).decode().partition(":")
            name, secret = unquote_plus(name), unquote_plus(secret)
        # A private key is the app's, so an assertion is not checked.
        has_key = "client_assertion" in sent
        return name == self.client_id and (has_key or secret == self.client_secret)

    def _id_token(self, grant: _Grant, access_token: str) -> str:
        now = int(time.time())
        digest = sha256(access_token.encode()).digest()
        claims: dict[str, Any] = {
            **grant.user,
            "iss": self.issuer,
            "aud": self.client_id,
            "iat": now,
            "exp": now + 5 * _MINUTE_S,
            "auth_time": grant.auth_time,
            "sid": grant.sid,
            "nonce": grant.asked.get("nonce"),
        }
        if self.key.alg.endswith("256"):
            claims["at_hash"] = urlsafe_b64encode(digest[:16]).rstrip(b"=").decode()
        claims = _present(claims)
        if self.faults.id_token is not None:
            claims = _present(self.faults.id_token(claims))
        signer = self.faults.signer or self.key
        return signer.sign(claims, self.faults.header)

    def _userinfo(self, headers: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        token = headers.get("authorization", "").partition(" ")[2]
        grant = self._access_tokens.get(token)
        if grant is None:
            return 401, {"error": "invalid_token"}
        return 200, _present({**grant.user, **self.faults.userinfo})


class _Transport(httpx.AsyncBaseTransport):
    """Sends requests of httpx to the provider."""

    def __init__(self, provider: TestProvider) -> None:
        self._provider = provider

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = await request.aread()
        headers = {name.lower(): value for name, value in request.headers.items()}
        status, answer = await self._provider.handle(
            request.method, str(request.url), headers, body
        )
        if 300 <= status < 400:
            stream = httpx.ByteStream(b"")
            return httpx.Response(status, headers={"location": answer}, stream=stream)
        if isinstance(answer, httpx.Response):
            return answer
        # Not `content=`, since the client reads what the network would send.
        content = msgspec.json.encode(answer)
        kind = {"content-type": "application/json"}
        return httpx.Response(status, headers=kind, stream=httpx.ByteStream(content))


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
