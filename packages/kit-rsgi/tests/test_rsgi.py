# SPDX-License-Identifier: MIT
"""Kit on an RSGI server written by hand; tests/servers/test_servers.py has a real one."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from anyio import wait_all_tasks_blocked
from rsgi_peer import Http, Scope

from kit import Context, Kit, Limits, Next, Response
from kit.web import ClientDisconnectedError

POST = {"method": "POST"}
KEYS = ("http_version", "client", "server")
TEXT = {"content-type": "text/plain; charset=UTF-8"}


def app_of(handler: Any, path: str = "/*", **options: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit(**options)
    app.all(path, handler)
    return app


async def serve(app: Kit[Any, Any], scope: Scope | None = None, *chunks: bytes | None) -> Http:
    protocol = Http(chunks)
    await app.__rsgi__(scope or Scope(), protocol)
    return protocol


# --- responses ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "handler", "answer"),
    [
        ("GET", lambda c: c.text("hi"), ("bytes", 200, {**TEXT, "content-length": "2"}, b"hi")),
        ("HEAD", lambda c: c.text("hi"), ("empty", 200, {**TEXT, "content-length": "2"})),
        ("GET", lambda c: c.body(None), ("empty", 200, {"content-length": "0"})),
        ("HEAD", lambda c: c.body(None, headers={"x": "1"}), ("empty", 200, {"x": "1"})),
        ("GET", lambda c: c.body(None, 204), ("empty", 204, {})),
        ("GET", lambda c: c.body(None, 304, {"etag": '"x"'}), ("empty", 304, {"etag": '"x"'})),
        (
            "GET",
            lambda c: c.body(None, 200, {"x": "é"}),
            ("empty", 200, {"x": "é", "content-length": "0"}),
        ),
        ("HEAD", lambda c: c.body(["a"]), ("empty", 200, {})),
    ],
)
async def test_response(method: str, handler: Any, answer: Any) -> None:
    assert (await serve(app_of(handler), Scope(method=method))).answer == answer


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_plain_not_found(method: str) -> None:
    kind, status, headers, *body = (await serve(Kit(), Scope(method=method))).answer
    assert (status, headers) == (404, {**TEXT, "content-length": "13"})
    assert (kind, body) == (("bytes", [b"404 Not Found"]) if method == "GET" else ("empty", []))


async def test_middleware_and_errors_are_as_under_asgi() -> None:
    app: Kit[Any, Any] = Kit()

    @app.use
    async def around(c: Context, next: Next) -> None:
        await next()
        c.header("x-error", type(c.error).__name__)

    @app.get("/fails")
    def fails(c: Context) -> Response:
        raise ValueError("secret")

    kind, status, headers, body = (await serve(app, Scope("/fails"))).answer
    assert (kind, status, headers["x-error"], body) == (
        "bytes",
        500,
        "ValueError",
        b"Internal Server Error",
    )
    assert (await serve(app_of(lambda c: 42))).answer[1] == 500
    kept = Response("once")
    again = app_of(lambda c: kept)
    await kept.text()
    assert (await serve(again)).answer[1] == 500


async def test_file_is_sent_by_its_path() -> None:
    class File:
        send_path = "/srv/a.bin"
        closed = False

        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield b"never read"

        async def aclose(self) -> None:
            self.closed = True

    file = File()
    protocol = await serve(app_of(lambda c: c.body(file, headers={"content-length": "9"})))
    assert protocol.answer == ("file", 200, {"content-length": "9"}, "/srv/a.bin")
    assert file.closed


# --- streams -----------------------------------------------------------------------------------


async def test_stream() -> None:
    async def chunks() -> AsyncIterator[str]:
        yield "a"
        await asyncio.sleep(0)
        yield ""
        yield "b"

    protocol = await serve(app_of(lambda c: c.body(chunks())))
    assert protocol.answer == ("stream", 200, {})
    assert protocol.sent == [b"a", b"b"]


@pytest.mark.parametrize("waits", [True, False])
async def test_client_that_leaves_ends_the_stream(waits: bool) -> None:
    ended: list[str] = []
    protocol = Http()

    async def chunks() -> AsyncIterator[str]:
        try:
            while True:
                yield "tick"
                if waits:
                    await asyncio.sleep(0)
                protocol.gone.set()
        finally:
            ended.append("ended")

    await app_of(lambda c: c.body(chunks())).__rsgi__(Scope(), protocol)
    assert (ended, protocol.sent[0]) == (["ended"], b"tick")


async def broken() -> AsyncIterator[bytes]:
    yield b"part"
    raise ValueError("broken")


@pytest.mark.parametrize("waits", [True, False])
async def test_stream_that_fails_is_left_unfinished_until_the_client_leaves(waits: bool) -> None:
    async def fails() -> AsyncIterator[bytes]:
        yield b"part"
        if waits:
            await asyncio.sleep(0)
        raise ValueError("broken")

    protocol = Http()
    with pytest.raises(ValueError, match="broken"):
        await app_of(lambda c: c.body(fails())).__rsgi__(Scope(), protocol)
    await wait_all_tasks_blocked()
    gc.collect()
    assert (protocol.sent, protocol.is_open) == ([b"part"], True)
    protocol.gone.set()
    await wait_all_tasks_blocked()
    gc.collect()
    assert not protocol.is_open


async def test_stream_of_an_incomplete_body_is_left_unfinished() -> None:
    """The app raises nothing, as a client that leaves is no fault, but the stream isn't whole."""

    async def fails() -> AsyncIterator[bytes]:
        yield b"part"
        raise ClientDisconnectedError("gone")

    protocol = Http()
    await app_of(lambda c: c.body(fails())).__rsgi__(Scope(), protocol)
    await wait_all_tasks_blocked()
    gc.collect()
    assert (protocol.sent, protocol.is_open) == ([b"part"], True)
    protocol.gone.set()
    await wait_all_tasks_blocked()


async def test_stream_of_known_length_that_fails_is_ended() -> None:
    protocol = Http()
    app = app_of(lambda c: c.body(broken(), headers={"content-length": "9"}))
    with pytest.raises(ValueError, match="broken"):
        await app.__rsgi__(Scope(), protocol)
    gc.collect()
    assert (protocol.sent, protocol.is_open) == ([b"part"], False)


async def test_nothing_else_has_to_refer_to_an_unfinished_stream() -> None:
    class Granian(Http):
        async def client_disconnect(self) -> None:
            await asyncio.get_running_loop().create_future()

    protocol = Granian()
    kept = weakref.ref(protocol)
    with pytest.raises(ValueError, match="broken"):
        await app_of(lambda c: c.body(broken())).__rsgi__(Scope(), protocol)
    await wait_all_tasks_blocked()
    del protocol
    gc.collect()
    assert kept() is not None


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_stream_is_closed(method: str) -> None:
    ended: list[str] = []

    class Chunks:
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield b"a"

        async def aclose(self) -> None:
            ended.append("ended")

    protocol = await serve(app_of(lambda c: c.body(Chunks())), Scope(method=method))
    assert (protocol.sent, ended) == ([b"a"] if method == "GET" else [], ["ended"])


async def test_host_is_told_once() -> None:
    app = app_of(lambda c: c.json([*c.req.raw.headers.get_all("host")]))
    lines = [("host", "shop.example")]
    protocol = await serve(app, Scope(lines=lines, http_version="2", authority="shop.example"))
    assert protocol.answer[3] == b'["shop.example"]'


async def test_stream_that_ends_is_ended() -> None:
    protocol = await serve(app_of(lambda c: c.body(["a", "b"])))
    gc.collect()
    assert (protocol.sent, protocol.is_open) == ([b"a", b"b"], False)


async def test_response_that_can_not_be_started() -> None:
    class Refusing(Http):
        def response_stream(self, status: int, headers: Any) -> Any:
            raise RuntimeError("RSGI protocol error")

    others = asyncio.all_tasks()
    with pytest.raises(RuntimeError, match="protocol error"):
        await app_of(lambda c: c.body(broken())).__rsgi__(Scope(), Refusing())
    assert asyncio.all_tasks() == others


# --- bodies ------------------------------------------------------------------------------------


async def read(c: Context) -> Response:
    try:
        return c.body(await c.req.bytes())
    except ClientDisconnectedError:
        return c.text("left", 400)


@pytest.mark.parametrize(
    ("lines", "version", "chunks", "body"),
    [
        ([("content-length", "5")], "1.1", [b"he", b"llo", b""], b"hello"),
        ([("content-length", "5")], "1.1", [b"he", b""], b"left"),
        ([("content-length", "0")], "1.1", [b""], b""),
        ([("transfer-encoding", "chunked")], "1.1", [b"he", b"llo", b""], b"hello"),
        ([("transfer-encoding", "chunked")], "1.1", [b"he", b"", b""], b"left"),
        ([("transfer-encoding", "chunked"), ("trailer", "x")], "1.1", [b"he", b"", b""], b"he"),
        ([], "1.1", [None], b""),
        ([], "2", [b"he", b"llo", b""], b"hello"),
        ([], "2", [b""], b""),
        # An empty frame ends the body, or several are within it.
        ([], "2", [b"he", b"llo", b"", b""], b"hello"),
        ([], "2", [b"", b""], b""),
        ([], "2", [b"he", b"", b"", b"", b"llo", b"", b""], b"hello"),
        ([("content-length", "5")], "2", [b"he", b"", b"", b"llo", b""], b"hello"),
        ([("content-length", "5")], "2", [b"he", b"", b""], b"left"),
    ],
)
async def test_body(lines: Any, version: str, chunks: Any, body: bytes) -> None:
    scope = Scope(lines=lines, http_version=version, **POST)
    protocol = await asyncio.wait_for(serve(app_of(read), scope, *chunks), 10)
    assert b"".join(protocol.answer[3:]) == body


async def test_body_beyond_the_limit() -> None:
    app = app_of(read, limits=Limits(max_body_size_bytes=4))
    for lines in ([("content-length", "5")], [("transfer-encoding", "chunked")]):
        protocol = await serve(app, Scope(lines=lines, **POST), b"hel", b"lo", b"")
        assert protocol.answer[1] == 413


async def test_cancelled_reader_loses_nothing() -> None:
    protocol = Http([b"he", None, b"llo", b""])

    async def impatient(c: Context) -> Response:
        body = c.req.raw.body
        chunks = [await anext(body)]
        watching = asyncio.ensure_future(c.req.raw.wait_for_disconnect())
        await wait_all_tasks_blocked()
        watching.cancel()
        await asyncio.wait([watching])
        protocol.more.set()
        chunks += [chunk async for chunk in body]
        return c.body(b"".join(chunks))

    scope = Scope(lines=[("transfer-encoding", "chunked")], **POST)
    await app_of(impatient).__rsgi__(scope, protocol)
    assert protocol.answer[3] == b"hello"


@pytest.mark.parametrize("chunks", [[], [None]], ids=["no body", "a body to come"])
async def test_waiting_for_the_client_ends_with_the_response(chunks: Any) -> None:
    waiting: list[asyncio.Task[bool]] = []

    async def handler(c: Context) -> Response:
        waiting.append(asyncio.ensure_future(c.req.raw.wait_for_disconnect()))
        await wait_all_tasks_blocked()
        return c.text("done")

    lines = [("content-length", "5")] if chunks else []
    await serve(app_of(handler), Scope(lines=lines, **POST), *chunks)
    assert await asyncio.wait_for(waiting[0], 10)


async def test_waiting_again_after_a_cancelled_wait() -> None:
    protocol = Http()

    async def handler(c: Context) -> Response:
        first = asyncio.ensure_future(c.req.raw.wait_for_disconnect())
        await wait_all_tasks_blocked()
        first.cancel()
        await asyncio.wait([first])
        second = asyncio.ensure_future(c.req.raw.wait_for_disconnect())
        await wait_all_tasks_blocked()
        protocol.gone.set()
        return c.text(str(await asyncio.wait_for(second, 10)))

    await app_of(handler).__rsgi__(Scope(), protocol)
    assert protocol.answer[3] == b"True"


async def test_waiting_after_the_response_ends_at_once() -> None:
    told: list[bool] = []

    async def later(c: Context) -> None:
        told.append(await c.req.raw.wait_for_disconnect())

    def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(later(c))
        return c.text("done")

    await asyncio.wait_for(serve(app_of(handler)), 10)
    assert told == [True]


async def test_handler_learns_that_the_client_left() -> None:
    protocol = Http()

    async def handler(c: Context) -> Response:
        protocol.gone.set()
        return c.text(str(await c.req.raw.wait_for_disconnect()))

    await app_of(handler).__rsgi__(Scope(), protocol)
    assert protocol.answer[3] == b"True"


async def test_cancelled_request_runs_its_exits() -> None:
    ended: list[Any] = []

    async def handler(c: Context) -> Response:
        c.add_cleanup(lambda error: ended.append(type(error)))
        await asyncio.get_running_loop().create_future()
        return c.text("never")

    task = asyncio.ensure_future(serve(app_of(handler)))
    await wait_all_tasks_blocked()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [asyncio.CancelledError]


# --- requests ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "route", "param"),
    [
        ("/users/a b", "/users/a b", "a b"),
        ("/users/é", "/users/é", "é"),
        ("/users/50%", "/users/50%25", "50%"),
        ("/users/a?b#c", "/users/a%3Fb%23c", "a?b#c"),
    ],
)
async def test_path(path: str, route: str, param: str) -> None:
    app = app_of(lambda c: c.json([c.req.path, c.req.param("id")]), "/users/:id")
    protocol = await serve(app, Scope(path))
    expected = await app_of(lambda c: c.json([route, param])).request("/")
    assert protocol.answer[3] == await expected.bytes()


async def test_request() -> None:
    seen: dict[str, Any] = {}

    def handler(c: Context) -> Response:
        seen.update(url=c.req.url, query=c.req.query("q"), scope=c.req.raw.scope)
        seen["twice"] = c.req.raw.headers.get_all("x-twice")
        return c.text("")

    lines = [("x-twice", "1"), ("x-twice", "2")]
    scope = Scope(
        "/a b",
        lines=lines,
        http_version="2",
        authority="shop.example",
        scheme="https",
        query_string="q=%20x",
        client="[::1]:50000",
        server="[::1]:443",
    )
    await serve(app_of(handler, get_path=lambda request: "/" + request.method), scope)
    assert seen["url"] == "https://shop.example/a%20b?q=%20x"
    assert (seen["query"], seen["twice"]) == (" x", ["1", "2"])
    found = seen["scope"]
    assert {**found, "headers": [*found["headers"]]} == {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.5"},
        "method": "GET",
        "http_version": "2",
        "path": "/a b",
        "query_string": b"q=%20x",
        "root_path": "",
        "headers": [(b"host", b"shop.example"), (b"x-twice", b"1"), (b"x-twice", b"2")],
        "scheme": "https",
        "client": ("::1", 50000),
        "server": ("::1", 443),
        "extensions": {"http.response.pathsend": {}},
    }


async def test_headers_of_the_scope_are_a_sequence() -> None:
    seen: list[Any] = []

    def handler(c: Context) -> Response:
        assert c.req.raw.scope is not None
        headers = c.req.raw.scope["headers"]
        seen.extend([len(headers), headers[0], headers[1:], repr(headers)])
        return c.text("")

    await serve(app_of(handler), Scope(lines=[("a", "1"), ("b", "2")]))
    assert seen == [2, (b"a", b"1"), [(b"b", b"2")], "[(b'a', b'1'), (b'b', b'2')]"]


async def test_unix_socket() -> None:
    app = app_of(lambda c: c.json([c.req.raw.scope[key] for key in KEYS]))
    scope = Scope(http_version="1", client="unix", server="/run/kit.sock")
    protocol = await serve(app, scope)
    assert protocol.answer[3] == b'["1.0",null,["/run/kit.sock",null]]'


# --- lifespan ----------------------------------------------------------------------------------


def test_lifespan(caplog: pytest.LogCaptureFixture) -> None:
    told: list[Any] = []

    @asynccontextmanager
    async def lifespan(app: Kit[Any, Any]) -> AsyncIterator[dict[str, str]]:
        task = asyncio.current_task()
        yield {"name": "kit"}
        told.append(asyncio.current_task() is task)

    app = app_of(lambda c: c.text(c.env["name"]), lifespan=lifespan)
    loop = asyncio.new_event_loop()
    try:
        app.__rsgi_init__(loop)
        protocol = Http()
        loop.run_until_complete(app.__rsgi__(Scope(), protocol))
        app.__rsgi_del__(loop)
    finally:
        loop.close()
    assert (protocol.answer[3], told) == (b"kit", [True])


def test_lifespan_that_fails() -> None:
    @asynccontextmanager
    async def lifespan(app: Kit[Any, Any]) -> AsyncIterator[None]:
        raise ConnectionError("no database")
        yield

    loop = asyncio.new_event_loop()
    try:
        with pytest.raises(ConnectionError, match="no database"):
            Kit(lifespan=lifespan).__rsgi_init__(loop)
    finally:
        loop.close()


def test_lifespan_that_crashes_while_the_app_is_served(caplog: pytest.LogCaptureFixture) -> None:
    @asynccontextmanager
    async def lifespan(app: Kit[Any, Any]) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            group.create_task(crash())
            yield

    async def crash() -> None:
        raise ValueError("worker crashed")

    loop = asyncio.new_event_loop()
    try:
        app = Kit(lifespan=lifespan)
        app.__rsgi_init__(loop)
        loop.run_until_complete(wait_all_tasks_blocked())
        [record] = caplog.records
        with pytest.raises(ExceptionGroup):
            app.__rsgi_del__(loop)
    finally:
        loop.close()
    assert record.getMessage().startswith("The lifespan ended while the app was served: ")
    assert "worker crashed" in record.getMessage()


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_nothing_of_it_is_imported_for_others() -> None:
    code = "import sys, kit; print([name for name in sys.modules if 'kit.rsgi' in name])"
    assert run_python(code).stdout == "[]\n"


@pytest.mark.parametrize("call", ["__rsgi_init__(None)", "__rsgi__(None, None)"])
def test_missing_package_is_named(call: str) -> None:
    code = f"import sys; sys.modules['kit.rsgi'] = None; from kit import Kit; Kit().{call}"
    found = run_python(code)
    assert found.returncode == 1
    assert "ModuleNotFoundError" in found.stderr
    assert "pip install kit-rsgi" in found.stderr
    assert "--interface asgi" in found.stderr
