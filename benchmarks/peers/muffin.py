# SPDX-License-Identifier: MIT
"""Muffin; it uses orjson by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from muffin import Application, Request, ResponseJSON, ResponseStream, ResponseText

from ..rows import CHUNK, CHUNKS, PAUSES
from . import write_parameters


async def text(request: Request) -> ResponseText:
    return ResponseText("Hello, World!")


async def as_json(request: Request) -> ResponseJSON:
    return ResponseJSON({"id": 1, "name": "kit"})


async def user(request: Request) -> ResponseText:
    return ResponseText(request.path_params["id"])


async def search(request: Request) -> ResponseText:
    query = request.query
    return ResponseText(f"{query['q']} {query['page']}")


async def headers(request: Request) -> ResponseText:
    own = {"x-request-id": request.headers["x-request-id"], "cache-control": "no-store"}
    return ResponseText("ok", headers=own)


async def echo(request: Request) -> ResponseJSON:
    return ResponseJSON(await request.json())


async def form(request: Request) -> ResponseText:
    fields = await request.form()
    return ResponseText(f"{fields['name']} {fields['email']}")


async def upload(request: Request) -> ResponseText:
    fields = await request.form()
    file = fields["file"]
    return ResponseText(f"{fields['title']} {file.name} {len(file.read())}")


async def read_bytes(request: Request) -> ResponseText:
    return ResponseText(str(len(await request.body())))


async def chunks() -> AsyncIterator[bytes]:
    for _ in range(CHUNKS):
        yield CHUNK


async def stream(request: Request) -> ResponseStream:
    return ResponseStream(chunks(), content_type="text/plain")


async def listed(request: Request) -> ResponseText:
    return ResponseText("list")


def rows_app(_: int = 0) -> Any:
    app = Application()
    app.route("/", methods=["GET"])(text)
    app.route("/json", methods=["GET"])(as_json)
    app.route("/users/{id}", methods=["GET"])(user)
    app.route("/search", methods=["GET"])(search)
    app.route("/headers", methods=["GET"])(headers)
    app.route("/echo", methods=["POST"])(echo)
    app.route("/form", methods=["POST"])(form)
    app.route("/upload", methods=["POST"])(upload)
    app.route("/bytes", methods=["POST"])(read_bytes)
    app.route("/stream", methods=["GET"])(stream)
    return app


async def cookies(request: Request) -> ResponseText:
    session = request.cookies["session"]
    response = ResponseText(session)
    response.cookies["visited"] = session
    response.cookies["visited"]["path"] = "/"
    response.cookies["visited"]["httponly"] = True
    return response


async def slow(request: Request) -> ResponseText:
    for _ in range(PAUSES):
        await asyncio.sleep(0)
    return ResponseText("Hello, World!")


def blocking() -> str:
    return "Hello, World!"


async def threaded(request: Request) -> ResponseText:
    return ResponseText(await asyncio.to_thread(blocking))


def more_app(_: int = 0) -> Any:
    app = Application()
    app.route("/cookies", methods=["GET"])(cookies)
    app.route("/slow", methods=["GET"])(slow)
    app.route("/thread", methods=["GET"])(threaded)
    app.route("/users/{id}", methods=["GET"])(user)
    return app


def nested_app(_: int = 0) -> Any:
    users, version, api, app = (Application() for _ in range(4))
    users.route("/{id}", methods=["GET"])(user)
    version.route("/users")(users)
    api.route("/v1")(version)
    app.route("/api")(api)
    return app


def middleware_app(count: int) -> Any:
    app = Application()
    for _ in range(count):
        # A function that it has already is not added again.
        @app.middleware
        async def pass_through(handler: Any, request: Any, receive: Any, send: Any) -> Any:
            return await handler(request, receive, send)

    app.route("/", methods=["GET"])(text)
    return app


def table_app(paths: list[str]) -> Any:
    app = Application()
    for path in paths:
        handler = user if ":id" in path else listed
        app.route(write_parameters(path, "{", "}"), methods=["GET"])(handler)
    return app
