# SPDX-License-Identifier: MIT
"""Schemas of classes that an app encodes and decodes with functions of its own."""

from __future__ import annotations

import ipaddress
import pathlib
from collections import deque
from collections.abc import AsyncIterator
from typing import Annotated, Any

import pydantic
import pytest
from msgspec import Meta, Struct
from openapi_spec_validator import validate

from kit import Kit
from kit.openapi import build_document, describe
from kit.typed import Depends, Partial, Query, typed
from kit.validator import validator


class ObjectId:
    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


class Derived(ObjectId): ...


class Money:
    def __init__(self, cents: int) -> None:
        self.cents = cents


class Amount(Struct):
    cents: int
    account: ObjectId


class Book(Struct):
    id: ObjectId
    price: Money
    parent: Derived | None = None


class Host(Struct):
    address: ipaddress.IPv4Address
    folder: pathlib.PurePosixPath


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
    id: ObjectId


FIRST = ObjectId("0001")

Id = Annotated[str, Meta(pattern="^[0-9a-f]{4}$", extra_json_schema={"format": "objectid"})]
ID = {"type": "string", "pattern": "^[0-9a-f]{4}$", "format": "objectid"}


def encode_id(value: ObjectId) -> Id:
    return value.text


def decode_id(text: Id) -> ObjectId:
    return ObjectId(text)


def encode_money(value: Money) -> Amount:
    return Amount(value.cents, ObjectId("0001"))


def decode_money(cents: Annotated[int, Meta(ge=0)]) -> Money:
    return Money(cents)


class Node(Struct):
    inner: Money | None


def encode_node(value: Money) -> Node:
    raise AssertionError


def build(app: Kit) -> tuple[Any, Any]:
    document = build_document(app)
    validate(document)
    return document["paths"], document.get("components", {}).get("schemas", {})


def make_app() -> Kit:
    return Kit(
        encoders={ObjectId: encode_id, Money: encode_money},
        decoders={ObjectId: decode_id, Money: decode_money, Derived: Derived},
    )


def test_classes_as_they_are_sent_and_received() -> None:
    app = make_app()

    @app.post("/:id")
    @typed
    async def create(id: ObjectId, book: Book, price: Money) -> Book:
        raise AssertionError

    paths, schemas = build(app)
    operation = paths["/{id}"]["post"]
    parameters = {each["name"]: each["schema"] for each in operation["parameters"]}
    assert parameters["id"] == ID
    assert parameters["price"] == {"type": "integer", "minimum": 0}
    received = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    sent = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
    (received, sent) = (each.rpartition("/")[2] for each in (received, sent))
    assert received != sent
    assert schemas[sent]["properties"] == {
        "id": ID,
        "price": {"$ref": "#/components/schemas/Amount"},
        "parent": {"anyOf": [ID, {"type": "null"}]},
    }
    assert schemas[received]["properties"] == {
        "id": ID,
        "price": {"type": "integer", "minimum": 0},
        "parent": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    }
    assert schemas["Amount"]["properties"]["account"] == ID


def test_one_schema_if_both_forms_are_the_same() -> None:
    class Held(Struct):
        id: ObjectId

    app = Kit(encoders={ObjectId: str}, decoders={ObjectId: ObjectId})
    app.post("/", lambda c: c.text(""), use=validator("json", Held))

    @app.get("/")
    @typed
    async def read(
        at: Annotated[ObjectId, Query(description="Where.")] = FIRST,
    ) -> list[Held]:
        raise AssertionError

    paths, schemas = build(app)
    assert schemas["Held"]["properties"] == {"id": {"type": "string"}}
    assert [*schemas] == ["FieldError", "Held", "Problem", "ValidationProblem"]
    (parameter,) = paths["/"]["get"]["parameters"]
    assert parameter["schema"] == {"type": "string"}


def test_fields_of_pydantic_models_and_described_types() -> None:
    app = make_app()
    described = describe(responses={200: Model, 201: list[ObjectId]}, request_body=Derived)
    app.post("/", described(lambda c: c.json({})))
    paths, schemas = build(app)
    operation = paths["/"]["post"]
    assert schemas["Model"]["properties"]["id"] == {**ID, "title": "Id"}
    content = operation["responses"]["201"]["content"]["application/json"]
    assert content["schema"] == {"type": "array", "items": ID}
    body = operation["requestBody"]["content"]["application/json"]
    assert body["schema"] == {"type": "string"}


def test_encoders_that_declare_nothing() -> None:
    class Held(Struct):
        id: ObjectId
        other: int

    app = Kit(encoders={ObjectId: lambda value: value.text})
    app.get("/", describe(responses={200: Held})(lambda c: c.json({})))
    _, schemas = build(app)
    assert schemas["Held"]["properties"] == {
        "id": {"title": "ObjectId"},
        "other": {"type": "integer"},
    }


def test_built_in_encoders() -> None:
    app = Kit().get("/", describe(responses={200: Host})(lambda c: c.json({})))
    _, schemas = build(app)
    assert schemas["Host"]["properties"] == {
        "address": {"type": "string", "format": "ipv4"},
        "folder": {"type": "string", "format": "path"},
    }


def test_an_encoder_that_returns_what_contains_the_class() -> None:
    app = Kit(encoders={Money: encode_node})
    app.get("/", describe(responses={200: list[Money]})(lambda c: c.json({})))
    paths, schemas = build(app)
    schema = paths["/"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert schema["items"] == {"$ref": "#/components/schemas/Node"}
    assert schemas["Node"]["properties"]["inner"]["anyOf"][0] == schema["items"]


def test_described_types_without_an_encoder_are_refused() -> None:
    app = Kit().get("/", describe(responses={200: Amount})(lambda c: c.json({})))
    with pytest.raises(TypeError, match="isn't a type of data"):
        build_document(app)


def test_validators_without_a_decoder_are_refused() -> None:
    app = Kit().post("/", lambda c: c.text(""), use=validator("json", Amount))
    with pytest.raises(TypeError, match="neither msgspec nor pydantic can describe"):
        build_document(app)


def test_examples_and_defaults_are_encoded() -> None:
    app = make_app()
    schema = {"type": "string", "examples": [ObjectId("0001")]}
    response = {"description": "x", "content": {"application/json": {"schema": schema}}}
    app.get("/", describe(responses={200: response})(lambda c: c.json({})))
    paths, _ = build(app)
    content = paths["/"]["get"]["responses"]["200"]["content"]["application/json"]
    assert content["schema"]["examples"] == ["0001"]


def test_typed_endpoints_of_all_kinds() -> None:
    def check(id: ObjectId) -> bool:
        return id is FIRST

    app = Kit(encoders={ObjectId: str}, decoders={ObjectId: ObjectId})

    @app.get("/read/:id", use=Depends(check))
    @typed
    def read(id: ObjectId, other: ObjectId | int, at: ipaddress.IPv4Address) -> ObjectId:
        raise AssertionError

    @app.get("/stream")
    @typed
    async def stream() -> AsyncIterator[ObjectId]:
        yield FIRST

    @app.patch("/change")
    @typed
    def change(changes: Partial[Host]) -> list[Host]:
        raise AssertionError

    @app.get("/queue")
    @typed
    def read_queue() -> deque[ObjectId]:
        raise AssertionError

    paths, schemas = build(app)
    queue = content(paths["/queue"]["get"]["responses"]["200"])
    assert queue == {"type": "array", "items": {"type": "string"}}
    operation = paths["/read/{id}"]["get"]
    id_, other, at = (each["schema"] for each in operation["parameters"])
    assert id_ == {"type": "string", "minLength": 1}
    assert other == {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    assert at == {"type": "string", "format": "ipv4"}
    assert content(operation["responses"]["200"]) == {"type": "string"}
    assert operation["responses"]["403"]
    lines = paths["/stream"]["get"]["responses"]["200"]["content"]["application/jsonl"]
    assert lines["x-itemSchema"] == {"type": "string"}
    assert schemas["HostPatch"]["properties"] == {
        "address": {"type": "string", "format": "ipv4"},
        "folder": {"type": "string", "format": "path"},
    }
    assert schemas["Host"]["properties"] == schemas["HostPatch"]["properties"]


def content(response: Any) -> Any:
    return response["content"]["application/json"]["schema"]
