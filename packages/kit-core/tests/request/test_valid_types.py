# SPDX-License-Identifier: MIT
"""`valid` with a type: the data, checked against the type that a handler expects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, TypedDict, TypeVar

import msgspec
import pytest

from kit import Context, Kit, KitRequest, Request, Response
from kit.validator import validator

T = TypeVar("T")


@dataclass
class Book:
    title: str


@dataclass
class Novel(Book):
    pages: int = 0


class Author(msgspec.Struct):
    name: str


class Items(msgspec.Struct, Generic[T]):
    items: list[T]


class Tags(dict[str, T], Generic[T]):
    pass


class Row(TypedDict):
    id: int


class Pair(NamedTuple):
    key: str
    value: int


Id = NewType("Id", int)
BOOK, AUTHOR, NOVEL = Book("Dune"), Author("Frank"), Novel("Dune", 412)


def request_with(data: Any) -> KitRequest:
    req = KitRequest(Request("http://x/"))
    req.add_validated_data("json", data)
    return req


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (BOOK, Book),
        (NOVEL, Book),
        (BOOK, Any),
        (BOOK, Book | None),
        (None, Book | None),
        (BOOK, Annotated[Book, "described"]),
        (AUTHOR, Author),
        (Items([1]), Items[int]),
        (Tags({"a": 1}), Tags[int]),
        ({"id": 1}, Row),
        ({"id": 1, "more": 2}, Row),
        ({"id": 1}, dict),
        ({"id": 1}, dict[str, int]),
        ({"id": 1}, Mapping[str, float]),
        (Pair("a", 1), Pair),
        ([], list[Book]),
        ([BOOK, NOVEL], list[Book]),
        ([BOOK, AUTHOR], list[Book | Author]),
        ([BOOK], Sequence[Book]),
        ({1, 2}, set[int]),
        ((1, "a"), tuple[int, str]),
        ((1, 2, 3), tuple[int, ...]),
        ((), tuple[int, ...]),
        ("a", Literal["a", "b"]),
        (7, Id),
        (7, int),
        (7, float),
        ([BOOK], list[T]),  # type: ignore[valid-type]
    ],
)
def test_data_of_the_type(data: Any, kind: Any) -> None:
    assert request_with(data).valid("json", kind) is data


@pytest.mark.parametrize(
    ("data", "kind", "shown", "found"),
    [
        (AUTHOR, Book, "Book", "Author"),
        (BOOK, Novel, "Novel", "Book"),
        (None, Book, "Book", "NoneType"),
        (AUTHOR, Book | None, "Book | None", "Author"),
        (AUTHOR, Annotated[Book, 1], "Annotated[Book, 1]", "Author"),
        (BOOK, Items[int], "Items[int]", "Book"),
        ({"title": "Dune"}, Book, "Book", "dict of 'title'"),
        ({"a": 1, "b": 2, "c": 3, "d": 4}, Row, "Row", "dict of 'a', 'b', 'c', ..."),
        ({}, Row, "Row", "dict"),
        ([1], Row, "Row", "list of int"),
        ({"id": "x"}, dict[str, int], "dict[str, int]", "dict of 'id'"),
        ({1: 1}, dict[str, int], "dict[str, int]", "dict of 1"),
        ([BOOK, AUTHOR, AUTHOR], list[Book], "list[Book]", "list of Book, Author"),
        ([1, "a", None, 1.5], list[int], "list[int]", "list of int, str, NoneType, ..."),
        ((1, 2), tuple[int], "tuple[int]", "tuple of int"),
        ((1, 2), tuple[int, str], "tuple[int, str]", "tuple of int"),
        ("a", list[str], "list[str]", "str"),
        ("c", Literal["a", "b"], "Literal['a', 'b']", "str"),
        (True, Literal[1], "Literal[1]", "bool"),
        ("7", Id, "Id", "str"),
    ],
)
def test_data_of_another_type(data: Any, kind: Any, shown: str, found: str) -> None:
    with pytest.raises(TypeError) as caught:
        request_with(data).valid("json", kind)
    told = str(caught.value).replace(f"{__name__}.", "")
    assert told == f"c.req.valid('json', {shown}): this part was validated as {found}"


def test_a_part_that_nothing_validated() -> None:
    for req in (KitRequest(Request("http://x/")), request_with(BOOK)):
        with pytest.raises(LookupError) as caught:
            req.valid("query", Book)
        assert str(caught.value).startswith("c.req.valid('query', Book): nothing validated this")
        assert req.valid("query") is None


def test_unknown_targets_are_refused_with_a_type_too() -> None:
    with pytest.raises(ValueError, match=r"^Unknown target 'body': expected one of json, form, "):
        request_with(BOOK).valid("body", Book)  # type: ignore[call-overload]


async def test_behind_a_validator() -> None:
    app = Kit()

    @app.post("/books", use=validator("json", Book))
    def create(c: Context) -> Response:
        return c.text(c.req.valid("json", Book).title)

    @app.post("/authors", use=validator("json", Author))
    def confused(c: Context) -> Response:
        with pytest.raises(TypeError) as caught:
            c.req.valid("json", Book)
        return c.text(str(caught.value))

    response = await app.request("/books", method="POST", json={"title": "Dune"})
    assert (response.status, await response.text()) == (200, "Dune")
    response = await app.request("/authors", method="POST", json={"name": "Frank"})
    assert await response.text() == ("c.req.valid('json', Book): this part was validated as Author")
