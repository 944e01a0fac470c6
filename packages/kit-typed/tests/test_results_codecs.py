# SPDX-License-Identifier: MIT
"""Results of classes with encoders: of the app, and built in."""

from __future__ import annotations

import datetime
import enum
import json
import logging
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Network
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypedDict

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from pydantic import HttpUrl, SecretStr

from kit import Kit
from kit.typed import ServerSentEvent, typed


class ObjectId:
    def __init__(self, text: str) -> None:
        if len(text) != 4:
            raise ValueError("it has no 4 digits")
        self.text = text

    def __str__(self) -> str:
        return self.text


class OwnId(ObjectId):
    pass


class Markup(str):
    __slots__ = ()


class Instant(datetime.datetime):
    pass


class Level(enum.IntEnum):
    LOW = 1


class Color(enum.StrEnum):
    RED = "red"


class Bag(Mapping[str, Any]):
    """A container of which nothing checks the items."""

    def __init__(self, **items: Any) -> None:
        self.items_by_name = items

    def __getitem__(self, name: str) -> Any:
        return self.items_by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.items_by_name)

    def __len__(self) -> int:
        return len(self.items_by_name)


class Row:
    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


class Book(Struct):
    id: ObjectId
    title: str = ""
    others: list[ObjectId] = []


@dataclass
class Author:
    id: ObjectId | None
    born: datetime.datetime | None = None


class Keys(TypedDict):
    id: ObjectId


class Pair(NamedTuple):
    id: ObjectId
    count: int


class Server(Struct):
    at: IPv4Address
    root: Path
    url: HttpUrl | None = None


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)

    id: ObjectId
    title: str = ""


class Open(pydantic.BaseModel):
    anything: Any


def make_app() -> Kit:
    return Kit(
        encoders={ObjectId: str, Bag: lambda bag: {"bag": dict(bag)}},
        decoders={ObjectId: ObjectId},
    )


async def send(kind: Any, value: Any, **options: Any) -> tuple[int, Any]:
    app = make_app()

    def read() -> Any:
        return value

    app.get("/", typed(response=kind, **options)(read))
    response = await app.request("/")
    text = await response.text()
    return response.status, json.loads(text) if response.status == 200 else text


FIRST = ObjectId("0001")


@pytest.mark.parametrize(
    ("kind", "value", "sent"),
    [
        (ObjectId, FIRST, "0001"),
        (ObjectId, OwnId("0001"), "0001"),
        (ObjectId | None, FIRST, "0001"),
        (ObjectId | int, FIRST, "0001"),
        (ObjectId | int, 5, 5),
        (list[ObjectId], [FIRST], ["0001"]),
        (tuple[ObjectId, ...], (FIRST,), ["0001"]),
        (dict[str, ObjectId], {"a": FIRST}, {"a": "0001"}),
        (
            deque[Book],
            deque([Row(id=FIRST, password=1)]),
            [{"id": "0001", "title": "", "others": []}],
        ),
        (Book, Book(FIRST), {"id": "0001", "title": "", "others": []}),
        (Author, Author(FIRST), {"id": "0001", "born": None}),
        (Keys, {"id": FIRST}, {"id": "0001"}),
        (Pair, Pair(FIRST, 1), ["0001", 1]),
        (Model, Model(id=FIRST), {"id": "0001", "title": ""}),
        (list[Model], [Model(id=FIRST)], [{"id": "0001", "title": ""}]),
        (Bag, Bag(a=FIRST), {"bag": {"a": "0001"}}),
    ],
)
async def test_a_class_with_an_encoder(kind: Any, value: Any, sent: Any) -> None:
    assert await send(kind, value) == (200, sent)


@pytest.mark.parametrize(
    ("kind", "value", "sent"),
    [
        (Path, Path("/a"), "/a"),
        (IPv4Address, IPv4Address("10.0.0.1"), "10.0.0.1"),
        (list[IPv6Network], [IPv6Network("fe80::/64")], ["fe80::/64"]),
        (deque[int], deque([1]), [1]),
        (deque, deque([1]), [1]),
        (SecretStr, SecretStr("hidden"), "**********"),
        (HttpUrl, HttpUrl("http://a.example/"), "http://a.example/"),
        (list[HttpUrl], [HttpUrl("http://a.example/")], ["http://a.example/"]),
        (
            Server,
            Server(IPv4Address("10.0.0.1"), Path("/a"), HttpUrl("http://a.example/")),
            {"at": "10.0.0.1", "root": "/a", "url": "http://a.example/"},
        ),
        (
            Server,
            Row(at="10.0.0.1", root="/a", password=1),
            {"at": "10.0.0.1", "root": "/a", "url": None},
        ),
        (str, Markup("<b>"), "<b>"),
        (str | None, Markup("<b>"), "<b>"),
        (Markup, Markup("<b>"), "<b>"),
        (list[str], [Markup("<b>")], ["<b>"]),
        (dict[str, str | int], {"a": Markup("<b>")}, {"a": "<b>"}),
        (datetime.datetime, Instant(2026, 1, 2), "2026-01-02T00:00:00"),
        (Author | str, Row(id=FIRST, born=Instant(2026, 1, 2)), None),
        (str, Color.RED, "red"),
        (int, Level.LOW, 1),
        (list[Open], [Open(anything=Markup("<b>"))], [{"anything": "<b>"}]),
        (list[Open], [Open(anything=Bag(a=FIRST))], [{"anything": {"bag": {"a": "0001"}}}]),
    ],
)
async def test_classes_with_built_in_encoders(kind: Any, value: Any, sent: Any) -> None:
    if sent is None:
        sent = {"id": "0001", "born": "2026-01-02T00:00:00"}
    assert await send(kind, value) == (200, sent)


async def test_rows_with_fields_of_such_classes() -> None:
    row = Row(id=FIRST, title=Markup("<b>"), others=(OwnId("0002"),), password="s3cret")
    sent = {"id": "0001", "title": "<b>", "others": ["0002"]}
    assert await send(Book, row) == (200, sent)
    assert await send(list[Book], [row, Book(FIRST, "x")]) == (
        200,
        [sent, {"id": "0001", "title": "x", "others": []}],
    )
    assert await send(Model, Row(id=FIRST, title=Markup("<b>"), password=1)) == (
        200,
        {"id": "0001", "title": "<b>"},
    )
    assert await send(Model, Model(id=FIRST), exclude_unset=True) == (200, {"id": "0001"})


async def test_rows_whose_ids_are_text_are_decoded(caplog: pytest.LogCaptureFixture) -> None:
    assert await send(Book, Row(id="0001")) == (200, {"id": "0001", "title": "", "others": []})
    assert await send(ObjectId, "0001") == (200, "0001")
    for kind, value in ((Book, Row(id="1")), (ObjectId, "1"), (ObjectId, 5), (list[ObjectId], [5])):
        with caplog.at_level(logging.ERROR):
            assert (await send(kind, value))[0] == 500
    assert "Invalid ObjectId: it has no 4 digits - at `$.id`" in caplog.text
    assert "isn't the declared ObjectId: Expected `str`, got `int`" in caplog.text


async def test_other_classes_than_the_declared_are_refused() -> None:
    assert (await send(str, PurePosixPath("/a")))[0] == 500
    assert (await send(str, FIRST))[0] == 500
    assert (await send(int, Markup("1")))[0] == 500
    assert (await send(IPv4Address, "nothing"))[0] == 500


def test_containers_are_checked_or_have_an_encoder() -> None:
    class Held(Struct):
        bag: Bag

    def read() -> Held:
        return Held(Bag(a=1))

    handler = typed(response=Held)(read)
    make_app().get("/", handler)
    with pytest.raises(TypeError, match="nothing checks the items of Bag"):
        Kit().get("/", handler)

    class Queue(Struct):
        items: deque[int]

    with pytest.raises(TypeError, match="nothing checks the items of deque"):
        typed(response=Queue)(read)


async def test_each_app_has_its_own_encoders() -> None:
    @typed
    def read() -> list[ObjectId]:
        return [FIRST]

    one, other = make_app(), Kit(encoders={ObjectId: lambda value: {"$oid": str(value)}})
    one.get("/", read)
    other.get("/", read)
    assert await (await one.request("/")).json() == ["0001"]
    assert await (await other.request("/")).json() == [{"$oid": "0001"}]


async def test_an_app_within_another() -> None:
    inner = make_app()

    @inner.get("/")
    @typed
    def read() -> Model:
        return Model(id=FIRST)

    app = Kit().route("/inner", inner)
    assert await (await app.request("/inner")).json() == {"id": "0001", "title": ""}


@pytest.mark.parametrize("accept", ["application/jsonl", "text/event-stream"])
async def test_streams(accept: str) -> None:
    app = make_app()

    @app.get("/rows")
    @typed
    async def stream_rows() -> AsyncIterator[Book]:
        yield Book(FIRST, "x")
        row: Any = Row(id=OwnId("0002"), title=Markup("<b>"), password=1)
        yield row

    @app.get("/ids")
    @typed
    async def stream_ids() -> AsyncIterator[ObjectId]:
        yield FIRST

    @app.get("/events")
    @typed
    async def stream_events() -> AsyncIterator[ServerSentEvent[ObjectId]]:
        yield ServerSentEvent(FIRST)

    async def read(path: str) -> list[Any]:
        text = await (await app.request(path, headers={"accept": accept})).text()
        return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line]

    assert await read("/rows") == [
        {"id": "0001", "title": "x", "others": []},
        {"id": "0002", "title": "<b>", "others": []},
    ]
    assert await read("/ids") == ["0001"]
    assert await read("/events") == ["0001"]


DIGITS = st.text("0123456789abcdef", min_size=4, max_size=4)


@given(st.lists(st.tuples(DIGITS, st.text(), st.lists(DIGITS))))
async def test_only_what_is_declared_is_sent(books: list[tuple[str, str, list[str]]]) -> None:
    rows = [
        Row(id=ObjectId(one), title=Markup(title), others=[*map(OwnId, others)], password=one)
        for one, title, others in books
    ]
    status, sent = await send(list[Book], rows)
    assert status == 200
    assert sent == [{"id": a, "title": b, "others": c} for a, b, c in books]
