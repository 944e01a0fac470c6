# SPDX-License-Identifier: MIT
"""Stale responses, what clients ask for, and many requests at once."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest

from kit import Context, Kit, Response
from kit.cache import MemoryStore, cache


class Background:
    """The execution context of a request in process: a test runs what was put off."""

    def __init__(self) -> None:
        self.awaitables: list[Any] = []

    def wait_until(self, awaitable: Any) -> None:
        self.awaitables.append(awaitable)

    async def run(self) -> None:
        while self.awaitables:
            await self.awaitables.pop(0)


async def broken() -> AsyncIterator[bytes]:
    yield b"a"
    raise OSError("gone")


class Origin:
    """An app with a cache before a handler that counts its calls."""

    def __init__(self, clock: Any, control: str, *, with_app: bool = False, **options: Any) -> None:
        self.calls = 0
        self.seen: list[str | None] = []
        self.control = control
        self.status = 200
        self.fails = False
        self.breaks = False
        self.background = Background()
        self.app: Kit[Any, Any] = Kit()
        self.cache = cache(clock=clock, **({"app": self.app} if with_app else {}), **options)
        self.app.use(self.cache)
        self.app.get("/*", self.answer)

    async def answer(self, c: Context) -> Response:
        self.calls += 1
        self.seen.append(c.req.header("cache-control"))
        if self.fails:
            raise ValueError("broken")
        if self.breaks:
            return c.body(broken())
        return c.text(str(self.calls), self.status, {"Cache-Control": self.control})

    async def ask(self, control: str | None = None, **headers: str) -> Response:
        if control is not None:
            headers["Cache-Control"] = control
        return await self.app.request("/", {"headers": headers}, execution_ctx=self.background)

    async def text(self, control: str | None = None) -> str:
        return await (await self.ask(control)).text()


# stale-while-revalidate


def test_a_stale_response_is_sent_while_it_is_fetched_anew(run: Any, clock: Any) -> None:
    origin = Origin(clock, "max-age=10, stale-while-revalidate=20", with_app=True)

    async def ask() -> None:
        assert await origin.text() == "1"
        clock.now += 15
        for _ in range(3):
            response = await origin.ask("no-cache")
            assert await response.text() == "1"
            assert response.headers.get("age") == "15"
            assert response.headers.get("cache-status") == "Kit; hit; ttl=-5"
        assert len(origin.background.awaitables) == 1
        await origin.background.run()
        assert origin.seen == [None, None]
        response = await origin.ask()
        assert await response.text() == "2"
        assert response.headers.get("age") == "0"
        clock.now += 30
        assert await origin.text() == "3"

    run(ask)


@pytest.mark.parametrize("method", ["HEAD", "QUERY"])
def test_other_methods_have_it_fetched_anew(run: Any, clock: Any, method: str) -> None:
    background = Background()
    contents: list[bytes] = []
    app: Kit[Any, Any] = Kit()
    app.use(cache(clock=clock, app=app))

    async def answer(c: Context) -> Response:
        contents.append(await c.req.bytes())
        header = {"Cache-Control": "max-age=10, stale-while-revalidate=20"}
        return c.text(f"{len(contents)}", headers=header)

    app.on(["GET", "QUERY"], "/", answer)
    first = {"method": "GET" if method == "HEAD" else method, "headers": {}}
    if method == "QUERY":
        first |= {"body": "all", "headers": {"Content-Length": "3"}}

    async def ask() -> None:
        await app.request("/", first, execution_ctx=background)
        clock.now += 15
        await app.request("/", {**first, "method": method}, execution_ctx=background)
        await background.run()
        assert len(contents) == 2
        assert contents[0] == contents[1]
        response = await app.request("/", first, execution_ctx=background)
        assert await response.text() == "2"
        assert response.headers.get("cache-status") == "Kit; hit; ttl=10"

    run(ask)


def test_without_the_app_the_request_waits(run: Any, clock: Any) -> None:
    origin = Origin(clock, "max-age=10, stale-while-revalidate=20")

    async def ask() -> None:
        await origin.ask()
        clock.now += 15
        assert await origin.text() == "2"

    run(ask)


def test_without_an_execution_context_the_request_waits(run: Any, clock: Any) -> None:
    origin = Origin(clock, "max-age=10, stale-while-revalidate=20", with_app=True)

    async def ask() -> None:
        await origin.ask()
        clock.now += 15
        assert await (await origin.app.request("/")).text() == "2"

    run(ask)


def test_what_fails_in_the_background_is_tried_again(
    run: Any, clock: Any, caplog: pytest.LogCaptureFixture
) -> None:
    origin = Origin(clock, "max-age=10, stale-while-revalidate=20", with_app=True)

    async def ask() -> None:
        await origin.ask()
        clock.now += 15
        origin.breaks = True
        assert await origin.text() == "1"
        await origin.background.run()
        assert [record.getMessage() for record in caplog.records] == ["/ was not refreshed"]
        origin.breaks = False
        assert await origin.text() == "1"
        await origin.background.run()
        assert await origin.text() == "3"

    with caplog.at_level(logging.WARNING, "kit.cache"):
        run(ask)


def test_a_refresh_that_never_began_is_tried_again(run: Any, clock: Any) -> None:
    """A server closes what was put off if its request is cancelled."""
    origin = Origin(clock, "max-age=10, stale-while-revalidate=20", with_app=True)

    async def ask() -> None:
        await origin.ask()
        clock.now += 15
        for _ in range(2):
            assert await origin.text() == "1"
            [work] = origin.background.awaitables
            work.close()
            origin.background.awaitables.clear()
        assert await origin.text() == "1"
        await origin.background.run()
        assert await origin.text() == "2"

    run(ask)


# stale-if-error


@pytest.mark.parametrize("fails", [True, False])
def test_a_stale_response_is_sent_in_place_of_an_error(run: Any, clock: Any, fails: bool) -> None:
    origin = Origin(clock, "max-age=10, stale-if-error=20")

    async def ask() -> None:
        await origin.ask()
        clock.now += 15
        origin.fails, origin.status = fails, 503
        response = await origin.ask()
        assert response.status == 200
        assert await response.text() == "1"
        assert response.headers.get_all("cache-control") == ["max-age=10, stale-if-error=20"]
        failed = 500 if fails else 503
        assert response.headers.get("cache-status") == f"Kit; fwd=stale; fwd-status={failed}"
        clock.now += 15
        assert (await origin.ask()).status == failed

    run(ask)


def test_other_errors_are_sent(run: Any, clock: Any) -> None:
    origin = Origin(clock, "max-age=10, stale-if-error=20")

    async def ask() -> None:
        await origin.ask()
        clock.now += 15
        origin.status = 404
        assert (await origin.ask()).status == 404

    run(ask)


@pytest.mark.parametrize("directive", ["must-revalidate", "proxy-revalidate", "s-maxage=10"])
def test_what_has_to_be_revalidated_is_never_sent_stale(
    run: Any, clock: Any, directive: str
) -> None:
    control = f"max-age=10, stale-if-error=20, stale-while-revalidate=20, {directive}"
    origin = Origin(clock, control, with_app=True, client_directives=True)

    async def ask() -> None:
        await origin.ask()
        clock.now += 5
        assert await origin.text() == "1"
        clock.now += 10
        origin.status = 503
        assert (await origin.ask("max-stale")).status == 503
        assert origin.background.awaitables == []

    run(ask)


# What clients ask for


@pytest.mark.parametrize(
    ("control", "age", "expected"),
    [
        ("no-cache", 0, "2"),
        ("max-age=5", 4, "1"),
        ("max-age=5", 5, "2"),
        ("max-age=x", 0, "2"),
        ("min-fresh=5", 5, "1"),
        ("min-fresh=5", 6, "2"),
        ("max-stale", 15, "1"),
        ("max-stale=5", 15, "1"),
        ("max-stale=5", 16, "2"),
        ("max-stale=x", 15, "2"),
        ("x", 10, "2"),
    ],
)
@pytest.mark.parametrize("obeyed", [True, False])
def test_directives_of_clients(
    run: Any, clock: Any, control: str, age: int, expected: str, obeyed: bool
) -> None:
    # Such an entry is kept for longer than it is fresh.
    origin = Origin(clock, "max-age=10, stale-if-error=100", client_directives=obeyed)

    async def ask() -> None:
        await origin.ask()
        clock.now += age
        assert await origin.text(control) == (expected if obeyed else "1" if age < 10 else "2")

    run(ask)


def test_pragma_is_for_clients_without_cache_control(run: Any, clock: Any) -> None:
    origin = Origin(clock, "max-age=10", client_directives=True)

    async def ask() -> None:
        await origin.ask()
        assert await (await origin.ask(Pragma="no-cache")).text() == "2"
        assert await (await origin.ask("max-age=9", Pragma="no-cache")).text() == "2"

    run(ask)


# Many at once


class Gate:
    """An app whose handler waits until a test lets it go on."""

    def __init__(self, clock: Any, answer: Callable[[Context, int], Response]) -> None:
        self.calls = 0
        self.entered = anyio.Event()
        self.gate = anyio.Event()
        self.app: Kit[Any, Any] = Kit()
        self.app.use(cache(clock=clock))

        @self.app.get("/*")
        async def handler(c: Context) -> Response:
            self.calls += 1
            number = self.calls
            self.entered.set()
            await self.gate.wait()
            return answer(c, number)

    async def ask(self, texts: list[str], **headers: str) -> None:
        response = await self.app.request("/", {"headers": headers})
        texts.append(f"{await response.text()} {response.headers.get('cache-status')}")


def stored(c: Context, number: int) -> Response:
    return c.text(str(number), headers={"Cache-Control": "max-age=60"})


def test_one_request_runs_the_handlers_the_others_wait(run: Any, clock: Any) -> None:
    async def ask() -> None:
        gate, texts = Gate(clock, stored), list[str]()
        async with anyio.create_task_group() as group:
            for _ in range(50):
                group.start_soon(gate.ask, texts)
            await anyio.wait_all_tasks_blocked()
            gate.gate.set()
        assert gate.calls == 1
        assert sorted({*texts}) == [
            "1 Kit; fwd=uri-miss; collapsed",
            "1 Kit; fwd=uri-miss; stored",
        ]
        assert len(texts) == 50

    run(ask)


def test_each_variant_is_made_once(run: Any, clock: Any) -> None:
    def varying(c: Context, number: int) -> Response:
        headers = {"Cache-Control": "max-age=60", "Vary": "X-A"}
        return c.text(c.req.header("x-a") or "", headers=headers)

    async def ask() -> None:
        gate = Gate(clock, varying)
        texts: dict[str, list[str]] = {"a": [], "b": [], "c": []}
        gate.gate.set()
        async with anyio.create_task_group() as group:
            for name, found in texts.items():
                for _ in range(10):
                    group.start_soon(
                        lambda found=found, name=name: gate.ask(found, **{"X-A": name})
                    )
        assert gate.calls == 3
        for name, found in texts.items():
            assert len(found) == 10
            assert {each.split()[0] for each in found} == {name}

    run(ask)


def test_each_variant_is_made_once_also_slowly(run: Any, clock: Any) -> None:
    def varying(c: Context, number: int) -> Response:
        headers = {"Cache-Control": "max-age=60", "Vary": "X-A"}
        return c.text(c.req.header("x-a") or "", headers=headers)

    async def ask() -> None:
        gate = Gate(clock, varying)
        texts: dict[str, list[str]] = {"a": [], "b": []}
        async with anyio.create_task_group() as group:
            for name, found in texts.items():
                for _ in range(5):
                    group.start_soon(
                        lambda found=found, name=name: gate.ask(found, **{"X-A": name})
                    )
            await anyio.wait_all_tasks_blocked()
            gate.gate.set()
        assert gate.calls == 2
        assert {each.split()[0] for each in texts["a"]} == {"a"}
        assert {each.split()[0] for each in texts["b"]} == {"b"}

    run(ask)


def test_nobody_waits_for_what_can_not_be_stored(run: Any, clock: Any) -> None:
    """The first requests wait for one; once its response was not stored, all run at once."""

    async def ask() -> None:
        gate, texts = Gate(clock, lambda c, number: c.text(str(number))), list[str]()
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(gate.ask, texts)
            await anyio.wait_all_tasks_blocked()
            assert gate.calls == 1
            gate.gate.set()
        assert gate.calls == 5
        gate.gate = anyio.Event()
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(gate.ask, texts)
            await anyio.wait_all_tasks_blocked()
            assert gate.calls == 10
            gate.gate.set()

    run(ask)


def test_only_so_many_keys_are_remembered_as_not_stored(run: Any, clock: Any) -> None:
    async def ask() -> None:
        gate, texts = Gate(clock, lambda c, number: c.text(str(number))), list[str]()
        gate.gate.set()
        await gate.ask(texts)
        for number in range(1024):
            await gate.app.request(f"/?{number}")
        count = gate.calls
        gate.gate = anyio.Event()
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(gate.ask, texts)
            await anyio.wait_all_tasks_blocked()
            assert gate.calls == count + 1
            gate.gate.set()

    run(ask)


def test_if_the_first_request_is_cancelled_the_next_one_runs(run: Any, clock: Any) -> None:
    async def ask() -> None:
        gate, texts = Gate(clock, stored), list[str]()
        async with anyio.create_task_group() as group:
            scope = anyio.CancelScope()

            async def cancelled() -> None:
                with scope:
                    await gate.ask(texts)

            group.start_soon(cancelled)
            await gate.entered.wait()
            for _ in range(5):
                group.start_soon(gate.ask, texts)
            await anyio.wait_all_tasks_blocked()
            assert gate.calls == 1
            scope.cancel()
            await anyio.wait_all_tasks_blocked()
            assert gate.calls == 2
            gate.gate.set()
        assert gate.calls == 2
        assert {each.split()[0] for each in texts} == {"2"}
        assert len(texts) == 5

    run(ask)


def test_a_waiting_request_can_be_cancelled(run: Any, clock: Any) -> None:
    async def ask() -> None:
        gate, texts = Gate(clock, stored), list[str]()
        async with anyio.create_task_group() as group:
            group.start_soon(gate.ask, texts)
            await gate.entered.wait()
            with anyio.CancelScope() as scope:
                scope.cancel()
                await gate.ask(texts)
            gate.gate.set()
        assert len(texts) == 1

    run(ask)


def test_if_the_first_request_fails_the_others_are_answered(run: Any, clock: Any) -> None:
    def failing(c: Context, number: int) -> Response:
        if number == 1:
            raise ValueError("broken")
        return stored(c, number)

    async def ask() -> None:
        gate, texts = Gate(clock, failing), list[str]()
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(gate.ask, texts)
            await anyio.wait_all_tasks_blocked()
            gate.gate.set()
        assert len(texts) == 5
        assert sum(text.startswith("Internal") for text in texts) == 1

    run(ask)


def test_a_purge_lets_nobody_have_what_was_made_before(run: Any, clock: Any) -> None:
    async def ask() -> None:
        gate, texts = Gate(clock, stored), list[str]()
        app: Kit[Any, Any] = Kit()
        made = cache(clock=clock)
        app.use(made)
        entered, go = anyio.Event(), anyio.Event()
        calls = []

        @app.get("/")
        async def handler(c: Context) -> Response:
            calls.append(c)
            number = len(calls)
            if number == 1:
                entered.set()
                await go.wait()
            return stored(c, number)

        gate.app = app
        async with anyio.create_task_group() as group:
            group.start_soon(gate.ask, texts)
            await entered.wait()
            await made.purge("/other")
            await made.purge("/")
            later: list[str] = []
            await gate.ask(later)
            assert later == ["2 Kit; fwd=uri-miss; stored"]
            go.set()
        assert texts == ["1 Kit; fwd=uri-miss"]
        await gate.ask(texts)
        assert texts[1] == "2 Kit; hit; ttl=60"

    run(ask)


def test_after_a_purge_one_request_runs_the_handlers(run: Any, clock: Any) -> None:
    async def ask() -> None:
        gate, texts = Gate(clock, stored), list[str]()
        gate.app.post("/*", lambda c: c.text("changed"))
        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(gate.ask, texts)
            await anyio.wait_all_tasks_blocked()
            await gate.app.request("/", {"method": "POST"})
            gate.gate.set()
        assert gate.calls == 2
        assert sorted(texts) == [
            "1 Kit; fwd=uri-miss",
            *["2 Kit; fwd=uri-miss; collapsed"] * 8,
            "2 Kit; fwd=uri-miss; stored",
        ]

    run(ask)


def test_an_error_for_one_leaves_the_others_waiting_for_one(run: Any, clock: Any) -> None:
    def refusing(c: Context, number: int) -> Response:
        return c.text("no", 429) if number == 1 else stored(c, number)

    async def ask() -> None:
        gate, texts = Gate(clock, refusing), list[str]()
        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(gate.ask, texts)
            await anyio.wait_all_tasks_blocked()
            gate.gate.set()
        assert gate.calls == 2
        assert len(texts) == 10

    run(ask)


def test_requests_do_not_queue_up_for_errors(run: Any, clock: Any) -> None:
    """After three errors, all that wait run at once; new ones wait for one again."""

    async def ask() -> None:
        gate, texts = Gate(clock, lambda c, number: c.text("no", 503)), list[str]()
        counts = []
        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(gate.ask, texts)
            for _ in range(4):
                await anyio.wait_all_tasks_blocked()
                counts.append(gate.calls)
                opened, gate.gate = gate.gate, anyio.Event()
                opened.set()
        assert counts == [1, 2, 3, 10]
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(gate.ask, texts)
            await anyio.wait_all_tasks_blocked()
            assert gate.calls == 11
            gate.gate.set()

    run(ask)


@pytest.mark.parametrize("status", [304, 404, 429, 500])
def test_what_is_for_one_request_does_not_keep_others_from_waiting(
    run: Any, clock: Any, status: int
) -> None:
    def answer(c: Context, number: int) -> Response:
        return c.body(None, status) if number == 1 else stored(c, number)

    async def ask() -> None:
        gate, texts = Gate(clock, answer), list[str]()
        gate.gate.set()
        await gate.ask(texts)
        gate.gate = anyio.Event()
        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(gate.ask, texts)
            await anyio.wait_all_tasks_blocked()
            gate.gate.set()
        assert gate.calls == 2

    run(ask)


def test_a_request_does_not_wait_for_itself(run: Any, clock: Any) -> None:
    origin = Origin(clock, "max-age=60")

    async def ask_itself(c: Context) -> Response:
        if c.req.header("x-inner"):
            return await origin.answer(c)
        other = "/b" if c.req.path == "/a" else "/a"
        inner = await origin.app.request(other, {"headers": {"X-Inner": "1"}})
        return c.text(await inner.text(), headers={"Cache-Control": "max-age=60"})

    app: Kit[Any, Any] = Kit()
    app.use(origin.cache)
    app.use("/twice", origin.cache)
    app.get("/twice", origin.answer)
    app.get("/*", ask_itself)
    origin.app = app

    async def ask() -> None:
        response = await app.request("/twice")
        assert await response.text() == "1"
        statuses = []

        async def ask_for(path: str) -> None:
            statuses.append((await app.request(path)).status)

        async with anyio.create_task_group() as group:
            group.start_soon(ask_for, "/a")
            group.start_soon(ask_for, "/b")
        assert statuses == [200, 200]

    run(ask)


def test_streams_are_not_waited_for(run: Any, clock: Any) -> None:
    """A slow client would hold up all others."""

    async def ask() -> None:
        go = anyio.Event()

        async def slow() -> AsyncIterator[bytes]:
            await go.wait()
            yield b"whole"

        app: Kit[Any, Any] = Kit()
        app.use(cache(clock=clock))
        app.get("/", lambda c: c.body(slow(), headers={"Cache-Control": "max-age=60"}))
        first = await app.request("/")
        second = await app.request("/")
        go.set()
        assert await first.text() == await second.text() == "whole"
        assert (await app.request("/")).body == b"whole"

    run(ask)


# Stores that fail, or are slow


class Failing(MemoryStore):
    """A store whose operations fail as a test says."""

    def __init__(self, *operations: str) -> None:
        super().__init__()
        self.operations = operations

    def fail(self, operation: str) -> None:
        if operation in self.operations:
            raise OSError("gone")

    async def get(self, key: Any) -> Any:
        self.fail("get")
        return await super().get(key)

    async def set(self, key: Any, stored: Any, ttl: float) -> None:
        self.fail("set")
        await super().set(key, stored, ttl)

    async def delete(self, cache: str, group: str) -> None:
        self.fail("delete")
        await super().delete(cache, group)


def test_an_outage_of_the_store_is_logged_once(
    run: Any, clock: Any, caplog: pytest.LogCaptureFixture
) -> None:
    store = Failing("get", "set", "delete")
    app: Kit[Any, Any] = Kit()
    app.use(cache(clock=clock, store=store, cache_control="max-age=60"))
    app.on(["GET", "POST"], "/*", lambda c: c.text("answer"))

    async def ask(method: str = "GET") -> str | None:
        response = await app.request("/", {"method": method})
        assert await response.text() == "answer"
        return response.headers.get("cache-status")

    async def test() -> None:
        for _ in range(3):
            assert await ask() == "Kit; fwd=uri-miss"
            assert await ask("POST") == "Kit; fwd=method"
        store.operations = ()
        assert await ask("POST") == "Kit; fwd=method"
        assert await ask() == "Kit; fwd=uri-miss; stored"
        assert await ask() == "Kit; hit; ttl=60"
        store.operations = ("get",)  # soon after it, so nothing is logged
        assert await ask() == "Kit; fwd=uri-miss"

    with caplog.at_level(logging.INFO, "kit.cache"):
        run(test)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        (
            "WARNING",
            "The store failed to read /: until it recovers, requests are handled without it",
        ),
        (
            "ERROR",
            "The store failed to remove /: until it recovers, old responses may be sent again",
        ),
        ("INFO", "The store can remove again"),
        ("INFO", "The store can read again"),
    ]


def test_what_could_not_be_written_is_not_said_to_be_stored(
    run: Any, clock: Any, caplog: pytest.LogCaptureFixture
) -> None:
    store = Failing("set")
    origin = Origin(clock, "max-age=60", store=store)

    async def ask() -> None:
        for _ in range(3):
            response = await origin.ask()
            assert response.headers.get("cache-status") == "Kit; fwd=uri-miss"
        store.operations = ()
        response = await origin.ask()
        assert response.headers.get("cache-status") == "Kit; fwd=uri-miss; stored"

    with caplog.at_level(logging.INFO, "kit.cache"):
        run(ask)
    assert [record.getMessage() for record in caplog.records] == [
        "The store failed to write /: until it recovers, responses aren't stored",
        "The store can write again",
    ]


def test_a_path_in_the_log_can_not_forge_a_line(
    run: Any, clock: Any, caplog: pytest.LogCaptureFixture
) -> None:
    app: Kit[Any, Any] = Kit()
    app.use(cache(clock=clock, store=Failing("get", "delete"), cache_control="max-age=60"))
    app.on(["GET", "POST"], "/*", lambda c: c.text("answer"))

    async def ask() -> None:
        for method in ("GET", "POST"):
            await app.request("/x%0AERROR%1B[31m", {"method": method})

    with caplog.at_level(logging.WARNING, "kit.cache"):
        run(ask)
    assert len(caplog.records) == 2
    assert all(record.getMessage().isprintable() for record in caplog.records)


class Slow:
    """A store that is not in memory."""

    def __init__(self) -> None:
        self.kept = MemoryStore()
        self.get, self.set = self.kept.get, self.kept.set
        self.delete, self.clear = self.kept.delete, self.kept.clear


@pytest.mark.parametrize("wait", [True, False])
def test_a_response_waits_for_the_store_if_told_so(run: Any, clock: Any, wait: bool) -> None:
    store = Slow()
    origin = Origin(clock, "max-age=60", store=store, wait=wait)

    async def ask() -> None:
        await origin.ask()
        assert (store.kept.size > 0) is wait
        assert len(origin.background.awaitables) == (0 if wait else 1)
        await origin.background.run()
        assert await origin.text() == "1"

    run(ask)


def test_without_an_execution_context_a_response_waits_for_the_store(run: Any, clock: Any) -> None:
    origin = Origin(clock, "max-age=60", store=Slow())

    async def ask() -> None:
        await origin.app.request("/")
        assert await origin.text() == "1"

    run(ask)
