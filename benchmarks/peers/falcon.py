# SPDX-License-Identifier: MIT
"""Falcon, with orjson as its media handler; models with msgspec, as in its recipe for that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import falcon.asgi
import msgspec
import orjson
from falcon import MEDIA_JSON, MEDIA_TEXT
from falcon.asgi import Request, Response
from falcon.media import JSONHandler

from ..rows import CHUNK, CHUNKS, PAUSES
from . import write_parameters


class Text:
    async def on_get(self, req: Request, resp: Response) -> None:
        resp.content_type = MEDIA_TEXT
        resp.text = "Hello, World!"


class Json:
    async def on_get(self, req: Request, resp: Response) -> None:
        resp.media = {"id": 1, "name": "kit"}


class User:
    async def on_get(self, req: Request, resp: Response, id: str) -> None:
        resp.content_type = MEDIA_TEXT
        resp.text = id


class Search:
    async def on_get(self, req: Request, resp: Response) -> None:
        resp.content_type = MEDIA_TEXT
        resp.text = f"{req.get_param('q')} {req.get_param('page')}"


class Headers:
    async def on_get(self, req: Request, resp: Response) -> None:
        resp.content_type = MEDIA_TEXT
        resp.set_header("x-request-id", req.get_header("x-request-id") or "")
        resp.set_header("cache-control", "no-store")
        resp.text = "ok"


class Echo:
    async def on_post(self, req: Request, resp: Response) -> None:
        resp.media = await req.get_media()


class Form:
    async def on_post(self, req: Request, resp: Response) -> None:
        fields = await req.get_media()
        resp.content_type = MEDIA_TEXT
        resp.text = f"{fields['name']} {fields['email']}"


class Upload:
    async def on_post(self, req: Request, resp: Response) -> None:
        title = name = ""
        size = 0
        async for part in await req.get_media():
            if part.name == "title":
                title = await part.text
            elif part.name == "file":
                name = part.filename
                size = len(await part.stream.read())
        resp.content_type = MEDIA_TEXT
        resp.text = f"{title} {name} {size}"


class Bytes:
    async def on_post(self, req: Request, resp: Response) -> None:
        resp.content_type = MEDIA_TEXT
        resp.text = str(len(await req.stream.read()))


async def chunks() -> AsyncIterator[bytes]:
    for _ in range(CHUNKS):
        yield CHUNK


class Stream:
    async def on_get(self, req: Request, resp: Response) -> None:
        resp.content_type = MEDIA_TEXT
        resp.stream = chunks()


class Listed:
    async def on_get(self, req: Request, resp: Response) -> None:
        resp.content_type = MEDIA_TEXT
        resp.text = "list"


class PassThrough:
    async def process_request(self, req: Request, resp: Response) -> None:
        return None

    async def process_response(
        self, req: Request, resp: Response, resource: Any, req_succeeded: bool
    ) -> None:
        return None


def rows_app(_: int = 0) -> Any:
    app = falcon.asgi.App()
    handler = JSONHandler(dumps=orjson.dumps, loads=orjson.loads)
    app.req_options.media_handlers[MEDIA_JSON] = handler
    app.resp_options.media_handlers[MEDIA_JSON] = handler
    app.add_route("/", Text())
    app.add_route("/json", Json())
    app.add_route("/users/{id}", User())
    app.add_route("/search", Search())
    app.add_route("/headers", Headers())
    app.add_route("/echo", Echo())
    app.add_route("/form", Form())
    app.add_route("/upload", Upload())
    app.add_route("/bytes", Bytes())
    app.add_route("/stream", Stream())
    return app


class Cookies:
    async def on_get(self, req: Request, resp: Response) -> None:
        session = req.cookies["session"]
        resp.set_cookie("visited", session, path="/", secure=False)
        resp.content_type = MEDIA_TEXT
        resp.text = session


class Item(msgspec.Struct):
    id: int
    name: str
    tags: list[str]
    price: float
    active: bool


class Validated:
    POST_SCHEMA = Item

    async def on_post(self, req: Request, resp: Response, item: Item) -> None:
        resp.media = item


class Validation:
    """Converts the body to the type that a resource declares, and passes it on as a parameter."""

    async def process_resource(
        self, req: Request, resp: Response, resource: Any, params: dict[str, Any]
    ) -> None:
        schema = getattr(resource, f"{req.method}_SCHEMA", None)
        if schema is not None:
            params[schema.__name__.lower()] = msgspec.convert(await req.get_media(), schema)


class Slow:
    async def on_get(self, req: Request, resp: Response) -> None:
        for _ in range(PAUSES):
            await asyncio.sleep(0)
        resp.content_type = MEDIA_TEXT
        resp.text = "Hello, World!"


def blocking() -> str:
    return "Hello, World!"


class Threaded:
    async def on_get(self, req: Request, resp: Response) -> None:
        resp.content_type = MEDIA_TEXT
        resp.text = await falcon.sync_to_async(blocking)


def more_app(_: int = 0) -> Any:
    app = falcon.asgi.App()
    app.add_route("/cookies", Cookies())
    app.add_route("/slow", Slow())
    app.add_route("/thread", Threaded())
    app.add_route("/users/{id}", User())
    return app


def validated_app(_: int = 0) -> Any:
    app = falcon.asgi.App(middleware=[Validation()])
    encode, decode = msgspec.json.Encoder().encode, msgspec.json.Decoder().decode
    handler = JSONHandler(dumps=encode, loads=decode)
    app.req_options.media_handlers[MEDIA_JSON] = handler
    app.resp_options.media_handlers[MEDIA_JSON] = handler
    app.add_route("/validated", Validated())
    return app


def middleware_app(count: int) -> Any:
    app = falcon.asgi.App(middleware=[PassThrough() for _ in range(count)])
    app.add_route("/", Text())
    return app


def table_app(paths: list[str]) -> Any:
    app = falcon.asgi.App()
    for path in paths:
        resource = User() if ":id" in path else Listed()
        app.add_route(write_parameters(path, "{", "}"), resource)
    return app
