# SPDX-License-Identifier: MIT
"""Mistakes in the options."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kit.csrf import csrf


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (
            {"origin": {"https://a.example": True}},
            TypeError,
            "csrf(origin=...) takes an origin, a list of origins or a function (origin, c), "
            "not {'https://a.example': True}",
        ),
        (
            {"origin": 7},
            TypeError,
            "csrf(origin=...) takes an origin, a list of origins or a function (origin, c), not 7",
        ),
        (
            {"origin": re.compile("a")},
            TypeError,
            "csrf(origin=...) takes an origin, a list of origins or a function (origin, c), "
            "not re.compile('a')",
        ),
        (
            {"origin": "https://example.com/"},
            ValueError,
            "csrf(origin='https://example.com/') can't be used: expected only scheme, host and "
            "port, in lower case: write 'https://example.com'",
        ),
        (
            {"origin": ["https://a.example", "example.com"]},
            ValueError,
            "csrf(origin='example.com') can't be used: expected only scheme, host and port, in "
            "lower case: write 'https://example.com'",
        ),
        (
            {"origin": "https://*.example.com"},
            ValueError,
            "csrf(origin='https://*.example.com') can't be used: expected an origin such as "
            "'https://example.com', since there are no wildcards; use a function for many origins",
        ),
        (
            {"origin": ""},
            ValueError,
            "csrf(origin='') can't be used: expected an origin such as 'https://example.com'",
        ),
        (
            {"sec_fetch_site": "same_origin"},
            ValueError,
            "csrf(sec_fetch_site='same_origin') can't be used: expected 'same-origin', "
            "'same-site', 'none' or 'cross-site'",
        ),
        (
            {"sec_fetch_site": ["same-origin", 7]},
            TypeError,
            "csrf(sec_fetch_site=...) takes a str or a list of them, not a list with 7",
        ),
        (
            {"sec_fetch_site": None},
            TypeError,
            "csrf(sec_fetch_site=...) takes a value of Sec-Fetch-Site, a list of them or a "
            "function (site, c), not None",
        ),
        (
            {"origin": lambda origin: True},
            TypeError,
            "csrf(origin=...) takes a function (origin, c): got the signature <lambda>(origin)",
        ),
        (
            {"sec_fetch_site": lambda: True},
            TypeError,
            "csrf(sec_fetch_site=...) takes a function (site, c): got the signature <lambda>()",
        ),
        ({"forms_only": "yes"}, TypeError, "csrf(forms_only=...) takes a bool, not 'yes'"),
    ],
)
def test_wrong_options(options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        csrf(**options)
    assert str(raised.value) == text


# TestCrossOriginProtectionAddTrustedOriginErrors of Go's net/http/csrf_test.go.
@pytest.mark.parametrize(
    "origin",
    [
        "example.com",
        "https://",
        "https://example.com/",
        "https://example.com/path",
        "https://example.com?query=value",
        "https://example.com#fragment",
        "https://ex ample.com",
        "",
        "null",
    ],
)
def test_no_origins_as_asked_by_go(origin: str) -> None:
    with pytest.raises(ValueError, match=r"csrf\(origin="):
        csrf(origin=origin)


@pytest.mark.parametrize(
    "origin", ["https://example.com", "https://example.com:8080", "http://example.com"]
)
def test_origins_as_asked_by_go(origin: str) -> None:
    csrf(origin=origin)


def test_options_are_keywords() -> None:
    with pytest.raises(TypeError, match="takes 0 positional arguments"):
        csrf("https://a.example")  # type: ignore[call-arg]
