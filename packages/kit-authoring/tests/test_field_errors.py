# SPDX-License-Identifier: MIT
"""Types, contexts and paths of the errors of msgspec and pydantic."""

from __future__ import annotations

import datetime
import decimal
import enum
import json
import uuid
from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, inspect
from pydantic import AfterValidator, AliasPath, BaseModel, Field, RootModel, ValidationError
from pydantic_core import PydanticCustomError

from kit.authoring.field_errors import field_error, read_message
from kit.authoring.models import Model, find_model, summary, validation_errors


class Item(msgspec.Struct):
    number: int


class Strict(msgspec.Struct, forbid_unknown_fields=True):
    number: int


class Pair(msgspec.Struct, array_like=True):
    first: int
    second: int = 0


class Cat(msgspec.Struct, tag="cat"):
    lives: int = 9


class Dog(msgspec.Struct, tag="dog"):
    name: str = ""


class Checked(msgspec.Struct):
    number: int

    def __post_init__(self) -> None:
        raise ValueError("no number will do")


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"


def bounded(kind: Any, **bounds: Any) -> Any:
    return Annotated[kind, Meta(**bounds)]


@pytest.mark.parametrize(
    ("kind", "data", "name", "ctx"),
    [
        (int, b'"a"', "int_type", {}),
        (float, b'"a"', "float_type", {}),
        (str, b"1", "string_type", {}),
        (bool, b"1", "bool_type", {}),
        (list[int], b"1", "list_type", {}),
        (Item, b"1", "dict_type", {}),
        (None, b"1", "none_required", {}),
        (int | str, b"[]", "type_error", {"expected": "int | str"}),
        (Item, b"{}", "missing", {}),
        (Strict, b'{"number": 1, "x": 1}', "extra_forbidden", {}),
        (Color, b'"blue"', "enum", {"expected": "'red' or 'green'"}),
        (Literal["a", "b"], b'"c"', "enum", {"expected": "'a' or 'b'"}),
        (Literal[1, 2, 3], b"4", "enum", {"expected": "1, 2 or 3"}),
        (Literal["a"] | None, b'"c"', "enum", {"expected": "'a'"}),
        (bounded(Literal["a"], description="x"), b'"c"', "enum", {"expected": "'a'"}),
        (
            Cat | Dog,
            b'{"type": "bird"}',
            "union_tag_invalid",
            {"discriminator": "'type'", "tag": "bird", "expected_tags": "'cat', 'dog'"},
        ),
        (uuid.UUID, b'"x"', "uuid_parsing", {}),
        (datetime.datetime, b'"x"', "datetime_parsing", {}),
        (datetime.date, b'"x"', "date_parsing", {}),
        (datetime.time, b'"x"', "time_parsing", {}),
        (datetime.timedelta, b'"x"', "time_delta_parsing", {}),
        (decimal.Decimal, b'"x"', "decimal_parsing", {}),
        (bytes, b'"x"', "bytes_invalid_encoding", {}),
        (float, b"1e999", "number_out_of_range", {}),
        (bounded(int, multiple_of=2), b"3", "multiple_of", {"multiple_of": 2}),
        (bounded(int, ge=2), b"1", "greater_than_equal", {"ge": 2}),
        (bounded(int, le=-2), b"3", "less_than_equal", {"le": -2}),
        (bounded(float, gt=2.5), b"1", "greater_than", {"gt": 2.5}),
        (bounded(float, lt=1e300), b"1e301", "less_than", {"lt": 1e300}),
        (bounded(str, pattern="^'a`$"), b'"b"', "string_pattern_mismatch", {"pattern": "^'a`$"}),
        (bounded(str, min_length=2), b'"b"', "string_too_short", {"min_length": 2}),
        (bounded(str, max_length=1), b'"bb"', "string_too_long", {"max_length": 1}),
        (bounded(bytes, min_length=2), b'"AA=="', "bytes_too_short", {"min_length": 2}),
        (bounded(bytes, max_length=1), b'"AAAA"', "bytes_too_long", {"max_length": 1}),
        (bounded(list[int], min_length=2), b"[1]", "too_short", {"min_length": 2}),
        (bounded(list[int], max_length=1), b"[1, 2]", "too_long", {"max_length": 1}),
        (bounded(dict[str, int], min_length=1), b"{}", "too_short", {"min_length": 1}),
        (tuple[int, int], b"[1]", "wrong_length", {"min_length": 2, "max_length": 2}),
        (Pair, b"[]", "too_short", {"min_length": 1, "actual_length": 0}),
        (bounded(datetime.datetime, tz=True), b'"2020-01-01T00:00:00"', "timezone_aware", {}),
        (bounded(datetime.datetime, tz=False), b'"2020-01-01T00:00:00Z"', "timezone_naive", {}),
        (Checked, b'{"number": 1}', "value_error", {}),
        (int, b"3 4", "json_invalid", {}),
        (list[int], b"[3", "json_invalid", {}),
    ],
)
def test_errors_of_msgspec(kind: Any, data: bytes, name: str, ctx: dict[str, Any]) -> None:
    with pytest.raises(msgspec.DecodeError) as caught:
        msgspec.json.decode(data, type=kind)
    message = str(caught.value).partition(" - at `")[0]
    assert read_message(message, inspect.type_info(kind)) == (name, ctx)


def test_messages_as_the_validator_words_them() -> None:
    assert read_message("Missing required field").type == "missing"
    assert read_message("Unknown field").type == "extra_forbidden"
    assert read_message("Expected `int`").type == "int_type"
    assert read_message("Expected `decimal` >= 0.5") == ("greater_than_equal", {"ge": 0.5})
    assert read_message("Expected `array` of length 2 to 3, got 1") == (
        "wrong_length",
        {"min_length": 2, "max_length": 3, "actual_length": 1},
    )
    of_digits = "Expected `decimal` of at most 8 digits"
    assert read_message(of_digits) == ("decimal_max_digits", {"max_digits": 8})
    of_places = "Expected `decimal` of at most 2 decimal places"
    assert read_message(of_places) == ("decimal_max_places", {"decimal_places": 2})


def test_what_a_client_sent_does_not_count() -> None:
    for sent in ("issing required field", "Invalid value 1", "JSON is malformed", "` >= 3"):
        assert read_message(f"Invalid enum value {sent!r}") == ("enum", {})
        assert read_message(f"Invalid value {sent!r}") == ("union_tag_invalid", {})


@given(st.text())
def test_any_message_has_a_type(message: str) -> None:
    kind, ctx = read_message(message)
    json.dumps(field_error("", message, kind, ctx), allow_nan=False)


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else "x"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (decimal.Decimal("0.5"), "0.5"),
        (datetime.date(2020, 1, 31), "2020-01-31"),
        (datetime.timedelta(seconds=1), "0:00:01"),
        (ValueError("no"), "no"),
        (float("inf"), "inf"),
        (Color.RED, "red"),
        ({"a": {1}}, {"a": [1]}),
        (True, True),
        (None, None),
        ("x" * 501, "x" * 500 + "..."),
    ],
)
def test_a_context_fits_into_json(value: Any, expected: Any) -> None:
    error = field_error("a", "m", "t", {"bound": value})
    assert error == {"path": "a", "message": "m", "type": "t", "ctx": {"bound": expected}}
    assert list(error) == ["path", "message", "type", "ctx"]
    json.dumps(error, allow_nan=False)


def test_a_context_is_bounded() -> None:
    large = {"a": [*range(1000)], "b": nested(100), "c": 10**5000, "d": {"k" * 9999: 1}}
    text = json.dumps(field_error("a", "m", "t", large), allow_nan=False)
    assert len(text) < 2500


def test_an_error_without_a_context_has_none() -> None:
    assert field_error("a", "m", "t", {}) == {"path": "a", "message": "m", "type": "t"}


class Tea(BaseModel):
    kind: Literal["tea"]
    steep: int = Field(ge=1)
    tea: dict[str, int] = {}


class Coffee(BaseModel):
    kind: Literal["coffee"]
    shots: int
    beside: list[Drink] | None = None


Drink = Annotated[Tea | Coffee, Field(discriminator="kind")]


def positive(value: int) -> int:
    if value < 0:
        raise ValueError("must be positive")
    return value


class Named(BaseModel):
    name: str


class Numbered(BaseModel):
    number: int = Field(validation_alias=AliasPath("deep", 0))


class Inner(BaseModel):
    x: int | list[int]


def revalidated(value: Any) -> Any:
    return Inner.model_validate(value)


def refuse(value: Any) -> Any:
    raise PydanticCustomError("sold_out", "Sold out", {"left": 0, "until": datetime.date.max})


class Order(BaseModel):
    drinks: list[Drink] = []
    who: Named | Numbered | None = None
    amount: Annotated[int, AfterValidator(positive)] | Annotated[str, Field(min_length=3)] = 1
    by_key: dict[int, Named | int] = {}
    pair: tuple[int, Drink] | None = None
    root: RootModel[int | list[int]] | None = None
    inner: Annotated[Any, AfterValidator(revalidated)] = None
    custom: Annotated[int, AfterValidator(refuse)] = 0


Coffee.model_rebuild()
Order.model_rebuild()


def errors_of(kind: Any, data: Any, *, is_known: bool = True) -> list[tuple[str, str]]:
    model = find_model(kind)
    assert model is not None
    with pytest.raises(ValidationError) as caught:
        model.validate_json(json.dumps(data).encode())
    known = (model, data) if is_known else (None,)
    return [(each["path"], each["type"]) for each in validation_errors(caught.value, *known)]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"drinks": [{"kind": "tea", "steep": 0}]}, [("drinks[0].steep", "greater_than_equal")]),
        ({"drinks": [{"kind": "tea"}]}, [("drinks[0].steep", "missing")]),
        # The tag is a field as well.
        (
            {"drinks": [{"kind": "tea", "steep": "x", "tea": {"steep": "x"}}]},
            [("drinks[0].steep", "int_parsing"), ("drinks[0].tea.steep", "int_parsing")],
        ),
        (
            {"drinks": [{"kind": "coffee", "shots": 1, "beside": [{"kind": "tea", "steep": "x"}]}]},
            [("drinks[0].beside[0].steep", "int_parsing")],
        ),
        ({"drinks": [{"kind": "milk"}]}, [("drinks[0]", "union_tag_invalid")]),
        ({"drinks": [{}]}, [("drinks[0]", "union_tag_not_found")]),
        ({"who": {}}, [("who.name", "missing"), ("who.deep[0]", "missing")]),
        ({"amount": -1}, [("amount", "value_error"), ("amount", "string_type")]),
        ({"amount": "x"}, [("amount", "int_parsing"), ("amount", "string_too_short")]),
        ({"by_key": {"x": 1}}, [("by_key.x", "int_parsing")]),
        ({"by_key": {"1": {}}}, [("by_key.1.name", "missing"), ("by_key.1", "int_type")]),
        ({"pair": [1, {"kind": "tea", "steep": 0}]}, [("pair[1].steep", "greater_than_equal")]),
        ({"pair": ["x", {"kind": "tea", "steep": 1}]}, [("pair[0]", "int_parsing")]),
        ({"root": ["x"]}, [("root", "int_type"), ("root[0]", "int_parsing")]),
        # The errors of another model, which the schema doesn't have.
        ({"inner": {"x": [1, "a"]}}, [("inner.x", "int_type"), ("inner.x[1]", "int_parsing")]),
        ({"custom": 1}, [("custom", "sold_out")]),
    ],
)
def test_paths_lead_through_the_data(data: Any, expected: list[tuple[str, str]]) -> None:
    assert errors_of(Order, data) == expected


def test_paths_within_a_list_of_models() -> None:
    assert errors_of(list[Drink], [{"kind": "tea", "steep": 0}]) == [
        ("[0].steep", "greater_than_equal")
    ]


def test_paths_without_the_model_are_those_of_pydantic() -> None:
    data = {"drinks": [{"kind": "tea", "steep": 0}]}
    found = errors_of(Order, data, is_known=False)
    assert found == [("drinks[0].tea.steep", "greater_than_equal")]


def test_paths_in_deep_data_are_found() -> None:
    drink: dict[str, Any] = {"kind": "tea", "steep": 0}
    for _ in range(60):
        drink = {"kind": "coffee", "shots": 1, "beside": [drink]}
    assert errors_of(Order, {"drinks": [drink]}) == [
        ("drinks[0]" + ".beside[0]" * 60 + ".steep", "greater_than_equal")
    ]


json_values = st.recursive(
    st.none() | st.integers(-2, 2) | st.sampled_from(["tea", "coffee", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["kind", "steep", "tea", "shots", "beside", "name", "0", "number"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(
        st.sampled_from(["drinks", "who", "amount", "by_key", "pair", "root"]), json_values
    )
)
def test_every_path_exists_in_the_data(data: dict[str, Any]) -> None:
    """Except for its last step, if that is what is missing."""
    model = find_model(Order)
    assert model is not None
    try:
        model.validate(data)
    except ValidationError as error:
        for each in validation_errors(error, model, data):
            steps = each["path"].replace("[", ".[").split(".")
            if each["type"] == "missing":
                del steps[-2 if each["path"].endswith("deep[0]") else -1 :]
            follow(data, steps)


def follow(value: Any, steps: list[str]) -> None:
    for step in filter(None, steps):
        value = value[int(step[1:-1])] if step.startswith("[") else by_text(value, step)


def by_text(value: dict[Any, Any], key: str) -> Any:
    return next(each for name, each in value.items() if str(name) == key)


def test_contexts_of_pydantic() -> None:
    model: Callable[[Any], Any] = Order.model_validate
    with pytest.raises(ValidationError) as caught:
        model({"amount": -1, "custom": 1, "drinks": [{"kind": "x" * 9999}]})
    found = {each["type"]: each.get("ctx") for each in validation_errors(caught.value)}
    assert found["value_error"] == {"error": "must be positive"}
    assert found["sold_out"] == {"left": 0, "until": "9999-12-31"}
    assert found["union_tag_invalid"] == {
        "discriminator": "'kind'",
        "tag": "x" * 500 + "...",
        "expected_tags": "'tea', 'coffee'",
    }


def test_a_summary_has_the_same_paths() -> None:
    model = find_model(Order)
    assert isinstance(model, Model)
    with pytest.raises(ValidationError) as caught:
        model.validate({"drinks": [{"kind": "tea", "steep": 0}]})
    assert summary(caught.value, model).endswith("at `$.drinks[0].steep`")
