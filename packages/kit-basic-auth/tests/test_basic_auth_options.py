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
        (
            wrong(),
            ValueError,
            "basic_auth() needs username=... and password=..., users, or verify_user=..., "
            "and got none of them",
        ),
        (
            wrong(username="ada"),
            ValueError,
            "basic_auth(username=...) needs password=... as well",
        ),
        (
            wrong(password=SECRET),
            ValueError,
            "basic_auth(password=...) needs username=... as well",
        ),
        (
            wrong(username=7, password=SECRET),
            TypeError,
            "basic_auth(): username of type int, expected a str",
        ),
        (
            wrong(username="ada", password=SECRET.encode()),
            TypeError,
            "basic_auth(): password of type bytes, expected a str",
        ),
        (
            wrong(("ada", SECRET)),
            TypeError,
            "basic_auth(): user 1 of 1 is tuple, expected a mapping "
            "{'username': ..., 'password': ...}",
        ),
        (
            wrong({"username": "ada", "password": SECRET}, {"username": "bob", "pass": SECRET}),
            ValueError,
            "basic_auth(): user 2 of 2 has 'pass', 'username': expected 'username' and 'password'",
        ),
        (
            wrong("ada"),
            ValueError,
            "basic_auth(username=...) needs password=... as well",
        ),
        (
            wrong("ada", SECRET, username="bob"),
            TypeError,
            "basic_auth() takes username once, not also as username=...",
        ),
        (
            wrong("ada", SECRET, password=SECRET),
            TypeError,
            "basic_auth() takes password once, not also as password=...",
        ),
        (
            wrong("ada", SECRET, SECRET),
            TypeError,
            "basic_auth(): user 1 of 1 is str, expected a mapping "
            "{'username': ..., 'password': ...}",
        ),
        (
            wrong({}),
            ValueError,
            "basic_auth(): user 1 of 1 has no keys: expected 'username' and 'password'",
        ),
        (
            wrong({"username": "ada", "password": None}),
            TypeError,
            "basic_auth(): user 1 of 1 has a password of type NoneType, expected a str",
        ),
        (
            wrong(username=f"ada:{SECRET}", password="x"),
            ValueError,
            "basic_auth(): username with a colon, which would end the name (RFC 7617 section 2)",
        ),
        (
            wrong({"username": "a:b", "password": SECRET}),
            ValueError,
            "basic_auth(): user 1 of 1 has a username with a colon, which would end the name "
            "(RFC 7617 section 2)",
        ),
        (
            wrong(username="ada", password=f"{SECRET}\n"),
            ValueError,
            "basic_auth(): password with a control character, which no client can send "
            "(RFC 7617 section 2)",
        ),
        (
            wrong(username="ada\ud800", password=SECRET),
            ValueError,
            "basic_auth(): username that can't be encoded as UTF-8",
        ),
        (
            wrong(username="ada", password="\u0301" * 31),
            ValueError,
            "basic_auth(): password with more than 30 combining marks in a row, "
            "which is never accepted",
        ),
        (
            wrong(username="", password=""),
            ValueError,
            "basic_auth(): password that is empty, so the name alone would let anybody in: is a "
            "variable unset? For clients that send a key as the name, write verify_user=...",
        ),
        (
            wrong(verify_user=True),
            TypeError,
            "basic_auth(verify_user=...) takes a function (username, password, c), not True",
        ),
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
            r"basic_auth(realm='a\r\nb: c') can't be used: "
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
            "basic_auth(invalid_user_message=...) takes a str, a value for JSON, "
            "or a function (c), not b'no'",
        ),
    ],
)
def test_mistakes_are_errors_that_show_no_secret(
    arguments: tuple[tuple[Any, ...], dict[str, Any]], error: type[Exception], text: str
) -> None:
    users, options = arguments
    with pytest.raises(error) as caught:
        basic_auth(*users, **options)
    assert str(caught.value) == text
    assert SECRET not in text


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
