# SPDX-License-Identifier: MIT
"""Mistakes in options are errors at construction."""

from __future__ import annotations

from typing import Any

import pytest

from kit import Kit
from kit.oidc import access_token, logins, oauth2, oidc, protected_resource, require_scopes
from kit.oidc.providers import google, keycloak, microsoft
from kit.oidc.testing import TestKey, TestProvider

GUID = "72f988bf-86f1-41af-91ab-2d7cd011db47"


def new_login(**options: Any) -> Any:
    return oidc(**{"issuer": "https://id.example", "client_id": "a", **options})


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"issuer": "http://id.example"}, ValueError, "issuer"),
        ({"issuer": "https://id.example?a=b"}, ValueError, "issuer"),
        ({"issuer": "https://user@id.example"}, ValueError, "issuer"),
        ({"issuer": lambda c: "https://id.example"}, TypeError, "issuer"),
        ({"client_id": ""}, ValueError, "client_id"),
        ({"client_secret": ""}, ValueError, "client_secret"),
        ({"client_secret": 7}, TypeError, "client_secret"),
        ({"client_key": "no key"}, ValueError, "client_key"),
        ({"client_key": "a" * 40, "client_key_alg": "HS256"}, ValueError, "private key"),
        ({"client_key_alg": "ES256"}, ValueError, "needs client_key"),
        ({"auth_method": "private_key_jwt"}, ValueError, "needs client_key"),
        ({"auth_method": "client_secret_post"}, ValueError, "needs client_secret"),
        ({"auth_method": "tls"}, ValueError, "auth_method"),
        ({"scopes": "profile"}, ValueError, "openid"),
        ({"scopes": ["openid profile"]}, ValueError, "scopes"),
        ({"name": "Id Example"}, ValueError, "name"),
        ({"algorithms": ["none"]}, ValueError, "algorithms"),
        ({"algorithms": "HS256"}, ValueError, "algorithms"),
        ({"algorithms": []}, ValueError, "algorithms"),
        ({"leeway": -1}, ValueError, "leeway"),
        ({"leeway": 3600}, ValueError, "leeway"),
        ({"userinfo": 1}, TypeError, "userinfo"),
        ({"required_claims": ["hd"]}, TypeError, "required_claims"),
        ({"parameters": {"redirect_uri": "a"}}, ValueError, "parameters"),
        ({"parameters": {"request": "a"}}, ValueError, "parameters"),
        ({"parameters": {"a": 7}}, TypeError, "parameters"),
        ({"prompt": "please"}, ValueError, "prompt"),
        ({"max_age": -1}, ValueError, "max_age"),
        ({"on_login": lambda: None}, TypeError, "on_login"),
        ({"on_error": 7}, TypeError, "on_error"),
        ({"load": lambda user: user}, TypeError, "load"),
        ({"origin": "https://app.example/"}, ValueError, "origin"),
        ({"after_login": "//evil.example"}, ValueError, "after_login"),
        ({"after_logout": "https://evil.example"}, ValueError, "after_logout"),
        ({"logout_at_provider": None}, TypeError, "logout_at_provider"),
        ({"timeout": 0}, ValueError, "timeout"),
        ({"transport": 7}, TypeError, "transport"),
    ],
)
def test_oidc(options: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words) as caught:
        new_login(**options)
    assert "no key" not in str(caught.value)


def test_oauth2() -> None:
    good: dict[str, Any] = {
        "issuer": "https://git.example",
        "authorization_endpoint": "https://git.example/authorize",
        "token_endpoint": "https://git.example/token",
        "fetch_claims": lambda get: {},
        "client_id": "a",
    }
    oauth2(**good)
    for option, value in (
        ("authorization_endpoint", "http://git.example/"),
        ("token_endpoint", "/token"),
        ("issuer", "git.example"),
    ):
        with pytest.raises(ValueError, match=option):
            oauth2(**{**good, option: value})
    with pytest.raises(TypeError, match="fetch_claims"):
        oauth2(**{**good, "fetch_claims": lambda: None})


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"tenant": "contoso"}, ValueError, "GUID"),
        ({"tenant": GUID, "tenants": [GUID]}, ValueError, "tenants"),
        ({"tenant": "common", "tenants": ["contoso"]}, ValueError, "GUIDs"),
        ({"tenant": "common", "colour": "red"}, TypeError, "no option 'colour'"),
    ],
)
def test_microsoft(options: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        microsoft(client_id="a", client_secret="a", **options)


def test_other_presets() -> None:
    with pytest.raises(ValueError, match="hosted_domain"):
        google(client_id="a", client_secret="a", hosted_domain="Example Com")
    with pytest.raises(ValueError, match="realm"):
        keycloak(client_id="a", url="https://id.example", realm="a/b")
    found = keycloak(client_id="a", url="https://id.example/", realm="books")
    assert found.issuer == "https://id.example/realms/books"


@pytest.mark.parametrize("path", ["auth", "/", "/auth/", "/:name", "/Auth", 7])
def test_register(path: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="path"):
        new_login().register(Kit(), path)


def test_require() -> None:
    with pytest.raises(ValueError, match="max_age"):
        new_login().require()
    with pytest.raises(ValueError, match="max_age"):
        new_login().require(max_age=-1)


def test_logins() -> None:
    with pytest.raises(ValueError, match="at least one"):
        logins()
    with pytest.raises(ValueError, match="another name"):
        logins(new_login(), new_login())
    with pytest.raises(TypeError, match="logins"):
        logins("google")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="page"):
        logins(new_login(), page="https://evil.example")


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"issuer": "http://id.example"}, ValueError, "issuer"),
        ({"audience": []}, ValueError, "audience"),
        ({"audience": ""}, ValueError, "audience"),
        ({"scopes": "a b"}, ValueError, "scopes"),
        ({"algorithms": "HS256"}, ValueError, "algorithms"),
        ({"leeway": "a"}, TypeError, "leeway"),
        ({"resource_metadata": "/metadata"}, ValueError, "resource_metadata"),
    ],
)
def test_access_token(options: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        access_token(**{"issuer": "https://id.example", "audience": "a", **options})


def test_resources_and_scopes() -> None:
    for resource in ("http://api.example", "https://api.example?a", "api"):
        with pytest.raises(ValueError, match="resource"):
            protected_resource(Kit(), resource=resource, issuer="https://id.example")
    with pytest.raises(ValueError, match="at least one"):
        require_scopes()


def test_a_provider_for_tests_needs_a_login() -> None:
    with pytest.raises(TypeError, match="the login"), TestProvider():
        raise AssertionError("unreachable")
    with pytest.raises(ValueError, match="response_type"):
        TestProvider().authorize("https://provider.test/authorize?client_id=a")
    assert TestKey("a", "RS256").public["kty"] == "RSA"
