# SPDX-License-Identifier: MIT
"""Streamed responses under ASGI: every kind of body, clients that go away, errors half-way.

All of it runs on asyncio and on trio.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import anyio
import pytest

from kit import Context, HTTPException, Kit, Response


def streaming(make: Callable[[], Any]) -> Kit:
    return Kit().all("/", lambda c: c.body(make()))


class AsyncOnly:
    """An async iterator that is no generator, as files and HTTP clients give them."""

    def __init__(self, *chunks: Any) -> None:
        self.chunks = list(chunks)
        self.closed = 0

    def __aiter__(self) -> AsyncOnly:
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


class Closing:
    """An iterable that is closed without waiting, such as a file."""

    def __init__(self) -> None:
        self.closed = 0

    def __iter__(self) -> Iterator[str]:
        yield "chunk"

    def close(self) -> None:
        self.closed += 1


async def async_chunks() -> AsyncIterator[Any]:
    yield "é"
    await anyio.lowlevel.checkpoint()
    yield b"b"
    yield ""
    yield bytearray(b"c")


def chunks() -> Iterator[Any]:
    yield "é"
    yield b"b"
    yield b""
    yield memoryview(b"c")


# --- every kind of body ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(async_chunks, id="async generator"),
        pytest.param(chunks, id="generator"),
        pytest.param(lambda: ["é", b"b", "", "c"], id="list"),
        pytest.param(lambda: ("é", b"b", "c"), id="tuple"),
        pytest.param(lambda: AsyncOnly("é", b"bc"), id="async iterator"),
        pytest.param(lambda: iter(["é", b"bc"]), id="iterator"),
        pytest.param(lambda: map(str.lower, ["É", "BC"]), id="map"),
    ],
)
def test_body(run: Any, client: Any, make: Any) -> None:
    asking = client()
    assert run(asking.ask, streaming(make)).body == "ébc".encode()
    start, *parts = asking.sent
    assert start["type"] == "http.response.start"
    assert [name for name, _ in start["headers"]] == []
    assert all(type(part["body"]) is bytes for part in parts)
    assert [bool(part["body"]) for part in parts] == [True] * (len(parts) - 1) + [False]
    assert [part.get("more_body", False) for part in parts] == [True] * (len(parts) - 1) + [False]


@pytest.mark.parametrize(
    "make",
    [list, lambda: iter(()), AsyncOnly],
    ids=["list", "iterator", "async iterator"],
)
def test_empty_stream(run: Any, client: Any, make: Any) -> None:
    asking = client()
    assert run(asking.ask, streaming(make)).body == b""
    assert asking.sent[1:] == [{"type": "http.response.body", "body": b""}]


def test_chunks_are_sent_as_they_come(run: Any, client: Any) -> None:
    asking = client()
    seen: list[int] = []

    async def generator() -> AsyncIterator[str]:
        for number in range(3):
            seen.append(len(asking.sent))
            yield str(number)

    run(asking.ask, streaming(generator))
    assert seen == [1, 2, 3]


def test_generator_is_closed_at_its_end(run: Any, client: Any) -> None:
    body = AsyncOnly("a", "b")
    assert run(client().ask, streaming(lambda: body)).body == b"ab"
    assert body.closed == 1


def test_head_reads_nothing_and_closes(run: Any, client: Any) -> None:
    body = AsyncOnly("a")
    asking = client()
    assert run(asking.ask, streaming(lambda: body), method="HEAD").body == b""
    assert (body.closed, body.chunks) == (1, ["a"])
    assert [message["type"] for message in asking.sent] == [
        "http.response.start",
        "http.response.body",
    ]


def test_middleware_may_wrap_the_stream(run: Any, client: Any) -> None:
    app = Kit()

    async def shout(body: Any) -> AsyncIterator[bytes]:
        async for chunk in body:
            yield chunk.upper()

    @app.use("*")
    async def middleware(c: Context, next: Any) -> None:
        await next()
        c.res = Response(shout(c.res.body), status=c.res.status)

    app.get("/", lambda c: c.body(["a", "b"]))
    assert run(client().ask, app).body == b"AB"


# --- the client goes away ----------------------------------------------------------------------


@pytest.mark.parametrize("waits", [True, False], ids=["while it waits", "while it sends"])
def test_client_going_away_stops_and_closes_an_endless_generator(
    run: Any, client: Any, waits: bool
) -> None:
    trace: list[str] = []

    async def endless() -> AsyncIterator[str]:
        try:
            yield "first"
            while waits:
                await anyio.sleep(60)
            while True:
                await anyio.lowlevel.checkpoint()
                yield "more"
        finally:
            trace.append("finally")

    asking = client(leaves_after=2)
    run(asking.ask, streaming(endless))
    assert trace == ["finally"]
    assert len(asking.sent) == 2


def test_cleaning_up_may_wait_in_a_shield(run: Any, client: Any) -> None:
    trace: list[str] = []

    async def endless() -> AsyncIterator[str]:
        try:
            yield "first"
            await anyio.sleep(60)
        finally:
            trace.append("cleaning up")
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.001)
            trace.append("cleaned up")

    run(client(leaves_after=2).ask, streaming(endless))
    assert trace == ["cleaning up", "cleaned up"]


@pytest.mark.parametrize("failing", [None, OSError("gone")], ids=["ignored", "send fails"])
@pytest.mark.parametrize("count", [1, 40], ids=["one by one", "in a burst"])
def test_client_going_away_does_not_cut_what_is_shielded(
    run: Any, client: Any, count: int, failing: Exception | None
) -> None:
    """Nor does it cancel the stream twice: what comes after the shield is cancelled."""
    asking = client(failing=failing)
    trace: list[str] = []

    async def shielded() -> AsyncIterator[str]:
        try:
            for _ in range(count):
                yield "chunk"
            with anyio.CancelScope(shield=True):
                trace.append("begins")
                asking.gone.set()
                await anyio.sleep(0.03)
                trace.append("is done")
            await anyio.sleep(60)
        finally:
            trace.append("closes")

    run(asking.ask, streaming(shielded))
    assert trace == ["begins", "is done", "closes"]


def test_shielded_end_of_a_stream_whose_client_has_read_all(run: Any, client: Any) -> None:
    asking = client()
    trace: list[str] = []

    async def rows() -> AsyncIterator[str]:
        try:
            yield "all of it"
        finally:
            asking.gone.set()
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.03)
                trace.append("connection closed")

    run(asking.ask, streaming(rows))
    assert trace == ["connection closed"]


@pytest.mark.parametrize("error", [ValueError("after"), HTTPException(403)])
@pytest.mark.parametrize("make", [AsyncOnly, lambda *_: Closing()])
def test_stream_of_a_response_that_an_error_replaces_is_closed(
    run: Any, client: Any, error: Exception, make: Any
) -> None:
    body = make("never sent")

    async def fails(c: Context, next: Any) -> None:
        await next()
        raise error

    app = Kit().use(fails).get("/", lambda c: c.body(body))
    assert run(client().ask, app).check().status in (403, 500)
    assert body.closed == 1


def test_stream_of_a_response_that_is_the_error_is_sent(run: Any, client: Any) -> None:
    body = AsyncOnly("refused")

    async def refuses(c: Context, next: Any) -> None:
        await next()
        raise HTTPException(403, res=c.res)

    app = Kit().use(refuses).get("/", lambda c: c.body(body))
    answer = run(client().ask, app).check()
    assert (answer.status, answer.body, body.closed) == (403, b"refused", 1)


def test_stream_of_a_cancelled_request_is_closed(run: Any, client: Any) -> None:
    body = AsyncOnly("never sent")

    async def waits(c: Context, next: Any) -> None:
        await next()
        await anyio.sleep(60)

    async def ask() -> None:
        with anyio.move_on_after(0.01):
            await client().ask(Kit().use(waits).get("/", lambda c: c.body(body)))

    run(ask)
    assert body.closed == 1


def test_stream_that_can_not_be_closed_is_logged(
    run: Any, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(AsyncOnly):
        async def aclose(self) -> None:
            raise OSError("can't be closed")

    async def fails(c: Context, next: Any) -> None:
        await next()
        raise HTTPException(403)

    app = Kit().use(fails).get("/", lambda c: c.body(Broken()))
    assert run(client().ask, app).status == 403
    assert [str(record.exc_info[1]) for record in caplog.records if record.exc_info] == [
        "can't be closed"
    ]


def test_client_going_away_is_no_fault(
    run: Any, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    run(client(leaves_after=2).ask, streaming(lambda: AsyncOnly(*"abc" * 1000)))
    assert caplog.records == []


@pytest.mark.parametrize("kind", ["generator", "async generator"])
def test_generator_that_never_waits_lets_others_run(run: Any, client: Any, kind: str) -> None:
    def numbers() -> Iterator[str]:
        for number in range(2_000_000):
            yield str(number)
        raise AssertionError("never stopped")

    async def async_numbers() -> AsyncIterator[str]:
        for number in numbers():
            yield number

    # As uvicorn: send() waits only while the buffer is full, and ignores what comes after the
    # client left.
    asking = client(leaves_after=2, busy=False)
    run(asking.ask, streaming(numbers if kind == "generator" else async_numbers))
    assert len(asking.sent) == 2


@pytest.mark.parametrize(
    "received",
    [
        pytest.param([], id="body not read"),
        pytest.param([{"type": "http.request", "body": b"x", "more_body": True}], id="half of it"),
    ],
)
def test_client_going_away_from_a_post_whose_body_nobody_reads(
    run: Any, client: Any, received: Any
) -> None:
    async def numbers() -> AsyncIterator[str]:
        for number in range(5_000):
            await anyio.lowlevel.checkpoint()
            yield str(number)
        raise AssertionError("never stopped")

    asking = client(*received, leaves_after=2)
    run(asking.ask, streaming(numbers), method="POST", headers=[(b"content-length", b"9")])
    assert len(asking.sent) == 2


def test_post_whose_body_was_read_is_watched(run: Any, client: Any) -> None:
    trace: list[str] = []
    app = Kit()

    async def endless(text: str) -> AsyncIterator[str]:
        try:
            yield text
            await anyio.sleep_forever()
        finally:
            trace.append("finally")

    @app.post("/")
    async def handler(c: Context) -> Response:
        return c.body(endless(await c.req.text()))

    asking = client(b"question", leaves_after=2)
    run(asking.ask, app, headers=[(b"content-length", b"8")])
    assert trace == ["finally"]
    assert asking.sent[1]["body"] == b"question"


def test_server_that_ends_the_response_is_not_cancelled(
    run: Any, client: Any, http_scope: Any
) -> None:
    """hypercorn reports the disconnect while it closes the connection, which it still has to do."""

    async def main() -> bool:
        over, ended = anyio.Event(), False
        requests = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> dict[str, Any]:
            await anyio.lowlevel.checkpoint()
            if requests:
                return requests.pop()
            await over.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            nonlocal ended
            await anyio.lowlevel.checkpoint()
            if message == {"type": "http.response.body", "body": b""}:
                over.set()
                await anyio.wait_all_tasks_blocked()
                ended = True

        await streaming(async_chunks)(http_scope(), receive, send)
        return ended

    assert run(main)


def test_sending_that_fails_closes_the_generator(run: Any, client: Any) -> None:
    trace: list[str] = []

    async def generator() -> AsyncIterator[str]:
        try:
            while True:
                await anyio.lowlevel.checkpoint()
                yield "x"
        finally:
            trace.append("finally")

    class GoneError(OSError):
        pass

    for leaves_after in (1, 2):  # before the first chunk, after it
        trace.clear()
        asking = client(leaves_after=leaves_after, failing=GoneError())
        run(asking.ask, streaming(generator))
        assert trace == ["finally"]


def test_sending_the_start_that_fails_closes_the_body(run: Any, client: Any) -> None:
    body = AsyncOnly("a")

    async def main() -> None:
        asking = client(failing=OSError("gone"))
        asking.gone.set()
        with pytest.raises(OSError, match=r"^gone$"):
            await asking.ask(streaming(lambda: body))

    run(main)
    assert body.closed == 1


def test_cancellation_by_the_server_closes_the_generator(run: Any, client: Any) -> None:
    trace: list[str] = []

    async def endless() -> AsyncIterator[str]:
        try:
            while True:
                yield "x"
                await anyio.sleep(0.001)
        finally:
            trace.append("finally")

    async def main() -> bool:
        asking = client()
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(asking.ask, streaming(endless))
                while len(asking.sent) < 3:
                    await anyio.sleep(0.001)
                scope.cancel()
        return scope.cancelled_caught

    assert run(main)
    assert trace == ["finally"]


# --- errors half-way ---------------------------------------------------------------------------


def failing_after(number: int, error: Exception) -> Callable[[], AsyncIterator[str]]:
    async def generator() -> AsyncIterator[str]:
        for _ in range(number):
            yield "x"
        raise error

    return generator


@pytest.mark.parametrize("number", [0, 1, 3])
@pytest.mark.parametrize("error", [ValueError("broke"), OSError("own")], ids=repr)
@pytest.mark.parametrize("kind", ["async generator", "generator", "async iterator", "iterator"])
def test_error_is_raised_as_it_is_and_nothing_starts_again(
    run: Any, client: Any, number: int, error: Exception, kind: str
) -> None:
    def generator() -> Iterator[str]:
        yield from ["x"] * number
        raise error

    class Iterating:
        left = number

        def __iter__(self) -> Any:
            return self

        def __next__(self) -> str:
            if self.left == 0:
                raise error
            self.left -= 1
            return "x"

    make = {
        "async generator": failing_after(number, error),
        "generator": generator,
        "async iterator": lambda: AsyncOnly(*["x"] * number, error),
        "iterator": Iterating,
    }[kind]
    calls: list[Any] = []
    app = streaming(make).on_error(lambda e, c: calls.append(e) or c.text("never"))
    asking = client()

    async def main() -> None:
        with pytest.raises(type(error)) as caught:
            await asking.ask(app)
        assert caught.value is error

    run(main)
    assert [m["type"] for m in asking.sent] == ["http.response.start"] + [
        "http.response.body"
    ] * number
    assert all(m["more_body"] for m in asking.sent[1:])
    assert calls == []


def test_oserror_of_the_stream_itself_counts_although_the_client_is_there(
    run: Any, client: Any
) -> None:
    async def inner() -> AsyncIterator[str]:
        yield "x"
        raise ConnectionResetError("the database went away")

    async def outer() -> AsyncIterator[str]:
        async for chunk in inner():
            yield chunk

    async def main() -> None:
        with pytest.raises(ConnectionResetError, match=r"^the database went away$"):
            await client().ask(streaming(outer))

    run(main)


@pytest.mark.parametrize("chunk", [5, None, {"a": 1}], ids=repr)
def test_chunk_of_another_type_is_told(run: Any, client: Any, chunk: Any) -> None:
    async def main() -> None:
        with pytest.raises(TypeError) as caught:
            await client().ask(streaming(lambda: ["x", chunk]))
        assert str(caught.value) == (
            f"A body yielded {type(chunk).__name__}: expected str or bytes"
        )

    run(main)


def test_error_closes_the_generator(run: Any, client: Any) -> None:
    body = AsyncOnly("x", ValueError("broke"))

    async def main() -> None:
        with pytest.raises(ValueError, match=r"^broke$"):
            await client().ask(streaming(lambda: body))

    run(main)
    assert body.closed == 1


# --- streaming both ways -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param([(b"content-length", b"3")], id="content-length"),
        pytest.param([(b"transfer-encoding", b"chunked")], id="chunked"),
        pytest.param([], id="neither, as HTTP/2 may have it"),
    ],
)
def test_echo_as_it_comes(run: Any, client: Any, headers: Any) -> None:
    app = Kit()

    async def shout(c: Context) -> AsyncIterator[bytes]:
        async for chunk in c.req.raw.body or ():
            yield chunk.upper()

    app.post("/", lambda c: c.body(shout(c)))
    answer = run(client(b"a", b"b", b"c").ask, app, headers=headers, http_version="2")
    assert answer.body == b"ABC"


def test_get_whose_stream_reads_the_body_that_is_not_there(run: Any, client: Any) -> None:
    app = Kit()

    async def generator(c: Context) -> AsyncIterator[str]:
        yield "body: "
        yield repr(await c.req.text())

    app.get("/", lambda c: c.body(generator(c)))
    assert run(client().ask, app).body == b"body: ''"


def test_server_that_repeats_its_empty_request_does_not_block_the_stream(
    run: Any, client: Any
) -> None:
    class Repeating(client):
        """As the simplest test servers: `receive` never waits, and never says disconnect."""

        asked = 0

        async def receive(self) -> dict[str, Any]:
            self.asked += 1
            assert self.asked < 10_000, "the watching task spins"
            return {"type": "http.request", "body": b"", "more_body": False}

    assert run(Repeating().ask, streaming(lambda: ["a"] * 100)).body == b"a" * 100


def test_a_watched_client_that_sends_single_bytes_is_held_back(run: Any, client: Any) -> None:
    class Endless(client):
        asked = 0

        async def receive(self) -> dict[str, Any]:
            self.asked += 1
            return {"type": "http.request", "body": b"x", "more_body": True}

    async def generator(c: Context) -> AsyncIterator[str]:
        yield "begun"
        await anyio.wait_all_tasks_blocked()
        count = asking.asked
        assert count == 64 * 1024
        # The reader gets all of it, in larger chunks, and makes room for more.
        body: Any = c.req.raw.body
        size = 0
        while size < count:
            size += len(await anext(body))
        await body.aclose()
        yield " and done"

    asking = Endless()
    app = Kit().post("/", lambda c: c.body(generator(c)))
    assert run(asking.ask, app, method="POST").body == b"begun and done"


class WholeFile:
    """A body that a server may send by its path."""

    def __init__(self, send_path: str | None) -> None:
        self.send_path = send_path
        self.chunks = [b"one", b"two"]
        self.is_closed = False

    def __aiter__(self) -> WholeFile:
        return self

    async def __anext__(self) -> bytes:
        if not self.chunks:
            raise StopAsyncIteration
        return self.chunks.pop(0)

    async def aclose(self) -> None:
        self.is_closed = True


PATHSEND = {"http.response.pathsend": {}}


@pytest.mark.parametrize(
    ("extensions", "path", "ends_with"),
    [
        (PATHSEND, "/srv/a.bin", {"type": "http.response.pathsend", "path": "/srv/a.bin"}),
        (PATHSEND, None, {"type": "http.response.body", "body": b""}),
        ({}, "/srv/a.bin", {"type": "http.response.body", "body": b""}),
        (None, "/srv/a.bin", {"type": "http.response.body", "body": b""}),
    ],
)
def test_a_file_is_sent_by_its_path_where_the_server_offers_that(
    run: Callable[..., Any],
    client: Callable[..., Any],
    extensions: Any,
    path: str | None,
    ends_with: dict[str, Any],
) -> None:
    body = WholeFile(path)
    app = Kit()
    app.get("/", lambda c: c.body(body))
    sent = run(client().ask, app, extensions=extensions).sent
    assert sent[0]["status"] == 200
    assert sent[-1] == ends_with
    is_by_path = ends_with["type"] == "http.response.pathsend"
    assert len(sent) == (2 if is_by_path else 4)
    assert body.is_closed
    assert body.chunks == ([b"one", b"two"] if is_by_path else [])
