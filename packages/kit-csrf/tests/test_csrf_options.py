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
        ({"origin": {"https://a.example": True}}, TypeError, "takes an origin, a list of"),
        ({"origin": 7}, TypeError, "takes an origin, a list of origins or a function (origin"),
        ({"origin": re.compile("a")}, TypeError, "takes an origin, a list of origins or a"),
        ({"origin": "https://example.com/"}, ValueError, "expected only scheme, host and"),
        (
            {"origin": ["https://a.example", "example.com"]},
            ValueError,
            "expected only scheme, host and port, in lower case: write",
        ),
        ({"origin": "https://*.example.com"}, ValueError, "expected an origin such as"),
        ({"origin": ""}, ValueError, "expected an origin such as 'https://example.com'"),
        ({"sec_fetch_site": "same_origin"}, ValueError, "expected 'same-origin', 'same-site'"),
        ({"sec_fetch_site": ["same-origin", 7]}, TypeError, "takes a str or a list of them"),
        ({"sec_fetch_site": None}, TypeError, "takes a value of Sec-Fetch-Site, a list of"),
        ({"origin": lambda origin: True}, TypeError, "takes a function (origin, c): got the"),
        ({"sec_fetch_site": lambda: True}, TypeError, "takes a function (site, c): got the"),
        ({"forms_only": "yes"}, TypeError, "csrf(forms_only=...) takes a bool, not 'yes'"),
    ],
)
def test_wrong_options(options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        csrf(**options)
    assert text in str(raised.value)


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
