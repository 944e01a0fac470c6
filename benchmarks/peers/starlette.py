# SPDX-License-Identifier: MIT
"""Starlette, with the orjson response of its documentation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from ..rows import CHUNK, CHUNKS, PAUSES
from . import write_parameters
from ._asgi import PassThrough


class OrjsonResponse(JSONResponse):
    def render(self, content: Any) -> bytes:
        return orjson.dumps(content)


async def text(request: Request) -> Response:
    return PlainTextResponse("Hello, World!")


async def as_json(request: Request) -> Response:
    return OrjsonResponse({"id": 1, "name": "kit"})


async def user(request: Request) -> Response:
    return PlainTextResponse(request.path_params["id"])


async def search(request: Request) -> Response:
    query = request.query_params
    return PlainTextResponse(f"{query['q']} {query['page']}")


async def headers(request: Request) -> Response:
    value = request.headers["x-request-id"]
    return PlainTextResponse("ok", headers={"x-request-id": value, "cache-control": "no-store"})


async def echo(request: Request) -> Response:
    return OrjsonResponse(orjson.loads(await request.body()))


async def form(request: Request) -> Response:
    fields = await request.form()
    return PlainTextResponse(f"{fields['name']} {fields['email']}")


async def upload(request: Request) -> Response:
    async with request.form() as fields:
        file = fields["file"]
        assert isinstance(file, UploadFile)
        size = len(await file.read())
        return PlainTextResponse(f"{fields['title']} {file.filename} {size}")


async def read_bytes(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def chunks() -> AsyncIterator[bytes]:
    for _ in range(CHUNKS):
        yield CHUNK


async def stream(request: Request) -> Response:
    return StreamingResponse(chunks(), media_type="text/plain")


async def listed(request: Request) -> Response:
    return PlainTextResponse("list")


def rows_app(_: int = 0) -> Any:
    return Starlette(
        routes=[
            Route("/", text),
            Route("/json", as_json),
            Route("/users/{id}", user),
            Route("/search", search),
            Route("/headers", headers),
            Route("/echo", echo, methods=["POST"]),
            Route("/form", form, methods=["POST"]),
            Route("/upload", upload, methods=["POST"]),
            Route("/bytes", read_bytes, methods=["POST"]),
            Route("/stream", stream),
        ]
    )


async def cookies(request: Request) -> Response:
    session = request.cookies["session"]
    response = PlainTextResponse(session)
    response.set_cookie("visited", session, httponly=True)
    return response


async def slow(request: Request) -> Response:
    for _ in range(PAUSES):
        await asyncio.sleep(0)
    return PlainTextResponse("Hello, World!")


def threaded(request: Request) -> Response:
    return PlainTextResponse("Hello, World!")


def more_app(_: int = 0) -> Any:
    return Starlette(
        routes=[
            Route("/cookies", cookies),
            Route("/slow", slow),
            Route("/thread", threaded),
            Route("/users/{id}", user),
        ]
    )


def nested_app(_: int = 0) -> Any:
    users = Mount("/users", routes=[Route("/{id}", user)])
    return Starlette(routes=[Mount("/api", routes=[Mount("/v1", routes=[users])])])


def middleware_app(count: int) -> Any:
    return Starlette(routes=[Route("/", text)], middleware=[Middleware(PassThrough)] * count)


def table_app(paths: list[str]) -> Any:
    return Starlette(
        routes=[
            Route(write_parameters(path, "{", "}"), user if ":id" in path else listed)
            for path in paths
        ]
    )
