# SPDX-License-Identifier: MIT
"""`kit.validator`: what is told of data that do not fit, and what can't validate at all."""

from __future__ import annotations

import copy
import datetime
import json
import pickle
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
import pytest

from kit import Context, HTTPException, Kit, Response
from kit.interface import Next
from kit.validator import FieldError, RequestValidationError, ValidationProblem, validator

try:
    import attrs
except ImportError:
    attrs = None  # type: ignore[assignment]
try:
    import pydantic
except ImportError:
    pydantic = None  # type: ignore[assignment]

needs_attrs = pytest.mark.skipif(attrs is None, reason="attrs is not installed")
needs_pydantic = pytest.mark.skipif(pydantic is None, reason="pydantic is not installed")

JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}
T = TypeVar("T")


async def send(target: Any, kind: Any, path: str = "/", **init: Any) -> tuple[Response, Any]:
    """Sends a request to an app that validates it; gives the response and the valid data."""
    app = Kit()
    seen: list[Any] = []

    def handler(c: Context) -> Response:
        seen.append(c.req.valid(target))
        return c.text("handled")

    app.all("/:id?/:part?", validator(target, kind), handler)
    if "body" in init:
        init.setdefault("method", "POST")
    response = await app.request(path, init)  # type: ignore[arg-type]
    assert bool(seen) == (response.status == 200)
    return response, seen[0] if seen else None


async def valid(target: Any, kind: Any, path: str = "/", **init: Any) -> Any:
    response, data = await send(target, kind, path, **init)
    assert response.status == 200, await response.text()
    return data


async def errors(target: Any, kind: Any, path: str = "/", **init: Any) -> list[tuple[str, str]]:
    response, _ = await send(target, kind, path, **init)
    assert (response.status, response.headers["content-type"]) == (400, "application/problem+json")
    problem = await response.json()
    assert (problem["title"], problem["status"], problem["target"]) == ("Bad Request", 400, target)
    assert list(problem) == ["title", "status", "detail", "target", "errors"]
    return [(error["path"], error["message"]) for error in problem["errors"]]


async def errors_of_json(kind: Any, value: Any) -> list[tuple[str, str]]:
    return await errors("json", kind, headers=JSON, body=json.dumps(value))


def as_given(value: Any, c: Context) -> Any:
    return value


@dataclass
class Page:
    page: int
    ratio: float = 1.0
    tags: list[str] = field(default_factory=list)
    open: bool | None = None


class Colour(msgspec.Struct):
    name: str


if pydantic is not None:

    class Book(pydantic.BaseModel):
        title: str = pydantic.Field(min_length=2)

    @dataclass
    class Shelf:
        books: list[Book]

    class NoPlace(msgspec.Struct):
        book: Book


# What there can be within types.


class Address(msgspec.Struct, forbid_unknown_fields=True):
    street: str
    zip_code: Annotated[str, msgspec.Meta(pattern="^[0-9]{5}$", description="US")]


class Person(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    first_name: str
    addresses: list[Address]
    by_year: dict[int, Address] = {}
    best_friend: Person | None = None
    born_on: datetime.date | None = None
    sizes: Annotated[list[int], msgspec.Meta(min_length=2)] = []
    pair: tuple[int, str] | None = None


async def test_places_within() -> None:
    good = {"street": "s", "zip_code": "12345"}
    value = {
        "first_name": "x",
        "addresses": [good, {"street": 1}, {**good, "zip_code": "1"}, {**good, "more": 1}, None],
        "byYear": {"x": good, "1999": {"street": "s", "zip_code": 0}, "2000": good},
        "bestFriend": {"firstName": 1, "addresses": {}},
        "bornOn": "yesterday",
        "sizes": [1, "x", 2, "y"],
        "pair": [1, 2],
    }
    assert await errors_of_json(Person, value) == [
        ("firstName", "Missing required field"),
        ("addresses[1].street", "Expected `str`, got `int`"),
        ("addresses[1].zip_code", "Missing required field"),
        ("addresses[2].zip_code", "Expected `str` matching regex '^[0-9]{5}$'"),
        ("addresses[3].more", "Unknown field"),
        ("addresses[4]", "Expected `object`, got `null`"),
        ("byYear.x", "Invalid key: Expected `int`, got `str`"),
        ("byYear.1999.zip_code", "Expected `str`, got `int`"),
        ("bestFriend.firstName", "Expected `str`, got `int`"),
        ("bestFriend.addresses", "Expected `array`, got `object`"),
        ("bornOn", "Invalid RFC3339 encoded date"),
        ("sizes[1]", "Expected `int`, got `str`"),
        ("sizes[3]", "Expected `int`, got `str`"),
        ("pair[1]", "Expected `str`, got `int`"),
        ("first_name", "Unknown field"),
    ]
    value = {"firstName": "x", "addresses": [], "sizes": [1]}
    assert await errors_of_json(Person, value) == [("sizes", "Expected `array` of length >= 2")]


class Circle(msgspec.Struct, tag="circle"):
    radius: float
    colour: Colour


class Square(msgspec.Struct, tag="square"):
    side: float


class Drawing(msgspec.Struct):
    shapes: list[Circle | Square]
    frame: Square | None = None


async def test_unions_told_apart_by_a_tag() -> None:
    value = {
        "shapes": [
            {"type": "circle", "colour": {"name": 1}},
            {"type": "square", "side": "x"},
            {"type": "heart"},
            {"side": 1},
        ],
        "frame": {"type": "circle", "side": "x"},
    }
    assert await errors_of_json(Drawing, value) == [
        ("shapes[0].radius", "Missing required field"),
        ("shapes[0].colour.name", "Expected `str`, got `int`"),
        ("shapes[1].side", "Expected `float`, got `str`"),
        ("shapes[2].type", "Invalid value 'heart'"),
        ("shapes[3]", "Object missing required field `type`"),
        ("frame.type", "Invalid value 'circle'"),
    ]
    assert await errors_of_json(Circle | Square, {"type": "square"}) == [
        ("side", "Missing required field")
    ]


class Items(msgspec.Struct, Generic[T]):
    items: list[T]


async def test_generic_types_and_types_without_fields() -> None:
    assert await errors_of_json(Items[int], {"items": [1, "x"]}) == [
        ("items[1]", "Expected `int`, got `str`")
    ]
    assert (await valid("query", Items[int], "/?items=1&items=2")).items == [1, 2]
    assert await valid("json", list[Colour], headers=JSON, body='[{"name":"x"}]') == [Colour("x")]
    assert await errors_of_json(list[Colour], [{}, {"name": 1}]) == [
        ("[0].name", "Missing required field"),
        ("[1].name", "Expected `str`, got `int`"),
    ]
    assert await errors_of_json(Literal["a", "b"], "c") == [("", "Invalid enum value 'c'")]
    quoted = "x - at `$.y`"  # what a client sends is not taken for a place
    assert await errors_of_json(Literal["a"], quoted) == [("", f"Invalid enum value '{quoted}'")]
    assert await errors_of_json(set[int], [1, "x"]) == [("[1]", "Expected `int`, got `str`")]
    assert await valid("query", dict[str, int], "/?a=1&b=2&a=3") == {"a": 1, "b": 2}
    assert await valid("query", dict[str, list[int]], "/?a=1&a=3") == {"a": [1, 3]}
    assert await valid("header", dict[str, list[str]], headers={"a": "1"}) == {"a": ["1"]}
    assert await valid("query", dict, "/?a=1&a=2") == {"a": "1"}
    assert await valid("query", Any, "/?a=1") == {"a": "1"}
    assert await errors("query", dict[str, int], "/?a=1&b=x&c=y") == [
        ("b", "Expected `int`"),
        ("c", "Expected `int`"),
    ]


async def test_checks_of_the_type_itself() -> None:
    @dataclass
    class Span:
        first: int = 1
        last: int = 9

        def __post_init__(self) -> None:
            if self.first > self.last:
                raise ValueError("first is after last")
            assert self.last != 0  # no error of the client's, to the type

    assert await errors("query", Span, "/?first=5&last=3") == [("", "first is after last")]
    assert await errors_of_json(Span, {"first": 5, "last": 3}) == [("", "first is after last")]
    # Neither what it says of a field without the others, nor what it raises for it, is told.
    assert await errors("query", Span, "/?first=10&last=x") == [("last", "Expected `int`")]
    assert await errors_of_json(list[Span], [{}, {"first": "x", "last": 0}]) == [
        ("[1].first", "Expected `int`, got `str`")
    ]


@needs_attrs
async def test_validators_of_attrs() -> None:
    @attrs.define
    class Bounded:
        n: int = attrs.field(validator=attrs.validators.gt(3))

    assert (await valid("query", Bounded, "/?n=4")).n == 4
    assert await errors("query", Bounded, "/?n=3") == [("", "'n' must be > 3: 3")]


@needs_pydantic
async def test_types_with_models_within() -> None:
    body = '[{"title": "ab"}]'
    assert await valid("json", list[Book], headers=JSON, body=body) == [Book(title="ab")]
    annotated = Annotated[list[Book], pydantic.Field(json_schema_extra={"a": []})]
    for kind in (list[Book], annotated, dict[str, Book], Shelf):
        wrong = {"x": {"title": "a"}} if kind == dict[str, Book] else [{"title": "a"}]
        place = {dict[str, Book]: "x.title", Shelf: "books[0].title"}.get(kind, "[0].title")
        value = {"books": wrong} if kind is Shelf else wrong
        expected = [(place, "String should have at least 2 characters")]
        assert await errors_of_json(kind, value) == expected

    with pytest.raises(TypeError, match=r"^validator\('json', .*NoPlace'>\): Unable to generate"):
        validator("json", NoPlace)


@needs_pydantic
async def test_rules_of_dataclasses_of_pydantic_hold() -> None:
    @pydantic.dataclasses.dataclass
    class Bounded:
        n: Annotated[int, pydantic.Field(gt=3)]

    expected = [("n", "Input should be greater than 3")]
    assert await errors_of_json(Bounded, {"n": 3}) == expected
    assert await errors("query", Bounded, "/?n=3") == expected


# The types of errors, one vocabulary whichever library validates.


async def types_of_errors(
    target: Any, kind: Any, path: str = "/", **init: Any
) -> list[tuple[str, str]]:
    response, _ = await send(target, kind, path, **init)
    document = msgspec.convert(await response.json(), ValidationProblem)
    assert response.status == document["status"] == 400
    return [(error["path"], error["type"]) for error in document["errors"]]


async def test_types_of_errors() -> None:
    value = {
        "first_name": "x",
        "addresses": [{"street": 1, "zip_code": "1"}, None],
        "byYear": {"x": {"street": "s", "zip_code": "12345"}, "1999": 5},
        "bornOn": "yesterday",
        "sizes": [1],
    }
    assert await types_of_errors("json", Person, headers=JSON, body=json.dumps(value)) == [
        ("firstName", "missing"),
        ("addresses[0].street", "string_type"),
        ("addresses[0].zip_code", "string_pattern_mismatch"),
        ("addresses[1]", "dict_type"),
        ("byYear.x", "int_type"),
        ("byYear.1999", "dict_type"),
        ("bornOn", "date_parsing"),
        ("sizes", "too_short"),
        ("first_name", "extra_forbidden"),
    ]
    assert await types_of_errors("query", Page, "/?page=x&open=x") == [
        ("page", "int_type"),
        ("open", "type_error"),
    ]
    assert await types_of_errors("header", Page, headers={"ratio": "x"}) == [
        ("page", "missing"),
        ("ratio", "float_type"),
    ]


@needs_pydantic
async def test_types_of_errors_of_models() -> None:
    class Member(pydantic.BaseModel):
        name: str = pydantic.Field(min_length=2)
        age: int = pydantic.Field(ge=18)
        x_tag: list[int] = []  # noqa: RUF012 - as users write it

    assert await types_of_errors(
        "json", Member, headers=JSON, body='{"name": "A", "x_tag": ["x"]}'
    ) == [
        ("name", "string_too_short"),
        ("age", "missing"),
        ("x_tag[0]", "int_parsing"),
    ]
    assert await types_of_errors("query", Member, "/?name=Ada&age=17") == [
        ("age", "greater_than_equal")
    ]
    # The path has the name of the header, also where that is one of many values.
    given = [("name", "Ada"), ("age", "x"), ("x-tag", "1"), ("x-tag", "y")]
    assert await types_of_errors("header", Member, headers=given) == [
        ("age", "int_parsing"),
        ("x-tag[1]", "int_parsing"),
    ]
    assert await types_of_errors("json", list[Member], headers=JSON, body='[{"name": 1}]') == [
        ("[0].name", "string_type"),
        ("[0].age", "missing"),
    ]


# The refusal.


async def test_the_answer() -> None:
    response, _ = await send("query", Page, "/?page=x&ratio=y")
    assert await response.json() == {
        "title": "Bad Request",
        "status": 400,
        "detail": "The query is invalid",
        "target": "query",
        "errors": [
            {"path": "page", "message": "Expected `int`", "type": "int_type"},
            {"path": "ratio", "message": "Expected `float`", "type": "float_type"},
        ],
    }


@pytest.mark.parametrize(
    ("target", "init", "detail"),
    [
        ("json", {"headers": JSON, "body": "{}"}, "The JSON body is invalid"),
        (
            "json",
            {},
            "The JSON body is missing: there is no Content-Type, expected application/json",
        ),
        (
            "json",
            {"headers": FORM, "body": "page=1"},
            "Content-Type is 'application/x-www-form-urlencoded', expected application/json",
        ),
        ("form", {"headers": FORM, "body": "a=1"}, "The form is invalid"),
        (
            "form",
            {"headers": JSON, "body": "{}"},
            "Content-Type is 'application/json', "
            "expected multipart/form-data or application/x-www-form-urlencoded",
        ),
        ("param", {}, "The path parameters are invalid"),
        ("header", {}, "The headers are invalid"),
        ("cookie", {}, "The cookies are invalid"),
    ],
)
async def test_details(target: Any, init: Any, detail: str) -> None:
    response, _ = await send(target, Page, **init)
    assert (await response.json())["detail"] == detail


async def test_the_errors_of_one_answer_are_bounded() -> None:
    body = json.dumps({"page": 1, "tags": [0] * 5000})
    response, _ = await send("json", Page, headers=JSON, body=body)
    problem = await response.json()
    assert problem["detail"] == "The JSON body is invalid; these are the first 100 errors"
    assert problem["errors"][-1] == {
        "path": "tags[99]",
        "message": "Expected `str`, got `int`",
        "type": "string_type",
    }
    assert len(problem["errors"]) == 100
    last = json.dumps([1] * 5000 + ["x"])
    assert await errors("json", list[int], headers=JSON, body=last) == [
        ("[5000]", "Expected `int`, got `str`")
    ]
    many = json.dumps({str(n): "x" if n == 700 else n for n in range(1000)})
    assert await errors("json", dict[str, int], headers=JSON, body=many) == [
        ("700", "Expected `int`, got `str`")
    ]


class Node(msgspec.Struct):
    value: int
    nodes: list[Node] = []


async def test_what_is_deep_within_is_found() -> None:
    value: Any = {"value": "x"}
    for _ in range(50):
        value = {"value": 1, "nodes": [value]}
    path = "nodes[0]." * 50 + "value"
    assert await errors_of_json(Node, value) == [(path, "Expected `int`, got `str`")]


async def test_of_a_name_that_comes_twice_the_first_error_is_told() -> None:
    # Which both are read, though one is kept.
    found = await errors("json", Page, headers=JSON, body='{"page": "x", "page": 1}')
    assert found == [("page", "Expected `int`, got `str`")]


async def test_error_handlers_see_the_refusal() -> None:
    app = Kit()
    seen: list[Exception] = []

    @app.on_error()
    def on_error(error: Exception, c: Context) -> Response:
        seen.append(error)
        assert c.error is error
        assert isinstance(error, RequestValidationError)
        return c.json({error.target: [each["path"] for each in error.errors]}, 422)

    app.get("/", validator("query", Page), lambda c: c.text("handled"))
    response = await app.request("/?tags=1&open=x")
    assert (response.status, await response.json()) == (422, {"query": ["page", "open"]})
    (error,) = seen
    assert isinstance(error, HTTPException)
    assert str(error) == (
        "400 The query is invalid: page: Missing required field; open: Expected `bool | null`"
    )
    assert isinstance(error.__cause__, msgspec.ValidationError)


@pytest.mark.parametrize("again", [copy.copy, lambda e: pickle.loads(pickle.dumps(e))])
def test_the_error_survives_pickle_and_copy(again: Callable[[Any], Any]) -> None:
    errors = [
        FieldError(path="a", message="is wrong", type="wrong"),
        FieldError(path="", message="all is", type="wrong"),
    ]
    error = RequestValidationError("json", errors)
    other = again(error)
    assert str(other) == str(error) == "400 The JSON body is invalid: a: is wrong; all is"
    assert (other.target, other.errors) == ("json", errors)
    assert (other.detail, other.status) == ("The JSON body is invalid", 400)
    assert json.loads(other.body)["errors"] == errors


async def test_headers_set_before_are_on_the_refusal() -> None:
    app = Kit()

    @app.use("*")
    async def before(c: Context, next: Next) -> None:
        c.header("x-before", "1")
        await next()

    app.get("/", validator("query", Page), lambda c: c.text("handled"))
    response = await app.request("/")
    assert response.headers["x-before"] == "1"
    assert response.headers["content-type"] == "application/problem+json"


# What is refused at registration.


@pytest.mark.parametrize("target", ["body", "", None, ["json"]])
def test_unknown_targets(target: Any) -> None:
    text = r"^validator\(\) has no target .*: expected one of json, form, query, param, header, co"
    with pytest.raises(ValueError, match=text):
        validator(target, dict)


class Unknown:
    pass


def some(value: Any) -> Any:
    return value


@pytest.mark.parametrize(
    ("target", "kind", "text"),
    [
        ("json", 5, "validator('json', ...) takes a type or a function, not 5"),
        ("json", None, "validator('json', ...) takes a type or a function, not None"),
        ("json", "Page", "validator('json', ...) takes a type or a function, not 'Page'"),
        ("json", some, "validator('json', ...) calls its function with (value, c), but it is"),
        ("form", Unknown, f"validator('form', {Unknown!r}): neither msgspec nor pydantic"),
        ("query", list[int], "validator('query', list[int]): it has no fields with names"),
        ("json", dict[str, int | Unknown], "Type unions containing a custom type may not"),
    ],
)
def test_what_can_not_validate(target: Any, kind: Any, text: str) -> None:
    with pytest.raises(TypeError) as caught:
        validator(target, kind)
    assert text in str(caught.value)


def test_annotations_that_can_not_be_resolved() -> None:
    @dataclass
    class Waiting:
        later: Later  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(TypeError, match=r"name 'Later' is not defined, or not yet; ann"):
        validator("json", Waiting)


def test_type_aliases() -> None:
    if sys.version_info < (3, 12):
        pytest.skip("`type` came with Python 3.12")
    module = types.ModuleType("aliases")
    exec("type Numbers = list[int]", module.__dict__)
    assert validator("json", module.Numbers).__name__ == "validator"


def test_new_types() -> None:
    from typing import NewType

    assert validator("json", NewType("Number", int)).__name__ == "validator"


async def test_kit_does_not_import_it_nor_pydantic() -> None:
    import subprocess

    code = (
        "import sys, kit; assert not {'kit.validator', 'pydantic'} & {*sys.modules}\n"
        "import kit.validator; assert 'pydantic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


async def errors_of(target: Any, kind: Any, path: str = "/", **init: Any) -> list[tuple[str, str]]:
    response, _ = await send(target, kind, path, **init)
    assert response.status == 400
    return [(each["path"], each["message"]) for each in json.loads(await response.text())["errors"]]


async def test_an_error_without_a_place_is_that_of_its_field() -> None:
    """msgspec names none for a datetime beyond the year 9999."""

    class Stay(msgspec.Struct):
        nights: int
        since: datetime.datetime

    text = ("since", "year 10000 is out of range")
    assert await errors_of("query", Stay, "/?nights=1&since=253402300800") == [text]
    found = await errors_of("query", Stay, "/?nights=x&since=253402300800")
    assert found == [("nights", "Expected `int`"), text]
    body = '{"nights":"x","since":253402300800}'
    assert await errors_of("json", Stay, body=body, headers=JSON) == [
        ("nights", "Expected `int`, got `str`"),
        ("since", "Expected `datetime`, got `int`"),
    ]


class Tree(msgspec.Struct):
    kids: list[Tree] = []
    number: int = 0


async def test_search_for_further_errors_ends() -> None:
    """APPSEC: it validates every part several times, and blocks other requests meanwhile."""

    def nested(depth: int, count: int) -> str:
        kids = '{"number":1},' * count + '{"number":"x"},{"number":"y"}'
        return '{"kids":[' * depth + kids + "]}" * depth

    text = "Expected `int`, got `str`"
    found = await errors_of("json", Tree, body=nested(3, 1000), headers=JSON)
    place = "kids[0].kids[0].kids"
    assert found == [(f"{place}[{number}].number", text) for number in (1000, 1001)]
    found = await errors_of("json", Tree, body=nested(3, 500_000), headers=JSON)
    assert found == [(f"{place}[500000].number", text)]


@needs_pydantic
async def test_so_many_errors_of_a_model_that_they_are_only_counted() -> None:
    class Numbers(pydantic.BaseModel):
        numbers: list[int]

    body = json.dumps({"numbers": ["x"] * 20_000})
    found = await errors_of("json", Numbers, body=body, headers=JSON)
    assert found == [("", "There are 20000 errors")]


@needs_pydantic
@pytest.mark.parametrize("number", ["NaN", "Infinity"])
async def test_what_is_no_json_is_none_for_models_either(number: str) -> None:
    class Price(pydantic.BaseModel):
        amount: float

    response, _ = await send("json", Price, body=f'{{"amount":{number}}}', headers=JSON)
    assert response.status == 400
    assert "Malformed JSON" in await response.text()


@pytest.mark.parametrize("target", ["query", "header", "param"])
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("x", int),
        ("0", Annotated[int, msgspec.Meta(ge=1)]),
        ("x", int | None),
        ("NaN", float),
        ("maybe", bool),
        ("31.1.26", datetime.date),
        ("x", Literal["a", "b"]),
        ("x", Literal[1, 2]),
    ],
)
async def test_one_mistake_has_one_answer(target: Any, text: str, kind: Any) -> None:
    """`c.req.query("id", int)` and the like refuse a value as `validator` does."""
    app = Kit()
    model = msgspec.defstruct("Model", [("id", kind)])

    def read(c: Context) -> Response:
        return c.json(getattr(c.req, target)("id", kind))

    app.get("/read/:id", read)
    app.get("/validated/:id", validator(target, model), lambda c: c.text("valid"))
    answers = []
    for path in ("read", "validated"):
        response = await app.request(f"/{path}/{text}?id={text}", headers={"id": text})
        assert (response.status, response.headers["content-type"]) == (
            400,
            "application/problem+json",
        )
        answers.append(await response.json())
    assert answers[0] == answers[1]
    assert answers[0]["errors"][0]["path"] == "id"
