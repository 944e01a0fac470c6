# SPDX-License-Identifier: MIT
"""What the source of a handler tells: what it raises, which answers it makes, what it reads."""

from __future__ import annotations

import contextlib
import functools
import math
from http import HTTPStatus
from typing import Any

import pytest
from msgspec import Struct
from openapi_spec_validator import validate

from kit import Context, HTTPException, Kit, Response
from kit.interface import ProblemError
from kit.interface.metadata import attach
from kit.openapi import Problem, build_document, describe
from kit.validator import validator

TEAPOT = 418


class Book(Struct):
    title: str


class NotFoundError(ProblemError):
    """There is no such thing."""

    def __init__(self, what: str) -> None:
        super().__init__(404, "Not found", what)


class FarError(NotFoundError):
    """It is too far."""


class GoneError(HTTPException):
    """It was there once."""

    status = 410


@describe(responses={409: Problem})
class ConflictError(HTTPException):
    """It is there already."""


class DynamicError(HTTPException):
    def __init__(self, status: int) -> None:
        super().__init__(status)


class OfBookError(HTTPException):
    def __init__(self, book: int) -> None:
        super().__init__(404 if book else 410)


def find(number: int) -> int:
    if number > 10:
        raise NotFoundError("book")
    return deeper(number)


def deeper(number: int) -> int:
    if number == 2:
        raise HTTPException(TEAPOT, "teapot")
    return endless(number)


def endless(number: int) -> int:
    return find(number - 1) if number else 0


def operation(handler: Any, path: str = "/:id") -> dict[str, Any]:
    app = Kit()
    app.post(path, handler)
    document = build_document(app)
    validate(document)
    (item,) = document["paths"].values()
    return item["post"]  # type: ignore[no-any-return]


def raises(c: Context) -> Response:
    if c.req.query("a"):
        raise HTTPException(404, "No such book")
    if c.req.query("b"):
        raise HTTPException(status=HTTPStatus.FORBIDDEN)
    if c.req.query("c"):
        raise ProblemError(409, "Out of stock", left=3)
    if c.req.query("d"):
        raise GoneError(410)
    if c.req.query("e"):
        raise DynamicError(402)
    if c.req.query("o"):
        raise OfBookError(451)
    if c.req.query("f"):
        raise ValueError
    status = 500
    if c.req.query("g"):
        raise HTTPException(status)
    return c.text("x")


def test_raised_errors() -> None:
    found = operation(raises)["responses"]
    assert {status: each["description"] for status, each in found.items()} == {
        "200": "OK",
        "402": "Payment Required",
        "403": "Forbidden",
        "404": "No such book",
        "409": "Out of stock",
        "410": "It was there once",
    }
    assert [*found["409"]["content"]] == ["application/problem+json"]
    assert "content" not in found["404"]


def raises_classes(c: Context) -> Response:
    if c.req.query("a"):
        raise NotFoundError
    if c.req.query("b"):
        raise ConflictError(409) from None
    raise FarError("x")


def test_classes_that_say_their_status() -> None:
    found = operation(raises_classes)["responses"]
    assert {status: each["description"] for status, each in found.items()} == {
        "404": "There is no such thing",
        "409": "It is there already",
    }
    assert [*found["404"]["content"]] == ["application/problem+json"]
    assert [*found["409"]["content"]] == ["application/problem+json"]


def test_functions_that_are_called() -> None:
    async def handler(c: Context) -> Response:
        return c.json(find(3))

    found = operation(handler)["responses"]
    assert {status: each["description"] for status, each in found.items()} == {
        "200": "OK",
        "404": "There is no such thing",
        "418": "teapot",
    }


def test_functions_that_run_before_the_handler() -> None:
    def handler(c: Context) -> Response:
        return c.json({})

    attach(handler, typed_calls=(find,))
    assert [*operation(handler)["responses"]] == ["200", "404", "418"]


def test_what_is_caught_is_not_raised() -> None:
    def handler(c: Context) -> Response:
        try:
            find(3)
        except HTTPException:
            return c.text("caught")
        try:
            raise HTTPException(451, "seen")
        except ValueError:
            return c.text("not caught")
        try:
            raise HTTPException(452, "passed on")
        except Exception:
            raise

    assert [*operation(handler)["responses"]] == ["200", "451", "452"]


class TakenError(NotFoundError):
    """Somebody has it."""

    def __init__(self) -> None:
        super().__init__("book")


def test_a_class_whose_base_knows_the_status() -> None:
    def handler(c: Context) -> Response:
        raise TakenError

    found = operation(handler)["responses"]
    assert {status: each["description"] for status, each in found.items()} == {
        "404": "Somebody has it"
    }


class LostError(HTTPException):
    """It is lost."""

    status = 410


class OtherError(LostError):
    """It is somewhere else."""

    status = 421


def lose(number: int) -> int:
    if number > 7:
        raise LostError(410)
    return number


def test_a_class_that_is_caught_is_not_raised() -> None:
    def handler(c: Context) -> Response:
        try:
            lose(1)
        except LostError:
            return c.text("caught")
        with contextlib.suppress(LostError):
            raise LostError(410)
        try:
            raise LostError(410)
        except OtherError:
            return c.text("another class")
        except LostError as error:
            if c.req.query("again"):
                raise error
        return c.text("x")

    assert [*operation(handler)["responses"]] == ["200", "410"]

    def without(c: Context) -> Response:
        try:
            lose(1)
        except (ValueError, LostError):
            return c.text("caught")
        with contextlib.suppress(LostError):
            lose(2)
        return c.text("x")

    assert [*operation(without)["responses"]] == ["200"]


def test_the_first_handler_that_fits_counts() -> None:
    def handler(c: Context) -> Response:
        try:
            if c.req.query("a"):
                raise OtherError(421)
            raise LostError(410)
        except OtherError:
            raise
        except HTTPException:
            return c.text("caught")

    assert [*operation(handler)["responses"]] == ["200", "421"]


def test_a_function_that_is_called_within_a_try_and_outside() -> None:
    def handler(c: Context) -> Response:
        try:
            lose(1)
        except LostError:
            lose(2)
        return c.text("x")

    assert [*operation(handler)["responses"]] == ["200", "410"]


def test_what_stands_in_a_try_is_read() -> None:
    async def handler(c: Context) -> Response:
        try:
            page = c.req.query("page", int)
            await c.req.json(Book)
            return c.json({"page": page}, 201)
        except HTTPException:
            return c.json({}, 422)

    found = operation(handler)
    assert [*found["responses"]] == ["201", "422"]
    assert [each["name"] for each in found["parameters"]] == ["id", "page"]
    assert "requestBody" in found


def test_decorators_are_read() -> None:
    def limited(function: Any) -> Any:
        @functools.wraps(function)
        async def wrapper(c: Context) -> Response:
            if c.req.header("x-many", int, default=0):
                raise HTTPException(429, "Too many")
            return await function(c)  # type: ignore[no-any-return]

        return wrapper

    @limited
    @limited
    async def handler(c: Context) -> Response:
        return c.json({}, 201)

    found = operation(handler)
    assert [*found["responses"]] == ["201", "400", "429"]
    assert [each["name"] for each in found["parameters"]] == ["id", "x-many"]


class Reads:
    """Reads a book."""

    def __call__(self, c: Context) -> Response:
        if c.req.query("x"):
            raise HTTPException(410)
        return c.json({}, 202)

    def by_method(self, c: Context) -> Response:
        raise HTTPException(411)


def test_methods_and_objects_that_can_be_called() -> None:
    assert [*operation(Reads())["responses"]] == ["202", "410"]
    assert [*operation(Reads().by_method)["responses"]] == ["411"]


def test_an_error_that_can_not_be_told() -> None:
    def handler(c: Context) -> Response:
        status = 404
        raise HTTPException(status)

    assert operation(handler)["responses"] == {"default": {"description": "Another response"}}


MISSING = object()


def test_defaults_that_json_has_no_form_for() -> None:
    def handler(c: Context) -> Response:
        c.req.query("a", str, default=MISSING)
        c.req.query("b", float, default=math.inf)
        c.req.query("c", int, default=TEAPOT)
        return c.text("x")

    parameters = operation(handler, "/")["parameters"]
    assert [each["schema"].get("default") for each in parameters] == [None, None, TEAPOT]


def test_problems_of_one_status_are_all_told() -> None:
    async def handler(c: Context) -> Response:
        await c.req.json(Book)
        if c.req.query("x"):
            raise ProblemError(400, "Odd")
        raise ProblemError(400, "Even")

    content = operation(handler)["responses"]["400"]["content"]
    assert content["application/problem+json"]["schema"] == {
        "anyOf": [
            {"$ref": "#/components/schemas/ValidationProblem"},
            {"$ref": "#/components/schemas/Problem"},
        ]
    }


def test_functions_within_are_not_run() -> None:
    def handler(c: Context) -> Response:
        def inner() -> None:
            raise HTTPException(404)

        return c.json([inner])

    assert [*operation(handler)["responses"]] == ["200"]


def helper(c: Context) -> Response:
    return c.html("<p>") if c.req.query("x") else c.json({}, status=202)


def answers(c: Context) -> Any:
    if c.req.query("a"):
        return c.json({}, 201)
    if c.req.query("b"):
        return c.body(None, 204)
    if c.req.query("c"):
        return c.redirect("/", 303)
    if c.req.query("d"):
        return c.not_found()
    if c.req.query("e"):
        return helper(c)
    return c.text("x")


def test_answers_of_the_context() -> None:
    found = operation(answers)["responses"]
    assert {status: [*each.get("content", {})] for status, each in found.items()} == {
        "200": ["text/html", "text/plain"],
        "201": ["application/json"],
        "202": ["application/json"],
        "204": [],
        "303": [],
        "404": [],
    }


def test_answers_that_can_not_be_told() -> None:
    def handler(c: Context) -> Response:
        status = 201 if c.req.query("x") else 202
        return c.json({}, status)

    def other(c: Context) -> Any:
        made = c.json({})
        made.headers.set("x-a", "1")
        return made

    assert [*operation(handler)["responses"]] == ["default"]
    assert operation(other)["responses"] == {"200": {"description": "OK"}}


def reads(c: Context) -> Response:
    number = c.req.param("id", int)
    q = c.req.query("q")
    page = c.req.query("page", int, default=1)
    tags = c.req.queries("tag", str)
    trace = c.req.header("X-Trace", type=float)
    name = "dynamic"
    c.req.query(name)
    return c.json([number, q, page, tags, trace])


def test_values_that_are_read_by_name() -> None:
    found = operation(reads)
    assert found["parameters"] == [
        {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}},
        {"name": "q", "in": "query", "schema": {"type": "string"}},
        {"name": "page", "in": "query", "schema": {"type": "integer", "default": 1}},
        {
            "name": "tag",
            "in": "query",
            "style": "form",
            "explode": True,
            "schema": {"type": "array", "items": {"type": "string"}},
        },
        {"name": "X-Trace", "in": "header", "schema": {"type": "number"}},
    ]
    assert [*found["responses"]] == ["200", "400"]
    assert [*found["responses"]["400"]["content"]] == ["application/problem+json"]


async def reads_json(c: Context) -> Response:
    book = await c.req.json(Book)
    return c.json(book)


async def reads_form(c: Context) -> Response:
    return c.json(len(await c.req.form_data()))


def test_bodies_that_are_read() -> None:
    found = operation(reads_json, "/")
    assert found["requestBody"] == {
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Book"}}},
        "required": True,
    }
    assert [*found["responses"]] == ["200", "400"]
    found = operation(reads_form, "/")
    assert [*found["requestBody"]["content"]] == [
        "application/x-www-form-urlencoded",
        "multipart/form-data",
    ]


def test_a_validator_knows_the_body_better() -> None:
    class Other(Struct):
        pages: int

    app = Kit()
    app.post("/", reads_json, use=validator("json", Other))
    document = build_document(app)
    content = document["paths"]["/"]["post"]["requestBody"]["content"]
    assert content["application/json"]["schema"] == {"$ref": "#/components/schemas/Other"}
    assert "Book" not in document["components"]["schemas"]


def test_a_lambda() -> None:
    assert [*operation(lambda c: c.json({}, 201))["responses"]] == ["201"]


def made_by_exec() -> Any:
    names: dict[str, Any] = {"HTTPException": HTTPException}
    exec("def handler(c):\n    raise HTTPException(404)", names)
    return names["handler"]


class Callable:
    def __call__(self, c: Context) -> Response:
        raise HTTPException(404)


@pytest.mark.parametrize("handler", [made_by_exec(), Callable(), Callable().__call__])
def test_missing_source_is_no_failure(handler: Any) -> None:
    assert "200" in operation(handler)["responses"] or "404" in operation(handler)["responses"]


def test_described_result_leaves_other_successes_but_keeps_redirections() -> None:
    app = Kit()

    @app.get("/book")
    @describe(responses={200: str})
    async def book(c: Context) -> Response:
        if c.req.header("if-none-match"):
            return c.body(None, 304, {"etag": '"one"'})
        if c.req.query("moved"):
            return c.redirect("/elsewhere", 301)
        return c.json("book", 203)

    responses = build_document(app)["paths"]["/book"]["get"]["responses"]
    assert [*responses] == ["200", "301", "304"]
    assert "content" not in responses["304"]


async def test_malformed_body_that_a_handler_reads_with_a_type() -> None:
    app = Kit()

    class Item(Struct):
        name: str

    @app.post("/items")
    async def add(c: Context) -> Response:
        return c.json(await c.req.json(Item))

    described = build_document(app)["paths"]["/items"]["post"]["responses"]["400"]["content"]
    assert [*described] == ["application/problem+json", "text/plain"]
    for body in ("{", '{"name": 1}'):
        sent = await app.request(
            "/items", method="POST", body=body, headers={"content-type": "application/json"}
        )
        assert sent.status == 400
        assert (sent.headers.get("content-type") or "").partition(";")[0] in described
