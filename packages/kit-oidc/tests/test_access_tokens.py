# SPDX-License-Identifier: MIT
"""Access tokens of machines (RFC 9068), and the metadata of an API (RFC 9728)."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.shared.auth import ProtectedResourceMetadata

from kit import Context, Kit, Response
from kit.interface.metadata import get_facts
from kit.mcp import mcp
from kit.oidc import AccessToken, access_token, protected_resource, require_scopes
from kit.oidc.testing import TestKey, TestProvider
from kit.testing import test_client as new_client

ISSUER = "https://id.example"
AUDIENCE = "https://api.example"


class Api:
    """An API, and the provider of its tokens."""

    def __init__(self, **options: Any) -> None:
        self.provider = TestProvider(issuer=options.get("issuer", ISSUER))
        self.app = Kit()
        self.guard = access_token(
            **{
                "issuer": ISSUER,
                "audience": AUDIENCE,
                "transport": self.provider.transport,
                **options,
            }
        )
        self.app.use("/api/*", self.guard)

        @self.app.get("/api/me")
        def me(c: Context) -> Response:
            found: AccessToken = c.get("access_token")
            return c.json([found.sub, found.client_id, sorted(found.scopes)])

        self.app.post("/api/books", require_scopes("books:write"), lambda c: c.text("made"))

    async def get(self, token: str | None = None, path: str = "/api/me", **more: str) -> Any:
        headers = more if token is None else {"authorization": f"Bearer {token}", **more}
        async with new_client(self.app) as client:
            send = client.post if path == "/api/books" else client.get
            return await send(path, headers=headers)


async def test_a_valid_token() -> None:
    api = Api()
    response = await api.get(api.provider.access_token(AUDIENCE, scope="a b"))
    assert await response.json() == ["machine", "test-client", ["a", "b"]]
    token = api.provider.access_token(AUDIENCE, header={"typ": "application/AT+JWT"})
    assert (await api.get(token)).status == 200
    both = api.provider.access_token("x", aud=["x", AUDIENCE])
    assert (await api.get(both)).status == 200
    assert api.provider.requests == [("GET", "/.well-known/openid-configuration"), ("GET", "/jwks")]


@pytest.mark.parametrize(
    ("header", "challenge"),
    [
        ({}, "Bearer"),
        ({"authorization": "Basic YTpi"}, "Bearer"),
        ({"authorization": "Bearer"}, 'Bearer error="invalid_token"'),
        ({"authorization": "Bearer a.b.c"}, 'Bearer error="invalid_token"'),
    ],
)
async def test_challenges(header: Any, challenge: str) -> None:
    response = await Api().get(None, **header)
    assert (response.status, response.headers["www-authenticate"]) == (401, challenge)


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"aud": "https://other.example"},
        {"aud": None},
        {"exp": 1},
        {"exp": None},
        {"iat": None},
        {"iat": 4_000_000_000},
        {"nbf": 4_000_000_000},
        {"sub": None},
        {"sub": 7},
        {"client_id": None},
        {"client_id": []},
        {"jti": None},
        {"scope": ["a"]},
        {"header": {"typ": "JWT"}},
        {"header": {"typ": None}},
        {"header": {"alg": "none"}},
    ],
)
async def test_invalid_tokens(claims: Any) -> None:
    api = Api()
    response = await api.get(api.provider.access_token(AUDIENCE, **claims))
    assert response.status == 401
    assert response.headers["www-authenticate"] == 'Bearer error="invalid_token"'


async def test_bad_signature() -> None:
    api = Api()
    token = api.provider.access_token(AUDIENCE)
    api.provider.key = TestKey(api.provider.key.kid)
    assert (await api.get(token)).status == 401


async def test_an_id_token_is_no_access_token() -> None:
    api = Api(audience="test-client")
    claims = {"sub": "ann", "aud": "test-client", "iss": ISSUER, "exp": 4_000_000_000, "iat": 1}
    assert (await api.get(api.provider.key.sign(claims, {}))).status == 401


async def test_scopes() -> None:
    api = Api(scopes=["a", "b"])
    response = await api.get(api.provider.access_token(AUDIENCE, scope="a"))
    assert response.status == 403
    assert response.headers["www-authenticate"] == (
        'Bearer scope="a b", error="insufficient_scope"'
    )
    token = api.provider.access_token(AUDIENCE, scope="b a c")
    assert (await api.get(token)).status == 200
    refused = await api.get(token, "/api/books")
    assert refused.status == 403
    assert 'scope="books:write"' in refused.headers["www-authenticate"]
    token = api.provider.access_token(AUDIENCE, scope="a b books:write")
    assert (await api.get(token, "/api/books")).status == 200


async def test_scopes_without_a_token() -> None:
    app = Kit()
    app.get("/", require_scopes("a"), lambda c: c.text("in"))
    async with new_client(app) as client:
        assert (await client.get("/")).status == 500


async def test_keys_that_can_not_be_fetched() -> None:
    api = Api()
    token = api.provider.access_token(AUDIENCE)
    api.provider.faults.is_down = True
    response = await api.get(token)
    assert (response.status, response.headers["retry-after"]) == (503, "5")


async def test_discovery_of_oauth_servers() -> None:
    """RFC 8414, section 3.1: an authorization server needn't speak OpenID Connect."""
    api = Api(issuer="https://id.example/tenant")
    api.provider.faults.answers["/tenant/.well-known/openid-configuration"] = (404, {})
    assert (await api.get(api.provider.access_token(AUDIENCE))).status == 200
    assert ("GET", "/.well-known/oauth-authorization-server/tenant") in api.provider.requests


async def test_discovery_of_another_issuer() -> None:
    api = Api()
    api.provider.faults.metadata = {"issuer": "https://evil.example"}
    assert (await api.get(api.provider.access_token(AUDIENCE))).status == 503


def test_facts() -> None:
    facts = get_facts(Api(scopes="a").guard)
    assert facts.security == (
        {
            "type": "openIdConnect",
            "openIdConnectUrl": "https://id.example/.well-known/openid-configuration",
            "description": "Needs the scopes a.",
        },
    )
    assert facts.responses.keys() == {401, 403, 503}
    assert facts.provides == {"access_token": AccessToken}


async def test_protected_resource_of_an_mcp_server() -> None:
    provider = TestProvider(issuer=ISSUER)
    app = Kit()
    guard = protected_resource(
        app,
        resource="https://books.example/mcp",
        issuer=ISSUER,
        scopes="mcp",
        scopes_supported=["mcp", "books:write"],
        name="Books",
        transport=provider.transport,
    )
    app.use("/mcp", guard)
    mcp(app, allowed_hosts="*")
    initialize = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    headers = {"accept": "application/json, text/event-stream"}
    async with new_client(app) as client:
        refused = await client.post("/mcp", json=initialize, headers=headers)
        assert refused.status == 401
        url = "https://books.example/.well-known/oauth-protected-resource/mcp"
        challenge = f'Bearer scope="mcp", resource_metadata="{url}"'
        assert refused.headers["www-authenticate"] == challenge
        response = await client.get("/.well-known/oauth-protected-resource/mcp")
        assert response.headers["access-control-allow-origin"] == "*"
        # As a client of MCP reads it.
        found = ProtectedResourceMetadata.model_validate_json(await response.text())
        assert str(found.resource) == "https://books.example/mcp"
        assert [str(each).rstrip("/") for each in found.authorization_servers] == [ISSUER]
        assert found.scopes_supported == ["mcp", "books:write"]
        assert found.resource_name == "Books"
        bearer = {**headers, "authorization": "Bearer "}
        token = provider.access_token("https://books.example/mcp", scope="other")
        low = await client.post(
            "/mcp", json=initialize, headers={**bearer, "authorization": f"Bearer {token}"}
        )
        assert low.status == 403
        assert low.headers["www-authenticate"] == (
            f'Bearer scope="mcp", error="insufficient_scope", resource_metadata="{url}"'
        )
        token = provider.access_token("https://books.example/mcp", scope="mcp")
        done = await client.post(
            "/mcp", json=initialize, headers={**headers, "authorization": f"Bearer {token}"}
        )
        assert done.status == 200


async def test_protected_resource_without_a_path() -> None:
    app = Kit()
    protected_resource(app, resource="https://api.example", issuer=ISSUER)
    async with new_client(app) as client:
        response = await client.get("/.well-known/oauth-protected-resource")
        assert (await response.json()).keys() == {
            "resource",
            "authorization_servers",
            "bearer_methods_supported",
        }


async def test_protected_resource_with_a_slash_at_the_end() -> None:
    app = Kit()
    resource = "https://books.example/mcp/"
    guard = protected_resource(app, resource=resource, issuer=ISSUER)
    app.get("/mcp/", guard, lambda c: c.text("in"))
    async with new_client(app) as client:
        challenge = (await client.get("/mcp/")).headers["www-authenticate"]
        path = "/.well-known/oauth-protected-resource/mcp/"
        assert challenge == f'Bearer resource_metadata="https://books.example{path}"'
        assert (await (await client.get(path)).json())["resource"] == resource


@pytest.mark.parametrize("scope", ["x\u00a0books:write", "x\tbooks:write", "x\u2028books:write"])
async def test_a_scope_behind_another_kind_of_space(scope: str) -> None:
    api = Api()
    token = api.provider.access_token(AUDIENCE, scope=scope)
    assert (await api.get(token, "/api/books")).status == 403
