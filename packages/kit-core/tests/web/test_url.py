# SPDX-License-Identifier: MIT
"""URL: parsed as WHATWG says; expected values are those of Node."""

from __future__ import annotations

from typing import Any

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import URL

PARTS = ("protocol", "host", "hostname", "port", "pathname", "search", "hash", "origin")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        pytest.param(
            "HTTP://User:pw@Example.COM:80/a/../b%2f?q=a b#f g",
            (
                "http:",
                "example.com",
                "example.com",
                "",
                "/b%2f",
                "?q=a%20b",
                "#f%20g",
                "http://example.com",
            ),
            id="normalised",
        ),
        pytest.param(
            "https://[::1]:8080",
            ("https:", "[::1]:8080", "[::1]", "8080", "/", "", "", "https://[::1]:8080"),
            id="IPv6",
        ),
        pytest.param(
            "http://x/?#", ("http:", "x", "x", "", "/", "", "", "http://x"), id="empty query"
        ),
        pytest.param(
            "http:\\\\x\\y", ("http:", "x", "x", "", "/y", "", "", "http://x"), id="backslashes"
        ),
        pytest.param(
            "http://0x7f.1/",
            ("http:", "127.0.0.1", "127.0.0.1", "", "/", "", "", "http://127.0.0.1"),
            id="IPv4",
        ),
        pytest.param(
            "data:text/plain,x", ("data:", "", "", "", "text/plain,x", "", "", "null"), id="opaque"
        ),
    ],
)
def test_parts(text: str, parts: tuple[str, ...]) -> None:
    url = URL(text)
    assert tuple(getattr(url, name) for name in PARTS) == parts


@pytest.mark.parametrize(
    ("url", "base", "href"),
    [
        ("b", "http://x/a/c?q#f", "http://x/a/b"),
        ("/b", "http://x/a", "http://x/b"),
        ("//y", "https://x/a", "https://y/"),
        ("?q", "http://x/a", "http://x/a?q"),
        ("#f", "http://x/a?q", "http://x/a?q#f"),
        ("", "http://x/a?q#f", "http://x/a?q"),
        ("http://y", "http://x", "http://y/"),
        # As in Node. Host and path of the base are empty.
        ("x.html", "a://", "a:///x.html"),
        ("/x", "a://", "a:///x"),
        ("", "a://", "a://"),
        ("?q", "a://#f", "a://?q"),
        ("#f", "a://?q", "a://?q#f"),
        ("//h/x", "a://", "a://h/x"),
        ("x", "a:///", "a:///x"),
        ("x", "a://h", "a://h/x"),
        ("//x", "a:/.//p", "a://x"),
        ("x", "a:/.//p", "a:/.//x"),
        ("x", "file://", "file:///x"),
        ("#f", "a:", "a:#f"),
    ],
)
def test_against_a_base(url: str, base: str, href: str) -> None:
    assert URL(url, base).href == href
    assert repr(URL(url, base)) == f"URL({href!r})"


@pytest.mark.parametrize(
    ("url", "base", "text"),
    [
        ("", None, "Invalid URL '': expected an absolute one"),
        ("/a", None, "Invalid URL '/a': expected an absolute one"),
        ("http://a b/", None, "Invalid URL 'http://a b/': expected an absolute one"),
        ("http://x:99999", None, "Invalid URL 'http://x:99999': expected an absolute one"),
        ("/a", "b", "Invalid URL '/a' against 'b': expected an absolute one"),
        ("http://\ud800", None, "Invalid URL 'http://\\ud800': expected an absolute one"),
    ],
)
def test_invalid(url: str, base: str | None, text: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole text follows
        URL(url, base)
    assert str(caught.value) == text


@pytest.mark.parametrize("url", [5, None, b"http://x/"])
def test_of_another_type(url: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="URL"):
        URL(url)


@given(st.text(max_size=20))
def test_a_parsed_url_is_stable(text: str) -> None:
    try:
        url = URL("http://h/" + text)
    except ValueError:
        return
    again = URL(url.href)
    assert again == url
    assert hash(again) == hash(url)
    # SPEC: URL section 6.1: of an empty query or fragment, only href shows that it is there.
    path = f"{url.origin}{url.pathname}"
    assert url.href in {
        f"{path}{search}{fragment}"
        for search in (url.search, url.search or "?")
        for fragment in (url.hash, url.hash or "#")
    }
    assert url.href.isascii()


@given(
    st.sampled_from(["", "http:", "https://h/", "ws://h:", "//h?", "file:", "mailto:"]),
    st.text(st.sampled_from("aB1/:?#[]@.%e^|\\ ~+<\t\0\ud800é。"), max_size=12),
    st.sampled_from([None, "http://h/a/b?c#d", "file:///x/y", "mailto:x", ""]),
)
def test_parsed_as_by_another_parser(start: str, rest: str, base: str | None) -> None:
    try:
        expected = ada_url.URL(start + rest, base)
    except ValueError:
        with pytest.raises(ValueError, match="Invalid URL"):
            URL(start + rest, base)
        return
    url = URL(start + rest, base)
    # The other one knows of a later rule for spaces at the end of opaque paths.
    if url.protocol != "mailto:":
        assert url.href == expected.href
    assert url.hash == expected.hash
