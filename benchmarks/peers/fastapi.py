# SPDX-License-Identifier: MIT
"""FastAPI: parameters by the signature; JSON by the return type, which pydantic's core writes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import FastAPI, Form, Header, Request, UploadFile
from fastapi.responses import PlainTextResponse, Response, StreamingResponse

from ..rows import CHUNK, CHUNKS
from . import write_parameters
from ._asgi import PassThrough


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
