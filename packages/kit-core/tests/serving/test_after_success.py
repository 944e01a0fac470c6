# SPDX-License-Identifier: MIT
"""`c.after_success`: work after the response, only if nothing failed, also after a commit."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import Column, Integer, MetaData, String, Table, select
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from kit import Context, HTTPException, Kit, Next, Request, Response
from kit.testing import sync_test_client, test_client
from kit.typed import Depends, typed
from kit.websocket import WebSocket, upgrade_websocket

trace: list[Any] = []
name: ContextVar[str] = ContextVar("name", default="none")


@pytest.fixture(autouse=True)
def _clear() -> None:
    trace.clear()


def plain(*values: Any, **named: Any) -> None:
    trace.append((*values, *named.items()))


async def later(value: Any) -> None:
    await anyio.lowlevel.checkpoint()
    trace.append((value, name.get()))


def request(app: Kit[Any, Any], path: str = "/") -> int:
    with sync_test_client(app) as client:
        return client.get(path).status


def app_of(answer: Callable[[Context], Any]) -> Kit[Any, Any]:
    app = Kit()

    @app.get("/")
    async def handler(c: Context) -> Any:
        c.after_success(plain, 1, to="ada")
        c.add_cleanup(lambda error: trace.append("cleanup"))
        token = name.set("inner")
        c.after_success(later, 2)
        name.reset(token)
        result = answer(c)
        return await result if hasattr(result, "__await__") else result

    return app


def fails(error: BaseException | None) -> None:
    raise ValueError("cleanup")


def test_it_runs_after_success() -> None:
    assert request(app_of(lambda c: c.text("x"))) == 200
    assert trace[0] == "cleanup"
    assert sorted(trace[1:], key=str) == [(1, ("to", "ada")), (2, "inner")]


def test_it_does_not_run_after_a_failure() -> None:
    def raises(error: Exception) -> Any:
        raise error

    async def chunks() -> AsyncIterator[str]:
        yield "a"
        raise ValueError("stream")

    async def fail_in_cleanup(c: Context) -> Response:
        c.add_cleanup(fails)
        return c.text("x")

    for answer in (
        lambda c: raises(HTTPException(403)),
        lambda c: raises(KeyError("x")),
        lambda c: c.text("x", 409),
        lambda c: fail_in_cleanup(c),
        lambda c: c.not_found(),
    ):
        trace.clear()
        request(app_of(answer))
        assert trace == ["cleanup"]


def test_an_exception_that_on_error_answers_is_a_failure() -> None:
    app = app_of(lambda c: 1 / 0)
    app.on_error(lambda error, c: c.text("sorry", 200))
    assert request(app) == 200
    assert trace == ["cleanup"]


def test_a_failure_of_the_stream(client: Any, run: Any) -> None:
    async def chunks() -> AsyncIterator[str]:
        yield "a"
        raise ValueError("stream")

    with pytest.raises(ValueError, match="stream"):
        run(client().ask, app_of(lambda c: c.body(chunks())))
    assert trace == ["cleanup"]


def test_mistakes() -> None:
    async def misuse(c: Context) -> Response:
        coroutine = later(1)
        with pytest.raises(TypeError, match="takes a function and its arguments, not coroutine"):
            c.after_success(coroutine)  # type: ignore[arg-type]
        coroutine.close()
        return c.text("x")

    assert request(Kit().get("/", misuse)) == 200


async def test_without_an_execution_context() -> None:
    app = app_of(lambda c: c.text("x"))
    response = await app.fetch(Request("http://localhost/"))
    assert response.status == 500
    assert trace == []


def test_websockets() -> None:
    app = Kit()

    @app.get("/")
    @upgrade_websocket
    async def handler(c: Context, ws: WebSocket) -> None:
        c.after_success(plain, "over")
        await ws.send("hello")
        trace.append("handled")

    with sync_test_client(app) as client, client.ws("/") as ws:
        assert ws.receive() == "hello"
    assert trace == ["handled", ("over",)]


BOOKS = Table(
    "books",
    metadata := MetaData(),
    Column("id", Integer, primary_key=True),
    Column("title", String),
)


class Store:
    """A table of books, and the transactions of requests."""

    def __init__(self, folder: Path) -> None:
        self.engine = create_async_engine(f"sqlite+aiosqlite:///{folder}/books.db")

    async def begin(self) -> AsyncIterator[AsyncConnection]:
        async with self.engine.connect() as connection, connection.begin():
            yield connection
            fail_to_commit()

    async def around(self, c: Context, next: Next) -> None:
        async with self.engine.connect() as connection, connection.begin():
            c.set("connection", connection)
            await next()
            if c.error is not None:
                await connection.rollback()
            else:
                fail_to_commit()

    async def titles(self) -> list[str]:
        async with self.engine.connect() as connection:
            return [*await connection.scalars(select(BOOKS.c.title))]

    async def index(self, title: str) -> None:
        trace.append((title, await self.titles()))


def fail_to_commit() -> None:
    if trace == ["the disk is full"]:
        raise RuntimeError("The disk is full")


def read_connection(c: Context) -> AsyncConnection:
    connection: AsyncConnection = c.get("connection")
    return connection


@pytest.mark.parametrize("scope", ["function", "request"])
@pytest.mark.parametrize("place", ["dependency", "middleware"])
async def test_after_a_commit(tmp_path: Path, place: str, scope: Any) -> None:
    store = Store(tmp_path)
    async with store.engine.begin() as setup:
        await setup.run_sync(metadata.create_all)
    app = Kit()
    provider: Any = store.begin
    if place == "middleware":
        provider = read_connection
        app.use(store.around)
    provided = Depends(provider, scope=scope)

    @app.put("/books/:title")
    @typed(status=201)
    async def add(title: str, c: Context, connection: AsyncConnection = provided) -> str:
        c.after_success(store.index, title)
        await connection.execute(BOOKS.insert().values(title=title))
        if title == "Ulysses":
            raise HTTPException(403)
        return title

    async with test_client(app) as client:
        assert (await client.put("/books/Emma")).status == 201
        assert trace == [("Emma", ["Emma"])]
        trace.clear()
        assert (await client.put("/books/Ulysses")).status == 403
        assert trace == []
        trace.append("the disk is full")
        await client.put("/books/Persuasion")
        assert trace == ["the disk is full"]
    assert await store.titles() == ["Emma"]
    await store.engine.dispose()
