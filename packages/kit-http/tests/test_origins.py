# SPDX-License-Identifier: MIT
"""Origins as browsers send them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import URL
from kit.http.origins import is_origin, is_own_origin, parse_origin

ORIGINS = (
    "https://example.com",
    "https://example.com:8443",
    "http://example.com:443",
    "https://example.com:80",
    "http://localhost",
    "http://localhost:3000",
    "http://127.0.0.1:8000",
    "http://[::1]:8000",
    "https://xn--bcher-kva.example",
    "https://a_b.example.com",
    "https://example.com.",
    "capacitor://localhost",
    "chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb",
)
NO_ORIGINS = (
    "",
    "/",
    "https://",
    "https:example.com",
    "https://example.com/",
    "https://example.com?query",
    "HTTPS://Example.COM",
    "https://example.com:443",
    "http://example.com:08080",
    " https://example.com ",
    "example.com",
    "//example.com",
    "[::1]:3000",
    "https://ex ample.com",
    "https://example.com:99999",
    "https://user:password@example.com",
    "mailto:ada@example.com",
    "data:text/html,x",
    "https://example.com, https://example.org",
    "https://" + "a" * 300,
)


@pytest.mark.parametrize("text", ORIGINS)
def test_origins(text: str) -> None:
    assert is_origin(text)


@pytest.mark.parametrize("text", [*NO_ORIGINS, "null", "*", "https://*.example.com"])
def test_no_origins(text: str) -> None:
    assert not is_origin(text)


@given(st.text(max_size=60) | st.from_regex(r"[a-zA-Z]{1,6}://[^/]{0,20}", fullmatch=True))
def test_what_is_an_origin_is_that_of_its_url(text: str) -> None:
    if is_origin(text) and text.startswith(("http://", "https://")):
        try:
            url = URL(text)
        except ValueError:  # a number that is no IPv4 address, for instance
            return
        assert parse_origin(url.href) == url.origin


@given(
    st.sampled_from(["http", "https"]),
    st.from_regex(r"[a-zA-Z0-9.]{1,9}(:[0-9]{1,5})?", fullmatch=True),
)
def test_the_origin_of_a_url_is_one(scheme: str, host: str) -> None:
    try:
        url = URL(f"{scheme}://{host}/path?a=//b")
    except ValueError:
        return
    assert parse_origin(url.href) == url.origin
    assert is_origin(url.origin)
    assert is_own_origin(url.origin, url.href)


@pytest.mark.parametrize(
    ("origin", "url", "own"),
    [
        ("http://example.com", "http://example.com/", True),
        ("https://example.com", "https://example.com/", True),
        ("http://example.com:8000", "http://example.com:8000/", True),
        ("https://[::1]:8000", "https://[::1]:8000/", True),
        # TLS ended at a proxy.
        ("https://example.com", "http://example.com/", True),
        ("https://example.com:8443", "http://example.com:8443/", True),
        ("https://example.com", "http://example.com:443/", True),
        # An http page is not to be believed by a site with TLS.
        ("http://example.com", "https://example.com/", False),
        ("http://example.com", "http://example.com:443/", False),
        ("http://example.com", "http://example.com:8000/", False),
        ("https://example.com:8443", "http://example.com/", False),
        ("https://example.com", "https://example.com:443x/", False),
        ("http://other.example", "http://example.com/", False),
        ("http://example.com.evil.example", "http://example.com/", False),
        ("http://evil.example", "http://example.com/http://evil.example", False),
        ("http://EXAMPLE.com", "http://example.com/", False),
        ("http://example.com:80", "http://example.com/", False),
        ("http://example.com/", "http://example.com/", False),
        ("null", "http://example.com/", False),
        ("", "http://example.com/", False),
        ("https://example.com", "wss://example.com/ws", True),
        ("http://example.com", "ws://example.com/ws", True),
        ("https://example.com", "ws://example.com/ws", True),
        ("http://example.com", "wss://example.com/ws", False),
    ],
)
def test_own_origins(origin: str, url: str, own: bool) -> None:
    assert is_own_origin(origin, url) is own
