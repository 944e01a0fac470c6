# SPDX-License-Identifier: MIT
"""What fails within ASGI middleware fails for the app around it, too."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.gzip import GZipMiddleware

from kit import Context, Kit, Next, Response
from kit.asgi import asgi_middleware
from kit.testing import test_client
from kit.websocket import WebSocket, upgrade_websocket

Run = Callable[..., Any]
test_client.__test__ = False  # type: ignore[attr-defined]


class Plain:
    """Changes nothing."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app(scope, receive, send)


class Base(BaseHTTPMiddleware):
    """Ends a response even if its content fails, as most middleware of Starlette apps does."""

    async def dispatch(self, request: Any, call_next: Any) -> Any:
        return await call_next(request)


@pytest.mark.parametrize("middleware", [Plain, Base, GZipMiddleware])
@pytest.mark.parametrize("count", [1, 2])
def test_a_stream_that_fails_is_cut_off(
    run: Run, client: Any, middleware: Any, count: int, caplog: pytest.LogCaptureFixture
) -> None:
    log: list[str] = []
    app = Kit()
    for _ in range(count):
        app.use("*", asgi_middleware(middleware))

    async def rows() -> AsyncIterator[bytes]:
        yield b"row" * 300
        raise ValueError("no more rows")

    async def export(c: Context) -> Response:
        c.add_cleanup(lambda error: log.append(repr(error)))
        c.after_success(log.append, "success")
        return c.body(rows())

    app.get("/rows", export)

    async def ask() -> None:
        server = client()
        with pytest.raises(ValueError, match="no more rows"):
            await server.ask(app, "/rows", headers=[(b"accept-encoding", b"gzip")])
        assert (server.status, server.complete) == (200, False)

    run(ask)
    assert log == ["ValueError('no more rows')"]
    assert caplog.records == []  # the server logs what it gets


def test_middleware_may_answer_for_a_stream_that_failed(run: Run, client: Any) -> None:
    class Buffer(Plain):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            kept: list[Any] = []

            async def keep(message: Any) -> None:
                kept.append(message)

            try:
                await self.app(scope, receive, keep)
            except ValueError as error:
                kept = [
                    {"type": "http.response.start", "status": 502, "headers": []},
                    {"type": "http.response.body", "body": str(error).encode()},
                ]
            for message in kept:
                await send(message)

    app = Kit()
    app.use("*", asgi_middleware(Buffer))

    async def rows() -> AsyncIterator[bytes]:
        yield b"row"
        raise ValueError("no more rows")

    app.get("/rows", lambda c: c.body(rows()))

    async def ask() -> None:
        server = await client().ask(app, "/rows")
        assert (server.status, server.body, server.complete) == (502, b"no more rows", True)

    run(ask)


@pytest.mark.parametrize("middleware", [Plain, Base])
@pytest.mark.parametrize("count", [1, 2])
async def test_the_end_of_a_connection_is_known_outside(
    middleware: Any, count: int, caplog: pytest.LogCaptureFixture
) -> None:
    log: list[str] = []
    app = Kit()

    async def note_end(c: Context, next: Next) -> None:
        c.add_cleanup(lambda error: log.append(repr(error)))
        await next()

    app.use("*", note_end)
    for _ in range(count):
        app.use("*", asgi_middleware(middleware))

    @app.get("/ws")
    @upgrade_websocket
    async def fail(c: Context, ws: WebSocket) -> None:
        async for _ in ws:
            raise ValueError("unexpected text")

    async with test_client(app) as client, client.ws.ws() as ws:
        await ws.send("text")
        assert [text async for text in ws] == []
    assert log == ["ValueError('unexpected text')"]
    assert len(caplog.records) == 1


async def test_a_client_that_leaves_a_connection_is_no_failure() -> None:
    log: list[str] = []

    class Report(Plain):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            try:
                await self.app(scope, receive, send)
            except Exception as error:
                log.append(f"reported {error!r}")
                raise

    app = Kit()
    app.use("*", asgi_middleware(Report))

    @app.get("/ws")
    @upgrade_websocket
    async def wait(c: Context, ws: WebSocket) -> None:
        c.add_cleanup(lambda error: log.append(type(error).__name__))
        await ws.receive()

    async with test_client(app) as client, client.ws.ws():
        pass
    assert log == ["WebSocketDisconnectedError"]


@pytest.mark.parametrize("middleware", [Plain, Base])
def test_a_handler_that_exits_does_not_end_the_server(
    run: Run, client: Any, middleware: Any
) -> None:
    app = Kit()
    app.use("*", asgi_middleware(middleware))

    async def leave(c: Context) -> Response:
        raise SystemExit(3)

    app.get("/leave", leave)

    async def ask() -> None:
        server = await client().ask(app, "/leave")
        assert (server.status, server.complete) == (500, True)

    run(ask)


class AnswerFirst(Plain):
    """Answers while the handlers run, and waits for them."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return

        async def drop(message: Any) -> None: ...

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.app, scope, receive, drop)
            await anyio.wait_all_tasks_blocked()
            await send({"type": "http.response.start", "status": 504, "headers": []})
            await send({"type": "http.response.body", "body": b"too late"})


class CancelFirst(AnswerFirst):
    """Cancels the handlers, and answers."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        with anyio.move_on_after(0.01):
            await self.app(scope, receive, send)
        await send({"type": "http.response.start", "status": 504, "headers": []})
        await send({"type": "http.response.body", "body": b"too late"})


@pytest.mark.parametrize("middleware", [AnswerFirst, CancelFirst])
def test_handlers_that_are_late_change_nothing(run: Run, client: Any, middleware: Any) -> None:
    log: list[Any] = []
    app = Kit()

    async def note(c: Context, next: Next) -> None:
        c.add_cleanup(lambda error: log.append(type(error)))
        await next()
        await anyio.sleep(0.02)
        log.append(c.res.status)

    app.use("*", note, asgi_middleware(middleware))

    async def wait(c: Context) -> Response:
        c.after_success(log.append, "success")
        await anyio.Event().wait()
        return c.text("late")

    app.get("/wait", wait)

    async def ask() -> None:
        server = await client().ask(app, "/wait")
        assert (server.status, server.body) == (504, b"too late")

    run(ask)
    assert log == [504, RuntimeError]


def test_the_handlers_do_not_run_after_an_answer(
    run: Run, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    class Then(Plain):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] != "lifespan":
                await send({"type": "http.response.start", "status": 418, "headers": []})
                await send({"type": "http.response.body", "body": b"tea"})
            await self.app(scope, receive, send)

    app = Kit()
    app.use("*", asgi_middleware(Then))
    app.get("/", lambda c: c.text("handled"))

    async def ask() -> None:
        server = await client().ask(app, "/")
        assert (server.status, server.body) == (418, b"tea")

    run(ask)
    assert "called the application after it had answered itself" in caplog.text


def test_middleware_may_abort_the_response_of_handlers(run: Run, client: Any) -> None:
    class AbortedError(Exception):
        """Raised to stop the handlers."""

    class Replace(Plain):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            async def replace(message: Any) -> None:
                await send({"type": "http.response.start", "status": 410, "headers": []})
                raise AbortedError

            try:
                await self.app(scope, receive, replace)
            except AbortedError:
                await send({"type": "http.response.body", "body": b"gone"})

    app = Kit()
    app.use("*", asgi_middleware(Replace))
    app.get("/", lambda c: c.text("handled"))

    async def ask() -> None:
        server = await client().ask(app, "/")
        assert (server.status, server.body, server.complete) == (410, b"gone", True)

    run(ask)
