# SPDX-License-Identifier: MIT
"""Random types: an app takes what its document says is valid, and refuses everything else."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import decimal
import enum
import json
import uuid
from collections.abc import Callable
from itertools import count
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, TypedDict
from urllib.parse import urlencode

import attrs
import jsonschema
import msgspec
import pydantic
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta
from openapi_spec_validator import validate

from kit import Kit
from kit.openapi import build_document
from kit.typed import Body, Cookie, Form, Header, Query, typed
from kit.validator import validator

JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}
FORMATS = jsonschema.Draft202012Validator.FORMAT_CHECKER
UUID = "12345678-1234-5678-1234-567812345678"
_numbers = count()


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


def pair(kind: Any, *values: Any) -> st.SearchStrategy[Any]:
    """A type, with a strategy for values that mostly fit."""
    return st.just((kind, st.sampled_from(values)))


# Numbers such as 3.0 are integers in JSON Schema, but not for msgspec, so there are none.
SCALARS = st.one_of(
    pair(str, "", "a", "é"),
    pair(Annotated[str, Meta(min_length=1, max_length=3)], "a", "abc", "abcd", ""),
    pair(Annotated[str, Meta(pattern="^[a-z]+$")], "a", "A", ""),
    pair(int, 0, -3, 7),
    pair(Annotated[int, Meta(ge=1, lt=10)], 0, 1, 9, 10),
    pair(Annotated[int, Meta(multiple_of=5)], 0, 3, 10),
    pair(Annotated[float, Meta(gt=0)], 0.5, -0.5, 3),
    pair(bool, True, False),
    pair(Literal["a", "b"], "a", "c"),
    pair(Literal[1, 2], 1, 3),
    pair(Color, "red", "green"),
    pair(Level, 1, 3),
    pair(uuid.UUID, UUID, "x"),
    pair(datetime.date, "2020-02-29", "2020-02-30", "x"),
    pair(decimal.Decimal, "1.5", "x", "1."),
    pair(int | Literal["all"], 1, "all", "none"),
)
KEYS = st.one_of(
    pair(str, "a", ""),
    pair(Annotated[str, Meta(pattern="^[a-z]+$")], "a", "A"),
    pair(Annotated[str, Meta(min_length=2)], "a", "ab"),
    pair(int, "1", "-1", "01", "x"),
    pair(Annotated[int, Meta(ge=1)], "1", "0", "-1"),
    pair(Level, "1", "3"),
    pair(Color, "red", "green"),
    pair(Literal["a", "b"], "a", "c"),
    pair(uuid.UUID, UUID, "x"),
    pair(datetime.date, "2020-02-29", "x"),
)
NAMES = st.lists(st.sampled_from(["a", "user_name", "c"]), min_size=1, max_size=3, unique=True)


def struct(name: str, fields: dict[str, Any]) -> Any:
    return msgspec.defstruct(name, [*fields.items()], rename="camel")


def strict_struct(name: str, fields: dict[str, Any]) -> Any:
    return msgspec.defstruct(name, [*fields.items()], forbid_unknown_fields=True)


def array_struct(name: str, fields: dict[str, Any]) -> Any:
    return msgspec.defstruct(name, [*fields.items()], array_like=True)


def dataclass(name: str, fields: dict[str, Any]) -> Any:
    return dataclasses.make_dataclass(name, [*fields.items()])


def typed_dict(name: str, fields: dict[str, Any]) -> Any:
    return TypedDict(name, {each: NotRequired[kind] for each, kind in fields.items()})  # type: ignore[operator,misc]


def named_tuple(name: str, fields: dict[str, Any]) -> Any:
    return NamedTuple(name, [*fields.items()])  # type: ignore[misc]


def attrs_class(name: str, fields: dict[str, Any]) -> Any:
    return attrs.make_class(name, {each: attrs.field(type=kind) for each, kind in fields.items()})


OBJECTS = (struct, strict_struct, dataclass, typed_dict, attrs_class)
ARRAYS = (array_struct, named_tuple)


@st.composite
def objects(draw: Any, inner: Any, makers: Any = (*OBJECTS, *ARRAYS)) -> Any:
    make = draw(st.sampled_from(makers))
    fields = {name: draw(inner) for name in draw(NAMES)}
    kind = make(
        f"{make.__name__.title()}{next(_numbers)}", {key: each[0] for key, each in fields.items()}
    )
    if make in ARRAYS:
        return kind, st.tuples(*(each[1] for each in fields.values())).map(list)
    sent = {
        key.replace("user_name", "userName") if make is struct else key: each[1]
        for key, each in fields.items()
    }
    return kind, st.fixed_dictionaries({}, optional=sent) | st.fixed_dictionaries(sent)


@st.composite
def containers(draw: Any, inner: Any) -> Any:
    kind, values = draw(inner)
    key, keys = draw(KEYS)
    other, others = draw(inner)
    return draw(
        st.sampled_from(
            [
                (list[kind], st.lists(values, max_size=2)),
                (Annotated[list[kind], Meta(max_length=1)], st.lists(values, max_size=2)),
                (dict[key, kind], st.dictionaries(keys, values, max_size=2)),
                (tuple[kind, other], st.tuples(values, others).map(list)),
                (Optional[kind], values | st.none()),  # noqa: UP045 - the kind may be a string
            ]
        )
    )


TYPES = st.recursive(SCALARS, lambda inner: containers(inner) | objects(inner), max_leaves=5)
JUNK = st.sampled_from([None, True, 1, -1, 0.5, "a", "x", [], [1], {}, {"a": 1}, {"zzz": 1}])


@st.composite
def broken(draw: Any, values: Any) -> Any:
    """A value, of which a part may be replaced."""
    value = draw(values)
    if draw(st.integers(0, 2)) == 0:
        return value
    if isinstance(value, dict) and value and draw(st.booleans()):
        key = draw(st.sampled_from(sorted(value)))
        return {**value, key: draw(broken(st.just(value[key])))}
    if isinstance(value, list) and value and draw(st.booleans()):
        index = draw(st.integers(0, len(value) - 1))
        return [*value[:index], draw(broken(st.just(value[index]))), *value[index + 1 :]]
    return draw(JUNK)


def document_of(app: Kit) -> tuple[dict[str, Any], Callable[[Any, Any], bool]]:
    """The only operation of an app, and a function that tells whether a value fits a schema."""
    document = build_document(app)
    validate(document)
    ((operation,),) = (item.values() for item in document["paths"].values())

    def fits(value: Any, schema: Any) -> bool:
        whole = {"allOf": [schema], "components": document["components"]}
        found = jsonschema.Draft202012Validator(whole, format_checker=FORMATS)
        return bool(found.is_valid(value))

    return operation, fits


def status_of(app: Kit, url: str = "/", **init: Any) -> int:
    async def status() -> int:
        return (await app.request(url, method="POST", **init)).status

    found = asyncio.run(status())
    assert found in (204, 400)
    return found


def endpoint(kind: Any, marker: Any) -> Any:
    async def endpoint(value: Any) -> None: ...

    endpoint.__annotations__["value"] = Annotated[kind, marker]
    return typed(endpoint)


@given(TYPES, st.booleans(), st.data())
def test_json(pair: Any, is_typed: bool, data: st.DataObject) -> None:
    kind, values = pair
    app = Kit()
    if is_typed:
        app.post("/", endpoint(kind, Body()))
    else:
        app.post("/", validator("json", Annotated[kind, ""]), lambda c: c.body(None, 204))
    operation, fits = document_of(app)
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    for _ in range(4):
        value = data.draw(broken(values))
        status = status_of(app, headers=JSON, body=json.dumps(value))
        assert (status == 204) is fits(value, schema), (kind, value, schema)
    assert (status_of(app) == 400) is operation["requestBody"].get("required", False)


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@st.composite
def lists(draw: Any, inner: Any) -> Any:
    kind, values = draw(inner)
    return draw(
        st.sampled_from(
            [
                (list[kind], st.lists(values, min_size=1, max_size=2)),
                (list[int] | Literal["all"], st.just("all") | st.just([1, 2])),
                (Optional[kind], values | st.none()),  # noqa: UP045 - the kind may be a string
            ]
        )
    )


FIELDS = SCALARS | lists(SCALARS)


@given(
    objects(FIELDS, (*OBJECTS, named_tuple)),
    st.sampled_from(["query", "form"]),
    st.booleans(),
    st.data(),
)
def test_names(pair: Any, target: Any, is_typed: bool, data: st.DataObject) -> None:
    kind, values = pair
    app = Kit()
    if is_typed:
        app.post("/", endpoint(kind, Query() if target == "query" else Form()))
    else:
        app.post("/", validator(target, kind), lambda c: c.body(None, 204))
    operation, fits = document_of(app)
    if target == "query":
        schemas = {each["name"]: each for each in operation["parameters"]}
        required = [name for name, each in schemas.items() if each.get("required")]
        fields = {name: each["schema"] for name, each in schemas.items()}
    else:
        schema = operation["requestBody"]["content"][FORM["content-type"]]["schema"]
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            schema = build_document(app)["components"]["schemas"][name]
        fields, required = schema["properties"], schema.get("required", [])
    for _ in range(4):
        value = data.draw(values)
        if isinstance(value, list):  # of a named tuple
            value = dict(zip(fields, value, strict=True))
        pairs = [
            (name, text_of(each))
            for name, some in value.items()
            for each in (some if isinstance(some, list) else [some])
        ]
        body = {} if target == "query" else {"headers": FORM, "body": urlencode(pairs)}
        status = status_of(app, f"/?{urlencode(pairs)}" if target == "query" else "/", **body)
        is_valid = all(name in value for name in required) and all(
            fits(some, fields[name]) for name, some in value.items()
        )
        if is_valid:
            assert status == 204, (kind, value, fields)
        # A text may be read as another type: `1` as true.
        elif not any(map(fits_as_text(fits), value.items(), [fields] * len(value))):
            assert status == 400, (kind, value, fields)


def fits_as_text(fits: Any) -> Any:
    """Returns a function that tells whether the text of a value that doesn't fit may fit."""

    def fits_as_text(item: Any, fields: Any) -> bool:
        name, value = item
        texts = [text_of(each) for each in (value if isinstance(value, list) else [value])]
        readings = [texts, *texts, [value], *([json.loads(texts[0])] if is_json(texts[0]) else [])]
        return not fits(value, fields[name]) and any(fits(each, fields[name]) for each in readings)

    return fits_as_text


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


MODELS = st.dictionaries(
    st.sampled_from(["a", "user_name", "c"]),
    st.sampled_from(
        [
            (int, 1),
            (int | None, 1),
            (str | None, "x"),
            (Annotated[int, pydantic.Field(ge=3)], 3),
            (decimal.Decimal, "1.5"),
            (list[int], [1, 2]),
            (list[int] | None, [1, 2]),
            (int | Annotated[str, pydantic.Field(min_length=2)], 7),
            (Literal["a", "b"], "a"),
        ]
    ),
    min_size=1,
)


@given(MODELS, st.sampled_from(["query", "header", "cookie", "form"]), st.booleans())
def test_models_of_pydantic(fields: Any, target: Any, is_forbidding: bool) -> None:
    model: Any = pydantic.create_model(
        f"Model{next(_numbers)}",
        __config__=pydantic.ConfigDict(extra="forbid" if is_forbidding else "ignore"),
        **{name: (kind, ...) for name, (kind, _) in fields.items()},
    )
    app = Kit()
    marker = {"query": Query, "header": Header, "cookie": Cookie, "form": Form}[target]()
    if target == "cookie":
        fields = {name: (kind, each) for name, (kind, each) in fields.items() if each != [1, 2]}
        model = pydantic.create_model(
            model.__name__, **{n: (k, ...) for n, (k, _) in fields.items()}
        )
        if not fields:
            return
    app.post("/", endpoint(model, marker))
    document_of(app)
    values = [
        (name.replace("_", "-") if target == "header" else name, text_of(each))
        for name, (_, some) in fields.items()
        for each in (some if isinstance(some, list) else [some])
    ]
    if target == "query":
        assert status_of(app, f"/?{urlencode(values)}") == 204
    elif target == "form":
        assert status_of(app, headers=FORM, body=urlencode(values)) == 204
    elif target == "cookie":
        assert status_of(app, headers={"cookie": "; ".join(map("=".join, values))}) == 204
    else:
        assert status_of(app, headers=[*values, ("host", "localhost")]) == 204
