# SPDX-License-Identifier: MIT
"""What an OpenAPI document says of routes that want a token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jwt_keys import SECRET, public_jwk
from openapi_spec_validator import validate

from kit import Context, Kit, Response
from kit.jwk import jwk
from kit.jwt import jwt
from kit.openapi import build_document


@dataclass
class User:
    name: str


def find(payload: dict[str, Any], c: Any) -> User | None:
    return None


def page(c: Context) -> Response:
    return c.text("")


def documented(app: Kit[Any, Any]) -> dict[str, Any]:
    document = build_document(app)
    validate(document)
    return document


def securities(document: dict[str, Any]) -> dict[str, Any]:
    return {path: item["get"].get("security") for path, item in document["paths"].items()}


def test_header_and_cookie() -> None:
    app: Kit[Any, Any] = Kit()
    app.get("/open", page)
    app.use("/header/*", jwt(secret=SECRET, alg="HS256"))
    app.get("/header/:id", page)
    app.get(
        "/cookie",
        page,
        use=jwt(secret=SECRET, alg="HS256", cookie={"key": "auth", "prefix_options": "host"}),
    )
    app.get("/anon", page, use=jwt(secret=SECRET, alg="HS256", allow_anon=True))
    app.get("/token", page, use=jwt(secret=SECRET, alg="HS256", scheme="Token"))
    app.get("/own", page, use=jwt(secret=SECRET, alg="HS256", header_name="X-Login"))
    document = documented(app)
    schemes = document["components"]["securitySchemes"]
    bearer, auth, token, own = (
        next(name for name, each in schemes.items() if each == scheme)
        for scheme in (
            {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
            {"type": "apiKey", "in": "cookie", "name": "__Host-auth"},
            {"type": "http", "scheme": "token"},
            {"type": "apiKey", "in": "header", "name": "X-Login"},
        )
    )
    assert len(schemes) == 4
    assert securities(document) == {
        "/open": [],
        "/header/{id}": [{bearer: []}],
        "/cookie": [{bearer: []}, {auth: []}],
        "/anon": [{bearer: []}, {}],
        "/token": [{token: []}],
        "/own": [{own: []}],
    }
    texts = {
        path: item["get"]["responses"].get("401", {}).get("description")
        for path, item in document["paths"].items()
    }
    assert texts["/open"] is None
    assert texts["/header/{id}"] == "No token, or an invalid token"
    assert texts["/anon"] == "An invalid token"


def test_user() -> None:
    user = jwt(secret=SECRET, alg="HS256", load=find, cookie="auth")
    app: Kit[Any, Any] = Kit()
    app.get("/me", page, use=user.required)
    app.get("/", page, use=user.optional)
    app.get("/both", page, use=[user.optional, user.required])
    document = documented(app)
    names = [*document["components"]["securitySchemes"]]
    assert len(names) == 2
    required = [{name: []} for name in names]
    found = securities(document)
    assert sorted(map(str, found["/me"])) == sorted(map(str, required))
    assert sorted(map(str, found["/"])) == sorted(map(str, [*required, {}]))
    assert {} not in found["/both"]


def test_key_set() -> None:
    app: Kit[Any, Any] = Kit()
    app.get("/own", page, use=jwk(keys=[public_jwk("ES256")], alg="ES256"))
    app.get("/remote", page, use=jwk(jwks_uri="https://issuer.example/jwks", alg="ES256"))
    paths = documented(app)["paths"]
    assert [*paths["/own"]["get"]["responses"]] == ["200", "401"]
    assert [*paths["/remote"]["get"]["responses"]] == ["200", "401", "503"]
    assert paths["/own"]["get"]["security"] == paths["/remote"]["get"]["security"]
