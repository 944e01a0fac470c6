# SPDX-License-Identifier: MIT
"""Request: made in process, from another one, and from an ASGI scope."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import URL, Context, FormData, Headers, Kit, Request, Response

TOKEN = st.text("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCXYZ", min_size=1, max_size=9)


@given(TOKEN)
def test_every_token_is_a_method(method: str) -> None:
    upper = method.upper()
    if upper in ("CONNECT", "TRACE", "TRACK"):
        with pytest.raises(ValueError, match=r"can't be used \(WHATWG Fetch, section 2\.2\.1\)$"):
            Request("http://x/", method=method)
        return
    known = upper in ("DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT")
    assert Request("http://x/", method=method).method == (upper if known else method)


@given(st.text(min_size=1))
def test_whatever_is_no_token_is_no_method(method: str) -> None:
    if set(method) <= set("!#$%&'*+-.^_`|~0123456789") | {
        c for c in method if c.isascii() and c.isalpha()
    }:
        return
    with pytest.raises(ValueError, match=r"^Invalid method .*: expected a token such as GET$"):
        Request("http://x/", method=method)


@pytest.mark.parametrize("method", [5, b"GET", ["GET"]])
def test_method_of_another_type(method: Any) -> None:
    with pytest.raises(TypeError, match=r"^The method of a request is a str such as 'GET', not "):
        Request("http://x/", method=method)


@pytest.mark.parametrize("method", ["GET", "get", "HEAD", "Head"])
@pytest.mark.parametrize("body", ["", b"", [], FormData()], ids=repr)
def test_get_has_no_body(method: str, body: Any) -> None:
    with pytest.raises(TypeError, match=rf"^A {method.upper()} request can't have a body$"):
        Request("http://x/", method=method, body=body)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_get_made_of_a_request_with_a_body(method: str) -> None:
    source = Request("http://x/", method="POST", body="x")
    with pytest.raises(TypeError, match=rf"^A {method} request can't have a body$"):
        Request(source, method=method)
    assert not source.body_used


async def test_made_of_a_request() -> None:
    source = Request("http://x/a", method="put", headers={"a": "1"}, body="text")
    other = Request(source)
    assert (other.url, other.method, other.headers["a"]) == ("http://x/a", "PUT", "1")
    assert other.headers["content-type"] == "text/plain;charset=UTF-8"
    other.headers.set("a", "2")
    assert source.headers["a"] == "1"
    assert (source.body_used, other.body_used) == (True, False)
    with pytest.raises(TypeError, match=r"^The body was already read; it can be read once$"):
        Request(source)
    assert await other.text() == "text"


async def test_made_of_a_request_with_another_body() -> None:
    source = Request("http://x/a", method="POST", body="text")
    other = Request(source, body=b"new", headers={"b": "1"})
    assert (list(other.headers), source.body_used) == (["b"], False)
    assert (await other.text(), await source.text()) == ("new", "text")


def test_an_invalid_header_leaves_the_source_alone() -> None:
    source = Request("http://x/a", method="POST", body="text")
    with pytest.raises(ValueError, match="CR, LF and NUL are not allowed"):
        Request(source, headers={"a": "\r\n\0x"})
    assert not source.body_used


@pytest.fixture(scope="module")
def url_of(client: Any, http_scope: Any) -> Any:
    """The URL of a served request. Keys of the scope that are given as `...` are left out."""

    async def url_of(**changes: Any) -> str:
        urls: list[str] = []

        def handler(c: Context) -> Response:
            urls.append(c.req.url)
            return c.body(None)

        known = {"headers": [(b"host", b"h.example")], "server": ("127.0.0.1", 8000)}
        scope = http_scope(**{"path": "/p", "raw_path": b"/p", **known, **changes})
        scope = {key: value for key, value in scope.items() if value is not ...}
        server = client()
        await Kit().all("*", handler)(scope, server.receive, server.send)
        return urls[0]

    return url_of


@pytest.mark.parametrize(
    ("changes", "url"),
    [
        pytest.param({}, "http://h.example/p", id="plain"),
        pytest.param({"query_string": b"a=1&b=%20"}, "http://h.example/p?a=1&b=%20", id="query"),
        pytest.param({"query_string": ...}, "http://h.example/p", id="no query_string"),
        pytest.param({"scheme": "https"}, "https://h.example/p", id="https"),
        pytest.param({"scheme": ...}, "http://h.example/p", id="no scheme"),
        pytest.param({"raw_path": b"/a%2Fb"}, "http://h.example/a%2Fb", id="escapes are kept"),
        pytest.param({"raw_path": b"//a//"}, "http://h.example//a//", id="slashes"),
        pytest.param({"raw_path": None, "path": "/é ?#%"}, None, id="no raw_path"),
        pytest.param(
            {"raw_path": b"@evil.example"}, "http://h.example/@evil.example", id="no path"
        ),
        pytest.param(
            {"headers": [(b"host", b"h.example:80")]}, "http://h.example/p", id="default port"
        ),
        pytest.param({"headers": [(b"host", b"[::1]:81")]}, "http://[::1]:81/p", id="IPv6"),
        pytest.param({"headers": []}, "http://127.0.0.1:8000/p", id="no Host"),
        pytest.param({"headers": [], "server": ...}, "http://localhost/p", id="nothing known"),
        pytest.param({"headers": [], "server": None}, "http://localhost/p", id="no server"),
        pytest.param({"headers": [], "server": ("/s.sock", None)}, "http://localhost/p", id="Unix"),
        pytest.param({"headers": [], "server": ("::1", 80)}, "http://[::1]/p", id="IPv6 server"),
    ],
)
async def test_url_of_a_scope(url_of: Any, changes: dict[str, Any], url: str | None) -> None:
    expected = "http://h.example/%C3%A9%20%3F%23%25" if url is None else url
    assert await url_of(**changes) == expected


@pytest.mark.parametrize(
    "host",
    [
        b"a/b",
        b"a@b",
        b"a b",
        b"",
        b"a?b",
        b"a#b",
        b"a\\b",
        b"[::1",
        b"a:b:c",
        b"a:99999",
        b"1.2.3.256",
    ],
)
async def test_host_that_is_none(url_of: Any, host: bytes) -> None:
    assert await url_of(headers=[(b"host", host)]) == "http://127.0.0.1:8000/p"


@given(st.binary(max_size=12), st.binary(max_size=12), st.binary(max_size=12))
async def test_no_scope_gives_a_url_of_another_host(
    url_of: Any, host: bytes, path: bytes, query: bytes
) -> None:
    """Whatever is in path and query, and in a Host that is none, stays out of the origin."""
    url = await url_of(raw_path=b"/" + path, query_string=query)
    assert URL(url).origin == "http://h.example"
    url = await url_of(headers=[(b"host", b"/" + host)])
    assert URL(url).origin == "http://127.0.0.1:8000"


async def test_what_comes_from_a_scope(client: Any, held: Any) -> None:
    lines = [(b"x", b"1"), (b"x", b"2"), (b"y", b"\xe9")]
    async with held(client(b"body"), path="/p", method="QUERY", headers=lines) as req:
        request = req.raw
        assert (request.method, repr(request)) == (
            "QUERY",
            "<Request QUERY http://127.0.0.1/p>",
        )
        assert list(request.headers.items()) == [("x", "1, 2"), ("y", "é")]
        request.headers.delete("x")
        assert request.scope is not None
        assert request.scope["headers"] is lines
        assert len(lines) == 3
        assert await request.text() == "body"
        with pytest.raises(TypeError, match="already read"):
            await request.text()


async def test_a_served_get_request_can_be_copied(client: Any, held: Any) -> None:
    async with held(client(), method="GET") as req:
        assert await Request(req.raw, headers={"a": "1"}).text() == ""


async def test_headers_that_a_middleware_changes_are_seen(client: Any, held: Any) -> None:
    async with held(client(), headers=[(b"host", b"h.example")]) as req:
        assert req.header("host") == "h.example"
        req.raw.headers.set("host", "other")
        assert req.header("host") == req.raw.headers["host"] == "other"


@pytest.mark.parametrize("headers", [5, [5], [("a",)], [("a", "1", "2")], ["ab"], {"a": 1}])
def test_what_are_no_headers(headers: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"[Hh]eader|iterable"):
        Headers(headers)
