# SPDX-License-Identifier: MIT
"""FastAPI: parameters by the signature; JSON by the return type, which pydantic's core writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Cookie, FastAPI, Form, Header, Request, UploadFile
from fastapi.responses import PlainTextResponse, Response, StreamingResponse
from pydantic import BaseModel

from ..rows import CHUNK, CHUNKS, PAUSES
from . import write_parameters
from ._asgi import PassThrough


class Item(BaseModel):
    id: int
    name: str
    tags: list[str]
    price: float
    active: bool


async def text() -> Response:
    return PlainTextResponse("Hello, World!")


async def as_json() -> dict[str, Any]:
    return {"id": 1, "name": "kit"}


async def user(id: str) -> Response:
    return PlainTextResponse(id)


async def search(q: str, page: str) -> Response:
    return PlainTextResponse(f"{q} {page}")


async def headers(x_request_id: Annotated[str, Header()]) -> Response:
    own = {"x-request-id": x_request_id, "cache-control": "no-store"}
    return PlainTextResponse("ok", headers=own)


async def echo(data: dict[str, Any]) -> dict[str, Any]:
    return data


async def form(name: Annotated[str, Form()], email: Annotated[str, Form()]) -> Response:
    return PlainTextResponse(f"{name} {email}")


async def upload(title: Annotated[str, Form()], file: UploadFile) -> Response:
    return PlainTextResponse(f"{title} {file.filename} {len(await file.read())}")


async def read_bytes(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def chunks() -> AsyncIterator[bytes]:
    for _ in range(CHUNKS):
        yield CHUNK


async def stream() -> Response:
    return StreamingResponse(chunks(), media_type="text/plain")


async def listed() -> Response:
    return PlainTextResponse("list")


def rows_app(_: int = 0) -> Any:
    app = FastAPI(openapi_url=None)
    app.get("/")(text)
    app.get("/json")(as_json)
    app.get("/users/{id}")(user)
    app.get("/search")(search)
    app.get("/headers")(headers)
    app.post("/echo")(echo)
    app.post("/form")(form)
    app.post("/upload")(upload)
    app.post("/bytes")(read_bytes)
    app.get("/stream")(stream)
    return app


async def cookies(session: Annotated[str, Cookie()]) -> Response:
    response = PlainTextResponse(session)
    response.set_cookie("visited", session, httponly=True)
    return response


async def validated(item: Item) -> Item:
    return item


async def slow() -> Response:
    for _ in range(PAUSES):
        await asyncio.sleep(0)
    return PlainTextResponse("Hello, World!")


def threaded() -> Response:
    return PlainTextResponse("Hello, World!")


def more_app(_: int = 0) -> Any:
    app = FastAPI(openapi_url=None)
    app.get("/cookies")(cookies)
    app.get("/slow")(slow)
    app.get("/thread")(threaded)
    app.get("/users/{id}")(user)
    return app


def validated_app(_: int = 0) -> Any:
    app = FastAPI(openapi_url=None)
    app.post("/validated")(validated)
    return app


def nested_app(_: int = 0) -> Any:
    users = APIRouter(prefix="/users")
    users.get("/{id}")(user)
    version = APIRouter(prefix="/v1")
    version.include_router(users)
    api = APIRouter(prefix="/api")
    api.include_router(version)
    app = FastAPI(openapi_url=None)
    app.include_router(api)
    return app


def middleware_app(count: int) -> Any:
    app = FastAPI(openapi_url=None)
    for _ in range(count):
        app.add_middleware(PassThrough)
    app.get("/")(text)
    return app


def table_app(paths: list[str]) -> Any:
    app = FastAPI(openapi_url=None)
    for path in paths:
        app.get(write_parameters(path, "{", "}"))(user if ":id" in path else listed)
    return app
