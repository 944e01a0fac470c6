# SPDX-License-Identifier: MIT
"""How the app authenticates at the token endpoint (OpenID Connect Core, section 9)."""

from __future__ import annotations

from base64 import b64decode
from typing import Any
from urllib.parse import parse_qs

import anyio
import httpx
import pytest

from kit import Kit
from kit.jwt import verify
from kit.oidc import oidc
from kit.oidc.testing import TestKey, TestProvider
from kit.session import session
from kit.session.stores import MemoryStore
from kit.testing import test_client as new_client


async def log_in(**options: Any) -> tuple[dict[str, str], str | None, int]:
    """Returns the form and the Authorization of a token request, and the status of the login."""
    metadata = options.pop("metadata", {})
    login = oidc(issuer="https://id.example", client_id="a:b c", **options)
    app = Kit()
    app.use(session(store=MemoryStore()))
    login.register(app)
    seen: list[tuple[dict[str, str], str | None]] = []
    with TestProvider(login) as provider:
        provider.faults.metadata = metadata
        handle = provider.handle

        async def note(method: str, url: str, headers: Any, body: bytes) -> Any:
            if url.endswith("/token"):
                form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
                seen.append((form, headers.get("authorization")))
            return await handle(method, url, headers, body)

        provider.handle = note  # type: ignore[method-assign]
        async with new_client(app) as client:
            status = (await provider.log_in(client)).status
    return *seen[0], status


async def test_client_secret_basic() -> None:
    form, authorization, status = await log_in(client_secret="s/e c:ret")
    assert status == 303
    assert form.keys() == {"grant_type", "code", "redirect_uri", "code_verifier"}
    assert authorization is not None
    # RFC 6749, section 2.3.1: encoded as in a form, since a colon separates them.
    decoded = b64decode(authorization.removeprefix("Basic ")).decode()
    assert decoded == "a%3Ab+c:s%2Fe+c%3Aret"


@pytest.mark.parametrize(
    "options",
    [
        {"auth_method": "client_secret_post"},
        {"metadata": {"token_endpoint_auth_methods_supported": ["client_secret_post"]}},
    ],
)
async def test_client_secret_post(options: Any) -> None:
    form, authorization, status = await log_in(client_secret="s3cret", **options)
    assert (form["client_id"], form["client_secret"]) == ("a:b c", "s3cret")
    assert (authorization, status) == (None, 303)


async def test_none() -> None:
    form, authorization, status = await log_in()
    assert form["client_id"] == "a:b c"
    assert "client_secret" not in form
    assert (authorization, status) == (None, 303)


@pytest.mark.parametrize("alg", ["ES256", "RS256"])
async def test_private_key_jwt(alg: str) -> None:
    key = TestKey("k", alg)
    form, authorization, status = await log_in(client_key=key.private)
    assert (authorization, status) == (None, 303)
    assert form["client_assertion_type"] == (
        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    )
    claims = verify(form["client_assertion"], key.public, alg, aud="https://id.example")
    assert (claims["iss"], claims["sub"]) == ("a:b c", "a:b c")
    assert claims["exp"] - claims["iat"] == 60
    assert claims["jti"]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_both_event_loops(backend: str) -> None:
    async def main() -> None:
        with anyio.fail_after(30):
            assert (await log_in(client_secret="s3cret"))[2] == 303

    anyio.run(main, backend=backend)


async def test_a_provider_that_takes_too_long() -> None:
    class Slow(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            await anyio.sleep(30)
            raise AssertionError("unreachable")

    login = oidc(issuer="https://id.example", client_id="a", transport=Slow(), timeout=0.01)
    app = Kit()
    app.use(session(store=MemoryStore()))
    login.register(app)
    async with new_client(app) as client:
        response = await client.get("/auth/login")
    assert response.status == 503
    assert await response.text() == "The provider can't be reached: try again later"


async def test_a_provider_that_is_not_there() -> None:
    """Over the network, without a transport."""
    login = oidc(issuer="http://127.0.0.1:9", client_id="a")
    app = Kit()
    app.use(session(store=MemoryStore()))
    login.register(app)
    async with new_client(app) as client:
        assert (await client.get("/auth/login")).status == 503
