# SPDX-License-Identifier: MIT
"""Apps made of apps: `route`, `base_path`, and errors on the way."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kit import Context, HTTPException, Kit, Response
from kit.interface import Next, RouterClosedError, UnsupportedPathError
from kit.route import base_path, base_route_path, matched_routes, route_path


async def ok(c: Context) -> Response:
    return c.text("ok")


async def get(app: Kit, path: str, **init: Any) -> str:
    response = await app.request(path, init or None)
    return f"{response.status} {await response.text()}"


def mark(name: str) -> Any:
    async def middleware(c: Context, next: Next) -> None:
        await next()
        c.header("x-mark", name, append=True)

    return middleware


async def test_routes_of_another_app_below_a_path() -> None:
    users = Kit().get("/", ok).get("/:id", lambda c: c.text(str(c.req.param("id"))))
    app = Kit().route("/api/users", users)
    assert await get(app, "/api/users") == "200 ok"
    assert await get(app, "/api/users/7") == "200 7"
    assert (await get(app, "/users/7")).startswith("404")
    assert [(r.base_path, r.path) for r in app.routes] == [
        ("/api/users", "/api/users"),
        ("/api/users", "/api/users/:id"),
    ]


@pytest.mark.parametrize(
    ("prefix", "inner", "path"),
    [
        ("/a", "/b", "/a/b"),
        ("/a/", "/b", "/a/b"),
        ("a", "b", "/a/b"),
        ("/a", "/", "/a"),
        ("/a/", "/", "/a/"),
        ("/", "/b", "/b"),
        ("/", "/", "/"),
        ("/a", "/b/", "/a/b/"),
        ("/:tenant", "/b", "/x/b"),
    ],
)
async def test_how_paths_are_joined(prefix: str, inner: str, path: str) -> None:
    assert await get(Kit().route(prefix, Kit().get(inner, ok)), path) == "200 ok"
    assert await get(_under(prefix, inner), path) == "200 ok"


def _under(prefix: str, inner: str) -> Kit:
    app = Kit()
    app.base_path(prefix).get(inner, ok)
    return app


async def test_apps_nest() -> None:
    inner = Kit().use("*", mark("inner")).get("/leaf/:id", lambda c: c.json(c.req.param()))
    middle = Kit().use("*", mark("middle")).route("/:group", inner)
    app = Kit().use("*", mark("outer")).route("/api", middle)
    response = await app.request("/api/a/leaf/1")
    assert await response.json() == {"group": "a", "id": "1"}
    assert response.headers.get_all("x-mark") == ["inner", "middle", "outer"]


async def test_helpers_tell_the_prefix() -> None:
    def tell(c: Context) -> Response:
        return c.json([route_path(c), base_route_path(c), base_path(c), len(matched_routes(c))])

    app = Kit().route("/:tenant", Kit().use("*", mark("a")).get("/x/:id", tell))
    assert await (await app.request("/acme/x/1")).json() == [
        "/:tenant/x/:id",
        "/:tenant",
        "/acme",
        2,
    ]


async def test_one_app_at_two_places() -> None:
    users = Kit().get("/:id", lambda c: c.text(route_path(c)))
    app = Kit().route("/v1", users).route("/v2", users)
    assert await get(app, "/v1/a") == "200 /v1/:id"
    assert await get(app, "/v2/a") == "200 /v2/:id"


async def test_base_path_shares_routes_and_answers_for_both() -> None:
    app = Kit().get("/top", ok)
    v1 = app.base_path("/v1")
    v1.get("/a", ok)
    v1.base_path("/deep").get("/b", ok)
    assert [route.path for route in app.routes] == ["/top", "/v1/a", "/v1/deep/b"]
    assert v1.routes == app.routes
    for each in (app, v1):
        assert await get(each, "/v1/a") == "200 ok"
        assert await get(each, "/v1/deep/b") == "200 ok"
        assert await get(each, "/top") == "200 ok"
    assert type(v1) is Kit


async def test_base_path_of_a_subclass() -> None:
    class Own(Kit[Any, Any]):
        def __init__(self) -> None:
            super().__init__()
            self.greeting = "hi"

    app = Own().base_path("/x")
    assert type(app) is Own
    assert app.greeting == "hi"


async def test_handlers_of_a_base_path_are_its_own() -> None:
    app = Kit().not_found(lambda c: c.text("root", 404))
    below = app.base_path("/x")
    below.not_found(lambda c: c.text("below", 404))
    assert await get(app, "/no") == "404 root"
    assert await get(below, "/no") == "404 below"


async def test_path_of_the_last_call_is_not_handed_on_to_a_base_path() -> None:
    app = Kit().get("/a", ok)
    app.base_path("/b").post(ok)
    assert [(r.method, r.path) for r in app.routes] == [("GET", "/a"), ("POST", "/b")]


# ---- errors of parts --------------------------------------------------------------------------


def failing(message: str = "boom") -> Any:
    def handler(c: Context) -> Response:
        raise ValueError(message)

    return handler


async def test_errors_go_to_the_innermost_handler() -> None:
    inner = Kit().get("/a", failing()).on_error(lambda e, c: c.text(f"inner {e}", 500))
    middle = Kit().get("/b", failing()).route("/inner", inner)
    middle.on_error(lambda e, c: c.text(f"middle {e}", 500))
    app = Kit().get("/c", failing()).route("/middle", middle)
    app.on_error(lambda e, c: c.text(f"outer {e}", 500))
    assert await get(app, "/middle/inner/a") == "500 inner boom"
    assert await get(app, "/middle/b") == "500 middle boom"
    assert await get(app, "/c") == "500 outer boom"


async def test_what_an_error_handler_raises_goes_further_out() -> None:
    def again(error: Exception, c: Context) -> Response:
        raise HTTPException(418, f"{c.error} and again")

    inner = Kit().get("/a", failing()).on_error(again)
    app = Kit().use("*", mark("seen")).route("/inner", inner)
    assert await get(app, "/inner/a") == "418 boom and again"
    app = Kit().route("/inner", Kit().get("/a", failing()).on_error(again))
    app.on_error(lambda e, c: c.text(f"{type(e).__name__} {c.error is e}", 500))
    assert await get(app, "/inner/a") == "500 HTTPException True"


async def test_middleware_of_a_part_has_its_error_handler_too() -> None:
    async def fail(c: Context, next: Next) -> None:
        raise ValueError("in middleware")

    inner = Kit().use("*", fail).get("/a", ok).on_error(lambda e, c: c.text(f"inner {e}", 500))
    assert await get(Kit().route("/x", inner), "/x/a") == "500 inner in middleware"


async def test_error_handler_that_raises_is_a_fault_whatever_middleware_does(
    caplog: pytest.LogCaptureFixture,
) -> None:
    calls = 0

    def raising(error: Exception, c: Context) -> Response:
        nonlocal calls
        calls += 1
        raise RuntimeError("worse")

    async def replace(c: Context, next: Next) -> None:
        await next()
        c.res = Response("all is well", status=203)

    app = Kit().use("*", mark("seen"), replace).get("/", failing()).on_error(raising)
    response = await app.request("/")
    assert response.status == 500
    assert await response.text() == "Internal Server Error"
    assert response.headers.get("x-mark") == "seen"
    assert calls == 1
    assert "worse" in caplog.text


# ---- mistakes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [None, 1, "app", Kit, lambda c: None, object()])
def test_route_takes_an_app(given: Any) -> None:
    with pytest.raises(TypeError, match=r"route\('/x', ...\) takes a Kit app, not "):
        Kit().route("/x", given)


@pytest.mark.parametrize("call", ["route", "base_path", "mount"])
@pytest.mark.parametrize("path", [None, 1, b"/x"])
def test_path_is_a_str(call: str, path: Any) -> None:
    arguments = {"route": (Kit(),), "base_path": (), "mount": (ok,)}[call]
    with pytest.raises(TypeError, match=rf"{call}\(\) takes a path first, not "):
        getattr(Kit(), call)(path, *arguments)


def test_an_app_is_not_routed_into_itself() -> None:
    app = Kit()
    for given in (app, app.base_path("/y")):
        with pytest.raises(ValueError, match="given the app itself"):
            app.route("/x", given)


@pytest.mark.parametrize(
    "add",
    [
        lambda app: app.get("/late", ok),
        lambda app: app.use(ok),
        lambda app: app.route("/late", Kit().get("/", ok)),
        lambda app: app.mount("/late", lambda request: None),
        lambda app: app.base_path("/b").get("/late", ok),
    ],
)
def test_adding_to_a_part_after_it_was_routed(add: Any) -> None:
    part = Kit().get("/a", ok)
    app = Kit().route("/api", part)
    with pytest.raises(RouterClosedError) as caught:
        add(part)
    assert re.search(
        rf"was copied into another one by route\('/api'\) at {re.escape(__file__)}:\d+; "
        "add everything before",
        str(caught.value),
    )
    assert [route.path for route in app.routes] == ["/api/a"]


def test_error_handler_of_a_part_after_it_was_routed() -> None:
    part = Kit().get("/a", ok)
    Kit().route("/api", part)
    with pytest.raises(RuntimeError, match=r"on_error\(\) has no effect any more: the app was"):
        part.on_error(lambda e, c: c.text("late"))


async def test_routing_after_the_first_match() -> None:
    app = Kit().get("/", ok)
    await app.request("/")
    with pytest.raises(RouterClosedError, match="GET '/late/a'"):
        app.route("/late", Kit().get("/a", ok))
    with pytest.raises(RouterClosedError, match="GET '/x/a'"):
        app.base_path("/x").get("/a", ok)


def test_a_decorator_without_function_in_a_part() -> None:
    part = Kit()
    part.get("/a")
    with pytest.raises(RuntimeError, match=r"@app.get\('/a'\) at .*test_composition.py:\d+"):
        Kit().route("/x", part)


def test_a_decorator_without_function_below_a_base_path() -> None:
    app = Kit()
    app.base_path("/x").get("/a")
    with pytest.raises(RuntimeError, match=r"@app.get\('/a'\) at"):
        _ = app.routes


def test_pattern_that_only_the_prefix_makes_wrong() -> None:
    with pytest.raises(UnsupportedPathError, match=r"GET '/:x\{\[\}/a' at position 4"):
        Kit().route("/:x{[}", Kit().get("/a", ok))


async def test_a_part_still_answers_on_its_own() -> None:
    part = Kit().get("/a", ok)
    app = Kit().route("/api", part)
    assert await get(part, "/a") == "200 ok"
    assert await get(app, "/api/a") == "200 ok"


async def test_attributes_of_a_handler_stay() -> None:
    def handler(c: Context) -> Response:
        return c.text("x")

    handler.metadata = {"tag": "users"}  # type: ignore[attr-defined]
    app = Kit().route("/a", Kit().get("/b", handler).on_error(lambda e, c: c.text("e")))
    assert app.routes[0].handler is handler


# ---- method not allowed -----------------------------------------------------------------------


def with_methods(**options: Any) -> Kit:
    app = Kit(method_not_allowed=True, **options)
    app.use("*", mark("seen"))
    app.get("/a/:id", ok).post("/a/:id", ok).delete("/a/*", ok).all("/any", ok)
    app.get("/gone", lambda c: c.not_found())
    return app


@pytest.mark.parametrize("router", ["smart", "trie", "linear", "pattern"])
async def test_method_not_allowed(router: str) -> None:
    app = with_methods(router=router)
    response = await app.request("/a/1", {"method": "PUT"})
    assert response.status == 405
    assert response.headers.get("allow") == "DELETE, GET, HEAD, OPTIONS, POST"
    assert await response.text() == "405 Method Not Allowed"
    assert response.headers.get("x-mark") == "seen"
    response = await app.request("/a/1", {"method": "OPTIONS"})
    assert response.status == 204
    assert response.headers.get("allow") == "DELETE, GET, HEAD, OPTIONS, POST"
    assert (await app.request("/a/1/2", {"method": "GET"})).headers.get(
        "allow"
    ) == "DELETE, OPTIONS"


async def test_what_method_not_allowed_leaves_alone() -> None:
    app = with_methods()
    assert await get(app, "/no") == "404 404 Not Found"
    assert await get(app, "/no", method="OPTIONS") == "404 404 Not Found"
    assert await get(app, "/gone") == "404 404 Not Found"
    assert await get(app, "/any", method="PURGE") == "200 ok"
    assert await get(app, "/a/1", method="HEAD") == "200 "


async def test_method_not_allowed_is_an_exception_that_on_error_sees() -> None:
    app = with_methods()

    @app.on_error(HTTPException)
    def refused(error: HTTPException, c: Context) -> Response:
        return c.json({"status": error.status, "allow": (error.headers or {})["allow"]}, 405)

    response = await app.request("/a/1", {"method": "PUT"})
    assert response.status == 405
    assert await response.json() == {"status": 405, "allow": "DELETE, GET, HEAD, OPTIONS, POST"}
    assert response.headers.get("x-mark") == "seen"


async def test_method_not_allowed_is_off_by_default() -> None:
    assert await get(Kit().get("/a", ok), "/a", method="POST") == "404 404 Not Found"
