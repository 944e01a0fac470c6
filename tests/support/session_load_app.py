# SPDX-License-Identifier: MIT
"""Sessions that many requests change at once: for load tests.

The environment says where they are: SESSION_STORE is the path of a file or the URL of a Redis
server, SESSION_ON_ERROR is the option `on_store_error`.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from kit import Context, Kit, Response
from kit.session import get_session, session
from kit.session.redis import RedisStore
from kit.session.sqlite import SQLiteStore

place = os.environ["SESSION_STORE"]
on_error: Any = os.environ.get("SESSION_ON_ERROR", "unavailable")
store = RedisStore(place) if place.startswith("redis://") else SQLiteStore(place, timeout=30)


@asynccontextmanager
async def lifespan(app: Any) -> AsyncIterator[None]:
    await store.open()
    try:
        yield
    finally:
        await store.close()


app: Kit[Any, Any] = Kit(lifespan=lifespan)
app.use(session(store=store, on_store_error=on_error))


@app.post("/login/:user")
async def login(c: Context[Any, Any]) -> Response:
    found = await get_session(c)
    found.rotate(user=c.req.param("user"))
    found.update({"name": c.req.param("user"), "count": 0, "marks": []})
    return c.json({"name": found["name"]})


@app.post("/mark/:mark")
async def mark(c: Context[Any, Any]) -> Response:
    found = await get_session(c)

    def change(data: dict[str, Any]) -> None:
        data["count"] = data.get("count", 0) + 1
        data["marks"] = [*data.get("marks", ()), int(c.req.param("mark"))]

    found.update(change)
    return c.json({"name": found.get("name"), "user": found.user})


@app.get("/")
async def show(c: Context[Any, Any]) -> Response:
    found = await get_session(c)
    return c.json({**found, "user": found.user, "degraded": found.is_degraded})


@app.get("/without")
def without(c: Context[Any, Any]) -> Response:
    return c.json({})
