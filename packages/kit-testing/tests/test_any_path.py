# SPDX-License-Identifier: MIT
"""Requests to any path, in both clients: `client.request` and `client.get("/path")`."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kit import URL, Context, Kit, Response
from kit.cookie import get_cookie
from kit.streaming import stream_text
from kit.testing import SyncResponse, SyncTestClient, TestClient, sync_test_client, test_client
from kit.websocket import WebSocket, upgrade_websocket

Send = Callable[..., tuple[int, Any, str]]


def make_app() -> Kit:
    app = Kit()
    allowed = {"access-control-allow-origin": "https://example.com"}
    app.options("/api/*", lambda c: c.body(None, 204, allowed))

    @app.get("/api/books/:id")
    @app.on(["POST", "PUT", "PURGE"], "/api/books/:id")
    async def echo(c: Context) -> Response:
        return c.json(
            {
                "method": c.req.method,
                "url": c.req.url,
                "type": c.req.header("content-type"),
                "user": c.req.header("x-user"),
                "cookies": get_cookie(c),
                "body": await c.req.text(),
            }
        )

    app.get("/get/x", lambda c: c.text("a route whose first segment is get"))
    app.get("/request", lambda c: c.text("request"))
    app.get("/cookies", lambda c: c.text("cookies"))
    app.get("/a", lambda c: c.redirect("/b?x=1"))
    app.get("/b", lambda c: c.text(f"b {c.req.query('x')} {c.req.header('authorization')}"))
    app.get("/https", lambda c: c.redirect("https://localhost/b"))
    app.get("/away", lambda c: c.redirect("https://example.com/b"))
    app.get("/loop", lambda c: c.redirect("/loop"))
    app.on(["POST", "PUT"], "/see-other", lambda c: c.redirect("/where", 303))
    app.on(["POST", "PUT"], "/found", lambda c: c.redirect("/where"))
    app.on(["POST", "PUT"], "/again", lambda c: c.redirect("/where", 307))
    app.all("/where", where)
    app.get("/streamed", streamed)
    return app


async def where(c: Context) -> Response:
    return c.json([c.req.method, await c.req.text(), c.req.header("content-type")])


async def streamed(c: Context) -> Response:
    async def send(out: Any) -> None:
        await out.write("a body that nobody reads")

    response = stream_text(c, send)
    response.headers.set("location", "/b")
    return response.replace(status=302)


@contextmanager
def sync_sender(app: Kit, **options: Any) -> Iterator[Send]:
    with sync_test_client(app, **options) as client:

        def send(call: Callable[[Any], SyncResponse]) -> tuple[int, Any, str]:
            response = call(client)
            return response.status, response.headers, response.text()

        yield send


@contextmanager
def async_sender(app: Kit, **options: Any) -> Iterator[Send]:
    import anyio

    client = test_client(app, **options)

    def send(call: Callable[[Any], Any]) -> tuple[int, Any, str]:
        async def fetch() -> tuple[int, Any, str]:
            response = await call(client)
            return response.status, response.headers, await response.text()

        return anyio.run(fetch)

    yield send


@pytest.fixture(params=[sync_sender, async_sender], ids=["sync", "async"])
def sender(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def send(sender: Any) -> Iterator[Send]:
    with sender(make_app()) as send:
        yield send


def test_paths_that_no_route_has(send: Send) -> None:
    assert send(lambda c: c.get("/nowhere"))[::2] == (404, "404 Not Found")
    assert send(lambda c: c.request("DELETE", "/api/books/1"))[0] == 404
    assert send(lambda c: c.request("get", "/a b/é"))[0] == 404
    assert send(lambda c: c.get("/"))[0] == 404


def test_every_method_takes_a_path(send: Send) -> None:
    for method in ("get", "post", "put"):
        status, _, text = send(lambda c, m=method: c[m]("/api/books/1"))
        assert (status, f'"method":"{method.upper()}"' in text) == (200, True)
    assert '"method":"PURGE"' in send(lambda c: c.purge("/api/books/1"))[2]
    assert send(lambda c: c.head("/api/books/1"))[::2] == (200, "")
    assert send(lambda c: c["$delete"]("/api/books/1"))[0] == 404
    assert send(lambda c: c["$link"]("/api/books/1"))[0] == 404
    assert send(lambda c: c.patch("/api/books/1"))[0] == 404


def test_preflight(send: Send) -> None:
    headers = {"origin": "https://example.com", "access-control-request-method": "PUT"}
    status, answered, _ = send(lambda c: c.options("/api/books/1", headers=headers))
    assert (status, answered["access-control-allow-origin"]) == (204, "https://example.com")
    assert send(lambda c: c.request("OPTIONS", "/api/x", headers=headers))[0] == 204
    assert send(lambda c: c.options("/elsewhere", headers=headers))[0] == 404


def test_all_that_is_sent(send: Send) -> None:
    options = {"query": {"b": [2, 3]}, "headers": {"x-user": "ada"}, "cookies": {"c": "d e"}}
    text = send(lambda c: c.post("/api/books/1?a=1#top", json={"n": 1}, **options))[2]
    assert text == (
        '{"method":"POST","url":"http://localhost/api/books/1?a=1&b=2&b=3",'
        '"type":"application/json","user":"ada","cookies":{"c":"d e"},"body":"{\\"n\\":1}"}'
    )
    assert '"body":"a=1"' in send(lambda c: c.post("/api/books/1", form={"a": 1}))[2]


async def chunks() -> AsyncIterator[bytes]:
    yield b"one "
    yield b"two"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("one two", '"text/plain;charset=UTF-8"'),
        (b"one two", "null"),
        (["one ", b"two"], "null"),
        (chunks, "null"),
    ],
)
def test_raw_bodies(send: Send, content: Any, kind: str) -> None:
    def given() -> Any:
        return content() if callable(content) else content

    text = send(lambda c: c.post("/api/books/1", content=given()))[2]
    assert f'"type":{kind}' in text
    assert '"body":"one two"' in text
    typed = {"content-type": "text/csv"}
    text = send(lambda c: c.request("PUT", "/api/books/1", content=given(), headers=typed))[2]
    assert '"type":"text/csv"' in text


def test_urls_of_the_own_host(send: Send) -> None:
    for url in ("https://localhost/api/books/1", URL("http://localhost:8000/api/books/1")):
        assert f'"url":"{url}"' in send(lambda c, u=url: c.get(u))[2]


def test_base_url(sender: Any) -> None:
    with sender(make_app(), base_url="https://shop.example:8443") as send:
        assert (
            '"url":"https://shop.example:8443/api/books/1"'
            in send(lambda c: c.get("/api/books/1"))[2]
        )
        assert send(lambda c: c.get("https://shop.example/b"))[0] == 200
        with pytest.raises(ValueError, match=r"to its app alone, as https://shop\.example:8443;"):
            send(lambda c: c.get("http://localhost/b"))


@pytest.mark.parametrize("base_url", ["localhost", "/", "http://a/b", "http://a/?b", None, 5])
def test_base_url_that_is_none(base_url: Any) -> None:
    with pytest.raises(ValueError, match="base_url is scheme and host") as caught:
        test_client(Kit(), base_url=base_url)
    assert str(caught.value) == (
        f"base_url is scheme and host, e.g. 'https://example.com', not {base_url!r}"
    )


def test_routes_named_like_the_methods_of_a_client(send: Send) -> None:
    assert send(lambda c: c["get"].x.get())[0] == 200
    assert send(lambda c: c.get.x.get())[0] == 200
    assert send(lambda c: c.request.get())[2] == "request"
    assert send(lambda c: c["cookies"].get())[2] == "cookies"
    assert "client['cookies']  GET" in repr(test_client(make_app()))


def test_redirects_are_not_followed(send: Send) -> None:
    status, headers, _ = send(lambda c: c.get("/a"))
    assert (status, headers["location"]) == (302, "/b?x=1")


def test_redirects_are_followed_if_asked_for(sender: Any) -> None:
    with sender(make_app(), follow_redirects=True, headers={"authorization": "x"}) as send:
        assert send(lambda c: c.get("/a"))[2] == "b 1 x"
        assert send(lambda c: c.a.get())[2] == "b 1 x"
        assert send(lambda c: c.a.get(follow_redirects=False))[0] == 302
        assert send(lambda c: c.get("/https"))[2] == "b None None"
        status, headers, _ = send(lambda c: c.get("/away"))
        assert (status, headers["location"]) == (302, "https://example.com/b")
        assert send(lambda c: c.get("/streamed"))[2] == "b None x"
        with pytest.raises(RuntimeError, match="redirected more than 20 times") as caught:
            send(lambda c: c.get("/loop"))
        assert str(caught.value) == (
            "The app redirected more than 20 times, at last to http://localhost/loop"
        )


@pytest.mark.parametrize(
    ("method", "path", "received"),
    [
        ("POST", "/found", '["GET","",null]'),
        ("PUT", "/found", '["PUT","{}","application/json"]'),
        ("POST", "/see-other", '["GET","",null]'),
        ("PUT", "/see-other", '["GET","",null]'),
        ("POST", "/again", '["POST","{}","application/json"]'),
    ],
)
def test_method_and_body_after_a_redirect(
    send: Send, method: str, path: str, received: str
) -> None:
    text = send(lambda c: c.request(method, path, json={}, follow_redirects=True))[2]
    assert text == received


def test_streamed_body_after_a_redirect(send: Send) -> None:
    for path in ("/found", "/see-other"):
        text = send(lambda c, p=path: c.post(p, content=["a"], follow_redirects=True))[2]
        assert text == '["GET","",null]'
    with pytest.raises(TypeError, match="redirected with 307") as caught:
        send(lambda c: c.post("/again", content=["a"], follow_redirects=True))
    assert str(caught.value).startswith("POST http://localhost/again was redirected with 307")


async def test_call_of_the_async_client_is_a_coroutine() -> None:
    client = test_client(make_app())
    for call in (client.get("/b"), client.request("GET", "/b")):
        assert inspect.iscoroutine(call)
        assert (await call).status == 200


def test_websocket_at_any_path() -> None:
    app = Kit()

    @app.get("/chat/:room")
    @upgrade_websocket
    async def chat(c: Context, ws: WebSocket) -> None:
        async for message in ws:
            await ws.send(f"{c.req.param('room')}: {message!s}")

    with sync_test_client(app) as client, client.ws("/chat/general", query={"a": 1}) as ws:
        ws.send("hello")
        assert ws.receive() == "general: hello"


# --- what a response of the synchronous client has ---------------------------------------------


def test_response_of_the_sync_client() -> None:
    app = Kit().get(
        "/", lambda c: c.json({"a": 1}, 201, {"set-cookie": ["a=b%20c", "d=; Max-Age=0"]})
    )
    with sync_test_client(app) as client:
        response = client.get("/")
    assert (response.status, response.ok) == (201, True)
    assert (response.json(), response.text(), response.bytes()) == ({"a": 1}, '{"a":1}', b'{"a":1}')
    assert response.headers["content-type"] == "application/json"
    assert response.cookies == {"a": "b c"}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c: c.post("/x", {"a": 1}), "only the path is given without a name"),
        (lambda c: c.stream("GET", "/x"), "only the path is given without a name"),
        (lambda c: c.get(url="/x"), "there is no keyword 'url'"),
        (lambda c: c.request("/x"), "missing 1 required positional argument: 'path'"),
        (lambda c: c.post("/x", data=b"a"), "there is no keyword 'data', but query, json, form"),
    ],
)
def test_calls_of_other_clients(call: Callable[[Any], Any], words: str) -> None:
    with sync_test_client(Kit()) as client, pytest.raises(TypeError) as caught:
        call(client)
    assert words in str(caught.value)


async def test_second_value_of_the_async_client() -> None:
    client: Any = test_client(Kit())
    with pytest.raises(TypeError, match="only the path is given without a name"):
        await client.post("/x", {"a": 1})


@pytest.mark.parametrize("kind", [TestClient, SyncTestClient])
def test_class_is_no_factory(kind: Any) -> None:
    with pytest.raises(TypeError) as caught:
        kind(Kit())
    assert str(caught.value).startswith("write sync_test_client(app), or test_client(app) for")


async def test_the_other_kind_of_with() -> None:
    plain: Any = sync_test_client(Kit())
    with pytest.raises(TypeError, match="for plain tests"):
        async with plain:
            pass
    other: Any = test_client(Kit())
    match = "for async tests: write `async with`, or `with sync_te"
    with pytest.raises(TypeError, match=match), other:
        pass
