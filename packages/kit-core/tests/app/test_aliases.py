# SPDX-License-Identifier: MIT
"""`c.json` of pydantic models: by their aliases, or by their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from kit import Context, Kit, Response

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")


class Chapter(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    page_count: int = pydantic.Field(serialization_alias="pageCount")


class Book(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    model_config = pydantic.ConfigDict(populate_by_name=True)

    name: str = pydantic.Field(alias="Name")
    chapters: list[Chapter] = []  # noqa: RUF012 - as users write it


class Configured(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    model_config = pydantic.ConfigDict(serialize_by_alias=True)

    name: str = pydantic.Field(serialization_alias="Name")


@dataclass
class Shelf:
    books: list[Any]


def book() -> Any:
    return Book(name="Dune", chapters=[Chapter(page_count=8)])


BY_ALIAS = '{"Name":"Dune","chapters":[{"pageCount":8}]}'
BY_NAME = '{"name":"Dune","chapters":[{"page_count":8}]}'


async def encoded(value: Any, **options: Any) -> str:
    app = Kit().get("/", lambda c: c.json(value, **options))
    response = await app.request("/")
    assert response.headers["content-type"] == "application/json"
    return await response.text()


@pytest.mark.parametrize(
    ("wrap", "around"),
    [
        (lambda value: value, "{}"),
        (lambda value: [value, 1], "[{},1]"),
        (lambda value: {"a": {"b": (value,)}}, '{{"a":{{"b":[{}]}}}}'),
        (lambda value: Shelf([value]), '{{"books":[{}]}}'),
    ],
)
async def test_aliases_are_chosen(wrap: Any, around: str) -> None:
    value = wrap(book())
    assert await encoded(value) == around.format(BY_NAME)
    assert await encoded(value, by_alias=None) == around.format(BY_NAME)
    assert await encoded(value, by_alias=False) == around.format(BY_NAME)
    assert await encoded(value, by_alias=True) == around.format(BY_ALIAS)


async def test_the_default_is_the_configuration_of_each_model() -> None:
    value = [Configured(name="a"), book()]
    assert await encoded(value) == '[{"Name":"a"},' + BY_NAME + "]"
    assert await encoded(value, by_alias=True) == '[{"Name":"a"},' + BY_ALIAS + "]"
    assert await encoded(value, by_alias=False) == '[{"name":"a"},' + BY_NAME + "]"


async def test_all_other_values_are_as_without() -> None:
    value = {"a": [1, None, "é"], "b": Shelf([])}
    assert await encoded(value, by_alias=True) == await encoded(value)


async def test_with_status_and_headers() -> None:
    app = Kit()

    @app.get("/")
    def handler(c: Context) -> Response:
        c.header("x-a", "1")
        return c.json(book(), 201, {"x-b": "2"}, by_alias=True)

    response = await app.request("/")
    assert (response.status, await response.text()) == (201, BY_ALIAS)
    assert (response.headers["x-a"], response.headers["x-b"]) == ("1", "2")


@pytest.mark.parametrize("by_alias", [None, True, False])
async def test_what_cannot_be_encoded(by_alias: bool | None) -> None:
    app = Kit()
    seen: list[Exception] = []

    @app.on_error()
    def on_error(error: Exception, c: Context) -> Response:
        seen.append(error)
        return c.text("", 500)

    app.get("/", lambda c: c.json([book(), {"a": object}], by_alias=by_alias))
    assert (await app.request("/")).status == 500
    assert [str(each) for each in seen] == [
        "Can't encode type as JSON, at $[1]['a']: <class 'object'>"
    ]
