# SPDX-License-Identifier: MIT
"""An API with all that a client can send and receive, which says what it received."""

from __future__ import annotations

import asyncio
import datetime
import decimal
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from kit import Context, File, Kit, Response
from kit.basic_auth import basic_auth
from kit.bearer_auth import bearer_auth
from kit.interface import Next, ProblemError
from kit.interface.metadata import attach
from kit.openapi import describe, openapi
from kit.typed import ServerSentEvent, typed
from kit.validator import validator


class Circle(Struct, tag="circle"):
    """A circle. Its comment can't end */ here."""

    radius: float


class Square(Struct, tag="square"):
    """A square."""

    side: float


class Tree(Struct):
    """A node with others below it."""

    name: str
    children: list[Tree] = []


class Range(Struct):
    """From one number to another."""

    low: int | None = None
    high: int | None = None


class Thing(Struct, rename="camel"):
    """A thing of many types."""

    display_name: Annotated[str, Meta(description="What it is called.")]
    shape: Circle | Square
    price: decimal.Decimal
    day: datetime.date
    pair: tuple[int, str]
    kind: Literal["a", "it's", 'say "x"'] = "a"
    parts: dict[str, int] = {}
    tree: Tree | None = None
    shapes: list[Circle | Square | None] = []
    data: bytes = b""


class Search(Struct):
    """What can be searched for."""

    word: list[str] = []
    range: Range | None = None
    day: datetime.date | None = None
    page: int | None = 7
    name: str | None = None
    is_new: bool = False


class Traced(Struct):
    """A header."""

    x_trace: str = ""


class Themed(Struct):
    """A cookie."""

    theme: str = ""


class Login(Struct):
    """A form."""

    user_name: str
    roles: list[str] = []
    age: int | None = None


class Upload(Struct):
    """A form with files."""

    cover: File
    pages: list[File] = []
    note: str = ""


class Id(Struct):
    """A number in a path."""

    id: int


class Gone(Struct):
    """Says where something went."""

    code: Literal["gone"]
    place: str


class Job(Struct):
    """Says what will be done."""

    number: int


def _need_key(scheme: dict[str, str]) -> Any:
    async def guard(c: Context, next: Next) -> None:
        await next()

    return attach(guard, security=scheme)


def make_app() -> Kit:
    """Makes the app."""
    app = Kit()
    openapi(app, info={"title": "Everything for clients", "version": "1"})
    app.use("/secret/bearer", bearer_auth(token="s3cret"))
    app.use("/secret/basic", basic_auth(username="adä", password="p:w"))
    app.use("/secret/key", _need_key({"type": "apiKey", "in": "header", "name": "X-Key"}))
    app.use("/secret/key", _need_key({"type": "apiKey", "in": "query", "name": "key"}))
    app.use("/secret/key", _need_key({"type": "apiKey", "in": "cookie", "name": "session"}))
    app.get("/secret/bearer", secret_bearer)
    app.get("/secret/basic", secret_basic)
    app.get("/secret/key", secret_key)
    app.get("/segments/:class/:path", segments)
    searching = [validator("query", Search), validator("header", Traced)]
    app.get("/search", search, use=[*searching, validator("cookie", Themed)])
    app.post("/things", add_thing, use=validator("json", Thing))
    app.post("/login", login, use=validator("form", Login))
    app.post("/upload", upload, use=validator("form", Upload))
    app.post("/raw", raw)
    app.query("/things", find_things, use=validator("json", Range))
    app.put("/jobs/:id", put_job, use=validator("param", Id))
    app.get("/errors/:id", fail, use=validator("param", Id))
    app.delete("/things/:id", delete, use=validator("param", Id))
    app.get("/text", text)
    app.get("/picture", picture)
    app.get("/moved", moved)
    app.get("/shapes/:count", shapes)
    app.get("/words", words)
    app.get("/clock", clock)
    return app


async def echo(c: Context) -> Response:
    """Says what was sent."""
    names = ("authorization", "x-key", "x-extra", "x-trace", "cookie", "content-type")
    headers = {name: c.req.header(name) for name in names if c.req.header(name) is not None}
    return c.json({"url": c.req.url.partition(c.req.header("host") or "")[2], "headers": headers})


class Echo(Struct):
    """What was sent."""

    url: str
    headers: dict[str, str]


_echoes = describe(responses={200: Echo})


@_echoes
async def secret_bearer(c: Context) -> Response:
    """Needs a token."""
    return await echo(c)


@_echoes
async def secret_basic(c: Context) -> Response:
    """Needs a user name and a password."""
    return await echo(c)


@_echoes
async def secret_key(c: Context) -> Response:
    """Needs three keys."""
    return await echo(c)


@describe(responses={200: dict[str, str]})
async def segments(c: Context) -> Response:
    """Says what is in the path."""
    return c.json({"class": c.req.param("class"), "path": c.req.param("path")})


@describe(responses={200: Search})
async def search(c: Context) -> Response:
    """Says what it would search for."""
    c.header("X-Trace", c.req.valid("header", Traced).x_trace)
    c.header("X-Theme", c.req.valid("cookie", Themed).theme)
    return c.json(c.req.valid("query"))


@describe(responses={201: Thing})
async def add_thing(c: Context) -> Response:
    """Sends a thing back."""
    return c.json(c.req.valid("json"), 201)


@describe(responses={200: Login})
async def login(c: Context) -> Response:
    """Sends a form back."""
    return c.json(c.req.valid("form"))


@describe(responses={200: list[str]})
async def upload(c: Context) -> Response:
    """Says what files there are."""
    form = c.req.valid("form", Upload)
    texts = [(await each.bytes()).decode() for each in (form.cover, *form.pages)]
    return c.json([form.cover.name, *texts, form.note])


@describe(
    request_body={"content": {"application/octet-stream": {}}, "required": True},
    responses={200: str},
)
async def raw(c: Context) -> Response:
    """Says what bytes it received."""
    content_type = c.req.header("content-type")
    return c.json(f"{content_type} {(await c.req.bytes()).decode()}")


@describe(responses={200: Range})
async def find_things(c: Context) -> Response:
    """Says what it would search for, in a QUERY request (RFC 10008)."""
    return c.json(c.req.valid("json", Range))


@describe(responses={200: Id, 202: Job})
async def put_job(c: Context) -> Response:
    """Does a job, or promises to do it."""
    number = c.req.valid("param", Id).id
    return c.json(Id(number)) if number % 2 else c.json(Job(number), 202)


@describe(responses={204: None, 404: None, 409: Gone, 410: {"content": {"text/plain": str}}})
async def fail(c: Context) -> Response:
    """Fails in many ways.

    Raises:
        ProblemError: 404 if there is nothing.
    """
    match c.req.valid("param", Id).id:
        case 404:
            raise ProblemError(404, "Not found", "There is nothing")
        case 409:
            return c.json(Gone("gone", "elsewhere"), 409)
        case 410:
            return c.text("It was here", 410)
        case 418:
            return c.json({"short": True}, 418)
    return c.body(None, 204)


async def delete(c: Context) -> Response:
    """Deletes a thing."""
    return c.body(None, 204)


async def text(c: Context) -> Response:
    """Sends a text."""
    return c.text("häh")


@describe(responses={200: {"content": {"image/png": {}}}})
async def picture(c: Context) -> Response:
    """Sends a picture."""
    return c.body(b"\x89PNG", 200, {"Content-Type": "image/png"})


async def moved(c: Context) -> Response:
    """Is elsewhere."""
    return c.redirect("/text", 303)


@typed
async def shapes(count: int) -> AsyncIterator[Circle | ServerSentEvent[Square]]:
    """Streams shapes."""
    if count < 0:
        raise ProblemError(409, "Conflict", "Less than nothing")
    for number in range(count):
        yield ServerSentEvent(Square(number), id=str(number)) if number % 2 else Circle(number)
    yield ServerSentEvent(comment="that is all")


@typed
async def words() -> AsyncIterator[str]:
    """Streams texts."""
    yield "one\u2028two\nthree"
    yield '"quoted"'


@typed
async def clock() -> AsyncIterator[int]:
    """Counts until nobody listens."""
    number = 0
    while True:
        yield number
        number += 1
        await asyncio.sleep(0.01)


app = make_app()
"""What servers are told to serve: `client_app:app`."""
