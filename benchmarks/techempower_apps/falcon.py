# SPDX-License-Identifier: MIT
"""Falcon, with orjson as its media handler, and Jinja templates as in its documentation."""

from __future__ import annotations

from typing import Any

import falcon.asgi
import orjson
from falcon import MEDIA_HTML, MEDIA_JSON, MEDIA_TEXT
from falcon.asgi import Request, Response
from falcon.media import JSONHandler
from jinja2 import Environment, FileSystemLoader

from . import world

environment = Environment(loader=FileSystemLoader(world.PAGES), autoescape=True, auto_reload=False)


class Database:
    """The pool, as middleware with startup and shutdown hooks."""

    pool: world.Pool

    def __init__(self, url: str) -> None:
        self._url = url

    async def process_startup(self, scope: Any, event: Any) -> None:
        self.pool = await world.open_pool(self._url)

    async def process_shutdown(self, scope: Any, event: Any) -> None:
        await self.pool.close()


class Plaintext:
    async def on_get(self, req: Request, resp: Response) -> None:
        resp.content_type = MEDIA_TEXT
        resp.text = world.TEXT


class Json:
    async def on_get(self, req: Request, resp: Response) -> None:
        resp.media = {"message": world.TEXT}


class Numbers:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def on_get(self, req: Request, resp: Response) -> None:
        resp.media = await world.read_one(self._database.pool)

    async def on_get_queries(self, req: Request, resp: Response) -> None:
        resp.media = await world.read_many(self._database.pool)

    async def on_get_updates(self, req: Request, resp: Response) -> None:
        resp.media = await world.update_many(self._database.pool)


class Fortunes:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def on_get(self, req: Request, resp: Response) -> None:
        found = await world.read_fortunes(self._database.pool)
        resp.content_type = MEDIA_HTML
        resp.text = environment.get_template(world.TEMPLATE).render(fortunes=found)


def make(url: str) -> Any:
    database = Database(url)
    app = falcon.asgi.App(middleware=[database])
    handler = JSONHandler(dumps=orjson.dumps, loads=orjson.loads)
    app.resp_options.media_handlers[MEDIA_JSON] = handler
    app.add_route("/plaintext", Plaintext())
    app.add_route("/json", Json())
    app.add_route("/db", Numbers(database))
    app.add_route("/queries", Numbers(database), suffix="queries")
    app.add_route("/updates", Numbers(database), suffix="updates")
    app.add_route("/fortunes", Fortunes(database))
    return app
