# SPDX-License-Identifier: MIT
"""A handshake is a GET: routing, middleware, errors, Origin, subprotocols, refusals."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from kit import Context, HTTPException, Kit, Next, Response
from kit.cookie import get_cookie, set_cookie
from kit.interface.metadata import get_facts
from kit.testing import WebSocketRefusedError, test_client
from kit.websocket import Handshake, WebSocket, WSEvents, get_handshake, upgrade_websocket


@upgrade_websocket
async def hello(c: Context, ws: WebSocket) -> None:
    """Says where it is."""
    await ws.send(f"{c.req.path} {ws.url}")


async def answer(peer: Any, app: Kit, path: str = "/", *args: Any, **options: Any) -> Any:
    return await peer(path, *args, **options).serve(app)


# --- middleware and routing --------------------------------------------------------------------


def test_runs_through_middleware_routes_and_use(run: Any, peer: Any) -> None:
    app, inner = Kit(), Kit()
    trace: list[str] = []

    def tracing(name: str) -> Any:
        async def middleware(c: Context, next: Next) -> None:
            trace.append(name)
            await next()
            trace.append(f"{name} {c.res.status}")

        return middleware

    @inner.get("/:id", use=[tracing("use")])
    @upgrade_websocket
    async def chat(c: Context, ws: WebSocket) -> None:
        trace.append("handler")
        assert c.req.method == "GET"
        await ws.send(f"{c.req.param('id')} {c.req.query('q')} {get_cookie(c, 'a')} {c.get('v')}")

    app.use(tracing("app"))

    @app.use
    async def sets(c: Context, next: Next) -> None:
        c.set("v", "set")
        await next()

    app.base_path("/api").route("/chat", inner)
    done = run(answer, peer, app, "/api/chat/7?q=x", {"cookie": "a=b"})
    assert done.messages == ["7 x b set"]
    assert done.closing == (1000, "")
    # The connection follows the handshake: middleware has returned by then.
    assert trace == ["app", "use", "use 101", "app 101", "handler"]


def test_headers_and_cookies_go_out_with_the_acceptance(run: Any, peer: Any) -> None:
    app = Kit()

    @app.use
    async def headers(c: Context, next: Next) -> None:
        c.header("X-Before", "1")
        set_cookie(c, "a", "1")
        await next()
        c.header("X-After", "2")
        set_cookie(c, "b", "2")
        c.res.headers.set("X-Res", "3")
        c.header("Content-Type", "text/plain")  # of no body
        c.header("Sec-WebSocket-Protocol", "mine")  # the server's to write

    app.get("/", hello)
    done = run(answer, peer, app)
    assert done.acceptance["subprotocol"] is None
    assert done.acceptance["headers"] == [
        (b"x-before", b"1"),
        (b"set-cookie", b"a=1; Path=/"),
        (b"x-after", b"2"),
        (b"set-cookie", b"b=2; Path=/"),
        (b"x-res", b"3"),
    ]


def test_env_get_path_and_strict(run: Any, peer: Any) -> None:
    from contextlib import asynccontextmanager

    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[dict[str, str]]:
        yield {"db": "there"}

    app = Kit(lifespan=lifespan, strict=False, get_path=lambda r: "/x" + r.url.partition("com")[2])

    @app.get("/x/a")
    @upgrade_websocket
    async def chat(c: Context, ws: WebSocket) -> None:
        await ws.send(c.env["db"])

    async def main() -> Any:
        async with app.running():
            return await answer(peer, app, "/a/")

    assert run(main).messages == ["there"]


def test_root_path_and_url(run: Any, peer: Any) -> None:
    app = Kit().get("/ws", hello)
    done = run(answer, peer, app, "/sub/ws?a=1", root_path="/sub", scheme="wss")
    assert done.messages == ["/ws wss://example.com/sub/ws?a=1"]


def test_scope_without_optional_keys(run: Any, peer: Any) -> None:
    app = Kit().get("/ws", hello)

    async def main() -> Any:
        one = peer("/ws")
        one.scope = {"type": "websocket", "path": "/ws", "headers": []}
        return await one.serve(app)

    assert run(main).messages == ["/ws ws://localhost/ws"]


def test_wait_until_runs_after_the_connection(run: Any, peer: Any) -> None:
    trace: list[str] = []
    app = Kit()

    async def later() -> None:
        trace.append("later")

    @app.get("/")
    @upgrade_websocket
    async def chat(c: Context, ws: WebSocket) -> None:
        c.execution_ctx.wait_until(later())
        await ws.close()
        trace.append("closed")

    @app.get("/refused")
    def refused(c: Context) -> Response:
        c.execution_ctx.wait_until(later())
        raise HTTPException(401)

    run(answer, peer, app)
    assert trace == ["closed", "later"]
    run(answer, peer, app, "/refused")
    assert trace == ["closed", "later", "later"]


def test_middleware_that_reads_the_body_gets_an_empty_one(run: Any, peer: Any) -> None:
    app = Kit()

    @app.use
    async def reads(c: Context, next: Next) -> None:
        c.header("x-body", repr(await c.req.bytes()))
        await next()

    app.get("/", hello)
    assert run(answer, peer, app).header("x-body") == ["b''"]


@pytest.mark.parametrize("fails", [False, True])
def test_exits_run_after_the_connection(run: Any, peer: Any, fails: bool) -> None:
    trace: list[Any] = []
    app = Kit()

    @app.get("/")
    @upgrade_websocket
    async def chat(c: Context, ws: WebSocket) -> None:
        async def release(error: Any) -> None:
            trace.append(repr(error))

        c.add_cleanup(release)
        await ws.send("hi")
        trace.append("sent")
        if fails:
            raise ValueError("a fault")

    async def in_process() -> None:
        async with test_client(app).index.ws() as ws:
            assert [each async for each in ws] == ["hi"]

    ended = ["sent", "ValueError('a fault')" if fails else "None"]
    run(answer, peer, app)
    assert trace == ended
    run(in_process)
    assert trace == ended * 2


def test_exits_of_a_middleware_wait_in_process(run: Any) -> None:
    trace: list[Any] = []
    app = Kit()

    @app.use
    async def adds(c: Context, next: Next) -> None:
        async def release(error: Any) -> None:
            trace.append("released")

        c.add_cleanup(release)
        await next()

    @app.get("/")
    @upgrade_websocket
    async def chat(c: Context, ws: WebSocket) -> None:
        trace.append("connected")

    app.get("/refused", lambda c: c.text("no", 403))

    async def main() -> None:
        client = test_client(app)
        async with client.index.ws():
            pass
        with pytest.raises(WebSocketRefusedError):
            async with client.refused.ws():
                pass

    run(main)
    assert trace == ["connected", "released", "released"]


@pytest.mark.parametrize("is_refused", [False, True])
def test_exits_of_an_app_within_an_app(run: Any, peer: Any, is_refused: bool) -> None:
    trace: list[str] = []
    inner, app = Kit(), Kit()

    def adding(name: str) -> Any:
        async def adds(c: Context, next: Next) -> None:
            async def release(error: Any) -> None:
                trace.append(name)

            c.add_cleanup(release)
            await next()
            if name == "outer" and is_refused:
                raise HTTPException(403)

        return adds

    inner.use(adding("inner"))

    @inner.get("/")
    @upgrade_websocket
    async def chat(c: Context, ws: WebSocket) -> None:
        trace.append("connected")

    app.use(adding("outer"))
    app.get("/", lambda c: inner.fetch(c.req.raw))

    async def in_process() -> None:
        if is_refused:
            with pytest.raises(WebSocketRefusedError):
                async with test_client(app).index.ws():
                    pass
        else:
            async with test_client(app).index.ws():
                pass

    expected = ["inner", "outer"] if is_refused else ["connected", "inner", "outer"]
    run(answer, peer, app)
    assert trace == expected
    run(in_process)
    assert trace == expected * 2


# --- refusals ----------------------------------------------------------------------------------


def refusing() -> Kit:
    app = Kit()

    @app.use("/401/*")
    async def auth(c: Context, next: Next) -> Response:
        return c.json({"error": "who?"}, 401, {"www-authenticate": "Bearer"})

    @app.use("/after/*")
    async def after(c: Context, next: Next) -> None:
        await next()
        c.res = c.text("changed my mind", 418)

    app.get("/401/ws", hello)
    app.get("/after/ws", hello)

    @app.get("/raise")
    @upgrade_websocket
    def raises(c: Context) -> WSEvents:
        raise HTTPException(403, "no", headers={"x-why": "because"})

    @app.get("/fault")
    @upgrade_websocket
    async def fault(c: Context) -> WSEvents:
        raise ValueError("a fault")

    @app.get("/stream")
    def stream(c: Context) -> Response:
        async def chunks() -> AsyncIterator[bytes]:
            yield b"one "
            yield b"two"

        return c.body(chunks(), 400)

    @app.get("/101")
    def switching(c: Context) -> Response:
        return c.body(None, 101)

    @app.get("/events/:what")
    @upgrade_websocket
    def events(c: Context) -> Any:
        return {"none": None, "unknown": {"on_mesage": print}, "number": {"on_open": 1}}[
            c.req.param("what", str)
        ]

    app.get("/redirect", lambda c: c.redirect("/elsewhere"))
    app.get("/page", lambda c: c.text("a page"))
    app.post("/posted", lambda c: c.text("posted"))
    return app


REFUSALS = {
    "/401/ws": (401, b'{"error":"who?"}'),
    "/after/ws": (418, b"changed my mind"),
    "/raise": (403, b"no"),
    "/fault": (500, b"Internal Server Error"),
    "/stream": (400, b"one two"),
    "/101": (500, b"Internal Server Error"),
    "/redirect": (302, b""),
    "/page": (200, b"a page"),
    "/posted": (404, b"404 Not Found"),
    "/nowhere": (404, b"404 Not Found"),
}


@pytest.mark.parametrize("path", REFUSALS)
def test_responses_are_sent_as_http(run: Any, peer: Any, path: str) -> None:
    done = run(answer, peer, refusing(), path)
    assert done.denial == REFUSALS[path]


def test_a_streamed_refusal_is_sent_in_one_message(run: Any, peer: Any) -> None:
    done = run(answer, peer, refusing(), "/stream")
    assert [each.get("body") for each in done.sent] == [None, b"one two"]


def test_a_large_refusal_is_streamed(run: Any, peer: Any) -> None:
    app = Kit()

    @app.get("/")
    def stream(c: Context) -> Response:
        async def chunks() -> AsyncIterator[bytes]:
            for _ in range(40):
                yield b"x" * 64 * 1024

        return c.body(chunks(), 400)

    done = run(answer, peer, app)
    assert done.denial == (400, b"x" * 40 * 64 * 1024)
    assert len(done.sent) > 20


def test_client_that_leaves_during_a_streamed_refusal(run: Any, peer: Any) -> None:
    app = Kit()

    @app.get("/")
    def stream(c: Context) -> Response:
        async def chunks() -> AsyncIterator[bytes]:
            yield b"one"
            await anyio.sleep_forever()

        return c.body(chunks(), 400)

    async def main() -> Any:
        async with peer().open(app) as one:
            await anyio.wait_all_tasks_blocked()
            one.leave()
        return one

    # The server has to learn that the handshake was answered.
    assert run(main).denial[0] == 400


@pytest.mark.parametrize("path", REFUSALS)
def test_server_that_can_send_none_closes_with_403(run: Any, peer: Any, path: str) -> None:
    done = run(answer, peer, refusing(), path, denies=False)
    assert done.sent == [{"type": "websocket.close", "code": 1000}]


def test_headers_of_a_refusal(run: Any, peer: Any) -> None:
    app = refusing()
    assert run(answer, peer, app, "/raise").header("x-why") == ["because"]
    assert run(answer, peer, app, "/401/ws").header("www-authenticate") == ["Bearer"]
    assert run(answer, peer, app, "/redirect").header("location") == ["/elsewhere"]


@pytest.mark.parametrize(
    ("what", "problem"),
    [
        ("none", "returned NoneType, expected WSEvents(on_message=...)"),
        ("unknown", "returned the unknown event 'on_mesage': expected on_open, on_message"),
        ("number", "returned 1 as on_open, expected a function (event, ws)"),
    ],
)
def test_wrong_events(
    run: Any, peer: Any, caplog: pytest.LogCaptureFixture, what: str, problem: str
) -> None:
    assert run(answer, peer, refusing(), f"/events/{what}").denial[0] == 500
    assert problem in str(caplog.records[0].exc_info)


def test_on_error_and_not_found(run: Any, peer: Any) -> None:
    app, inner = Kit(), Kit()
    inner.on_error(lambda error, c: c.text(f"inner {error}", 409))
    inner.get("/ws", upgrade_websocket(lambda c: WSEvents(), origins="https://a.example"))
    app.route("/in", inner)
    app.not_found(lambda c: c.text("nothing", 404, {"x-own": "1"}))
    done = run(answer, peer, app, "/in/ws", {"origin": "https://b.example"})
    assert done.denial == (409, b"inner 403 Pages of this origin may not connect")
    assert run(answer, peer, app, "/x").header("x-own") == ["1"]


def test_method_not_allowed(run: Any, peer: Any) -> None:
    app = Kit(method_not_allowed=True).post("/posted", lambda c: c.text(""))
    done = run(answer, peer, app, "/posted")
    assert (done.denial[0], done.header("allow")) == (405, ["OPTIONS, POST"])


def test_client_that_left_before_the_handshake(run: Any, peer: Any) -> None:
    async def main() -> Any:
        one = peer("/")
        one._queue.clear()
        one.leave(1006)
        return await one.serve(Kit().get("/", hello))

    assert run(main).sent == []


def test_client_that_leaves_during_the_handshake(run: Any, peer: Any) -> None:
    begun: list[int] = []

    @upgrade_websocket
    async def chat(c: Context, ws: WebSocket) -> None:
        begun.append(1)

    async def main() -> Any:
        one = peer("/")
        one.failing = OSError("gone")
        return await one.serve(Kit().get("/", chat))

    assert run(main).sent == []
    assert begun == []


def test_a_package_is_told_when_the_acceptance_fails(run: Any, peer: Any) -> None:
    told: list[str] = []
    app = Kit()

    @app.get("/")
    async def hands_on(c: Context) -> Response:
        handshake = get_handshake(c.req.raw)
        assert handshake is not None
        return handshake.accept(unreachable, on_refusal=lambda: told.append("refused"))

    async def unreachable(receive: Any, send: Any) -> None:
        raise AssertionError("unreachable")

    async def main() -> None:
        one = peer("/")
        one.failing = RuntimeError("a server that fails")
        with pytest.raises(RuntimeError, match="a server that fails"):
            await one.serve(app)

    run(main)
    assert told == ["refused"]


def test_middleware_learns_that_the_client_left(run: Any, peer: Any) -> None:
    seen: list[bool] = []
    app = Kit()

    @app.use
    async def waits(c: Context, next: Next) -> None:
        seen.append(await c.req.raw.wait_for_disconnect())

    @app.get("/")
    @upgrade_websocket
    async def chat(c: Context, ws: WebSocket) -> None:
        raise AssertionError("unreachable")

    async def main() -> None:
        async with peer("/").open(app):
            pass

    run(main)
    assert seen == [True]


def test_in_the_connection_nobody_else_is_told_of_messages(run: Any, peer: Any) -> None:
    seen: list[Any] = []
    app = Kit()

    @app.get("/")
    @upgrade_websocket
    async def chat(c: Context, ws: WebSocket) -> None:
        seen.append(await c.req.raw.wait_for_disconnect())
        seen.append(await ws.receive())

    async def main() -> None:
        async with peer("/").open(app) as one:
            one.say("a")
            await one.wait(lambda: one.over)

    run(main)
    assert seen == [False, "a"]


# --- a request that is no handshake --------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_plain_request_is_426(run: Any, method: str) -> None:
    app = Kit().get("/ws", hello)
    response = run(app.request, "/ws", method=method)
    assert response.status == 426
    assert response.headers.get("upgrade") == "websocket"
    assert response.headers.get("connection") == "Upgrade"


def test_426_over_http_2_has_no_header_of_the_connection(run: Any, client: Any) -> None:
    app = Kit().get("/ws", hello)
    done = run(client().ask, app, "/ws", http_version="2")
    assert (done.status, done.header("upgrade"), done.header("connection")) == (426, [], [])


def test_server_without_websockets_is_named(
    run: Any, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    app = Kit().get("/ws", hello)
    headers = [(b"host", b"a"), (b"upgrade", b"WebSocket"), (b"connection", b"upgrade")]
    assert run(client().ask, app, "/ws", headers=headers).status == 426
    assert [record.getMessage() for record in caplog.records] == [
        "The server handed a WebSocket handshake on as an ordinary request: it supports no "
        'WebSockets; for uvicorn, install "uvicorn[standard]"'
    ]


# --- Origin --------------------------------------------------------------------------------------


async def is_b(origin: str, c: Context) -> bool:
    await anyio.sleep(0)
    return origin == "https://b.example"


@pytest.mark.parametrize(
    ("origins", "origin", "passes"),
    [
        (None, None, True),
        (None, "http://example.com", True),
        (None, "https://example.com", True),  # a proxy may have ended TLS
        (None, "http://example.com:8080", False),
        (None, "https://example.com.evil.example", False),
        (None, "null", False),
        (None, "http://example.com, http://example.com", False),
        ("https://a.example", "https://a.example", True),
        ("https://a.example", "https://A.example", False),
        ("https://a.example", "http://a.example", False),
        ("https://a.example", "http://example.com", False),
        (["https://a.example", "http://localhost:5173"], "http://localhost:5173", True),
        ("https://a.example", None, True),
        ("*", "https://evil.example", True),
        ("*", "null", True),
        (is_b, "https://b.example", True),
        (is_b, "https://a.example", False),
        (lambda origin, c: True, "https://a.example, https://b.example", False),
    ],
)
def test_origin(run: Any, peer: Any, origins: Any, origin: str | None, passes: bool) -> None:
    app = Kit().get("/", upgrade_websocket(hello.__wrapped__, origins=origins))
    done = run(answer, peer, app, "/", {} if origin is None else {"origin": origin})
    if passes:
        assert done.messages
    else:
        assert done.denial == (403, b"Pages of this origin may not connect")


async def is_known(origin: str) -> bool:
    return origin == "https://a.example"


async def forgets_await(origin: str, c: Context) -> Any:
    return is_known(origin)


def test_an_answer_that_nothing_has_awaited_is_awaited(run: Any, peer: Any) -> None:
    app = Kit().get("/", upgrade_websocket(hello.__wrapped__, origins=forgets_await))
    done = run(answer, peer, app, "/", {"origin": "https://evil.example"})
    assert done.denial == (403, b"Pages of this origin may not connect")


def test_function_that_returns_no_answer_lets_nobody_in(run: Any, peer: Any) -> None:
    failed: list[str] = []

    def note(error: Exception, c: Context) -> Response:
        failed.append(str(error))
        return c.text("failed", 500)

    app = Kit().on_error(note)
    origins: Any = lambda origin, c: (each for each in ())  # noqa: E731
    app.get("/", upgrade_websocket(hello.__wrapped__, origins=origins))
    done = run(answer, peer, app, "/", {"origin": "https://evil.example"})
    assert done.denial == (500, b"failed")
    assert failed == [
        "upgrade_websocket(origins=...) returned generator: expected True or False; "
        "await coroutines, raise exceptions, and write return, not yield"
    ]


def test_refused_origin_is_logged(run: Any, peer: Any, caplog: pytest.LogCaptureFixture) -> None:
    run(answer, peer, Kit().get("/", hello), "/", {"origin": "http://localhost:5173"})
    assert [(r.levelno, r.getMessage()) for r in caplog.records] == [
        (
            logging.WARNING,
            "Refused a WebSocket at /: pages of http://localhost:5173 may not connect; if they "
            "should, name the origin in upgrade_websocket(origins=[...])",
        )
    ]


# --- subprotocols --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("known", "offered", "chosen"),
    [
        ((), (), ""),
        ((), ("a",), ""),
        ("a", ("a",), "a"),
        (["b", "a"], ("a", "b"), "b"),
        (["b", "a"], ("c", "a"), "a"),
        (["a"], (), ""),
        (["a"], ("A",), None),
        (["a", "b"], ("c",), None),
    ],
)
def test_subprotocols(run: Any, peer: Any, known: Any, offered: Any, chosen: str | None) -> None:
    @upgrade_websocket(protocols=known)
    async def chat(c: Context, ws: WebSocket) -> None:
        await ws.send(ws.protocol)

    done = run(answer, peer, Kit().get("/", chat), protocols=offered)
    if chosen is None:
        assert done.denial == (400, f"The subprotocol must be one of: {', '.join(known)}".encode())
    else:
        assert done.messages == [chosen]
        assert done.acceptance["subprotocol"] == (chosen or None)


def test_cve_2026_35523_no_subprotocol_skips_the_guard(run: Any, peer: Any) -> None:
    """In the advisory, a client that asked for a legacy subprotocol was not authenticated."""
    app = Kit()

    @app.use("/graphql")
    async def guard(c: Context, next: Next) -> None:
        if c.req.header("authorization") != "Bearer secret":
            raise HTTPException(401)
        await next()

    @app.get("/graphql")
    @upgrade_websocket(protocols=["graphql-transport-ws", "graphql-ws"])
    async def graphql(c: Context, ws: WebSocket) -> None:
        await ws.send(ws.protocol)

    for offered in ((), ("graphql-ws",), ("graphql-transport-ws",), ("unknown",)):
        assert run(answer, peer, app, "/graphql", protocols=offered).denial[0] == 401
    allowed = {"authorization": "Bearer secret"}
    done = run(answer, peer, app, "/graphql", allowed, protocols=("graphql-ws",))
    assert done.messages == ["graphql-ws"]
    # A subprotocol that the app doesn't name never reaches the handler.
    assert run(answer, peer, app, "/graphql", allowed, protocols=("legacy",)).denial[0] == 400


# --- wrong calls ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"origins": "example.com"}, ValueError, "expected only scheme, host and port, in"),
        ({"origins": ["*"]}, ValueError, "expected an origin such as 'https://example.com'"),
        ({"origins": []}, ValueError, "expected at least one origin, or None for that of the"),
        ({"origins": 1}, TypeError, "takes a str or a list of them, not 1"),
        ({"origins": lambda origin: True}, TypeError, "takes a function (origin, c): got the"),
        ({"protocols": ["a b"]}, ValueError, "expected a token such as 'chat.v2' (RFC 6455"),
        ({"max_message_size_bytes": 0}, ValueError, "expected at least 1 byte"),
        ({"cancel_on_disconnect": 1}, TypeError, "takes a bool, not 1"),
    ],
)
def test_wrong_options(options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        upgrade_websocket(**options)
    assert text in str(raised.value)


def test_wrong_functions() -> None:
    with pytest.raises(TypeError) as raised:
        upgrade_websocket(5)  # type: ignore[call-overload]
    assert str(raised.value) == "upgrade_websocket() takes a function (c, ws), not 5"

    def three(c: Any, ws: Any, more: Any) -> None: ...

    with pytest.raises(TypeError) as raised:
        upgrade_websocket(three)  # type: ignore[arg-type]
    assert "takes a handler (c, ws)" in str(raised.value)
    assert "three(c: 'Any', ws: 'Any', more: 'Any')" in str(raised.value)


async def upgraded_twice(c: Any, ws: Any) -> None: ...


def test_a_handler_that_was_upgraded_before() -> None:
    with pytest.raises(TypeError) as raised:
        upgrade_websocket(upgrade_websocket(upgraded_twice))  # type: ignore[arg-type]
    assert str(raised.value).startswith("upgrade_websocket() was given upgraded_twice")


def of_another_framework(websocket: Any) -> None: ...
def swapped(ws: Any, c: Any) -> None: ...


@pytest.mark.parametrize("function", [of_another_framework, swapped])
def test_functions_that_take_the_connection_first(function: Any) -> None:
    with pytest.raises(TypeError) as raised:
        upgrade_websocket(function)
    assert str(raised.value).startswith(
        "upgrade_websocket() takes a handler (c, ws), or a function (c) that returns WSEvents: "
        f"got the signature {function.__name__}("
    )


def test_plain_function_as_handler(run: Any, peer: Any, caplog: pytest.LogCaptureFixture) -> None:
    def plain(c: Any, ws: Any) -> None: ...

    app = Kit().get("/", upgrade_websocket(plain))  # type: ignore[arg-type]
    assert run(answer, peer, app).closing == (1011, "Internal Server Error")
    assert "returned NoneType: write `async def` for a handler (c, ws)" in str(
        caplog.records[0].exc_info
    )


def test_generator_as_handler(run: Any, peer: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def yields(c: Any, ws: Any) -> Any:
        yield "a"

    app = Kit().get("/", upgrade_websocket(yields))
    assert run(answer, peer, app).closing == (1011, "Internal Server Error")
    assert "is a generator: send messages with ws.send() in place of `yield`" in str(
        caplog.records[0].exc_info
    )


@pytest.mark.parametrize("cancels", [False, True])
def test_handler_that_returns_a_response(
    run: Any, peer: Any, caplog: pytest.LogCaptureFixture, cancels: bool
) -> None:
    @upgrade_websocket(cancel_on_disconnect=cancels)  # type: ignore[arg-type]
    async def refuses(c: Context, ws: WebSocket) -> Response:
        return c.text("members only", 401)

    done = run(answer, peer, Kit().get("/", refuses))
    assert done.closing == (1011, "Internal Server Error")
    assert str(caplog.records[0].exc_info[1]).endswith(  # type: ignore[index]
        "returned a Response, but the connection was accepted before: refuse a handshake in "
        "middleware, such as use=[...] of the route, and end a connection with ws.close()"
    )


def test_the_handler_looks_like_its_function() -> None:
    assert (hello.__name__, hello.__doc__) == ("hello", "Says where it is.")
    facts = get_facts(hello)
    assert facts.responses == {101: "Switching Protocols", 426: "Upgrade Required"}
    assert facts.others == {"kit_websocket": True}


# --- for hosts and packages ----------------------------------------------------------------------


def test_get_handshake_a_plain_request() -> None:
    from kit import Request

    assert get_handshake(Request("http://localhost/")) is None


def test_a_later_acceptance_takes_the_place_of_an_earlier_one(run: Any) -> None:
    told: list[str] = []

    async def main() -> None:
        async def nothing(*args: Any) -> Any: ...

        handshake = Handshake({"type": "websocket", "path": "/"}, nothing, nothing)
        with pytest.raises(RuntimeError) as raised:
            await handshake.converse(Response(None, status=101))
        assert str(raised.value) == (
            "converse() was called for a connection that no handler accepted"
        )
        handshake.accept(nothing, on_refusal=lambda: told.append("first"))
        response = handshake.accept(nothing, on_refusal=lambda: told.append("second"))
        assert told == ["first"]
        assert response.status == 101
        assert handshake.is_accepted(response)
        assert not handshake.is_accepted(Response("no"))

    run(main)
    assert told == ["first", "second"]
