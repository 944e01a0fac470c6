# SPDX-License-Identifier: MIT
"""FastAPI: pydantic writes JSON by the return type; Starlette's templates render pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse, Response
from fastapi.templating import Jinja2Templates
from jinja2 import Environment, FileSystemLoader

from . import world

environment = Environment(loader=FileSystemLoader(world.PAGES), autoescape=True, auto_reload=False)
templates = Jinja2Templates(env=environment)
opened: dict[str, world.Pool] = {}


async def plaintext() -> Response:
    return PlainTextResponse(world.TEXT)


async def as_json() -> dict[str, str]:
    return {"message": world.TEXT}


async def db() -> dict[str, int]:
    return await world.read_one(opened["pool"])  # type: ignore[return-value]


async def queries() -> list[dict[str, int]]:
    return await world.read_many(opened["pool"])  # type: ignore[return-value]


async def updates() -> list[dict[str, int]]:
    return await world.update_many(opened["pool"])  # type: ignore[return-value]


async def fortunes(request: Request) -> Response:
    found = await world.read_fortunes(opened["pool"])
    return templates.TemplateResponse(request, world.TEMPLATE, {"fortunes": found})


def make(url: str) -> Any:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with world.open_pool(url) as pool:
            opened["pool"] = pool
            yield
        opened.clear()

    app = FastAPI(lifespan=lifespan, openapi_url=None)
    app.get("/plaintext")(plaintext)
    app.get("/json")(as_json)
    app.get("/db")(db)
    app.get("/queries")(queries)
    app.get("/updates")(updates)
    app.get("/fortunes")(fortunes)
    return app
