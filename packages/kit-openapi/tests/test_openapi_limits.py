# SPDX-License-Identifier: MIT
"""The 413 of operations that read a body, by limits of the app and by kit-body-limit."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from msgspec import Struct

from kit import Context, Kit, Limits, Response
from kit.body_limit import body_limit
from kit.openapi import build_document, describe
from kit.typed import Body, typed
from kit.validator import validator

TOO_LARGE = "The body is too large"


class Book(Struct):
    title: str


@typed
async def add_book(book: Book) -> Book:
    return book


@typed
async def add_bytes(body: Annotated[bytes, Body()]) -> int:
    return len(body)


async def read_json(c: Context) -> Response:
    return c.json(await c.req.json())


async def read_text(c: Context) -> Response:
    return c.text(await c.req.text())


async def read_form(c: Context) -> Response:
    return c.json([*(await c.req.form_data())])


async def read_nothing(c: Context) -> Response:
    return c.text("x")


@describe(request_body=Book)
async def read_somehow(c: Context) -> Response:
    return c.text("x")


def list_limited(app: Kit) -> dict[str, str]:
    """Returns the description of the 413 of each operation that has one."""
    return {
        f"{method.upper()} {path}": operation["responses"]["413"]["description"]
        for path, item in build_document(app)["paths"].items()
        for method, operation in item.items()
        if "413" in operation["responses"]
    }


def register(app: Kit) -> Kit:
    app.post("/typed", add_book)
    app.post("/bytes", add_bytes)
    app.post("/json", read_json)
    app.post("/text", read_text)
    app.post("/form", read_form)
    app.post("/nothing", read_nothing)
    app.post("/somehow", read_somehow)
    app.post("/validated", read_nothing, use=validator("json", Book))
    app.get("/books", read_nothing)
    return app


READING = ["/typed", "/bytes", "/json", "/text", "/form", "/somehow", "/validated"]


@pytest.mark.parametrize(
    ("limits", "paths"),
    [
        (Limits(), []),
        (Limits(max_body_size_bytes=10), READING),
        (Limits(max_memory_size_bytes=10), READING),
        (Limits(max_memory_size_bytes=None), []),
        (Limits(max_files=1), ["/form"]),
        (Limits(max_header_size_bytes=10), []),
    ],
)
def test_limits_of_the_app(limits: Limits, paths: list[str]) -> None:
    found = list_limited(register(Kit(limits=limits)))
    assert found == {f"POST {path}": TOO_LARGE for path in paths}


def test_limits_of_an_inner_app_are_for_its_routes() -> None:
    app = Kit()
    app.route("/inner", Kit(limits=Limits(max_body_size_bytes=10)).post("/", read_json))
    app.post("/outer", read_json)
    assert list_limited(app) == {"POST /inner": TOO_LARGE}


def test_limits_of_a_form() -> None:
    async def read(c: Context) -> Response:
        return c.json([*(await c.req.parse_body(max_files=1))])

    assert list_limited(Kit().post("/", read)) == {"POST /": TOO_LARGE}


def test_kit_body_limit_is_documented_where_requests_have_bodies() -> None:
    app = Kit()
    app.use(body_limit(10))
    register(app)
    app.delete("/books", read_json)
    app.delete("/others", read_nothing)
    posts = [f"POST {path}" for path in [*READING, "/nothing"]]
    assert list_limited(app) == dict.fromkeys([*posts, "DELETE /books"], TOO_LARGE)


def test_both_limits_are_one_response() -> None:
    app = Kit(limits=Limits(max_body_size_bytes=100))
    app.post("/", read_json, use=body_limit(10))
    assert list_limited(app) == {"POST /": TOO_LARGE}


async def test_the_documented_response_is_sent() -> None:
    app: Kit[Any, Any] = register(Kit(limits=Limits(max_body_size_bytes=10)))
    for path in list_limited(app):
        method, _, path = path.partition(" ")
        response = await app.request(path, method=method, body="x" * 11)
        assert response.status == 413


def test_limits_are_listed_for_tools() -> None:
    inner = Kit(limits=Limits(max_body_size_bytes=5, max_files=3)).post("/", read_json)
    outer = Kit(limits=Limits(max_body_size_bytes=10, max_memory_size_bytes=None))
    outer.route("/inner", inner)
    assert outer.body_limits == {"max_body_size_bytes": 10}
    (route,) = outer.routes
    assert route.body_limits == {"max_body_size_bytes": 5, "max_files": 3}
    assert Kit().body_limits == {}
