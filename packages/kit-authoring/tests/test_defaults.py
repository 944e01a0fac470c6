# SPDX-License-Identifier: MIT
"""`with_defaults`: what msgspec decodes is what the constructors of the dataclasses build."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import Annotated, Any, ClassVar, Generic, Literal, NamedTuple, TypedDict, TypeVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.authoring.models import with_defaults

try:
    import attrs
except ImportError:
    attrs = None  # type: ignore[assignment]

T = TypeVar("T")


@dataclass
class Book:
    title: str
    year: int | None = None
    state: str = "new"
    tags: list[str] = field(default_factory=list)
    kinds: ClassVar[int] = 3


@dataclass(frozen=True)
class Frozen:
    x: int
    y: int = 2


@dataclass
class Novel(Book):
    pages: int = 100


class Undecorated(Book):
    state = "old"


@dataclass
class Keywords:
    x: int = 1
    _: KW_ONLY
    y: int = 2


@dataclass
class Computed:
    x: int = 1
    y: int = 2
    fixed: int = field(default=3, init=False)

    def __post_init__(self) -> None:
        self.y = self.x + 10

    @functools.cached_property
    def double(self) -> int:
        return self.x * 2


@dataclass(slots=True)
class Slotted:
    x: int = 1


@dataclass
class BelowSlotted(Slotted):
    y: int = 2


@dataclass(slots=True)
class SlottedBelow(Keywords):
    z: int = 3


@dataclass
class Without:
    x: int
    many: list[int] = field(default_factory=list)


class Stored:
    """A descriptor that stores its value under another name."""

    def __get__(self, instance: Any, owner: Any = None) -> int:
        return 7 if instance is None else instance.__dict__.get("_x", 7)

    def __set__(self, instance: Any, value: int) -> None:
        instance.__dict__["_x"] = value


@dataclass
class Described:
    x: int = Stored()  # type: ignore[assignment]


@dataclass
class Initial:
    x: InitVar[int] = 1


@dataclass
class Box(Generic[T]):
    value: T
    size: int = 1


@dataclass
class Node:
    name: str
    weight: int = 1
    next: Node | None = None
    below: list[Node] = field(default_factory=list)
    by_name: dict[str, Node] = field(default_factory=dict)


@dataclass
class Even:
    odd: Odd | None = field(default_factory=lambda: None)


@dataclass
class Odd:
    even: Even | None = field(default_factory=lambda: None)
    mark: str = "!"


class Pair(NamedTuple):
    book: Book
    count: int = 1


class Shelf(TypedDict, total=False):
    book: Book
    count: int


class Room(msgspec.Struct):
    book: Book
    other: Room | None = None


class Row(msgspec.Struct, array_like=True):
    book: Book


class Renamed(msgspec.Struct, rename="camel"):
    first_book: Book


class Cat(msgspec.Struct, tag=True):
    book: Book


class Dog(msgspec.Struct, tag=True):
    name: str


class Plain(msgspec.Struct):
    x: int
    next: Plain | None = None
    by_name: dict[str, Plain] = {}


def decoded(kind: Any, data: Any) -> Any:
    return with_defaults(msgspec.json.Decoder(kind).decode, kind)(msgspec.json.encode(data))


SENT = {"title": "x"}
BOOK = Book("x")


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        (Book, SENT, BOOK),
        (Book, {"title": "x", "year": 1, "state": "a"}, Book("x", 1, "a")),
        (Book, {"title": "x", "year": None}, BOOK),
        (Frozen, {"x": 1}, Frozen(1)),
        (Novel, SENT, Novel("x")),
        (Keywords, {}, Keywords()),
        (Keywords, {"y": 5}, Keywords(y=5)),
        (Slotted, {}, Slotted()),
        (BelowSlotted, {}, BelowSlotted()),
        (SlottedBelow, {}, SlottedBelow()),
        (Box[int], {"value": 1}, Box(1)),
        (Box[Book], {"value": SENT}, Box(BOOK)),
        (Box[Box[Book]], {"value": {"value": SENT}}, Box(Box(BOOK))),
        (list[Book], [SENT, SENT], [BOOK, BOOK]),
        (Sequence[Book], [SENT], [BOOK]),
        (set[Frozen], [{"x": 1}], {Frozen(1)}),
        (frozenset[Frozen], [{"x": 1}], frozenset({Frozen(1)})),
        (tuple[Book, ...], [SENT], (BOOK,)),
        (tuple[int, Book], [1, SENT], (1, BOOK)),
        (dict[str, list[Book]], {"a": [SENT]}, {"a": [BOOK]}),
        (Book | None, SENT, BOOK),
        (Book | None, None, None),
        (Book | int | list[Frozen], [{"x": 1}], [Frozen(1)]),
        (Book | int | list[Frozen], SENT, BOOK),
        (Book | int | list[Frozen], 5, 5),
        (Annotated[Book, msgspec.Meta(title="A book")], SENT, BOOK),
        (Annotated[Book, msgspec.Meta(title="A")] | None, SENT, BOOK),
        (Pair, [SENT], Pair(BOOK)),
        (Shelf, {"book": SENT}, {"book": BOOK}),
        (Shelf, {}, {}),
        (Room, {"book": SENT, "other": {"book": SENT}}, Room(BOOK, Room(BOOK))),
        (Row, [SENT], Row(BOOK)),
        (Renamed, {"firstBook": SENT}, Renamed(BOOK)),
        (Cat | Dog, {"type": "Cat", "book": SENT}, Cat(BOOK)),
        (Cat | Dog, {"type": "Dog", "name": "x"}, Dog("x")),
        (Even, {"odd": {"even": {"odd": {}}}}, Even(Odd(Even(Odd())))),
    ],
    ids=str,
)
def test_decoded_as_constructed(kind: Any, data: Any, expected: Any) -> None:
    value = decoded(kind, data)
    assert value == expected
    assert msgspec.json.encode(value) == msgspec.json.encode(expected)
    convert = with_defaults(functools.partial(msgspec.convert, type=kind), kind)
    if kind is not set[Frozen] and kind is not frozenset[Frozen]:
        assert msgspec.json.encode(convert(data)) == msgspec.json.encode(expected)


def test_where_the_defaults_are() -> None:
    assert vars(decoded(Book, SENT)) == vars(BOOK)
    assert vars(decoded(Frozen, {"x": 1})) == {"x": 1, "y": 2}
    assert "kinds" not in vars(decoded(Book, SENT))


def test_overridden_attribute_of_an_undecorated_subclass() -> None:
    assert vars(decoded(Undecorated, SENT)) == vars(Undecorated("x"))


def test_what_post_init_sets_stays() -> None:
    value = decoded(Computed, {"x": 5})
    assert (value.y, value.double) == (15, 10)
    assert msgspec.json.decode(msgspec.json.encode(value)) == {"x": 5, "y": 15, "fixed": 3}


def test_descriptors_are_left_alone() -> None:
    assert with_defaults(len, Described) is len


@pytest.mark.skipif(attrs is None, reason="attrs is not installed")
def test_attrs() -> None:
    complete = attrs.make_class("Complete", {"x": attrs.field(default=1, type=int)}, slots=False)
    assert msgspec.json.encode(msgspec.json.decode(b"{}", type=complete)) == b'{"x":1}'
    assert with_defaults(len, complete) is len
    holds = attrs.make_class("Holds", {"book": attrs.field(type=Book)})
    assert vars(decoded(holds, {"book": SENT}).book) == vars(BOOK)


@pytest.mark.parametrize(
    "kind",
    [
        Plain,
        list[Plain],
        Slotted,
        Without,
        Dog,
        Any,
        int,
        dict[str, Any],
        Literal["a"] | None,
        tuple[int, str],
        msgspec.Raw,
        list,
        tuple,
    ],
    ids=str,
)
def test_other_types_cost_nothing(kind: Any) -> None:
    decode = msgspec.json.Decoder(kind).decode
    assert with_defaults(decode, kind) is decode


def test_errors_pass() -> None:
    with pytest.raises(msgspec.ValidationError, match="missing required field `title`"):
        decoded(Book, {})
    with pytest.raises(TypeError):
        with_defaults(len, 1)
    with pytest.raises(TypeError, match="`InitVar` fields are not supported"):
        with_defaults(len, Initial)


def test_deep_values() -> None:
    # The decoder accepts this depth; a function that called itself twice a level would fail.
    depth = 600
    data = b'{"name":"","next":' * depth + b"null" + b"}" * depth
    value = with_defaults(msgspec.json.Decoder(Node).decode, Node)(data)
    for _ in range(depth):
        assert vars(value)["weight"] == 1
        value = value.next
    assert value is None


def trees() -> st.SearchStrategy[dict[str, Any]]:
    leaf = st.fixed_dictionaries({"name": st.text()}, optional={"weight": st.integers(-9, 9)})
    return st.recursive(
        leaf,
        lambda each: st.fixed_dictionaries(
            {"name": st.text()},
            optional={
                "weight": st.integers(-9, 9),
                "next": st.none() | each,
                "below": st.lists(each, max_size=3),
                "by_name": st.dictionaries(st.text(max_size=3), each, max_size=3),
            },
        ),
        max_leaves=8,
    )


def constructed(data: dict[str, Any]) -> Node:
    parts = dict(data)
    if parts.get("next") is not None:
        parts["next"] = constructed(parts["next"])
    if "below" in parts:
        parts["below"] = [constructed(each) for each in parts["below"]]
    if "by_name" in parts:
        parts["by_name"] = {name: constructed(each) for name, each in parts["by_name"].items()}
    return Node(**parts)


@given(trees())
def test_any_tree(data: dict[str, Any]) -> None:
    expected = constructed(data)
    value = decoded(Node, data)
    assert value == expected
    assert msgspec.json.encode(value) == msgspec.json.encode(expected)
