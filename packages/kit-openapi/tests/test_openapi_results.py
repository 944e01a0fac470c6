# SPDX-License-Identifier: MIT
"""The responses of typed endpoints: declared results, and what the source shows beside them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Struct

from kit import Context, HTTPException, Kit, Response
from kit.openapi import build_document
from kit.typed import typed

BOOK = {"application/json": {"schema": {"$ref": "#/components/schemas/Book"}}}


class Book(Struct):
    title: str


book = Book("Emma")


async def not_modified(c: Context) -> Book | Response:
    if c.req.header("if-none-match"):
        return c.body(None, 304)
    return book


async def accepted(c: Context) -> Book | Response:
    return c.json(book, 202)


async def status_before(c: Context) -> Book:
    c.status(202)
    return book


async def status_in_a_branch(c: Context) -> Book:
    if c.req.query("later"):
        c.status(202)
    return book


async def one_or_the_other(c: Context) -> Book | Response:
    return c.text("no", 409) if c.req.query("no") else book


async def nothing(c: Context) -> Book | None:
    if c.req.query("none"):
        c.status(202)
        return None
    return book


async def response_alone(c: Context) -> Response:
    return c.json({}, 203)


async def response_or_nothing(c: Context) -> Response | None:
    return c.text("x") if c.req.query("x") else None


def find() -> Book | None:
    return book


async def from_a_function(c: Context) -> Book | Response | None:
    c.status(201)
    if c.req.query("moved"):
        return c.redirect("/")
    return find()


async def refusing(c: Context) -> Book | Response:
    if c.req.query("gone"):
        raise HTTPException(410, "It is gone")
    if c.req.query("no"):
        return c.json({"error": "no"}, 404)
    return book


CASES: list[tuple[Any, dict[str, Any]]] = [
    (not_modified, {"200": BOOK, "304": None}),
    (accepted, {"202": BOOK}),
    (status_before, {"202": BOOK}),
    (status_in_a_branch, {"200": BOOK, "202": BOOK}),
    (one_or_the_other, {"200": BOOK, "409": {"text/plain": {}}}),
    (nothing, {"200": BOOK, "204": None}),
    (response_alone, {"203": {"application/json": {}}}),
    (response_or_nothing, {"200": {"text/plain": {}}, "204": None}),
    (from_a_function, {"201": BOOK, "204": None, "302": None}),
    (refusing, {"200": BOOK, "404": {"application/json": {}}, "410": None}),
]


def list_contents(app: Kit) -> dict[str, Any]:
    (item,) = build_document(app)["paths"].values()
    return {status: each.get("content") for status, each in item["get"]["responses"].items()}


@pytest.mark.parametrize(("function", "expected"), CASES, ids=[each.__name__ for each, _ in CASES])
def test_statuses_of_typed_endpoints(function: Any, expected: dict[str, Any]) -> None:
    app = Kit()
    app.get("/", typed(function))
    assert list_contents(app) == expected


def test_a_status_of_typed_is_that_of_results_whatever_the_context_has() -> None:
    app = Kit()

    @app.get("/")
    @typed(status=200)
    async def read(c: Context) -> Book | Response:
        c.status(202)
        return c.json(book) if c.req.query("c") else book

    assert list_contents(app) == {"200": BOOK, "202": {"application/json": {}}}


@pytest.mark.parametrize("query", ["", "?later=1"])
async def test_the_documented_statuses_are_sent(query: str) -> None:
    app = Kit()
    app.get("/", typed(status_in_a_branch))
    response = await app.request(f"/{query}")
    assert str(response.status) in list_contents(app)
