# SPDX-License-Identifier: MIT
"""Kit: the lifespan's pool in `c.env`; kit-templates renders pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypedDict

from kit import Context, Kit, Response
from kit.templates import templates

from . import world


class Bindings(TypedDict):
    pool: world.Pool


async def plaintext(c: Context[Bindings]) -> Response:
    return c.text(world.TEXT)


async def as_json(c: Context[Bindings]) -> Response:
    return c.json({"message": world.TEXT})


async def db(c: Context[Bindings]) -> Response:
    return c.json(await world.read_one(c.env["pool"]))


async def queries(c: Context[Bindings]) -> Response:
    return c.json(await world.read_many(c.env["pool"]))


async def updates(c: Context[Bindings]) -> Response:
    return c.json(await world.update_many(c.env["pool"]))


async def fortunes(c: Context[Bindings]) -> Response:
    found = await world.read_fortunes(c.env["pool"])
    response: Response = c.render(world.TEMPLATE, fortunes=found)
    return response


def make(url: str) -> Any:
    @asynccontextmanager
    async def lifespan(app: Kit[Bindings]) -> AsyncIterator[Bindings]:
        async with world.open_pool(url) as pool:
            yield {"pool": pool}

    app = Kit[Bindings](lifespan=lifespan)
    app.get("/plaintext", plaintext)
    app.get("/json", as_json)
    app.get("/db", db)
    app.get("/queries", queries)
    app.get("/updates", updates)
    app.use("/fortunes", templates(world.PAGES, auto_reload=False))
    app.get("/fortunes", fortunes)
    return app
