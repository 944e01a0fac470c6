# SPDX-License-Identifier: MIT
"""The cookies that the clients keep between their calls (RFC 6265)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kit import Context, Kit, Response
from kit.cookie import delete_cookie, get_cookie, set_cookie
from kit.testing import Cookies, sync_test_client, test_client
from kit.websocket import WebSocket, upgrade_websocket


def make_app() -> Kit:
    app = Kit()

    @app.post("/set")
    @app.post("/admin/set")
    async def keep(c: Context) -> Response:
        options = await c.req.json()
        set_cookie(c, options.pop("name", "a"), options.pop("value", "b c"), **options)
        return c.body(None, 204)

    @app.post("/raw")
    async def raw(c: Context) -> Response:
        c.header("set-cookie", (await c.req.bytes()).decode("latin-1"), append=True)
        return c.body(None, 204)

    @app.post("/delete")
    def delete(c: Context) -> Response:
        delete_cookie(c, "a")
        return c.body(None, 204)

    app.get("*", lambda c: c.json(get_cookie(c)))

    @app.post("/login")
    def log_in(c: Context) -> Response:
        set_cookie(c, "user", "ada")
        return c.redirect("/page", 303)

    return app


def test_cookies_are_kept_and_sent() -> None:
    with sync_test_client(make_app()) as client:
        client.set.post(json={})
        assert client.cookies["a"] == "b c"
        assert client.get("/x").json() == {"a": "b c"}
        client.post("/delete")
        assert (client.get("/x").json(), dict(client.cookies)) == ({}, {})


async def test_cookies_of_the_async_client() -> None:
    async with test_client(make_app(), cookies={"theme": "dark"}) as client:
        await client.post("/set", json={})
        assert await (await client.get("/x")).json() == {"a": "b c", "theme": "dark"}
        assert dict(client.cookies) == {"a": "b c", "theme": "dark"}


def test_they_outlive_the_block() -> None:
    client = sync_test_client(make_app())
    with client:
        client.post("/set", json={})
    with client:
        assert client.get("/x").json() == {"a": "b c"}


def test_cookie_that_a_redirect_sets() -> None:
    with sync_test_client(make_app(), follow_redirects=True) as client:
        assert client.post("/login").json() == {"user": "ada"}


def test_not_kept_if_not_wanted() -> None:
    with sync_test_client(make_app(), cookies={"mine": 1}, keep_cookies=False) as client:
        assert client.post("/set", json={}).status == 204
        assert client.get("/x").json() == {"mine": "1"}


def test_path() -> None:
    with sync_test_client(make_app()) as client:
        client.post("/set", json={"path": "/admin", "value": "admin"})
        client.post("/set", json={"path": "/"})
        client.post("/admin/set", json={"path": None, "name": "default"})
        assert client.get("/x").json() == {"a": "b c"}
        assert client.get("/administrator").json() == {"a": "b c"}
        assert client.get("/admin/x").json() == {"a": "admin", "default": "b c"}
        assert client.cookies["a"] == "admin"
        assert sorted(client.cookies) == ["a", "default"]
        del client.cookies["a"]
        assert client.get("/admin").json() == {"default": "b c"}


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("a=1; Path=nope; HttpOnly", True),
        ('a=1; Path="/x"', True),
        ("a=1; path = ", True),
        ("a=1; Path= /p", False),
        ("a=1; Max-Age=soon; Secure", True),
        ("a=1; Max-Age=", True),
        ("a=1; Max-Age= -1", False),
        ("a=1; Max-Age=60", True),
        ("a=1; Port=1; Domain=", True),
        ("port=1; Port", True),
    ],
)
def test_attributes_that_are_ignored(line: str, kept: bool) -> None:
    """RFC 6265 section 5.2: as browsers do."""
    with sync_test_client(make_app()) as client:
        client.raw.post(content=line)
        name = line.partition("=")[0]
        assert client.get("/x").json() == ({name: "1"} if kept else {})


def test_expiry() -> None:
    with sync_test_client(make_app()) as client:
        client.post("/set", json={"max_age": 100})
        client.post("/raw", content="old=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT")
        client.post("/raw", content="new=1; Expires=Fri, 01 Jan 2100 00:00:00 GMT")
        assert dict(client.cookies) == {"a": "b c", "new": "1"}
        client.post("/raw", content="a=; Max-Age=0; Path=/")
        assert client.get("/x").json() == {"new": "1"}


@pytest.mark.parametrize(
    ("base_url", "sent"),
    [
        ("http://localhost", True),
        ("http://a.localhost", True),
        ("https://shop.example", True),
        ("http://shop.example", False),
    ],
)
def test_secure(base_url: str, sent: bool) -> None:
    with sync_test_client(make_app(), base_url=base_url) as client:
        client.post("/set", json={"secure": True})
        assert client.get("/x").json() == ({"a": "b c"} if sent else {})


@pytest.mark.parametrize(
    ("host", "domain", "kept"),
    [
        ("shop.example.com", "example.com", True),
        ("shop.example.com", "shop.example.com", True),
        ("shop.example.com", "other.example.com", False),
        ("shop.example.com", "example.org", False),
        ("localhost", "localhost", True),
        ("localhost", "example.com", False),
        ("127.0.0.1", None, True),
    ],
)
def test_domain(host: str, domain: str | None, kept: bool) -> None:
    with sync_test_client(make_app(), base_url=f"https://{host}") as client:
        client.post("/set", json={"domain": domain} if domain else {})
        assert client.get("/x").json() == ({"a": "b c"} if kept else {})


def test_cookies_of_a_call_come_first() -> None:
    with sync_test_client(make_app(), cookies=[("a", "kept"), ("b", "kept")]) as client:
        assert client.get("/x", cookies={"a": "call"}).json() == {"a": "call", "b": "kept"}
        assert client.get("/x", cookies={"a": None}).json() == {"b": "kept"}
        assert client.get("/x", headers={"cookie": "a=own"}).json() == {"a": "own", "b": "kept"}
        assert client.get("/x").json() == {"a": "kept", "b": "kept"}


def test_cookies_are_a_mapping() -> None:
    client = sync_test_client(make_app())
    cookies = client.cookies
    assert isinstance(cookies, Cookies)
    cookies["a"] = "ü; b"
    cookies.set("c", True, path="/admin")
    assert (cookies["a"], cookies.get("x"), cookies.get("x", "y")) == ("ü; b", None, "y")
    assert (len(cookies), "a" in cookies, repr(cookies)) == (
        2,
        True,
        "Cookies({'a': 'ü; b', 'c': 'true'})",
    )
    with client:
        assert client.get("/x").json() == {"a": "ü; b"}
        assert client.get("/admin/x").json() == {"a": "ü; b", "c": "true"}
        cookies.clear()
        assert client.get("/x").json() == {}
    for wrong in (cookies.__getitem__, cookies.__delitem__):
        with pytest.raises(KeyError):
            wrong("a")
    with pytest.raises(ValueError, match="Invalid cookie name 'a b'"):
        cookies["a b"] = "c"


def test_cookies_with_a_domain() -> None:
    client = sync_test_client(make_app(), base_url="https://shop.example.com")
    client.cookies.set("a", "b", domain="example.com")
    with client:
        assert client.get("/x").json() == {"a": "b"}
    (cookie,) = client.cookies.jar
    assert (cookie.domain, cookie.path) == (".example.com", "/")


def test_websocket_handshakes_have_cookies_and_set_them() -> None:
    @upgrade_websocket
    async def talk(c: Context, ws: WebSocket) -> None:
        await ws.send(get_cookie(c, "a") or "none")

    async def count(c: Context, next: Any) -> None:
        set_cookie(c, "a", "seen", secure=True)
        await next()

    app = Kit().use("/ws", count).get("/ws", talk)
    with sync_test_client(app, base_url="https://shop.example") as client:
        for expected in ("none", "seen"):
            with client.ws("/ws", headers={"origin": "https://shop.example"}) as ws:
                assert ws.receive() == expected


def test_cookie_that_a_redirect_sets_replaces_that_of_the_call() -> None:
    app = Kit()

    @app.get("/login")
    async def login(c: Context) -> Response:
        set_cookie(c, "sid", "new")
        return c.redirect("/#shown")

    @app.get("/")
    async def index(c: Context) -> Response:
        return c.text(f"{c.req.url} {c.req.header('cookie')}")

    with sync_test_client(app, follow_redirects=True) as client:
        text = client.get("/login", cookies={"sid": "old", "theme": "dark"}).text()
        assert text == "http://localhost/ sid=new; theme=dark"
        client.cookies.clear()
        assert client.get("/login", cookies={"sid": None}).text() == "http://localhost/ sid=new"
    with sync_test_client(app, follow_redirects=True, keep_cookies=False) as client:
        assert client.get("/login", cookies={"sid": "old"}).text() == "http://localhost/ sid=old"


@pytest.mark.parametrize("given", ["a=b", ["a=b"]])
def test_cookies_that_are_no_pairs(given: Any) -> None:
    with pytest.raises(TypeError) as caught:
        sync_test_client(Kit(), cookies=given)
    assert str(caught.value) == (
        f"cookies takes a mapping, or pairs of a str and a value, not {given!r}"
    )


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Z"), exclude_characters=";%"))
)
@example('{"a":1,"b":["x y"]}')
@example('"x\\"y"')
@example("à")
@example("x\\y")
def test_what_other_frameworks_set_is_kept_and_sent_as_it_is(value: str) -> None:
    with sync_test_client(make_app()) as client:
        line = f"raw={value}".encode().decode("latin-1")
        client.post("/raw", content=line.encode("latin-1"), headers={"content-type": "x"})
        # As an app reads it that gets the line from a browser.
        header = {"cookie": line}
        with sync_test_client(make_app(), headers=header) as browser:
            read = browser.get("/x").json()
        assert client.get("/x").json() == read
        assert dict(client.cookies) == read
