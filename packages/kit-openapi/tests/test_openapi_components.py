# SPDX-License-Identifier: MIT
"""Components: one for each type, names that people can read, and the forms of what is sent."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, TypeVar

import attrs
import msgspec
import pydantic
import pytest
from msgspec import UNSET, Struct, UnsetType
from msgspec import field as struct_field
from openapi_spec_validator import validate
from typing_extensions import TypeAliasType, TypedDict

from kit import Context, Kit, Response
from kit.openapi import build_document, describe, find_operations
from kit.typed import Body, typed
from kit.validator import validator

T = TypeVar("T")
REF = "#/components/schemas/"


async def handler(c: Context) -> Response:
    return c.json({})


def build(*, received: Any = (), sent: Any = (), separate: bool = False) -> dict[str, Any]:
    """The schemas of an app that receives values of some types, and sends others."""
    app = Kit()
    for number, kind in enumerate(received):
        app.post(f"/{number}", handler, use=validator("json", kind))
    for number, kind in enumerate(sent):
        app.get(f"/{number}", describe(responses={200: kind})(lambda c: c.json({})))
    document = build_document(app, separate_input_output=separate)
    validate(document)
    schemas: dict[str, Any] = document["components"]["schemas"]
    return {name: each for name, each in schemas.items() if name not in BUILT_IN}


BUILT_IN = {"FieldError", "Problem", "ValidationProblem"}


class Kind(enum.Enum):
    ROUND = "round"
    FLAT = "flat"


class Note(TypedDict):
    text: str


@dataclass
class Author:
    name: str
    kinds: list[Kind] = field(default_factory=list)


class Book(pydantic.BaseModel):
    author: Author
    kind: Kind = Kind.ROUND
    note: Note | None = None


def test_a_type_within_a_model_and_on_its_own_is_one_component() -> None:
    schemas = build(received=[Book, Author, Kind, Note])
    assert {*schemas} == {"Author", "Book", "Kind", "Note"}
    schemas = build(received=[Author, Note], sent=[Book, Kind], separate=True)
    assert {*schemas} == {"Author-Input", "Author-Output", "Book", "Kind", "Note"}


def test_an_enumeration_in_a_query_and_in_a_model_is_one_component() -> None:
    app = Kit()

    @app.post("/")
    @typed
    async def add(kind: Kind, book: Annotated[Book, Body()]) -> Book:
        return book

    schemas = build_document(app)["components"]["schemas"]
    assert {"Kind", "Book"} <= {*schemas}
    assert not [name for name in schemas if re.search(r"_\d", name)]


class Page(Struct, Generic[T]):
    items: list[T]


@dataclass
class Wrapped(Generic[T]):
    value: T


class Answer(pydantic.BaseModel, Generic[T]):
    value: T


class Item(Struct, tag=True):
    id: int


class Other(Struct, tag=True):
    id: int


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (Page[Item], "Page_Item"),
        (Page[Page[Item]], "Page_Page_Item"),
        (Page[list[Item]], "Page_list_Item"),
        (Page[Item | Other], "Page_Item_Other"),
        (Page[dict[str, int]], "Page_dict_str_int"),
        (Wrapped[Item], "Wrapped_Item"),
        (Wrapped[Page[Item]], "Wrapped_Page_Item"),
        (Answer[Book], "Answer_Book"),
        (Answer[Answer[Book]], "Answer_Answer_Book"),
        (Answer[Book | None], "Answer_Union_Book_NoneType"),
        (Answer[Wrapped[Book]], "Answer_Wrapped_Book"),
    ],
)
def test_names_of_generic_types_can_be_read(kind: Any, name: str) -> None:
    schemas = build(received=[kind])
    assert name in schemas
    for each in schemas:
        assert re.fullmatch(r"[a-zA-Z0-9.-]+(_[a-zA-Z0-9.-]+)*", each)


def test_generic_types_of_two_classes_with_one_name() -> None:
    one = type("Item", (Struct,), {"__annotations__": {"a": int}, "__module__": "one"})
    two = type("Item", (Struct,), {"__annotations__": {"b": int}, "__module__": "two"})
    schemas = build(received=[Page[one], Page[two]])
    assert len([name for name in schemas if name.startswith("Page")]) == 2


@dataclass
class OneField:
    title: str
    count: int = 1


class StructField(Struct):
    title: str
    count: int = 1
    maybe: int | UnsetType = UNSET


class Omitting(Struct, omit_defaults=True):
    title: str
    count: int = 1


class Model(pydantic.BaseModel):
    title: str
    count: int = 1


class Array(Struct, array_like=True):
    title: str
    count: int = 1


@pytest.mark.parametrize("kind", [OneField, StructField, Model])
def test_fields_that_are_always_sent_are_required(kind: Any) -> None:
    schemas = build(sent=[kind])
    assert schemas[kind.__name__]["required"] == ["title", "count"]
    schemas = build(received=[kind], sent=[kind])
    assert schemas[kind.__name__]["required"] == ["title"]
    schemas = build(received=[kind], sent=[kind], separate=True)
    received, sent = (schemas[f"{kind.__name__}-{each}"] for each in ("Input", "Output"))
    assert (received["required"], sent["required"]) == (["title"], ["title", "count"])
    assert received["title"] != sent["title"]


def test_fields_that_may_be_left_out_are_not_required() -> None:
    assert build(sent=[Omitting])["Omitting"]["required"] == ["title"]
    schemas = build(received=[Omitting], sent=[Omitting], separate=True)
    assert {*schemas} == {"Omitting"}


def test_arrays_are_sent_whole() -> None:
    assert build(sent=[Array])["Array"]["minItems"] == 2
    assert build(received=[Array])["Array"]["minItems"] == 1


def test_a_type_that_holds_one_with_two_forms_has_two_forms() -> None:
    class Shelf(Struct):
        books: list[StructField]

    schemas = build(received=[Shelf], sent=[Shelf], separate=True)
    output = schemas["Shelf-Output"]["properties"]["books"]["items"]
    assert output == {"$ref": f"{REF}StructField-Output"}


def test_a_struct_with_a_model_has_the_form_of_the_model_that_is_sent() -> None:
    class Shelf(Struct):
        book: Model

    schemas = build(sent=[Shelf])
    assert schemas["Model"]["required"] == ["title", "count"]


def test_fields_that_a_model_excludes_are_not_required() -> None:
    class Excluding(pydantic.BaseModel):
        title: str = ""
        count: int = pydantic.Field(default=0, exclude_if=lambda value: value == 0)

    assert build(sent=[Excluding])["Excluding"]["required"] == ["title"]


class Inner(Struct):
    size: int = 3


class StructDefaults(Struct):
    empty: list[int] = []
    full: list[int] = struct_field(default_factory=lambda: [1])
    inner: Inner = struct_field(default_factory=Inner)


@dataclass
class DataclassDefaults:
    empty: list[int] = field(default_factory=list)
    by_name: dict[str, int] = field(default_factory=dict)
    inner: Inner = field(default_factory=Inner)


@attrs.define
class AttrsDefaults:
    empty: list[int] = attrs.Factory(list)


class ModelDefaults(pydantic.BaseModel):
    empty: list[int] = pydantic.Field(default_factory=list)
    full: list[int] = [1, 2]
    inner: OneField = OneField("a")


@pytest.mark.parametrize(
    ("kind", "defaults"),
    [
        (StructDefaults, {"empty": [], "inner": {"size": 3}}),
        (DataclassDefaults, {"empty": [], "by_name": {}, "inner": {"size": 3}}),
        (AttrsDefaults, {"empty": []}),
        (ModelDefaults, {"empty": [], "full": [1, 2], "inner": {"title": "a", "count": 1}}),
    ],
)
def test_defaults_that_functions_make(kind: Any, defaults: Any) -> None:
    fields = build(received=[kind])[kind.__name__]["properties"]
    found = {name: each["default"] for name, each in fields.items() if "default" in each}
    assert found == defaults


class Hidden(Struct):
    pair: tuple[int, str]
    nothing: tuple[()]
    anything: list[Any]


def test_tuples_are_bounded_without_a_boolean_schema() -> None:
    numbers, text = {"type": "integer"}, {"type": "string"}
    fields = build(received=[Hidden])["Hidden"]["properties"]
    assert fields["pair"] == {
        "type": "array",
        "prefixItems": [numbers, text],
        "items": {"anyOf": [{}, {}]},
        "minItems": 2,
        "maxItems": 2,
    }
    assert fields["nothing"] == {"type": "array", "items": {}, "minItems": 0, "maxItems": 0}
    assert fields["anything"] == {"type": "array", "items": {}}


class Untagged(Struct):
    one: int


def test_results_of_structs_without_tags() -> None:
    app = Kit()

    @app.get("/any")
    @typed
    async def read_any() -> Untagged | Hidden | None:
        return Untagged(1)

    document = build_document(app)
    responses = document["paths"]["/any"]["get"]["responses"]
    assert [*responses] == ["200", "204"]
    choices = responses["200"]["content"]["application/json"]["schema"]["anyOf"]
    names = ("Untagged", "Hidden")
    assert choices == [{"$ref": f"#/components/schemas/{name}"} for name in names]
    assert {*names} == {*document["components"]["schemas"]}
    assert find_operations(app).notes == []


@attrs.define
class Private:
    x: int
    _y: int = 0


def test_private_fields_are_read_and_never_sent() -> None:
    assert [*build(received=[Private])["Private"]["properties"]] == ["x", "_y"]
    assert [*build(sent=[Private])["Private"]["properties"]] == ["x"]


class BlackCat(pydantic.BaseModel):
    kind: Literal["cat"]
    color: Literal["black"]


class WhiteCat(pydantic.BaseModel):
    kind: Literal["cat"]
    color: Literal["white"]


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]


Cat = Annotated[BlackCat | WhiteCat, pydantic.Field(discriminator="color")]
Pet = Annotated[Cat | Dog, pydantic.Field(discriminator="kind")]


class Root(pydantic.RootModel[Pet]):
    pass


class Owner(pydantic.BaseModel):
    pet: Pet
    other: Root


def test_a_discriminated_union_within_another_one() -> None:
    schemas = build(received=[Owner, Pet])
    for pet in (schemas["Owner"]["properties"]["pet"], schemas["Root"]):
        cats, dog = pet["oneOf"]
        assert dog == {"$ref": f"{REF}Dog"}
        assert cats["discriminator"] == {
            "propertyName": "color",
            "mapping": {"black": f"{REF}BlackCat", "white": f"{REF}WhiteCat"},
        }
        # Two schemas share the tag `cat`, for which a mapping has no name.
        assert "discriminator" not in pet


class One(pydantic.BaseModel):
    kind: Literal[1]


class Two(pydantic.BaseModel):
    kind: Literal[2]


def test_the_mapping_of_numbers_has_texts() -> None:
    class Holder(pydantic.BaseModel):
        value: Annotated[One | Two, pydantic.Field(discriminator="kind")]

    found = build(received=[Holder])["Holder"]["properties"]["value"]["discriminator"]
    assert found["mapping"] == {"1": f"{REF}One", "2": f"{REF}Two"}


class Square(Struct, tag=True):
    side: int = 1


class Circle(Struct, tag=True):
    radius: int


@dataclass
class Plain:
    size: int


MIXED = Dog | Square | None


class Mixed(Struct):
    """Holds them.

    Attributes:
        one: Any of them.
    """

    one: Dog | Square | Circle
    itself: Mixed | Dog | None = None
    many: list[Dog | Plain] = []
    more: list[Mixed] = []


@dataclass
class MixedDataclass:
    one: Dog | Plain | int
    by_name: dict[str, Dog | Square] = field(default_factory=dict)


class MixedDict(TypedDict, total=False):
    one: Dog | Square


@attrs.define
class MixedAttrs:
    one: Dog | Square
    two: int = 2


def test_unions_of_models_and_structs() -> None:
    app = Kit()
    app.post("/", describe(request_body=MIXED, responses={200: list[MIXED]})(handler))

    async def annotated(c: Context) -> Dog | Square:
        raise AssertionError

    @typed
    async def convert() -> Dog | Square:
        raise AssertionError

    app.get("/annotated", annotated)
    app.get("/typed", convert)
    document = build_document(app)
    validate(document)
    both = [{"$ref": f"{REF}Dog"}, {"$ref": f"{REF}Square"}]
    operation = document["paths"]["/"]["post"]
    (content,) = operation["requestBody"]["content"].values()
    assert content["schema"]["anyOf"][0] == both[0]
    for path in ("/annotated", "/typed"):
        response = document["paths"][path]["get"]["responses"]["200"]
        assert response["content"]["application/json"]["schema"] == {"anyOf": both}


def test_fields_that_are_unions_of_models_and_structs() -> None:
    schemas = build(sent=[Mixed, MixedDataclass, MixedDict, MixedAttrs, Square])
    assert {*schemas} == {
        *("Circle", "Dog", "Mixed", "MixedAttrs", "MixedDataclass", "MixedDict", "Plain", "Square")
    }
    fields = schemas["Mixed"]["properties"]
    dog, structs = fields["one"]["anyOf"]
    assert (dog, structs["discriminator"]["propertyName"]) == ({"$ref": f"{REF}Dog"}, "type")
    assert fields["one"]["description"] == "Any of them."
    assert {"$ref": f"{REF}Mixed"} in fields["itself"]["anyOf"]
    assert fields["more"]["items"] == {"$ref": f"{REF}Mixed"}
    assert schemas["Mixed"]["required"] == ["one", "itself", "many", "more"]
    assert schemas["MixedDataclass"]["properties"]["by_name"]["default"] == {}
    assert "description" not in schemas["MixedDataclass"]
    assert schemas["MixedAttrs"]["properties"]["two"]["default"] == 2
    assert not schemas["MixedDict"].get("required")


@pytest.mark.parametrize("separate", [None, 1, "yes"])
def test_the_option_is_a_bool(separate: Any) -> None:
    with pytest.raises(TypeError, match="separate_input_output"):
        build_document(Kit(), separate_input_output=separate)


def make_part(kind: type) -> dict[str, Any]:
    """Classes whose names other parts have, too; in each, the field has another type."""
    inner = msgspec.defstruct("Part", [("value", kind)])
    model = pydantic.create_model("PartModel", value=(kind, ...))
    return {
        f"/{kind.__name__}/struct": inner,
        f"/{kind.__name__}/structs": Page[inner],  # type: ignore[valid-type]
        f"/{kind.__name__}/model": model,
        f"/{kind.__name__}/models": Answer[model],  # type: ignore[valid-type]
    }


@pytest.mark.parametrize("separate", [False, True])
def test_names_that_classes_share_do_not_depend_on_the_order_of_routes(separate: bool) -> None:
    kinds = [*make_part(int).items(), *make_part(str).items()]

    def build_in_order(routes: list[tuple[str, Any]]) -> dict[str, Any]:
        app = Kit()
        for path, kind in routes:
            sends = describe(responses={200: kind})
            app.post(path, handler, use=[sends, validator("json", kind)])
        return build_document(app, separate_input_output=separate)

    document, reversed_one = build_in_order(kinds), build_in_order(kinds[::-1])
    assert reversed_one["components"] == document["components"]
    assert {path: item["post"]["requestBody"] for path, item in reversed_one["paths"].items()} == {
        path: item["post"]["requestBody"] for path, item in document["paths"].items()
    }


def test_an_alias_of_models_and_other_types_may_be_used_twice() -> None:
    alias = TypeAliasType("Result", Item | Answer[int])  # type: ignore[misc]
    app = Kit()
    for path, kind in {"/one": list[alias], "/two": dict[str, alias]}.items():  # type: ignore[valid-type]
        app.get(path, describe(responses={200: kind})(lambda c: c.json({})))
    paths = build_document(app)["paths"]
    first, second = (
        paths[path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        for path in ("/one", "/two")
    )
    assert first["items"] == second["additionalProperties"]
    assert [each["$ref"] for each in first["items"]["anyOf"]] == [REF + "Answer_int", REF + "Item"]
