# SPDX-License-Identifier: MIT
"""Documents of apps compared with what the apps take and send."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import enum
import json
import uuid
from collections.abc import Callable
from typing import Annotated, Any, Literal, NotRequired, TypedDict
from typing import Required as Needed

import jsonschema
import msgspec
import pydantic
import pytest
import typing_extensions as te
from msgspec import Meta, Struct
from openapi_spec_validator import validate

from kit import Context, Kit, Response
from kit.openapi import build_document, describe
from kit.typed import Body, Cookie, Depends, Form, Header, Query, typed
from kit.validator import validator

JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}

Run = Callable[..., Any]


def document_of(app: Kit) -> dict[str, Any]:
    document = build_document(app)
    validate(document)
    return document


def fits(value: Any, schema: Any, document: dict[str, Any]) -> bool:
    """Whether a value fits a schema of a document."""
    whole = {"allOf": [schema], "components": document["components"]}
    return bool(jsonschema.Draft202012Validator(whole).is_valid(value))


# --- The names of what is sent ------------------------------------------------------------------


class Named(pydantic.BaseModel):
    user_name: str = pydantic.Field(alias="userName")


class Aliased(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(serialize_by_alias=True)
    user_name: str = pydantic.Field(alias="userName")
    inner: Named


class Keys(te.TypedDict):
    user_name: Annotated[str, pydantic.Field(alias="userName")]


class Outer(pydantic.BaseModel):
    own_name: int = pydantic.Field(1, alias="ownName")
    named: Named
    aliased: list[Aliased]
    keys: Keys


@pydantic.dataclasses.dataclass(config=pydantic.ConfigDict(serialize_by_alias=True))
class Data:
    user_name: str = pydantic.Field(alias="userName")
    inner: Aliased | None = None


class Holder(pydantic.BaseModel):
    data: Data


class Alone(te.TypedDict):
    named: Named
    user_name: Annotated[str, pydantic.Field(alias="userName")]


named = Named(userName="a")
aliased = Aliased(userName="b", inner=named)
outer = Outer(named=named, aliased=[aliased], keys=Keys(userName="c"))  # type: ignore[typeddict-unknown-key]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Named, named),
        (Aliased, aliased),
        (Outer, outer),
        (list[Outer], [outer]),
        (dict[str, Aliased | Named], {"a": aliased, "b": named}),
        (Data, Data(userName="d", inner=aliased)),
        (list[Data], [Data(userName="d")]),
        (Alone, Alone(named=named, user_name="e")),
    ],
)
def test_responses_are_documented_under_the_names_that_are_sent(
    run: Run, kind: Any, value: Any
) -> None:
    app = Kit()

    def send() -> Any:
        return value

    send.__annotations__["return"] = kind
    app.get("/", typed(send))
    document = document_of(app)
    responses = document["paths"]["/"]["get"]["responses"]
    schema = responses["200"]["content"]["application/json"]["schema"]

    async def answer() -> Any:
        return await (await app.request("/")).json()

    sent = run(answer)
    assert fits(sent, schema, document)
    other = json.loads(json.dumps(sent).replace("user", "other"))
    assert not fits(other, schema, document)


def test_a_dataclass_within_a_model_is_sent_as_its_own_setting_says(run: Run) -> None:
    app = Kit()

    @app.get("/")
    @typed
    def send() -> Holder:
        return Holder(data=Data(userName="d"))

    document = document_of(app)
    properties = document["components"]["schemas"]["Data"]["properties"]
    assert [*properties] == ["userName", "inner"]

    async def answer() -> Any:
        return await (await app.request("/")).json()

    assert run(answer) == {"data": {"userName": "d", "inner": None}}


def test_a_model_is_received_by_its_aliases_and_sent_by_its_names() -> None:
    app = Kit()

    @app.post("/")
    @typed
    def echo(body: Named) -> Named:
        return body

    schemas = document_of(app)["components"]["schemas"]
    assert schemas["Named-Input"]["required"] == ["userName"]
    assert schemas["Named-Output"]["required"] == ["user_name"]


class Cat(pydantic.BaseModel):
    pet_kind: Literal["cat"] = pydantic.Field("cat", alias="petKind")


class Dog(pydantic.BaseModel):
    pet_kind: Literal["dog"] = pydantic.Field("dog", alias="petKind")


Pet = Annotated[Cat | Dog, pydantic.Field(discriminator="pet_kind")]


def test_a_discriminator_has_the_name_that_is_sent() -> None:
    app = Kit()

    @app.post("/")
    @typed
    def echo(body: list[Pet]) -> list[Pet]:
        return body

    operation = document_of(app)["paths"]["/"]["post"]
    taken = operation["requestBody"]["content"]["application/json"]["schema"]["items"]
    sent = operation["responses"]["200"]["content"]["application/json"]["schema"]["items"]
    assert taken["discriminator"]["propertyName"] == "petKind"
    assert sent["discriminator"]["propertyName"] == "pet_kind"


@pytest.mark.parametrize("by_alias", [None, True, False])
@pytest.mark.parametrize("kind", [Outer, list[Outer], Data, Alone])
def test_responses_are_documented_as_the_call_says(run: Run, kind: Any, by_alias: Any) -> None:
    values = {Outer: outer, Data: Data(userName="d", inner=aliased)}
    value = values.get(kind, Alone(named=named, user_name="e") if kind is Alone else [outer])

    @describe(responses={200: kind})
    async def as_configured(c: Context) -> Response:
        return c.json(value)

    @describe(responses={200: {"description": "", "content": {"application/json": kind}}})
    async def with_aliases(c: Context) -> Response:
        return c.json(value, 200, None, True)

    @describe(responses={200: kind})
    async def with_names(c: Context) -> Response:
        return c.json(value, by_alias=False)

    handlers = {None: as_configured, True: with_aliases, False: with_names}
    # The others in the document have schemas for the same type.
    app = Kit().get("/", handlers.pop(by_alias))
    for number, other in enumerate(handlers.values()):
        app.get(f"/{number}", other)
    document = document_of(app)
    responses = document["paths"]["/"]["get"]["responses"]
    schema = responses["200"]["content"]["application/json"]["schema"]

    async def answer() -> Any:
        return await (await app.request("/")).json()

    sent = run(answer)
    assert fits(sent, schema, document)
    assert {*names_of(sent)} == {*reachable(schema, document)}


def names_of(value: Any) -> Any:
    """Yields the names in a JSON value."""
    if isinstance(value, dict):
        yield from value
        value = [*value.values()]
    if isinstance(value, list):
        for each in value:
            yield from names_of(each)


def reachable(schema: Any, document: dict[str, Any]) -> Any:
    """Yields the names of the properties of a schema, and of those that it refers to."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            yield from reachable(document["components"]["schemas"][name], document)
        yield from schema.get("properties", ())
        for each in schema.values():
            yield from reachable(each, document)
    elif isinstance(schema, list):
        for each in schema:
            yield from reachable(each, document)


def test_calls_that_differ_leave_it_to_the_model() -> None:
    @describe(responses={200: Named})
    async def either(c: Context) -> Response:
        if c.req.query("names"):
            return c.json(named, by_alias=False)
        return c.json(named, by_alias=True)

    schemas = document_of(Kit().get("/", either))["components"]["schemas"]
    assert schemas["Named"]["required"] == ["user_name"]


# --- Names that classes share -------------------------------------------------------------------


def page_of(kind: Any) -> Any:
    item = msgspec.defstruct("Item", [("value", kind)], module=__name__)
    return msgspec.defstruct("Page", [("items", list[item])], module=__name__)  # type: ignore[valid-type]


def test_classes_with_one_name_keep_their_own_nested_schemas() -> None:
    app = Kit()
    pages = [page_of(kind) for kind in (int, str, int)]
    for number, page in enumerate(pages):

        def show(body: Any) -> Any:
            return body

        show.__annotations__ = {"body": page, "return": page}
        app.post(f"/{number}", typed(show))
    document = document_of(app)
    schemas = document["components"]["schemas"]
    references = [
        document["paths"][f"/{number}"]["post"]["requestBody"]["content"]["application/json"][
            "schema"
        ]["$ref"].rpartition("/")[2]
        for number in range(3)
    ]
    assert references == ["Page", "Page_2", "Page"]
    items = [schemas[name]["properties"]["items"]["items"]["$ref"] for name in references]
    kinds = [schemas[each.rpartition("/")[2]]["properties"]["value"]["type"] for each in items]
    assert kinds == ["integer", "string", "integer"]
    assert "Page_3" not in schemas
    assert "Item_3" not in schemas


# --- Bodies that can't be absent ----------------------------------------------------------------


class Required(Struct):
    a: int


class Optional(Struct):
    a: int = 1


class Card(Struct, tag="card"):
    number: str = ""


class Cash(Struct, tag="cash"):
    amount: int = 0


class Checked(pydantic.BaseModel):
    a: int = 1

    @pydantic.model_validator(mode="after")
    def check(self) -> Checked:
        if self.a == 1:
            raise ValueError("a is 1")
        return self


async def is_refused(app: Kit, content_type: str) -> bool:
    headers = {"content-type": content_type} if content_type else {}
    return (await app.request("/", method="POST", headers=headers)).status == 400


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        (Required, ...),
        (Optional, ...),
        (dict[str, int], ...),
        (Card | Cash, ...),
        (Optional | None, ...),
        (Annotated[Any, Body()], ...),
        (Annotated[Optional, Body(embed=True)], ...),
        (Annotated[int | None, Body(embed=True)], None),
        (Optional, Optional()),
        (Required | None, None),
        (Checked, ...),
        (Checked | None, None),
    ],
)
def test_a_body_of_an_endpoint_is_required_if_it_has_no_default(
    run: Run, kind: Any, default: Any
) -> None:
    app = Kit()

    def endpoint(body: Any = default) -> None: ...

    def strict(body: Any) -> None: ...

    function = strict if default is ... else endpoint
    function.__annotations__["body"] = kind
    app.post("/", typed(function))
    body = document_of(app)["paths"]["/"]["post"]["requestBody"]
    assert run(is_refused, app, "") is body.get("required", False)


@pytest.mark.parametrize(
    "kind",
    [
        Required,
        Optional,
        Any,
        dict[str, int],
        list[int],
        Card | Cash,
        Optional | None,
        Required | None,
        list[int] | None,
        dict[str, int] | None,
        Checked,
        Checked | None,
    ],
)
def test_a_body_of_a_validator_is_required_if_an_empty_object_is_refused(
    run: Run, kind: Any
) -> None:
    app = Kit()
    # Any is an object of typing: only its annotated form is a type for a validator.
    app.post("/", validator("json", Annotated[kind, "body"]), lambda c: c.json({}))
    body = document_of(app)["paths"]["/"]["post"]["requestBody"]
    assert run(is_refused, app, "") is body.get("required", False)


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        (Required, ...),
        (Optional, ...),
        (Required | None, ...),
        (Required, None),
        (Card | Cash, ...),
    ],
)
def test_a_form_is_required_if_the_app_refuses_its_absence(
    run: Run, kind: Any, default: Any
) -> None:
    app = Kit()

    def endpoint(form: Any = default) -> None: ...

    def strict(form: Any) -> None: ...

    function = strict if default is ... else endpoint
    function.__annotations__["form"] = Annotated[kind, Form()]
    app.post("/", typed(function))
    body = document_of(app)["paths"]["/"]["post"]["requestBody"]
    assert run(is_refused, app, FORM["content-type"]) is body.get("required", False)
    assert "null" not in json.dumps(body)


NONE: Any = None


def test_none_is_no_default_of_a_type_without_it() -> None:
    app = Kit()

    @app.post("/")
    @typed
    def endpoint(numbers: Annotated[list[int], Body(embed=True)] = NONE) -> None: ...

    schemas = document_of(app)["components"]["schemas"]
    numbers = {"type": "array", "items": {"type": "integer"}}
    assert schemas["EndpointJson"]["properties"] == {"numbers": numbers}


# --- The keys of dicts --------------------------------------------------------------------------


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 2


class ByWord(pydantic.BaseModel):
    counts: dict[Annotated[str, pydantic.Field(pattern="^[a-z]+$", min_length=2)], int]


UUID = "12345678-1234-5678-1234-567812345678"


@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        (Annotated[str, Meta(pattern="^[a-z]+$", min_length=2)], ["ab"], ["a", "AB"]),
        (Annotated[str, Meta(max_length=1)] | None, ["", "a"], ["ab"]),
        (int, ["0", "-1", "12"], ["01", "1.5", "a", ""]),
        (Annotated[int, Meta(ge=0)], ["0", "12"], ["-1"]),
        (Annotated[int, Meta(gt=0)], ["1", "10"], ["0", "-1"]),
        (float, ["0", "-1.5", "1e3"], ["a", ""]),
        (Color, ["red"], ["RED", "2"]),
        (Level, ["2"], ["HIGH", "1"]),
        (Literal["a", 1], ["a", "1"], ["b", "2"]),
        (Literal["x"] | int, ["x", "1"], ["y"]),
        (uuid.UUID, [UUID], ["a"]),
        (datetime.date, ["2020-02-29"], ["2020-02-30", "a"]),
        (str | int, ["a", "1", ""], []),
    ],
)
def test_the_keys_of_dicts(run: Run, key: Any, good: list[str], bad: list[str]) -> None:
    kind: Any = msgspec.defstruct("Held", [("values", list[dict[key, int]])])
    app = Kit().post("/", validator("json", kind), lambda c: c.body(None, 204))
    check_keys(run, app, lambda key: {"values": [{key: 1}]}, good, bad)


def test_the_keys_of_dicts_in_a_model(run: Run) -> None:
    app = Kit().post("/", validator("json", ByWord), lambda c: c.body(None, 204))
    check_keys(run, app, lambda key: {"counts": {key: 1}}, ["ab"], ["a", "AB"])


def check_keys(run: Run, app: Kit, held: Any, good: list[str], bad: list[str]) -> None:
    document = document_of(app)
    schema = document["paths"]["/"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    whole = {"allOf": [schema], "components": document["components"]}
    validator_class = jsonschema.Draft202012Validator
    checker = validator_class(whole, format_checker=validator_class.FORMAT_CHECKER)

    async def status(value: Any) -> int:
        return (await app.request("/", method="POST", json=value)).status

    for keys, is_valid in ((good, True), (bad, False)):
        for key in keys:
            assert checker.is_valid(held(key)) is is_valid
            assert run(status, held(key)) == (204 if is_valid else 400)


# --- Parameters ---------------------------------------------------------------------------------


class Qualified(TypedDict):
    sure: Needed[int]
    maybe: NotRequired[Annotated[int, Meta(ge=1)]]
    fixed: Needed[Annotated[str, Meta(max_length=3)]]


@pydantic.dataclasses.dataclass
class Dated:
    day: pydantic.PastDate
    number: Annotated[int, pydantic.Field(ge=5)]
    own_name: int = pydantic.Field(1, alias="ownName")


class Ruled(pydantic.BaseModel):
    number: Annotated[int, pydantic.AfterValidator(abs)] = pydantic.Field(1, ge=0)
    when: int | datetime.date | datetime.datetime = 1
    color: Annotated[Literal["red"], pydantic.AfterValidator(str.upper)] | None = None


class Token(pydantic.BaseModel):
    x_token: int
    x_other: int = pydantic.Field(1, alias="x_other")


@pydantic.dataclasses.dataclass
class TokenData:
    x_token: int
    x_other: int = pydantic.Field(1, alias="x_other")


class Left(Struct, tag="left"):
    a: int
    both: int


class Right(Struct, tag="right"):
    both: str
    b: int = 1


class Term(Struct):
    term: str
    limit: int = 3


def parameters_of(app: Kit) -> dict[str, Any]:
    """The parameters of the only operation: the schema of each, and whether it is required."""
    (item,) = document_of(app)["paths"].values()
    (operation,) = item.values()
    return {
        each["name"]: (each["schema"], each.get("required", False))
        for each in operation["parameters"]
    }


def beside(kind: Any, marker: Any, default: Any = ...) -> Kit:
    """An app that reads a model beside another parameter of the same part."""

    def endpoint(page: Any, model: Any = default) -> None: ...

    def strict(page: Any, model: Any) -> None: ...

    function = strict if default is ... else endpoint
    function.__annotations__ = {"model": Annotated[kind, marker], "page": Annotated[int, marker]}
    return Kit().get("/", typed(function))


def alone(kind: Any, marker: Any, default: Any = ...) -> Kit:
    """An app that reads only a model from a part."""

    def endpoint(model: Any = default) -> None: ...

    def strict(model: Any) -> None: ...

    function = strict if default is ... else endpoint
    function.__annotations__ = {"model": Annotated[kind, marker]}
    return Kit().get("/", typed(function))


PAGE = {"page": ({"type": "integer"}, True)}


def test_qualified_fields_beside_another_parameter() -> None:
    assert parameters_of(beside(Qualified, Query())) == {
        "sure": ({"type": "integer"}, True),
        "maybe": ({"type": "integer", "minimum": 1}, False),
        "fixed": ({"type": "string", "maxLength": 3}, True),
        **PAGE,
    }


def test_a_pydantic_dataclass_beside_another_parameter() -> None:
    assert parameters_of(beside(Dated, Query())) == {
        "day": ({"type": "string", "format": "date"}, True),
        "number": ({"type": "integer", "minimum": 5}, True),
        "ownName": ({"type": "integer", "default": 1}, False),
        **PAGE,
    }


def test_what_only_pydantic_can_describe_beside_another_parameter() -> None:
    found = parameters_of(beside(Ruled, Query()))
    assert found["number"] == ({"type": "integer", "minimum": 0, "default": 1}, False)
    assert [each["type"] for each in found["when"][0]["anyOf"]] == ["integer", "string", "string"]
    assert found["color"][0] == {"type": "string", "const": "red"}


@pytest.mark.parametrize("kind", [Token, TokenData, Annotated[TokenData, "note"]])
def test_headers_have_dashes(run: Run, kind: Any) -> None:
    number = {"type": "integer"}
    expected = {"x-token": (number, True), "x_other": ({**number, "default": 1}, False)}
    app = Kit().get("/", validator("header", kind), lambda c: c.json({}))
    assert parameters_of(app) == expected
    assert parameters_of(alone(kind, Header())) == expected
    app = beside(kind, Header())
    assert parameters_of(app) == {**expected, **PAGE}

    async def statuses() -> list[int]:
        names = ("x-token", "x_token")
        return [(await app.request("/", headers={name: "1", "page": "1"})).status for name in names]

    assert run(statuses) == [204, 400]


@pytest.mark.parametrize("target", ["query", "cookie", "header"])
def test_unions_of_models_have_parameters(target: Any) -> None:
    app = Kit().get("/", validator(target, Left | Right), lambda c: c.json({}))
    marker = {"query": Query, "cookie": Cookie, "header": Header}[target]()
    assert (
        parameters_of(app)
        == parameters_of(alone(Left | Right, marker))
        == {
            "type": ({"type": "string", "enum": ["left", "right"]}, True),
            "a": ({"type": "integer"}, False),
            "both": ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, True),
            "b": ({"type": "integer", "default": 1}, False),
        }
    )


def test_models_that_may_be_none_have_parameters() -> None:
    expected = {
        "term": ({"type": "string"}, True),
        "limit": ({"type": "integer", "default": 3}, False),
    }
    app = Kit().get("/", validator("query", Term | None), lambda c: c.json({}))
    assert parameters_of(app) == parameters_of(alone(Term | None, Query())) == expected


@pytest.mark.parametrize(("kind", "default"), [(Term, Term("a")), (Term | None, None)])
def test_nothing_is_required_of_a_model_with_a_default(run: Run, kind: Any, default: Any) -> None:
    expected = {
        "term": ({"type": "string"}, False),
        "limit": ({"type": "integer", "default": 3}, False),
    }
    app = alone(kind, Query(), default)
    assert parameters_of(app) == expected
    assert parameters_of(beside(kind, Query(), default)) == {**expected, **PAGE}

    async def status() -> int:
        return (await app.request("/")).status

    assert run(status) == 204


class Choices(Struct):
    ids: list[int] | Literal["all"] = "all"
    word: Annotated[str, Meta(min_length=2)] | int | None = None
    pages: set[int] | None = None


def test_what_can_not_be_sent_by_name_is_left_out(run: Run) -> None:
    """Texts aren't read as other types if they may be texts, nor lists as single values."""
    numbers = {"type": "array", "items": {"type": "integer"}}
    expected = {
        "ids": (numbers, False),
        "word": ({"type": "string", "minLength": 2}, False),
        "pages": ({**numbers, "uniqueItems": True}, False),
    }
    app = Kit().get("/", validator("query", Choices), lambda c: c.body(None, 204))
    assert parameters_of(app) == parameters_of(alone(Choices, Query())) == expected
    form = Kit().post("/", validator("form", Choices), lambda c: c.body(None, 204))
    content = document_of(form)["paths"]["/"]["post"]["requestBody"]["content"]
    properties = content[FORM["content-type"]]["schema"]["properties"]
    assert properties == {name: schema for name, (schema, _) in expected.items()}

    async def statuses(*queries: str) -> list[int]:
        return [(await app.request(f"/?{query}")).status for query in queries]

    assert run(statuses, "ids=1&ids=2", "word=ab", "pages=1") == [204] * 3
    assert run(statuses, "ids=all", "word=3", "word=null", "pages=null")[:2] == [400] * 2


class Optionals(pydantic.BaseModel):
    page: int | None
    ids: list[int] | None = None
    price: decimal.Decimal | None = None
    word: int | Annotated[str, pydantic.Field(min_length=2)] = 1


@pytest.mark.parametrize("marker", [Query(), Header(), Cookie()])
def test_pydantic_reads_no_text_as_none(run: Run, marker: Any) -> None:
    number = {"type": "integer"}
    found = parameters_of(alone(Optionals, marker))
    assert found["page"] == (number, True)
    assert found["ids"][0] == {"type": "array", "items": number}
    assert {"type": "null"} not in found["price"][0]["anyOf"]
    assert len(found["word"][0]["anyOf"]) == 2
    assert parameters_of(beside(Optionals, marker))["page"][0] in (number, PAGE["page"][0])
    app = alone(Optionals, Query())

    async def statuses() -> list[int]:
        return [(await app.request(f"/?page={page}")).status for page in ("1", "null")]

    assert run(statuses) == [204, 400]


def test_decimal_numbers_of_pydantic_have_their_form(run: Run) -> None:
    app = Kit().post("/", validator("json", Optionals), lambda c: c.body(None, 204))
    document = document_of(app)
    schema = document["components"]["schemas"]["Optionals"]

    async def status(value: Any) -> int:
        return (await app.request("/", method="POST", json=value)).status

    for price, is_valid in ((1.5, True), ("1.5", True), ("-1E+3", True), ("x", False), ("", False)):
        value = {"page": 1, "price": price}
        assert fits(value, schema, document) is is_valid
        assert run(status, value) == (204 if is_valid else 400)


# --- Several readers ----------------------------------------------------------------------------


class Tenant(Struct):
    tenant: str


class MaybeTenant(Struct):
    tenant: str = "x"


def test_a_parameter_is_required_if_one_reader_requires_it() -> None:
    tenant = {"tenant": ({"type": "string"}, True)}
    for first, second in ((Tenant, MaybeTenant), (MaybeTenant, Tenant)):
        app = Kit()
        app.use("/*", validator("query", first))
        app.get("/", validator("query", second), lambda c: c.json({}))
        assert parameters_of(app) == tenant

    def required(tenant: str) -> str:
        return tenant

    app = Kit()

    @app.get("/")
    @typed
    def endpoint(tenant: str = "x", other: Annotated[str, Depends(required)] = "") -> None: ...

    assert parameters_of(app) == tenant


def test_a_body_fits_all_its_validators() -> None:
    app = Kit()
    app.use("/*", validator("json", Optional))
    app.post("/", validator("json", Tenant), validator("json", Optional), lambda c: c.json({}))
    body = document_of(app)["paths"]["/"]["post"]["requestBody"]
    names = [each["$ref"] for each in body["content"]["application/json"]["schema"]["allOf"]]
    assert names == ["#/components/schemas/Optional", "#/components/schemas/Tenant"]
    assert body["required"] is True


# --- Statuses that the context has --------------------------------------------------------------


def fixed(c: Context) -> Response:
    c.status(202)
    return c.json({})


def in_branches(c: Context) -> Response:
    if c.req.query("new"):
        c.status(201)
        return c.json({})
    return c.json({})


def before_it(c: Context) -> Response:
    if c.req.query("new"):
        c.status(201)
    return c.json({})


def in_both(c: Context) -> Response:
    if c.req.query("new"):
        c.status(201)
    else:
        c.status(201)
    return c.json({})


def given(c: Context) -> Response:
    c.status(202)
    return c.json({}, 203)


def unknown(c: Context) -> Response:
    c.status(int("202"))
    return c.json({})


def interrupted(c: Context) -> Response:
    try:
        c.status(201)
        int(c.req.query("new") or "")
    except ValueError:
        return c.json({})
    return c.json({})


def done(c: Context) -> Response:
    return c.json({})


def elsewhere(c: Context) -> Response:
    with contextlib.nullcontext():
        c.status(202)
    return done(c)


@pytest.mark.parametrize(
    ("handler", "statuses"),
    [
        (fixed, ["202"]),
        (in_branches, ["200", "201"]),
        (before_it, ["200", "201"]),
        (in_both, ["201"]),
        (given, ["203"]),
        (unknown, ["default"]),
        (interrupted, ["200", "201"]),
        (elsewhere, ["202"]),
    ],
)
def test_responses_have_the_status_of_the_context(handler: Any, statuses: list[str]) -> None:
    document = document_of(Kit().get("/", handler))
    assert [*document["paths"]["/"]["get"]["responses"]] == statuses


def test_results_of_endpoints_have_the_status_of_the_context(run: Run) -> None:
    app = Kit()

    @app.get("/")
    @typed
    def endpoint(c: Context) -> dict[str, int]:
        c.status(201)
        return {"a": 1}

    responses = document_of(app)["paths"]["/"]["get"]["responses"]
    assert [*responses] == ["201"]
    assert responses["201"]["content"]["application/json"]["schema"]["type"] == "object"

    async def status() -> int:
        return (await app.request("/")).status

    assert run(status) == 201


class Chosen(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(json_schema_serialization_defaults_required=True)

    user_name: str = pydantic.Field(alias="userName")
    age: int | None
    size: int = 1


@pytest.mark.parametrize(
    ("options", "names", "required"),
    [
        ({}, {"user_name", "age", "size"}, {"user_name", "age", "size"}),
        ({"by_alias": True}, {"userName", "age", "size"}, {"userName", "age", "size"}),
        ({"by_alias": False}, {"user_name", "age", "size"}, {"user_name", "age", "size"}),
        ({"exclude_none": True}, {"user_name", "size"}, {"user_name", "size"}),
        ({"exclude_unset": True}, {"user_name", "age"}, {"user_name", "age"}),
        (
            {"exclude_defaults": True, "exclude_none": True, "by_alias": True},
            {"userName"},
            {"userName"},
        ),
    ],
)
def test_the_options_of_typed_results(
    run: Run, options: dict[str, Any], names: set[str], required: set[str]
) -> None:
    def send() -> Chosen:
        return Chosen(userName="ada", age=None)

    app = Kit().get("/", typed(**options)(send))
    document = document_of(app)
    content = document["paths"]["/"]["get"]["responses"]["200"]["content"]
    schema = content["application/json"]["schema"]

    async def answer() -> Any:
        return await (await app.request("/")).json()

    sent = run(answer)
    assert sent.keys() == names
    assert fits(sent, schema, document)
    component = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    assert set(component["required"]) == required
