# SPDX-License-Identifier: MIT
"""Starlette, with the orjson response of its documentation, and a Jinja environment."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
from jinja2 import Environment, FileSystemLoader
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.templating import Jinja2Templates

from . import world

environment = Environment(loader=FileSystemLoader(world.PAGES), autoescape=True, auto_reload=False)
templates = Jinja2Templates(env=environment)


class OrjsonResponse(JSONResponse):
    def render(self, content: Any) -> bytes:
        return orjson.dumps(content)


async def plaintext(request: Request) -> Response:
    return PlainTextResponse(world.TEXT)


async def as_json(request: Request) -> Response:
    return OrjsonResponse({"message": world.TEXT})


async def db(request: Request) -> Response:
    return OrjsonResponse(await world.read_one(request.app.state.pool))


async def queries(request: Request) -> Response:
    return OrjsonResponse(await world.read_many(request.app.state.pool))


async def updates(request: Request) -> Response:
    return OrjsonResponse(await world.update_many(request.app.state.pool))


async def fortunes(request: Request) -> Response:
    found = await world.read_fortunes(request.app.state.pool)
    return templates.TemplateResponse(request, world.TEMPLATE, {"fortunes": found})


def make(url: str) -> Any:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with world.open_pool(url) as pool:
            app.state.pool = pool
            yield

    routes = [
        Route("/plaintext", plaintext),
        Route("/json", as_json),
        Route("/db", db),
        Route("/queries", queries),
        Route("/updates", updates),
        Route("/fortunes", fortunes),
    ]
    return Starlette(routes=routes, lifespan=lifespan)
