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
        (
            {"credentials": True},
            ValueError,
            "cors(credentials=True) can't be used with origin='*': every site could act on behalf "
            "of a logged-in user; list the allowed origins, e.g. origin='https://app.example.com'",
        ),
        (
            {"allow_private_network": True},
            ValueError,
            "cors(allow_private_network=True) can't be used with origin='*': every site could "
            "access its visitors' networks; list the allowed origins, e.g. "
            "origin='https://app.example.com'",
        ),
        (
            {"origin": lambda origin: origin},
            TypeError,
            "cors(origin=...) takes a function (origin, c): got the signature <lambda>(origin)",
        ),
        (
            {"allow_methods": lambda c: ["GET"]},
            TypeError,
            "cors(allow_methods=...) takes a function (origin, c): got the signature <lambda>(c)",
        ),
        ({"credentials": "yes"}, TypeError, "cors(credentials=...) takes a bool, not 'yes'"),
        (
            {"allow_private_network": 1},
            TypeError,
            "cors(allow_private_network=...) takes a bool, not 1",
        ),
        (
            {"origin": None},
            TypeError,
            "cors(origin=...) takes '*', an origin, a list of origins, a compiled pattern or a "
            "function (origin, c), not None",
        ),
        (
            {"origin": b"https://a.example"},
            TypeError,
            "cors(origin=...) takes '*', an origin, a list of origins, a compiled pattern or a "
            "function (origin, c), not b'https://a.example'",
        ),
        (
            {"origin": re.compile(b"a")},
            TypeError,
            "cors(origin=...) takes a pattern of str, not re.compile(b'a')",
        ),
        (
            {"origin": ["https://a.example", 7]},
            TypeError,
            "cors(origin=...) takes a str or a list of them, not a list with 7",
        ),
        (
            {"origin": "https://a.example/"},
            ValueError,
            f"cors(origin='https://a.example/') can't be used: expected {ALONE}: write "
            "'https://a.example'",
        ),
        (
            {"origin": ["https://b.example", "https://a.example/path?x#y"]},
            ValueError,
            f"cors(origin='https://a.example/path?x#y') can't be used: expected {ALONE}: write "
            "'https://a.example'",
        ),
        (
            {"origin": "localhost:3000"},
            ValueError,
            f"cors(origin='localhost:3000') can't be used: expected {ALONE}: write "
            "'http://localhost:3000'",
        ),
        (
            {"origin": ["*"]},
            ValueError,
            "cors(origin=...) has '*' in a list: write only origin='*' to allow every origin",
        ),
        (
            {"origin": "https://*.example.com"},
            ValueError,
            "cors(origin='https://*.example.com') can't be used: expected an origin such as "
            f"'https://example.com', since there are no wildcards; use {SEVERAL} for many origins",
        ),
        (
            {"origin": "null"},
            ValueError,
            "cors(origin='null') can't be used: expected an origin such as 'https://example.com'; "
            f"'null' is what every sandboxed page sends, so use {SEVERAL.split(' or ')[1]} to "
            "let it in",
        ),
        (
            {"allow_methods": "GET, POST"},
            ValueError,
            "cors(allow_methods='GET, POST') can't be used: expected a method such as 'GET', or a "
            "list of methods",
        ),
        (
            {"allow_methods": ["GET", "patch"]},
            ValueError,
            "cors(allow_methods='patch') can't be used: expected upper case: write 'PATCH'",
        ),
        (
            {"allow_methods": 7},
            TypeError,
            "cors(allow_methods=...) takes a method, a list of methods or a function (origin, c), "
            "not 7",
        ),
        (
            {"allow_headers": "X-A, X-B"},
            ValueError,
            "cors(allow_headers='X-A, X-B') can't be used: expected a header name such as "
            "'X-Request-Id'",
        ),
        (
            {"expose_headers": None},
            TypeError,
            "cors(expose_headers=...) takes a str or a list of them, not None",
        ),
        (
            {"expose_headers": "*", "origin": "https://a.example", "credentials": True},
            ValueError,
            "cors(expose_headers='*') can't be used: expected names: with credentials=True, "
            "browsers treat '*' as a literal name",
        ),
        (
            {"allow_methods": ["*"], "origin": "https://a.example", "credentials": True},
            ValueError,
            "cors(allow_methods='*') can't be used: expected names: with credentials=True, "
            "browsers treat '*' as a literal name",
        ),
        (
            {"max_age": -1},
            ValueError,
            "cors(max_age=-1) can't be used: expected at least 0 seconds",
        ),
        ({"max_age": 1.5}, TypeError, "cors(max_age=...) takes an int, not 1.5"),
    ],
)
def test_wrong_options(options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        cors(**options)
    assert str(raised.value) == text


def test_options_are_keywords() -> None:
    with pytest.raises(TypeError, match="takes 0 positional arguments"):
        cors("https://a.example")  # type: ignore[call-arg]


@pytest.mark.parametrize("name", ["allow_methods", "allow_headers", "expose_headers"])
def test_wildcards_without_credentials(name: str) -> None:
    cors(**{name: "*"})
