# SPDX-License-Identifier: MIT
"""The app with every feature does what its document says, before other programs read it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import every_feature_app
import httpx
import pytest
from every_feature_requests import REQUESTS, Asked
from jsonschema import Draft202012Validator, FormatChecker
from openapi_spec_validator import validate

from kit.openapi import find_operations

pytestmark = pytest.mark.once


async def read_document() -> dict[str, Any]:
    """Returns the document as the app serves it."""
    response = await every_feature_app.app.request("/openapi.json")
    document: dict[str, Any] = await response.json()
    return document


DOCUMENT = asyncio.run(read_document())


def find_operation(asked: Asked) -> tuple[str, dict[str, Any]]:
    """Returns the id and the Operation Object for a request, by its path."""
    parts = asked.path.partition("?")[0].split("/")
    for path, methods in DOCUMENT["paths"].items():
        places = path.split("/")
        fits = len(places) == len(parts) and all(
            place.startswith("{") or place == part
            for place, part in zip(places, parts, strict=True)
        )
        if fits and asked.method.lower() in methods:
            operation = methods[asked.method.lower()]
            return operation["operationId"], operation
    raise AssertionError(f"{asked} is not in the document")


def iterate_references(value: Any) -> Iterator[str]:
    """Yields all references in a part of the document."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from iterate_references(each)


def test_document_is_valid_and_leaves_out_nothing_but_query() -> None:
    validate(DOCUMENT)
    # It is asked for without the options that the app passes to `openapi`, such as its schemes.
    notes = find_operations(every_feature_app.app).notes
    assert [each for each in notes if "QUERY" not in each and "security_schemes" not in each] == []
    kept = {f"#/components/schemas/{name}" for name in DOCUMENT["components"]["schemas"]}
    assert set(iterate_references(DOCUMENT)) == kept


def test_each_operation_has_a_request() -> None:
    asked = {find_operation(each)[0] for each in REQUESTS}
    documented = {
        operation["operationId"]
        for methods in DOCUMENT["paths"].values()
        for method, operation in methods.items()
        if not method.startswith("x-")  # QUERY, an extension in OpenAPI 3.1
    }
    assert documented - asked == set()


@pytest.mark.parametrize("asked", REQUESTS, ids=lambda asked: f"{asked.method} {asked.path}")
async def test_answer_fits_the_document(asked: Asked) -> None:
    transport = httpx.ASGITransport(app=every_feature_app.app)  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://kit.example") as client:
        response = await client.request(asked.method, asked.path, **asked.options)
    assert response.status_code == asked.status, response.text
    _, operation = find_operation(asked)
    described = operation["responses"][str(asked.status)]
    media_type = response.headers.get("content-type", "").partition(";")[0]
    if asked.status in (204, 302, 304):
        assert "content" not in described
        assert not response.content
    elif media_type.endswith("json") and "schema" in described["content"][media_type]:
        schema = {**described["content"][media_type]["schema"], "components": components()}
        Draft202012Validator(schema, format_checker=FormatChecker()).validate(response.json())
    else:
        assert media_type in described["content"]


def components() -> dict[str, Any]:
    """Returns the schemas, where references find them."""
    return {"schemas": DOCUMENT["components"]["schemas"]}
