# SPDX-License-Identifier: MIT
"""Types that are pydantic's, and the kinds of errors of pydantic and msgspec."""

from __future__ import annotations

import enum
import subprocess
import sys
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple, TypedDict

import msgspec
import pydantic
import pydantic.dataclasses
import pytest

import kit.authoring.models
from kit.authoring.models import find_model, summary, validation_errors


class Author(pydantic.BaseModel):
    name: str


class Book(pydantic.BaseModel):
    title: str
    pages: int = pydantic.Field(ge=1)
    authors: list[Author] = []


class Library(pydantic.BaseModel):
    books: list[Book]


class Price(pydantic.BaseModel):
    amount: float
    note: str = ""


@pydantic.dataclasses.dataclass
class Shelf:
    number: Annotated[int, pydantic.Field(ge=1)]


@dataclass
class Plain:
    number: int


@dataclass
class WithModel:
    book: Book


@dataclass
class Tree:
    book: Book
    below: list[Tree]


class Forest(TypedDict):
    number: int
    below: list[Forest]


class Pair(NamedTuple):
    first: Book


class Item(msgspec.Struct):
    number: int


class Shop(msgspec.Struct):
    kind: ClassVar[Book | None]
    number: int


class Unknown(TypedDict):
    other: NoSuchName  # type: ignore[name-defined]  # noqa: F821


def test_public_names() -> None:
    assert kit.authoring.models.__all__ == (
        "Model",
        "check_applied",
        "check_union",
        "find_model",
        "is_read_by_pydantic",
        "keep_if_unsafe",
        "summary",
        "validation_errors",
        "with_defaults",
    )


@pytest.mark.parametrize(
    "kind",
    [Book, Shelf, list[Book], dict[str, Book] | None, WithModel, Tree, Pair, Annotated[Book, {}]],
)
def test_pydantic_s(kind: Any) -> None:
    assert find_model(kind) is not None


@pytest.mark.parametrize(
    "kind", [int, Plain, Item, Shop, Forest, list[int], Unknown, "Book", None, Annotated[int, []]]
)
def test_not_pydantic_s(kind: Any) -> None:
    assert find_model(kind) is None


def test_model_validates() -> None:
    model = find_model(list[Shelf])
    assert model is not None
    assert model.validate([{"number": "3"}]) == [Shelf(3)]
    assert model.validate_json(b'[{"number": 3}]') == [Shelf(3)]
    with pytest.raises(pydantic.ValidationError):
        model.validate_json(b'[{"number": 0}]')


def refused(data: Any) -> pydantic.ValidationError:
    with pytest.raises(pydantic.ValidationError) as caught:
        Book.model_validate(data)
    return caught.value


def test_errors_of_fields() -> None:
    error = refused({"pages": 0, "authors": [{"name": "a"}, {"name": 3}]})
    assert list(validation_errors(error)) == [
        {"path": "title", "message": "Field required", "type": "missing"},
        {
            "path": "pages",
            "message": "Input should be greater than or equal to 1",
            "type": "greater_than_equal",
            "ctx": {"ge": 1},
        },
        {
            "path": "authors[1].name",
            "message": "Input should be a valid string",
            "type": "string_type",
        },
    ]
    assert summary(error) == (
        "Field required - at `$.title`; "
        "Input should be greater than or equal to 1 - at `$.pages`; "
        "Input should be a valid string - at `$.authors[1].name`"
    )


def test_error_of_the_whole() -> None:
    model = find_model(list[Book])
    assert model is not None
    with pytest.raises(pydantic.ValidationError) as caught:
        model.validate([3])
    [error] = validation_errors(caught.value)
    assert (error["path"], error["type"]) == ("[0]", "model_type")
    assert summary(caught.value).endswith(" - at `$[0]`")
    with pytest.raises(pydantic.ValidationError) as caught:
        model.validate(3)
    assert summary(caught.value) == "Input should be a valid list"


def test_error_that_is_not_pydantic_s() -> None:
    error = ValueError("no")
    assert list(validation_errors(error)) == [
        {"path": "", "message": "no", "type": "value_error"},
    ]
    assert summary(error) == "no"


@pytest.mark.parametrize("count", [10_000, 10_001])
def test_so_many_errors_that_they_are_only_counted(count: int) -> None:
    """APPSEC: pydantic lists all or none; a body of 1 MB can have 1.4 million of them."""
    with pytest.raises(pydantic.ValidationError) as caught:
        Library.model_validate({"books": ["x"] * count})
    found = [*validation_errors(caught.value)]
    if count == 10_000:
        assert len(found) == count
        assert found[-1]["path"] == "books[9999]"
    else:
        assert found == [
            {"path": "", "message": "There are 10001 errors", "type": "too_many_errors"}
        ]


@pytest.mark.parametrize("kind", [Price, list[Price], Annotated[Price, "x"]])
@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity"])
def test_only_json_is_validated(kind: Any, number: bytes) -> None:
    model = find_model(kind)
    assert model is not None
    start, end = (b"[", b"]") if kind == list[Price] else (b"", b"")
    with pytest.raises(ValueError, match="malformed"):
        model.validate_json(start + b'{"amount":' + number + b"}" + end)
    model.validate_json(start + b'{"amount":1,"note":"NaN Infinity"}' + end)


def test_summary_is_bounded() -> None:
    error = refused({"title": "t", "pages": 1, "authors": [{}] * 20})
    assert summary(error).count("Field required") == 10


class Color(enum.Enum):
    RED = "red"


class Cat(msgspec.Struct, tag="cat"):
    number: int


class Dog(msgspec.Struct, tag="dog"):
    number: int


class Strict(msgspec.Struct, forbid_unknown_fields=True):
    number: int


class Checked(msgspec.Struct):
    number: int

    def __post_init__(self) -> None:
        raise ValueError("it is odd")


def bounded(kind: Any, **bounds: Any) -> Any:
    return Annotated[kind, msgspec.Meta(**bounds)]


def test_neither_library_is_imported() -> None:
    code = """
import sys
from kit.authoring.models import find_model
class Fake:
    pass
print(find_model(list[int]), find_model(Fake), {"pydantic", "msgspec"} & {*sys.modules} - before)
"""
    code = "import sys, kit; before = {*sys.modules}\n" + code
    output = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert output == "None None set()\n"


def _refuse(value: Any) -> Any:
    raise ValueError("refused")


def test_rules_around_a_model_hold() -> None:
    model = find_model(Annotated[Author, pydantic.AfterValidator(_refuse)])
    assert model is not None
    for validate, value in (
        (model.validate, {"name": "a"}),
        (model.validate_json, b'{"name":"a"}'),
    ):
        with pytest.raises(pydantic.ValidationError, match="refused"):
            validate(value)  # type: ignore[operator]


def test_annotated_of_what_only_looks_like_a_model() -> None:
    class Like:
        model_validate = model_validate_json = staticmethod(lambda value: value)

    model = find_model(Annotated[Like, "told"])
    assert model is not None
    assert model.validate({}) == {}


UNSAFE = """
from typing import Annotated
import msgspec
from kit.authoring.models import keep_if_unsafe

Word = Annotated[str, msgspec.Meta(pattern="^a")]
for _ in range(40):
    Unsafe = msgspec.defstruct("Unsafe", [("a", list[int] | Word), ("b", dict[str, int] | Word)])
    keep_if_unsafe(Unsafe, [list[int] | Word])
    msgspec.json.Decoder(Unsafe)
"""


def test_a_class_that_crashes_msgspec_is_not_dropped_at_exit() -> None:
    done = subprocess.run([sys.executable, "-c", UNSAFE], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
