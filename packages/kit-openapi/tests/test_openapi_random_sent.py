# SPDX-License-Identifier: MIT
"""Random classes in each other: what an app sends fits its document, which has each class once."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import decimal
import enum
import re
from itertools import count
from typing import Any

import jsonschema
import msgspec
import pydantic
from hypothesis import given, settings
from hypothesis import strategies as st
from openapi_spec_validator import validate

from kit import Context, Kit, Response
from kit.openapi import build_document, describe, find_operations

FORMATS = jsonschema.Draft202012Validator.FORMAT_CHECKER
NAME = re.compile(r"Class\d+(-Input|-Output)?|Color")
_numbers = count()


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


def pair(kind: Any, *values: Any) -> st.SearchStrategy[Any]:
    """A type, with a strategy for its values."""
    return st.just((kind, st.sampled_from(values)))


SCALARS = st.one_of(
    pair(int, 0, -3),
    pair(str, "", "a"),
    pair(bool, True, False),
    pair(Color, Color.RED, Color.BLUE),
    pair(datetime.date, datetime.date(2026, 1, 2)),
    pair(decimal.Decimal, decimal.Decimal("1.50")),
    pair(int | None, 1, None),
)


def defaulted(make: Any) -> Any:
    """A field of a Struct, which omits plain defaults."""
    value = make()
    is_plain = value is None or isinstance(value, (int, str, enum.Enum))
    return msgspec.field(default=value) if is_plain else msgspec.field(default_factory=make)


def struct(name: str, fields: list[Any], **options: Any) -> Any:
    described = [
        (key, kind) if default is ... else (key, kind, defaulted(default))
        for key, kind, default in fields
    ]
    return msgspec.defstruct(name, described, kw_only=True, tag=True, **options)


def omitting_struct(name: str, fields: list[Any]) -> Any:
    return struct(name, fields, omit_defaults=True)


def dataclass(name: str, fields: list[Any]) -> Any:
    described = [
        (key, kind) if default is ... else (key, kind, dataclasses.field(default_factory=default))
        for key, kind, default in fields
    ]
    return dataclasses.make_dataclass(name, described, kw_only=True)


def model(name: str, fields: list[Any]) -> Any:
    described: dict[str, Any] = {
        key: (kind, ...) if default is ... else (kind, pydantic.Field(default_factory=default))
        for key, kind, default in fields
    }
    return pydantic.create_model(name, **described)


@st.composite
def objects(draw: Any, inner: Any, makers: Any) -> Any:
    """A class, with a strategy for instances; fields with a default aren't always given."""
    fields: list[Any] = []
    required: dict[str, Any] = {}
    optional: dict[str, Any] = {}
    for key in draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True)):
        kind, values = draw(inner)
        if draw(st.booleans()):
            value = draw(values)
            fields.append((key, kind, lambda value=value: value))
            optional[key] = values
        else:
            fields.append((key, kind, ...))
            required[key] = values
    made = draw(st.sampled_from(makers))(f"Class{next(_numbers)}", fields)
    given = st.fixed_dictionaries(required) | st.fixed_dictionaries(required, optional=optional)
    return made, given.map(lambda each: made(**each))


@st.composite
def containers(draw: Any, inner: Any) -> Any:
    kind, values = draw(inner)
    return draw(
        st.sampled_from(
            [
                (list[kind], st.lists(values, max_size=2)),
                (dict[str, kind], st.dictionaries(st.sampled_from("xy"), values)),
                (tuple[kind, int], st.tuples(values, st.just(1))),
                (kind | None, values | st.none()),
            ]
        )
    )


# Pydantic knows dataclasses, but no Structs.
OF_PYDANTIC = st.recursive(
    SCALARS,
    lambda inner: containers(inner) | objects(inner, (model, dataclass)),
    max_leaves=4,
)
MODELS = objects(OF_PYDANTIC, (model,))


@st.composite
def unions(draw: Any, inner: Any) -> Any:
    """A model or a Struct, or None."""
    one, ones = draw(MODELS)
    other, others = draw(objects(inner, (struct, omitting_struct)))
    return one | other | None, ones | others | st.none()


INNER = st.recursive(
    OF_PYDANTIC | MODELS,
    lambda inner: st.one_of(
        containers(inner),
        objects(inner, (struct, omitting_struct, dataclass)),
        unions(inner),
    ),
    max_leaves=3,
)


SENT = unions(INNER) | objects(INNER, (struct, omitting_struct, dataclass)) | MODELS


def iterate_references(value: Any) -> Any:
    if isinstance(value, dict):
        for key, each in value.items():
            if key == "$ref":
                yield each
            else:
                yield from iterate_references(each)
    elif isinstance(value, list):
        for each in value:
            yield from iterate_references(each)


async def received(c: Context) -> Response:
    return c.body(None, 204)


@settings(max_examples=30)
@given(SENT, st.booleans(), st.booleans(), st.data())
def test_what_is_sent(pair: Any, separate: bool, is_received: bool, data: st.DataObject) -> None:
    kind, values = pair
    value = data.draw(values)
    app = Kit()

    @app.get("/")
    @describe(responses={200: kind})
    async def send(c: Context) -> Response:
        return c.json(value)

    if is_received:
        app.post("/", describe(request_body=kind)(received))
    assert find_operations(app).notes == []
    document = build_document(app, separate_input_output=separate)
    validate(document)
    schemas = document.get("components", {}).get("schemas", {})
    for reference in iterate_references(document):
        assert reference.removeprefix("#/components/schemas/") in schemas
    # Each class has another name, so that a number would stand for the same class again.
    assert all(NAME.fullmatch(name) for name in schemas), [*schemas]
    titles = [each.get("title") for each in schemas.values()]
    assert len({*titles}) == len(titles)

    content = document["paths"]["/"]["get"]["responses"]["200"]["content"]
    whole = {"allOf": [content["application/json"]["schema"]], "components": {"schemas": schemas}}

    async def sent() -> Any:
        return await (await app.request("/")).json()

    validator = jsonschema.Draft202012Validator(whole, format_checker=FORMATS)
    validator.validate(asyncio.run(sent()))
