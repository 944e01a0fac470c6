# SPDX-License-Identifier: MIT
"""The apps of `overhead` with sessions: in cookies, in memory, and in files.

In files, Kit has SQLite, and Litestar a file for each session. Starlette has cookies alone.
Each app has a session from a request before the measurement, whose cookie is put into all requests.
"""

from __future__ import annotations

import asyncio
import atexit
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .sample_request import SampleRequest

Pair = tuple[Any, Any]
SECRET = "9f2c1bd07ae84d5c8e13a6f45b7d20c3"


def sqlite() -> dict[str, Any]:
    """Options of Kit for sessions in SQLite."""
    from kit.session.sqlite import SQLiteStore

    return {"store": SQLiteStore(_folder() / "sessions.db")}


def memory() -> dict[str, Any]:
    """Options of Kit for sessions in memory."""
    from kit.session.stores import MemoryStore

    return {"store": MemoryStore()}


def cookie() -> dict[str, Any]:
    """Options of Kit for sessions in signed cookies."""
    return {"secret": SECRET}


def litestar_files() -> Any:
    """Litestar's store with a file for each session."""
    from litestar.stores.file import FileStore

    return FileStore(_folder())


def litestar_memory() -> Any:
    """Litestar's store in memory."""
    from litestar.stores.memory import MemoryStore

    return MemoryStore()


def starlette_session(*, writes: bool) -> Callable[[], Pair]:
    """A route of Starlette that reads a session in a cookie, or changes it."""

    def pair() -> Pair:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.middleware.sessions import SessionMiddleware
        from starlette.responses import PlainTextResponse
        from starlette.routing import Route

        async def start(request: Any) -> Any:
            request.session["number"] = 0
            return PlainTextResponse("")

        async def text(request: Any) -> Any:
            if writes:
                request.session["number"] += 1
            else:
                request.session["number"]
            return PlainTextResponse("Hello, World!")

        async def plain(request: Any) -> Any:
            return PlainTextResponse("Hello, World!")

        app = Starlette(
            routes=[Route("/", text), Route("/start", start)],
            middleware=[Middleware(SessionMiddleware, secret_key=SECRET)],
        )
        return _with_cookie(app, Starlette(routes=[Route("/", plain)]))

    return pair


def kit_session(options: Callable[[], dict[str, Any]], *, writes: bool) -> Callable[[], Pair]:
    """A route of Kit that reads a session, or changes it."""

    def pair() -> Pair:
        from kit import Context, Kit
        from kit.session import get_session, session

        async def start(c: Context[Any, Any]) -> Any:
            (await get_session(c))["number"] = 0
            return c.text("")

        async def text(c: Context[Any, Any]) -> Any:
            found = await get_session(c)
            if writes:
                found["number"] += 1
            else:
                found["number"]
            return c.text("Hello, World!")

        async def plain(c: Context[Any, Any]) -> Any:
            return c.text("Hello, World!")

        async def nothing(c: Context[Any, Any], next: Any) -> None:
            await next()

        app: Any = Kit()
        app.use(session(**options()))
        app.get("/", text).get("/start", start)
        bare: Any = Kit()
        bare.use(nothing).get("/", plain)
        return _with_cookie(app, bare)

    return pair


def litestar_session(store: Callable[[], Any], *, writes: bool) -> Callable[[], Pair]:
    """A route of Litestar that reads a session in a store, or changes it."""

    def pair() -> Pair:
        from litestar import Litestar, MediaType, Request, get
        from litestar.middleware.session.server_side import ServerSideSessionConfig

        @get("/start", media_type=MediaType.TEXT)
        async def start(request: Request[Any, Any, Any]) -> str:
            request.session["number"] = 0
            return ""

        @get("/", media_type=MediaType.TEXT)
        async def text(request: Request[Any, Any, Any]) -> str:
            if writes:
                request.session["number"] += 1
            else:
                request.session["number"]
            return "Hello, World!"

        @get("/", media_type=MediaType.TEXT)
        async def plain(request: Request[Any, Any, Any]) -> str:
            return "Hello, World!"

        options: Any = {"openapi_config": None, "logging_config": None}
        app = Litestar(
            [start, text],
            middleware=[ServerSideSessionConfig().middleware],
            stores={"sessions": store()},
            **options,
        )
        return _with_cookie(app, Litestar([plain], **options))

    return pair


def _folder() -> Path:
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Path(folder.name)


def _with_cookie(app: Any, bare: Any) -> Pair:
    """Puts the cookie of a new session into all requests for both apps."""
    return with_cookie(app, bare, asyncio.run(_cookie_of(app)))


def with_cookie(app: Any, bare: Any, cookie: bytes) -> Pair:
    """Puts a cookie into all requests for both apps."""

    def wrap(app: Any) -> Any:
        async def asgi(scope: Any, receive: Any, send: Any) -> None:
            await app({**scope, "headers": [*scope["headers"], (b"cookie", cookie)]}, receive, send)

        return asgi

    return wrap(app), wrap(bare)


async def _cookie_of(app: Any) -> bytes:
    found: Iterator[bytes] = iter(())

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        nonlocal found
        if message["type"] == "http.response.start":
            found = (value for name, value in message["headers"] if name.lower() == b"set-cookie")

    await app({**SampleRequest().scope, "path": "/start", "raw_path": b"/start"}, receive, send)
    return next(found).partition(b";")[0]
