# SPDX-License-Identifier: MIT
"""Apps with stores of each kind, and several processes that share one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kit import Context, Kit, Response
from kit.cache import cache


@asynccontextmanager
async def opened(make_store: Callable[[], Any]) -> AsyncIterator[Any]:
    store = make_store()
    try:
        yield store
    finally:
        if hasattr(store, "close"):
            await store.close()


async def streamed(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


ANSWERS: dict[str, Callable[[Any], Response]] = {
    "/text": lambda c: c.text("x"),
    "/json": lambda c: c.json({"a": 1}),
    "/html": lambda c: c.html("<p>"),
    "/body": lambda c: c.body(b"x"),
    "/response": lambda c: Response("x"),
    "/empty": lambda c: c.body(None),
    "/stream": lambda c: Response(streamed("x")),
}


@pytest.mark.parametrize("path", ANSWERS)
@pytest.mark.parametrize("vary", [None, "Accept"])
def test_the_second_request_is_a_hit(make_store: Any, path: str, vary: str | None) -> None:
    calls = []

    async def test() -> None:
        async with opened(make_store) as store:
            app: Kit[Any, Any] = Kit()
            app.use(cache(store=store, cache_control="max-age=60", vary=vary))

            @app.get("/*")
            def answer(c: Context) -> Response:
                calls.append(path)
                return ANSWERS[path](c)

            first = await app.request(path)
            text = await first.text()
            status = "Kit; fwd=uri-miss" + ("" if path == "/stream" else "; stored")
            assert first.headers.get("cache-status") == status
            second = await app.request(path)
            assert await second.text() == text
            assert (second.headers.get("cache-status") or "").startswith("Kit; hit; ttl=")
            assert second.headers.get("content-type") == first.headers.get("content-type")
            assert calls == [path]

    anyio.run(test)


# Purges by other processes


class Worker:
    """A process with an app, whose page a test changes; it may hold up the handler."""

    def __init__(self, store: Any, page: list[str], *, is_stream: bool) -> None:
        self.app: Kit[Any, Any] = Kit()
        self.cache = cache(store=store, cache_control="max-age=60", wait=True)
        self.app.use(self.cache)
        self.entered, self.go = anyio.Event(), anyio.Event()
        self.app.post("/*", lambda c: c.text("changed"))

        @self.app.get("/*")
        async def read(c: Context) -> Response:
            text = page[-1]
            self.entered.set()
            await self.go.wait()
            return Response(streamed(text)) if is_stream else c.text(text)

    async def text(self, path: str = "/page") -> str:
        return await (await self.app.request(path)).text()

    async def purge(self, how: str) -> None:
        if how == "POST":
            await self.app.request("/page", {"method": "POST"})
        elif how == "purge":
            await self.cache.purge("/page")
        else:
            await self.cache.purge_all()


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("how", ["POST", "purge", "purge_all"])
@pytest.mark.parametrize("was_used", [False, True])
def test_what_another_process_purged_while_it_was_made_is_not_sent(
    make_shared_store: Any, is_stream: bool, how: str, was_used: bool
) -> None:
    async def test() -> None:
        async with opened(make_shared_store) as store, opened(make_shared_store) as other:
            page, texts = ["old"], []
            slow = Worker(store, page, is_stream=is_stream)
            quick = Worker(other, page, is_stream=is_stream)
            quick.go.set()
            if was_used:
                await quick.text("/page?other")

            async def ask() -> None:
                texts.append(await slow.text())

            async with anyio.create_task_group() as group:
                group.start_soon(ask)
                await slow.entered.wait()
                page.append("new")
                await quick.purge(how)
                slow.go.set()
            assert texts == ["old"]
            assert [await quick.text() for _ in range(2)] == ["new", "new"]
            response = await slow.app.request("/page")
            assert await response.text() == "new"
            assert (response.headers.get("cache-status") or "").startswith("Kit; hit")

    anyio.run(test)


def test_a_purge_of_something_else_prevents_nothing(make_shared_store: Any) -> None:
    async def test() -> None:
        async with opened(make_shared_store) as store, opened(make_shared_store) as other:
            app: Kit[Any, Any] = Kit()
            app.use(cache(store=store, cache_control="max-age=60", wait=True))

            @app.get("/page")
            async def read(c: Context) -> Response:
                await other.delete("default", "/other")
                await other.clear("another")
                return c.text("page")

            await app.request("/page")
            response = await app.request("/page")
            assert (response.headers.get("cache-status") or "").startswith("Kit; hit")

    anyio.run(test)


def test_concurrent_responses_of_a_new_group_are_all_stored(make_store: Any) -> None:
    async def test() -> None:
        async with opened(make_store) as store:
            app: Kit[Any, Any] = Kit()
            app.use(cache(store=store, cache_control="max-age=60", wait=True))
            begun, all_begun = 0, anyio.Event()

            @app.get("/page")
            async def read(c: Context) -> Response:
                nonlocal begun
                begun += 1
                if begun == 5:
                    all_begun.set()
                await all_begun.wait()
                return c.text("page")

            async with anyio.create_task_group() as group:
                for number in range(5):
                    group.start_soon(app.request, f"/page?{number}")
            for number in range(5):
                response = await app.request(f"/page?{number}")
                assert (response.headers.get("cache-status") or "").startswith("Kit; hit")

    anyio.run(test)
