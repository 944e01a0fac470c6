# SPDX-License-Identifier: MIT
"""Types of every kind that a document describes, for `every_feature_app`."""

from __future__ import annotations

import datetime
import decimal
import enum
import uuid
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, NotRequired, TypedDict, TypeVar

import attrs
import pydantic
from msgspec import UNSET, Meta, Struct, UnsetType

from kit import File
from kit.pages import Filter

T = TypeVar("T")


class Color(enum.Enum):
    """What a thing looks like."""

    RED = "red"
    BLUE = "blue"


class Rank(enum.IntEnum):
    """How much a thing matters."""

    LOW = 1
    HIGH = 2


# --- Objects of each kind ---------------------------------------------------------------------


class Thing(Struct, rename="camel"):
    """A thing with a field of every type.

    Attributes:
        display_name: What it is called.
        size: How large it is, in centimetres.
    """

    display_name: Annotated[str, Meta(min_length=1, max_length=40, examples=["Lamp"])]
    serial: uuid.UUID
    price: decimal.Decimal
    made_on: datetime.date
    sold_at: Annotated[datetime.datetime, Meta(tz=True)] | None = None
    opens: datetime.time | None = None
    lasts: datetime.timedelta | None = None
    size: Annotated[int, Meta(ge=0, le=10_000)] | None = None
    weight: Annotated[float, Meta(ge=0)] = 1.5
    is_new: bool = False
    color: Color = Color.RED
    rank: Rank = Rank.LOW
    kind: Literal["a", "b"] = "a"
    tags: Annotated[list[str], Meta(max_length=5)] = []
    counts: dict[str, int] = {}
    place: tuple[int, float] | None = None
    path: tuple[int, ...] = ()
    picture: bytes | None = None
    words: set[str] = set()
    anything: Any = None


class Tree(Struct):
    """A node with others below it."""

    name: Annotated[str, Meta(min_length=1, max_length=20)]
    children: list[Tree] = []


@dataclass
class Person:
    """Somebody."""

    name: str
    age: Annotated[int, Meta(ge=0, le=150)] = 0
    friends: list[Person] = field(default_factory=list)


class Address(TypedDict):
    """Where somebody lives."""

    street: str
    number: NotRequired[int]


@attrs.define
class Point:
    """A place."""

    x: int
    y: int = 0


class Item(pydantic.BaseModel):
    """Something to buy."""

    model_config = pydantic.ConfigDict(extra="forbid", strict=True)

    name: str = pydantic.Field(min_length=1, max_length=20)
    count: int = pydantic.Field(default=1, ge=1, le=100, description="How many.")
    color: Literal["red", "blue"] = "red"
    parts: list[Item] = []


class Account(pydantic.BaseModel):
    """Whose input differs from the output."""

    email: str
    balance: decimal.Decimal = decimal.Decimal("0.00")

    @pydantic.computed_field  # type: ignore[prop-decorator]  # as pydantic documents it
    @property
    def label(self) -> str:
        """How it is shown."""
        return f"{self.email}: {self.balance}"


class Sparse(Struct, omit_defaults=True):
    """Whose fields are absent rather than null."""

    name: str
    note: str | UnsetType = UNSET
    level: int = 0


# --- Generics and unions ----------------------------------------------------------------------


class Box(Struct, Generic[T]):
    """Something that contains something else."""

    content: T
    label: str | None = None


class Circle(Struct, tag="circle", forbid_unknown_fields=True):
    """A circle."""

    radius: Annotated[int, Meta(gt=0, le=1000)]


class Square(Struct, tag="square", forbid_unknown_fields=True):
    """A square."""

    side: Annotated[int, Meta(gt=0, le=1000)]


class Group(Struct, tag="group"):
    """Shapes that belong together."""

    shapes: list[Circle | Square | Group] = []


Shape = Circle | Square | Group


class Cat(pydantic.BaseModel):
    """A cat."""

    kind: Literal["cat"]
    lives: int = 9


class Dog(pydantic.BaseModel):
    """A dog."""

    kind: Literal["dog"]
    tricks: list[str] = []


class Owner(pydantic.BaseModel):
    """Somebody with a pet."""

    name: str
    pet: Annotated[Cat | Dog, pydantic.Field(discriminator="kind")]


class Holder(Struct):
    """A Struct with a pydantic model in it."""

    item: Item
    note: str = ""


# --- Parts of requests ------------------------------------------------------------------------


class Range(Struct):
    """Numbers between two others."""

    low: int
    high: int | None = None


class Search(Struct):
    """What a list takes, by a query.

    Attributes:
        words: What to look for.
    """

    words: Annotated[list[str], Meta(max_length=5)] = []
    color: Color | None = None
    after: datetime.date | None = None
    pages: Range | None = None
    limit: Annotated[int, Meta(ge=1, le=100, description="How many at most.")] = 10


class Found(Struct):
    """What a search found: the search itself."""

    words: list[str]
    color: Color | None
    after: datetime.date | None
    pages: Range | None
    limit: int
    trace: str
    theme: str | None


class Trace(Struct):
    """Headers of a request."""

    x_trace: Annotated[str, Meta(max_length=20, pattern="^[a-z]*$")] = ""


class Preferences(Struct):
    """Cookies of a request."""

    theme: Literal["light", "dark"]


class Limits(pydantic.BaseModel):
    """A query."""

    limit: int = pydantic.Field(default=10, ge=1, le=100, description="How many at most.")
    order: Literal["asc", "desc"] = "asc"


class Login(Struct):
    """A form."""

    username: Annotated[str, Meta(min_length=1, max_length=20)]
    password: Annotated[str, Meta(min_length=1, max_length=20)]
    remember: bool = False


class Album(Struct):
    """A form with files."""

    title: str
    cover: File
    pictures: list[File] = []
    years: list[int] = []


class AlbumSummary(Struct):
    """What a form with files contained."""

    title: str
    cover_bytes: int
    cover_type: str
    names: list[str]
    years: list[int]


class BookFilter(Struct):
    """What a page of books is filtered by."""

    title: str | None = None
    since: Annotated[int | None, Filter("ge", "year")] = None


class Book(Struct):
    """A book."""

    id: int
    title: str
    year: int | None = None


@dataclass
class BookRow:
    """A book with what isn't shown to anybody."""

    id: int
    title: str
    year: int | None
    secret: str


class Event(Struct):
    """An item of a stream."""

    number: int
    text: str | None = None


class Answer(Struct):
    """A short answer."""

    text: str


class Job(Struct):
    """Something that is done later."""

    id: int
    state: Literal["queued", "done"] = "queued"


class Signed(Struct):
    """What a raw body contained."""

    size: int
    media_type: str


class Fault(Struct):
    """An error body of the app's own."""

    code: int
    reason: str
