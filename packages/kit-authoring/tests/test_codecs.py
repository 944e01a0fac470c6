# SPDX-License-Identifier: MIT
"""Encoders and decoders by class."""

from __future__ import annotations

import datetime
import decimal
import enum
import functools
import ipaddress
import pathlib
import re
import types
import uuid
import zoneinfo
from collections import ChainMap, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Protocol

import msgspec
import pydantic
import pydantic_core
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import HTTPException
from kit.authoring.codecs import TypeCodecs, default_codecs, find_decodable, find_unknown

Convert = Callable[[Any], Any]


class InvalidId(Exception):  # noqa: N818 - its name in bson
    """Like that of bson, no ValueError."""


class ObjectId:
    def __init__(self, text: str | None = None) -> None:
        if text is not None and not re.fullmatch("[0-9a-f]{24}", text):
            raise InvalidId(f"{text!r} is no id")
        self.text = text or "f" * 24  # a new one, as in bson

    def __str__(self) -> str:
        return self.text


class Base: ...


class Middle(Base): ...


class Derived(Middle): ...


class Book(msgspec.Struct):
    id: ObjectId
    others: list[ObjectId] = []
    parent: ObjectId | None = None


OID = "0123456789abcdef01234567"


def encode(value: Any, encoders: Mapping[Any, Convert] | None = None) -> str:
    return TypeCodecs(encoders).encode_json(value).decode()


# --- Built-in encoders --------------------------------------------------------------------------


class OwnDateTime(datetime.datetime): ...


class OwnDate(datetime.date): ...


class OwnTime(datetime.time): ...


class OwnDelta(datetime.timedelta): ...


class OwnDecimal(decimal.Decimal): ...


class OwnStr(str):
    def __str__(self) -> str:
        return "not this"


class OwnInt(int): ...


class OwnFloat(float): ...


class OwnBytes(bytes): ...


class Odd(enum.Enum):
    PATH = pathlib.PurePosixPath("/a")
    FLOAT = 1.5


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (pathlib.PurePosixPath("/a/b"), '"/a/b"'),
        (pathlib.PureWindowsPath("c:/a"), '"c:\\\\a"'),
        (ipaddress.ip_address("::1"), '"::1"'),
        (ipaddress.ip_network("10.0.0.0/8"), '"10.0.0.0/8"'),
        (ipaddress.ip_interface("10.0.0.1/8"), '"10.0.0.1/8"'),
        (zoneinfo.ZoneInfo("Europe/Berlin"), '"Europe/Berlin"'),
        (re.compile("a+"), '"a+"'),
        (deque([1, deque([2])]), "[1,[2]]"),
        (range(2), "[0,1]"),
        ((each for each in "ab"), '["a","b"]'),
        ({"a": 1}.keys(), '["a"]'),
        ({"a": 1}.values(), "[1]"),
        (types.MappingProxyType({"a": deque()}), '{"a":[]}'),
        (ChainMap({"a": 1}), '{"a":1}'),
        (OwnDateTime(2026, 1, 2, 3, tzinfo=datetime.UTC), '"2026-01-02T03:00:00Z"'),
        (OwnDate(2026, 1, 2), '"2026-01-02"'),
        (OwnTime(10, 30), '"10:30:00"'),
        (OwnDelta(seconds=90), '"PT90S"'),
        (OwnDecimal("1.50"), '"1.50"'),
        (OwnStr("a"), '"a"'),
        (OwnInt(5), "5"),
        (OwnFloat(0.5), "0.5"),
        (OwnBytes(b"a"), '"YQ=="'),
        ([Odd.PATH, Odd.FLOAT], '["/a",1.5]'),
        ({pathlib.PurePosixPath("a"): 1, ipaddress.ip_address("::"): 2}, '{"a":1,"::":2}'),
        (pydantic.SecretStr("hidden"), '"**********"'),
        (pydantic.SecretBytes(b"hidden"), '"**********"'),
        (pydantic.HttpUrl("http://a.example"), '"http://a.example/"'),
        (pydantic_core.Url("http://a.example"), '"http://a.example/"'),
        (pydantic.RootModel[deque[int]](deque([1])), "[1]"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_built_in_encoders(value: Any, expected: str) -> None:
    assert default_codecs().encode_json(value).decode() == expected


@given(st.datetimes(timezones=st.none() | st.timezones()))
def test_derived_datetimes_are_encoded_like_others(value: datetime.datetime) -> None:
    derived = OwnDateTime.fromtimestamp(0).replace(
        *value.timetuple()[:6], microsecond=value.microsecond, tzinfo=value.tzinfo, fold=value.fold
    )
    assert type(derived) is OwnDateTime
    assert encode(derived) == encode(value)


def test_models_are_encoded_by_name_or_alias() -> None:
    class Dated(pydantic.BaseModel):
        since: datetime.date = pydantic.Field(alias="from")

    codecs = default_codecs()
    dated = Dated.model_validate({"from": "2026-01-02"})
    assert codecs.encode_json([dated]) == b'[{"since":"2026-01-02"}]'
    assert codecs.encode_json_with_aliases([dated], True) == b'[{"from":"2026-01-02"}]'
    with pytest.raises(TypeError, match="Can't encode ModelMetaclass as JSON, at \\$: "):
        codecs.encode_json(Dated)


# --- Encoders of one's own ----------------------------------------------------------------------


def test_encoders_run_wherever_a_value_is() -> None:
    @dataclass
    class Data:
        id: ObjectId

    encoders = {ObjectId: str}
    assert encode(Book(ObjectId(OID), [ObjectId(OID)]), encoders) == (
        f'{{"id":"{OID}","others":["{OID}"],"parent":null}}'
    )
    assert encode({ObjectId(OID): Data(ObjectId(OID))}, encoders) == f'{{"{OID}":{{"id":"{OID}"}}}}'


def test_encoder_of_the_nearest_class_counts() -> None:
    encoders: dict[type, Convert] = {object: lambda v: "object", Base: lambda v: "base"}
    assert encode([Base(), Derived(), ObjectId()], encoders) == '["base","base","object"]'
    encoders = {Base: lambda v: "base", Middle: lambda v: "middle", Derived: lambda v: "derived"}
    assert encode([Base(), Middle(), Derived()], encoders) == '["base","middle","derived"]'


def test_own_encoder_replaces_a_built_in_one() -> None:
    encoders: dict[type, Convert] = {
        pathlib.PurePath: lambda path: path.name,
        Mapping: lambda mapping: sorted(mapping),
        OwnDecimal: float,
    }
    value = [pathlib.Path("/a/b"), types.MappingProxyType({"b": 1, "a": 2}), OwnDecimal("1.50")]
    assert encode(value, encoders) == '["b",["a","b"],1.5]'
    assert encode({"b": 1}, encoders) == '{"b":1}'  # msgspec's own


def test_encoder_of_an_abstract_class() -> None:
    class Items:
        def __iter__(self) -> Any:
            return iter([1, 2])

    assert encode(Items(), {Iterable: list}) == "[1,2]"


def test_encoder_of_a_model_replaces_its_own_form() -> None:
    class Secret(pydantic.BaseModel):
        password: str

    assert encode([Secret(password="x")], {Secret: lambda secret: "hidden"}) == '["hidden"]'
    assert encode(Secret(password="x"), {object: str}) == '{"password":"x"}'


def test_encoders_run_for_what_pydantic_does_not_know() -> None:
    class Model(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
        id: ObjectId

    assert encode(Model(id=ObjectId(OID)), {ObjectId: str}) == f'{{"id":"{OID}"}}'
    with pytest.raises(pydantic_core.PydanticSerializationError, match="ObjectId"):
        encode(Model(id=ObjectId(OID)))


def test_results_of_encoders_are_encoded_again() -> None:
    encoders: dict[type, Convert] = {
        Middle: lambda v: {"path": pathlib.PurePosixPath("/a"), "base": Base()},
        Base: lambda v: ObjectId(OID),
        ObjectId: str,
    }
    assert encode(Middle(), encoders) == f'{{"path":"/a","base":"{OID}"}}'


def fail(value: Any) -> Any:
    raise ValueError("broken")


@pytest.mark.parametrize(
    ("value", "encoders", "text"),
    [
        ([Base()], {}, r"^Can't encode Base as JSON, at \$\[0\]: .*Kit\(encoders=\{Base: \.\.\.\}"),
        (Base(), {Base: fail}, r"at \$: .*the encoder for Base raised ValueError: broken"),
        (Base(), {Base: lambda v: v}, "the encoder for Base returned another Base"),
        (Base(), {Base: lambda v: object()}, r"Base as JSON.*Kit\(encoders=\{object: \.\.\.\}\)"),
        (Book(ObjectId(), [ObjectId()]), {}, r"Can't encode ObjectId as JSON, at \$\.id"),
        (deque([ObjectId()]), {}, r"Can't encode ObjectId as JSON, at \$\[0\]"),
        (types.MappingProxyType({"a": object}), {}, r"Can't encode type as JSON, at \$\['a'\]"),
    ],
)
def test_what_can_not_be_encoded(value: Any, encoders: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        encode(value, encoders)


def test_the_exception_of_an_encoder_is_the_cause() -> None:
    with pytest.raises(TypeError) as caught:
        encode(Base(), {Base: fail})
    assert isinstance(caught.value.__cause__.__cause__, ValueError)  # type: ignore[union-attr]


class Point(NamedTuple):
    x: int


class Unrecognizable(Protocol):
    x: int


async def later(value: Any) -> str:
    return ""


@pytest.mark.parametrize(
    ("encoders", "text"),
    [
        ([ObjectId], r"encoders=\.\.\.\) takes a mapping of classes to functions"),
        ({"ObjectId": str}, "has the key 'ObjectId', which isn't a class"),
        ({list[int]: str}, "has the key list\\[int\\], which isn't a class"),
        ({ObjectId: "str"}, r"takes a function \(value\), not 'str', for ObjectId"),
        ({ObjectId: lambda: ""}, "got the signature"),
        ({ObjectId: later}, "takes a plain function, not an async one, for ObjectId"),
        ({datetime.datetime: str}, "datetime, which is always encoded as msgspec does, .* derive"),
        ({decimal.Decimal: float}, "Decimal, which is always encoded as msgspec does"),
        ({str: str.upper}, "str, which is always encoded"),
        ({dict: list}, "dict, which is always encoded by its items"),
        ({Point: str}, "Point, which is always encoded by its items"),
        ({Book: str}, "Book, which is always encoded by its items or fields"),
        ({Odd: str}, "Odd, which is always encoded by its value"),
        ({uuid.UUID: str}, "UUID, which is always encoded by its value"),
        ({Unrecognizable: str}, "has no instances that can be recognized"),
    ],
)
def test_encoders_that_would_never_run_are_refused(encoders: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        TypeCodecs(encoders)


# --- Decoders -----------------------------------------------------------------------------------


def decode(
    data: bytes, kind: Any, decoders: Mapping[Any, Convert], *, is_text: bool = False
) -> Any:
    codecs = TypeCodecs(None, decoders)
    if is_text:
        value = msgspec.json.decode(data)
        return msgspec.convert(value, kind, strict=False, dec_hook=codecs.dec_hook_of_text)
    return msgspec.json.decode(data, type=kind, dec_hook=codecs.dec_hook)


def test_decoders_build_instances() -> None:
    data = f'{{"id":"{OID}","others":["{OID}"]}}'.encode()
    for is_text in (False, True):
        book = decode(data, Book, {ObjectId: ObjectId}, is_text=is_text)
        assert [str(book.id), *map(str, book.others), book.parent] == [OID, OID, None]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b'{"id":"x"}', "Invalid ObjectId: 'x' is no id - at `$.id`"),
        (b'{"id":5}', "Expected `str`, got `int` - at `$.id`"),
        # A class that creates a new id for None must not get one from a client.
        (b'{"id":null}', "Expected `str`, got `null` - at `$.id`"),
        (b'{"id":"0123456789abcdef01234567","others":["y"]}', " - at `$.others[0]`"),
    ],
)
def test_values_that_do_not_fit(data: bytes, text: str) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        decode(data, Book, {ObjectId: ObjectId})
    assert str(caught.value).endswith(text)


class Money:
    def __init__(self, cents: int) -> None:
        self.cents = cents


def decode_money(cents: Annotated[int, msgspec.Meta(ge=0)]) -> Money:
    return Money(cents)


def test_a_decoder_gets_the_type_of_its_parameter() -> None:
    decoders = {Money: decode_money}
    assert decode(b"5", Money, decoders).cents == 5
    assert decode(b'"5"', Money, decoders, is_text=True).cents == 5
    for data, is_text in ((b'"5"', False), (b"-1", False), (b'"x"', True), (b"null", False)):
        with pytest.raises(msgspec.ValidationError, match="Expected `int`"):
            decode(data, Money, decoders, is_text=is_text)


@pytest.mark.parametrize(
    ("error", "is_misfit"),
    [
        (ValueError("x"), True),
        (TypeError("x"), True),
        (KeyError("x"), True),
        (decimal.InvalidOperation("x"), True),
        (InvalidId("x"), True),
        (AttributeError("x"), False),
        (NameError("x"), False),
        (OSError("x"), False),
        (HTTPException(404, "x"), False),
    ],
    ids=repr,
)
def test_exceptions_of_decoders(error: Exception, is_misfit: bool) -> None:
    def raising(text: str) -> Money:
        raise error

    expected = msgspec.ValidationError if is_misfit else type(error)
    with pytest.raises(expected):
        decode(b'"a"', Money, {Money: raising})


def test_a_decoder_that_returns_something_else_is_a_mistake() -> None:
    with pytest.raises(RuntimeError, match="the decoder for Money returned str"):
        decode(b'"a"', Money, {Money: str})


class Light(enum.Enum):
    RED = "red"


class Model(pydantic.BaseModel):
    id: int


def takes_what_is_not_defined(value: NotDefined) -> Money:  # type: ignore[name-defined]  # noqa: F821
    raise AssertionError


def takes_a_class(value: ObjectId) -> Money:
    raise AssertionError


@pytest.mark.parametrize(
    ("decoders", "text"),
    [
        ([ObjectId], "takes a mapping of classes to functions"),
        ({int: int}, "int, which msgspec builds itself"),
        ({Book: Book}, "Book, which msgspec builds itself"),
        ({Odd: Odd}, "Odd, which msgspec can't build: Enums must"),
        ({Light: Light}, "Light, which msgspec builds itself"),
        ({Model: Model}, "Model, which pydantic builds itself: write a validator"),
        ({Money: takes_a_class}, "takes .*ObjectId.*, which can't be read from JSON"),
        ({Money: takes_what_is_not_defined}, "takes .*str.*: name 'NotDefined' is not defined"),
        ({Money: lambda: None}, "got the signature"),
    ],
)
def test_decoders_that_would_never_run_are_refused(decoders: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        TypeCodecs(None, decoders)


def test_classes_that_only_decoders_build() -> None:
    assert find_unknown(Book) == [ObjectId]
    assert find_unknown(dict[str, list[ObjectId]]) == [ObjectId]
    for kind in (int, Point, Model, "no type"):
        assert find_unknown(kind) == []
    both = tuple[ObjectId, ipaddress.IPv4Address, object]
    assert find_unknown(both) == [ObjectId]
    assert {*find_decodable(both)} == {ObjectId, ipaddress.IPv4Address}


# --- Apps within apps; documentation ------------------------------------------------------------


def test_merge() -> None:
    ours = TypeCodecs({ObjectId: str}, {Money: decode_money})
    theirs = TypeCodecs({ObjectId: str, Base: repr}, {ObjectId: ObjectId})
    ours.merge(theirs, "route('/a')")
    assert dict(ours.encoders) == {ObjectId: str, Base: repr}
    assert dict(ours.decoders) == {Money: decode_money, ObjectId: ObjectId}
    other = TypeCodecs({ObjectId: repr, Middle: repr})
    with pytest.raises(ValueError, match=r"encoders=\{ObjectId: \.\.\.\}.* another function"):
        ours.merge(other, "route('/a')")
    assert Middle not in ours.encoders


Id = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{24}$")]


def encode_id(value: ObjectId) -> Id:
    return value.text


class Encoder:
    def __call__(self, value: NotDefined) -> int:  # type: ignore[name-defined]  # noqa: F821
        return 1

    def encode(self, value: Any) -> NotDefined:  # type: ignore[name-defined]  # noqa: F821
        return 1


@pytest.mark.parametrize(
    ("encoders", "decoders", "sent", "received"),
    [
        ({}, {}, None, None),
        ({ObjectId: str}, {}, str, str),
        ({ObjectId: encode_id}, {ObjectId: ObjectId}, Id, str),
        ({ObjectId: lambda value: ""}, {}, Any, Any),
        ({ObjectId: lambda value: ""}, {ObjectId: ObjectId}, str, str),
        ({}, {ObjectId: ObjectId}, str, str),
        ({ObjectId: Encoder()}, {}, int, int),
        ({ObjectId: Encoder().encode}, {}, Any, Any),
        ({ObjectId: functools.partial(encode_id)}, {}, Id, Id),
    ],
)
def test_types_for_documentation(encoders: Any, decoders: Any, sent: Any, received: Any) -> None:
    codecs = TypeCodecs(encoders, decoders)
    assert codecs.find_json_type(ObjectId, is_sent=True) == sent
    assert codecs.find_json_type(ObjectId, is_sent=False) == received


def test_types_of_built_in_encoders() -> None:
    codecs = default_codecs()
    for kind, name in ((pathlib.Path, "path"), (ipaddress.IPv4Address, "ipv4")):
        found = codecs.find_json_type(kind, is_sent=True)
        assert msgspec.json.schema(found) == {"type": "string", "format": name}
    assert codecs.find_json_type(list[int], is_sent=True) is None
