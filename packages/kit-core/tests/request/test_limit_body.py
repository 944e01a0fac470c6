# SPDX-License-Identifier: MIT
"""The size of a body, limited by `KitRequest.limit_body`."""

from __future__ import annotations

import tracemalloc
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest
import trio
import trio.testing
from anyio.lowlevel import checkpoint

from kit import Context, HTTPException, Kit, Next, Response
from kit.interface import ClientDisconnectedError


class TooMuchError(Exception):
    """What the tests refuse a body with."""


class Server:
    """Sends a body in chunks, and then waits.

    Attributes:
        received: How many chunks the app took.
    """

    def __init__(self, *chunks: bytes) -> None:
        self.chunks = chunks
        self.received = 0

    async def receive(self) -> dict[str, Any]:
        await checkpoint()
        if self.received == len(self.chunks):
            await anyio.sleep_forever()
        self.received += 1
        more = self.received < len(self.chunks)
        return {"type": "http.request", "body": self.chunks[self.received - 1], "more_body": more}

    async def serve(self, app: Any) -> tuple[int, bytes]:
        scope = {
            "type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": [],
        }  # fmt: skip
        sent: list[dict[str, Any]] = []

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await app(scope, self.receive, send)
        return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


def limited(handler: Any, *limits: tuple[int, str]) -> Kit:
    """An app whose middleware sets limits, each with the text of its exception."""

    async def limit(c: Context, next: Next) -> None:
        for max_size, text in limits:
            c.req.limit_body(max_size, lambda text=text: TooMuchError(text))  # type: ignore[misc]
        await next()

    app = Kit()
    app.post("/", limit, handler)
    app.on_error(TooMuchError, lambda error, c: c.text(str(error), 413))
    return app


async def length(c: Context) -> Response:
    return c.json(len(await c.req.bytes()))


def test_the_exception_of_refuse_is_raised(run: Callable[..., Any]) -> None:
    app = limited(length, (5, "five"))
    assert run(Server(b"12345").serve, app) == (200, b"5")
    assert run(Server(b"123456").serve, app) == (413, b"five")
    assert run(Server(b"123", b"45", b"6", b"7").serve, app) == (413, b"five")


def test_nothing_is_received_for_a_limit(run: Callable[..., Any]) -> None:
    server = Server(b"123456")
    assert run(server.serve, limited(lambda c: c.text("unread"), (5, "five"))) == (200, b"unread")
    assert server.received == 0


@pytest.mark.parametrize(
    ("limits", "chunks", "expected"),
    [
        ([(9, "nine"), (5, "five")], [b"x" * 6], b"five"),
        ([(9, "nine"), (5, "five")], [b"x" * 10], b"nine"),
        ([(5, "five"), (9, "nine")], [b"x" * 10], b"five"),
        ([(9, "nine"), (5, "five")], [b"x" * 6, b"x" * 4], b"five"),
        ([(5, "five"), (5, "again")], [b"x" * 6], b"five"),
    ],
)
def test_several_limits(
    run: Callable[..., Any], limits: Any, chunks: list[bytes], expected: bytes
) -> None:
    assert run(Server(*chunks).serve, limited(length, *limits)) == (413, expected)
    app = limited(length, *limits)

    async def in_process() -> bytes:
        async def stream() -> AsyncIterator[bytes]:
            for chunk in chunks:
                yield chunk

        return await (await app.request("/", method="POST", body=stream())).bytes()

    assert run(in_process) == expected


def test_a_limit_that_comes_while_the_body_is_read(run: Callable[..., Any]) -> None:
    """What has come counts, and what comes later."""

    async def handler(c: Context) -> Response:
        body: Any = c.req.raw.body
        found = await anext(body)
        c.req.limit_body(5, lambda: TooMuchError("later"))
        assert found == b"123"
        with pytest.raises(TooMuchError):
            c.req.limit_body(2, lambda: TooMuchError("at once"))
        return c.json(sum([len(chunk) async for chunk in body]))

    assert run(Server(b"123", b"456").serve, limited(handler)) == (413, b"at once")

    async def only_later(c: Context) -> Response:
        body: Any = c.req.raw.body
        await anext(body)
        c.req.limit_body(5, lambda: TooMuchError("later"))
        return c.json(sum([len(chunk) async for chunk in body]))

    assert run(Server(b"123", b"456").serve, limited(only_later)) == (413, b"later")
    assert run(Server(b"123", b"45").serve, limited(only_later)) == (200, b"2")


def test_a_limit_after_the_body_was_read(run: Callable[..., Any]) -> None:
    async def handler(c: Context) -> Response:
        await c.req.text()
        c.req.limit_body(5, lambda: TooMuchError("read before"))
        return await length(c)

    for chunks in ([b"123456"], [b"123", b"456"]):
        assert run(Server(*chunks).serve, limited(handler)) == (413, b"read before")
    for chunks in ([b"12345"], [b"123", b"45"]):
        assert run(Server(*chunks).serve, limited(handler)) == (200, b"5")


def test_a_limit_where_the_size_is_not_known(run: Callable[..., Any]) -> None:
    errors: list[str] = []

    async def handler(c: Context) -> Response:
        await c.req.raw.bytes()
        try:
            c.req.limit_body(5, TooMuchError)
        except RuntimeError as error:
            errors.append(str(error))
        return c.text("told")

    async def in_process() -> int:
        return (await limited(handler).request("/", method="POST", body="x")).status

    assert run(in_process) == 200
    assert errors == [
        "The body can't be limited any more: it was already read, without recording its size; set "
        "the limit before code that reads it"
    ]


def test_clones_are_limited(run: Callable[..., Any]) -> None:
    async def handler(c: Context) -> Response:
        copy = c.req.raw.clone()
        refused = 0
        for read in (copy.bytes, c.req.raw.bytes):
            try:
                await read()
            except TooMuchError:
                refused += 1
        return c.json(refused)

    async def cloned_before(c: Context) -> Response:
        copy = c.req.raw.clone()
        c.req.limit_body(5, lambda: TooMuchError("five"))
        assert len(await copy.bytes()) == 6
        return await length(c)

    assert run(Server(b"123", b"456").serve, limited(handler, (5, "five"))) == (200, b"2")
    assert run(Server(b"123", b"45").serve, limited(handler, (5, "five"))) == (200, b"0")
    assert run(Server(b"123", b"456").serve, limited(cloned_before)) == (413, b"five")


def test_several_tasks_are_told(run: Callable[..., Any]) -> None:
    async def handler(c: Context) -> Response:
        told: list[str] = []

        async def read() -> None:
            try:
                await c.req.bytes()
            except TooMuchError as error:
                told.append(str(error))

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(read)
        return c.json(told)

    app = limited(handler, (5, "five"))
    assert run(Server(b"123", b"456", b"7").serve, app) == (200, b'["five","five","five"]')


def test_the_exception_may_be_an_answer(run: Callable[..., Any]) -> None:
    async def handler(c: Context) -> Response:
        c.req.limit_body(5, lambda: HTTPException(413, "answer"))
        return await length(c)

    assert run(Server(b"123456").serve, limited(handler)) == (413, b"answer")


class LeavingServer(Server):
    """Sends a body, and then, or within it, that the client has disconnected."""

    def __init__(self, *chunks: bytes, leaves_at: int) -> None:
        super().__init__(*chunks)
        self.leaves_at = leaves_at
        self.sends_on = False

    async def receive(self) -> dict[str, Any]:
        if self.received < self.leaves_at:
            return await super().receive()
        await checkpoint()
        return {"type": "http.request" if self.sends_on else "http.disconnect", "body": b"more"}


async def told_of_refused(c: Context) -> Response:
    """Waits for the client of a refused body to disconnect."""
    told: list[Any] = []

    async def wait() -> None:
        told.append(await c.req.raw.wait_for_disconnect())

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        for _ in range(10):
            await checkpoint()
        with pytest.raises(TooMuchError):
            await c.req.bytes()
    return c.json(told)


@pytest.mark.parametrize("leaves_at", [2, 3])
@pytest.mark.parametrize("chunks", [[b"123456", b"", b""], [b"123", b"456", b"789"]])
def test_the_client_of_a_refused_body_disconnects(
    run: Callable[..., Any], chunks: list[bytes], leaves_at: int
) -> None:
    server = LeavingServer(*chunks, leaves_at=leaves_at)
    assert run(server.serve, limited(told_of_refused, (5, "five"))) == (200, b"[true]")


@pytest.mark.parametrize("chunks", [[b"123456"], [b"123", b"456", b"789"]])
def test_a_server_that_sends_on_after_a_refused_body(
    run: Callable[..., Any], chunks: list[bytes]
) -> None:
    server = LeavingServer(*chunks, leaves_at=len(chunks))
    server.sends_on = True
    assert run(server.serve, limited(told_of_refused, (5, "five"))) == (200, b"[false]")


async def watched(c: Context) -> Response:
    assert await c.req.raw.wait_for_disconnect()
    try:
        await c.req.bytes()
    except Exception as error:
        return c.text(str(error))
    return c.text("left")


def test_a_client_disconnects_whose_whole_large_body_is_unread(run: Callable[..., Any]) -> None:
    server = LeavingServer(b"x" * 60_000, b"x" * 60_000, leaves_at=2)
    assert run(server.serve, limited(watched)) == (200, b"left")


def served_in_no_time(server: Server, handler: Any) -> tuple[Any, float]:
    """Serves a request; returns the response, and how many seconds passed of a clock that jumps."""
    clock = trio.testing.MockClock(autojump_threshold=0)
    return trio.run(server.serve, limited(handler), clock=clock), clock.current_time()


def test_a_client_disconnects_within_a_large_body_that_is_unread() -> None:
    """After some seconds: until then a reader might begin, and the client is made to wait."""
    server = LeavingServer(*[b"x" * 65536] * 10, leaves_at=5)
    text = b"The client disconnected before its body was complete"
    assert served_in_no_time(server, watched) == ((200, text), 5 * 5)


def test_a_large_body_can_be_read_late() -> None:
    async def handler(c: Context) -> Response:
        async with anyio.create_task_group() as group:
            group.start_soon(c.req.raw.wait_for_disconnect)
            await anyio.sleep(60)
            body = await c.req.bytes()
            group.cancel_scope.cancel()
        return c.text(str(len(body)))

    server = Server(*[b"x" * 65536] * 40)
    assert served_in_no_time(server, handler) == ((200, str(40 * 65536).encode()), 60)


def test_a_large_body_that_nobody_reads_is_dropped() -> None:
    """A streamed response waits for the disconnect, and keeps a megabyte of the body at most."""

    class Fresh(Server):
        async def receive(self) -> dict[str, Any]:
            return {**await super().receive(), "body": bytes(65536)}

    server = Fresh(*[b""] * 300)

    async def handler(c: Context) -> Response:
        tracemalloc.start()
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(c.req.raw.wait_for_disconnect)
                await anyio.sleep(1000)
                group.cancel_scope.cancel()
            assert tracemalloc.get_traced_memory()[1] < 3_000_000
        finally:
            tracemalloc.stop()
        for _ in range(2):
            with pytest.raises(RuntimeError, match=r"^The body was dropped: the response was "):
                await c.req.bytes()
        return c.text("done")

    assert served_in_no_time(server, handler)[0] == (200, b"done")
    assert server.received == 300


def test_a_large_body_that_is_read_slowly_is_kept() -> None:
    server = Server(*[b"x" * 65536] * 100)

    async def handler(c: Context) -> Response:
        sizes = []
        async with anyio.create_task_group() as group:
            group.start_soon(c.req.raw.wait_for_disconnect)
            async for chunk in c.req.raw.body or ():
                sizes.append(len(chunk))
                assert server.received <= len(sizes) + 18  # a megabyte is kept, and one message
                await anyio.sleep(60)
            group.cancel_scope.cancel()
        return c.text(str(sum(sizes)))

    assert served_in_no_time(server, handler)[0] == (200, str(100 * 65536).encode())


def test_a_client_disconnects_beside_a_reader_that_is_behind() -> None:
    """What came of its body for the reader is dropped: nobody waits for an answer."""

    async def handler(c: Context) -> Response:
        sizes = []
        try:
            async for chunk in c.req.raw.body or ():
                sizes.append(len(chunk))
                await c.req.raw.wait_for_disconnect()
        except ClientDisconnectedError:
            return c.json(sizes)
        raise AssertionError("the body was complete")

    server = LeavingServer(*[b"x"] * 2, *[b"x" * 65536] * 10, leaves_at=5)
    assert served_in_no_time(server, handler) == ((200, b"[1]"), 3 * 5)


def test_a_reader_that_is_behind_gets_time(run: Callable[..., Any]) -> None:
    async def handler(c: Context) -> Response:
        async with anyio.create_task_group() as group:
            group.start_soon(c.req.raw.wait_for_disconnect)
            sizes = []
            async for chunk in c.req.raw.body:
                sizes.append(len(chunk))
                assert server.received <= len(sizes) + 2
                for _ in range(10):
                    await checkpoint()
            group.cancel_scope.cancel()
        return c.text(str(sum(sizes)))

    server = Server(*[b"x" * 65536] * 10)
    assert run(server.serve, limited(handler)) == (200, b"655360")
