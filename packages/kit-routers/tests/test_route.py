# SPDX-License-Identifier: MIT
"""The routes that matched, asked for in handlers and by middleware."""

from __future__ import annotations

from typing import Any

import pytest

import kit.route
from kit import Context, Kit, Response
from kit.interface import Next, RouterRoute
from kit.interface.metadata import attach
from kit.route import base_path, base_route_path, endpoint, matched_routes, route_path


def test_public_names() -> None:
    assert kit.route.__all__ == (
        "base_path",
        "base_route_path",
        "endpoint",
        "matched_routes",
        "route_path",
    )


async def passing(c: Context, next: Next) -> None:
    await next()


def shown(c: Context) -> Response:
    return c.json([route_path(c), base_route_path(c), base_path(c), len(matched_routes(c))])


@pytest.mark.parametrize(
    ("prefix", "path", "found"),
    [
        ("/", "/b", ["/b", "/", "/", 1]),
        ("/api", "/api/b", ["/api/b", "/api", "/api", 1]),
        ("/:tenant", "/acme/b", ["/:tenant/b", "/:tenant", "/acme", 1]),
        ("/:n{[0-9]+}/x", "/12/x/b", ["/:n{[0-9]+}/x/b", "/:n{[0-9]+}/x", "/12/x", 1]),
        ("/:p{a/b}", "/a/b/b", ["/:p{a/b}/b", "/:p{a/b}", "/a/b", 1]),
        ("/*/v1", "/any/v1/b", ["/*/v1/b", "/*/v1", "/any/v1", 1]),
        ("/%7Bx%7D/:t", "/{x}/acme/b", ["/%7Bx%7D/:t/b", "/%7Bx%7D/:t", "/{x}/acme", 1]),
    ],
)
async def test_running_route(prefix: str, path: str, found: list[Any]) -> None:
    app = Kit().route(prefix, Kit().get("/b", shown))
    response = await app.request(path)
    assert await response.json() == found


async def test_other_routes_by_their_number() -> None:
    app = Kit()

    @app.get("/a/:id")
    def handler(c: Context) -> Response:
        return c.json(
            [
                [route_path(c, index), base_route_path(c, index), base_path(c, index)]
                for index in (None, 0, 1, -1, 2, -3)
            ]
        )

    outer = Kit().use("/v1/*", passing).route("/v1", app)
    own = ["/v1/a/:id", "/v1", "/v1"]
    first = ["/v1/*", "/", "/"]
    nothing = ["", "", ""]
    response = await outer.request("/v1/a/7")
    assert await response.json() == [own, first, own, own, nothing, nothing]


async def asked(app: Kit, path: str, method: str = "GET") -> list[str | None]:
    """The endpoint of a request, as middleware sees it before and after the handler."""
    found: list[str | None] = []

    async def ask(c: Context, next: Next) -> None:
        for after in (False, True):
            route = endpoint(c)
            found.append(None if route is None else route.path)
            if not after:
                await next()

    await Kit().use("*", ask).route("/", app).request(path, {"method": method})
    return found


async def test_endpoint() -> None:
    app = Kit()
    app.use("/users/*", passing)
    app.get("/users/:id", passing, shown).get("/users/*", shown).post("/users", shown)
    assert await asked(app, "/users/7") == ["/users/:id", "/users/:id"]
    assert await asked(app, "/users/7/x") == ["/users/*", "/users/*"]
    assert await asked(app, "/users", "POST") == ["/users", "/users"]


async def test_no_endpoint() -> None:
    app = Kit().use("/users/*", passing).post("/users", shown)
    assert await asked(app, "/none") == [None, None]
    assert await asked(app, "/users/7") == [None, None]
    assert await asked(app, "/users", "PUT") == [None, None]


async def test_mounted_application_is_an_endpoint() -> None:
    async def mounted(c: Context, next: Next) -> Response:
        return c.text("other")

    app = Kit().use("/old/*", passing).all("/old/*", attach(mounted, mounted=True))
    assert await asked(app, "/old/x") == ["/old/*", "/old/*"]
    app = Kit().all("/*", attach(mounted, mounted=True)).get("/own", shown)
    assert await asked(app, "/own") == ["/own", "/own"]


class FakeRequest:
    """What the functions ask of a request, by the protocols of kit.interface alone."""

    path = "/acme/users"
    route_index = 1


class FakeContext:
    """What the functions ask of a context."""

    req = FakeRequest()
    matched_routes = (
        RouterRoute("/", "/*", "ALL", passing, takes_next=True),
        RouterRoute("/:tenant", "/:tenant/users", "GET", shown, takes_next=False),
    )


def test_protocols_are_enough() -> None:
    c: Any = FakeContext()
    routes = [*FakeContext.matched_routes]
    assert matched_routes(c) == routes
    assert endpoint(c) is routes[1]
    assert (route_path(c), base_route_path(c), base_path(c)) == (
        "/:tenant/users",
        "/:tenant",
        "/acme",
    )
