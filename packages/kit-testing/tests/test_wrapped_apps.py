# SPDX-License-Identifier: MIT
"""Clients of an app that ASGI middleware is around: `app = Middleware(site)`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sentry_sdk.integrations.asgi import SentryAsgiMiddleware
from starlette.middleware.sessions import SessionMiddleware

from kit import Context, Kit, Response
from kit.testing import ExecutionContext, sync_test_client
from kit.testing import test_client as create_client
from kit.websocket import WebSocket, upgrade_websocket


class Shout:
    """Makes what is sent louder."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def shout(message: Any) -> None:
            for key in ("body", "text"):
                if message.get(key):
                    message = {**message, key: message[key].upper()}
            await send(message)

        await self.app(scope, receive, shout)


@asynccontextmanager
async def lifespan(app: Any) -> AsyncIterator[dict[str, str]]:
    yield {"word": "hello"}


def create_app() -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit(lifespan=lifespan)

    @app.get("/books/:id")
    async def read(c: Context) -> Response:
        return c.text(f"{c.env['word']} {c.req.param('id')} {c.req.url}")

    @app.get("/visits")
    async def count(c: Context) -> Response:
        session = (c.req.raw.scope or {})["session"]
        session["visits"] = session.get("visits", 0) + 1
        return c.text(str(session["visits"]))

    @app.get("/files/*")
    async def echo(c: Context) -> Response:
        return c.text(c.req.path)

    @app.get("/talk")
    @upgrade_websocket
    async def talk(c: Context, ws: WebSocket) -> None:
        async for text in ws:
            await ws.send(f"{c.env['word']} {text}")

    return app


async def test_requests_pass_through_what_is_around() -> None:
    async with create_client(Shout(create_app())) as client:
        response = await client.books[":id"].get(param={"id": 7})
        assert await response.text() == "HELLO 7 HTTP://LOCALHOST/BOOKS/7"
        response = await client.get("/files//a%2Fb")
        assert await response.text() == "/FILES//A%2FB"
        response = await client.files["*"].get(param={"*": r"a\b"})
        assert await response.text() == r"/FILES/A\B"


async def test_an_object_without_a_signature() -> None:
    # Its `__call__` is a slot.
    async with create_client(SentryAsgiMiddleware(create_app())) as client:
        response = await client.get("/files/a")
        assert await response.text() == "/files/a"


async def test_connections_pass_through_what_is_around() -> None:
    app = Shout(create_app())
    async with create_client(app) as client, client.talk.ws() as ws:
        await ws.send("you")
        assert await ws.receive() == "HELLO YOU"


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_synchronous_client(backend: Any) -> None:
    app = Shout(SessionMiddleware(create_app(), secret_key="s3cret"))
    with sync_test_client(app, backend=backend) as client:
        assert client.visits.get().text() == "1"
        assert client.visits.get().text() == "2"
        with client.talk.ws() as ws:
            ws.send("you")
            assert ws.receive() == "HELLO YOU"


@pytest.mark.parametrize("create", [create_client, sync_test_client])
@pytest.mark.parametrize(
    "options", [{"env": {"word": "bye"}}, {"execution_ctx": ExecutionContext()}]
)
def test_what_does_not_pass_through(create: Any, options: Any) -> None:
    with pytest.raises(TypeError, match=r"ASGI middleware is around it: give the app itself"):
        create(Shout(create_app()), **options)
