# SPDX-License-Identifier: MIT
"""JSON: what becomes of Python values, where one that can't be sent is, and what is read."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import re
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import HTTPException, KitRequest, Request, Response

try:
    import attrs
except ImportError:
    attrs = None  # type: ignore[assignment]
try:
    import pydantic
except ImportError:
    pydantic = None  # type: ignore[assignment]

needs_pydantic = pytest.mark.skipif(pydantic is None, reason="pydantic is not installed")


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


class Private(msgspec.Struct):
    _a: Any


class Model:
    """What describes itself as pydantic models do."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self, *, mode: str = "python") -> Any:
        assert mode in ("json", "python")
        return self.fields


async def encode(value: Any) -> bytes:
    return await Response.json(value).bytes()


async def decode(data: bytes) -> Any:
    return await Response(data).json()


async def read(body: bytes | str, type: Any = None) -> Any:
    req = KitRequest(Request("http://x/", method="POST", body=body))
    return await (req.json() if type is None else req.json(type))


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
async def test_round_trip(value: Any) -> None:
    encoded = await encode(value)
    assert await decode(encoded) == value
    assert await decode(json.dumps(value).encode()) == value
    assert json.loads(encoded) == value


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
async def test_encode(value: Any, text: str | None) -> None:
    expected = {
        Outer: '{"inner":{"value":1},"items":[{"value":null}]}',
        Record: '{"name":"n","inner":{"name":"m","inner":null}}',
    }
    assert (await encode(value)).decode() == (text or expected[type(value)])


class Odd:
    def __repr__(self) -> str:
        return "odd" * 100


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(Odd(), "Can't encode Odd as JSON, at $: " + "odd" * 33 + "o", id="itself"),
        pytest.param([1, Odd()], "Can't encode Odd as JSON, at $[1]: ", id="list"),
        pytest.param({"a": {"b": (0, Odd())}}, "Can't encode Odd as JSON, at", id="deep"),
        pytest.param({1: Odd()}, "Can't encode Odd as JSON, at $[1]: ", id="key of int"),
        pytest.param(Outer(Inner(Odd())), "Can't encode Odd as JSON, at", id="dataclass"),
        pytest.param(Record("n", [Odd()]), "Can't encode Odd as JSON, at", id="Struct"),
        pytest.param(Private({"a": Odd()}), "Can't encode Odd as JSON, at", id="private"),
        pytest.param({(1, 2): 3}, "Can't encode dict as JSON, at $: {(1, 2): 3}", id="key"),
        pytest.param([{"a": 1j}], "Can't encode complex as JSON, at $[0]['a']: 1j", id="complex"),
    ],
)
async def test_what_can_not_be_encoded(value: Any, text: str) -> None:
    with pytest.raises(TypeError) as caught:
        await encode(value)
    assert text in str(caught.value)
    assert len(str(caught.value)) < 200


async def test_model_that_holds_what_can_not_be_encoded() -> None:
    with pytest.raises(TypeError, match=r"^Can't encode Odd as JSON, at \$\[0\]"):
        await encode([Model(a=Odd())])


@pytest.mark.skipif(attrs is None, reason="attrs is not installed")
async def test_attributes_that_can_not_be_encoded() -> None:
    made = attrs.make_class("Made", ["fine", "odd"])
    with pytest.raises(TypeError, match=r"^Can't encode Odd as JSON, at \$\.odd\[0\]: "):
        await encode(made(1, [Odd()]))


async def test_a_model_class_is_no_model() -> None:
    with pytest.raises(TypeError, match=r"^Can't encode type as JSON, at \$\[0\]: "):
        await encode([Model])


async def test_half_a_character_says_where_it_is() -> None:
    with pytest.raises(TypeError, match=r"\$\['a'\]\[0\]"):
        await encode({"a": ["\ud800"]})


async def test_a_list_within_itself() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises((RecursionError, TypeError)):
        await encode(value)


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
        *["1 2", '"\n"', '"\\x"', "// c\n1", "\ufeff\ufeff1", "\0", b'"\xff"', b"\xff\xfe1\0"],
        *["nul", "]"],
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
        ("", Point, "Malformed JSON in the request body: Input data was truncated (byte 0)"),
        (
            '{"x": 1',
            Point,
            "Malformed JSON in the request body: Input data was truncated (byte 7)",
        ),
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


@pytest.mark.parametrize("type", [None, str, list[str], dict[str, str]])
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(r"\ud800", id="high half"),
        pytest.param(r"\uDBFFx", id="and text"),
        pytest.param(r"\ud800\n", id="and escape"),
        pytest.param(r"\\\ud800", id="after backslash"),
        pytest.param(r"\ud83d\ude00\ud83d", id="three halves"),
        pytest.param(r"\udc00", id="low half"),
        pytest.param(r"\ud800\ud800", id="high halves"),
        pytest.param(r"\ud800\u0041", id="and letter"),
        pytest.param(r"\u12", id="short escape"),
        pytest.param(r"\ud83d\u", id="short half"),
    ],
)
@pytest.mark.parametrize("after", ["", " and more text, so that it isn't near the end"])
async def test_half_characters(text: str, type: Any, after: str) -> None:
    text = f'"{text}{after}"'
    body = {list[str]: f"[{text}]", dict[str, str]: f'{{"a":{text}}}'}.get(type, text)
    with pytest.raises(HTTPException) as caught:
        await read(body, type)
    message = caught.value.message or ""
    assert message.startswith("Malformed JSON in the request body: ")
    assert re.search(r" \(byte \d+\)$", message)


@pytest.mark.parametrize(
    ("body", "position"),
    [
        ("", 0),
        ("[1,", 3),
        ('"', 1),
        ('"\\', 2),
        ('"\\u', 3),
        ('"\\ud8', 5),
        ('"\\ud83d', 7),
        ('"\\ud83d\\', 8),
        ('"\\ud83d\\ude', 11),
        ('"\\\\ud800', 8),
        ("tru", 3),
    ],
)
async def test_what_ends_too_early(body: str, position: int) -> None:
    for kind in (None, Any, list[Any] if body.startswith("[") else bool | str | None):
        with pytest.raises(HTTPException) as caught:
            await read(body, kind)
        assert caught.value.message == (
            f"Malformed JSON in the request body: Input data was truncated (byte {position})"
        )


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 100))
async def test_whatever_ends_too_early(text: str, most: int) -> None:
    data = json.dumps(text).encode()[:-1]
    for cut in {len(data), *range(1, min(most, len(data)))}:
        with pytest.raises(ValueError, match=rf"truncated \(byte {cut}\)$"):
            await decode(data[:cut])


@pytest.mark.parametrize("type", [None, dict[str, list[str]]])
async def test_bytes_that_are_no_utf8(type: Any) -> None:
    with pytest.raises(HTTPException) as caught:
        await read(b'{"a": ["b", "cd\xff"]}', type)
    assert caught.value.message == (
        "Malformed JSON in the request body: JSON is malformed: invalid UTF-8 (byte 15)"
    )


class SelfMade:
    """A class that validates itself, as pydantic models do."""

    class InvalidError(ValueError):
        def errors(self) -> list[Any]:
            return []

    @classmethod
    def model_validate(cls, data: Any) -> Any:
        raise NotImplementedError

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
    assert caught.value.__cause__ is not None
    assert isinstance(caught.value.__cause__.__cause__, SelfMade.InvalidError)


if pydantic is not None:

    class Chapter(pydantic.BaseModel):
        title: str
        pages: int

    class Book(pydantic.BaseModel):
        name: str = pydantic.Field(alias="Name")
        chapters: list[Chapter] = []  # noqa: RUF012 - as users write it

    @pydantic.dataclasses.dataclass
    class Rated:
        stars: Annotated[int, pydantic.Field(le=5)]

    @dataclass
    class Shelf:
        books: list[Book]


@needs_pydantic
async def test_read_as_types_of_pydantic() -> None:
    body = '{"Name": "n", "chapters": [{"title": "t", "pages": 3}]}'
    book = Book(Name="n", chapters=[Chapter(title="t", pages=3)])
    assert await read(body, Book) == book
    assert await read(f"[{body}]", list[Book]) == [book]
    assert await read(body, Book | None) == book
    assert await read(f'{{"books": [{body}]}}', Shelf) == Shelf([book])
    assert await read('{"stars": 5}', Rated) == Rated(5)


@needs_pydantic
async def test_what_is_not_of_types_of_pydantic() -> None:
    start = "Unexpected JSON in the request body: "
    body = '{"chapters": [{"title": "t", "pages": "x"}]}'
    pages = "Input should be a valid integer, unable to parse string as an integer - at `$"
    stars = "Input should be less than or equal to 5 - at `$.stars`"
    for text, kind, message in (
        (body, Book, f"Field required - at `$.Name`; {pages}.chapters[0].pages`"),
        (
            f"[{body}]",
            list[Book],
            f"Field required - at `$[0].Name`; {pages}[0].chapters[0].pages`",
        ),
        ("{}", Shelf, "Field required - at `$.books`"),
        ('{"stars": 6}', Rated, stars),
    ):
        with pytest.raises(HTTPException) as caught:
            await read(text, kind)
        assert (caught.value.status, caught.value.message) == (400, start + message)


@needs_pydantic
@pytest.mark.parametrize(
    "body", ["", '{"Name": "n"', r'{"Name": "\ud800"}', b'{"Name": "\xff"}', "]"]
)
async def test_malformed_json_for_models(body: Any) -> None:
    told = []
    for kind in (None, Book, list[Book], Rated):
        with pytest.raises(HTTPException) as caught:
            await read(body, kind)
        told.append(caught.value.message)
    assert str(told[0]).startswith("Malformed JSON in the request body: ")
    assert set(told) == {told[0]}


# All that goes out as JSON comes back as the same of its type.


class Flag(enum.Enum):
    ON = "on"
    OFF = "off"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Part(msgspec.Struct):
    id: uuid.UUID
    colour: Colour


@dataclass
class Everything:
    at: datetime.datetime
    on: datetime.date
    time: datetime.time
    lasting: datetime.timedelta
    id: uuid.UUID
    flag: Flag
    level: Level
    price: decimal.Decimal
    data: bytes
    part: Part
    parts: dict[str, list[Part]]
    tags: frozenset[str]
    pair: tuple[int, str]
    ratio: float | None = None
    kind: Literal["a", "b"] = "a"


PLAIN = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
DATETIMES = st.datetimes(timezones=st.none() | st.just(datetime.UTC))
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False)
FLOATS = st.none() | st.floats(allow_nan=False, allow_infinity=False)
PARTS = st.builds(Part)
DAYS = datetime.timedelta(days=9999)
EVERYTHING = st.builds(  # the other fields as their types say
    Everything,
    at=DATETIMES,
    lasting=st.timedeltas(-DAYS, DAYS),
    price=DECIMALS,
    parts=st.dictionaries(PLAIN, st.lists(PARTS, max_size=2), max_size=2),
    pair=st.tuples(st.integers(-(2**63), 2**63 - 1), PLAIN),
    ratio=FLOATS,
    kind=st.sampled_from(["a", "b"]),
)


@given(st.lists(EVERYTHING, max_size=2))
async def test_round_trip_of_types(value: list[Everything]) -> None:
    assert await read(await encode(value), list[Everything]) == value


class Row(TypedDict):
    at: datetime.datetime
    part: Part


@given(st.builds(Row, at=DATETIMES, part=PARTS))
async def test_round_trip_of_a_typed_dict(value: Row) -> None:
    assert await read(await encode(value), Row) == value


if attrs is not None:

    @attrs.define
    class Attributes:
        at: datetime.datetime
        price: decimal.Decimal
        part: Part | None = None
        more: list[Attributes] = attrs.field(factory=list)

    ATTRIBUTES = st.recursive(
        st.builds(Attributes, at=DATETIMES, price=DECIMALS, part=st.none() | PARTS),
        lambda inner: st.builds(
            Attributes, at=DATETIMES, price=DECIMALS, more=st.lists(inner, max_size=2)
        ),
        max_leaves=4,
    )


@pytest.mark.skipif(attrs is None, reason="attrs is not installed")
@given(st.data())
async def test_round_trip_of_attrs(data: st.DataObject) -> None:
    value = data.draw(ATTRIBUTES)
    assert await read(await encode(value), Attributes) == value


if pydantic is not None:

    class Described(pydantic.BaseModel):
        at: datetime.datetime
        on: datetime.date
        id: uuid.UUID
        flag: Flag
        price: decimal.Decimal
        ratio: float | None
        more: list[Described]


@needs_pydantic
@given(st.data())
async def test_round_trip_of_pydantic(data: st.DataObject) -> None:
    def models(depth: int) -> Any:
        more = models(depth - 1) if depth else st.nothing()
        return st.builds(
            Described,
            at=DATETIMES,
            on=st.dates(),
            id=st.uuids(),
            flag=st.sampled_from(Flag),
            price=DECIMALS,
            ratio=FLOATS,
            more=st.lists(more, max_size=2) if depth else st.just([]),
        )

    value = data.draw(models(2))
    assert await read(await encode([value]), list[Described]) == [value]


@dataclass
class Defaulted:
    title: str
    year: int | None = None
    state: str = "new"


async def test_dataclass_is_complete() -> None:
    async def read(content: bytes, type: Any) -> Any:
        return await KitRequest(Request("http://x/", method="POST", body=content)).json(type)

    one = await read(b'{"title":"x"}', Defaulted)
    assert one == Defaulted("x")
    assert await Response.json(one).text() == '{"title":"x","year":null,"state":"new"}'
    meta = msgspec.Meta(extra={"any": []})  # can't be hashed
    for kind in (list[Defaulted], Annotated[list[Defaulted], meta]):
        (one,) = await read(b'[{"title":"x","year":1}]', kind)
        assert vars(one) == {"title": "x", "year": 1, "state": "new"}
