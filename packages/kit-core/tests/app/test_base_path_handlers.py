# SPDX-License-Identifier: MIT
"""`on_error` and `not_found` of apps that `base_path` made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kit import Context, HTTPException, Kit, Response
from kit.interface import Next

Build = Callable[[], tuple[Kit, Kit]]


class OutOfStockError(Exception):
    """What handlers raise."""


def fail(c: Context) -> Response:
    raise OutOfStockError("sold out")


def ok(c: Context) -> Response:
    return c.text("ok")


async def passing(c: Context, next: Next) -> None:
    await next()


def error_handler(name: str) -> Callable[[Exception, Context], Response]:
    return lambda error, c: c.text(f"{name}: {error}", 500)


def missing(name: str) -> Callable[[Context], Response]:
    return lambda c: c.text(f"{name}: nothing", 404)


async def get(app: Kit, path: str, method: str = "GET") -> str:
    response = await app.request(path, {"method": method})
    return f"{response.status} {await response.text()}"


# --- on_error ----------------------------------------------------------------------------------


@pytest.mark.parametrize("around", [False, True], ids=["alone", "in a chain"])
@pytest.mark.parametrize("late", [False, True], ids=["set before", "set after"])
async def test_errors_of_its_routes(around: bool, late: bool) -> None:
    app = Kit()
    if around:
        app.use(passing)
    below = app.base_path("/api")
    if not late:
        below.on_error(error_handler("below"))
    below.get("/fail", fail)
    app.get("/fail", fail).on_error(error_handler("app"))
    if late:
        below.on_error(error_handler("below"))
    for each in (app, below):
        assert await get(each, "/api/fail") == "500 below: sold out"
    assert await get(app, "/fail") == "500 app: sold out"


async def test_what_it_does_not_answer_goes_on() -> None:
    def again(error: Exception, c: Context) -> Response:
        raise HTTPException(418, f"{error}, again")

    app = Kit().on_error(error_handler("app"))
    app.base_path("/a").get("/", fail).on_error(KeyError, error_handler("never"))
    app.base_path("/b").get("/", fail).on_error(again)
    inner = app.base_path("/c").on_error(error_handler("outer")).base_path("/d")
    inner.get("/", fail)
    app.base_path("/e").on_error(error_handler("outer")).base_path("/f").get("/", fail).on_error(
        again
    )
    assert await get(app, "/a") == "500 app: sold out"
    assert await get(app, "/b") == "500 app: 418 sold out, again"
    assert await get(app, "/c/d") == "500 outer: sold out"
    assert await get(app, "/e/f") == "500 outer: 418 sold out, again"


async def test_none_is_asked_twice() -> None:
    asked: list[str] = []

    def passing_on(name: str) -> Callable[[Exception, Context], Response]:
        def handler(error: Exception, c: Context) -> Response:
            asked.append(name)
            raise error

        return handler

    app = Kit().on_error(passing_on("app"))
    middle = app.base_path("/a").on_error(passing_on("middle"))
    inner = middle.base_path("/b").on_error(passing_on("inner")).get("/", refuse)
    for each in (app, middle, inner):
        asked.clear()
        assert await get(each, "/a/b") == "403 refused"
        assert asked == ["inner", "middle", "app"]


def refuse(c: Context) -> Response:
    raise HTTPException(403, "refused")


async def test_middleware_parts_and_mounts_of_it() -> None:
    async def failing(c: Context, next: Next) -> Response:
        raise OutOfStockError("in middleware")

    def mounted(*_: Any) -> Response:
        raise OutOfStockError("in a mount")

    app = Kit()
    below = app.base_path("/api").on_error(error_handler("below"))
    below.use("/guarded", failing).get("/guarded", ok)
    below.mount("/mounted", mounted)
    below.route("/part", Kit().get("/", fail))
    below.route("/own", Kit().get("/", fail).on_error(error_handler("own")))
    assert await get(app, "/api/guarded") == "500 below: in middleware"
    assert await get(app, "/api/mounted") == "500 below: in a mount"
    assert await get(app, "/api/part") == "500 below: sold out"
    assert await get(app, "/api/own") == "500 own: sold out"


async def test_its_handler_is_not_for_the_routes_of_others() -> None:
    app = Kit().get("/api/other", fail)
    app.base_path("/api").on_error(error_handler("below"))
    app.base_path("/api").get("/another", fail)
    assert await get(app, "/api/other") == "500 Internal Server Error"
    assert await get(app, "/api/another") == "500 Internal Server Error"


async def test_handlers_come_along_with_route() -> None:
    part = Kit().on_error(error_handler("part")).get("/", fail)
    part.base_path("/a").on_error(error_handler("below")).get("/", fail)
    below = Kit().base_path("/b").on_error(error_handler("alone")).get("/", fail)
    app = Kit().route("/x", part).route("/y", below).on_error(error_handler("app"))
    assert await get(app, "/x") == "500 part: sold out"
    assert await get(app, "/x/a") == "500 below: sold out"
    assert await get(app, "/y/b") == "500 alone: sold out"


async def test_served_itself_it_answers_for_all_routes() -> None:
    app = Kit().get("/top", fail).on_error(error_handler("app"))
    below = app.base_path("/api")
    assert await get(below, "/top") == "500 app: sold out"
    below = Kit().get("/top", fail).base_path("/api").on_error(error_handler("below"))
    assert await get(below, "/top") == "500 below: sold out"


async def test_served(client: Any) -> None:
    app = Kit().use(passing)
    app.base_path("/api").on_error(error_handler("below")).not_found(missing("below")).get(
        "/", fail
    )
    assert (await client().ask(app, "/api")).check().body == b"below: sold out"
    assert (await client().ask(app, "/api/none")).check().body == b"below: nothing"
    assert (await client().ask(app, "/none")).check().body == b"404 Not Found"


# --- not_found ---------------------------------------------------------------------------------


@pytest.mark.parametrize("around", [False, True], ids=["alone", "in a chain"])
async def test_paths_below_its_prefix(around: bool, client: Any) -> None:
    app = Kit()
    if around:
        app.use(passing)
    app.not_found(missing("app"))
    app.base_path("/api").not_found(missing("below")).get("/there", ok)
    for path in ("/api", "/api/", "/api/none", "/api/a/b", "/api/there/none"):
        assert await get(app, path) == "404 below: nothing"
        assert (await client().ask(app, path)).check().body == b"below: nothing"
    for path in ("/", "/none", "/apis", "/a/api"):
        assert await get(app, path) == "404 app: nothing"
    assert await get(app, "/api/there") == "200 ok"
    assert await get(app, "/api/there", "POST") == "404 below: nothing"


async def test_without_one_of_the_app_itself(client: Any) -> None:
    app = Kit().get("/", ok)
    await app.request("/none")
    app.base_path("/api").not_found(missing("below"))
    assert await get(app, "/none") == "404 404 Not Found"
    assert (await client().ask(app, "/none")).check().body == b"404 Not Found"
    assert (await client().ask(app, "/api/none")).check().body == b"below: nothing"


async def test_innermost_prefix_counts() -> None:
    app = Kit().not_found(missing("app"))
    api = app.base_path("/api").not_found(missing("api"))
    api.base_path("/v1").base_path("/deep").not_found(missing("deep"))
    app.base_path("/api/v2").not_found(missing("v2"))
    app.base_path("/:tenant").not_found(missing("tenant"))
    for path, name in (
        ("/api/v1", "api"),
        ("/api/v1/deep/x", "deep"),
        ("/api/v2/x", "v2"),
        ("/acme/x", "tenant"),
        ("/", "app"),
    ):
        assert await get(app, path) == f"404 {name}: nothing"


async def test_prefix_without_segments() -> None:
    app = Kit().not_found(missing("app"))
    app.base_path("/api").not_found(missing("api"))
    app.base_path("/").not_found(missing("slash"))
    assert await get(app, "/none") == "404 slash: nothing"
    assert await get(app, "/api/none") == "404 api: nothing"


@pytest.mark.parametrize(
    ("prefix", "below", "outside"),
    [
        ("/:id{[0-9]+}", "/12/x", "/x/12"),
        ("/*/x", "/any/x/y", "/any/y"),
        ("/%7Bid%7D", "/{id}/x", "/id/x"),
        ("/api/", "/api/x", "/x"),
        ("/:lang?/docs", "/docs/x", "/de/x"),
        ("/:lang?/docs", "/de/docs/x", "/de/x"),
        ("/api/:version?", "/api/x", "/x"),
        ("api", "/api/x", "/x"),
    ],
)
async def test_prefixes(prefix: str, below: str, outside: str) -> None:
    app = Kit()
    app.base_path(prefix).not_found(missing("below"))
    assert await get(app, below) == "404 below: nothing"
    assert await get(app, outside) == "404 404 Not Found"


async def test_handler_that_finds_nothing() -> None:
    app = Kit().get("/x", lambda c: c.not_found())
    below = app.base_path("/api").not_found(missing("below"))
    below.get("/x", lambda c: c.not_found())
    assert await get(app, "/api/x") == "404 below: nothing"
    assert await get(app, "/x") == "404 404 Not Found"


async def test_served_itself() -> None:
    app = Kit().not_found(missing("app"))
    below = app.base_path("/api")
    assert await get(below, "/none") == "404 app: nothing"
    below.not_found(missing("below"))
    assert await get(below, "/none") == "404 below: nothing"
    assert await get(below.base_path("/v1"), "/none") == "404 below: nothing"
    app.base_path("/other").not_found(missing("other"))
    assert await get(below, "/other/none") == "404 below: nothing"


async def test_after_route_it_still_applies_below_its_prefix() -> None:
    part = Kit()
    part.base_path("/a").not_found(missing("below")).get("/there", ok)
    app = Kit().route("/x", part).not_found(missing("app"))
    assert await get(app, "/x/a/none") == "404 below: nothing"
    assert await get(app, "/x/none") == "404 app: nothing"
    assert await get(part, "/a/none") == "404 below: nothing"


async def test_error_about_a_path_goes_to_the_apps_that_it_lies_below() -> None:
    def problem(error: Exception, c: Context) -> Response:
        assert isinstance(error, HTTPException)
        return c.json({"below": error.status}, error.status, error.headers)

    app = Kit(method_not_allowed=True).use(passing).on_error(error_handler("app"))
    app.base_path("/api").on_error(problem).get("/", ok)
    app.get("/top", ok)
    response = await app.request("/api", {"method": "POST"})
    assert (response.status, await response.json()) == (405, {"below": 405})
    assert response.headers["allow"] == "GET, HEAD, OPTIONS"
    assert (await get(app, "/top", "POST")).startswith("500 app: ")


async def test_nothing_returned_goes_to_the_app_of_the_route(caplog: Any) -> None:
    """Not to that of the middleware in front of it."""
    app = Kit()
    inner = app.base_path("/inner")
    app.on_error(lambda error, c: c.text("outer", 500))
    inner.on_error(lambda error, c: c.text("inner", 500))

    @app.use
    async def passing(c: Context, next: Next) -> None:
        await next()

    inner.get("/x", lambda c: None)
    assert await (await app.request("/inner/x")).text() == "inner"
