# SPDX-License-Identifier: MIT
"""ASGI middleware among the middleware of an app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from hypercorn.middleware import ProxyFixMiddleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.sessions import SessionMiddleware

from kit import Context, HTTPException, Kit, Next, Response
from kit.asgi import AsgiMiddleware, asgi_middleware
from kit.combine import every, except_, some
from kit.conninfo import get_conn_info
from kit.streaming import stream
from kit.testing import WebSocketRefusedError, test_client
from kit.websocket import WebSocket, upgrade_websocket

Run = Callable[..., Any]
test_client.__test__ = False  # type: ignore[attr-defined]


class Recorder:
    """Keeps what passes through it."""

    def __init__(self, app: Any, log: list[Any], **changes: Any) -> None:
        self.app = app
        self.log = log
        self.changes = changes

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def receive_kept() -> Any:
            message = await receive()
            self.log.append(message["type"])
            return message

        async def send_kept(message: Any) -> None:
            self.log.append(message["type"])
            await send(message)

        try:
            await self.app({**scope, **self.changes}, receive_kept, send_kept)
        except Exception as error:
            self.log.append(error)
            raise


class Header:
    """Adds a header line to responses and accepted connections."""

    def __init__(self, app: Any, name: bytes, value: bytes) -> None:
        self.app = app
        self.line = (name, value)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def send_with_line(message: Any) -> None:
            if message["type"] in ("http.response.start", "websocket.accept"):
                message = {**message, "headers": [*message["headers"], self.line]}
            await send(message)

        await self.app(scope, receive, send_with_line)


class Refuse:
    """Answers itself."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        await send({"type": "http.response.start", "status": 418, "headers": [(b"x-tea", b"1")]})
        await send({"type": "http.response.body", "body": b"tea"})


class Base(BaseHTTPMiddleware):
    """What most middleware of Starlette apps is."""

    async def dispatch(self, request: Any, call_next: Any) -> Any:
        response = await call_next(request)
        response.headers["x-base"] = "1"
        return response


async def hello(c: Context) -> Response:
    """A handler."""
    c.header("x-own", "1")
    return c.text(f"hello {c.req.param('name')}")


def create_app(*middleware: Any) -> Kit[Any, Any]:
    app = Kit()
    for each in middleware:
        app.use("*", each)
    app.get("/hello/:name", hello)
    app.post("/echo", echo)
    return app


async def echo(c: Context) -> Response:
    return c.body(await c.req.bytes())


async def test_a_response_passes_through() -> None:
    log: list[Any] = []
    app = create_app(
        asgi_middleware(Header, b"x-first", b"1"),
        asgi_middleware(Recorder, log),
        asgi_middleware(Header, name=b"x-second", value=b"2"),
    )
    response = await app.request("/hello/you")
    assert (response.status, await response.text()) == (200, "hello you")
    assert {*response.headers.keys()} >= {"x-own", "x-first", "x-second"}
    assert response.headers.get("content-length") in ("9", None)
    assert log == ["http.response.start", "http.response.body"]


@pytest.mark.parametrize("path", ["/hello/you", "/missing"])
async def test_well_known_ones(path: str) -> None:
    app = create_app(asgi_middleware(GZipMiddleware, minimum_size=1), asgi_middleware(Base))
    response = await app.request(path, headers={"accept-encoding": "gzip"})
    assert response.status == (404 if path == "/missing" else 200)
    assert response.headers.get("content-encoding") == "gzip"
    assert response.headers.get("x-base") == "1"
    assert (await response.bytes())[:2] == b"\x1f\x8b"


async def test_headers_set_before_are_sent_once() -> None:
    async def before(c: Context, next: Next) -> None:
        c.header("x-before", "1")
        c.header("set-cookie", "a=1")
        await next()
        c.header("x-after", "1")

    app = create_app(before, asgi_middleware(Header, b"x-first", b"1"))
    response = await app.request("/hello/you")
    names = [name for name, _ in response.headers.raw]
    for name in (b"x-before", b"set-cookie", b"x-own", b"x-first", b"x-after", b"content-type"):
        assert names.count(name) == 1, name


async def test_a_request_is_read_as_it_was_changed() -> None:
    class Change:
        def __init__(self, app: Any) -> None:
            self.app = app

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] != "http":
                await self.app(scope, receive, send)
                return

            async def shout() -> Any:
                message = await receive()
                return {**message, "body": message.get("body", b"").upper()}

            changed = {
                **scope,
                "headers": [(b"host", b"shop.example"), (b"content-type", b"text/plain")],
                "client": ("192.0.2.7", 1),
                "scheme": "https",
                "query_string": b"page=2",
                "user": "ada",
            }
            await self.app(changed, shout, send)

    app = create_app(asgi_middleware(Change))

    async def show(c: Context) -> Response:
        scope = c.req.raw.scope or {}
        return c.json(
            [
                c.req.url,
                c.req.query("page"),
                c.req.header("host"),
                get_conn_info(c).remote.address,
                scope["user"],
                await c.req.text(),
            ]
        )

    app.post("/show", show)
    response = await app.request("/show?page=1", method="POST", body="loud")
    assert await response.json() == [
        "https://shop.example/show?page=2",
        "2",
        "shop.example",
        "192.0.2.7",
        "ada",
        "LOUD",
    ]


async def test_a_body_that_was_read_before_is_read_again() -> None:
    async def read(c: Context, next: Next) -> None:
        await c.req.json()
        await next()

    app = create_app(read, asgi_middleware(Recorder, []))
    response = await app.request("/echo", method="POST", body=b'{"a": 1}')
    assert await response.bytes() == b'{"a": 1}'


async def test_a_scope_that_is_copied_with_all_it_has() -> None:
    app = create_app(asgi_middleware(ProxyFixMiddleware))
    app.get("/ip", lambda c: c.text(str(get_conn_info(c).remote.address)))
    response = await app.request("/ip", headers={"x-forwarded-for": "192.0.2.7"})
    assert await response.text() == "192.0.2.7"


async def test_below_a_path_and_within_a_part() -> None:
    part = Kit()
    part.use("*", asgi_middleware(Header, b"x-part", b"1"))
    part.get("/", lambda c: c.text(c.req.url))
    app = Kit()
    app.route("/part", part)
    app.get("/other", lambda c: c.text("other"))
    outer = Kit()
    outer.mount("/outer", app.fetch)
    response = await app.request("/part")
    assert (response.headers.get("x-part"), await response.text()) == ("1", "http://localhost/part")
    response = await outer.request("/outer/part")
    assert (response.headers.get("x-part"), await response.text()) == ("1", "http://localhost/part")
    assert (await app.request("/other")).headers.get("x-part") is None


async def test_one_that_answers_itself() -> None:
    async def before(c: Context, next: Next) -> None:
        c.header("x-before", "1")
        await next()

    app = create_app(before, asgi_middleware(Refuse))
    response = await app.request("/hello/you")
    assert (response.status, await response.text()) == (418, "tea")
    assert (response.headers.get("x-tea"), response.headers.get("x-before")) == ("1", "1")
    assert response.headers.get("x-own") is None


async def test_the_scope_has_the_route() -> None:
    seen: list[Any] = []

    class Look:
        def __init__(self, app: Any) -> None:
            self.app = app

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            route = scope.get("route")
            seen.append(route and (scope["endpoint"], route.path, route.path_format, route.name))
            await self.app(scope, receive, send)

    app = create_app(asgi_middleware(Look))
    await app.request("/hello/you")
    await app.request("/missing")
    assert seen == [(hello, "/hello/:name", "/hello/:name", "hello"), None]


# --- errors --------------------------------------------------------------------------------------


async def test_it_gets_the_exception_of_a_handler_after_the_response(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log: list[Any] = []
    app = create_app(asgi_middleware(Recorder, log), asgi_middleware(Base))
    error = ValueError("boom")

    async def fail(c: Context) -> Response:
        raise error

    app.get("/fail", fail)
    response = await app.request("/fail")
    assert (response.status, response.headers.get("x-base")) == (500, "1")
    assert await response.text() == "Internal Server Error"
    assert log[0] == "http.response.start"
    assert log[-2:] == ["http.response.body", error]
    assert [record.exc_info[1] for record in caplog.records if record.exc_info] == [error]


@pytest.mark.parametrize("status", [404, 503])
async def test_an_exception_that_is_a_response_is_none(status: int) -> None:
    log: list[Any] = []
    app = create_app(asgi_middleware(Recorder, log))

    async def fail(c: Context) -> Response:
        raise HTTPException(status, "no")

    app.get("/fail", fail)
    assert (await app.request("/fail")).status == status
    assert log == ["http.response.start", "http.response.body"]


async def test_its_own_exception_is_handled_by_the_app() -> None:
    class Broken:
        def __init__(self, app: Any) -> None:
            self.app = app

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            raise KeyError("own")

    app = create_app(asgi_middleware(Broken))
    app.on_error(lambda error, c: c.text(f"handled {error!r}", 500))
    response = await app.request("/hello/you")
    assert (response.status, await response.text()) == (500, "handled KeyError('own')")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"path": "/other"}, "changed 'path' of the scope"),
        ({"method": "POST"}, "changed 'method' of the scope"),
    ],
)
async def test_what_another_route_would_be_found_for(changes: Any, text: str) -> None:
    app = create_app(asgi_middleware(Recorder, [], **changes))
    app.on_error(lambda error, c: c.text(f"{type(error).__name__}: {error}", 500))
    response = await app.request("/hello/you")
    assert response.status == 500
    assert text in await response.text()


async def test_the_handlers_run_once() -> None:
    class Twice:
        def __init__(self, app: Any) -> None:
            self.app = app

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            async def drop(message: Any) -> None: ...

            await self.app(scope, receive, drop)
            await self.app(scope, receive, send)

    class OwnScope(Twice):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await self.app({"type": "http"}, receive, send)

    for middleware, text in ((Twice, "called the application twice"), (OwnScope, "that isn't the")):
        app = create_app(asgi_middleware(middleware))
        app.on_error(lambda error, c: c.text(f"{type(error).__name__}: {error}", 500))
        response = await app.request("/hello/you")
        assert text in await response.text()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((None,), "takes a class of ASGI middleware"),
        ((Header,), "can't be called with an application and these arguments: missing"),
        ((Header, b"a", b"b", b"c"), "too many positional arguments"),
        ((lambda app: None,), "which isn't an ASGI application"),
    ],
)
def test_what_is_no_middleware(arguments: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        asgi_middleware(*arguments)


# --- streams -------------------------------------------------------------------------------------


def test_a_stream_ends_when_the_client_leaves(run: Run, client: Any) -> None:
    ended: list[str] = []

    async def ticks() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"tick"
                await anyio.sleep(0.01)
        finally:
            ended.append("generator")

    app = create_app(asgi_middleware(Base), asgi_middleware(Header, b"x-first", b"1"))
    app.get("/ticks", lambda c: c.body(ticks()))

    async def ask() -> None:
        server = client(leaves_after=4)
        await server.ask(app, "/ticks")
        assert server.body.startswith(b"tick")
        assert not server.complete
        with anyio.fail_after(5):
            while not ended:
                await anyio.sleep(0.01)

    run(ask)
    assert ended == ["generator"]


def test_a_handler_sees_that_the_client_has_left(run: Run, client: Any) -> None:
    seen: list[bool] = []
    app = create_app(asgi_middleware(Header, b"x-first", b"1"))

    async def wait(c: Context) -> Response:
        seen.append(await c.req.raw.wait_for_disconnect())
        return c.text("late")

    app.get("/wait", wait)

    async def ask() -> None:
        server = client()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.ask, app, "/wait")
            await anyio.wait_all_tasks_blocked()
            server.gone.set()

    run(ask)
    assert seen == [True]


def test_chunks_arrive_one_by_one(run: Run, client: Any) -> None:
    app = create_app(asgi_middleware(Base))

    async def write(c: Context) -> Response:
        async def chunks(s: Any) -> None:
            for number in range(3):
                await s.write(f"{number} ")
                await s.sleep(0.01)

        return stream(c, chunks)

    app.get("/chunks", write)

    async def ask() -> None:
        server = await client().ask(app, "/chunks")
        assert (server.status, server.body, server.complete) == (200, b"0 1 2 ", True)
        assert len([each for each in server.sent if each.get("body")]) == 3

    run(ask)


def test_a_large_body_is_streamed_both_ways(run: Run, client: Any) -> None:
    app = create_app(asgi_middleware(Base), asgi_middleware(Recorder, []))
    app.post("/echo-stream", lambda c: c.body(c.req.raw.body))
    chunks = [bytes([number]) * 70_000 for number in range(8)]

    async def ask() -> None:
        server = await client(*chunks).ask(app, "/echo-stream")
        assert server.body == b"".join(chunks)
        server = await client(*chunks).ask(app, "/echo")
        assert server.body == b"".join(chunks)

    run(ask)


def test_head_has_no_body(run: Run, client: Any) -> None:
    app = create_app(asgi_middleware(Base))

    async def ask() -> None:
        server = await client().ask(app, "/hello/you", "HEAD")
        assert (server.status, server.body) == (200, b"")

    run(ask)


# --- WebSockets ----------------------------------------------------------------------------------


def create_chat(*middleware: Any) -> Kit[Any, Any]:
    app = create_app(*middleware)

    @app.get("/chat/:room")
    @upgrade_websocket
    async def chat(c: Context, ws: WebSocket) -> None:
        async for text in ws:
            await ws.send(text)

    return app


async def test_a_connection_passes_through() -> None:
    log: list[Any] = []
    app = create_chat(asgi_middleware(Recorder, log), asgi_middleware(Header, b"x-first", b"1"))
    async with test_client(app) as client, client.chat[":room"].ws(param={"room": "a"}) as ws:
        await ws.send("hi")
        assert await ws.receive() == "hi"
    kinds = [each for each in log if each.startswith("websocket.")]
    assert kinds[:4] == [
        "websocket.connect",
        "websocket.accept",
        "websocket.receive",
        "websocket.send",
    ]


async def test_a_handshake_is_refused_by_the_middleware() -> None:
    app = create_chat(asgi_middleware(Refuse))
    async with test_client(app) as client:
        with pytest.raises(WebSocketRefusedError) as raised:
            async with client.chat[":room"].ws(param={"room": "a"}):
                pass
    assert raised.value.response.status == 403


async def test_a_handshake_is_refused_by_the_handlers() -> None:
    log: list[Any] = []

    async def guard(c: Context, next: Next) -> Response:
        return c.text("no", 401)

    app = create_chat(asgi_middleware(Recorder, log), asgi_middleware(Header, b"x-a", b"1"), guard)
    async with test_client(app) as client:
        with pytest.raises(WebSocketRefusedError) as raised:
            async with client.chat[":room"].ws(param={"room": "a"}):
                pass
    assert (raised.value.response.status, await raised.value.response.text()) == (401, "no")
    kinds = [each for each in log if each.startswith("websocket.http.")]
    assert kinds == ["websocket.http.response.start", "websocket.http.response.body"]


# --- lifespan ------------------------------------------------------------------------------------


class Pool:
    """Has a lifespan of its own, and a value that requests find in the state."""

    def __init__(self, app: Any, log: list[str]) -> None:
        self.app = app
        self.log = log

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await self.app(scope, receive, send)
            return

        async def send_kept(message: Any) -> None:
            self.log.append(message["type"])
            await send(message)

        scope["state"]["pool"] = "a pool"
        await self.app(scope, receive, send_kept)


@pytest.mark.parametrize("combine", [None, every, some, lambda each: except_("/none", each)])
async def test_the_lifespan_runs_with_that_of_the_app(combine: Any) -> None:
    log: list[str] = []

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        log.append("app starts")
        yield
        log.append("app stops")

    app = Kit(lifespan=lifespan)
    middleware: Any = asgi_middleware(Pool, log)
    app.use("*", combine(middleware) if combine else middleware)
    app.get("/", lambda c: c.json(c.req.raw.scope["state"]))
    async with app.running():
        assert await (await app.request("/")).json() == {"pool": "a pool"}
        log.append("served")
    assert log == [
        "app starts",
        "lifespan.startup.complete",
        "served",
        "lifespan.shutdown.complete",
        "app stops",
    ]


def test_its_names() -> None:
    middleware = asgi_middleware(SessionMiddleware, secret_key="x")
    assert isinstance(middleware, AsgiMiddleware)
    assert middleware.__name__ == "SessionMiddleware"
    assert "SessionMiddleware" in repr(middleware)
