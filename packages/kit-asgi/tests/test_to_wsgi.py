# SPDX-License-Identifier: MIT
"""`to_wsgi`, called as a server calls it; tests/servers/test_behaviours.py has real servers."""

from __future__ import annotations

import asyncio
import copy
import io
import subprocess
import sys
import textwrap
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest

from kit import Context, Kit, Response
from kit.asgi import WsgiApplication, to_wsgi
from kit.conninfo import get_conn_info
from kit.interface import HandlerError

WAIT_S = 20


class Answer:
    """What an application answered, called as PEP 3333 says."""

    def __init__(self, wsgi_app: Any, path: str = "/", body: bytes = b"", **environ: Any) -> None:
        self.environ: dict[str, Any] = {"REMOTE_ADDR": "192.0.2.7", "QUERY_STRING": ""}
        setup_testing_defaults(self.environ)
        self.environ |= {"PATH_INFO": path, "wsgi.input": io.BytesIO(body)}
        if body:
            self.environ |= {"REQUEST_METHOD": "POST", "CONTENT_LENGTH": str(len(body))}
        self.environ |= environ
        self.status = ""
        self.headers: list[tuple[str, str]] = []
        self.chunks = wsgi_app(self.environ, self.start_response)

    def start_response(self, status: str, headers: Any, exc_info: Any = None) -> Any:
        self.status, self.headers = status, headers
        return lambda data: None

    def body(self) -> bytes:
        """Reads the body as a server does."""
        try:
            return b"".join(self.chunks)
        finally:
            self.chunks.close()


@pytest.fixture
def serve() -> Iterator[Callable[..., WsgiApplication]]:
    """`to_wsgi`; what it made is closed at the end."""
    made: list[WsgiApplication] = []

    def serve(app: Any, **options: Any) -> WsgiApplication:
        made.append(to_wsgi(app, **options))
        return made[-1]

    yield serve
    for application in made:
        application.close()


def test_answer_is_valid_wsgi(serve: Any) -> None:
    app = Kit()
    app.post("/echo", lambda c: _echo(c))
    answer = Answer(validator(serve(app)), "/echo", b"body", CONTENT_TYPE="text/x")
    assert answer.body() == b"text/x 4 body"
    assert answer.status == "200 OK"
    assert ("content-length", "13") in answer.headers


async def _echo(c: Context) -> Response:
    lines = " ".join(str(c.req.header(name)) for name in ("content-type", "content-length"))
    return c.text(f"{lines} {await c.req.text()}")


async def shown(scope: Any, receive: Any, send: Any) -> None:
    """An application that answers with its scope, and without a lifespan."""
    if scope["type"] == "lifespan":
        raise RuntimeError("there is none")
    names = ("path", "raw_path", "root_path", "query_string", "client", "server", "http_version")
    text = repr([scope[name] for name in names])
    headers = [(b"content-type", b"text/plain"), (b"Connection", b"close")]
    await send({"type": "http.response.start", "status": 299, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


@pytest.mark.parametrize(
    ("path", "more", "seen"),
    [
        ("", {}, "'/', b'/', ''"),
        ("/caf\xc3\xa9", {}, "'/café', b'/caf%C3%A9', ''"),
        ("/a/\xff", {}, r"'/a/\ufffd', b'/a/%FF', ''"),
        ("/b", {"SCRIPT_NAME": "/m"}, "'/m/b', b'/m/b', '/m'"),
        ("/a/b", {"REQUEST_URI": "/a%2Fb?q"}, "'/a/b', b'/a%2Fb', ''"),
        ("/a/b", {"RAW_URI": "http://h/a%2Fb"}, "'/a/b', b'/a%2Fb', ''"),
        ("/new", {"RAW_URI": "/rewritten"}, "'/new', b'/new', ''"),
    ],
)
def test_path(serve: Any, path: str, more: Any, seen: str) -> None:
    answer = Answer(serve(shown), path, **more)
    text = answer.body().decode()
    assert text.startswith("[" + seen.replace("\\ufffd", "\ufffd"))
    assert text.endswith(", ('192.0.2.7', 0), ('127.0.0.1', 80), '1.0']")
    assert answer.status == "299 Unknown"
    assert answer.headers == [("content-type", "text/plain")]  # the connection is the server's


def test_headers_and_client(serve: Any) -> None:
    def seen(c: Context) -> Response:
        environ = c.req.raw.scope["wsgi.environ"]  # type: ignore[index]
        return c.json([c.req.header(), get_conn_info(c).remote.port, environ["REMOTE_USER"]])

    headers = {"HTTP_CONTENT_TYPE": "a/b", "CONTENT_TYPE": "", "HTTP_X_NAME": "caf\xe9"}
    more = {"REMOTE_PORT": "5000", "REMOTE_USER": "ada", "HTTP_HOST": "h"}
    assert Answer(serve(Kit().get("/", seen)), **headers, **more).body().decode() == (
        '[{"host":"h","x-name":"café"},5000,"ada"]'
    )
    assert (
        Answer(serve(shown), REMOTE_ADDR="").body().endswith(b", None, ('127.0.0.1', 80), '1.0']")
    )


def test_scope_can_be_copied(serve: Any) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await shown(copy.deepcopy(scope), receive, send)

    assert Answer(serve(app)).body().startswith(b"['/', b'/'")


def test_body_without_a_length(serve: Any) -> None:
    async def size(c: Context) -> Response:
        return c.text(str(len(await c.req.bytes())))

    app = serve(Kit().post("/", size))
    chunked = {"HTTP_TRANSFER_ENCODING": "chunked", "CONTENT_LENGTH": ""}
    whole = Answer(app, body=b"x" * 100_000, **chunked, **{"wsgi.input_terminated": True})
    assert whole.body() == b"100000"
    refused = Answer(app, body=b"x", **chunked)
    assert refused.status == "411 Length Required"
    assert b"".join(refused.chunks) == b"Length Required"


def test_body_that_breaks_off(serve: Any) -> None:
    told: list[str] = []
    over = threading.Event()

    async def read(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            while not told or told[-1] != "http.disconnect":
                told.append((await receive())["type"])
            over.set()

    more = {"CONTENT_LENGTH": "20", "wsgi.input_terminated": True}
    with pytest.raises(ConnectionResetError, match="before its body was complete"):
        Answer(serve(read), body=b"x" * 10, **more)
    assert over.wait(WAIT_S)
    assert told == ["http.request", "http.disconnect"]


def test_lifespan_runs_once_around_the_requests() -> None:
    told: list[str] = []

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[dict[str, str]]:
        told.append("startup")
        yield {"name": "kit"}
        told.append("shutdown")

    app = Kit(lifespan=lifespan).get("/", lambda c: c.text(c.env["name"]))
    application = to_wsgi(app)
    assert told == []
    application.start()
    assert [Answer(application).body() for _ in range(2)] == [b"kit", b"kit"]
    assert told == ["startup"]
    application.close()
    application.close()
    assert told == ["startup", "shutdown"]
    with pytest.raises(RuntimeError, match="can no longer be called: it was closed"):
        Answer(application)


def test_start_that_fails_is_tried_again(serve: Any) -> None:
    starts: list[int] = []

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        starts.append(1)
        if len(starts) == 1:
            raise ConnectionError("no database")
        yield

    application = serve(Kit(lifespan=lifespan).get("/", lambda c: c.text("up")))
    with pytest.raises(HandlerError, match=r"failed at startup(.|\n)*no database"):
        application.start()
    assert Answer(application).body() == b"up"


def test_shutdown_that_fails_is_raised() -> None:
    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        yield
        raise ValueError("not flushed")

    application = to_wsgi(Kit(lifespan=lifespan))
    application.start()
    with pytest.raises(HandlerError, match=r"failed at shutdown(.|\n)*not flushed"):
        application.close()


def test_stream_comes_chunk_by_chunk(serve: Any) -> None:
    go_on = threading.Event()
    closed = threading.Event()

    async def body() -> AsyncIterator[bytes]:
        import anyio

        try:
            yield b"first"
            await anyio.to_thread.run_sync(go_on.wait)
            yield b"second"
            await anyio.sleep_forever()
        finally:
            closed.set()

    answer = Answer(serve(Kit().get("/", lambda c: c.body(body()))))
    chunks = iter(answer.chunks)
    assert [next(chunks), next(chunks)] == [b"", b"first"]
    go_on.set()
    assert next(chunks) == b"second"
    answer.chunks.close()  # the client has left
    assert closed.wait(WAIT_S)


def test_send_after_the_client_has_left_is_an_oserror(serve: Any) -> None:
    errors: list[str] = []
    ended = threading.Event()

    async def stubborn(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        await send({"type": "http.response.start", "status": 200})
        for _ in range(2):
            try:
                while True:
                    await send({"type": "http.response.body", "body": b"x", "more_body": True})
            except OSError as error:
                errors.append(str(error))
        errors.append((await receive())["type"])
        ended.set()

    answer = Answer(serve(stubborn))
    assert [next(answer.chunks) for _ in range(2)] == [b"", b"x"]
    answer.chunks.close()
    assert ended.wait(WAIT_S)
    told = "The client disconnected before its response was complete"
    assert errors == [told, told, "http.disconnect"]


def test_errors_of_the_application(serve: Any) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/late":
            await send({"type": "http.response.start", "status": 200})
        if scope["path"] != "/none":
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        Answer(serve(app))
    with pytest.raises(HandlerError, match="ended without a complete response"):
        Answer(serve(app), "/none")
    late = Answer(serve(app), "/late")
    with pytest.raises(ValueError, match="broken"):
        late.body()


class Unusual(BaseException):
    pass


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), Unusual()], ids=repr)
def test_other_exceptions_reach_the_server_and_end_no_loop(
    serve: Any, error: BaseException
) -> None:
    app = Kit()
    app.get("/", lambda c: c.text("ok"))

    @app.get("/raise")
    async def fails(c: Context) -> None:
        raise error

    application = serve(app)
    with pytest.raises(type(error)):
        Answer(application, "/raise")
    assert Answer(application).body() == b"ok"


def test_cancellation_by_the_application_is_told_from_a_shutdown(serve: Any) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise asyncio.CancelledError

    with pytest.raises(HandlerError, match=r"raised CancelledError\(\)$"):
        Answer(serve(app))


def test_reader_that_is_cancelled_loses_nothing(serve: Any) -> None:
    import anyio

    go_on = threading.Event()

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            go_on.wait(WAIT_S)
            return super().read(size)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        with anyio.move_on_after(0):
            await receive()
        go_on.set()
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": (await receive())["body"]})

    assert Answer(serve(app), body=b"body", **{"wsgi.input": Slow(b"body")}).body() == b"body"


def test_work_after_the_response_ends_before_the_shutdown() -> None:
    told: list[str] = []
    go_on = threading.Event()

    async def later() -> None:
        import anyio

        await anyio.to_thread.run_sync(go_on.wait)
        told.append("later")

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        yield
        told.append("shutdown")

    def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(later())
        return c.text("now")

    application = to_wsgi(Kit(lifespan=lifespan).get("/", handler))
    assert Answer(application).body() == b"now"
    assert told == []
    closing = threading.Thread(target=application.close)
    closing.start()
    go_on.set()
    closing.join(WAIT_S)
    assert told == ["later", "shutdown"]


def test_what_takes_too_long_is_cancelled() -> None:
    import anyio

    begun = threading.Event()
    errors: list[BaseException] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            begun.set()
            await anyio.sleep_forever()

    application = to_wsgi(app, shutdown_timeout=0)

    def ask() -> None:
        try:
            Answer(application)
        except HandlerError as error:
            errors.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    assert begun.wait(WAIT_S)
    application.close()
    asking.join(WAIT_S)
    assert len(errors) == 1
    assert str(errors[0]).endswith(" was cancelled because the server shut down")


@pytest.mark.once
def test_end_of_python_runs_the_shutdown() -> None:
    program = """
        from contextlib import asynccontextmanager
        from kit import Kit
        from kit.asgi import to_wsgi

        @asynccontextmanager
        async def lifespan(app):
            yield
            print("shutdown")

        to_wsgi(Kit(lifespan=lifespan)).start()
        print("end")
        """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (run.stdout, run.stderr, run.returncode) == ("end\nshutdown\n", "", 0)


def test_options() -> None:
    with pytest.raises(ValueError, match="-1") as refused:
        to_wsgi(Kit(), shutdown_timeout=-1)
    assert str(refused.value) == (
        "to_wsgi(shutdown_timeout=-1) can't be used: expected at least 0 seconds"
    )
    with pytest.raises(TypeError, match="use from_wsgi") as wrong:
        to_wsgi(lambda environ, start_response: [])  # type: ignore[arg-type]
    assert str(wrong.value).startswith("to_wsgi() takes an ASGI 3 application")
    assert repr(to_wsgi(shown)).startswith("<WsgiApplication of shown (")
