# SPDX-License-Identifier: MIT
"""BlackSheep, with orjson in its JSON settings; handlers take the request, or a model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import orjson
from blacksheep import (
    Application,
    Content,
    Cookie,
    FromJSON,
    Request,
    Response,
    Router,
    StreamedContent,
    json,
    text,
)
from blacksheep.settings.json import json_settings

from ..rows import CHUNK, CHUNKS, PAUSES


def _dumps(value: Any) -> str:
    return orjson.dumps(value).decode()


json_settings.use(loads=orjson.loads, dumps=_dumps)


async def hello(request: Request) -> Response:
    return text("Hello, World!")


async def as_json(request: Request) -> Response:
    return json({"id": 1, "name": "kit"})


async def user(request: Request) -> Response:
    return text(request.route_values["id"])


async def search(request: Request) -> Response:
    query = request.query
    return text(f"{query['q'][0]} {query['page'][0]}")


async def headers(request: Request) -> Response:
    value = request.get_first_header(b"x-request-id") or b""
    own = [(b"x-request-id", value), (b"cache-control", b"no-store")]
    return Response(200, own, Content(b"text/plain; charset=utf-8", b"ok"))


async def echo(request: Request) -> Response:
    return json(await request.json())


async def form(request: Request) -> Response:
    fields = await request.form() or {}
    return text(f"{fields['name']} {fields['email']}")


async def upload(request: Request) -> Response:
    fields = await request.form() or {}
    (file,) = fields["file"]
    name = file.file_name.decode()
    return text(f"{fields['title']} {name} {len(file.data)}")


async def read_bytes(request: Request) -> Response:
    return text(str(len(await request.read() or b"")))


async def chunks() -> AsyncIterator[bytes]:
    for _ in range(CHUNKS):
        yield CHUNK


async def stream(request: Request) -> Response:
    return Response(200, content=StreamedContent(b"text/plain", chunks))


async def listed(request: Request) -> Response:
    return text("list")


async def pass_through(
    request: Request, handler: Callable[[Request], Awaitable[Response]]
) -> Response:
    return await handler(request)


def rows_app(_: int = 0) -> Any:
    app = Application(router=Router())
    app.router.add_get("/", hello)
    app.router.add_get("/json", as_json)
    app.router.add_get("/users/:id", user)
    app.router.add_get("/search", search)
    app.router.add_get("/headers", headers)
    app.router.add_post("/echo", echo)
    app.router.add_post("/form", form)
    app.router.add_post("/upload", upload)
    app.router.add_post("/bytes", read_bytes)
    app.router.add_get("/stream", stream)
    return app


@dataclass
class Item:
    id: int
    name: str
    tags: list[str]
    price: float
    active: bool


async def cookies(request: Request) -> Response:
    session = request.cookies["session"]
    response = text(session)
    response.set_cookie(Cookie("visited", session, path="/", http_only=True))
    return response


async def validated(item: FromJSON[Item]) -> Response:
    return json(item.value)


async def slow(request: Request) -> Response:
    for _ in range(PAUSES):
        await asyncio.sleep(0)
    return text("Hello, World!")


def blocking() -> str:
    return "Hello, World!"


async def threaded(request: Request) -> Response:
    return text(await asyncio.to_thread(blocking))


def more_app(_: int = 0) -> Any:
    app = Application(router=Router())
    app.router.add_get("/cookies", cookies)
    app.router.add_get("/slow", slow)
    app.router.add_get("/thread", threaded)
    app.router.add_get("/users/:id", user)
    return app


def validated_app(_: int = 0) -> Any:
    app = Application(router=Router())
    app.router.add_post("/validated", validated)
    return app


def middleware_app(count: int) -> Any:
    app = Application(router=Router())
    app.middlewares.extend([pass_through] * count)
    app.router.add_get("/", hello)
    return app


def table_app(paths: list[str]) -> Any:
    app = Application(router=Router())
    for path in paths:
        app.router.add_get(path, user if ":id" in path else listed)
    return app
