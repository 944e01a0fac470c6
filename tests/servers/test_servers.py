# SPDX-License-Identifier: MIT
"""A small app served by real servers, each in a process of its own on a free loopback port."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import textwrap
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import servers
from ports import free_port

PATIENCE_S = 15  # how long anything may take before the test gives up

APP = textwrap.dedent(
    """
    import os
    from contextlib import asynccontextmanager

    import anyio

    from kit import HTTPException, Kit, Response
    from kit.asgi import from_asgi
    from kit.timeout import cancel_on_disconnect


    def trace(text):
        with open(os.environ["KIT_TRACE"], "a") as file:
            file.write(text + "\\n")


    @asynccontextmanager
    async def lifespan(app):
        trace("startup")
        yield {"name": "kit"}
        await anyio.sleep(0.01)
        trace("shutdown")


    async def tell_end(path):
        trace(f"over {path}")


    async def told(c, next):
        c.execution_ctx.wait_until(tell_end(c.req.path))
        await next()


    app = Kit(lifespan=lifespan)
    for path in ("/json", "/echo", "/shout", "/upload"):
        app.use(path, told)
    app.get("/", lambda c: c.text(f"hello from {c.env['name']}"))
    app.get("/users/:id", lambda c: c.json([c.req.path, c.req.param("id")]))
    app.get("/large", lambda c: c.body(b"x" * 5_000_000))
    app.get("/teapot", lambda c: c.text("teapot", 418))
    app.get("/empty", lambda c: c.body(None, 204))
    app.get("/unchanged", lambda c: c.body(None, 304, {"etag": '"x"'}))
    app.get("/url", lambda c: c.text(c.req.url))
    app.get("/urls/*", lambda c: c.text(c.req.url))
    app.use("/mounted/admin/*", lambda c, next: c.text("denied", 403))
    app.mount("/mounted", lambda request, *_: Response(request.url))
    app.use("/asgi/admin/*", lambda c, next: c.text("denied", 403))


    async def tell(scope, receive, send):
        if scope["type"] == "http":
            body = scope["path"].removeprefix(scope["root_path"]).encode()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": body})


    app.mount("/asgi", from_asgi(tell))
    app.on("PURGE", "/cache", lambda c: c.text(c.req.method))


    @app.get("/boom")
    def boom(c):
        raise ValueError("boom")


    @app.get("/refused")
    def refused(c):
        raise HTTPException(403, "refused", headers={"x-why": "because"})


    @app.post("/json")
    async def post_json(c):
        return c.json({"got": await c.req.json()}, 201)


    @app.post("/echo")
    async def echo(c):
        return c.body(await c.req.bytes())


    @app.post("/shout")
    async def shout(c):
        async def chunks():
            async for chunk in c.req.raw.body:
                yield chunk.upper()

        return c.body(chunks())


    @app.post("/watched", use=[cancel_on_disconnect()])
    async def watched(c):
        await anyio.sleep(0.01)
        return c.body(c.req.raw.body)


    @app.post("/ignored")
    def ignored(c):
        return c.text("not read")


    @app.post("/upload")
    async def upload(c):
        form = await c.req.parse_body()
        file = form["file"]
        return c.json([file.name, file.size, form["title"], (await file.bytes())[:3].decode()])


    @app.get("/stream")
    def stream(c):
        async def chunks():
            for number in range(5):
                await anyio.sleep(0)
                yield f"{number};"

        return c.body(chunks())


    @app.get("/broken")
    def broken(c):
        async def chunks():
            yield "a"
            await anyio.sleep(0.05)
            raise ValueError("broken stream")

        return c.body(chunks())


    @app.get("/endless/:name")
    def endless(c):
        name = c.req.param("name")

        async def chunks():
            try:
                while True:
                    yield "tick"
                    await anyio.sleep(0.01)
            finally:
                trace(f"closed {name}")

        return c.body(chunks())


    @app.get("/endless-generator")
    def endless_generator(c):
        def chunks():
            try:
                while True:
                    yield b"x" * 10_000
            finally:
                trace("closed generator")

        return c.body(chunks())


    @app.get("/headers")
    def headers(c):
        c.header("set-cookie", "a=1", append=True)
        c.header("set-cookie", "b=2", append=True)
        return c.json(c.req.raw.headers.get_all("x-twice"))


    @app.get("/newline")
    def newline(c):
        c.header("x-evil", "a\\r\\nset-cookie: evil=1")
        return c.text("never")


    @app.get("/later/:name")
    def later(c):
        async def work(name):
            await anyio.sleep(0.01)
            trace(f"later {name}")

        c.execution_ctx.wait_until(work(c.req.param("name")))
        return c.text("now")
    """
)


def until(condition: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited {PATIENCE_S} s for {what}"
        time.sleep(0.01)


class Server:
    """One server process."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.port = free_port()
        self.log = folder / "log"
        self.trace_file = folder / "trace"
        self.trace_file.touch()
        (folder / "app.py").write_text(APP)
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                servers.command(name, "app:app", self.port),
                cwd=folder,
                env={**os.environ, "KIT_TRACE": str(self.trace_file), "PYTHONUNBUFFERED": "1"},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            until(self.is_ready, f"{name} to start: {self.log.read_text()}")
        except BaseException:
            self.kill()
            raise

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        try:
            self.socket().close()
        except OSError:
            return False
        return "startup" in self.trace

    @property
    def trace(self) -> list[str]:
        return self.trace_file.read_text().splitlines()

    def is_over(self, path: str, before: int) -> bool:
        """Whether a request has come to its end that had come so often before."""
        return self.trace.count(f"over {path}") > before

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def socket(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)

    def raw(self, *requests: bytes) -> list[tuple[int, http.client.HTTPMessage, bytes]]:
        """Sends requests over one connection, one after the other."""
        answers = []
        with self.socket() as connection:
            for request in requests:
                connection.sendall(request)
                response = http.client.HTTPResponse(connection, method=request.split()[0].decode())
                response.begin()
                answers.append((response.status, response.headers, response.read()))
        return answers

    def faults(self) -> int:
        """How many tracebacks there are in the log."""
        log = self.log.read_text()
        # hypercorn's own: its answer to a broken request and the app's, on one socket at once.
        return log.count("Traceback") - log.count("\ntrio.BusyResourceError: ")

    def kill(self) -> None:
        # The session holds what we started, and its workers, alone.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE_S)


SERVERS = [
    *servers.SERVERS,
    *(pytest.param(name, marks=pytest.mark.slow) for name in servers.FURTHER_SERVERS),
]


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Server]:
    running = Server(request.param, tmp_path_factory.mktemp(request.param))
    yield running
    running.kill()


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=server.url, timeout=PATIENCE_S, trust_env=False, verify=False
    ) as client:
        yield client


def raw_request(target: str, *lines: str, method: str = "GET", body: bytes = b"") -> bytes:
    head = [f"{method} {target} HTTP/1.1", "host: example.com", *lines, "", ""]
    return "\r\n".join(head).encode("latin-1") + body


def assert_alive(client: httpx.Client) -> None:
    assert client.get("/").text == "hello from kit"


# --- plain requests ----------------------------------------------------------------------------


def test_get_and_head(client: httpx.Client) -> None:
    get = client.get("/")
    assert (get.status_code, get.text) == (200, "hello from kit")
    assert get.headers["content-type"] == "text/plain; charset=UTF-8"
    assert get.headers["content-length"] == "14"
    head = client.head("/")
    assert (head.status_code, head.content) == (200, b"")
    for name in ("content-type", "content-length"):
        assert head.headers[name] == get.headers[name]


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        ("/teapot", 418, "teapot"),
        ("/missing", 404, "404 Not Found"),
        ("/boom", 500, "Internal Server Error"),
        ("/refused", 403, "refused"),
        ("/empty", 204, ""),
        ("/unchanged", 304, ""),
    ],
)
def test_statuses_on_one_connection(server: Server, path: str, status: int, text: str) -> None:
    for method in ("GET", "HEAD"):
        request = raw_request(path, method=method)
        first, second = server.raw(request, raw_request("/"))
        assert (first[0], first[2].decode()) == (status, text if method == "GET" else "")
        assert (second[0], second[2]) == (200, b"hello from kit")
        if status == 204:
            assert first[1].get("content-length") is None


@pytest.mark.parametrize("path", ["ad%0Amin", "ad%09min", "admin%20", "x/.%09./admin", "%20"])
def test_characters_that_url_parsers_drop(server: Server, path: str) -> None:
    targets = ("/urls", f"/urls/{path}"), ("", f"/mounted/{path}")
    for prefix, target in targets:
        [(status, _, body)] = server.raw(raw_request(target))
        assert (status, body.decode()) == (200, f"http://example.com{prefix}/{path}")


@pytest.mark.parametrize(
    ("path", "status", "seen"),
    [
        ("/asgi/a%20b", 200, "/a b"),
        ("/asgi/admin/x", 403, "denied"),
        ("/asgi/asgi/admin/x", 200, "/asgi/admin/x"),
        ("/asgi//admin/x", 400, None),
        ("/asgi/admin%2Fx", 400, None),
        ("/asgi/x%2f..%2fadmin/x", 400, None),
    ],
)
def test_paths_below_a_mounted_asgi_application(
    server: Server, path: str, status: int, seen: str | None
) -> None:
    [(got, _, body)] = server.raw(raw_request(path))
    if server.name == "granian-rsgi" and "%2F" in path:
        status = 403  # RSGI gives the decoded path alone
    assert got == status
    assert seen is None or body.decode() == seen


def test_fault_is_in_the_log_of_the_server(server: Server, client: httpx.Client) -> None:
    client.get("/boom")
    until(lambda: "ValueError: boom" in server.log.read_text(), "the traceback")


def test_post_json(client: httpx.Client) -> None:
    response = client.post("/json", json={"a": ["ü", None]})
    assert (response.status_code, response.json()) == (201, {"got": {"a": ["ü", None]}})
    response = client.post("/json", content=b"{")
    assert response.status_code == 400
    assert response.text.startswith("Malformed JSON in the request body: ")


def test_custom_method(client: httpx.Client) -> None:
    assert client.request("PURGE", "/cache").text == "PURGE"


def test_upload(client: httpx.Client) -> None:
    content = b"abc" + b"x" * 3_000_000  # beyond what is kept in memory
    response = client.post(
        "/upload", data={"title": "Tïtle"}, files={"file": ("näme.bin", content)}
    )
    assert response.json() == ["näme.bin", len(content), "Tïtle", "abc"]


def test_large_bodies_both_ways(client: httpx.Client) -> None:
    assert len(client.get("/large").content) == 5_000_000
    content = os.urandom(5_000_000)
    assert client.post("/echo", content=content).content == content


def test_chunked_body(client: httpx.Client) -> None:
    chunks = [b"chunk %d;" % number for number in range(100)]
    assert client.post("/echo", content=iter(chunks)).content == b"".join(chunks)


def test_body_that_is_read_after_a_watch_for_the_client(client: httpx.Client) -> None:
    """granian drops what a cancelled task waited for."""
    for size in (0, 5, 200_000):
        content = os.urandom(size)
        assert client.post("/watched", content=content).content == content
    chunks = [b"chunk %d;" % number for number in range(20)]
    assert client.post("/watched", content=iter(chunks)).content == b"".join(chunks)


def test_body_that_the_handler_ignores(server: Server, client: httpx.Client) -> None:
    assert client.post("/ignored", content=b"x" * 100_000).text == "not read"
    assert_alive(client)


@pytest.mark.parametrize(
    ("target", "path", "value"),
    [
        ("/users/a%20b", "/users/a b", "a b"),
        ("/users/%C3%A9", "/users/é", "é"),
        ("/users/a%2Fb", "/users/a%2Fb", "a/b"),
        ("/users/%2541", "/users/%2541", "%41"),
        ("/users/%E3%81", "/users/%E3%81", "%E3%81"),
        ("/users/%%361dmin", "/users/%2561dmin", "%61dmin"),
        ("/users/%6%31dmin", "/users/%2561dmin", "%61dmin"),
        ("/users/a+b;c?q=1", "/users/a+b;c", "a+b;c"),
    ],
)
def test_percent_encoded_path(server: Server, target: str, path: str, value: str) -> None:
    if server.name == "granian-rsgi" and ("%2F" in target or value == "%E3%81"):
        pytest.skip("RSGI gives the decoded path alone, so these escapes are lost")
    [(status, _, body)] = server.raw(raw_request(target))
    if server.name.startswith("anycorn") and value in ("%E3%81", "%61dmin"):
        assert status == 400  # it refuses escapes that are broken, or aren't UTF-8
        return
    assert (status, json.loads(body)) == (200, [path, value])


def test_url(server: Server) -> None:
    [(_, _, body)] = server.raw(raw_request("/url?a=%20b"))
    assert body == b"http://example.com/url?a=%20b"


def test_target_in_absolute_form(server: Server) -> None:
    if server.name.startswith("granian"):
        pytest.skip("granian gives the authority, not the Host header; the path is the same")
    [(status, _, body)] = server.raw(raw_request("http://example.com/teapot"))
    # SPEC: RFC 9112 section 3.2.2: a server must accept it. uvicorn with h11 and hypercorn hand it
    # on raw. As a path, it would be another one than a mounted application sees, so it is refused.
    assert status in (400, 418), body


def test_duplicate_headers_both_ways(server: Server) -> None:
    [(_, headers, body)] = server.raw(raw_request("/headers", "x-twice: 1", "x-twice: 2"))
    assert json.loads(body) == ["1", "2"]
    assert headers.get_all("set-cookie") == ["a=1", "b=2"]


def test_keep_alive(server: Server) -> None:
    body = b'{"a":1}'
    post = raw_request(
        "/json",
        "content-type: application/json",
        f"content-length: {len(body)}",
        method="POST",
        body=body,
    )
    answers = server.raw(*[raw_request("/"), post, raw_request("/stream")] * 3)
    assert [status for status, _, _ in answers] == [200, 201, 200] * 3
    assert [text for _, _, text in answers] == [
        b"hello from kit",
        b'{"got":{"a":1}}',
        b"0;1;2;3;4;",
    ] * 3


def test_many_at_once(client: httpx.Client) -> None:
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda n: client.get(f"/users/{n}").json()[1], range(100)))
    assert answers == [str(number) for number in range(100)]


def test_header_with_a_newline_is_a_500_and_the_server_goes_on(
    server: Server, client: httpx.Client
) -> None:
    response = client.get("/newline")
    assert (response.status_code, response.text) == (500, "Internal Server Error")
    assert "set-cookie" not in response.headers
    assert "x-evil" not in response.headers
    assert_alive(client)


# --- streams, and clients that go away ---------------------------------------------------------


def test_stream(server: Server, client: httpx.Client) -> None:
    response = client.get("/stream")
    assert response.text == "0;1;2;3;4;"
    assert "content-length" not in response.headers
    head, after = server.raw(raw_request("/stream", method="HEAD"), raw_request("/"))
    assert (head[0], head[2], after[0]) == (200, b"", 200)


def test_stream_both_ways(client: httpx.Client) -> None:
    chunks = [b"chunk %d;" % number for number in range(100)]
    response = client.post("/shout", content=iter(chunks))
    assert response.content == b"".join(chunks).upper()
    assert client.post("/shout", content=b"abc").content == b"ABC"


def test_broken_stream_is_seen_by_the_client(server: Server, client: httpx.Client) -> None:
    # RSGI can't abort a response: it stays open.
    is_rsgi = server.name == "granian-rsgi"
    seen = httpx.ReadTimeout if is_rsgi else httpx.RemoteProtocolError
    with pytest.raises(seen):
        client.get("/broken", timeout=1 if is_rsgi else PATIENCE_S)
    until(lambda: "ValueError: broken stream" in server.log.read_text(), "the traceback")
    assert_alive(client)


def test_client_leaving_closes_the_stream(server: Server, client: httpx.Client) -> None:
    with client.stream("GET", "/endless/one") as response:
        assert next(response.iter_text()).startswith("tick")
    until(lambda: "closed one" in server.trace, "the generator to be closed")
    assert_alive(client)


def test_client_leaving_closes_a_generator_that_never_waits(
    server: Server, client: httpx.Client
) -> None:
    with client.stream("GET", "/endless-generator") as response:
        assert next(response.iter_bytes()).startswith(b"x")
    until(lambda: "closed generator" in server.trace, "the generator to be closed")
    assert_alive(client)


def test_body_cut_short(server: Server, client: httpx.Client) -> None:
    before = server.faults()
    for path in ("/json", "/echo", "/shout", "/upload"):
        over = server.trace.count(f"over {path}")
        with server.socket() as connection:
            lines = ["content-length: 100", "content-type: multipart/form-data; boundary=B"]
            connection.sendall(raw_request(path, *lines, method="POST", body=b"--B\r\n"))
        until(partial(server.is_over, path, over), f"the end of {path}")
    assert_alive(client)
    assert server.faults() == before, server.log.read_text()


def test_client_gone_before_the_answer(server: Server, client: httpx.Client) -> None:
    before = server.faults()

    def ask_and_leave(path: str) -> None:
        with server.socket() as connection:
            connection.sendall(raw_request(path))

    def has_task_ended() -> bool:
        # A busy server may find the connection closed before it has read the request.
        ask_and_leave("/later/gone")
        return "later gone" in server.trace

    for path in ("/large", "/stream"):
        ask_and_leave(path)
    assert_alive(client)
    until(has_task_ended, "the task of a client that is gone")
    assert server.faults() == before, server.log.read_text()


def test_wait_until(server: Server, client: httpx.Client) -> None:
    assert client.get("/later/one").text == "now"
    until(lambda: "later one" in server.trace, "the task")


def test_websocket_is_refused(server: Server, client: httpx.Client) -> None:
    request = raw_request(
        "/",
        "connection: upgrade",
        "upgrade: websocket",
        "sec-websocket-version: 13",
        "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
    )
    [(status, _, _)] = server.raw(request)
    assert status != 101
    assert_alive(client)
    assert "can't serve" not in server.log.read_text()


# --- the end -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SERVERS)
def test_shutdown_runs_the_lifespan(name: str, tmp_path: Path) -> None:
    server = Server(name, tmp_path)
    try:
        [(status, _, _)] = server.raw(raw_request("/", "connection: close"))
        assert status == 200
        # To gunicorn, SIGINT says to end at once.
        number = signal.SIGTERM if name == "gunicorn-asgi" else signal.SIGINT
        os.kill(server.process.pid, number)
        server.process.wait(PATIENCE_S)
    finally:
        server.kill()
    assert server.trace == ["startup", "shutdown"]
    assert "Traceback" not in server.log.read_text()
