# SPDX-License-Identifier: MIT
"""Sanic under ASGI, with orjson."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import orjson
from sanic import Blueprint, Request, Sanic
from sanic.response import HTTPResponse, json, text

from ..rows import CHUNK, CHUNKS, PAUSES
from . import write_parameters

_numbers = itertools.count()


async def hello(request: Request) -> HTTPResponse:
    return text("Hello, World!")


async def as_json(request: Request) -> HTTPResponse:
    return json({"id": 1, "name": "kit"})


async def user(request: Request, id: str) -> HTTPResponse:
    return text(id)


async def search(request: Request) -> HTTPResponse:
    query = request.args
    return text(f"{query.get('q')} {query.get('page')}")


async def headers(request: Request) -> HTTPResponse:
    own = {"x-request-id": request.headers["x-request-id"], "cache-control": "no-store"}
    return text("ok", headers=own)


async def echo(request: Request) -> HTTPResponse:
    return json(request.json)


async def form(request: Request) -> HTTPResponse:
    fields = request.form
    return text(f"{fields.get('name')} {fields.get('email')}")


async def upload(request: Request) -> HTTPResponse:
    file = request.files.get("file")
    return text(f"{request.form.get('title')} {file.name} {len(file.body)}")


async def read_bytes(request: Request) -> HTTPResponse:
    return text(str(len(request.body)))


async def stream(request: Request) -> None:
    response = await request.respond(content_type="text/plain")
    for _ in range(CHUNKS):
        await response.send(CHUNK)
    await response.eof()


async def listed(request: Request) -> HTTPResponse:
    return text("list")


def add_pass_through(app: Any) -> None:
    """Adds new functions each time: a function that it has already is not added again."""

    @app.on_request
    async def pass_through(request: Request) -> None:
        return None

    @app.on_response
    async def pass_through_back(request: Request, response: HTTPResponse) -> None:
        return None


def empty_app() -> Any:
    number = next(_numbers)
    app = Sanic(f"bench-{number}", dumps=orjson.dumps, loads=orjson.loads)
    app.config.ACCESS_LOG = False
    # It rewrites its own methods at the first start in a process, and fails if it does so again.
    app.config.TOUCHUP = number == 0
    return app


def rows_app(_: int = 0) -> Any:
    app = empty_app()
    app.add_route(hello, "/")
    app.add_route(as_json, "/json")
    app.add_route(user, "/users/<id:str>", unquote=True)
    app.add_route(search, "/search")
    app.add_route(headers, "/headers")
    app.add_route(echo, "/echo", methods=["POST"])
    app.add_route(form, "/form", methods=["POST"])
    app.add_route(upload, "/upload", methods=["POST"])
    app.add_route(read_bytes, "/bytes", methods=["POST"])
    app.add_route(stream, "/stream")
    return app


async def cookies(request: Request) -> HTTPResponse:
    session = request.cookies.get("session")
    response = text(session)
    response.add_cookie("visited", session, httponly=True, secure=False)
    return response


async def slow(request: Request) -> HTTPResponse:
    for _ in range(PAUSES):
        await asyncio.sleep(0)
    return text("Hello, World!")


def blocking() -> str:
    return "Hello, World!"


async def threaded(request: Request) -> HTTPResponse:
    return text(await asyncio.get_running_loop().run_in_executor(None, blocking))


def more_app(_: int = 0) -> Any:
    app = empty_app()
    app.add_route(cookies, "/cookies")
    app.add_route(slow, "/slow")
    app.add_route(threaded, "/thread")
    app.add_route(user, "/users/<id:str>", unquote=True)
    return app


def nested_app(_: int = 0) -> Any:
    users = Blueprint("users", url_prefix="/users")
    users.add_route(user, "/<id:str>", unquote=True)
    version = Blueprint.group(users, url_prefix="/v1")
    app = empty_app()
    app.blueprint(Blueprint.group(version, url_prefix="/api"))
    return app


def middleware_app(count: int) -> Any:
    app = empty_app()
    for _ in range(count):
        add_pass_through(app)
    app.add_route(hello, "/")
    return app


def table_app(paths: list[str]) -> Any:
    app = empty_app()
    for number, path in enumerate(paths):
        handler = user if ":id" in path else listed
        app.add_route(handler, write_parameters(path, "<", ":str>"), name=f"route_{number}")
    return app
