# SPDX-License-Identifier: MIT
"""`Partial`: the body of a PATCH request, and what its changes do to objects."""

from __future__ import annotations

import dataclasses
import gc
import json
import weakref
from collections.abc import Callable
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

import attrs
import msgspec
import pydantic
import pytest
import typing_extensions
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, Struct, UnsetType
from sqlalchemy import JSON, ForeignKey, create_engine, select
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    MappedAsDataclass,
    Session,
    mapped_column,
    relationship,
)

from kit import Kit
from kit.interface import RequestValidationError
from kit.openapi import build_document
from kit.typed import Body, Form, Partial, typed

T = TypeVar("T")
MERGE_PATCH = "application/merge-patch+json"


class Author(Struct):
    name: str
    born: int | None = None


class Book(Struct, rename="camel"):
    """A book.

    Attributes:
        title: What is on the cover.
    """

    title: Annotated[str, Meta(min_length=1)]
    page_count: int = 1
    year: int | None = None
    author: Author | None = None
    labels: dict[str, str] = {}
    # The names of methods of Partial.
    items: list[int] = []
    changes: int = 0
    note: str | UnsetType = UNSET
    sequel: Book | None = None

    def __post_init__(self) -> None:
        if self.year is not None and self.year > 2100:
            raise ValueError("not yet printed")


class Person(pydantic.BaseModel):
    name: str
    born: int | None = None


class Novel(pydantic.BaseModel):
    """A novel."""

    title: str = pydantic.Field(min_length=1, description="What is on the cover.")
    page_count: int = pydantic.Field(1, alias="pageCount")
    year: int | None = None
    first_year: int | None = None
    author: Person | None = None
    labels: dict[str, str] = {}
    items: list[int] = []
    sequel: Novel | None = None
    _seen: int = 0

    @pydantic.field_validator("title")
    @classmethod
    def check_title(cls, value: str) -> str:
        if value == "Untitled":
            raise ValueError("has no title")
        return value.strip()

    @pydantic.model_validator(mode="after")
    def check_years(self) -> Novel:
        if None not in (self.year, self.first_year) and self.year < self.first_year:  # type: ignore[operator]
            raise ValueError("year is before first_year")
        return self


class Sparse(typing_extensions.TypedDict):
    title: str
    year: typing_extensions.NotRequired[int]
    author: typing_extensions.NotRequired[Sparse | None]


@dataclasses.dataclass(frozen=True)
class Row:
    title: str
    year: int | None = None
    key: int = dataclasses.field(init=False, default=7)


@attrs.define
class Item:
    title: str
    _year: int = 1


class Circle(Struct, tag="circle"):
    radius: int
    color: str = "red"


class Square(Struct, tag="square"):
    side: int


class Picture(Struct):
    shape: Circle | Square
    named: dict[str, Circle] = {}
    limits: Annotated[dict[str, int], Meta(max_length=2)] = {}


class Box(Struct, Generic[T]):
    value: T
    values: list[T] = []


def parse(model: Any, body: Any) -> Any:
    return Partial[model].parse(body)


def errors_of(model: Any, body: Any, target: Any = None) -> list[tuple[str, str]]:
    def change() -> None:
        changes = parse(model, body)
        if target is not None:
            changes.apply(target)

    with pytest.raises(RequestValidationError) as caught:
        change()
    return [(each["path"], each["type"]) for each in caught.value.errors]


# --- What the changes are ---------------------------------------------------------------------


@pytest.mark.parametrize("model", [Book, Novel])
def test_absent_and_null_differ(model: Any) -> None:
    changes = parse(model, {"year": None, "pageCount": 3})
    assert dict(changes) == changes.changes == {"page_count": 3, "year": None}
    assert [*changes.keys()] == [*changes] == ["page_count", "year"]
    assert [*changes.values()] == [3, None]
    assert [*changes.items()] == [("page_count", 3), ("year", None)]
    assert len(changes) == 2
    assert "year" in changes
    assert "title" not in changes
    assert changes["year"] is None
    assert changes["title"] is changes.get("title") is UNSET
    assert changes.get("title", "none") == "none"
    assert changes.get("year", "none") is None
    assert repr(changes) == f"{model.__name__}Patch(page_count=3, year=None)"
    assert changes == parse(model, {"year": None, "pageCount": 3})
    assert changes != parse(model, {"year": None})
    assert not parse(model, {})
    with pytest.raises(KeyError, match="no field 'titel', but title"):
        changes["titel"]


@pytest.mark.parametrize("model", [Book, Novel])
def test_constraints_stay(model: Any) -> None:
    assert errors_of(model, {"title": ""})[0][0] == "title"
    assert errors_of(model, {"title": None})[0][0] == "title"
    assert errors_of(model, {"pageCount": None})[0][0] == "pageCount"
    assert errors_of(model, {"author": {"name": None}})[0][0] == "author.name"
    assert errors_of(model, {"sequel": {"sequel": {"title": ""}}})[0][0] == "sequel.sequel.title"
    assert errors_of(model, {"labels": {"a": 1}})
    assert errors_of(model, [])
    assert errors_of(model, b"{") != []


def test_validators_of_pydantic_run_once_for_each_given_field() -> None:
    assert errors_of(Novel, {"title": "Untitled"}) == [("title", "value_error")]
    assert parse(Novel, {"title": " Momo "})["title"] == "Momo"


def test_a_validator_sees_only_given_fields() -> None:
    class Span(pydantic.BaseModel):
        start: int = 0
        end: int = 0

        @pydantic.field_validator("end")
        @classmethod
        def check(cls, value: int, info: pydantic.ValidationInfo) -> int:
            if "start" in info.data and value < info.data["start"]:
                raise ValueError("ends before it starts")
            return value

    assert errors_of(Span, {"start": 2, "end": 1}) == [("end", "value_error")]
    assert dict(parse(Span, {"end": 1})) == {"end": 1}
    assert errors_of(Span, {"end": 1}, Span(start=2, end=3)) == [("end", "value_error")]


def test_unknown_names_are_as_in_the_model() -> None:
    class Strict(Struct, forbid_unknown_fields=True):
        title: str

    class Forbidding(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="forbid")

        title: str

    class Open(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="allow", frozen=True)

        title: str

    assert errors_of(Strict, {"x": 1})
    assert errors_of(Forbidding, {"x": 1}) == [("x", "extra_forbidden")]
    assert parse(Book, {"x": 1}).changes == {}
    changed = parse(Open, {"x": 1}).apply(Open(title="Momo"))
    assert changed.model_dump() == {"title": "Momo", "x": 1}


class OpenNote(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")

    title: str = pydantic.Field(alias="Title")


@pytest.mark.parametrize(
    "name", ["__class__", "__dict__", "__init__", "apply", "changes", "model_config", "_form"]
)
def test_names_of_clients_are_no_attributes(name: str) -> None:
    changes = parse(OpenNote, {name: 1})
    assert changes.changes == {name: 1}
    changed = changes.apply(OpenNote(Title="Momo"))
    assert type(changed) is OpenNote
    assert changed.model_extra == {name: 1}


def test_the_name_of_a_field_with_an_alias_is_no_change() -> None:
    changes = parse(OpenNote, {"title": 1})
    assert changes.changes == {}
    assert changes.apply(OpenNote(Title="Momo")).title == "Momo"


def test_assign_to_assigns_only_fields() -> None:
    class Row:
        title = "Momo"
        is_admin = False

    row = Row()
    changes = parse(OpenNote, {"Title": "Jim", "is_admin": True, "other": 1, "__class__": 1})
    changes.assign_to(row)
    assert vars(row) == {"title": "Jim"}
    assert not row.is_admin


# --- apply ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "person"), [(Book, Author), (Novel, Person)])
def test_apply_returns_a_new_object(model: Any, person: Any) -> None:
    old = model(title="Momo", year=1973, author=person(name="Ende", born=1929))
    old.labels.update(a="1", b="2")
    body = {"year": None, "author": {"born": None}, "labels": {"a": None, "c": "3"}, "items": [1]}
    new = parse(model, body).apply(old)
    assert new == model(
        title="Momo", author=person(name="Ende"), labels={"b": "2", "c": "3"}, items=[1]
    )
    assert old.year == 1973
    assert old.labels == {"a": "1", "b": "2"}


@pytest.mark.parametrize(("model", "person"), [(Book, Author), (Novel, Person)])
def test_a_new_nested_object_has_to_be_whole(model: Any, person: Any) -> None:
    book = model(title="Momo")
    assert errors_of(model, {"author": {"born": 1}}, book) == [("author.name", "missing")]
    deep = {"sequel": {"title": "Momo 2", "author": {"born": 1}}}
    assert errors_of(model, deep, book) == [("sequel.author.name", "missing")]
    assert parse(model, {"author": {"name": "Ende"}}).apply(book).author == person(name="Ende")


def test_unchanged_fields_are_not_validated_again() -> None:
    class Account(pydantic.BaseModel):
        name: str
        password: str

        @pydantic.field_validator("password")
        @classmethod
        def hide(cls, value: str) -> str:
            return f"hashed {value}"

        @pydantic.model_validator(mode="after")
        def check(self) -> Account:
            assert self.name != self.password
            return self

    old = Account(name="ada", password="a")
    new = parse(Account, {"name": "eve"}).apply(old)
    assert (new.name, new.password) == ("eve", "hashed a")
    assert parse(Account, {"password": "b"}).apply(old).password == "hashed b"
    assert errors_of(Account, {"name": "hashed a"}, old) == [("", "value_error")]


def test_rules_of_the_whole_object_are_checked() -> None:
    assert errors_of(Book, {"year": 2200}, Book("Momo")) == [("", "value_error")]
    old = Novel(title="Momo", first_year=1973)
    assert errors_of(Novel, {"year": 1900}, old) == [("", "value_error")]
    assert parse(Novel, {"year": 1900, "first_year": 1800}).apply(old).year == 1900


def test_a_model_validator_may_see_the_data() -> None:
    class Strict(Novel):
        @pydantic.model_validator(mode="before")
        @classmethod
        def check_data(cls, data: Any) -> Any:
            assert data["title"] != data.get("year")
            return data

    old = Strict(title="1973")
    assert parse(Strict, {"year": 1}).apply(old) == Strict(title="1973", year=1)
    old._seen = 3
    new = parse(Strict, {"pageCount": 4}).apply(old)
    assert (new._seen, new.page_count, new.model_fields_set) == (3, 4, {"title", "page_count"})
    assert errors_of(Strict, {"first_year": 2, "year": 1}, old) == [("", "value_error")]


def test_a_copy_of_a_model_keeps_what_is_not_a_field() -> None:
    old = Novel(title="Momo")
    old._seen = 3
    new = parse(Novel, {"year": 1973}).apply(old)
    assert new._seen == 3
    assert new.model_fields_set == {"title", "year"}


def test_dataclasses_and_attrs_classes() -> None:
    assert parse(Row, {"year": 1, "key": 9}).apply(Row("Momo")) == Row("Momo", 1)
    assert parse(Item, {"_year": 5}).apply(Item("Momo")) == Item("Momo", 5)


def test_null_removes_a_key_that_is_not_required() -> None:
    old: Any = {"title": "Momo", "year": 1973, "author": {"title": "x", "year": 1}}
    new = parse(Sparse, {"year": None, "author": {"year": None}}).apply(old)
    assert new == {"title": "Momo", "author": {"title": "x"}}
    assert errors_of(Sparse, {"title": None}) == [("title", "string_type")]


def test_null_removes_what_may_be_unset() -> None:
    assert parse(Book, {"note": None}).apply(Book("Momo", note="good")).note is UNSET


def test_members_of_a_union_are_merged_by_their_tags() -> None:
    old = Picture(Circle(1, "blue"), {"a": Circle(1, "blue")}, {"a": 1, "b": 2})
    body: Any = {"shape": {"type": "circle", "radius": 2}, "named": {"a": {"radius": 3}}}
    new = parse(Picture, body).apply(old)
    assert (new.shape, new.named) == (Circle(2, "blue"), {"a": Circle(3, "blue")})
    assert parse(Picture, {"shape": {"type": "square", "side": 1}}).apply(old).shape == Square(1)
    missing = errors_of(Picture, {"shape": {"type": "square"}}, old)
    assert missing == [("shape.side", "missing")]
    assert errors_of(Picture, {"named": {"b": {}}}, old) == [("named.b.radius", "missing")]


def test_the_length_of_a_dict_is_that_of_the_merged_one() -> None:
    old = Picture(Square(1), limits={"a": 1, "b": 2})
    assert errors_of(Picture, {"limits": {"c": 3}}, old) == [("limits", "value_error")]
    assert parse(Picture, {"limits": {"c": 3, "a": None}}).apply(old).limits == {"b": 2, "c": 3}


def test_the_length_of_a_dict_that_may_be_null() -> None:
    class Limited(Struct):
        limits: Annotated[dict[str, int], Meta(max_length=2)] | None = None

    class LimitedModel(pydantic.BaseModel):
        limits: Annotated[dict[str, int], pydantic.Field(max_length=2)] | None = None

    for model in (Limited, LimitedModel):
        old = model(limits={"a": 1, "b": 2})
        assert errors_of(model, {"limits": {"c": 3}}, old)[0][0] == "limits"
        assert parse(model, {"limits": {"c": 3, "a": None}}).apply(old).limits == {"b": 2, "c": 3}
        assert parse(model, {"limits": None}).apply(old).limits is None


def test_an_object_of_another_class_is_refused() -> None:
    with pytest.raises(TypeError, match=r"BookPatch.apply\(\) takes a Book.*assign_to"):
        parse(Book, {}).apply(Row("Momo"))


# --- assign_to --------------------------------------------------------------------------------


class Stored:
    """An object such as a row of an ORM."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


def test_assign_to_sets_only_changed_attributes() -> None:
    row = Stored(title="Momo", year=1973)
    parse(Book, {"year": None}).assign_to(row)
    assert vars(row) == {"title": "Momo", "year": None}
    for name, value in parse(Book, {"title": "Jim"}).items():
        setattr(row, name, value)
    assert row.title == "Jim"  # type: ignore[attr-defined]


def test_assign_to_merges_related_rows_and_json() -> None:
    author = Stored(name="Ende", born=1929)
    row = Stored(author=author, labels={"a": "1"})
    parse(Book, {"author": {"born": 1}, "labels": {"b": "2"}}).assign_to(row)
    assert vars(row) == {"author": author, "labels": {"a": "1", "b": "2"}}
    assert vars(author) == {"name": "Ende", "born": 1}
    for model in (Book, Novel):
        row = Stored(author={"name": "Ende", "born": 1929})
        parse(model, {"author": {"born": None}}).assign_to(row)
        assert vars(row) == {"author": {"name": "Ende"}}


def test_assign_to_assigns_nothing_if_an_attribute_is_missing() -> None:
    row = Stored(title="Momo")
    with pytest.raises(AttributeError, match="Stored has no attribute 'year'"):
        parse(Book, {"title": "Jim", "year": 1}).assign_to(row)
    assert row.title == "Momo"  # type: ignore[attr-defined]


class Base(DeclarativeBase):
    pass


class AuthorRow(Base):
    __tablename__ = "author"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    born: Mapped[int | None]


class BookRow(MappedAsDataclass, Base):
    __tablename__ = "book"

    title: Mapped[str]
    year: Mapped[int | None]
    author_id: Mapped[int] = mapped_column(ForeignKey("author.id"), init=False)
    author: Mapped[AuthorRow] = relationship()
    labels: Mapped[dict[str, str]] = mapped_column(JSON)
    id: Mapped[int | None] = mapped_column(primary_key=True, default=None)


def test_rows_of_sqlalchemy_are_changed_in_place() -> None:
    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    body: Any = {"year": None, "author": {"born": 1930}, "labels": {"a": None, "b": "2"}}
    changes = parse(Book, body)
    with Session(engine) as session, session.begin():
        author = AuthorRow(name="Ende", born=1929)
        session.add(BookRow("Momo", 1973, author, {"a": "1"}))
    with Session(engine) as session, session.begin():
        row = session.scalars(select(BookRow)).one()
        with pytest.raises(TypeError, match="assign_to"):
            Partial[Book].parse(body).apply(row)  # type: ignore[arg-type]
        changes.assign_to(row)
    with Session(engine) as session:
        row = session.scalars(select(BookRow)).one()
        assert (row.title, row.year, row.labels) == ("Momo", None, {"b": "2"})
        assert (row.author.name, row.author.born) == ("Ende", 1930)
    engine.dispose()


# --- RFC 7396 ---------------------------------------------------------------------------------

# Appendix A: the original, the patch, and the result.
_CASES = r"""
{"a":"b"}         | {"a":"c"}             | {"a":"c"}
{"a":"b"}         | {"b":"c"}             | {"a":"b","b":"c"}
{"a":"b"}         | {"a":null}            | {}
{"a":"b","b":"c"} | {"a":null}            | {"b":"c"}
{"a":["b"]}       | {"a":"c"}             | {"a":"c"}
{"a":"c"}         | {"a":["b"]}           | {"a":["b"]}
{"a":{"b":"c"}}   | {"a":{"b":"d","c":null}} | {"a":{"b":"d"}}
{"a":[{"b":"c"}]} | {"a":[1]}             | {"a":[1]}
["a","b"]         | ["c","d"]             | ["c","d"]
{"a":"b"}         | ["c"]                 | ["c"]
{"a":"foo"}       | null                  | null
{"a":"foo"}       | "bar"                 | "bar"
{"e":null}        | {"a":1}               | {"e":null,"a":1}
[1,2]             | {"a":"b","c":null}    | {"a":"b"}
{}                | {"a":{"bb":{"ccc":null}}} | {"a":{"bb":{}}}
"""
CASES = [[json.loads(each) for each in line.split(" | ")] for line in _CASES.strip().splitlines()]


class Document(typing_extensions.TypedDict, total=False):
    a: object
    b: object
    e: object


class Whole(typing_extensions.TypedDict, total=False):
    """A document within an object, since the body of a request is always an object."""

    whole: object


class Json(pydantic.BaseModel):
    whole: Any = None


def merge_patch(target: Any, patch: Any) -> Any:
    """The algorithm of RFC 7396, section 2, word for word."""
    if isinstance(patch, dict):
        target = dict(target) if isinstance(target, dict) else {}
        for name, value in patch.items():
            if value is None:
                target.pop(name, None)
            else:
                target[name] = merge_patch(target.get(name), value)
        return target
    return patch


@pytest.mark.parametrize(("original", "patch", "result"), CASES)
def test_the_examples_of_the_rfc(original: Any, patch: Any, result: Any) -> None:
    expected = {} if result is None else {"whole": result}
    assert parse(Whole, {"whole": patch}).apply({"whole": original}) == expected
    assert parse(Json, {"whole": patch}).apply(Json(whole=original)) == Json(whole=result)
    if isinstance(original, dict) and isinstance(patch, dict):
        assert parse(Document, patch).apply(original) == result


values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from("abe"), values), st.dictionaries(st.sampled_from("abe"), values)
)
def test_any_document_is_merged_as_the_rfc_says(target: Any, patch: Any) -> None:
    before = json.dumps(target)
    assert parse(Document, patch).apply(target) == merge_patch(target, patch)
    assert json.dumps(target) == before


people = st.fixed_dictionaries(
    {"name": st.text(max_size=2)}, optional={"born": st.none() | st.integers(0, 9)}
)
titles = st.text(min_size=1, max_size=2)
fields: dict[str, Any] = {
    "pageCount": st.integers(0, 9),
    "year": st.none() | st.integers(0, 9),
    "author": st.none() | people,
    "labels": st.dictionaries(st.sampled_from("ab"), st.none() | st.text(max_size=2)),
    "items": st.lists(st.integers(0, 9), max_size=2),
}


@pytest.mark.parametrize("model", [Book, Novel])
@given(st.fixed_dictionaries({"title": titles}, optional=fields), st.data())
def test_models_are_merged_as_the_rfc_says(model: Any, document: Any, data: Any) -> None:
    """For a field of a class, null and absence are the same."""
    document["labels"] = {k: v for k, v in document.get("labels", {}).items() if v is not None}
    patch = data.draw(st.fixed_dictionaries({}, optional={"title": titles, **fields}))

    def read(whole: Any) -> Any:
        return msgspec.convert(whole, model) if model is Book else model.model_validate(whole)

    def without_null(whole: Any) -> Any:
        if not isinstance(whole, dict):
            return whole
        return {k: without_null(v) for k, v in whole.items() if v is not None}

    expected = read(without_null(merge_patch(without_null(document), patch)))
    assert parse(model, patch).apply(read(document)) == expected


# --- The classes ------------------------------------------------------------------------------


def test_there_is_one_class_for_a_model() -> None:
    assert Partial[Book] is Partial[Book]
    assert Partial[Box[int]] is Partial[Box[int]]
    assert Partial[Box[int]] is not Partial[Box[str]]
    assert Partial[Box[int]].__name__ == "BoxIntPatch"
    assert errors_of(Box[int], {"value": "x"}) == [("value", "int_type")]

    class Special(Book):
        extra: int = 0

    assert "extra" in parse(Special, {"extra": 1})
    assert isinstance(parse(Book, {}), Partial)


def test_a_class_is_dropped_with_its_model() -> None:
    def create() -> weakref.ref[Any]:
        class Short(pydantic.BaseModel):
            title: str

        parse(Short, {"title": "Momo"})
        return weakref.ref(Partial[Short])

    dropped = create()
    gc.collect()
    assert dropped() is None


class Empty(Struct):
    pass


class Point(NamedTuple):
    x: int


class Pair(Struct, array_like=True):
    x: int


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Empty, "has no fields"),
        (pydantic.create_model("Nothing"), "has no fields"),
        (int, "takes a Struct"),
        (dict[str, int], "takes a Struct"),
        (list[Book], "takes a Struct"),
        (Book | None, "takes a Struct"),
        (Point, "takes a Struct"),
        (Pair, "takes a Struct"),
        (pydantic.RootModel[int], "takes a Struct"),
        (Partial[Book], "already a Partial"),
        ("Book", "write the class"),
    ],
)
def test_other_types_are_refused(model: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Partial[model]


def test_a_model_without_fields_is_refused_at_registration() -> None:
    with pytest.raises(TypeError, match=r"changes.*has no fields"):

        @typed
        async def change(changes: Partial[Empty]) -> None: ...


def test_a_validator_of_pydantic_1_is_refused() -> None:
    with pytest.warns(DeprecationWarning, match="@validator"):

        class Old(pydantic.BaseModel):
            title: str

            @pydantic.validator("title")
            def check(cls, value: str) -> str:  # noqa: N805 - a class method
                return value

    with pytest.raises(TypeError, match=r"check\(\).*@field_validator"):
        Partial[Old]
    with pytest.raises(TypeError, match="write Partial"):
        Partial.parse({})


# --- Requests ---------------------------------------------------------------------------------

app = Kit()
shelf = {"struct": Book("Momo", year=1973), "model": Novel(title="Momo", year=1973)}


@app.patch("/struct")
@typed
async def change_book(changes: Partial[Book]) -> Book:
    book = shelf["struct"]
    assert isinstance(book, Book)
    return changes.apply(book)


@app.patch("/model")
@typed
async def change_novel(changes: Partial[Novel]) -> Novel:
    novel = shelf["model"]
    assert isinstance(novel, Novel)
    return changes.apply(novel)


@app.post("/maybe")
@typed
async def maybe(changes: Partial[Book] | None = None) -> str:
    return repr(changes)


@app.post("/many")
@typed
async def many(
    all: Annotated[list[Partial[Novel]], Body(embed=True)],
    one: Annotated[Partial[Novel], Body(embed=True)],
) -> str:
    return f"{all} {one}"


@app.post("/form")
@typed
async def form(changes: Annotated[Partial[Book], Form()]) -> str:
    return repr(changes)


async def request(path: str, body: Any, kind: str | None, method: str = "PATCH") -> Any:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {} if kind is None else {"content-type": kind}
    response = await app.request(path, method=method, body=content, headers=headers)
    return response, await response.text()


@pytest.mark.parametrize("path", ["/struct", "/model"])
@pytest.mark.parametrize("kind", [MERGE_PATCH, "application/json", f"{MERGE_PATCH}; charset=utf-8"])
def test_both_media_types_are_taken(run: Callable[..., Any], path: str, kind: str) -> None:
    response, text = run(request, path, {"year": None, "title": "Jim"}, kind)
    assert response.status == 200
    assert (json.loads(text)["year"], json.loads(text)["title"]) == (None, "Jim")


@pytest.mark.parametrize("path", ["/struct", "/model"])
@pytest.mark.parametrize("kind", ["application/json-patch+json", "text/plain", None])
def test_others_are_a_415(run: Callable[..., Any], path: str, kind: str | None) -> None:
    response, text = run(request, path, {"year": None}, kind)
    assert response.status == 415
    assert response.headers.get("accept-patch") == f"{MERGE_PATCH}, application/json"
    assert response.headers.get("content-type") == "application/problem+json"
    assert MERGE_PATCH in json.loads(text)["detail"]
    response, _ = run(request, path, b"", None)
    assert response.status == 400


def test_options_lists_the_media_types(run: Callable[..., Any]) -> None:
    strict = Kit(method_not_allowed=True)
    strict.patch("/struct", change_book)
    strict.patch("/plain", lambda c: c.text("x"))
    strict.get("/read", lambda c: c.text("x"))

    async def ask(path: str) -> Any:
        response = await strict.request(path, method="OPTIONS")
        return response.status, response.headers.get("accept-patch")

    assert run(ask, "/struct") == (204, f"{MERGE_PATCH}, application/json")
    assert run(ask, "/plain") == (204, None)
    assert run(ask, "/read") == (204, None)


def test_invalid_changes_are_a_400(run: Callable[..., Any]) -> None:
    response, text = run(request, "/struct", {"title": "", "author": {"name": 1}}, MERGE_PATCH)
    assert response.status == 400
    errors = {each["path"]: each["type"] for each in json.loads(text)["errors"]}
    assert errors == {"title": "string_too_short", "author.name": "string_type"}
    response, text = run(request, "/struct", {"author": {}}, MERGE_PATCH)
    assert response.status == 400
    assert json.loads(text)["errors"][0]["path"] == "author.name"
    response, _ = run(request, "/struct", None, MERGE_PATCH)
    assert response.status == 400


def test_partials_within_other_types(run: Callable[..., Any]) -> None:
    assert run(request, "/maybe", b"", None, "POST")[1] == '"None"'
    assert (
        run(request, "/maybe", {"year": None}, MERGE_PATCH, "POST")[1] == '"BookPatch(year=None)"'
    )
    response, _ = run(request, "/maybe", {"year": None}, "text/plain", "POST")
    assert response.status == 415
    assert MERGE_PATCH in response.headers.get("accept", "")
    body = {"all": [{"year": None}, {}], "one": {"title": "Jim"}}
    _, text = run(request, "/many", body, "application/json", "POST")
    assert text == "\"[NovelPatch(year=None), NovelPatch()] NovelPatch(title='Jim')\""
    urlencoded = "application/x-www-form-urlencoded"
    _, text = run(request, "/form", b"pageCount=3", urlencoded, "POST")
    assert text == '"BookPatch(page_count=3)"'


def test_changes_can_be_sent_on() -> None:
    assert msgspec.json.encode(parse(Book, {"year": None, "pageCount": 3})) == (
        b'{"pageCount":3,"year":null}'
    )
    assert parse(Novel, {"pageCount": 3}).model_dump(mode="json") == {"pageCount": 3}


@pytest.mark.parametrize(("path", "name"), [("/struct", "BookPatch"), ("/model", "NovelPatch")])
def test_the_document_has_the_changes(path: str, name: str) -> None:
    document: Any = build_document(app)
    operation = document["paths"][path]["patch"]
    reference = {"schema": {"$ref": f"#/components/schemas/{name}"}}
    assert operation["requestBody"] == {
        "content": {MERGE_PATCH: reference, "application/json": reference},
        "required": True,
    }
    assert "415" in operation["responses"]
    schema = document["components"]["schemas"][name]
    assert not schema.get("required")
    fields = schema["properties"]
    assert fields["pageCount"]["type"] == "integer"
    assert "default" not in fields["pageCount"]
    assert fields["title"]["minLength"] == 1
    assert fields["title"]["description"].startswith("What is on the cover")
    assert {"type": "null"} in fields["year"]["anyOf"]
    assert {"$ref": f"#/components/schemas/{name}"} in fields["sequel"]["anyOf"]


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]


class Owner(pydantic.BaseModel):
    pet: Annotated[Cat | Dog, pydantic.Field(discriminator="kind")]


def test_a_union_of_models_of_pydantic_is_replaced_as_a_whole() -> None:
    old = Owner(pet=Cat(kind="cat", lives=3))
    assert parse(Owner, {"pet": {"kind": "cat"}}).apply(old).pet == Cat(kind="cat", lives=9)
    assert parse(Owner, {"pet": {"kind": "dog"}}).apply(old).pet == Dog(kind="dog")
    assert errors_of(Owner, {"pet": {"lives": 1}})
