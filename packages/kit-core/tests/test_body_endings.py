# SPDX-License-Identifier: MIT
"""How bodies end: closed with time to clean up, given once, and their files with their request."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import anyio
import pytest

from kit import Context, File, HTTPException, Kit, KitRequest, Limits, Request, Response
from kit.web import _multipart
from kit.web._spool import Spool

MULTIPART = "multipart/form-data; boundary=XX"
HEAD = b'--XX\r\nContent-Disposition: form-data; name="f"; filename="n"\r\n\r\n'
SCOPE: dict[str, Any] = {
    "type": "http",
    "method": "GET",
    "path": "/",
    "raw_path": b"/",
    "query_string": b"",
    "headers": [],
}


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_body_that_makes_its_generator_itself_cleans_up(backend: str) -> None:
    trace = []

    class Feed:
        async def __aiter__(self) -> AsyncIterator[bytes]:
            try:
                while True:
                    yield b"x"
            finally:
                await anyio.sleep(0.01)
                trace.append("cleaned up")

    app = Kit().get("/", lambda c: c.body(Feed()))
    gone = False

    async def receive() -> dict[str, Any]:
        while not gone:
            await anyio.sleep(0.001)
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        nonlocal gone
        gone = message["type"] == "http.response.body"
        await anyio.sleep(10 if gone else 0)

    async def main() -> None:
        with anyio.fail_after(5):
            await app(dict(SCOPE), receive, send)

    anyio.run(main, backend=backend)
    assert trace == ["cleaned up"]


@pytest.mark.parametrize("how", ["alone", "a header is set", "replaced", "headers changed"])
async def test_a_stream_is_given_once(how: str) -> None:
    async def chunks() -> AsyncGenerator[bytes, None]:
        yield b"once"

    stream = Response(chunks())
    app = Kit()

    @app.use()
    async def around(c: Context, next: Any) -> None:
        await next()
        if how == "a header is set":
            c.header("x-a", "1")
        elif how == "replaced":
            c.res = stream
        elif how == "headers changed":
            c.res.headers.set("x-a", "1")

    app.get("/", lambda c: c.text("old") if how == "replaced" else stream)

    async def served() -> tuple[int, bytes]:
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            await anyio.sleep_forever()
            raise AssertionError

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await app(dict(SCOPE), receive, send)
        return sent[0]["status"], b"".join(message["body"] for message in sent[1:])

    assert await served() == (200, b"once")
    assert await served() == (500, b"Internal Server Error")


class Source:
    """A body that says whether it was closed."""

    def __init__(self, *chunks: bytes) -> None:
        self.chunks = list(chunks)
        self.closed = False

    def __aiter__(self) -> Source:
        return self

    async def __anext__(self) -> bytes:
        if not self.chunks:
            raise StopAsyncIteration
        return self.chunks.pop(0)

    async def aclose(self) -> None:
        self.closed = True


def request_of(body: Any, content_type: str = MULTIPART, **limits: int) -> KitRequest:
    headers = {"content-type": content_type}
    req = KitRequest(Request("http://x/", method="POST", headers=headers, body=body))
    req._limits = Limits(**limits)
    return req


@pytest.mark.parametrize("content_type", ["multipart/form-data", MULTIPART])
async def test_a_form_that_is_refused_closes_its_body(content_type: str) -> None:
    source = Source(HEAD, b"x" * 100)
    req = request_of(source, content_type, max_body_size_bytes=50)
    with pytest.raises(HTTPException):
        await req.form_data()
    assert source.closed


async def test_chunks_of_a_server_may_be_any_bytes() -> None:
    messages = [HEAD, bytearray(b"abc"), memoryview(b"def"), b"\r\n--XX--\r\n"]
    events = [{"type": "http.request", "body": data, "more_body": True} for data in messages]
    events.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> dict[str, Any]:
        return events.pop(0)

    found = []

    async def upload(c: Context) -> Response:
        found.append(await (await c.req.parse_body())["f"].bytes())
        return c.text("")

    async def send(message: dict[str, Any]) -> None:
        found.append(message.get("status"))

    app = Kit().post("/", upload)
    headers = [(b"content-type", MULTIPART.encode())]
    await app({**SCOPE, "method": "POST", "headers": headers}, receive, send)
    assert found[:2] == [b"abcdef", 200]


async def test_a_file_taken_out_of_its_form_ends_with_the_request() -> None:
    req = request_of(Source(HEAD, b"x" * 100, b"\r\n--XX--\r\n"), spool_size_bytes=10)
    form = await req.form_data()
    file = form.get("f")
    assert isinstance(file, File)
    form.delete("f")
    assert await file.bytes() == b"x" * 100
    req._close()
    with pytest.raises(ValueError, match=r"^The uploaded file 'n' is gone"):
        await file.bytes()


async def test_who_closes_a_file_does_not_wait_for_the_disk() -> None:
    writes, goes_on = threading.Event(), threading.Event()
    spool = Spool()
    await spool.write(b"first")

    class Slow:
        closed = False

        def __getattr__(self, name: str) -> Any:
            return lambda *_: None

        def write(self, data: bytes) -> None:
            writes.set()
            assert goes_on.wait(5)

        def close(self) -> None:
            self.closed = True

    spool._file.close()
    spool._file = file = Slow()
    async with anyio.create_task_group() as group:
        group.start_soon(spool.write, b"second")
        await anyio.to_thread.run_sync(writes.wait)
        spool.close()
        assert not file.closed
        goes_on.set()
    assert file.closed
    assert spool.read_at(0, 5) is None


async def test_a_form_with_a_file_that_is_written_again_and_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On trio a generator that is left to the garbage collector is a ResourceWarning."""
    monkeypatch.setattr(_multipart, "_WRITE_BYTES", 1)
    req = request_of(Source(HEAD, b"x" * 200_000, b"\r\n--XX--\r\n"), spool_size_bytes=10)
    form = await req.form_data()
    body: Any = Request("http://x/", method="POST", body=form).body
    opened = []
    stream = File.stream

    def noted(self: File) -> Any:
        opened.append(stream(self))
        return opened[-1]

    monkeypatch.setattr(File, "stream", noted)
    await anext(body)
    await anext(body)
    await body.aclose()
    assert [generator.ag_frame for generator in opened] == [None]
    req._close()
