# SPDX-License-Identifier: MIT
"""Results are what the endpoint declares: nothing else is sent, and a mistake is an error."""

from __future__ import annotations

import dataclasses
import enum
import pathlib
import re
import sqlite3
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NoReturn,
    TypedDict,
    TypeVar,
    get_origin,
)
from uuid import UUID

import attrs
import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import ForeignKey, create_engine, select
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    MappedAsDataclass,
    Session,
    mapped_column,
    relationship,
)

from kit import Context, Kit, Response
from kit.interface.metadata import get_facts
from kit.typed import ResponseValidationError, typed

T = TypeVar("T")


class User(msgspec.Struct):
    name: str


class StoredUser(User):
    password: str = "s3cret"


class Team(msgspec.Struct):
    owner: User
    members: list[User] = []
    by_role: dict[str, User] = {}
    deputy: User | None = None


class StoredTeam(Team):
    budget: int = 5


class Node(msgspec.Struct):
    user: User
    children: list[Node] = []


class Envelope(msgspec.Struct, Generic[T]):
    item: T


class Renamed(msgspec.Struct, rename="camel", omit_defaults=True):
    user_name: str
    owner_user: User | None = None


class Cat(msgspec.Struct, tag="cat"):
    owner: User


class Dog(msgspec.Struct, tag="dog"):
    owner: User


@dataclasses.dataclass
class Data:
    name: str


@dataclasses.dataclass
class StoredData(Data):
    password: str = "s3cret"


@attrs.define
class Attrs:
    name: str


class Row(TypedDict):
    name: str


class Pair(NamedTuple):
    first: User
    second: int


class Model(pydantic.BaseModel):
    name: str


class StoredModel(Model):
    password: str = "s3cret"


class Group(pydantic.BaseModel):
    owner: Model
    members: list[Model] = []


class Mixed(msgspec.Struct):
    model: Model


class StoredDog(Dog, tag="stored"):
    chip: int = 5


class Pets(msgspec.Struct):
    pet: Cat | Dog


class ItemsOf(msgspec.Struct):
    one: Annotated[User, msgspec.Meta(title="One")]
    all: Annotated[list[User], msgspec.Meta(title="All")]


class Closed(msgspec.Struct, forbid_unknown_fields=True):
    owner: User
    inner: Closed | None = None


class StoredClosed(Closed):
    password: str = "s3cret"


CLOSED = '{"owner":A,"inner":{"owner":A,"inner":null}}'


class Maybe(msgspec.Struct):
    owner: User | msgspec.UnsetType = msgspec.UNSET
    name: str | msgspec.UnsetType = msgspec.UNSET


class StoredMaybe(Maybe):
    password: str = "s3cret"


class Empty(msgspec.Struct):
    count: int = 0


@attrs.define(slots=False)
class OpenAttrs:
    name: str


def open_attrs() -> Any:
    value = OpenAttrs("ada")
    vars(value)["password"] = "s3cret"  # such as a cached property
    return value


class Color(enum.Enum):
    RED = "red"


class Plain:
    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


async def send(declared: Any, value: Any, **options: Any) -> Response:
    async def endpoint() -> Any:
        return value

    endpoint.__annotations__["return"] = declared
    app = Kit()
    app.get("/", typed(**options)(endpoint))
    app.on_error(ResponseValidationError)(lambda error, c: c.text(str(error), 500))
    return await app.request("/")


async def sent(declared: Any, value: Any, **options: Any) -> str:
    response = await send(declared, value, **options)
    assert response.status == 200, await response.text()
    return await response.text()


ADA = '{"name":"ada"}'
STORED = StoredUser("ada")


@pytest.mark.parametrize("declared", [User, Data, Attrs, Row, Model])
@pytest.mark.parametrize(
    "value",
    [
        STORED,
        StoredData("ada"),
        Attrs("ada"),
        StoredModel(name="ada"),
        Plain(name="ada", password="s3cret"),
        {"name": "ada", "password": "s3cret"},
    ],
    ids=lambda value: type(value).__name__,
)
async def test_only_declared_fields_are_sent(declared: Any, value: Any) -> None:
    if declared is Row and not isinstance(value, dict):
        response = await send(declared, value)
        assert response.status == 500  # a TypedDict describes a dict
        return
    assert await sent(declared, value) == ADA
    assert await sent(list[declared], [value]) == f"[{ADA}]"
    assert await sent(list[declared], (value for _ in range(2))) == f"[{ADA},{ADA}]"
    assert await sent(dict[str, declared], {"x": value}) == f'{{"x":{ADA}}}'
    assert await sent(declared | None, value) == ADA


@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        (Team, Team(STORED), '{"owner":A,"members":[],"by_role":{},"deputy":null}'),
        (Team, Team(User("ada"), [STORED]), '{"owner":A,"members":[A],"by_role":{},"deputy":null}'),
        (
            Team,
            Team(User("ada"), [], {"x": STORED}, STORED),
            '{"owner":A,"members":[],"by_role":{"x":A},"deputy":A}',
        ),
        (list[Team], [Team(STORED)], '[{"owner":A,"members":[],"by_role":{},"deputy":null}]'),
        (Team, StoredTeam(STORED), '{"owner":A,"members":[],"by_role":{},"deputy":null}'),
        (
            Node,
            Node(User("ada"), [Node(STORED)]),
            '{"user":A,"children":[{"user":A,"children":[]}]}',
        ),
        (Envelope[User], Envelope(STORED), '{"item":A}'),
        (OrderedDict[str, User], OrderedDict(x=STORED), '{"x":A}'),
        (defaultdict[str, User], defaultdict(None, {"x": STORED}), '{"x":A}'),
        (deque[User], deque([STORED]), "[A]"),
        (ItemsOf, ItemsOf(STORED, [STORED]), '{"one":A,"all":[A]}'),
        (Cat | Dog, StoredDog(STORED), '{"type":"dog","owner":A}'),
        (Pets, Pets(StoredDog(STORED)), '{"pet":{"type":"dog","owner":A}}'),
        (Closed, Closed(STORED, StoredClosed(STORED)), CLOSED),
        (Maybe, Maybe(STORED), '{"owner":A}'),
        (Maybe, StoredMaybe(), "{}"),
        (Empty | User, StoredUser("ada"), "A"),
        (OpenAttrs, open_attrs(), "A"),
        (list[OpenAttrs], [open_attrs()], "[A]"),
        (Envelope[list[User]], Envelope([STORED]), '{"item":[A]}'),
        (Renamed, Renamed("ada", STORED), '{"userName":"ada","ownerUser":A}'),
        (Cat | Dog, Dog(STORED), '{"type":"dog","owner":A}'),
        (list[Cat | Dog], [Dog(STORED)], '[{"type":"dog","owner":A}]'),
        (tuple[User, int], (STORED, 1), "[A,1]"),
        (tuple[User, ...], (STORED,), "[A]"),
        (Pair, Pair(STORED, 1), "[A,1]"),
        (Sequence[User], [STORED], "[A]"),
        (Iterable[User], [STORED], "[A]"),
        (Group, Group(owner=StoredModel(name="ada")), '{"owner":A,"members":[]}'),
        (Mixed, Mixed(StoredModel(name="ada")), '{"model":A}'),
        (list[Mixed], [Mixed(Model(name="ada"))], '[{"model":A}]'),
        (User | Data, StoredData("ada"), "A"),
        (User | Model, StoredModel(name="ada"), "A"),
        (User | list[User], StoredModel(name="ada"), "A"),
        (User | list[User], iter([STORED]), "[A]"),
        (list[User | Model], [StoredModel(name="ada"), STORED], "[A,A]"),
        (dict[str, User | Model], {"x": STORED}, '{"x":A}'),
    ],
)  # fmt: skip
async def test_objects_within_objects(declared: Any, value: Any, expected: str) -> None:
    assert await sent(declared, value) == expected.replace("A", ADA)


@pytest.mark.parametrize(
    ("declared", "value", "problem"),
    [
        (User, {"nme": 1}, "name"),
        (Model, {"nme": 1}, "name"),
        (Data, {"name": 1}, "$.name"),
        (list[User], [User("a"), {"name": 1}], "$[1].name"),
        (list[Model], [{"name": 1}], "[0].name"),
        (User, Plain(nme="a"), "name"),
        (User, 5, "object"),
        (User, [User("a")], "object"),
        (str, 5, "str"),
        (int, "5", "int"),
        (list[int], ["5"], "$[0]"),
        (dict[str, int], {"a": "b"}, "$[...]"),
        (User, None, "object"),
        (Model, None, "Model"),
        (Literal["a", "b"], "c", "c"),
        (User | Data, {"nme": 1}, "name"),
        (list[User | Model], [{"nme": 1}], "name"),
        (list[User | Model], {"a": 1}, "array"),
        (dict[str, User | Model], [], "object"),
        (None, {"a": 1}, "no data"),
        (Response, {"a": 1}, "no data"),
        (NoReturn, {"a": 1}, "no data"),
        (Group, Group.model_construct(owner={"name": "a", "password": "b"}), "owner"),
    ],
)
async def test_what_does_not_fit_is_an_error_of_the_server(
    declared: Any, value: Any, problem: str
) -> None:
    response = await send(declared, value)
    text = await response.text()
    assert response.status == 500
    assert problem in text
    assert "endpoint" in text
    assert __file__ in text


async def test_the_error_is_a_500_by_itself() -> None:
    app = Kit()

    @app.get("/")
    @typed
    async def broken() -> User:
        return {"nme": 1}  # type: ignore[return-value]

    response = await app.request("/")
    assert (response.status, await response.text()) == (500, "Internal Server Error")
    found: list[Exception] = []

    @app.on_error(ResponseValidationError)
    async def show(error: ResponseValidationError, c: Context) -> Response:
        found.append(error)
        return c.text("", 500)

    await app.request("/")
    assert re.search(r"broken.*User.*`name`", str(found[0]))


@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        (str, "a", '"a"'),
        (float, 1, "1.0"),
        (float, Decimal("1.5"), "1.5"),
        (Color, Color.RED, '"red"'),
        (UUID, UUID(int=5), '"00000000-0000-0000-0000-000000000005"'),
        (date, date(2026, 1, 2), '"2026-01-02"'),
        (datetime, datetime(2026, 1, 2, tzinfo=UTC), '"2026-01-02T00:00:00Z"'),
        (Literal["a", 1], 1, "1"),
        (set[int], {1}, "[1]"),
        (list[int], {1: "a"}.keys(), "[1]"),
        (dict[str, object], {"a": STORED}, '{"a":{"name":"ada","password":"s3cret"}}'),
        (list[Any], [STORED], '[{"name":"ada","password":"s3cret"}]'),
        (object, STORED, '{"name":"ada","password":"s3cret"}'),
        (Any, STORED, '{"name":"ada","password":"s3cret"}'),
    ],
)
async def test_other_types(declared: Any, value: Any, expected: str) -> None:
    assert await sent(declared, value) == expected


async def test_responses_and_none() -> None:
    app = Kit()

    @app.get("/:what")
    @typed
    async def read(c: Context, what: str) -> User | Response | None:
        if what == "none":
            return None
        return c.text("as it is") if what == "response" else STORED

    assert await (await app.request("/response")).text() == "as it is"
    assert (await app.request("/none")).status == 204
    assert await (await app.request("/user")).text() == ADA


async def test_response_replaces_the_annotation() -> None:
    assert await sent(Any, STORED, response=User) == ADA
    assert await sent(dict[str, Any], {"name": "ada", "x": 1}, response=Row) == ADA
    assert await sent(int, [STORED], response=list[User]) == f"[{ADA}]"

    def endpoint() -> StoredUser:
        return STORED

    app = Kit().get("/", typed(response=User)(endpoint))
    assert get_facts(app.routes[-1].handler).responses == {200: User}


class Options(pydantic.BaseModel):
    user_name: str = pydantic.Field(alias="userName")
    age: int | None = None
    size: int = 1


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, '{"user_name":"ada","age":null,"size":1}'),
        ({"by_alias": True}, '{"userName":"ada","age":null,"size":1}'),
        ({"exclude_unset": True}, '{"user_name":"ada","size":1}'),
        ({"exclude_none": True}, '{"user_name":"ada","size":1}'),
        ({"exclude_defaults": True, "by_alias": True}, '{"userName":"ada"}'),
    ],
)
async def test_options_of_models(options: dict[str, Any], expected: str) -> None:
    value = Options(userName="ada", size=1)
    assert await sent(Options, value, **options) == expected
    assert await sent(list[Options], [value], **options) == f"[{expected}]"
    assert await sent(Options | None, value, **options) == expected


@pytest.mark.parametrize("declared", [User, Data, int, Any, None])
@pytest.mark.parametrize(
    "option", ["by_alias", "exclude_unset", "exclude_none", "exclude_defaults"]
)
def test_options_need_a_model(declared: Any, option: str) -> None:
    def endpoint() -> Any: ...

    endpoint.__annotations__["return"] = declared
    with pytest.raises(TypeError, match=rf"endpoint.*{option}.*pydantic"):
        typed(**{option: True})(endpoint)


def test_options_are_flags() -> None:
    with pytest.raises(TypeError, match="exclude_none"):
        typed(exclude_none="yes")  # type: ignore[call-overload]


class Base(DeclarativeBase):
    pass


class Account(Base):
    __tablename__ = "accounts"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    password: Mapped[str]


class DataBase(MappedAsDataclass, DeclarativeBase):
    pass


class Member(DataBase):
    __tablename__ = "members"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    password: Mapped[str]


@contextmanager
def sqlite_of(mapped: Any) -> Iterator[Session]:
    """Opens a session of a database with the tables of a class, and closes the database."""
    engine = create_engine("sqlite://")
    mapped.metadata.create_all(engine)
    try:
        with Session(engine) as session:
            yield session
    finally:
        engine.dispose()


@pytest.mark.parametrize("declared", [User, Data, Attrs, Model])
@pytest.mark.parametrize("mapped", [Account, Member])
async def test_rows_of_sqlalchemy(declared: Any, mapped: Any) -> None:
    with sqlite_of(mapped) as session:
        session.add(mapped(id=1, name="ada", password="s3cret"))
        session.flush()
        query = select(mapped)
        assert await sent(declared, session.get(mapped, 1)) == ADA
        assert await sent(list[declared], session.scalars(query)) == f"[{ADA}]"
        assert await sent(list[declared], session.scalars(query).all()) == f"[{ADA}]"
        columns = select(mapped.name, mapped.password)
        assert await sent(list[declared], session.execute(columns).all()) == f"[{ADA}]"
        assert await sent(declared, session.execute(columns).one()) == ADA
        mappings = session.execute(columns).mappings()
        assert await sent(list[declared], mappings.all()) == f"[{ADA}]"


class Author(Base):
    __tablename__ = "authors"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    books: Mapped[list[Book]] = relationship()


class Book(Base):
    __tablename__ = "books"
    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]
    author_id: Mapped[int] = mapped_column(ForeignKey("authors.id"))


class SentBook(msgspec.Struct):
    title: str


class SentAuthor(msgspec.Struct):
    name: str
    books: list[SentBook] = []


@pytest.fixture
def library() -> Iterator[Session]:
    with sqlite_of(Base) as session:
        session.add(Author(id=1, name="ada", books=[Book(title="Notes")]))
        session.commit()
        yield session


@pytest.mark.parametrize("declared", [SentAuthor, list[SentAuthor]])
async def test_a_relationship_that_cannot_be_loaded_is_an_error(
    declared: Any, library: Session
) -> None:
    author = library.get_one(Author, 1)
    value = [author] if get_origin(declared) is list else author
    expected = '{"name":"ada","books":[{"title":"Notes"}]}'
    assert expected in await sent(declared, value)
    library.expire(author, ["books"])
    library.expunge(author)
    response = await send(declared, value)
    assert response.status == 500  # and not 200 without books
    assert "`books` can't be read: DetachedInstanceError" in await response.text()


@pytest.mark.parametrize("default", [..., "absent"])
async def test_an_attribute_that_raises_is_an_error(default: Any) -> None:
    class Broken:
        @property
        def name(self) -> str:
            raise RuntimeError("no connection")

    field = ("name", str) if default is ... else ("name", str, default)
    declared = msgspec.defstruct("Declared", [field])
    for kind, value in ((declared, Broken()), (list[declared], [Broken()])):  # type: ignore[valid-type]
        response = await send(kind, value)
        assert response.status == 500
        assert "`name` can't be read: RuntimeError: no connection" in await response.text()


async def test_rows_are_read_as_the_type_says(library: Session) -> None:
    def rows() -> Any:
        return library.execute(select(Author.name.label("user_name"), Author.id))

    assert await sent(Renamed, rows().one()) == '{"userName":"ada"}'
    assert await sent(list[Renamed], rows().all()) == '[{"userName":"ada"}]'
    assert await sent(list[Renamed], rows().mappings()) == '[{"userName":"ada"}]'
    assert await sent(Renamed, {"user_name": "ada"}) == '{"userName":"ada"}'
    assert await sent(tuple[str, int], rows().one()) == '["ada",1]'
    assert await sent(list[tuple[str, int]], rows().all()) == '[["ada",1]]'
    assert await sent(list[dict[str, Any]], rows()) == '[{"user_name":"ada","id":1}]'
    pairs = library.execute(select(Author, Author.id)).all()
    assert await sent(list[tuple[Model, int]], pairs) == f"[[{ADA},1]]"
    assert await sent(list[tuple[User, int]], pairs) == f"[[{ADA},1]]"
    named = NamedTuple("named", [("name", str), ("password", str)])("ada", "s3cret")
    assert await sent(User, named) == ADA
    assert await sent(list[User], [named]) == f"[{ADA}]"
    assert await sent(Books, Books(library.scalars(select(Book)).all(), 1)) == (  # type: ignore[arg-type]
        '{"items":[{"title":"Notes"}],"total":1}'
    )


class Books(msgspec.Struct):
    items: list[SentBook]
    total: int


@pytest.mark.parametrize("declared", [User, Data, Row, Model])
async def test_rows_of_sqlite(declared: Any) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.row_factory = sqlite3.Row
        row = connection.execute("SELECT 'ada' AS name, 's3cret' AS password").fetchone()
    assert await sent(declared, row) == ADA
    assert await sent(list[declared], [row]) == f"[{ADA}]"


SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(),
    int: st.integers(-(2**53), 2**53),
    bool: st.booleans(),
    date: st.dates(),
    UUID: st.uuids(),
    Color: st.sampled_from(Color),
}


@st.composite
def objects(draw: st.DrawFn, depth: int = 2) -> tuple[Any, Any, Any]:
    """Draws a type, an instance of a subclass of it at any depth, and the expected data."""
    is_model = draw(st.booleans())
    return _object(draw, depth, is_model)


def _object(draw: st.DrawFn, depth: int, is_model: bool) -> tuple[Any, Any, Any]:
    fields: dict[str, tuple[Any, Any, Any]] = {}
    for number in range(draw(st.integers(1, 3))):
        if depth and draw(st.booleans()):
            kind: Any
            kind, value, data = _object(draw, depth - 1, is_model)
            shape = draw(st.sampled_from(["one", "list", "dict", "optional"]))
            fields[f"f{number}"] = {
                "one": (kind, value, data),
                "list": (list[kind], [value, value], [data, data]),
                "dict": (dict[str, kind], {"k": value}, {"k": data}),
                "optional": (kind | None, value, data),
            }[shape]
        else:
            kind = draw(st.sampled_from(sorted(SCALARS, key=str)))
            value = draw(SCALARS[kind])
            fields[f"f{number}"] = (kind, value, msgspec.to_builtins(value))
    data = {name: data for name, (_, _, data) in fields.items()}
    values = {name: value for name, (_, value, _) in fields.items()}
    if is_model:
        members: dict[str, Any] = {name: (kind, ...) for name, (kind, _, _) in fields.items()}
        declared: Any = pydantic.create_model("Declared", **members)
        stored: Any = pydantic.create_model("Stored", __base__=declared, secret=(str, "s3cret"))
    else:
        declared = msgspec.defstruct(
            "Declared", [(name, kind) for name, (kind, _, _) in fields.items()], kw_only=True
        )
        stored = msgspec.defstruct(
            "Stored", [("secret", str, "s3cret")], bases=(declared,), kw_only=True
        )
    made = draw(st.sampled_from([declared, stored]))
    return declared, made(**values), data


@given(objects())
async def test_nothing_outside_of_the_declared_type_is_sent(
    drawn: tuple[Any, Any, Any],
) -> None:
    declared, value, data = drawn
    response = await send(declared, value)
    assert response.status == 200, await response.text()
    assert await response.json() == data
    received = msgspec.json.decode(await (await send(declared, data)).text())
    assert received == data


async def test_classes_that_msgspec_does_not_know() -> None:
    class Place(msgspec.Struct):
        path: pathlib.PurePath | None = None

    assert await sent(Place, Place()) == '{"path":null}'


class Held(msgspec.Struct):
    users: OrderedDict[str, User]


@pytest.mark.parametrize(
    "declared",
    [
        tuple[User | Data, int],
        Held,
        OrderedDict,
        Counter[str],
        Account,
        list[Account],
        Member,
    ],
)
def test_a_type_that_nothing_can_check_is_refused(declared: Any) -> None:
    def endpoint() -> Any: ...

    endpoint.__annotations__["return"] = declared
    with pytest.raises(TypeError, match=r"endpoint.*can't be checked"):
        typed(endpoint)


async def test_a_union_with_any_takes_responses_and_data() -> None:
    assert await sent(Any | None, STORED) == '{"name":"ada","password":"s3cret"}'
    assert (await send(User | Any, Response("text"))).status == 200


async def test_items_of_streams_have_only_the_declared_fields() -> None:
    app = Kit()

    @app.get("/:kind")
    @typed
    async def stream(kind: str) -> AsyncIterator[User | None]:
        yield STORED
        yield None
        if kind == "broken":
            yield {"nme": 1}  # type: ignore[misc]

    response = await app.request("/whole")
    assert await response.text() == f"{ADA}\nnull\n"
    response = await app.request("/broken")
    with pytest.raises(ResponseValidationError, match="name"):
        await response.text()
