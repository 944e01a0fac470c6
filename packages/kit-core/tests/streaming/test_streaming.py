# SPDX-License-Identifier: MIT
"""`kit.streaming`: what is sent, how writing waits, and where the callback runs.

On asyncio and trio; served, within a middleware that changes the body, and read in process. How a
stream ends before its time is in test_streaming_end.py, its events are in test_streaming_sse.py.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from contextvars import ContextVar
from typing import Any

import anyio
import pytest

from kit import Context, Kit, Response
from kit.streaming import StreamClosedError, StreamingApi, stream, stream_sse, stream_text

Callback = Callable[[Any], Awaitable[object]]


def served(callback: Callback, helper: Any = stream) -> Kit:
    return Kit().get("/", lambda c: helper(c, callback))


def wrapped(callback: Callback) -> Kit:
    """As `served`, within a middleware that changes the body as it comes."""
    app = Kit()

    async def shout(body: Any) -> AsyncIterator[bytes]:
        async with aclosing(body) as chunks:
            async for chunk in chunks:
                yield chunk.upper()

    @app.use("*")
    async def middleware(c: Context, next: Any) -> None:
        await next()
        c.res = Response(shout(c.res.body), status=c.res.status)

    return app.get("/", lambda c: stream(c, callback))


MAKERS = pytest.mark.parametrize("make", [served, wrapped], ids=["plain", "wrapped"])


async def hello(stream: StreamingApi) -> None:
    await stream.write("é")
    await stream.write(b"b")
    await stream.write("")
    await stream.writeln("c")
    await stream.write(bytearray(b"d"))
    await stream.write(memoryview(b"e"))


# --- what is sent ------------------------------------------------------------------------------


def test_served(run: Any, client: Any) -> None:
    asking = client()
    assert run(asking.ask, served(hello)).body == "ébc\nde".encode()
    start, *parts = asking.sent
    assert (start["status"], start["headers"]) == (200, [])
    assert [part["body"] for part in parts] == ["é".encode(), b"b", b"c\n", b"d", b"e", b""]
    assert [part.get("more_body", False) for part in parts] == [True] * 5 + [False]
    assert all(type(part["body"]) is bytes for part in parts)


def test_wrapped(run: Any, client: Any) -> None:
    asking = client()
    assert run(asking.ask, wrapped(hello)).body == b"\xc3\xa9BC\nDE"
    assert asking.complete


def test_read_in_process(run: Any) -> None:
    async def main() -> list[bytes]:
        assert await (await served(hello).request("/")).text() == "ébc\nde"
        body = (await served(hello).request("/")).body
        assert body is not None
        return [chunk async for chunk in body]

    assert run(main) == ["é".encode(), b"b", b"c\n", b"d", b"e"]


def test_read_in_another_loop_than_the_handler_ran_in() -> None:
    response = asyncio.run(served(hello).request("/"))
    assert asyncio.run(response.text()) == "ébc\nde"


@MAKERS
def test_nothing_written(run: Any, client: Any, make: Any) -> None:
    async def nothing(stream: StreamingApi) -> None:
        pass

    asking = client()
    assert run(asking.ask, make(nothing)).body == b""
    assert asking.sent[1:] == [{"type": "http.response.body", "body": b""}]


def test_status_and_headers_of_the_context(run: Any) -> None:
    def handler(c: Context) -> Response:
        c.status(206)
        c.header("x-a", "1")
        c.header("content-type", "text/csv")
        return stream(c, hello)

    response = run(Kit().get("/", handler).request, "/")
    assert response.status == 206
    assert dict(response.headers.items()) == {"x-a": "1", "content-type": "text/csv"}


async def test_headers_of_stream_text() -> None:
    response = await served(hello, helper=stream_text).request("/")
    assert dict(response.headers.items()) == {
        "content-type": "text/plain; charset=UTF-8",
        "x-content-type-options": "nosniff",
    }
    assert await response.text() == "ébc\nde"


async def test_headers_of_stream_sse() -> None:
    response = await served(hello, helper=stream_sse).request("/")
    assert dict(response.headers.items()) == {
        "content-type": "text/event-stream",
        "cache-control": "no-cache",
        "x-accel-buffering": "no",
    }


async def test_headers_of_stream_sse_that_the_handler_set() -> None:
    def handler(c: Context) -> Response:
        c.header("cache-control", "no-store")
        c.header("x-accel-buffering", "yes")
        c.header("content-type", "text/plain")
        return stream_sse(c, hello)

    response = await Kit().get("/", handler).request("/")
    assert dict(response.headers.items()) == {
        "cache-control": "no-store",
        "x-accel-buffering": "yes",
        "content-type": "text/event-stream",
    }


@MAKERS
def test_head_does_not_run_the_callback(run: Any, client: Any, make: Any) -> None:
    async def never(stream: StreamingApi) -> None:
        raise AssertionError("run")

    asking = client()
    assert run(asking.ask, make(never), method="HEAD").body == b""
    assert asking.complete
    assert run(make(never).request, "/", {"method": "HEAD"}).body is None


# --- writing -----------------------------------------------------------------------------------


def text_of(error: type[Exception], function: Any) -> Callback:
    """A callback that writes the text of the error which `function(stream)` has to raise."""

    async def callback(stream: Any) -> None:
        with pytest.raises(error) as caught:
            await function(stream)
        await stream.write(str(caught.value))

    return callback


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda s: s.write(5), "stream.write() takes str or bytes, not int"),
        (lambda s: s.write(None), "stream.write() takes str or bytes, not NoneType"),
        (lambda s: s.write(["a"]), "stream.write() takes str or bytes, not list"),
        (lambda s: s.writeln(b"a"), "stream.writeln() takes a str, not bytes"),
        (
            lambda s: s.pipe("text"),
            "stream.pipe() takes an (async) iterable of str or bytes, not str",
        ),
        (
            lambda s: s.pipe(b"x"),
            "stream.pipe() takes an (async) iterable of str or bytes, not bytes",
        ),
        (lambda s: s.pipe({}), "stream.pipe() takes an (async) iterable of str or bytes, not dict"),
        (lambda s: s.pipe(5), "stream.pipe() takes an (async) iterable of str or bytes, not int"),
        (lambda s: s.pipe([5]), "A body yielded int: expected str or bytes"),
    ],
)
async def test_what_can_not_be_written(function: Any, text: str) -> None:
    assert await (await served(text_of(TypeError, function)).request("/")).text() == text


class Source:
    """An async iterator that is no generator."""

    def __init__(self, *chunks: Any) -> None:
        self.chunks = list(chunks)
        self.closed = 0

    def __aiter__(self) -> Source:
        return self

    async def __anext__(self) -> Any:
        await anyio.lowlevel.checkpoint()
        if not self.chunks:
            raise StopAsyncIteration
        chunk = self.chunks.pop(0)
        if isinstance(chunk, Exception):
            raise chunk
        return chunk

    async def aclose(self) -> None:
        await anyio.lowlevel.checkpoint()
        self.closed += 1


async def async_chunks() -> AsyncIterator[Any]:
    yield "é"
    yield b"b"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(async_chunks, id="async generator"),
        pytest.param(lambda: ["é", "", b"b"], id="list"),
        pytest.param(lambda: iter(["é", b"b"]), id="iterator"),
        pytest.param(lambda: Source("é", b"b"), id="async iterator"),
        pytest.param(lambda: Response("éb").body, id="body"),
    ],
)
@MAKERS
def test_pipe(run: Any, client: Any, make: Any, source: Any) -> None:
    async def callback(stream: StreamingApi) -> None:
        await stream.write("<")
        await stream.pipe(source())
        await stream.write(">")

    assert run(client().ask, make(callback)).body.lower() == "<éb>".encode()


def test_pipe_closes_its_source_also_when_that_fails(run: Any, client: Any) -> None:
    sources = [Source("a"), Source("b", ValueError("broke"))]

    async def callback(stream: StreamingApi) -> None:
        await stream.pipe(sources[0])
        with pytest.raises(ValueError, match=r"^broke$"):
            await stream.pipe(sources[1])
        await stream.write("c")

    assert run(client().ask, served(callback)).body == b"abc"
    assert [source.closed for source in sources] == [1, 1]


def test_sleep(run: Any, client: Any) -> None:
    async def callback(stream: StreamingApi) -> None:
        await stream.sleep(0)
        await stream.sleep(0.001)
        await stream.write("awake")

    assert run(client().ask, served(callback)).body == b"awake"


@MAKERS
def test_write_waits_until_the_server_takes_more(run: Any, client: Any, make: Any) -> None:
    class Slow(client):
        async def take(self, message: dict[str, Any]) -> None:
            taken.append(written)
            await super().take(message)

    written = 0
    taken: list[int] = []

    async def callback(stream: StreamingApi) -> None:
        nonlocal written
        for number in range(5):
            await stream.write(str(number))
            written += 1

    assert run(Slow().ask, make(callback)).body == b"01234"
    # Who reads has taken one when the next is written; that it was sent, the one after waits for.
    ahead = [count - index for index, count in enumerate(taken[1:-1])]
    assert ahead == [0] * 5 if make is served else max(ahead) <= 1


@MAKERS
def test_server_that_takes_nothing_holds_the_callback(run: Any, client: Any, make: Any) -> None:
    class Full(client):
        async def take(self, message: dict[str, Any]) -> None:
            await super().take(message)
            if len(self.sent) == 3:
                await anyio.sleep_forever()

    written = 0

    async def callback(stream: StreamingApi) -> None:
        nonlocal written
        while True:
            await stream.write("x" * 1000)
            written += 1

    async def main() -> None:
        asking = Full()
        async with anyio.create_task_group() as group:
            group.start_soon(asking.ask, make(callback))
            for _ in range(1000):
                await anyio.lowlevel.checkpoint()
            assert len(asking.sent) == 3
            group.cancel_scope.cancel()

    run(main)
    assert 1 <= written <= 2


@MAKERS
def test_several_tasks_write(run: Any, client: Any, make: Any) -> None:
    async def callback(stream: StreamingApi) -> None:
        async def count(name: str) -> None:
            for number in range(20):
                await stream.write(f"{name}{number};")

        async with anyio.create_task_group() as group:
            for name in "ABC":
                group.start_soon(count, name)

    got = run(client().ask, make(callback)).body.decode()
    parts = got.removesuffix(";").split(";")
    for name in "ABC":
        assert [p for p in parts if p[0] == name] == [f"{name}{n}" for n in range(20)]


async def test_close_while_another_task_waits_to_write(client: Any) -> None:
    async def callback(stream: StreamingApi) -> None:
        tasks = [asyncio.create_task(stream.write(letter)) for letter in "abc"]
        await asyncio.sleep(0)
        stream.close()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(result) for result in results[1:]] == [StreamClosedError] * 2

    asking = client()
    assert (await asking.ask(served(callback))).body == b"a"
    assert asking.complete


async def test_tasks_that_nobody_awaits(client: Any) -> None:
    late: list[Any] = []

    async def callback(stream: StreamingApi) -> None:
        late.append(stream)
        late.append(asyncio.create_task(stream.write("a")))
        late.append(asyncio.create_task(stream.write("b")))
        await stream.write("c")

    asking = client()
    await asking.ask(served(callback))
    assert asking.complete
    assert sorted(asking.body.decode()) == ["a", "b", "c"]
    with pytest.raises(StreamClosedError) as caught:
        await late[0].write("d")
    assert str(caught.value) == (
        "Can't write to the stream: its callback has returned; await all that writes to it there"
    )
    assert late[0].closed


# --- where the callback runs -------------------------------------------------------------------


def test_served_callback_runs_in_the_task_of_the_request(run: Any, client: Any) -> None:
    tasks: list[int] = []

    async def callback(stream: StreamingApi) -> None:
        tasks.append(anyio.get_current_task().id)
        await stream.write("x")
        tasks.append(anyio.get_current_task().id)

    async def main() -> None:
        tasks.append(anyio.get_current_task().id)
        await client().ask(served(callback))

    run(main)
    assert len(set(tasks)) == 1


variable: ContextVar[str] = ContextVar("variable", default="none")


async def show(stream: StreamingApi) -> None:
    await stream.write(variable.get())
    variable.set("of the callback")
    await stream.write(f", {variable.get()}")


def setting() -> Kit:
    """A middleware sets a variable and takes it back, as those for tracing do."""
    app = Kit()

    @app.use("*")
    async def middleware(c: Context, next: Any) -> None:
        token = variable.set("of the handler")
        await next()
        variable.reset(token)

    return app.get("/", lambda c: stream(c, show))


def test_context_variables_of_the_handler(run: Any, client: Any) -> None:
    async def main() -> None:
        asking = client()
        assert (await asking.ask(setting())).body == b"of the handler, of the callback"
        assert variable.get() == "none"
        assert await (await setting().request("/")).text() == "of the handler, of the callback"
        assert variable.get() == "none"

    run(main)


async def test_context_variables_of_a_handler_in_another_task() -> None:
    response = await asyncio.create_task(setting().request("/"))
    assert await response.text() == "of the handler, of the callback"


@MAKERS
def test_timeout_around_writes_is_that_of_the_callback_alone(
    run: Any, client: Any, make: Any
) -> None:
    """As it would not be in a generator: the scope is open while the server sends."""

    class Slow(client):
        async def take(self, message: dict[str, Any]) -> None:
            await super().take(message)
            if len(self.sent) == 3:
                scope.cancel()  # as a timeout does
                while not scope.cancelled_caught:
                    await anyio.lowlevel.checkpoint()

    async def callback(stream: StreamingApi) -> None:
        nonlocal scope
        with anyio.CancelScope() as scope:
            while True:
                await stream.write("x")
        await stream.write("y" if scope.cancelled_caught else "?")

    scope: Any = None
    asking = Slow()
    assert run(asking.ask, make(callback)).body.lower().strip(b"x") == b"y"
    assert asking.complete


def test_timeout_of_who_reads_in_process_is_its_own(run: Any) -> None:
    async def callback(stream: StreamingApi) -> None:
        async with anyio.create_task_group():
            await stream.write("a")
            await stream.write("b")
            await stream.sleep(60)

    async def main() -> None:
        body: Any = (await served(callback).request("/")).body
        with anyio.fail_after(30):
            assert await anext(body) == b"a"
        with anyio.fail_after(30):
            assert await anext(body) == b"b"
        with anyio.move_on_after(0.01) as scope:
            await anext(body)
        assert scope.cancelled_caught
        with pytest.raises(StopAsyncIteration):
            await anext(body)

    run(main)


def test_stream_made_in_a_worker_thread(run: Any, client: Any) -> None:
    async def handler(c: Context) -> Response:
        return await anyio.to_thread.run_sync(stream, c, hello)

    async def main() -> None:
        app = Kit().get("/", handler)
        assert await (await app.request("/")).text() == "ébc\nde"
        assert (await client().ask(app)).body == "ébc\nde".encode()

    run(main)


def test_callback_reads_the_request(run: Any, client: Any) -> None:
    def handler(c: Context) -> Response:
        async def echo(stream: StreamingApi) -> None:
            await stream.pipe(c.req.raw.body or ())

        return stream(c, echo)

    answer = run(client(b"a", b"b", b"c").ask, Kit().post("/", handler))
    assert (answer.body, answer.complete) == (b"abc", True)


async def test_read_in_process_by_another_task_each_time() -> None:
    body: Any = (await served(hello).request("/")).body
    chunks = [await asyncio.create_task(anext(body)) for _ in range(2)]
    assert chunks == ["é".encode(), b"b"]
    for _ in range(2):
        await body.aclose()
        with pytest.raises(StopAsyncIteration):
            await anext(body)


# --- the module --------------------------------------------------------------------------------


def test_importing_it_imports_no_anyio() -> None:
    code = "import sys, kit; assert 'kit.streaming' not in sys.modules; import kit.streaming; "
    code += "assert 'anyio' not in sys.modules and 'asyncio' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
