# SPDX-License-Identifier: MIT
"""`from_asgi`: errors, clients that leave, and work after the response.

On asyncio and trio. What an application is told, and responses, are in test_from_asgi.py.
"""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from trio.testing import MockClock

from kit import Context, Kit, Request
from kit.asgi import from_asgi
from kit.interface import HandlerError
from kit.testing import ExecutionContext, test_client

Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]

START: dict[str, Any] = {"type": "http.response.start", "status": 200, "headers": []}
END: dict[str, Any] = {"type": "http.response.body"}


def mounted(app: Any, **options: Any) -> Kit:
    return Kit(**options).mount("/m", from_asgi(app))


def chunk(text: str) -> dict[str, Any]:
    return {"type": "http.response.body", "body": text.encode(), "more_body": True}


async def settle() -> None:
    """Waits until nothing goes on any more."""
    await anyio.wait_all_tasks_blocked()


# --- errors ------------------------------------------------------------------------------------


def test_an_error_before_the_response_goes_to_on_error(run: Any, client: Any) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        await receive()
        raise LookupError("lost")

    kit = mounted(app).on_error(lambda error, c: c.text(repr(error), 502))
    answer = run(client().ask, kit)
    assert (answer.status, answer.body) == (502, b"LookupError('lost')")


def test_an_error_within_the_response_breaks_it(run: Any, client: Any) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        await send(START)
        await send(chunk("a"))
        raise LookupError("lost")

    asking = client()
    with pytest.raises(LookupError, match="lost"):
        run(asking.ask, mounted(app))
    assert (asking.body, asking.complete) == (b"a", False)


def test_a_response_without_its_end_is_broken(run: Any, client: Any) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        await send(START)
        await send(chunk("a"))

    asking = client()
    with pytest.raises(RuntimeError, match=r"app .* ended in the middle of its response$"):
        run(asking.ask, mounted(app))
    assert (asking.body, asking.complete) == (b"a", False)


@pytest.mark.parametrize("sent", [[], [START, chunk("a")]], ids=["before", "within"])
def test_an_exit_does_not_end_the_server(run: Any, client: Any, sent: Any) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        for message in sent:
            await send(message)
        raise SystemExit(3)

    seen: list[Exception] = []
    kit = mounted(app).on_error(lambda error, c: seen.append(error) or c.text("sorry", 500))

    async def main() -> None:
        if sent:
            with pytest.raises(HandlerError, match=r"app .* raised SystemExit\(3\)$"):
                await client().ask(kit)
            return
        assert (await client().ask(kit)).body == b"sorry"
        [error] = seen
        assert isinstance(error, HandlerError)
        assert isinstance(error.__cause__, SystemExit)

    run(main)


def test_an_exit_at_startup_ends_the_server() -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        raise SystemExit("no database")

    async def main() -> None:
        async with mounted(app).running():
            pytest.fail("It has not started")

    with pytest.raises(SystemExit, match=r"^no database$"):
        asyncio.run(main())
    gc.collect()  # asyncio logs the task's exception when it is collected


def test_an_error_after_the_response_is_logged(
    run: Any, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """As of Starlette, which answers 500 and raises the error to the server all the same."""

    async def app(scope: Any, receive: Receive, send: Send) -> None:
        await send({**START, "status": 500})
        await send({**END, "body": b"sorry"})
        raise LookupError("lost")

    answer = run(client().ask, mounted(app))
    assert (answer.status, answer.body) == (500, b"sorry")
    [record] = caplog.records
    assert record.getMessage().endswith(" after its response to GET /m/a")
    assert record.exc_info is not None
    assert repr(record.exc_info[1]) == "LookupError('lost')"


async def test_a_request_is_freed_without_the_garbage_collector(client: Any) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        await send(START)
        await send(END)

    kit = mounted(app)
    kept: list[weakref.ref[Any]] = []

    async def call(scope: Any, receive: Receive, send: Send) -> None:
        async def own_receive() -> dict[str, Any]:
            return await receive()

        kept.append(weakref.ref(own_receive))
        await kit(scope, own_receive, send)

    gc.disable()
    try:
        await client().ask(call)
        await asyncio.sleep(0)
        assert [each() for each in kept] == [None]
    finally:
        gc.enable()


# --- who leaves before the end -----------------------------------------------------------------


def test_client_leaves_before_the_response(run: Any, client: Any) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        assert (await receive())["type"] == "http.request"
        asking.gone.set()
        seen.append((await receive())["type"])
        if len(seen) > 1:
            raise LookupError("what frameworks raise then")

    kit = mounted(app).on_error(lambda error, c: c.text(f"never {error}", 500))
    seen: list[str] = []
    for _ in range(2):
        asking = client()
        run(asking.ask, kit)
        # Nobody reads this; what counts is that it is no fault.
        assert asking.sent == [] or asking.status == 400
    assert seen == ["http.disconnect", "http.disconnect"]


def test_client_leaves_in_the_middle_of_its_body(run: Any, client: Any) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        seen.append((await receive())["body"])
        asking.gone.set()
        seen.append((await receive())["type"])

    seen: list[object] = []
    asking = client(b"half", more=True)
    run(asking.ask, mounted(app))
    assert seen == [b"half", "http.disconnect"]


@pytest.mark.parametrize("listens", [True, False])
def test_client_leaves_in_the_middle_of_the_response(
    run: Any, client: Any, caplog: pytest.LogCaptureFixture, listens: bool
) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        async def listen() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        await send(START)
        async with anyio.create_task_group() as group:
            if listens:
                group.start_soon(listen)
            for number in range(100):
                await send(chunk(f"{number};"))
        told.append(number)
        await send(END)
        told.append("background")

    told: list[object] = []
    asking = client(leaves_after=3)
    run(asking.ask, mounted(app))
    assert asking.body == b"0;1;"
    # What is sent to nobody is ignored: the application goes on to its end, unless it listens.
    assert told[0] < 99 if listens else told[0] == 99  # type: ignore[operator]
    assert told[1] == "background"
    assert caplog.records == []


def test_a_body_that_is_closed_is_a_client_that_left(run: Any) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        await send(START)
        await send(chunk("a"))
        assert (await receive())["type"] == "http.request"
        told.append((await receive())["type"])

    async def closed() -> None:
        response = await from_asgi(app)(Request("http://x/"))
        body = response.body
        assert body is not None
        assert await anext(body) == b"a"
        await body.aclose()
        assert told == ["http.disconnect"]

    async def dropped() -> None:
        response = await from_asgi(app)(Request("http://x/"))
        del response
        gc.collect()
        await settle()
        assert told == ["http.disconnect"]

    async def head() -> None:
        response = await mounted(app).request("/m", {"method": "HEAD"})
        assert await response.text() == ""
        assert told == ["http.disconnect"]

    for way in (closed, dropped, head):
        told: list[str] = []
        run(way)


def test_a_response_that_a_middleware_puts_away(run: Any, client: Any) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        await send(START)
        for _ in range(3):
            await send(chunk("a"))
        await send(END)
        done.append(True)

    done: list[bool] = []
    kit = Kit()

    @kit.use()
    async def instead(c: Context, next: Any) -> None:
        await next()
        c.res = None
        c.res = c.text("instead")

    kit.mount("/m", from_asgi(app))

    async def main() -> None:
        assert (await client().ask(kit)).body == b"instead"
        gc.collect()
        await settle()
        assert done == [True]

    run(main)


def test_an_application_that_does_not_heed_a_closed_body_is_cancelled_in_time(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        await send(START)
        await send(chunk("a"))
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(True)

    def jump(seconds: float) -> None:
        if backend == "trio":
            clock.jump(seconds)
        else:
            loop = asyncio.get_running_loop()
            now = loop.time
            monkeypatch.setattr(loop, "time", lambda: now() + seconds)

    async def main() -> None:
        response = await from_asgi(app)(Request("http://x/"))
        body = response.body
        assert body is not None
        await anext(body)
        async with anyio.create_task_group() as group:
            group.start_soon(body.aclose)
            await settle()
            assert ended == []
            jump(60)
        assert ended == [True]

    ended: list[bool] = []
    clock = MockClock()
    options = {"clock": clock} if backend == "trio" else {}
    anyio.run(main, backend=backend, backend_options=options)


@pytest.mark.parametrize("when", ["before", "within", "after"])
def test_a_request_that_is_cancelled_cancels_the_application(
    run: Any, client: Any, when: str
) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        try:
            if when != "before":
                await send(START)
            if when == "after":
                await send(END)
            waiting.set()
            await anyio.sleep_forever()
        finally:
            ended.append(when)

    async def main() -> None:
        nonlocal waiting
        waiting = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(client().ask, mounted(app))
            await waiting.wait()
            await settle()
            group.cancel_scope.cancel()
        await settle()
        assert ended == [when]

    ended: list[str] = []
    waiting: Any = None
    run(main)


async def test_everything_is_cancelled_before_the_application_has_begun() -> None:
    """As when an event loop ends; a task that is cancelled before its first step never makes it."""

    async def app(scope: Any, receive: Receive, send: Send) -> None:
        pytest.fail("it runs")

    handler = from_asgi(app)
    for work in (handler(Request("http://x/")), handler.lifespan().__aenter__()):
        task = asyncio.ensure_future(work)
        await asyncio.sleep(0)
        for each in asyncio.all_tasks() - {asyncio.current_task()}:
            each.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 10)


# --- work after the response -------------------------------------------------------------------


async def with_background(scope: Any, receive: Receive, send: Send) -> None:
    await send(START)
    await send(chunk("body"))
    await settle()  # the response is not yet complete when the handler gives it
    await send(END)
    await scope["state"]["work"]()


def test_background_work_goes_on_when_the_client_has_its_response(run: Any, client: Any) -> None:
    class Watching(client):
        async def send(self, message: dict[str, Any]) -> None:
            await super().send(message)
            if self.complete:
                has_all.set()

    async def main() -> None:
        nonlocal has_all
        has_all = anyio.Event()

        async def work() -> None:
            await has_all.wait()
            done.append(True)

        async def app(scope: Any, receive: Receive, send: Send) -> None:
            scope["state"]["work"] = work
            await with_background(scope, receive, send)

        await Watching().ask(mounted(app))
        assert done == [True]  # the server is told of the end when all is done

    done: list[bool] = []
    has_all: Any = None
    run(main)


def test_background_work_without_an_execution_context(run: Any) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        async def work() -> None:
            await settle()
            done.append(True)

        scope["state"]["work"] = work
        await with_background(scope, receive, send)

    async def main() -> None:
        response = await from_asgi(app)(Request("http://x/"), {}, None)
        assert await response.text() == "body"
        assert done == [True]

    done: list[bool] = []
    run(main)


def test_background_work_in_a_test(run: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        async def work() -> None:
            await settle()
            done.append(True)
            raise LookupError("lost")

        scope["state"]["work"] = work
        await with_background(scope, receive, send)

    async def main() -> None:
        response = await test_client(mounted(app)).m["*"].get(param={"*": "a"})
        with pytest.raises(LookupError, match="lost"):
            await response.text()
        context = ExecutionContext()
        response = await mounted(app).request("/m", execution_ctx=context)
        assert await response.text() == "body"
        with pytest.raises(LookupError, match="lost"):
            await context.finish()
        assert done == [True, True]
        assert caplog.records == []
        # One that takes nothing any more.
        refusing = BrokenContext()
        response = await from_asgi(app)(Request("http://x/"), {}, refusing)
        assert await response.text() == "body"
        assert done == [True, True, True]
        [record] = caplog.records
        assert record.getMessage().endswith(" after its response to GET /")

    class BrokenContext:
        def wait_until(self, awaitable: Any) -> None:
            raise RuntimeError("over")

    done: list[bool] = []
    run(main)
