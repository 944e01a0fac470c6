# SPDX-License-Identifier: MIT
"""Links: the paths of handlers, in a request and without one."""

from __future__ import annotations

import asyncio
import datetime
import enum
import functools
import ipaddress
import pathlib
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, Kit, Request, Response, in_thread
from kit.testing import sync_test_client
from kit.websocket import WebSocket, upgrade_websocket


def read_book(c: Context) -> Response:
    return c.json(c.req.param())


def other(c: Context) -> Response:
    return c.text("other")


class Kind(enum.StrEnum):
    NOVEL = "novel"


def with_header(handler: Any) -> Any:
    @functools.wraps(handler)
    def wrapper(c: Context) -> Any:
        c.header("wrapped", "yes")
        return handler(c)

    return wrapper


def ask(app: Kit, path: str) -> Response:
    return asyncio.run(app.request(path))


def text_of(app: Kit, path: str) -> str:
    response = ask(app, path)
    text = asyncio.run(response.text())
    assert response.status == 200, text
    return text


def test_a_path_in_a_request_and_without_one() -> None:
    app = Kit()
    app.get("/books/:id", read_book)
    app.get("/", lambda c: c.redirect(c.path_to(read_book, id=7, query={"page": 2})))
    assert app.path_to(read_book, id=7) == "/books/7"
    assert ask(app, "/").headers.get("location") == "/books/7?page=2"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7, "7"),
        ("a b", "a%20b"),
        (True, "true"),
        (1.5, "1.5"),
        (Kind.NOVEL, "novel"),
        (datetime.date(2026, 11, 28), "2026-11-28"),
        (datetime.datetime(2026, 11, 28, tzinfo=datetime.UTC), "2026-11-28T00:00:00+00:00"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (ipaddress.ip_address("::1"), "::1"),
    ],
)
def test_values_become_text(value: object, text: str) -> None:
    app = Kit().get("/books/:id", read_book)
    assert app.path_to(read_book, id=value) == f"/books/{text}"


def test_a_file_path_is_a_value_with_slashes() -> None:
    app = Kit().get("/files/:path{.+}", read_book)
    assert app.path_to(read_book, path=pathlib.PurePosixPath("a/b.txt")) == "/files/a/b.txt"


@pytest.mark.parametrize("value", [b"7", object(), {}, {"a"}])
def test_other_values_are_refused(value: object) -> None:
    app = Kit().get("/books/:id", read_book)
    with pytest.raises(TypeError, match="takes a str, a number"):
        app.path_to(read_book, id=value)


def test_the_query() -> None:
    app = Kit().get("/books", read_book)
    query = {"q": "a&b é", "tag": ["x", "y"], "page": None, "all": True}
    path = app.path_to(read_book, query=query)
    assert path == "/books?q=a%26b+%C3%A9&tag=x&tag=y&all=true"
    assert app.path_to(read_book, query={"page": None}) == "/books"
    with pytest.raises(TypeError, match="page"):
        app.path_to(read_book, query={"page": object()})
    with pytest.raises(TypeError, match="expected a str"):
        app.path_to(read_book, query={1: "a"})


def test_a_parameter_may_be_named_query() -> None:
    app = Kit().get("/search/:query", read_book)
    assert app.path_to(read_book, query="dune") == "/search/dune"
    app = Kit().get("/search", read_book)
    with pytest.raises(TypeError, match="no parameter 'query'"):
        app.path_to(read_book, query="dune")


def test_names_that_are_no_identifiers_and_optional_ones() -> None:
    app = Kit().get("/books/:book-id/:chapter?", read_book)
    assert app.path_to(read_book, **{"book-id": 7}) == "/books/7"
    assert app.path_to(read_book, **{"book-id": 7}, chapter=None) == "/books/7"
    assert app.path_to(read_book, **{"book-id": 7}, chapter="two") == "/books/7/two"
    app = Kit().get("/:language?/books", read_book)
    assert app.path_to(read_book) == "/books"
    assert app.path_to(read_book, language="de") == "/de/books"


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({}, TypeError, "needs a value for 'id'"),
        ({"id": None}, TypeError, "needs a value for 'id'"),
        ({"id": 7, "page": 2}, TypeError, "no parameter 'page': for the query, write query="),
        ({"id": [1, 2]}, TypeError, "takes one value"),
        ({"id": "x"}, ValueError, "doesn't match"),
    ],
)
def test_values_that_fit_no_path(
    values: dict[str, Any], error: type[Exception], words: str
) -> None:
    app = Kit().get("/books/:id{[0-9]+}", read_book)
    with pytest.raises(error, match=words) as caught:
        app.path_to(read_book, **values)
    assert "read_book" in str(caught.value)


def test_a_handler_without_a_route() -> None:
    app = Kit().get("/", other)
    with pytest.raises(LookupError, match="read_book"):
        app.path_to(read_book)
    with pytest.raises(LookupError, match="'read_book'"):
        app.path_to("read_book")
    anything: Any = 7
    with pytest.raises(TypeError, match="handler or its name"):
        app.path_to(anything)


def test_an_encoder_of_the_app_makes_text_of_its_class() -> None:
    class Key:
        number = 7

    app = Kit(encoders={Key: lambda key: f"k{key.number}"}).get("/books/:id", read_book)
    assert app.path_to(read_book, id=Key(), query={"other": [Key()]}) == "/books/k7?other=k7"


def test_middleware_has_no_path() -> None:
    async def guard(c: Context, next: Any) -> None:
        await next()

    with pytest.raises(LookupError, match="guard"):
        Kit().use("/a", guard).path_to(guard)


def test_the_values_decide_between_several_routes() -> None:
    app = Kit()
    app.get("/books/:id{[0-9]+}", read_book).get("/books/:slug{[a-z]+}", read_book)
    app.on(["GET", "POST"], ["/a/:x{[0-9]+}", "/b/:x{[a-z]+}"], other)
    assert app.path_to(read_book, id=7) == "/books/7"
    assert app.path_to(read_book, slug="dune") == "/books/dune"
    assert app.path_to(other, x=1) == "/a/1"
    assert app.path_to(other, x="z") == "/b/z"
    with pytest.raises(ValueError, match=r"'/a/:x.*'/b/:x.*none has a path"):
        app.path_to(other, x="?")
    with pytest.raises(TypeError, match="needs a value for 'x'"):
        app.path_to(other)


def test_several_routes_for_the_same_values_are_an_error() -> None:
    app = Kit().get("/v1/status", other).get("/v2/status", other)
    with pytest.raises(LookupError, match="'/v1/status', '/v2/status'"):
        app.path_to(other)


def test_wrapped_handlers() -> None:
    wrapped, partial = with_header(read_book), functools.partial(other)
    threaded = in_thread(read_book)
    app = Kit().get("/wrapped/:id", wrapped).get("/partial", partial)
    assert app.path_to(wrapped, id=1) == app.path_to(read_book, id=1) == "/wrapped/1"
    assert app.path_to(partial) == app.path_to(other) == "/partial"
    assert Kit().get("/thread", threaded).path_to(read_book) == "/thread"
    # The registered object itself comes first.
    app = Kit().get("/plain", read_book).get("/wrapped", wrapped)
    assert app.path_to(read_book) == "/plain"
    assert app.path_to(wrapped) == "/wrapped"


def test_methods_and_callable_objects() -> None:
    class Books:
        def read(self, c: Context) -> Response:
            return c.text("read")

        def __call__(self, c: Context) -> Response:
            return c.text("call")

    first, second = Books(), Books()
    app = Kit().get("/first", first.read).get("/second", second.read).get("/object", second)
    assert app.path_to(first.read) == "/first"
    assert app.path_to(second.read) == "/second"
    assert app.path_to(second) == "/object"
    with pytest.raises(LookupError):
        app.path_to(first)


def test_websocket_handlers() -> None:
    app = Kit()

    @app.get("/rooms/:room")
    @upgrade_websocket
    async def chat(c: Context, ws: WebSocket) -> None:
        await ws.send(c.path_to(chat, room="b"))

    assert app.path_to(chat, room="a") == "/rooms/a"


def test_names_of_handlers() -> None:
    def make(name: str, module: str) -> Callable[[Context], Response]:
        def handler(c: Context) -> Response:
            return c.text(name)

        handler.__name__ = handler.__qualname__ = name
        handler.__module__ = module
        return handler

    app = Kit()
    app.get("/books/:id", make("read", "shop.books")).get("/users/:id", make("read", "shop.users"))
    app.get("/about", make("about", "shop"))
    assert app.path_to("about") == "/about"
    assert app.path_to("books.read", id=1) == "/books/1"
    assert app.path_to("shop.users.read", id=1) == "/users/1"
    with pytest.raises(LookupError, match="several handlers"):
        app.path_to("read", id=1)
    for name in ("ooks.read", "authors.read", "", "books."):
        with pytest.raises(LookupError, match="no handler"):
            app.path_to(name)


def test_routes_that_are_added_later() -> None:
    app = Kit().get("/", other)
    assert app.path_to(other) == "/"
    app.get("/books/:id", read_book)
    assert app.path_to(read_book, id=1) == "/books/1"


def test_apps_within_apps() -> None:
    books, app = Kit(), Kit()
    books.get("/:id", read_book)
    books.get("/", lambda c: c.text(c.path_to(read_book, shop="rome", id=7)))
    app.base_path("/v1").get("/other", other)
    app.route("/shops/:shop/books", books)
    assert app.path_to(read_book, shop="a b", id=7) == "/shops/a%20b/books/7"
    assert app.path_to(other) == app.base_path("/v2").path_to(other) == "/v1/other"
    assert text_of(app, "/shops/paris/books") == "/shops/rome/books/7"
    with pytest.raises(RuntimeError, match="part of another one"):
        books.path_to(read_book, id=7)


def test_mounted_apps() -> None:
    inner, outer = Kit(), Kit()
    inner.get("/books/:id", read_book)
    inner.get("/link", lambda c: c.text(c.path_to(read_book, id=7)))
    outer.mount("/shops/:shop", inner.fetch)
    assert text_of(outer, "/shops/a%20b/link") == "/shops/a%20b/books/7"
    assert text_of(outer, "/shops/a%20b/books/7") == '{"id":"7"}'
    assert text_of(Kit().mount("/x", outer.fetch), "/x/shops/a/link") == "/x/shops/a/books/7"
    assert inner.path_to(read_book, id=7) == "/books/7"


def test_a_root_path_is_put_in_front() -> None:
    app = Kit()
    app.get("/books/:id", read_book)
    app.get("/link", lambda c: c.text(c.path_to(read_book, id=7)))

    async def run(root_path: str, path: str) -> str:
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": root_path,
            "query_string": b"",
            "headers": [(b"host", b"localhost")],
        }
        await app(scope, receive, send)
        return b"".join(each.get("body", b"") for each in sent).decode()

    assert asyncio.run(run("/shop", "/shop/link")) == "/shop/books/7"
    assert asyncio.run(run("/shop", "/link")) == "/shop/books/7"  # hypercorn
    assert asyncio.run(run("/shop/", "/shop/link")) == "/shop/books/7"
    assert asyncio.run(run("", "/link")) == "/books/7"
    assert asyncio.run(run("/", "/link")) == "/books/7"
    assert asyncio.run(run("/é/a b", "/link")) == "/%C3%A9/a%20b/books/7"
    # It never becomes the name of a host.
    assert asyncio.run(run("//evil.example", "/link")) == "/evil.example/books/7"
    assert asyncio.run(run("/\\evil.example", "/link")) == "/%5Cevil.example/books/7"


def test_an_app_with_a_get_path_refuses() -> None:
    def get_path(request: Request) -> str:
        return "/host/books"

    app = Kit(get_path=get_path).get("/:host/books", read_book)
    with pytest.raises(RuntimeError, match="get_path"):
        app.path_to(read_book, host="a")


def test_without_strict_a_pattern_loses_its_slash() -> None:
    assert Kit(strict=False).get("/about/", other).path_to(other) == "/about"
    assert Kit().get("/about/", other).path_to(other) == "/about/"


def test_escapes_in_patterns() -> None:
    app = Kit().get("/a%7Bb%7D/:id", read_book)
    assert app.path_to(read_book, id=1) == "/a%7Bb%7D/1"
    assert text_of(app, app.path_to(read_book, id=1)) == '{"id":"1"}'


def test_declared_links_are_checked_at_startup() -> None:
    app = Kit().get("/", other).link(other, "read_book")
    with pytest.raises(LookupError, match=r"link\(\) at .*test_links.py:\d+.*'read_book'"):
        ask(app, "/")

    async def start(app: Kit) -> None:
        async with app.running():
            pass

    app = Kit().get("/", other).link(read_book)
    with pytest.raises(LookupError, match="read_book"):
        asyncio.run(start(app))
    app = Kit().get("/", other).link(read_book)
    with pytest.raises(LookupError, match="read_book"), sync_test_client(app):
        pass
    asyncio.run(start(app.get("/books/:id", read_book)))


def test_declared_links_of_a_part_may_lead_to_another_part() -> None:
    books, users, app = Kit(), Kit(), Kit()
    books.get("/", other).link("read_book")
    users.get("/:id", read_book)
    app.route("/books", books)
    with pytest.raises(LookupError, match="read_book"):
        asyncio.run(Kit().route("/", app).request("/books"))
    whole = Kit().route("/books", Kit().get("/", other).link("read_book")).route("/users", users)
    assert text_of(whole, "/books") == "other"
    with pytest.raises(RuntimeError, match="no effect any more"):
        users.link(other)


def test_link_takes_handlers() -> None:
    anything: Any = 7
    with pytest.raises(TypeError, match="handlers or their names"):
        Kit().link(anything)


SEGMENTS = ["books", "é", ":a", ":b{[^x]+}", ":c{.+}", ":d-e"]
PATTERN = st.lists(st.sampled_from(SEGMENTS), min_size=1, max_size=4, unique=True).map(
    lambda segments: "/" + "/".join(segments)
)


@given(PATTERN, st.data(), st.sampled_from(["", "/v1", "/:tenant"]))
def test_a_built_path_leads_back(pattern: str, data: st.DataObject, prefix: str) -> None:
    """In the app, in an app that it is part of, and below a mount."""
    seen: list[dict[str, str]] = []

    def handler(c: Context) -> Response:
        seen.append(c.req.param())
        return c.text(c.path_to(handler, **seen[-1]))

    inner: Kit = Kit().get(pattern, handler)
    part: Kit = Kit().route(prefix or "/", Kit().get(pattern, handler))
    for app, mounted in ((inner, Kit().mount("/m", inner.fetch)), (part, None)):
        names = [each.lstrip(":").partition("{")[0] for each in pattern.split("/") if ":" in each]
        names += ["tenant"] if app is part and prefix == "/:tenant" else []
        values = {name: data.draw(st.text(min_size=1, max_size=5), label=name) for name in names}
        try:
            path = app.path_to(handler, **values)
        except ValueError:
            continue
        assert text_of(app, path) == path
        assert seen[-1] == values
        if mounted is not None and "\\" not in str(values):
            assert text_of(mounted, f"/m{path}") == f"/m{path}"
            assert seen[-1] == values
