# SPDX-License-Identifier: MIT
"""The checks of the options of middleware factories."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from redis.asyncio import Redis

from kit.authoring.maybe_await import call
from kit.authoring.options import OptionChecks

check = OptionChecks("session")


def takes_none() -> None: ...


async def takes_one(c: Any) -> None: ...


def test_what_is_right_is_returned() -> None:
    function = len
    assert check.flag("encrypted", True) is True
    assert check.text("name", "id", "[a-z]+", "a name") == "id"
    assert check.texts("hosts", "a") == ("a",)
    assert check.texts("hosts", iter(["a", "b"])) == ("a", "b")
    assert check.function("load", function, "(c)") is function
    assert check.function("load", takes_one, "(c)") is takes_one
    # A function of C code that tells no signature.
    assert check.function("load", iter, "(c, name)") is iter
    assert check.function("make", dict, "()") is dict
    assert check.number("age", 0, least=0, most=0) == 0
    assert check.number("age", 0.5, whole=False) == 0.5
    assert check.choice("same_site", "Lax", ("Lax", "Strict")) == "Lax"
    assert check.header_name("header", "X-Id", "X-Id") == "X-Id"
    assert check.header_value("value", "a b") == "a b"
    assert check.keys("rules", {"deny": []}, ("deny",)) == {"deny": []}


@pytest.mark.parametrize(
    ("method", "arguments", "error", "text"),
    [
        ("flag", (1,), TypeError, "session(x=...) takes a bool, not 1"),
        ("text", (b"a",), TypeError, "session(x=...) takes a str, not b'a'"),
        (
            "text",
            ("A", "[a-z]+", "a name such as 'lang'"),
            ValueError,
            "session(x='A') can't be used: expected a name such as 'lang'",
        ),
        ("text", ("A", "[a-z]+"), ValueError, "expected text that matches [a-z]+"),
        ("texts", (1,), TypeError, "session(x=...) takes a str or a list of them, not 1"),
        ("texts", (b"a",), TypeError, "session(x=...) takes a str or a list of them, not b'a'"),
        ("texts", (["a", 1],), TypeError, "takes a str or a list of them, not a list with 1"),
        ("function", (1, "(c)"), TypeError, "session(x=...) takes a function (c), not 1"),
        ("function", (takes_none, "(c)"), TypeError, "takes a function (c): got the signature"),
        ("function", (takes_one, "(c, name)"), TypeError, "takes a function (c, name): got"),
        ("header_name", (1, "X-Id"), TypeError, "session(x=...) takes a str, not 1"),
        ("header_name", ("X Id", "X-Id"), ValueError, "expected a header name such as 'X-Id'"),
        ("header_value", ("a\r\nb: c",), ValueError, "expected latin-1 text without control"),
        ("choice", ("no", ("a", "b", "c")), ValueError, "expected 'a', 'b' or 'c'"),
        ("choice", ("no", ("a",)), ValueError, "session(x='no') can't be used: expected 'a'"),
        ("keys", ("no", ("a", "b")), TypeError, "takes a mapping with 'a' or 'b', not 'no'"),
        ("keys", ({"c": 1}, ("a", "b")), ValueError, "has the unknown key 'c': expected 'a'"),
    ],
)
def test_what_is_wrong_is_refused(
    method: str, arguments: tuple[Any, ...], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as raised:
        getattr(check, method)("x", *arguments)
    assert text in str(raised.value)


@pytest.mark.parametrize(
    ("value", "options", "error", "text"),
    [
        ("1", {}, TypeError, "session(x=...) takes an int, not '1'"),
        (True, {}, TypeError, "session(x=...) takes an int, not True"),
        (0.5, {}, TypeError, "session(x=...) takes an int, not 0.5"),
        ("1", {"whole": False}, TypeError, "session(x=...) takes a number, not '1'"),
        (-1, {"least": 0, "unit": "seconds"}, ValueError, "expected at least 0 seconds"),
        (9, {"most": 8}, ValueError, "session(x=9) can't be used: expected at most 8"),
        (10**15, {"most": 10**15 - 1}, ValueError, "expected at most 999999999999999"),
        (float("nan"), {"whole": False}, ValueError, "expected a finite number"),
        pytest.param(
            10**400,
            {"whole": False},
            ValueError,
            f"session(x=1{'0' * 99}) can't be used: expected a finite number",
            id="beyond floats",
        ),
        (float("inf"), {"whole": False}, ValueError, "expected a finite number"),
    ],
)
def test_numbers(value: Any, options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        check.number("x", value, **options)
    assert text in str(raised.value)


async def test_functions_are_plain_or_async() -> None:
    async def later(a: int, b: int) -> int:
        return a + b

    def now(a: int, b: int) -> int:
        return a - b

    assert await call(later, 3, 1) == 4
    assert await call(now, 3, 1) == 2


def of_redis(value: Any, package: str = "kit-x") -> Any:
    def from_url(url: str) -> tuple[str, str]:
        if not url.startswith("redis://"):
            raise ValueError(url)
        return "url", url

    return OptionChecks("Store").redis(value, package, from_url, lambda client: ("client", client))


async def test_redis_is_a_url_or_a_client() -> None:
    assert of_redis("redis://127.0.0.1") == ("url", "redis://127.0.0.1")
    client = Redis()
    assert of_redis(client) == ("client", client)


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (7, TypeError, "takes a URL or a redis.asyncio.Redis, not a builtins.int"),
        ("http://:s3cret@127.0.0.1", ValueError, "expected one such as"),
    ],
)
def test_what_is_no_redis(value: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        of_redis(value)
    assert text in str(raised.value)
    assert raised.value.__cause__ is None


def test_redis_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    with pytest.raises(ImportError) as raised:
        of_redis("redis://127.0.0.1")
    assert str(raised.value) == 'Store needs redis-py: pip install "kit-x[redis]"'
