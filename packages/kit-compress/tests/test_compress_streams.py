# SPDX-License-Identifier: MIT
"""Streams: sent chunk by chunk, closed, and never held in memory."""

from __future__ import annotations

import os
import zlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest
from content_codings import CODINGS, Decoder, decode

from kit import Context, Kit
from kit.compress import compress
from kit.streaming import stream_sse

Run = Callable[..., Any]


def served(body: Callable[[Context], Any], coding: str) -> tuple[Kit, dict[str, Any]]:
    app = Kit()
    app.use(compress(encoding=coding))
    app.get("/", body)
    return app, {"headers": {"Accept-Encoding": coding}}


class Chunks:
    """A stream of chunks, which notes how many were read, and how it ended."""

    def __init__(self, *chunks: bytes) -> None:
        self.chunks = chunks
        self.read = 0
        self.ended: str | None = None

    async def stream(self) -> AsyncIterator[bytes]:
        try:
            for chunk in self.chunks:
                self.read += 1
                yield chunk
        except BaseException as error:
            self.ended = type(error).__name__
            raise
        else:
            self.ended = "read"

    def response(self, c: Context) -> Any:
        return c.body(self.stream(), headers={"Content-Type": "text/plain"})


@pytest.mark.parametrize("coding", CODINGS)
def test_each_chunk_can_be_decoded_when_it_is_sent(run: Run, coding: str) -> None:
    chunks = Chunks(b"one", b"", b"two " * 10_000, b"three")
    app, init = served(chunks.response, coding)

    async def conversation() -> None:
        response = await app.request("/", init)
        assert response.headers.get("content-encoding") == coding
        assert not response.headers.has("content-length")
        decoder = Decoder(coding)
        sent = response.body.__aiter__()
        for number, chunk in ((1, b"one"), (3, b"two " * 10_000), (4, b"three")):
            assert decoder.feed(await anext(sent)) == chunk
            assert chunks.read == number
        assert decoder.feed(await anext(sent)) == b""
        with pytest.raises(StopAsyncIteration):
            await anext(sent)

    run(conversation)
    assert chunks.ended == "read"


@pytest.mark.parametrize("coding", CODINGS)
def test_large_chunks_are_sent_while_they_are_compressed(run: Run, coding: str) -> None:
    chunk = os.urandom(3_000_000)
    app, init = served(Chunks(chunk, b"end").response, coding)

    async def conversation() -> None:
        response = await app.request("/", init)
        sent = [piece async for piece in response.body]
        assert len(sent) > 4
        assert max(map(len, sent)) < 1_100_000
        assert decode(coding, b"".join(sent)) == chunk + b"end"

    run(conversation)


def test_large_bodies_in_memory_are_sent_so_too(run: Run) -> None:
    body = os.urandom(2_000_000)
    app, init = served(lambda c: c.body(body, headers={"Content-Type": "text/plain"}), "gzip")

    async def conversation() -> None:
        response = await app.request("/", init)
        sent = [piece async for piece in response.body]
        assert len(sent) > 5
        assert zlib.decompress(b"".join(sent), 31) == body

    run(conversation)


def test_an_empty_stream_is_a_valid_one(run: Run) -> None:
    app, init = served(Chunks().response, "gzip")

    async def conversation() -> bytes:
        return await (await app.request("/", init)).bytes()

    assert decode("gzip", run(conversation)) == b""


@pytest.mark.parametrize(("length", "coding"), [("1023", None), ("1024", "gzip"), ("x", "gzip")])
def test_a_declared_length_counts(run: Run, length: str, coding: str | None) -> None:
    def handler(c: Context) -> Any:
        headers = {"Content-Type": "text/plain", "Content-Length": length}
        return c.body(Chunks(b"a" * 1000).stream(), headers=headers)

    app, init = served(handler, "gzip")

    async def conversation() -> tuple[Any, ...]:
        headers = (await app.request("/", init)).headers
        return headers.get("content-encoding"), headers.get("content-length")

    assert run(conversation) == (coding, None if coding else length)


def test_a_fault_of_the_stream_is_passed_on(run: Run) -> None:
    async def failing() -> AsyncIterator[bytes]:
        yield b"one"
        raise ValueError("a fault")

    app, init = served(lambda c: c.body(failing(), headers={"Content-Type": "text/x"}), "br")

    async def conversation() -> None:
        response = await app.request("/", init)
        with pytest.raises(ValueError, match="a fault"):
            await response.bytes()

    run(conversation)


def test_a_stream_is_closed_if_it_is_not_read_on(run: Run) -> None:
    chunks = Chunks(b"one", b"two")
    app, init = served(chunks.response, "zstd")

    async def conversation() -> None:
        body = (await app.request("/", init)).body
        assert await anext(body.__aiter__())
        await body.aclose()

    run(conversation)
    assert (chunks.read, chunks.ended) == (1, "GeneratorExit")


class Unread:
    """A stream that must not be read."""

    def __init__(self) -> None:
        self.closed = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        raise AssertionError("it was read")

    async def aclose(self) -> None:
        self.closed = True


def asgi_scope(method: str, coding: str) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": "/",
        "raw_path": b"/",
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"a.example"), (b"accept-encoding", coding.encode())],
        "client": ("127.0.0.1", 5000),
        "server": ("127.0.0.1", 80),
    }


def test_head_closes_a_stream_unread(run: Run) -> None:
    body = Unread()
    app, _ = served(lambda c: c.body(body, headers={"Content-Type": "text/plain"}), "gzip")
    sent: list[dict[str, Any]] = []

    async def conversation() -> None:
        async def receive() -> dict[str, Any]:
            await anyio.sleep_forever()
            raise AssertionError

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await app(asgi_scope("HEAD", "gzip"), receive, send)

    run(conversation)
    assert body.closed
    assert (b"content-encoding", b"gzip") in sent[0]["headers"]
    assert b"".join(message.get("body", b"") for message in sent) == b""


@pytest.mark.parametrize("coding", CODINGS)
def test_a_stream_is_cancelled_when_the_client_leaves(run: Run, coding: str) -> None:
    ended: list[str] = []

    async def endless() -> AsyncIterator[bytes]:
        try:
            yield b"one"
            await anyio.sleep_forever()
        except BaseException as error:
            ended.append(type(error).__name__)
            raise

    app, _ = served(lambda c: c.body(endless(), headers={"Content-Type": "text/plain"}), coding)

    async def conversation() -> bytes:
        arrived = anyio.Event()
        left = iter([{"type": "http.request", "body": b"", "more_body": False}])
        data = b""

        async def receive() -> dict[str, Any]:
            for message in left:
                return message
            await arrived.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            nonlocal data
            data += message.get("body", b"")
            if data:
                arrived.set()

        await app(asgi_scope("GET", coding), receive, send)
        return data

    assert Decoder(coding).feed(run(conversation)) == b"one"
    assert ended
    assert ended[0] in ("CancelledError", "Cancelled")


@pytest.mark.parametrize("coding", CODINGS)
def test_server_sent_events_arrive_one_by_one(run: Run, coding: str) -> None:
    async def conversation() -> None:
        received = anyio.Event()

        def handler(c: Context) -> Any:
            async def write(stream: Any) -> None:
                nonlocal received
                for number in range(3):
                    await stream.write_sse(str(number))
                    await received.wait()
                    received = anyio.Event()

            return stream_sse(c, write)

        app, init = served(handler, coding)
        response = await app.request("/", init)
        assert response.headers.get("content-encoding") == coding
        decoder = Decoder(coding)
        sent = response.body.__aiter__()
        for number in range(3):
            assert decoder.feed(await anext(sent)) == b"data: %d\n\n" % number
            received.set()
        assert [decoder.feed(last) async for last in sent] == [b""]

    run(conversation)
