# SPDX-License-Identifier: MIT
"""What a validator tells of itself, for tools such as OpenAPI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_type_hints

import pytest

from kit import Context, Kit, Response
from kit.interface import Problem
from kit.interface.metadata import attach, get_facts
from kit.validator import FieldError, ValidationProblem, validator


@dataclass
class Book:
    title: str


@pytest.mark.parametrize("target", ["json", "form", "query", "param", "header", "cookie"])
@pytest.mark.parametrize("kind", [Book, dict[str, int]])
def test_the_type_of_the_part_and_the_answer(target: Any, kind: Any) -> None:
    facts = get_facts(validator(target, kind))
    assert facts.validates == {target: kind}
    of_bodies = {415: Problem} if target in ("json", "form") else {}
    assert facts.responses == {400: ValidationProblem, **of_bodies}
    assert (facts.provides, facts.security, facts.describes, facts.others) == ({}, (), {}, {})


def test_a_type_with_none_says_whether_there_must_be_a_body() -> None:
    assert get_facts(validator("json", Book | None)).body_required is True
    assert get_facts(validator("json", dict[str, int] | None)).body_required is False
    for other in (validator("json", Book), validator("query", Book | None)):
        assert get_facts(other).body_required is None  # the type says it


def test_functions_tell_what_they_carry() -> None:
    def check(value: Any, c: Context) -> Any:
        return value

    facts = get_facts(validator("query", check))
    assert (facts.validates, facts.responses) == ({"query": Any}, {})
    attach(check, validates={"query": Book}, responses={403: "Not you"})
    facts = get_facts(validator("query", check))
    assert (facts.validates, facts.responses) == ({"query": Book}, {403: "Not you"})


async def test_facts_are_read_from_the_routes() -> None:
    app = Kit()

    @app.post("/books/:id", use=[validator("json", Book), validator("param", dict[str, int])])
    def create(c: Context) -> Response:
        return c.json(c.req.valid("json", Book), 201)

    found = [get_facts(route.handler).validates for route in app.routes]
    assert found == [{"json": Book}, {"param": dict[str, int]}, {}]


async def test_the_document_is_of_its_type() -> None:
    app = Kit().post("/", validator("json", Book), lambda c: c.text(""))
    response = await app.request("/", method="POST", json={"title": 1})
    document: ValidationProblem = await response.json()
    assert document == {
        "title": "Bad Request",
        "status": 400,
        "detail": "The JSON body is invalid",
        "target": "json",
        "errors": [
            {"path": "title", "message": "Expected `str`, got `int`", "type": "string_type"}
        ],
    }
    assert list(get_type_hints(ValidationProblem)) == list(document)
    assert list(get_type_hints(FieldError)) == [*document["errors"][0], "ctx", "target"]
