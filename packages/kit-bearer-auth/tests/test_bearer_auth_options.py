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
        (
            {},
            ValueError,
            "bearer_auth() needs token=... or verify_token=..., and got neither",
        ),
        (
            {"token": None, "realm": "x"},
            ValueError,
            "bearer_auth() needs token=... or verify_token=..., and got neither",
        ),
        (
            {"token": b"abc"},
            TypeError,
            "bearer_auth(token=...) takes a str or a list of them, not bytes",
        ),
        (
            {"token": {"ann": "abc"}},
            TypeError,
            "bearer_auth(token=...) takes a str or a list of them, not dict",
        ),
        ({"token": 7}, TypeError, "bearer_auth(token=...) takes a str or a list of them, not int"),
        (
            {"token": ["abc", 7]},
            TypeError,
            "bearer_auth(token=...): token 2 of 2 is int, expected a str",
        ),
        (
            {"token": ""},
            ValueError,
            "bearer_auth(token=...): token 1 of 1 is not a bearer token: expected one or more of "
            "A-Z a-z 0-9 - . _ ~ + / and then any number of = (RFC 6750 section 2.1)",
        ),
        (
            {"token": ["abc", "s3cret word"]},
            ValueError,
            "bearer_auth(token=...): token 2 of 2 is not a bearer token: expected one or more of "
            "A-Z a-z 0-9 - . _ ~ + / and then any number of = (RFC 6750 section 2.1)",
        ),
        (
            {"verify_token": "abc"},
            TypeError,
            "bearer_auth(verify_token=...) takes a function (token, c), not 'abc'",
        ),
        (
            {"token": "abc", "hash_function": "md5"},
            TypeError,
            "bearer_auth(hash_function=...) takes a function (token), not 'md5'",
        ),
        (
            {"token": "abc", "realm": None},
            TypeError,
            "bearer_auth(realm=...) takes a str, not None",
        ),
        (
            {"token": "abc", "realm": "a\nb"},
            ValueError,
            "bearer_auth(realm='a\\nb') can't be used: "
            "expected latin-1 text without control characters",
        ),
        (
            {"token": "abc", "realm": "あ"},
            ValueError,
            "bearer_auth(realm='あ') can't be used: "
            "expected latin-1 text without control characters",
        ),
        (
            {"token": "abc", "prefix": None},
            TypeError,
            "bearer_auth(prefix=...) takes a str, not None",
        ),
        (
            {"token": "abc", "prefix": "Bearer "},
            ValueError,
            "bearer_auth(prefix='Bearer ') can't be used: expected a scheme such as 'Bearer' or ''",
        ),
        (
            {"token": "abc", "prefix": "A, B"},
            ValueError,
            "bearer_auth(prefix='A, B') can't be used: expected a scheme such as 'Bearer' or ''",
        ),
        (
            {"token": "abc", "header_name": 7},
            TypeError,
            "bearer_auth(header_name=...) takes a str, not 7",
        ),
        (
            {"token": "abc", "header_name": "X Key"},
            ValueError,
            "bearer_auth(header_name='X Key') can't be used: "
            "expected a header name such as 'Authorization'",
        ),
        (
            {"token": "abc", "invalid_token": "no"},
            TypeError,
            "bearer_auth(invalid_token=...) takes a mapping with 'message', "
            "'www_authenticate_header' or 'status', not 'no'",
        ),
        (
            {"token": "abc", "no_authentication_header": {"massage": "x"}},
            ValueError,
            "bearer_auth(no_authentication_header=...) has the unknown key 'massage': "
            "expected 'message', 'www_authenticate_header' or 'status'",
        ),
        (
            {"token": "abc", "invalid_token": {"www_authenticate_header": 7}},
            TypeError,
            "bearer_auth: invalid_token['www_authenticate_header'] is int, "
            "expected a str, a mapping, or a function that returns one of them",
        ),
        (
            {"token": "abc", "invalid_token": {"www_authenticate_header": "a\nb"}},
            ValueError,
            "bearer_auth: invalid_token['www_authenticate_header'] 'a\\nb' can't be sent in a "
            "header: expected latin-1 text without control characters or surrounding "
            "spaces",
        ),
        (
            {"token": "abc", "invalid_token": {"www_authenticate_header": {"a b": "c"}}},
            ValueError,
            "bearer_auth: invalid_token['www_authenticate_header'] has the key 'a b': "
            "expected a token such as 'error'",
        ),
        (
            {"token": "abc", "invalid_token": {"www_authenticate_header": {"a": "\x00"}}},
            ValueError,
            "bearer_auth: invalid_token['www_authenticate_header'] '\\x00' can't be sent in a "
            "header: expected latin-1 text without control characters",
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
        (
            {"token": "abc", "optional": "yes"},
            TypeError,
            "bearer_auth(optional=...) takes a bool, not 'yes'",
        ),
        (
            {"token": "abc", "optional": True, "no_authentication_header": {"status": 403}},
            ValueError,
            "bearer_auth(no_authentication_header=...) can't be used with optional=True, "
            "which lets requests without credentials through",
        ),
        (
            {"verify_token": lambda token, c: True, "user_variable": ""},
            ValueError,
            "bearer_auth(user_variable='') can't be used: expected a name such as 'user'",
        ),
        (
            {"token": "abc", "user_variable": "account"},
            ValueError,
            "bearer_auth(user_variable=...) needs verify_token=..., which returns the user",
        ),
    ],
)
def test_mistakes_are_errors_at_creation(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as caught:
        bearer_auth(**options)
    assert str(caught.value) == text


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
