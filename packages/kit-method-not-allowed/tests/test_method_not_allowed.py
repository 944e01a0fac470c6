# SPDX-License-Identifier: MIT
"""When the answer is 405, and what it lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kit import Context, HTTPException, Kit, Next, Response
from kit.interface import plugins
from kit.interface.metadata import get_facts
from kit.method_not_allowed import method_not_allowed
from kit.router.linear_router import LinearRouter
from kit.router.pattern_router import PatternRouter
from kit.router.reg_exp_router import RegExpRouter
from kit.router.trie_router import TrieRouter

Answer = tuple[int, str | None, str]


def ok(c: Context) -> Response:
    return c.text("ok")


def app_with(app: Kit | None = None, **options: Any) -> Kit:
    app = Kit() if app is None else app
    app.use(method_not_allowed(app=app, **options))
    app.post("/books", ok).get("/books", ok)
    app.get("/books/:id", ok).delete("/books/:id{[0-9]+}", ok)
    app.on(["PURGE", "PUT"], "/cache/*", ok)
    return app


async def ask(app: Kit, method: str, path: str) -> Answer:
    response = await app.request(path, method=method)
    return response.status, response.headers.get("allow"), await response.text()


NOT_FOUND = (404, None, "404 Not Found")


def refused(allow: str) -> Answer:
    return 405, allow, "Method Not Allowed"


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("PUT", "/books", refused("POST, GET, HEAD")),
        ("OPTIONS", "/books", refused("POST, GET, HEAD")),
        ("TRACE-IT", "/books", refused("POST, GET, HEAD")),
        ("PATCH", "/books/7", refused("GET, HEAD, DELETE")),
        ("PATCH", "/books/x", refused("GET, HEAD")),
        ("GET", "/cache/a/b", refused("PURGE, PUT")),
        ("GET", "/books", (200, None, "ok")),
        ("DELETE", "/books/7", (200, None, "ok")),
        ("GET", "/nothing", NOT_FOUND),
        ("PUT", "/books/", NOT_FOUND),
        ("PUT", "/books/7/pages", NOT_FOUND),
    ],
)
@pytest.mark.parametrize("router", [None, LinearRouter, PatternRouter, RegExpRouter, TrieRouter])
def test_answers(
    run: Callable[..., Any], router: Any, method: str, path: str, expected: Any
) -> None:
    app = app_with(Kit(router=router and router()))
    assert run(ask, app, method, path) == expected


def test_a_head_request_has_no_body(run: Callable[..., Any]) -> None:
    assert run(ask, app_with(), "HEAD", "/cache/x") == (405, "PURGE, PUT", "")


def test_a_handlers_own_404_for_its_method_stays(run: Callable[..., Any]) -> None:
    app = app_with()
    app.get("/own", lambda c: c.text("none", 404, {"allow": "own"}))
    assert run(ask, app, "GET", "/own") == (404, "own", "none")
    assert run(ask, app, "PUT", "/own") == refused("GET, HEAD")


def test_routes_for_every_method_do_not_count(run: Callable[..., Any]) -> None:
    async def pass_on(c: Context, next: Next) -> None:
        await next()

    app = app_with()
    app.use("/any", pass_on)
    app.all("/all", lambda c: c.text("none", 404))
    app.patch("/all", ok)
    assert run(ask, app, "GET", "/any") == NOT_FOUND
    assert run(ask, app, "GET", "/all") == refused("PATCH")


def test_what_an_exception_caused_stays(run: Callable[..., Any]) -> None:
    app = app_with()

    @app.put("/books")
    def missing(c: Context) -> Response:
        raise HTTPException(404, "no such book")

    app.all("/all", missing).patch("/all", ok)
    assert run(ask, app, "PUT", "/books") == (404, None, "no such book")
    assert run(ask, app, "GET", "/all") == (404, None, "no such book")


def test_the_405_of_the_app_stays(run: Callable[..., Any]) -> None:
    app = app_with(Kit(method_not_allowed=True))
    allow = "GET, HEAD, OPTIONS, POST"
    assert run(ask, app, "PUT", "/books") == (405, allow, "405 Method Not Allowed")
    assert run(ask, app, "OPTIONS", "/books") == (204, allow, "")


def test_a_not_found_handler_is_asked_first(run: Callable[..., Any]) -> None:
    app = app_with()
    app.not_found(lambda c: c.text("gone", 410))
    assert run(ask, app, "PUT", "/books") == (410, None, "gone")


def test_headers_of_the_404_are_kept_but_allow_and_the_length(run: Callable[..., Any]) -> None:
    app = app_with()
    headers = {"allow": "OLD", "content-length": "4", "x-kept": "1", "content-type": "a/b"}
    app.not_found(lambda c: c.body("none", 404, headers))
    response = run(lambda: app.request("/books", method="PUT"))
    assert dict(response.headers.items()) == {
        "allow": "POST, GET, HEAD",
        "content-type": "text/plain; charset=UTF-8",
        "x-kept": "1",
    }


def test_a_response_that_the_app_keeps_is_not_changed(run: Callable[..., Any]) -> None:
    kept = Response("none", status=404, headers={"allow": "OLD"})
    app = app_with()
    app.not_found(lambda c: kept)
    assert run(ask, app, "PUT", "/books") == refused("POST, GET, HEAD")
    assert kept.headers["allow"] == "OLD"


# --- apps in apps -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prefix", "below"),
    [
        ("/api", "/api"),
        ("/:tenant", "/acme"),
        ("/:tenant/:version{v[0-9]+}", "/acme/v2"),
        ("/é", "/%C3%A9"),
    ],
)
def test_an_app_that_is_part_of_another(run: Callable[..., Any], prefix: str, below: str) -> None:
    app = Kit().route(prefix, app_with())
    app.put("/books", ok)
    assert run(ask, app, "PUT", f"{below}/books") == refused("POST, GET, HEAD")
    assert run(ask, app, "PATCH", f"{below}/books/7") == refused("GET, HEAD, DELETE")
    assert run(ask, app, "PUT", f"{below}/nothing") == NOT_FOUND
    assert run(ask, app, "PATCH", "/books") == NOT_FOUND


def test_the_routes_of_the_outermost_app(run: Callable[..., Any]) -> None:
    app, books = Kit(), Kit()
    books.use(method_not_allowed(app=app))
    books.get("/", ok)
    app.route("/books", books)
    app.put("/books", ok)
    assert run(ask, app, "DELETE", "/books") == refused("GET, HEAD, PUT")


def test_the_root_of_an_app_that_is_part_of_another(run: Callable[..., Any]) -> None:
    books = Kit()
    books.use(method_not_allowed(app=books))
    books.get("/", ok)
    assert run(ask, Kit().route("/books", books), "PUT", "/books") == refused("GET, HEAD")


def test_below_a_base_path(run: Callable[..., Any]) -> None:
    app = Kit()
    app_with(app.base_path("/api"))
    assert run(ask, app, "PUT", "/api/books") == refused("POST, GET, HEAD")
    outer = Kit().route("/outer", app)
    assert run(ask, outer, "PUT", "/outer/api/books") == refused("POST, GET, HEAD")


# --- on_method_not_allowed ----------------------------------------------------------------------


def plain(c: Context, methods: list[str]) -> Response:
    return c.json({"path": c.req.path, "allowed": methods}, 405)


async def later(c: Context, methods: list[str]) -> Response:
    return plain(c, methods)


@pytest.mark.parametrize("function", [plain, later])
def test_a_function_answers(run: Callable[..., Any], function: Any) -> None:
    app = app_with(on_method_not_allowed=function)
    response = run(lambda: app.request("/books", method="PUT"))
    assert (response.status, response.headers["allow"]) == (405, "POST, GET, HEAD")
    assert run(response.json) == {"path": "/books", "allowed": ["POST", "GET", "HEAD"]}


@pytest.mark.parametrize(
    ("status", "headers", "allow"),
    [(405, {"Allow": "MINE"}, "MINE"), (405, {}, "POST, GET, HEAD"), (404, {}, None)],
)
def test_allow_is_added_to_a_405_that_has_none(
    run: Callable[..., Any], status: int, headers: dict[str, str], allow: str | None
) -> None:
    app = app_with(on_method_not_allowed=lambda c, methods: c.text("own", status, headers))
    assert run(ask, app, "PUT", "/books") == (status, allow, "own")


def test_what_a_function_raises_is_an_error(run: Callable[..., Any]) -> None:
    def answer(c: Context, methods: list[str]) -> Response:
        raise HTTPException(405, "raised", headers={"Allow": ", ".join(methods)})

    app = app_with(on_method_not_allowed=answer)
    assert run(ask, app, "PUT", "/books") == (405, "POST, GET, HEAD", "raised")


def test_a_function_that_returns_no_response(run: Callable[..., Any]) -> None:
    app = app_with(on_method_not_allowed=lambda c, methods: methods)
    app.on_error(lambda error, c: c.text(str(error), 500))
    assert run(ask, app, "PUT", "/books") == (
        500,
        None,
        "method_not_allowed(on_method_not_allowed=...) returned ['POST', 'GET', 'HEAD']: "
        "expected a Response",
    )


# --- options ------------------------------------------------------------------------------------

APP = "method_not_allowed(app=...) takes the app whose routes count, not"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"app": None}, f"{APP} None"),
        ({"app": Kit}, f"{APP} <class 'kit.app.Kit'>"),
        ({"app": "app"}, f"{APP} 'app'"),
        ({"on_method_not_allowed": 405}, "takes a function (c, allowed_methods), not 405"),
        ({"on_method_not_allowed": "answer"}, "takes a function (c, allowed_methods), not"),
        ({"on_method_not_allowed": lambda c: None}, "takes a function (c, allowed_methods)"),
    ],
)
def test_wrong_options(options: Any, text: str) -> None:
    with pytest.raises(TypeError) as caught:
        method_not_allowed(**{"app": Kit(), **options})
    assert text in str(caught.value)


def test_what_tools_see() -> None:
    middleware = method_not_allowed(app=Kit())
    assert getattr(middleware, "__name__", None) == "method_not_allowed"
    assert get_facts(middleware).responses.keys() == {405}
    assert plugins.load("kit.middleware", "method-not-allowed") is method_not_allowed
