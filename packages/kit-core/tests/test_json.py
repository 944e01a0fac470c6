# SPDX-License-Identifier: MIT
"""JSON: what becomes of Python values, where one that can't be sent is, and what is read."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import HTTPException, KitRequest, Request
from kit._json import decode, encode


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Inner:
    value: Any


@dataclass
class Outer:
    inner: Inner
    items: list[Inner] = dataclasses.field(default_factory=list)


class Record(msgspec.Struct):
    name: str
    inner: Any = None


class Model:
    """What describes itself as pydantic models do."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self, *, mode: str = "python") -> Any:
        assert mode in ("json", "python")
        return self.fields


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
).filter(lambda value: "\\ud" not in json.dumps(value))


@given(VALUES)
def test_round_trip(value: Any) -> None:
    assert decode(encode(value)) == value
    assert decode(json.dumps(value).encode()) == value
    assert json.loads(encode(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param({"b": 1, "a": 2}, '{"b":1,"a":2}', id="order is kept, compact"),
        pytest.param("é<\u2028\x7f", '"é<\u2028\x7f"', id="not escaped"),
        pytest.param('"\\\n\0', '"\\"\\\\\\n\\u0000"', id="escaped"),
        pytest.param([float("nan"), float("inf"), -float("inf")], "[null,null,null]", id="NaN"),
        pytest.param(2**70, "1180591620717411303424", id="large"),
        pytest.param({1: "a"}, '{"1":"a"}', id="key of int"),
        pytest.param((1, {2}, frozenset({3})), "[1,[2],[3]]", id="tuple and set"),
        pytest.param(
            datetime.datetime(2026, 1, 2, 3, 4, 5), '"2026-01-02T03:04:05"', id="datetime"
        ),
        pytest.param(datetime.date(2026, 1, 2), '"2026-01-02"', id="date"),
        pytest.param(uuid.UUID(int=1), '"00000000-0000-0000-0000-000000000001"', id="UUID"),
        pytest.param(decimal.Decimal("1.10"), '"1.10"', id="Decimal"),
        pytest.param(Colour.RED, '"red"', id="enum"),
        pytest.param(Outer(Inner(1), [Inner(None)]), None, id="dataclass"),
        pytest.param(Record("n", Record("m")), None, id="Struct"),
        pytest.param([Model(a=Model(b=1))], '[{"a":{"b":1}}]', id="pydantic"),
    ],
)
def test_encode(value: Any, text: str | None) -> None:
    expected = {
        Outer: '{"inner":{"value":1},"items":[{"value":null}]}',
        Record: '{"name":"n","inner":{"name":"m","inner":null}}',
    }
    assert encode(value).decode() == (text or expected[type(value)])


class Odd:
    def __repr__(self) -> str:
        return "odd" * 100


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(Odd(), "Can't encode Odd as JSON, at $: " + "odd" * 33 + "o", id="itself"),
        pytest.param([1, Odd()], "Can't encode Odd as JSON, at $[1]: ", id="list"),
        pytest.param(
            {"a": {"b": (0, Odd())}}, "Can't encode Odd as JSON, at $['a']['b'][1]: ", id="deep"
        ),
        pytest.param({1: Odd()}, "Can't encode Odd as JSON, at $[1]: ", id="key of int"),
        pytest.param(
            Outer(Inner(Odd())), "Can't encode Odd as JSON, at $.inner.value: ", id="dataclass"
        ),
        pytest.param(
            Record("n", [Odd()]), "Can't encode Odd as JSON, at $.inner[0]: ", id="Struct"
        ),
        pytest.param({(1, 2): 3}, "Can't encode dict as JSON, at $: {(1, 2): 3}", id="key"),
        pytest.param([{"a": 1j}], "Can't encode complex as JSON, at $[0]['a']: 1j", id="complex"),
    ],
)
def test_what_can_not_be_encoded(value: Any, text: str) -> None:
    with pytest.raises(TypeError) as caught:
        encode(value)
    assert str(caught.value).startswith(text)
    assert len(str(caught.value)) < 160


def test_model_that_holds_what_can_not_be_encoded() -> None:
    with pytest.raises(TypeError, match=r"^Can't encode Odd as JSON, at \$\[0\]"):
        encode([Model(a=Odd())])


def test_a_model_class_is_no_model() -> None:
    with pytest.raises(TypeError, match=r"^Can't encode type as JSON, at \$\[0\]: "):
        encode([Model])


def test_half_a_character_says_where_it_is() -> None:
    with pytest.raises(TypeError, match=r"\$\['a'\]\[0\]"):
        encode({"a": ["\ud800"]})


def test_a_list_within_itself() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises((RecursionError, TypeError)):
        encode(value)


async def read(body: bytes | str, type: Any = None) -> Any:
    req = KitRequest(Request("http://x/", method="POST", body=body))
    return await (req.json() if type is None else req.json(type=type))


@pytest.mark.parametrize(
    ("body", "value"),
    [
        pytest.param(b"\xef\xbb\xbf {} \r\n\t", {}, id="mark and blanks"),
        pytest.param('{"a":1,"a":2}', {"a": 2}, id="last of a name"),
        pytest.param('"\\u00e9\\ud83d\\ude00\\u0000"', "é😀\0", id="escapes"),
        pytest.param("-0", 0, id="minus nought"),
        pytest.param("1E2", 100.0, id="exponent"),
        pytest.param(
            '{"__proto__": 1, "constructor": 2}', {"__proto__": 1, "constructor": 2}, id="names"
        ),
    ],
)
async def test_read(body: bytes | str, value: Any) -> None:
    assert await read(body) == value


@pytest.mark.parametrize(
    "body",
    [
        *["", " ", "{", "[1,]", "{'a':1}", "01", "+1", ".5", "1.", "NaN", "Infinity", "undefined"],
        *[
            "1 2",
            '"\n"',
            '"\\x"',
            "// c\n1",
            "\ufeff\ufeff1",
            "\0",
            b'"\xff"',
            b"\xff\xfe1\0",
            "nul",
            "]",
        ],
    ],
)
async def test_what_is_no_json(body: bytes | str) -> None:
    with pytest.raises(HTTPException) as caught:
        await read(body)
    assert caught.value.status == 400
    assert (caught.value.message or "").startswith("Malformed JSON in the request body: ")
    assert caught.value.__cause__ is not None


async def test_number_out_of_range() -> None:
    with pytest.raises(HTTPException, match=r"^400 Malformed JSON in the request body: Number out"):
        await read("1e999")


@given(st.binary(max_size=20))
async def test_whatever_comes_is_read_or_refused(body: bytes) -> None:
    for kind in (None, Point, list[int]):
        try:
            await read(body, kind)
        except HTTPException as error:
            assert error.status == 400  # noqa: PT017
            assert error.message  # noqa: PT017


class Typed(TypedDict, total=False):
    x: int
    kind: Literal["a", "b"]


@dataclass
class Point:
    x: int
    tags: list[str] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("x is below nought")


class Bounded(msgspec.Struct, forbid_unknown_fields=True):
    n: Annotated[int, msgspec.Meta(ge=1, le=9)]


@pytest.mark.parametrize(
    ("body", "type", "value"),
    [
        pytest.param('{"x": 1, "more": 2}', Point, Point(1), id="dataclass, more fields"),
        pytest.param('{"x": 1, "tags": ["a"]}', Point, Point(1, ["a"]), id="dataclass"),
        pytest.param('{"kind": "b"}', Typed, {"kind": "b"}, id="TypedDict"),
        pytest.param('{"n": 9}', Bounded, Bounded(9), id="Struct"),
        pytest.param('{"a": [{"x": 1}]}', dict[str, list[Point]], {"a": [Point(1)]}, id="nested"),
        pytest.param("null", Point | None, None, id="union"),
        pytest.param(b"\xef\xbb\xbf1", int, 1, id="mark"),
        pytest.param('"2026-01-02"', datetime.date, datetime.date(2026, 1, 2), id="date"),
    ],
)
async def test_read_as_a_type(body: bytes | str, type: Any, value: Any) -> None:
    assert await read(body, type) == value


@pytest.mark.parametrize(
    ("body", "type", "message"),
    [
        ("{}", Point, "Unexpected JSON in the request body: Object missing required field `x`"),
        (
            '{"x": 1, "tags": ["a", 2]}',
            Point,
            "Unexpected JSON in the request body: Expected `str`, got `int` - at `$.tags[1]`",
        ),
        ('{"x": -1}', Point, "Unexpected JSON in the request body: x is below nought"),
        (
            '{"kind": "c"}',
            Typed,
            "Unexpected JSON in the request body: Invalid enum value 'c' - at `$.kind`",
        ),
        (
            '{"n": 10}',
            Bounded,
            "Unexpected JSON in the request body: Expected `int` <= 9 - at `$.n`",
        ),
        (
            '{"n": 1, "m": 2}',
            Bounded,
            "Unexpected JSON in the request body: Object contains unknown field `m`",
        ),
        ("[]", Bounded, "Unexpected JSON in the request body: Expected `object`, got `array`"),
        ("", Point, "Malformed JSON in the request body: Input data was truncated"),
        ('{"x": 1', Point, "Malformed JSON in the request body: Input data was truncated"),
        (
            '{"x": 1}}',
            Point,
            "Malformed JSON in the request body: JSON is malformed: trailing characters (byte 9)",
        ),
        ("[" * 100_000, list[Any], "Malformed JSON in the request body: it is nested too deeply"),
    ],
)
async def test_what_is_not_of_the_type(body: str, type: Any, message: str) -> None:
    with pytest.raises(HTTPException) as caught:
        await read(body, type)
    assert (caught.value.status, caught.value.message) == (400, message)


class SelfMade:
    """A class that validates itself, as pydantic models do."""

    class InvalidError(ValueError):
        def errors(self) -> list[Any]:
            return []

    @classmethod
    def model_validate_json(cls, data: bytes) -> Any:
        if data != b"1":
            raise cls.InvalidError("it is not 1")
        return cls()


async def test_model_that_validates_itself() -> None:
    assert isinstance(await read("\ufeff1", SelfMade), SelfMade)
    with pytest.raises(HTTPException) as caught:
        await read("2", SelfMade)
    assert caught.value.message == "Unexpected JSON in the request body: it is not 1"
    assert isinstance(caught.value.__cause__, SelfMade.InvalidError)
