# SPDX-License-Identifier: MIT
"""BlackSheep, with orjson in its JSON settings; handlers take the request, without binding."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import orjson
from blacksheep import Application, Request, Response, Router, json, text
from blacksheep.server.rendering.jinja2 import JinjaRenderer
from blacksheep.server.responses import view
from blacksheep.settings.html import html_settings
from blacksheep.settings.json import json_settings
from jinja2 import DictLoader

from . import world


def _dumps(value: Any) -> str:
    return orjson.dumps(value).decode()


json_settings.use(loads=orjson.loads, dumps=_dumps)


opened: dict[str, world.Pool] = {}


async def plaintext(request: Request) -> Response:
    return text(world.TEXT)


async def as_json(request: Request) -> Response:
    return json({"message": world.TEXT})


async def db(request: Request) -> Response:
    return json(await world.read_one(opened["pool"]))


async def queries(request: Request) -> Response:
    return json(await world.read_many(opened["pool"]))


async def updates(request: Request) -> Response:
    return json(await world.update_many(opened["pool"]))


async def fortunes(request: Request) -> Response:
    found = await world.read_fortunes(opened["pool"])
    return view("fortunes", fortunes=found)


def make(url: str) -> Any:
    # BlackSheep appends `.jinja` to the names of templates.
    page = (world.PAGES / world.TEMPLATE).read_text()
    html_settings.use(JinjaRenderer(DictLoader({"fortunes.jinja": page})))
    app = Application(router=Router())

    @app.lifespan
    async def connected() -> AsyncIterator[None]:
        async with world.open_pool(url) as pool:
            opened["pool"] = pool
            yield
        opened.clear()

    app.router.add_get("/plaintext", plaintext)
    app.router.add_get("/json", as_json)
    app.router.add_get("/db", db)
    app.router.add_get("/queries", queries)
    app.router.add_get("/updates", updates)
    app.router.add_get("/fortunes", fortunes)
    return app
