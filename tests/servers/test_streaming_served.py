# SPDX-License-Identifier: MIT
"""`kit.streaming` under real servers: clients that leave, read slowly, and see errors."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import servers
from ports import free_port

PATIENCE_S = 15  # how long anything may take before the test gives up
MIB = 1024 * 1024

APP = textwrap.dedent(
    """
    import os
    from collections.abc import AsyncIterator
    from contextlib import aclosing
    from typing import Annotated

    from anyio import sleep
    from msgspec import Struct

    from kit import HTTPException, Kit, Response
    from kit.openapi import openapi
    from kit.streaming import stream, stream_sse, stream_text
    from kit.typed import Header, ServerSentEvent, typed


    def trace(text):
        with open(os.environ["KIT_TRACE"], "a") as file:
            file.write(text + "\\n")


    app = Kit()
    written = 0


    @app.use("/wrapped/*")
    async def shout(c, next):
        async def chunks(body):
            async with aclosing(body):
                async for chunk in body:
                    yield chunk.upper()

        await next()
        c.res = Response(chunks(c.res.body))


    app.get("/", lambda c: c.text("alive"))
    app.get("/written", lambda c: c.json(written))


    def count(c):
        async def write(stream):
            for number in range(5):
                await stream.write(f"{number};")
                await stream.sleep(0)
            await stream.writeln("end")

        return stream_text(c, write)


    def endless(c):
        name = c.req.param("name")

        async def write(stream):
            stream.on_abort(lambda: trace(f"aborted {name} {stream.aborted}"))
            try:
                while True:
                    await stream.write("tick")
                    await stream.sleep(0.01)
            finally:
                trace(f"finally {name} {stream.aborted}")

        return stream(c, write)


    def broken(c):
        async def write(stream):
            if c.req.param("when") == "after":
                await stream.write("some")
                await stream.sleep(0.05)
            raise ValueError("broken callback")

        return stream(c, write)


    def aborted(c):
        async def write(stream):
            await stream.write("some")
            await stream.sleep(0.05)
            await stream.abort()

        return stream(c, write)


    def closed(c):
        async def write(stream):
            await stream.write("some")
            raise ValueError("expected")

        async def on_error(error, stream):
            await stream.write(f", then {error}")
            stream.close()

        return stream(c, write, on_error)


    for prefix in ("", "/wrapped"):
        app.get(prefix + "/count", count)
        app.get(prefix + "/endless/:name", endless)
        app.get(prefix + "/broken/:when", broken)
        app.get(prefix + "/aborted", aborted)
        app.get(prefix + "/closed", closed)


    @app.get("/large")
    def large(c):
        async def write(stream):
            global written
            written = 0
            try:
                while True:
                    await stream.write(b"x" * 65536)
                    written += 65536
            finally:
                trace("finally large")

        return stream(c, write)


    @app.get("/rows")
    async def rows(c):
        async def chunks():
            for number in range(20_000):
                yield f"{number}\\n"
                if number % 3000 == 0:
                    await sleep(0)

        return c.body(chunks())


    @app.get("/small")
    async def small(c):
        async def chunks():
            global written
            written = 0
            try:
                while True:
                    yield b"x" * 100
                    written += 100
            finally:
                trace("finally small")

        return c.body(chunks())


    @app.get("/broken-rows")
    async def broken_rows(c):
        async def chunks():
            for number in range(1000):
                yield f"{number}\\n"
            raise ValueError("broken rows")

        return c.body(chunks())


    @app.get("/events")
    def events(c):
        async def write(stream):
            first = int(stream.last_event_id or 0) + 1
            for number in range(first, first + 3):
                await stream.write_sse({"number": number}, event="count", id=str(number))

        return stream_sse(c, write)


    @app.get("/quiet")
    def quiet(c):
        async def write(stream):
            try:
                await stream.sleep(3600)
            finally:
                trace("finally quiet")

        return stream_sse(c, write, keep_alive=0.01)


    openapi(app)


    class Count(Struct):
        number: int


    @app.get("/typed/events")
    @typed
    async def typed_events(
        last_event_id: Annotated[str | None, Header()] = None,
    ) -> AsyncIterator[ServerSentEvent[Count]]:
        first = int(last_event_id or 0) + 1
        for number in range(first, first + 3):
            yield ServerSentEvent(Count(number), event="count", id=str(number))
            await sleep(0.001)


    @app.get("/typed/missing")
    @typed
    async def missing() -> AsyncIterator[Count]:
        await sleep(0.001)
        raise HTTPException(404, "missing")
        yield


    @app.get("/typed/broken")
    @typed
    async def typed_broken() -> AsyncIterator[Count]:
        yield Count(1)
        await sleep(0.05)
        raise ValueError("broken items")


    @app.get("/typed/quiet/:name")
    @typed(keep_alive=0.01)
    async def typed_quiet(name: str) -> AsyncIterator[Count]:
        try:
            yield Count(1)
            await sleep(3600)
        finally:
            trace(f"finally {name}")
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
        self.url = f"http://127.0.0.1:{self.port}"
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
            return httpx.get(self.url, trust_env=False, verify=False).text == "alive"
        except httpx.TransportError:
            return False

    @property
    def trace(self) -> list[str]:
        return self.trace_file.read_text().splitlines()

    def kill(self) -> None:
        # The session holds what we started, and its workers, alone.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE_S)


@pytest.fixture(scope="module", params=servers.SERVERS)
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
        assert client.get("/").text == "alive"


PREFIXES = pytest.mark.parametrize("prefix", ["", "/wrapped"], ids=["plain", "wrapped"])


@PREFIXES
def test_text(client: httpx.Client, prefix: str) -> None:
    response = client.get(prefix + "/count")
    assert response.text.lower() == "0;1;2;3;4;end\n"
    assert "content-length" not in response.headers
    assert response.headers["transfer-encoding"] == "chunked"
    assert client.head(prefix + "/count").content == b""


def test_headers_of_text(client: httpx.Client) -> None:
    response = client.get("/count")
    assert response.headers["content-type"] == "text/plain; charset=UTF-8"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers.get_list("transfer-encoding") == ["chunked"]


@PREFIXES
def test_client_that_leaves(server: Server, client: httpx.Client, prefix: str) -> None:
    faults = server.log.read_text().count("Traceback")
    name = f"{prefix[1:]}one"
    with client.stream("GET", f"{prefix}/endless/{name}") as response:
        assert next(response.iter_text()).lower().startswith("tick")
    until(lambda: f"finally {name} True" in server.trace, "the callback to be cancelled")
    until(lambda: f"aborted {name} True" in server.trace, "what on_abort registered")
    assert client.get("/").text == "alive"
    assert server.log.read_text().count("Traceback") == faults, server.log.read_text()


@pytest.mark.parametrize("path", ["large", "small"])
def test_client_that_reads_slowly(server: Server, client: httpx.Client, path: str) -> None:
    if (server.name, path) == ("granian-rsgi", "small"):
        pytest.skip("RSGI can't slow a stream down")

    def written() -> int:
        return int(client.get("/written").text)

    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(PATIENCE_S)
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(b"GET /%b HTTP/1.1\r\nhost: localhost\r\n\r\n" % path.encode())
        received = 0
        while received < MIB:
            received += len(connection.recv(MIB))
        seen = [-1] * 10
        while seen[-1] != seen[-10]:  # until it stands still; unbounded it would never
            seen.append(written())
            assert seen[-1] < 32 * MIB
            time.sleep(0.05)
        stopped = seen[-1]
        while received < stopped + MIB:  # reading on lets it go on
            received += len(connection.recv(MIB))
    assert written() > stopped
    until(lambda: f"finally {path}" in server.trace, "the stream to be cancelled")


def test_many_small_chunks(client: httpx.Client) -> None:
    rows = "".join(f"{number}\n" for number in range(20_000))
    assert client.get("/rows").text == rows


def test_many_small_chunks_before_an_error(server: Server, client: httpx.Client) -> None:
    if server.name == "granian-rsgi":
        pytest.skip("RSGI can't abort a response, which never ends: see test_rsgi_served.py")
    received: list[bytes] = []
    with client.stream("GET", "/broken-rows") as response:
        if (server.name, response.status_code) == ("granian", 500):
            return  # it holds the head back for a moment, and answers an error within that
        with pytest.raises(httpx.RemoteProtocolError):
            deque(map(received.append, response.iter_bytes()))
    rows = "".join(f"{number}\n" for number in range(1000)).encode()
    # granian drops what it hasn't sent yet.
    body = b"".join(received)
    assert body == rows or (server.name == "granian" and rows.startswith(body))


@PREFIXES
@pytest.mark.parametrize("path", ["/broken/before", "/broken/after", "/aborted"])
def test_answer_that_is_not_complete(
    server: Server, client: httpx.Client, prefix: str, path: str
) -> None:
    if server.name == "granian-rsgi":
        pytest.skip("RSGI can't abort a response, which never ends: see test_rsgi_served.py")
    try:
        status = client.get(prefix + path).status_code
    except httpx.RemoteProtocolError:
        return
    # granian holds the head back for a moment, and answers an error within that.
    assert (server.name, path, status) == ("granian", "/broken/before", 500)


def test_error_is_in_the_log(server: Server, client: httpx.Client) -> None:
    # Over RSGI, which can't abort a response, it never ends.
    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadTimeout)):
        client.get("/broken/after", timeout=2)
    until(
        lambda: (
            "Exception in the callback of stream() for GET /broken/after" in server.log.read_text()
        ),
        "the error",
    )
    assert "ValueError: broken callback" in server.log.read_text()


@PREFIXES
def test_answer_that_on_error_completes(client: httpx.Client, prefix: str) -> None:
    assert client.get(prefix + "/closed").text.lower() == "some, then expected"


def test_events(client: httpx.Client) -> None:
    response = client.get("/events", headers={"last-event-id": "7"})
    assert response.headers["content-type"] == "text/event-stream"
    assert response.headers["cache-control"] == "no-cache"
    assert response.text == "".join(
        f'event: count\ndata: {{"number":{number}}}\nid: {number}\n\n' for number in (8, 9, 10)
    )


def test_keep_alive(server: Server, client: httpx.Client) -> None:
    with client.stream("GET", "/quiet") as response:
        lines = response.iter_lines()
        assert [next(lines) for _ in range(3)] == [": keep-alive"] * 3
    until(lambda: "finally quiet" in server.trace, "the callback to be cancelled")


def test_typed_events(client: httpx.Client) -> None:
    response = client.get("/typed/events", headers={"last-event-id": "7"})
    assert response.headers["content-type"] == "text/event-stream"
    assert response.text == "".join(
        f'event: count\ndata: {{"number":{number}}}\nid: {number}\n\n' for number in (8, 9, 10)
    )
    lines = client.get("/typed/events", headers={"accept": "application/jsonl"})
    assert lines.headers["content-type"] == "application/jsonl"
    assert lines.text == '{"number":1}\n{"number":2}\n{"number":3}\n'
    assert client.head("/typed/events").content == b""


def test_typed_stream_that_fails_before_it_begins(client: httpx.Client) -> None:
    response = client.get("/typed/missing")
    assert (response.status_code, response.text) == (404, "missing")


@pytest.mark.parametrize("accept", ["application/jsonl", "text/event-stream"])
def test_typed_stream_that_breaks(server: Server, client: httpx.Client, accept: str) -> None:
    # Over RSGI, which can't abort a response, it never ends.
    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadTimeout)):
        client.get("/typed/broken", headers={"accept": accept}, timeout=2)
    until(lambda: "ValueError: broken items" in server.log.read_text(), "the error")


@pytest.mark.parametrize("accept", ["application/jsonl", "text/event-stream"])
def test_typed_stream_whose_client_leaves(
    server: Server, client: httpx.Client, accept: str
) -> None:
    faults = server.log.read_text().count("Traceback")
    name = accept.replace("/", "_")
    with client.stream("GET", f"/typed/quiet/{name}", headers={"accept": accept}) as response:
        lines = response.iter_lines()
        assert next(lines).endswith('{"number":1}')
        if accept == "text/event-stream":
            assert [next(lines) for _ in range(3)] == ["", ": keep-alive", ": keep-alive"]
    until(lambda: f"finally {name}" in server.trace, "the generator to be cancelled")
    assert client.get("/").text == "alive"
    assert server.log.read_text().count("Traceback") == faults, server.log.read_text()


@pytest.fixture(scope="module")
def generated(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The module that `kit client` writes for the app."""
    file = tmp_path_factory.mktemp("client") / "counts_client.py"
    command = [sys.executable, "-m", "kit", "client", "app.py:app", f"--output={file}"]
    environment = {**os.environ, "KIT_TRACE": os.devnull}
    subprocess.run(command, cwd=server.trace_file.parent, env=environment, check=True)
    spec = importlib.util.spec_from_file_location("counts_client", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["counts_client"] = module
    spec.loader.exec_module(module)
    return module


def test_generated_client(server: Server, generated: Any) -> None:
    expected = [generated.Count(number=number) for number in (4, 5, 6)]

    async def read() -> list[Any]:
        http = httpx.AsyncClient(timeout=PATIENCE_S, trust_env=False, verify=False)
        async with http, generated.AsyncClient(server.url, client=http) as api:
            found = [item async for item in api.typed_events(last_event_id="3")]
            with pytest.raises(generated.ClientError) as caught:
                await anext(api.missing())
            assert caught.value.status == 404
            quiet = api.typed_quiet("generated")
            assert await anext(quiet) == generated.Count(number=1)
            await quiet.aclose()
            return found

    assert asyncio.run(read()) == expected
    until(lambda: "finally generated" in server.trace, "the generator to be cancelled")
    http = httpx.Client(timeout=PATIENCE_S, trust_env=False, verify=False)
    with http, generated.Client(server.url, client=http) as api:
        assert [*api.typed_events(last_event_id="3")] == expected
