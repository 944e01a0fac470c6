# SPDX-License-Identifier: MIT
"""Quart, with orjson as its JSON provider and ASGI middleware."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
from quart import Blueprint, Quart, Response, request
from quart.json.provider import JSONProvider

from ..rows import CHUNK, CHUNKS, PAUSES
from . import write_parameters
from ._asgi import PassThrough

_MOST_BYTES = 64 << 20


class OrjsonProvider(JSONProvider):
    def dumps(self, obj: Any, **kwargs: Any) -> str:
        return orjson.dumps(obj).decode()

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        return orjson.loads(s)

    def response(self, *args: Any, **kwargs: Any) -> Response:
        obj = self._prepare_response_obj(args, kwargs)
        return Response(orjson.dumps(obj), mimetype="application/json")


def plain(body: str) -> Response:
    return Response(body, mimetype="text/plain")


async def text() -> Response:
    return plain("Hello, World!")


async def as_json() -> dict[str, Any]:
    return {"id": 1, "name": "kit"}


async def user(id: str) -> Response:
    return plain(id)


async def search() -> Response:
    query = request.args
    return plain(f"{query['q']} {query['page']}")


async def headers() -> Response:
    own = {"x-request-id": request.headers["x-request-id"], "cache-control": "no-store"}
    return Response("ok", mimetype="text/plain", headers=own)


async def echo() -> Any:
    return await request.get_json()


async def form() -> Response:
    fields = await request.form
    return plain(f"{fields['name']} {fields['email']}")


async def upload() -> Response:
    fields = await request.form
    file = (await request.files)["file"]
    return plain(f"{fields['title']} {file.filename} {len(file.read())}")


async def read_bytes() -> Response:
    return plain(str(len(await request.get_data())))


async def chunks() -> AsyncIterator[bytes]:
    for _ in range(CHUNKS):
        yield CHUNK


async def stream() -> Response:
    return Response(chunks(), mimetype="text/plain")


async def listed() -> Response:
    return plain("list")


def empty_app() -> Any:
    app = Quart(__name__, static_folder=None)
    app.json = OrjsonProvider(app)
    app.config["MAX_CONTENT_LENGTH"] = _MOST_BYTES
    return app


def rows_app(_: int = 0) -> Any:
    app = empty_app()
    app.get("/")(text)
    app.get("/json")(as_json)
    app.get("/users/<id>")(user)
    app.get("/search")(search)
    app.get("/headers")(headers)
    app.post("/echo")(echo)
    app.post("/form")(form)
    app.post("/upload")(upload)
    app.post("/bytes")(read_bytes)
    app.get("/stream")(stream)
    return app


async def cookies() -> Response:
    session = request.cookies["session"]
    response = plain(session)
    response.set_cookie("visited", session, httponly=True)
    return response


async def slow() -> Response:
    for _ in range(PAUSES):
        await asyncio.sleep(0)
    return plain("Hello, World!")


def threaded() -> Response:
    return plain("Hello, World!")


def more_app(_: int = 0) -> Any:
    app = empty_app()
    app.get("/cookies")(cookies)
    app.get("/slow")(slow)
    app.get("/thread")(threaded)
    app.get("/users/<id>")(user)
    return app


def nested_app(_: int = 0) -> Any:
    users = Blueprint("users", __name__, url_prefix="/users")
    users.get("/<id>")(user)
    version = Blueprint("version", __name__, url_prefix="/v1")
    version.register_blueprint(users)
    api = Blueprint("api", __name__, url_prefix="/api")
    api.register_blueprint(version)
    app = empty_app()
    app.register_blueprint(api)
    return app


def middleware_app(count: int) -> Any:
    app = empty_app()
    app.get("/")(text)
    for _ in range(count):
        app.asgi_app = PassThrough(app.asgi_app)
    return app


def table_app(paths: list[str]) -> Any:
    app = empty_app()
    for path in paths:
        handler = user if ":id" in path else listed
        app.get(write_parameters(path, "<", ">"))(handler)
    return app
