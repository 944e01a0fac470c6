# SPDX-License-Identifier: MIT
"""A CancelledError that a handler's own code raises is an error; a cancellation goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest
from rsgi_peer import Http, Scope

from kit import Context, Kit, Next, Response
from kit.websocket import WebSocket, WSEvents, upgrade_websocket


async def await_a_cancelled_task() -> None:
    task = asyncio.ensure_future(asyncio.sleep(60))
    task.cancel()
    await task


async def raise_it() -> None:
    raise asyncio.CancelledError("by hand")


FAILING = [await_a_cancelled_task, raise_it]


async def in_a_handler(c: Context, fail: Any) -> Response:
    await fail()
    return c.text("not reached")


async def before_next(c: Context, next: Next) -> None:
    await c.get("fail")()
    await next()


async def after_next(c: Context, next: Next) -> None:
    await next()
    await c.get("fail")()


def answering(c: Context) -> Response:
    return c.text("ok")


def app_that_fails(place: str, fail: Any, ended: list[object]) -> Kit[Any, Any]:
    """An app that raises in one place, below a guard that cleans up after `next`."""
    app: Kit[Any, Any] = Kit()

    @app.on_error
    def on_error(error: Exception, c: Context) -> Response:
        ended.append(error)
        return c.text("handled", 500)

    async def guard(c: Context, next: Next) -> None:
        c.set("fail", fail)
        await next()
        ended.append("guard")

    async def leave(error: object) -> None:
        ended.append(("exit", type(error)))

    def endpoint(c: Context) -> Any:
        c.add_cleanup(leave)
        return in_a_handler(c, fail)

    add: dict[str, Callable[[], object]] = {
        "alone": lambda: app.get("/", endpoint),
        "below a guard": lambda: app.use(guard).get("/", endpoint),
        "before next": lambda: app.use(guard).use(before_next).get("/", answering),
        "after next": lambda: app.use(guard).use(after_next).get("/", answering),
        "not_found": lambda: app.use(guard).not_found(endpoint),
        "sub-app": lambda: app.use(guard).route("/", Kit().get("/", endpoint)),
    }
    add[place]()
    return app


PLACES = ["alone", "below a guard", "before next", "after next", "not_found", "sub-app"]


async def by_request(app: Kit[Any, Any], client: Any) -> tuple[int, bytes]:
    response = await app.request("/")
    return response.status, await response.bytes()


async def by_asgi(app: Kit[Any, Any], client: Any) -> tuple[int, bytes]:
    answer = await client().ask(app)
    return answer.check().status, answer.body


async def by_rsgi(app: Kit[Any, Any], client: Any) -> tuple[int, bytes]:
    protocol = Http(())
    await app.__rsgi__(Scope(), protocol)
    return protocol.answer[1], protocol.answer[3]


ENGINES = pytest.mark.parametrize("engine", [by_request, by_asgi, by_rsgi])


@ENGINES
@pytest.mark.parametrize("fail", FAILING)
@pytest.mark.parametrize("place", PLACES)
async def test_it_is_an_error(place: str, fail: Any, engine: Any, client: Any) -> None:
    ended: list[Any] = []
    assert await engine(app_that_fails(place, fail, ended), client) == (500, b"handled")
    error = ended[0]
    assert type(error) is RuntimeError
    assert isinstance(error.__cause__, asyncio.CancelledError)
    assert str(error) == (
        f"The code raised {error.__cause__!r}, but was not cancelled itself: it awaited a task or "
        "future that was, or raised it. Catch it where that is awaited"
    )
    if place not in ("alone", "not_found"):  # whose exceptions pass through `next`
        assert "guard" in ended
    if place not in ("before next", "after next"):
        assert ("exit", RuntimeError) in ended


@ENGINES
async def test_without_on_error_it_is_logged(
    engine: Any, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    app = Kit().get("/", lambda c: raise_it())
    assert await engine(app, client) == (500, b"Internal Server Error")
    (record,) = caplog.records
    assert record.exc_info is not None
    assert type(record.exc_info[1]) is RuntimeError


@ENGINES
async def test_on_error_raises_it(engine: Any, client: Any) -> None:
    app: Kit[Any, Any] = Kit()
    app.get("/", lambda c: c.text(str(1 // 0)))
    app.on_error(lambda error, c: raise_it())
    assert await engine(app, client) == (500, b"Internal Server Error")


@ENGINES
async def test_an_exit_raises_it(
    engine: Any, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    ended: list[object] = []
    app: Kit[Any, Any] = Kit()

    @app.get("/")
    def handler(c: Context) -> Response:
        c.add_cleanup(lambda error: ended.append(type(error)))
        c.add_cleanup(lambda error: raise_it())
        return c.text("ok")

    assert await engine(app, client) == (200, b"ok")
    assert ended == [RuntimeError]
    assert [r.message for r in caplog.records] == [
        "An exit of a request failed; its response was sent before"
    ]


@pytest.mark.parametrize("fail", FAILING)
async def test_a_wait_until_task_raises_it(
    fail: Any, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    ended: list[object] = []

    async def other() -> None:
        ended.append("other")

    app: Kit[Any, Any] = Kit()

    @app.get("/")
    def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(fail())
        c.execution_ctx.wait_until(other())
        return c.text("ok")

    assert (await by_asgi(app, client)) == (200, b"ok")
    assert ended == ["other"]
    assert [r.message for r in caplog.records] == [
        "A wait_until task failed; its response was sent before"
    ]


async def test_a_streamed_body_raises_it(client: Any) -> None:
    ended: list[object] = []

    async def body() -> AsyncIterator[str]:
        yield "a"
        await raise_it()

    app: Kit[Any, Any] = Kit()

    @app.get("/")
    def handler(c: Context) -> Response:
        c.add_cleanup(lambda error: ended.append(type(error)))
        return c.body(body())

    with pytest.raises(RuntimeError, match="was not cancelled itself"):
        await client().ask(app)
    assert ended == [RuntimeError]


@upgrade_websocket
async def by_handler(c: Context, ws: WebSocket) -> None:
    await ws.receive()
    await raise_it()


by_events = upgrade_websocket(lambda c: WSEvents(on_message=lambda event, ws: raise_it()))


@pytest.mark.parametrize("handler", [by_handler, by_events])
async def test_a_websocket_handler_raises_it(
    handler: Any, peer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    app: Kit[Any, Any] = Kit()
    app.get("/", handler)
    connection = peer()
    connection.say("x")
    await connection.serve(app)
    assert connection.closing == (1011, "Internal Server Error")
    (record,) = [r for r in caplog.records if r.name == "kit"]
    assert record.exc_info is not None
    assert type(record.exc_info[1]) is RuntimeError


async def test_on_error_of_events_gets_it(peer: Any) -> None:
    errors: list[object] = []
    events = WSEvents(
        on_message=lambda event, ws: raise_it(),
        on_error=lambda event, ws: errors.append(type(event.error)),
    )
    app: Kit[Any, Any] = Kit()
    app.get("/", upgrade_websocket(lambda c: events))
    connection = peer()
    connection.say("x", "y")
    connection.leave()
    await connection.serve(app)
    assert errors == [RuntimeError, RuntimeError]


@pytest.mark.parametrize("how", ["task.cancel", "timeout", "cancel scope"])
@pytest.mark.parametrize("place", PLACES)
async def test_a_cancellation_goes_on(place: str, how: str, client: Any) -> None:
    begun = asyncio.Event()
    ended: list[object] = []

    async def wait() -> None:
        begun.set()
        await asyncio.sleep(3600)

    app = app_that_fails(place, wait, ended)
    if how == "task.cancel":
        task = asyncio.ensure_future(client().ask(app))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    elif how == "timeout":

        async def ask_within_a_timeout() -> None:
            async with asyncio.timeout(3600) as limit:
                task = asyncio.ensure_future(begun.wait())
                task.add_done_callback(lambda task: limit.reschedule(0))
                await client().ask(app)

        with pytest.raises(TimeoutError):
            await ask_within_a_timeout()
    else:
        with anyio.CancelScope() as scope:
            task = asyncio.ensure_future(begun.wait())
            task.add_done_callback(lambda task: scope.cancel())
            await client().ask(app)
        assert scope.cancelled_caught
    assert not [each for each in ended if isinstance(each, Exception) or each == "guard"]


def test_on_trio_too(run: Any, backend: str, client: Any) -> None:
    """Code made for asyncio may raise it there; trio's own can't be raised by others."""
    ended: list[Any] = []
    app = app_that_fails("below a guard", raise_it, ended)
    assert run(by_asgi, app, client) == (500, b"handled")
    assert type(ended[0]) is RuntimeError
    assert "guard" in ended


def test_other_base_exceptions_go_on(run: Any, client: Any) -> None:
    class Interrupt(BaseException):
        pass

    async def fail() -> None:
        raise Interrupt

    ended: list[object] = []
    with pytest.raises(Interrupt):
        run(by_asgi, app_that_fails("below a guard", fail, ended), client)
    assert ended == [("exit", Interrupt)]
