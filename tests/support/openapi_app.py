# SPDX-License-Identifier: MIT
"""An API that uses every feature of kit.openapi, for tools that check documents and servers.

Its answers depend on the request alone, and fit what its document says.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import uuid
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, TypedDict, TypeVar

import attrs
import msgspec
import pydantic
from msgspec import Meta, Struct

from kit import Context, File, HTTPException, Kit, Response
from kit.bearer_auth import bearer_auth
from kit.interface import ProblemError
from kit.openapi import Problem, describe, openapi
from kit.typed import Depends, Header, Query, typed
from kit.validator import validator

T = TypeVar("T")
TOKEN = "s3cret"


class Color(enum.Enum):
    """What a thing looks like."""

    RED = "red"
    BLUE = "blue"


class Circle(Struct, tag="circle", forbid_unknown_fields=True):
    """A circle."""

    radius: Annotated[int, Meta(gt=0, le=1000)]


class Square(Struct, tag="square", forbid_unknown_fields=True):
    """A square."""

    side: Annotated[int, Meta(gt=0, le=1000)]


class Tree(Struct):
    """A node with others below it."""

    name: Annotated[str, Meta(min_length=1, max_length=20)]
    children: list[Tree] = []


class Page(Struct, Generic[T]):
    """A page of a list."""

    items: list[T]
    total: int


class Thing(Struct, rename="camel"):
    """A thing of all types.

    Attributes:
        display_name: What it is called.
    """

    display_name: Annotated[str, Meta(min_length=1, max_length=40, examples=["Lamp"])]
    shape: Circle | Square
    serial: uuid.UUID
    color: Color = Color.RED
    size: Annotated[int, Meta(ge=0, le=10_000)] | None = None
    weight: Annotated[float, Meta(ge=0)] = 1.5
    day: datetime.date | None = None
    tags: Annotated[list[str], Meta(max_length=5)] = []
    parts: dict[str, int] = {}
    tree: Tree | None = None
    kind: Literal["a", "b"] = "a"


class Money(Struct):
    """What something costs."""

    amount: decimal.Decimal
    at: Annotated[datetime.datetime, Meta(tz=True)]


@dataclass
class Person:
    """Somebody."""

    name: str
    age: Annotated[int, Meta(ge=0, le=150)] = 0
    friends: list[Person] = field(default_factory=list)


class Address(TypedDict):
    """Where somebody lives."""

    street: str
    number: int


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


class Listed(Struct):
    """What a list takes."""

    page: Annotated[int, Meta(ge=1, le=1000, description="Which page.")] = 1
    tag: Annotated[list[str], Meta(max_length=5)] = []
    color: Color | None = None
    after: datetime.date | None = None


class Filter(pydantic.BaseModel):
    """What a list of items takes."""

    limit: int = pydantic.Field(default=10, ge=1, le=100)


class Headers(Struct):
    """A header."""

    x_trace: Annotated[str, Meta(max_length=20, pattern="^[a-z]*$")] = ""


class Cookies(Struct):
    """A cookie."""

    theme: Literal["light", "dark"]


class Id(Struct):
    """A number in a path."""

    id: Annotated[int, Meta(ge=1, le=10**9)]


class Login(Struct):
    """A form."""

    name: Annotated[str, Meta(min_length=1, max_length=20)]
    remember: Literal["yes", "no"] = "no"


class Upload(Struct):
    """A form with a file."""

    cover: File
    side: Literal["front", "back"] = "front"


class NotFoundError(ProblemError):
    """There is no such thing."""

    def __init__(self, what: str) -> None:
        super().__init__(404, "Not found", what)


class GoneError(HTTPException):
    """It was there once."""

    status = 410


def find(number: int) -> int:
    """Returns a number that is known."""
    if number > 1000:
        raise NotFoundError(f"There is no {number}")
    return number


things = Kit()


@things.get("/", use=validator("query", Listed))
@describe(responses={200: Page[Thing]})
async def list_things(c: Context) -> Response:
    """Lists the things.

    Those of a page, **newest** first.

    Returns:
        A page of them.
    """
    query = c.req.valid("query", Listed)
    return c.json(Page([], query.page))


@things.post("/", use=validator("json", Thing))
@describe(responses={201: Thing})
async def create_thing(c: Context) -> Response:
    """Creates a thing."""
    return c.json(c.req.valid("json", Thing), 201)


@things.get("/:id{[0-9]+}", use=[validator("param", Id), validator("header", Headers)])
@describe(responses={200: Id})
async def read_thing(c: Context) -> Response:
    """Reads a thing.

    Raises:
        NotFoundError: 404 if there is no thing of this id.
    """
    return c.json(Id(find(c.req.valid("param", Id).id)))


@things.put("/:id/cover", use=[validator("param", Id), validator("form", Upload)])
async def set_cover(c: Context) -> Response:
    """Sets the picture of a thing."""
    find(c.req.valid("param", Id).id)
    return c.body(None, 204)


@things.get("/:id/shape", use=validator("param", Id))
@describe(responses={200: Circle | Square})
async def read_shape(c: Context) -> Response:
    """Reads the shape of a thing."""
    number = c.req.valid("param", Id).id
    return c.json(Circle(number % 1000 + 1) if number % 2 else Square(2))


class Found(Struct):
    """What a typed endpoint found."""

    id: int
    words: list[str]
    day: datetime.date | None


def known(id: Annotated[int, Meta(ge=1, le=10**6)]) -> int:
    """Is what an endpoint depends on."""
    if id == 13:
        raise HTTPException(410, "It was never there")
    return id


@things.get("/:id/typed")
@typed
async def read_typed(
    number: Annotated[int, Depends(known)],
    words: Annotated[list[str], Query(), Meta(max_length=3)] = (),  # type: ignore[assignment]
    day: datetime.date | None = None,
    x_trace: Annotated[str, Header(), Meta(pattern="^[a-z]*$")] = "",
) -> Found:
    """Reads a thing by types."""
    return Found(number, words, day)


@things.post("/typed")
@typed(status=201)
async def create_typed(person: Person) -> Person:
    """Creates somebody."""
    return person


@things.delete("/:id/typed")
@typed
async def delete_typed(id: Annotated[int, Meta(ge=1)]) -> None:
    """Deletes a thing."""


async def echo(c: Context) -> Response:
    """Sends back what was validated."""
    return c.json(c.req.valid("json"))


def make_app() -> Kit:
    """Makes the app."""
    app = Kit(method_not_allowed=True)
    openapi(
        app,
        info={
            "title": "Everything",
            "version": "1.0.0",
            "description": "All of it.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        tags=[
            {"name": "things", "description": "What there is."},
            {"name": "echo", "description": "What sends back its body."},
            {"name": "items", "description": "What there is to buy."},
        ],
    )
    app.use("/secret/*", bearer_auth(token=TOKEN, realm="everything"))
    app.route("/things", things)
    for name, kind in (
        ("money", Money),
        ("person", Person),
        ("address", Address),
        ("point", Point),
        ("tree", Tree),
        ("item", Item),
    ):
        named = describe(operation_id=f"echo_{name}", tags="echo", responses={200: kind})(
            _copy(echo)
        )
        app.post(f"/echo/{name}", named, use=validator("json", kind))
    app.get("/items", filtered, use=validator("query", Filter))
    app.post("/login", login, use=validator("form", Login))
    app.get("/theme", theme, use=validator("cookie", Cookies))
    app.get("/secret/:word", secret)
    app.get("/plain/:number", plain)
    app.get("/gone", gone)
    app.get("/optional/:word?", optional)
    app.on(["PUT", "PATCH"], "/both", both)
    app.get("/old", old)
    app.get("/hidden", hidden)
    app.get("/files/*", hidden)
    return app


def _copy(function: Any) -> Any:
    import functools

    @functools.wraps(function)
    async def copied(c: Context) -> Response:
        return await function(c)  # type: ignore[no-any-return]

    return copied


@describe(tags=["items"], responses={200: list[Item]})
async def filtered(c: Context) -> Response:
    """Lists items."""
    return c.json([Item(name="x")] * c.req.valid("query", Filter).limit)


async def login(c: Context) -> Response:
    """Logs somebody in."""
    return c.json({"name": c.req.valid("form", Login).name})


@describe(responses={200: Cookies})
async def theme(c: Context) -> Response:
    """Tells the theme."""
    return c.json(c.req.valid("cookie", Cookies))


async def secret(c: Context) -> Response:
    """Tells a secret."""
    return c.text("secret")


async def plain(c: Context) -> Response:
    """Reads values one by one."""
    number = c.req.param("number", int)
    factor = c.req.query("factor", int, default=1)
    words = c.req.queries("word", str)
    if number == 42:
        raise HTTPException(409, "Not that one")
    return c.json({"number": number, "factor": factor, "words": words})


async def gone(c: Context) -> Response:
    """Is not there any more, if that is asked for."""
    if c.req.query("when") == "now":
        raise GoneError(410)
    return c.body(None, 204)


@describe(responses={200: {"description": "The word", "content": {"text/plain": str}}})
async def optional(c: Context) -> Response:
    """Tells the word."""
    return c.text(c.req.param("word") or "none")


async def both(c: Context) -> Response:
    """Answers several methods."""
    return c.body(None, 204)


@describe(deprecated=True, responses={200: msgspec.Raw, 404: Problem, "5XX": None})
async def old(c: Context) -> Response:
    """Should not be used."""
    return c.json({})


@describe(hidden=True)
async def hidden(c: Context) -> Response:
    """Is not in the document."""
    return c.text("hidden")


app = make_app()
"""What servers are told to serve: `openapi_app:app`."""
