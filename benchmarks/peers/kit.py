# SPDX-License-Identifier: MIT
"""Kit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from msgspec import Struct

from kit import Context, File, Kit, in_thread
from kit.cookie import get_cookie, set_cookie
from kit.interface import Next, Response

from ..rows import CHUNK, CHUNKS, PAUSES


class Item(Struct):
    id: int
    name: str
    tags: list[str]
    price: float
    active: bool


async def text(c: Context) -> Response:
    return c.text("Hello, World!")


async def as_json(c: Context) -> Response:
    return c.json({"id": 1, "name": "kit"})


async def user(c: Context) -> Response:
    return c.text(c.req.param("id") or "")


async def search(c: Context) -> Response:
    return c.text(f"{c.req.query('q')} {c.req.query('page')}")


async def headers(c: Context) -> Response:
    c.header("x-request-id", c.req.header("x-request-id"))
    c.header("cache-control", "no-store")
    return c.text("ok")


async def echo(c: Context) -> Response:
    return c.json(await c.req.json())


async def form(c: Context) -> Response:
    fields = await c.req.parse_body()
    return c.text(f"{fields['name']} {fields['email']}")


async def upload(c: Context) -> Response:
    fields = await c.req.parse_body()
    file: File = fields["file"]
    return c.text(f"{fields['title']} {file.name} {len(await file.bytes())}")


async def read_bytes(c: Context) -> Response:
    return c.text(str(len(await c.req.bytes())))


async def chunks() -> AsyncIterator[bytes]:
    for _ in range(CHUNKS):
        yield CHUNK


async def stream(c: Context) -> Response:
    return c.body(chunks(), headers={"content-type": "text/plain"})


async def pass_through(c: Context, next: Next) -> None:
    await next()


async def listed(c: Context) -> Response:
    return c.text("list")


def rows_app(_: int = 0) -> Any:
    app = Kit()
    app.get("/", text)
    app.get("/json", as_json)
    app.get("/users/:id", user)
    app.get("/search", search)
    app.get("/headers", headers)
    app.post("/echo", echo)
    app.post("/form", form)
    app.post("/upload", upload)
    app.post("/bytes", read_bytes)
    app.get("/stream", stream)
    return app


async def cookies(c: Context) -> Response:
    session = get_cookie(c, "session") or ""
    set_cookie(c, "visited", session, http_only=True)
    return c.text(session)


async def validated(item: Item) -> Item:
    return item


async def slow(c: Context) -> Response:
    for _ in range(PAUSES):
        await asyncio.sleep(0)
    return c.text("Hello, World!")


@in_thread
def threaded(c: Context) -> Response:
    return c.text("Hello, World!")


def more_app(_: int = 0) -> Any:
    app = Kit(method_not_allowed=True)
    app.get("/cookies", cookies)
    app.get("/slow", slow)
    app.get("/thread", threaded)
    app.get("/users/:id", user)
    return app


def validated_app(_: int = 0) -> Any:
    from kit.typed import typed

    return Kit().post("/validated", typed(validated))


def nested_app(_: int = 0) -> Any:
    users = Kit().get("/:id", user)
    version = Kit().route("/users", users)
    api = Kit().route("/v1", version)
    return Kit().route("/api", api)


def middleware_app(count: int) -> Any:
    return Kit().get("/", *[pass_through] * count, text)


def table_app(paths: list[str]) -> Any:
    app = Kit()
    for path in paths:
        app.get(path, user if ":id" in path else listed)
    return app
