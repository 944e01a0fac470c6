# SPDX-License-Identifier: MIT
"""A request that doesn't fit has one status, however it is read, and the document has the same."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

import pydantic
import pytest

from kit import Context, HTTPException, Kit, Response
from kit.interface import RequestValidationError
from kit.openapi import build_document
from kit.router import LinearRouter, PatternRouter, RegExpRouter, TrieRouter
from kit.typed import Depends, Path, typed
from kit.validator import validator


@dataclass
class Params:
    id: int


class Model(pydantic.BaseModel):
    id: int


def in_handler(c: Context) -> Response:
    return c.json(c.req.param("id", int))


@typed
def by_name(id: int) -> int:
    return id


@typed
def by_model(params: Annotated[Params, Path()]) -> int:
    return params.id


def find(id: int) -> int:
    return id


@typed
def in_dependency(found: Annotated[int, Depends(find)]) -> int:
    return found


def validated(c: Context) -> Response:
    return c.json(c.req.valid("param").id)


def raised(c: Context) -> Response:
    error = {"path": "id", "message": "No number", "type": "int_type"}
    raise RequestValidationError("param", [error])  # type: ignore[list-item]


async def in_task_group(c: Context) -> Response:
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.to_thread(c.req.param, "id", int))
    return c.text("")


READ: dict[str, list[Any]] = {
    "c.req.param": [in_handler],
    "@typed": [by_name],
    "@typed with Path()": [by_model],
    "a dependency": [in_dependency],
    "validator": [validator("param", Params), validated],
    "validator of pydantic": [validator("param", Model), validated],
    "raised": [raised],
    "in a task group": [in_task_group],
}


async def status_of(app: Kit, path: str, **options: Any) -> int:
    response = await app.request(path, **options)
    if response.status != 404:
        assert response.headers["content-type"] == "application/problem+json"
        document = await response.json()
        assert document["status"] == response.status
        titles = {400: "Bad Request", 422: "Unprocessable Content"}
        assert document["title"] == titles[response.status]
        assert (document["target"], document["errors"][0]["path"]) == ("param", "id")
    return response.status


@pytest.mark.parametrize("status", [None, 400, 422])
@pytest.mark.parametrize("router", [None, LinearRouter, PatternRouter, RegExpRouter, TrieRouter])
@pytest.mark.parametrize("handlers", READ.values(), ids=READ)
async def test_path_parameters_that_do_not_convert(
    handlers: list[Any], router: Any, status: int | None
) -> None:
    app = Kit(validation_status=status, router=router and router())
    app.get("/books/:id", *handlers)
    assert await status_of(app, "/books/x") == (status or 400)
    head = await app.request("/books/x", method="HEAD")
    assert (head.status, await head.text()) == (status or 400, "")


@pytest.mark.parametrize("handlers", READ.values(), ids=READ)
async def test_a_pattern_that_does_not_match_is_a_404(handlers: list[Any]) -> None:
    app = Kit(validation_status=422).get("/books/:id{[0-9]+}", *handlers)
    assert await status_of(app, "/books/x") == 404


@dataclass
class Query:
    page: int


@typed
def in_query(page: int) -> int:
    return page


@pytest.mark.parametrize(
    ("handlers", "options"),
    [
        ([lambda c: c.json(c.req.query("page", int))], {}),
        ([lambda c: c.json(c.req.queries("page", int))], {}),
        ([lambda c: c.json(c.req.header("x-page", int))], {"headers": {"x-page": "x"}}),
        ([validator("query", Query), lambda c: c.text("")], {}),
        ([validator("json", Query), lambda c: c.text("")], {"method": "POST", "json": {}}),
        ([in_query], {}),
    ],
)
async def test_other_parts(handlers: list[Any], options: dict[str, Any]) -> None:
    app = Kit(validation_status=422).all("/", *handlers)
    assert (await app.request("/?page=x", **options)).status == 422


async def test_apps_within_apps() -> None:
    def made(**options: Any) -> Kit:
        return Kit(**options).get("/:id", in_handler)

    app = made(validation_status=422)
    app.route("/silent", made()).route("/own", made(validation_status=400))
    app.route("/outer", Kit(validation_status=418).route("/inner", made()))
    app.base_path("/below").get("/:id", in_handler)
    app.mount("/mounted", made().fetch)
    found = {
        path: (await app.request(f"{path}/x")).status
        for path in ("", "/silent", "/own", "/outer/inner", "/below", "/mounted")
    }
    assert found == {
        "": 422,
        "/silent": 422,
        "/own": 400,
        "/outer/inner": 418,
        "/below": 422,
        "/mounted": 400,
    }
    document = build_document(app)
    documented = {
        path.removesuffix("/{id}"): [key for key in item["get"]["responses"] if key > "4"]
        for path, item in document["paths"].items()
    }
    del found["/mounted"]
    assert documented == {path: [str(status)] for path, status in found.items()}
    assert app.validation_status == 422
    assert Kit().validation_status == 400
    assert app.base_path("/x").validation_status == 422


class Book(pydantic.BaseModel):
    title: str


@pytest.mark.parametrize("status", [400, 422])
def test_the_document_has_the_status(status: int) -> None:
    app = Kit(validation_status=status)

    @app.post("/typed/:id")
    @typed
    def create(id: int, book: Book) -> None: ...

    app.post("/validated", validator("json", Book), lambda c: c.text(""))
    paths = build_document(app)["paths"]
    responses = paths["/typed/{id}"]["post"]["responses"]
    assert [key for key in responses if key > "4"] == sorted(["415", str(status)])
    schema = {"schema": {"$ref": "#/components/schemas/ValidationProblem"}}
    assert responses[str(status)]["content"] == {"application/problem+json": schema}
    validated = paths["/validated"]["post"]["responses"]
    assert validated[str(status)]["content"]["application/problem+json"] == schema
    assert "400" in validated  # malformed JSON


async def test_on_error_gets_the_status() -> None:
    app = Kit(validation_status=422).get("/:id", in_handler)

    @app.on_error(HTTPException)
    def refused(error: HTTPException, c: Context) -> Response:
        if c.req.query("again"):
            raise error
        return c.text(f"{error.status}", error.status)

    assert (await app.request("/x")).status == 422
    assert (await app.request("/x?again=1")).status == 422


@pytest.mark.parametrize(
    ("status", "error"),
    [("422", TypeError), (True, TypeError), (200, ValueError), (500, ValueError)],
)
def test_statuses_that_are_none(status: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="validation_status"):
        Kit(validation_status=status)
