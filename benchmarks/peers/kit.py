# SPDX-License-Identifier: MIT
"""Kit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from kit import Context, File, Kit
from kit.interface import Next, Response

from ..rows import CHUNK, CHUNKS


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


def middleware_app(count: int) -> Any:
    return Kit().get("/", *[pass_through] * count, text)


def table_app(paths: list[str]) -> Any:
    app = Kit()
    for path in paths:
        app.get(path, user if ":id" in path else listed)
    return app
