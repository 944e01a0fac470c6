# SPDX-License-Identifier: MIT
"""Mistakes in the options, and what the package offers."""

from __future__ import annotations

from typing import Any

import pytest

import kit.basic_auth
from kit import Kit
from kit.basic_auth import basic_auth
from kit.interface import plugins
from kit.interface.metadata import get_facts

SECRET = "swordfish"


def wrong(*users: Any, **options: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return users, options


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (wrong(), ValueError, "needs username=... and password=..., users, or"),
        (wrong(username="ada"), ValueError, "needs password=... as well"),
        (wrong(password=SECRET), ValueError, "needs username=... as well"),
        (wrong(username=7, password=SECRET), TypeError, "basic_auth(): username of type int"),
        (
            wrong(username="ada", password=SECRET.encode()),
            TypeError,
            "basic_auth(): password of type bytes, expected a str",
        ),
        (wrong(("ada", SECRET)), TypeError, "basic_auth(): user 1 of 1 is tuple, expected a"),
        (
            wrong({"username": "ada", "password": SECRET}, {"username": "bob", "pass": SECRET}),
            ValueError,
            "basic_auth(): user 2 of 2 has 'pass', 'username': expected 'username' and 'password'",
        ),
        (wrong("ada"), ValueError, "basic_auth(username=...) needs password=... as well"),
        (wrong("ada", SECRET, username="bob"), TypeError, "takes username once, not also as"),
        (wrong("ada", SECRET, password=SECRET), TypeError, "takes password once, not also as"),
        (wrong("ada", SECRET, SECRET), TypeError, "basic_auth(): user 1 of 1 is str, expected"),
        (wrong({}), ValueError, "basic_auth(): user 1 of 1 has no keys: expected 'username'"),
        (wrong({"username": "ada", "password": None}), TypeError, "basic_auth(): user 1 of 1"),
        (wrong(username=f"ada:{SECRET}", password="x"), ValueError, "with a colon"),
        (
            wrong({"username": "a:b", "password": SECRET}),
            ValueError,
            "basic_auth(): user 1 of 1 has a username with a colon, which would end the",
        ),
        (wrong(username="ada", password=f"{SECRET}\n"), ValueError, "a control character"),
        (wrong(username="ada\ud800", password=SECRET), ValueError, "encoded as UTF-8"),
        (wrong(username="ada", password="\u0301" * 31), ValueError, "combining marks"),
        (wrong(username="", password=""), ValueError, "basic_auth(): password that is empty"),
        (wrong(verify_user=True), TypeError, "takes a function (username, password, c), not"),
        (
            wrong(username="ada", password=SECRET, hash_function="md5"),
            TypeError,
            "basic_auth(hash_function=...) takes a function (text), not 'md5'",
        ),
        (
            wrong(username="ada", password=SECRET, on_auth_success="log"),
            TypeError,
            "basic_auth(on_auth_success=...) takes a function (c, username), not 'log'",
        ),
        (
            wrong(username="ada", password=SECRET, realm=None),
            TypeError,
            "basic_auth(realm=...) takes a str, not None",
        ),
        (
            wrong(username="ada", password=SECRET, realm="a\r\nb: c"),
            ValueError,
            "expected latin-1 text without control characters",
        ),
        (
            wrong(username="ada", password=SECRET, realm="☃"),
            ValueError,
            "basic_auth(realm='☃') can't be used: expected latin-1 text without control characters",
        ),
        (
            wrong(username="ada", password=SECRET, invalid_user_message=b"no"),
            TypeError,
            "takes a str, a value for JSON, or a function (c), not b'no'",
        ),
    ],
)
def test_mistakes_are_errors_that_show_no_secret(
    arguments: tuple[tuple[Any, ...], dict[str, Any]], error: type[Exception], text: str
) -> None:
    users, options = arguments
    with pytest.raises(error) as caught:
        basic_auth(*users, **options)
    assert text in str(caught.value)
    assert SECRET not in str(caught.value)


def test_facts_for_tools() -> None:
    app = Kit().use("/*", basic_auth(username="ada", password=SECRET))
    [route] = app.routes
    facts = get_facts(route.handler)
    assert facts.security == ({"type": "http", "scheme": "basic"},)
    assert facts.responses == {401: "Missing or invalid credentials"}


def test_public_names() -> None:
    assert kit.basic_auth.__all__ == ("OnAuthSuccess", "User", "VerifyUser", "basic_auth")
    assert all(hasattr(kit.basic_auth, name) for name in kit.basic_auth.__all__)
    assert basic_auth(username="ada", password=SECRET).__name__ == "basic_auth"
    assert plugins.load("kit.middleware", "basic-auth") is basic_auth
