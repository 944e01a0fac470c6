# SPDX-License-Identifier: MIT
"""`strict=False`: a slash at the end makes no difference, in paths nor in patterns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kit import Context, HTTPException, Kit, Response
from kit.interface import Next
from kit.route import base_path, base_route_path, route_path
from kit.router import LinearRouter, PatternRouter, RegExpRouter, TrieRouter


def ok(c: Context) -> Response:
    return c.text("ok")


def shown(c: Context) -> Response:
    return c.json([route_path(c), base_route_path(c), base_path(c), c.req.path])


async def guard(c: Context, next: Next) -> None:
    if c.req.header("authorization") is None:
        raise HTTPException(401, "no token")
    await next()


async def status(app: Kit, path: str) -> int:
    return (await app.request(path)).status


def by_use(app: Kit) -> Kit:
    return app.use("/admin/", guard).get("/admin", ok)


def by_get(app: Kit) -> Kit:
    return app.get("/admin/", guard).get("/admin", ok)


def by_on(app: Kit) -> Kit:
    return app.on(["GET", "PUT"], ["/x", "/admin/"], guard).get("/admin", ok)


def by_use_argument(app: Kit) -> Kit:
    app.get("/admin/", use=guard)(ok)
    return app


def by_base_path(app: Kit) -> Kit:
    below = app.base_path("/admin/")
    below.use("/", guard).get("/", ok)
    return app


def by_base_path_of_two(app: Kit) -> Kit:
    app.base_path("/admin/").use("/", guard)
    app.base_path("/admin").get("/", ok)
    return app


def by_route(app: Kit) -> Kit:
    return app.route("/admin/", Kit().use("/", guard).get("/", ok))


def by_part_with_slash(app: Kit) -> Kit:
    return app.route("/", Kit().use("/admin/", guard)).get("/admin", ok)


def by_part_of_its_own_kind(app: Kit) -> Kit:
    return app.route("/", Kit(strict=False).use("/admin/", guard)).get("/admin", ok)


def by_optional(app: Kit) -> Kit:
    return app.use("/:name?/", guard).get("/admin", ok)


def by_expression(app: Kit) -> Kit:
    return app.use("/:name{adm.*}/", guard).get("/admin", ok)


WAYS = [
    by_use,
    by_get,
    by_on,
    by_use_argument,
    by_base_path,
    by_base_path_of_two,
    by_route,
    by_part_with_slash,
    by_part_of_its_own_kind,
    by_optional,
    by_expression,
]


@pytest.mark.parametrize("router", [None, LinearRouter, PatternRouter, RegExpRouter, TrieRouter])
@pytest.mark.parametrize("register", WAYS)
async def test_no_way_around_a_guard(register: Callable[[Kit], Kit], router: Any) -> None:
    app = register(Kit(strict=False, router=router and router()))
    for path in ("/admin", "/admin/"):
        assert await status(app, path) == 401
        response = await app.request(path, {"headers": {"authorization": "x"}})
        assert (response.status, await response.text()) == (200, "ok")
    # Some routers take any slash at the end; then they do it for the guard as well.
    assert await status(app, "/admin//") in (401, 404)


@pytest.mark.parametrize("register", WAYS)
async def test_served(register: Callable[[Kit], Kit], client: Any) -> None:
    app = register(Kit(strict=False))
    for path in ("/admin", "/admin/"):
        assert (await client().ask(app, path)).check().status == 401


async def test_names_are_without_the_slash() -> None:
    app = Kit(strict=False).get("/a/", shown).route("/b/", Kit().get("/c/", shown).get("/", shown))
    app.base_path("/d/").get("/", shown)
    assert [route.path for route in app.routes] == ["/a", "/b/c", "/b", "/d"]
    expected = {
        "/a": ["/a", "/", "/", "/a"],
        "/b/c": ["/b/c", "/b", "/b", "/b/c"],
        "/b": ["/b", "/b", "/b", "/b"],
        "/d": ["/d", "/d", "/d", "/d"],
    }
    for path, answer in expected.items():
        for asked in (path, path + "/"):
            assert await (await app.request(asked)).json() == answer


async def test_only_one_slash_is_dropped() -> None:
    app = Kit(strict=False).get("/a//", shown).get("/", ok)
    assert [route.path for route in app.routes] == ["/a/", "/"]
    assert await status(app, "/a//") == 200
    assert await status(app, "/a") == 404
    assert await status(app, "/") == 200


async def test_mounted_applications() -> None:
    app = Kit(strict=False)
    app.mount("/m/", lambda request, *_: Response(request.url))
    app.base_path("/v1/").mount("/", lambda request, *_: Response(request.url))
    for path in ("/m", "/m/", "/v1", "/v1/"):
        assert await (await app.request(path)).text() == "http://localhost/"
    assert await (await app.request("/m/a")).text() == "http://localhost/a"
    assert await (await app.request("/v1/a/b")).text() == "http://localhost/a/b"


async def test_strict_app_tells_them_apart() -> None:
    app = Kit().get("/a/", shown).route("/b/", Kit().get("/", shown))
    assert [route.path for route in app.routes] == ["/a/", "/b/"]
    assert [await status(app, path) for path in ("/a/", "/a", "/b/", "/b")] == [200, 404, 200, 404]
