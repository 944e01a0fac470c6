# SPDX-License-Identifier: MIT
"""Types as parameters, bodies and components."""

from __future__ import annotations

import datetime
import decimal
import enum
import math
import uuid
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, TypedDict, TypeVar

import attrs
import pydantic
import pytest
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec import field as struct_field
from openapi_spec_validator import validate

from kit import Context, File, Kit, Response, interface
from kit.openapi import build_document, describe
from kit.typed import Query as InQuery
from kit.typed import typed
from kit.validator import validator

T = TypeVar("T")
REF = "#/components/schemas/"


async def handler(c: Context) -> Response:
    return c.json({})


def build(*use: Any, path: str = "/", response: Any = None) -> tuple[dict[str, Any], Any]:
    """The operation of a route with validators, and the schemas of the document."""
    app = Kit()
    wrapped = describe(responses={200: response})(lambda c: c.json({})) if response else handler
    app.post(path, wrapped, use=[*use])
    document = build_document(app)
    validate(document)
    (item,) = document["paths"].values()
    return item["post"], document.get("components", {}).get("schemas", {})


def body(operation: dict[str, Any], media_type: str = "application/json") -> Any:
    return operation["requestBody"]["content"][media_type]["schema"]


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Circle(Struct, tag="circle"):
    radius: int


class Square(Struct, tag="square"):
    side: int


class Tree(Struct):
    children: list[Tree] = []


class Page(Struct, Generic[T]):
    items: list[T]


@dataclass
class Person:
    """Somebody.

    Attributes:
        name: What they are called.
    """

    name: str
    friends: list[Person] = field(default_factory=list)


class Address(TypedDict):
    street: str
    number: NotRequired[int]


@attrs.define
class Point:
    x: int
    y: int = 0


class Item(pydantic.BaseModel):
    name: str = pydantic.Field(min_length=1, alias="item-name", examples=["Lamp"])
    count: int = 1


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (int, {"type": "integer"}),
        (
            Annotated[int, Meta(ge=1, lt=9)],
            {"type": "integer", "minimum": 1, "exclusiveMaximum": 9},
        ),
        (str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (Literal["b", "a"], {"type": "string", "enum": ["a", "b"]}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (datetime.date, {"type": "string", "format": "date"}),
        (Annotated[datetime.datetime, Meta(tz=True)], {"type": "string", "format": "date-time"}),
        (uuid.UUID, {"type": "string", "format": "uuid"}),
        (bytes, {"type": "string", "contentEncoding": "base64"}),
        (Any, {}),
        (Color, {"$ref": f"{REF}Color"}),
        (Page[Circle], {"$ref": f"{REF}Page_Circle"}),
        (Person, {"$ref": f"{REF}Person"}),
        (Address, {"$ref": f"{REF}Address"}),
        (Point, {"$ref": f"{REF}Point"}),
        (Item, {"$ref": f"{REF}Item"}),
        (list[Item], {"type": "array", "items": {"$ref": f"{REF}Item"}}),
    ],
)
def test_bodies(kind: Any, schema: Any) -> None:
    operation, _ = build(validator("json", kind))
    assert body(operation) == schema


def test_decimals_are_taken_as_text_or_number_and_sent_as_text() -> None:
    operation, _ = build(validator("json", decimal.Decimal))
    schema = body(operation)
    assert (schema["type"], schema["format"]) == (["string", "number"], "decimal")
    assert schema["pattern"] == r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$"


class Dated(Struct):
    at: datetime.datetime
    naive: Annotated[datetime.datetime, Meta(tz=False)]
    maybe: datetime.time | None = None
    many: list[datetime.datetime] = []
    by_name: dict[str, datetime.datetime] = {}
    pair: tuple[int, datetime.datetime] | None = None
    inner: Circle | Square | datetime.datetime | None = None
    other: Dated | None = None


def test_times_have_their_format() -> None:
    _, schemas = build(validator("json", Dated))
    fields = schemas["Dated"]["properties"]
    moment = {"type": "string", "format": "date-time"}
    assert fields["at"] == moment
    assert fields["naive"] == {"type": "string"}
    assert fields["maybe"]["anyOf"][0] == {"type": "string", "format": "time"}
    assert fields["many"]["items"] == moment
    assert fields["by_name"]["additionalProperties"] == moment
    assert fields["pair"]["anyOf"][0]["prefixItems"][1] == moment
    assert fields["inner"]["anyOf"][0] == moment


def test_a_union_is_told_apart_by_its_tag() -> None:
    operation, schemas = build(validator("json", Circle | Square))
    assert body(operation)["discriminator"] == {
        "propertyName": "type",
        "mapping": {"circle": f"{REF}Circle", "square": f"{REF}Square"},
    }
    assert schemas["Circle"]["properties"]["type"] == {"type": "string", "enum": ["circle"]}


def test_recursive_types() -> None:
    _, schemas = build(validator("json", Tree))
    assert schemas["Tree"]["properties"]["children"]["items"] == {"$ref": f"{REF}Tree"}


def test_docstrings_describe_fields() -> None:
    _, schemas = build(validator("json", Person))
    assert schemas["Person"]["description"] == "Somebody."
    assert schemas["Person"]["properties"]["name"]["description"] == "What they are called."


def test_enumerations_have_a_type() -> None:
    _, schemas = build(validator("json", list[Color]))
    assert schemas["Color"] == {"title": "Color", "type": "string", "enum": ["blue", "red"]}


def test_names_and_examples_are_those_of_the_data() -> None:
    class Renamed(Struct, rename="camel"):
        first_name: Annotated[str, Meta(examples=["Ada"], description="The first one.")]
        other: str = struct_field(name="x-other", default="none")

    _, schemas = build(validator("json", Renamed))
    assert schemas["Renamed"]["properties"] == {
        "firstName": {"type": "string", "examples": ["Ada"], "description": "The first one."},
        "x-other": {"type": "string", "default": "none"},
    }
    _, schemas = build(validator("json", Item))
    assert [*schemas["Item"]["properties"]] == ["item-name", "count"]
    assert schemas["Item"]["properties"]["item-name"]["examples"] == ["Lamp"]


def test_pydantic_models_that_are_sent_otherwise_than_received_are_two() -> None:
    class Plain(pydantic.BaseModel):
        count: int = 1

    operation, schemas = build(validator("json", Plain), response=Plain)
    assert body(operation) == {"$ref": f"{REF}Plain"}
    assert "Plain" in schemas

    class Defaulted(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(json_schema_serialization_defaults_required=True)
        count: int = 1

    operation, schemas = build(validator("json", Defaulted), response=Defaulted)
    assert body(operation) == {"$ref": f"{REF}Defaulted-Input"}
    assert schemas["Defaulted-Output"]["required"] == ["count"]
    assert "required" not in schemas["Defaulted-Input"]


def same_name(**fields: Any) -> Any:
    return type("Book", (Struct,), {"__annotations__": fields, "__module__": "one"})


def test_names_that_two_classes_share() -> None:
    one = type("Book", (Struct,), {"__annotations__": {"a": int}, "__module__": "one"})
    two = type("Book", (Struct,), {"__annotations__": {"b": int}, "__module__": "two"})
    for kinds in ((one, two), (two, one)):
        app = Kit()
        for number, kind in enumerate(kinds):
            app.post(f"/{number}", handler, use=validator("json", kind))
        document = build_document(app)
        validate(document)
        assert [*document["components"]["schemas"]][:2] == ["FieldError", "ValidationProblem"] or {
            "one.Book",
            "two.Book",
        } <= {*document["components"]["schemas"]}


def test_classes_that_even_share_their_module() -> None:
    app = Kit()
    app.post("/1", handler, use=validator("json", same_name(a=int)))
    app.post("/2", handler, use=validator("json", same_name(b=int)))
    app.post("/3", handler, use=validator("json", same_name(a=int)))
    document = build_document(app)
    validate(document)
    schemas = document["components"]["schemas"]
    assert [*schemas["Book"]["properties"]] == ["a"]
    assert [*schemas["Book_2"]["properties"]] == ["b"]
    content = document["paths"]["/3"]["post"]["requestBody"]["content"]
    assert content["application/json"]["schema"] == {"$ref": f"{REF}Book"}


def test_a_struct_and_a_model_of_one_name() -> None:
    class Book(Struct):
        title: str

    model = pydantic.create_model("Book", pages=(int, ...))
    app = Kit()
    app.post("/1", handler, use=validator("json", model))
    app.post("/2", handler, use=validator("json", Book))
    schemas = build_document(app)["components"]["schemas"]
    assert [*schemas["Book"]["properties"]] == ["title"]
    assert [*schemas["Book_2"]["properties"]] == ["pages"]


def test_what_has_no_schema_is_refused() -> None:
    class Strange:
        pass

    with pytest.raises(TypeError, match="isn't a type of data"):
        build(response={"description": "x", "content": {"text/plain": Strange}})
    # Structs that nothing tells apart are refused by msgspec.
    one = type("One", (Struct,), {})
    two = type("Two", (Struct,), {})
    with pytest.raises(TypeError, match="responses"):
        build(response=one | two)


def test_query() -> None:
    class Query(Struct):
        page: Annotated[int, Meta(ge=1, description="Which page.")]
        tag: list[str] = []
        color: Color | None = None
        old: Annotated[bool, Meta(extra_json_schema={"deprecated": True})] = False

    operation, _ = build(validator("query", Query))
    assert operation["parameters"] == [
        {
            "name": "page",
            "in": "query",
            "required": True,
            "description": "Which page.",
            "schema": {"type": "integer", "minimum": 1},
        },
        {
            "name": "tag",
            "in": "query",
            "style": "form",
            "explode": True,
            "schema": {"type": "array", "items": {"type": "string"}, "default": []},
        },
        {
            "name": "color",
            "in": "query",
            "schema": {"anyOf": [{"$ref": f"{REF}Color"}, {"type": "null"}]},
        },
        {
            "name": "old",
            "in": "query",
            "deprecated": True,
            "schema": {"type": "boolean", "default": False},
        },
    ]


def test_texts_of_a_query_have_no_null() -> None:
    """The text `null` is a text there, but None for a number."""

    class Query(Struct):
        term: str | None
        other: Annotated[str, Meta(min_length=2)] | int | None
        page: int | None
        sort: str | None = None

    operation, _ = build(validator("query", Query))
    text = {"type": "string"}
    number = {"type": "integer"}
    found = {each["name"]: each["schema"] for each in operation["parameters"]}
    assert found == {
        "term": text,
        "other": {**text, "minLength": 2},
        "page": {"anyOf": [number, {"type": "null"}]},
        "sort": text,
    }


class Paging(NamedTuple):
    term: str
    page: Annotated[int, Meta(ge=1, description="Which page.")] = 1


class AllDefaults(NamedTuple):
    page: int = 1


@pytest.mark.parametrize("target", ["query", "header", "cookie"])
@pytest.mark.parametrize("kind", [Paging, Annotated[Paging, "..."]])
def test_named_tuples_are_described_by_their_fields(target: Any, kind: Any) -> None:
    operation, _ = build(validator(target, kind))
    assert [{**each, "in": target} for each in operation["parameters"]] == [
        {"name": "term", "in": target, "required": True, "schema": {"type": "string"}},
        {
            "name": "page",
            "in": target,
            "description": "Which page.",
            "schema": {"type": "integer", "minimum": 1, "default": 1},
        },
    ]


def test_named_tuples_in_paths_and_forms_are_described_by_their_fields() -> None:
    validators = (validator("param", Paging), validator("form", Paging))
    operation, _ = build(*validators, path="/:term/:page")
    page = {"type": "integer", "minimum": 1}
    assert [each["schema"] for each in operation["parameters"]] == [
        {"type": "string", "minLength": 1},
        page,
    ]
    form = body(operation, "multipart/form-data")
    assert (form["type"], form["required"]) == ("object", ["term"])
    assert form["properties"]["page"] == {**page, "default": 1, "description": "Which page."}
    assert operation["requestBody"]["required"] is True
    operation, _ = build(validator("form", AllDefaults))
    assert "required" not in operation["requestBody"]
    operation, schemas = build(validator("json", Paging))
    assert schemas["Paging"]["type"] == "array"


def test_headers_and_cookies() -> None:
    class Headers(Struct):
        x_trace: str
        authorization: str = ""
        other: str = struct_field(name="x_exact", default="")

    class Model(pydantic.BaseModel):
        x_model: int = 1
        y_model: int = pydantic.Field(1, alias="y_alias")

    class Cookies(TypedDict):
        theme: str

    operation, _ = build(
        validator("header", Headers), validator("header", Model), validator("cookie", Cookies)
    )
    assert [(each["in"], each["name"]) for each in operation["parameters"]] == [
        ("header", "x-trace"),
        ("header", "x_exact"),
        ("header", "x-model"),
        ("header", "y_alias"),
        ("cookie", "theme"),
    ]


def test_parameters_of_the_path() -> None:
    class Params(Struct):
        """The path.

        Attributes:
            id: Which one.
        """

        id: Annotated[int, Meta(ge=1)]
        part: str | None = None

    operation, _ = build(validator("param", Params), path="/:id/:part{[a-z]+}")
    assert operation["parameters"] == [
        {
            "name": "id",
            "in": "path",
            "required": True,
            "schema": {"type": "integer", "minimum": 1},
            "description": "Which one.",
        },
        {
            "name": "part",
            "in": "path",
            "required": True,
            "schema": {"type": "string", "pattern": "^(?:[a-z]+)$"},
        },
    ]


def test_forms() -> None:
    class Login(Struct):
        name: str

    operation, _ = build(validator("form", Login))
    schema = {"$ref": f"{REF}Login"}
    assert operation["requestBody"] == {
        "content": {
            "application/x-www-form-urlencoded": {"schema": schema},
            "multipart/form-data": {"schema": schema},
        },
        "required": True,
    }


FILE = {"type": "string", "format": "binary", "contentMediaType": "application/octet-stream"}


class Upload(Struct):
    cover: File
    pages: list[interface.File] = []
    other: interface.File | None = None


class Raw(Struct):
    cover: bytes
    note: str = ""


class ModelUpload(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
    cover: File


@pytest.mark.parametrize("kind", [Upload, Raw, ModelUpload])
def test_forms_with_files(kind: Any) -> None:
    operation, schemas = build(validator("form", kind))
    assert [*operation["requestBody"]["content"]] == ["multipart/form-data"]
    schema = body(operation, "multipart/form-data")
    schema = schemas[schema["$ref"].removeprefix(REF)] if "$ref" in schema else schema
    cover = schema["properties"]["cover"]
    assert {**cover, "title": ""} == {**FILE, "title": ""}


def test_a_body_is_required_if_it_may_not_be_an_empty_object() -> None:
    class Optional(Struct):
        title: str = ""

    class Required(Struct):
        title: str

    def is_required(kind: Any) -> bool:
        operation, _ = build(validator("json", kind))
        return operation["requestBody"].get("required", False)

    assert not is_required(Optional)
    assert is_required(Required)
    assert is_required(list[int])
    assert is_required(Required | None)
    assert not is_required(Optional | None)
    assert not is_required(dict[str, int])


def test_functions_as_validators() -> None:
    operation, _ = build(
        validator("json", lambda value, c: value), validator("query", lambda value, c: value)
    )
    assert body(operation) == {}
    assert "parameters" not in operation
    assert "required" not in operation["requestBody"]


def test_problem_of_validators() -> None:
    operation, schemas = build(validator("query", Tree))
    assert operation["responses"]["400"] == {
        "description": "Invalid data",
        "content": {"application/problem+json": {"schema": {"$ref": f"{REF}ValidationProblem"}}},
    }
    assert "FieldError" in schemas


def test_components_that_nothing_refers_to_are_left_out() -> None:
    class Query(Struct):
        page: int = 1

    _, schemas = build(validator("query", Query))
    assert "Query" not in schemas


class Limits(Struct):
    """Numbers, some of which JSON has no form for."""

    most: float = math.inf
    least: Annotated[float, Meta(examples=[-math.inf, 1.5])] = 0.5
    page: int | None = None


def test_defaults_that_json_has_no_form_for_are_left_out() -> None:
    operation, components = build(validator("json", Limits))
    properties = components["Limits"]["properties"]
    assert properties["most"] == {"type": "number"}
    assert properties["least"] == {"type": "number", "default": 0.5, "examples": [1.5]}
    assert body(operation) == {"$ref": "#/components/schemas/Limits"}


class Marked(Struct, rename="camel", forbid_unknown_fields=True):
    """What has a default that is an object."""

    the_name: Annotated[str, Meta(min_length=1)]
    any_value: Any = object()
    a_list: list[int] = []
    a_limit: int = 3
    later: int | UnsetType = UNSET


def test_defaults_that_are_objects() -> None:
    operation, components = build(validator("json", Marked))
    assert body(operation) == {"$ref": f"{REF}Marked"}
    assert components["Marked"] == {
        "title": "Marked",
        "description": "What has a default that is an object.",
        "type": "object",
        "properties": {
            "theName": {"type": "string", "minLength": 1},
            "anyValue": {},
            "aList": {"type": "array", "items": {"type": "integer"}, "default": []},
            "aLimit": {"type": "integer", "default": 3},
            "later": {"type": "integer"},
        },
        "required": ["theName"],
        "additionalProperties": False,
    }
    _, components = build(validator("json", Marked), validator("form", Marked), response=int)
    assert [*components] == ["FieldError", "Marked", "Problem", "ValidationProblem"]


def test_defaults_of_a_typed_endpoint_that_are_objects() -> None:
    missing: Any = object()

    @typed
    async def endpoint(
        word: Annotated[str, InQuery()] = missing, limit: Annotated[int, InQuery()] = 3
    ) -> None: ...

    app = Kit()
    app.get("/", endpoint)
    parameters = build_document(app)["paths"]["/"]["get"]["parameters"]
    assert [(each["name"], each["schema"]) for each in parameters] == [
        ("word", {"type": "string"}),
        ("limit", {"type": "integer", "default": 3}),
    ]


def test_null_is_no_default_since_generators_would_require_the_field() -> None:
    app = Kit()
    app.get("/", handler, use=validator("query", Limits))
    app.post("/", handler, use=validator("json", Limits))
    document = build_document(app)
    limits = document["components"]["schemas"]["Limits"]
    assert "default" not in limits["properties"]["page"]
    assert "page" not in limits.get("required", ())
    parameters = document["paths"]["/"]["get"]["parameters"]
    assert "default" not in parameters[2]["schema"]


class Chapter(pydantic.BaseModel):
    title: str
    number: int = pydantic.Field(alias="no")
    parts: list[Chapter] = []


class Volume(Struct):
    first: Chapter
    others: list[Chapter] = []


def test_a_struct_with_a_model_in_it() -> None:
    app = Kit()

    @app.get("/volume")
    @typed
    def read_volume() -> Volume: ...

    @app.get("/chapter")
    @typed
    def read_chapter() -> Chapter: ...

    @app.get("/either")
    @typed
    def read_either() -> list[Circle | Chapter]: ...

    document = build_document(app)
    validate(document)
    schemas = document["components"]["schemas"]
    assert {*schemas} >= {"Volume", "Chapter"}
    chapter = {"$ref": f"{REF}Chapter"}
    assert schemas["Volume"]["properties"]["first"] == chapter
    assert schemas["Volume"]["properties"]["others"]["items"] == chapter
    assert {*schemas["Chapter"]["properties"]} == {"title", "number", "parts"}
    assert schemas["Chapter"]["properties"]["parts"]["items"] == chapter
