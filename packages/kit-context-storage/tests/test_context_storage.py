# SPDX-License-Identifier: MIT
"""Where the context of a request is found."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest

from kit import Context, Kit, Response, in_thread
from kit.context_storage import context_storage, get_context, path_to, try_get_context
from kit.interface import plugins
from kit.streaming import StreamingApi, stream
from kit.testing import test_client


def name() -> str:
    """A function that isn't passed the context."""
    return str(get_context().req.param("name"))


async def chunks() -> AsyncIterator[str]:
    yield name() + " "
    await anyio.lowlevel.checkpoint()
    yield name()


def make_app() -> Kit:
    app = Kit().use(context_storage())
    app.get("/handler/:name", lambda c: c.text(name()))
    app.get("/generator/:name", lambda c: c.body(chunks()))
    app.get("/plain/:name", lambda c: c.body(name() for _ in "x"))
    app.get("/thread/:name", in_thread(lambda c: c.text(name())))
    app.not_found(lambda c: c.text(get_context().req.path, 404))

    @app.get("/callback/:name")
    def callback(c: Context) -> Response:
        async def write(api: StreamingApi) -> None:
            await api.write(name())

        return stream(c, write)

    @app.get("/task/:name")
    async def task(c: Context) -> Response:
        found: list[str] = []

        async def look() -> None:
            await anyio.lowlevel.checkpoint()
            found.append(name())

        async with anyio.create_task_group() as group:
            group.start_soon(look)
        return c.text(found[0])

    return app


async def text(app: Kit, path: str) -> str:
    return await (await app.request(path)).text()


@pytest.mark.parametrize("where", ["handler", "generator", "plain", "thread", "callback", "task"])
def test_everything_that_a_request_runs_finds_it(run: Callable[..., Any], where: str) -> None:
    assert {*run(text, make_app(), f"/{where}/ann").split()} == {"ann"}


def test_the_not_found_handler_finds_it(run: Callable[..., Any]) -> None:
    assert run(text, make_app(), "/nothing") == "/nothing"


def test_it_is_the_context_of_the_handlers(run: Callable[..., Any]) -> None:
    app = Kit().use(context_storage())
    seen: list[bool] = []

    @app.get("/")
    async def handler(c: Context) -> Response:
        c.set("user", "ann")
        seen.extend([get_context() is c, try_get_context() is c])
        return c.text(get_context().get("user"))

    assert run(text, app, "/") == "ann"
    assert seen == [True, True]


def test_requests_side_by_side_have_their_own(run: Callable[..., Any]) -> None:
    async def main() -> None:
        app = Kit().use(context_storage())
        met = anyio.Event()

        @app.get("/:name")
        async def handler(c: Context) -> Response:
            met.set() if name() == "b" else await met.wait()
            await anyio.lowlevel.checkpoint()
            return c.text(name())

        async def one(path: str) -> None:
            assert await text(app, f"/{path}") == path

        async with anyio.create_task_group() as group:
            group.start_soon(one, "a")
            group.start_soon(one, "b")

    run(main)


def test_apps_in_apps(run: Callable[..., Any]) -> None:
    inner = Kit().use(context_storage()).get("/inner/:name", lambda c: c.body(chunks()))
    part = Kit().get("/:name", lambda c: c.text(name()))
    app = Kit().use(context_storage()).route("/part", part)

    @app.get("/outer/:name")
    async def outer(c: Context) -> Response:
        answer = await inner.request("/inner/bob")
        assert get_context() is c
        return c.text(f"{await answer.text()} {name()}")

    assert run(text, app, "/part/ann") == "ann"
    assert run(text, app, "/outer/ann") == "bob bob ann"


def test_work_after_the_response(run: Callable[..., Any]) -> None:
    seen: list[str] = []

    async def work() -> None:
        seen.append(name())

    app = Kit().use(context_storage())

    @app.get("/:name")
    def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(work())
        return c.text("x")

    async def main() -> None:
        await test_client(app)[":name"].get(param={"name": "ann"})

    run(main)
    assert seen == ["ann"]


OUTSIDE = (
    "get_context() was called outside of a request that went through context_storage(): "
    "add app.use(context_storage()) before the handlers and middleware that call it, or "
    "use try_get_context(), which returns None here"
)


def test_outside_of_requests() -> None:
    assert try_get_context() is None
    with pytest.raises(RuntimeError) as caught:
        get_context()
    assert str(caught.value) == OUTSIDE


def test_a_request_that_does_not_go_through_it(run: Callable[..., Any]) -> None:
    app = Kit().use("/with/*", context_storage())
    app.get("/with/:name", lambda c: c.text(name()))
    app.get("/without/:name", lambda c: c.text(name()))
    app.on_error(lambda error, c: c.text(str(error), 500))

    async def main() -> None:
        assert await text(app, "/with/ann") == "ann"
        assert await text(app, "/without/ann") == OUTSIDE
        assert try_get_context() is None

    run(main)


@pytest.mark.parametrize("arguments", [("x",), (True, False)])
def test_it_takes_no_options(arguments: Any) -> None:
    with pytest.raises(TypeError, match="takes 0 positional arguments"):
        context_storage(*arguments)


def test_what_tools_see() -> None:
    assert getattr(context_storage(), "__name__", None) == "context_storage"
    assert plugins.load("kit.middleware", "context-storage") is context_storage


def test_path_to_links_within_the_request(run: Callable[..., Any]) -> None:
    def read_book(c: Context) -> Response:
        return c.text("book")

    inner = Kit().use(context_storage()).get("/books/:id", read_book)
    inner.get("/", lambda c: c.redirect(path_to(read_book, id=7, query={"page": 2})))
    app = Kit().mount("/shop", inner.fetch)

    async def ask() -> str | None:
        return (await app.request("/shop/")).headers.get("location")

    assert run(ask) == "/shop/books/7?page=2"
    with pytest.raises(RuntimeError, match="outside of a request"):
        path_to(read_book, id=7)
