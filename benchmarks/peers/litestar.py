# SPDX-License-Identifier: MIT
"""Litestar: parameters by the signature, JSON by msgspec, which is its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

from litestar import Litestar, MediaType, Request, Response, Router, get, post
from litestar.datastructures import Cookie, UploadFile
from litestar.enums import RequestEncodingType
from litestar.params import Body
from litestar.response import Stream
from msgspec import Struct

from ..rows import CHUNK, CHUNKS, PAUSES
from . import write_parameters
from ._asgi import PassThrough

_MOST_BYTES = 64 << 20


class Item(Struct):
    id: int
    name: str
    tags: list[str]
    price: float
    active: bool


@get("/", media_type=MediaType.TEXT)
async def text() -> str:
    return "Hello, World!"


@get("/json")
async def as_json() -> dict[str, Any]:
    return {"id": 1, "name": "kit"}


@get("/users/{id:str}", media_type=MediaType.TEXT)
async def user(id: str) -> str:
    return id


@get("/search", media_type=MediaType.TEXT)
async def search(q: str, page: str) -> str:
    return f"{q} {page}"


@get("/headers", media_type=MediaType.TEXT)
async def headers(request: Request[Any, Any, Any]) -> Response[str]:
    own = {"x-request-id": request.headers["x-request-id"], "cache-control": "no-store"}
    return Response("ok", headers=own)


@post("/echo", status_code=200)
async def echo(data: dict[str, Any]) -> dict[str, Any]:
    return data


@post("/form", status_code=200, media_type=MediaType.TEXT)
async def form(
    data: Annotated[dict[str, str], Body(media_type=RequestEncodingType.URL_ENCODED)],
) -> str:
    return f"{data['name']} {data['email']}"


@post("/upload", status_code=200, media_type=MediaType.TEXT)
async def upload(
    data: Annotated[dict[str, Any], Body(media_type=RequestEncodingType.MULTI_PART)],
) -> str:
    file: UploadFile = data["file"]
    return f"{data['title']} {file.filename} {len(await file.read())}"


@post("/bytes", status_code=200, media_type=MediaType.TEXT)
async def read_bytes(request: Request[Any, Any, Any]) -> str:
    return str(len(await request.body()))


async def chunks() -> AsyncIterator[bytes]:
    for _ in range(CHUNKS):
        yield CHUNK


@get("/stream")
async def stream() -> Stream:
    return Stream(chunks(), media_type=MediaType.TEXT)


def rows_app(_: int = 0) -> Any:
    handlers = [
        text,
        as_json,
        user,
        search,
        headers,
        echo,
        form,
        upload,
        read_bytes,
        stream,
    ]
    return Litestar(handlers, openapi_config=None, request_max_body_size=_MOST_BYTES)


@get("/cookies", media_type=MediaType.TEXT)
async def cookies(request: Request[Any, Any, Any]) -> Response[str]:
    session = request.cookies["session"]
    return Response(session, cookies=[Cookie("visited", value=session, httponly=True)])


@post("/validated", status_code=200)
async def validated(data: Item) -> Item:
    return data


@get("/slow", media_type=MediaType.TEXT)
async def slow() -> str:
    for _ in range(PAUSES):
        await asyncio.sleep(0)
    return "Hello, World!"


@get("/thread", media_type=MediaType.TEXT, sync_to_thread=True)
def threaded() -> str:
    return "Hello, World!"


@get("/{id:str}", media_type=MediaType.TEXT)
async def nested_user(id: str) -> str:
    return id


def more_app(_: int = 0) -> Any:
    return Litestar([cookies, slow, threaded, user], openapi_config=None)


def validated_app(_: int = 0) -> Any:
    return Litestar([validated], openapi_config=None)


def nested_app(_: int = 0) -> Any:
    users = Router("/users", route_handlers=[nested_user])
    version = Router("/v1", route_handlers=[users])
    api = Router("/api", route_handlers=[version])
    return Litestar([api], openapi_config=None)


def middleware_app(count: int) -> Any:
    return Litestar([text], openapi_config=None, middleware=[PassThrough] * count)


def table_app(paths: list[str]) -> Any:
    async def item(id: str) -> str:
        return id

    async def listed() -> str:
        return "list"

    handlers = [
        get(write_parameters(path, "{", ":str}"), media_type=MediaType.TEXT)(
            item if ":id" in path else listed
        )
        for path in paths
    ]
    return Litestar(handlers, openapi_config=None)
