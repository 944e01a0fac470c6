# SPDX-License-Identifier: MIT
"""Mistakes in the options, and what the package offers."""

from __future__ import annotations

import re
from collections.abc import Awaitable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest

import kit.bearer_auth
from kit import Kit
from kit.bearer_auth import FailureOptions, bearer_auth
from kit.interface.metadata import get_facts


def authorization(value: str) -> dict[str, str]:
    return {"Authorization": value}


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({}, ValueError, "bearer_auth() needs token=... or verify_token=..., and got neither"),
        ({"token": None, "realm": "x"}, ValueError, "needs token=... or verify_token=..., and"),
        ({"token": b"abc"}, TypeError, "takes a str or a list of them, not bytes"),
        ({"token": {"ann": "abc"}}, TypeError, "takes a str or a list of them, not dict"),
        ({"token": 7}, TypeError, "bearer_auth(token=...) takes a str or a list of them, not int"),
        ({"token": ["abc", 7]}, TypeError, "bearer_auth(token=...): token 2 of 2 is int"),
        ({"token": ""}, ValueError, "is not a bearer token: expected one or more of A-Z a-z"),
        ({"token": ["abc", "s3cret word"]}, ValueError, "is not a bearer token: expected one"),
        ({"verify_token": "abc"}, TypeError, "takes a function (token, c), not 'abc'"),
        ({"token": "abc", "hash_function": "md5"}, TypeError, "takes a function (token), not"),
        ({"token": "abc", "realm": None}, TypeError, "takes a str, not None"),
        ({"token": "abc", "realm": "a\nb"}, ValueError, "expected latin-1 text without"),
        ({"token": "abc", "realm": "あ"}, ValueError, "expected latin-1 text without control"),
        ({"token": "abc", "prefix": None}, TypeError, "takes a str, not None"),
        ({"token": "abc", "prefix": "Bearer "}, ValueError, "expected a scheme such as"),
        ({"token": "abc", "prefix": "A, B"}, ValueError, "expected a scheme such as 'Bearer'"),
        ({"token": "abc", "header_name": 7}, TypeError, "takes a str, not 7"),
        ({"token": "abc", "header_name": "X Key"}, ValueError, "expected a header name such"),
        ({"token": "abc", "invalid_token": "no"}, TypeError, "takes a mapping with 'message'"),
        (
            {"token": "abc", "no_authentication_header": {"massage": "x"}},
            ValueError,
            "has the unknown key 'massage': expected 'message', 'www_authenticate_header'",
        ),
        (
            {"token": "abc", "invalid_token": {"www_authenticate_header": 7}},
            TypeError,
            "bearer_auth: invalid_token['www_authenticate_header'] is int, expected a",
        ),
        (
            {"token": "abc", "invalid_token": {"www_authenticate_header": "a\nb"}},
            ValueError,
            "bearer_auth: invalid_token['www_authenticate_header'] 'a\\nb' can't be sent",
        ),
        (
            {"token": "abc", "invalid_token": {"www_authenticate_header": {"a b": "c"}}},
            ValueError,
            "bearer_auth: invalid_token['www_authenticate_header'] has the key 'a b'",
        ),
        (
            {"token": "abc", "invalid_token": {"www_authenticate_header": {"a": "\x00"}}},
            ValueError,
            "bearer_auth: invalid_token['www_authenticate_header'] '\\x00' can't be sent",
        ),
        (
            {"token": "abc", "invalid_token": {"status": 200}},
            ValueError,
            "bearer_auth: invalid_token['status'] is 200, expected 400 to 499",
        ),
        (
            {"token": "abc", "invalid_token": {"status": "403"}},
            TypeError,
            "bearer_auth: invalid_token['status'] is '403', expected an int",
        ),
        ({"token": "abc", "optional": "yes"}, TypeError, "takes a bool, not 'yes'"),
        (
            {"token": "abc", "optional": True, "no_authentication_header": {"status": 403}},
            ValueError,
            "can't be used with optional=True, which lets requests without credentials",
        ),
        (
            {"verify_token": lambda token, c: True, "user_variable": ""},
            ValueError,
            "bearer_auth(user_variable='') can't be used: expected a name such as 'user'",
        ),
        ({"token": "abc", "user_variable": "account"}, ValueError, "needs verify_token=..."),
    ],
)
def test_mistakes_are_errors_at_creation(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as caught:
        bearer_auth(**options)
    assert text in str(caught.value)


def test_options_are_keyword_only() -> None:
    with pytest.raises(TypeError):
        bearer_auth("abc")  # type: ignore[call-arg]


def test_options_are_not_changed() -> None:
    options: FailureOptions = {"message": "x"}
    bearer_auth(token="abc", invalid_token=options)
    assert options == {"message": "x"}


def test_middleware_bears_the_name_of_its_factory() -> None:
    assert bearer_auth(token="abc").__name__ == "bearer_auth"


def test_public_names() -> None:
    assert kit.bearer_auth.__all__ == (
        "FailureOptions",
        "HashFunction",
        "VerifyToken",
        "bearer_auth",
    )
    assert all(hasattr(kit.bearer_auth, name) for name in kit.bearer_auth.__all__)


# --- README ----------------------------------------------------------------------------------


def readme_app(number: int) -> Kit[Any, Any]:
    """The app of a Python block of the README."""
    readme = (Path(__file__).resolve().parent.parent / "README.md").read_text()
    block = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)[number]
    namespace: dict[str, Any] = {}
    exec(compile(block, "README.md", "exec"), namespace)
    app = namespace["app"]
    assert isinstance(app, Kit)
    return app


async def test_readme() -> None:
    first, verified, own = readme_app(0), readme_app(1), readme_app(4)
    response = await first.request("/api/books", {"headers": authorization("Bearer s3cret")})
    assert await response.json() == ["Momo"]
    assert (await first.request("/api/books")).status == 401
    response = await verified.request("/me", {"headers": authorization("Bearer t0ken-of-ann")})
    assert await response.text() == "ann"
    response = await verified.request("/me", {"headers": authorization("Bearer x")})
    assert response.status == 401
    response = await own.request("/x", {"headers": authorization("Bearer x")})
    assert response.status == 401
    assert await response.json() == {"error": "unknown token", "path": "/x"}
    assert response.headers["www-authenticate"] == 'Bearer error="invalid_token",scope="books"'
    assert response.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("options", "scheme"),
    [
        ({}, {"type": "http", "scheme": "bearer"}),
        ({"header_name": "authorization"}, {"type": "http", "scheme": "bearer"}),
        ({"prefix": "Token"}, {"type": "http", "scheme": "token"}),
        ({"prefix": ""}, {"type": "apiKey", "in": "header", "name": "Authorization"}),
        ({"prefix": "My Token"}, {"type": "apiKey", "in": "header", "name": "Authorization"}),
        ({"header_name": "X-Key"}, {"type": "apiKey", "in": "header", "name": "X-Key"}),
    ],
)
def test_facts_for_tools(options: dict[str, Any], scheme: dict[str, str]) -> None:
    app = Kit().use("/api/*", bearer_auth(token="abc", **options))
    [route] = app.routes
    facts = get_facts(route.handler)
    assert facts.security == (scheme,)
    assert facts.responses == {
        400: "Malformed credentials",
        401: "No credentials, or an invalid token",
    }


class User:
    pass


def untyped(token, c):  # type: ignore[no-untyped-def]
    return True


def plain(token: str, c: Any) -> User:
    return User()


async def maybe(token: str, c: Any) -> User | None:
    return None


def later(token: str, c: Any) -> Awaitable[User | Literal[False]]:
    return maybe(token, c)  # type: ignore[return-value]


def verdict(token: str, c: Any) -> bool | None:
    return True


def undefined(token: str, c: Any) -> Nowhere:  # type: ignore[name-defined]  # noqa: F821
    return None


class Verifier:
    def __call__(self, token: str, c: Any) -> User | Literal[True]:
        return True

    async def method(self, token: str, c: Any) -> str:
        return ""


@pytest.mark.parametrize(
    ("verify", "provides"),
    [
        (plain, {"user": User}),
        (maybe, {"user": User}),
        (later, {"user": User}),
        (partial(maybe), {"user": User}),
        (Verifier(), {"user": User}),
        (Verifier().method, {"user": str}),
        (verdict, {}),
        (untyped, {"user": Any}),
        (lambda token, c: c, {"user": Any}),
        (undefined, {"user": Any}),
    ],
)
def test_the_type_of_the_user_is_told(verify: Any, provides: dict[str, Any]) -> None:
    assert get_facts(bearer_auth(verify_token=verify)).provides == provides
    named = bearer_auth(verify_token=verify, user_variable="account")
    assert [*get_facts(named).provides] == ["account"] * len(provides)
    expected = {name: kind if kind is Any else kind | None for name, kind in provides.items()}
    assert get_facts(bearer_auth(verify_token=verify, optional=True)).provides == expected


def test_tokens_provide_no_user() -> None:
    assert get_facts(bearer_auth(token="abc")).provides == {}


def test_facts_of_other_statuses_and_of_what_is_optional() -> None:
    facts = get_facts(
        bearer_auth(
            token="abc",
            invalid_authentication_header={"status": 401},
            invalid_token={"status": 403},
        )
    )
    assert facts.responses == {
        401: "No credentials, or malformed credentials",
        403: "An invalid token",
    }
    facts = get_facts(bearer_auth(token="abc", optional=True))
    assert facts.responses == {400: "Malformed credentials", 401: "An invalid token"}
    assert facts.security == ({"type": "http", "scheme": "bearer"}, ())
