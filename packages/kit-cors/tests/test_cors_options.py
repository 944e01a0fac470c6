# SPDX-License-Identifier: MIT
"""Mistakes in the options."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kit.cors import cors

ALONE = "only scheme, host and port, in lower case"
SEVERAL = "a compiled pattern or a function"


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"credentials": True}, ValueError, "can't be used with origin='*': every site could"),
        ({"allow_private_network": True}, ValueError, "can't be used with origin='*': every"),
        ({"origin": lambda origin: origin}, TypeError, "takes a function (origin, c): got the"),
        ({"allow_methods": lambda c: ["GET"]}, TypeError, "takes a function (origin, c): got"),
        ({"credentials": "yes"}, TypeError, "cors(credentials=...) takes a bool, not 'yes'"),
        ({"allow_private_network": 1}, TypeError, "takes a bool, not 1"),
        ({"origin": None}, TypeError, "takes '*', an origin, a list of origins, a compiled"),
        ({"origin": b"https://a.example"}, TypeError, "takes '*', an origin, a list of"),
        ({"origin": re.compile(b"a")}, TypeError, "takes a pattern of str, not"),
        ({"origin": ["https://a.example", 7]}, TypeError, "takes a str or a list of them, not"),
        ({"origin": "https://a.example/"}, ValueError, f"expected {ALONE}: write"),
        (
            {"origin": ["https://b.example", "https://a.example/path?x#y"]},
            ValueError,
            f"cors(origin='https://a.example/path?x#y') can't be used: expected {ALONE}: write "
            "'https://a.example'",
        ),
        ({"origin": "localhost:3000"}, ValueError, f"expected {ALONE}: write"),
        ({"origin": ["*"]}, ValueError, "cors(origin=...) has '*' in a list: write only"),
        ({"origin": "https://*.example.com"}, ValueError, "expected an origin such as"),
        ({"origin": "null"}, ValueError, "expected an origin such as 'https://example.com'"),
        ({"allow_methods": "GET, POST"}, ValueError, "expected a method such as 'GET', or a"),
        ({"allow_methods": ["GET", "patch"]}, ValueError, "expected upper case: write 'PATCH'"),
        ({"allow_methods": 7}, TypeError, "takes a method, a list of methods or a function"),
        ({"allow_headers": "X-A, X-B"}, ValueError, "expected a header name such as"),
        ({"expose_headers": None}, TypeError, "takes a str or a list of them, not None"),
        (
            {"expose_headers": "*", "origin": "https://a.example", "credentials": True},
            ValueError,
            "expected names: with credentials=True, browsers treat '*' as a literal name",
        ),
        (
            {"allow_methods": ["*"], "origin": "https://a.example", "credentials": True},
            ValueError,
            "expected names: with credentials=True, browsers treat '*' as a literal name",
        ),
        ({"max_age": -1}, ValueError, "expected at least 0 seconds"),
        ({"max_age": 1.5}, TypeError, "cors(max_age=...) takes an int, not 1.5"),
    ],
)
def test_wrong_options(options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        cors(**options)
    assert text in str(raised.value)


def test_options_are_keywords() -> None:
    with pytest.raises(TypeError, match="takes 0 positional arguments"):
        cors("https://a.example")  # type: ignore[call-arg]


@pytest.mark.parametrize("name", ["allow_methods", "allow_headers", "expose_headers"])
def test_wildcards_without_credentials(name: str) -> None:
    cors(**{name: "*"})
