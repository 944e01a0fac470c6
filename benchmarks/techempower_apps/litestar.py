# SPDX-License-Identifier: MIT
"""Litestar: msgspec, its default, writes JSON; the pool in its state; its engine renders pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from jinja2 import Environment, FileSystemLoader
from litestar import Litestar, MediaType, get
from litestar.datastructures import State
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.response import Template
from litestar.template import TemplateConfig

from . import world

environment = Environment(loader=FileSystemLoader(world.PAGES), autoescape=True, auto_reload=False)


@get("/plaintext", media_type=MediaType.TEXT)
async def plaintext() -> str:
    return world.TEXT


@get("/json")
async def as_json() -> dict[str, str]:
    return {"message": world.TEXT}


@get("/db")
async def db(state: State) -> world.Number:
    return await world.read_one(state.pool)


@get("/queries")
async def queries(state: State) -> list[world.Number]:
    return await world.read_many(state.pool)


@get("/updates")
async def updates(state: State) -> list[world.Number]:
    return await world.update_many(state.pool)


@get("/fortunes")
async def fortunes(state: State) -> Template:
    found = await world.read_fortunes(state.pool)
    return Template(world.TEMPLATE, context={"fortunes": found})


def make(url: str) -> Any:
    @asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncIterator[None]:
        async with world.open_pool(url) as pool:
            app.state.pool = pool
            yield

    return Litestar(
        [plaintext, as_json, db, queries, updates, fortunes],
        lifespan=[lifespan],
        template_config=TemplateConfig(JinjaTemplateEngine.from_environment(environment)),
        openapi_config=None,
    )
