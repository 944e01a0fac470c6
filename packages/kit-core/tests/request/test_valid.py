# SPDX-License-Identifier: MIT
"""`valid`, `add_validated_data`, and the deprecated members of KitRequest."""

from __future__ import annotations

from typing import Any

import pytest

from kit import Context, Kit, KitRequest, Request
from kit.interface import Next

TARGETS = ("json", "form", "query", "param", "header", "cookie")


@pytest.mark.parametrize("target", TARGETS)
def test_each_target_has_its_own_data(target: Any) -> None:
    req = KitRequest(Request("http://localhost/"))
    assert req.valid(target) is None
    req.add_validated_data(target, {"a": 1})
    for other in TARGETS:
        assert req.valid(other) == ({"a": 1} if other == target else None)  # type: ignore[arg-type]
    req.add_validated_data(target, None)
    assert req.valid(target) is None


@pytest.mark.parametrize("target", ["body", "", None, 1])
def test_unknown_target(target: Any) -> None:
    req = KitRequest(Request("http://localhost/"))
    message = "expected one of json, form, query, param, header, cookie"
    with pytest.raises(ValueError, match=message):
        req.valid(target)
    with pytest.raises(ValueError, match=message):
        req.add_validated_data(target, {})


async def test_data_goes_from_middleware_to_handler() -> None:
    app = Kit()

    @app.use("/a")
    async def validate(c: Context, next: Next) -> None:
        c.req.add_validated_data("query", {"page": int(c.req.query("page") or 1)})
        await next()

    @app.get("/a")
    async def read(c: Context) -> Any:
        return c.json(c.req.valid("query"))

    assert await (await app.request("/a?page=3")).json() == {"page": 3}


async def test_deprecated_members_work_and_warn() -> None:
    app = Kit()

    @app.use("*")
    async def pass_on(c: Context, next: Next) -> None:
        await next()

    @app.get("/users/:id")
    async def read(c: Context) -> Any:
        with pytest.warns(
            DeprecationWarning, match=r"use kit\.route\.matched_routes\(c\)"
        ) as first:
            routes = c.req.matched_routes
        with pytest.warns(DeprecationWarning, match=r"use kit\.route\.route_path\(c\)") as second:
            path = c.req.route_path
        assert {first[0].filename, second[0].filename} == {__file__}
        return c.json({"routes": [route.path for route in routes], "path": path})

    found = await (await app.request("/users/1")).json()
    assert found == {"routes": ["/*", "/users/:id"], "path": "/users/:id"}


def test_deprecated_members_without_an_app() -> None:
    req = KitRequest(Request("http://localhost/"))
    with pytest.warns(DeprecationWarning, match="matched_routes"):
        assert req.matched_routes == []
    with pytest.warns(DeprecationWarning, match="route_path"):
        assert req.route_path == ""
