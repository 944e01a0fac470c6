# SPDX-License-Identifier: MIT
"""How bodies end: closed with time to clean up, given once, and their files with their request."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import anyio
import pytest

from kit import Context, File, HTTPException, Kit, Limits, Request, Response

MULTIPART = "multipart/form-data; boundary=XX"
HEAD = b'--XX\r\nContent-Disposition: form-data; name="f"; filename="n"\r\n\r\n'
END = b"\r\n--XX--\r\n"
TYPE = [(b"content-type", MULTIPART.encode())]
# Uploads are written to their temporary file by so much at a time, at most.
WRITTEN_BYTES = 1024 * 1024


def test_a_body_that_makes_its_generator_itself_cleans_up(run: Any, client: Any) -> None:
    trace = []

    class Feed:
        async def __aiter__(self) -> AsyncIterator[bytes]:
            try:
                while True:
                    yield b"x"
            finally:
                await anyio.sleep(0.01)
                trace.append("cleaned up")

    class Stalling(client):
        async def take(self, message: dict[str, Any]) -> None:
            await super().take(message)
            if self.gone.is_set():
                await anyio.sleep_forever()

    app = Kit().get("/", lambda c: c.body(Feed()))
    run(Stalling(leaves_after=2).ask, app)
    assert trace == ["cleaned up"]


@pytest.mark.parametrize("how", ["alone", "a header is set", "replaced", "headers changed"])
async def test_a_stream_is_given_once(client: Any, how: str) -> None:
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

    first = await client().ask(app)
    assert (first.status, first.body) == (200, b"once")
    second = await client().ask(app)
    assert (second.status, second.body) == (500, b"Internal Server Error")


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


@pytest.mark.parametrize("content_type", ["multipart/form-data", MULTIPART])
async def test_a_form_that_is_refused_closes_its_body(held: Any, content_type: str) -> None:
    source = Source(HEAD, b"x" * 100)
    headers = {"content-type": content_type}
    request = Request("http://x/", method="POST", headers=headers, body=source)
    async with held(request, limits=Limits(max_body_size_bytes=50)) as req:
        with pytest.raises(HTTPException):
            await req.form_data()
        assert source.closed


async def test_chunks_of_a_server_may_be_any_bytes(client: Any) -> None:
    chunks = [HEAD, bytearray(b"abc"), memoryview(b"def"), END]

    async def upload(c: Context) -> Response:
        return c.body(await (await c.req.parse_body())["f"].bytes())

    app = Kit().post("/", upload)
    answer = await client(*chunks).ask(app, method="POST", headers=TYPE)
    assert (answer.status, answer.body) == (200, b"abcdef")


async def test_a_file_taken_out_of_its_form_ends_with_the_request(client: Any, held: Any) -> None:
    upload = client(HEAD, b"x" * 100, END)
    async with held(upload, headers=TYPE, limits=Limits(spool_size_bytes=10)) as req:
        form = await req.form_data()
        file = form.get("f")
        assert isinstance(file, File)
        form.delete("f")
        assert await file.bytes() == b"x" * 100
    with pytest.raises(ValueError, match=r"^The uploaded file 'n' is gone"):
        await file.bytes()


async def test_a_request_that_ends_does_not_wait_for_the_disk(
    client: Any, held: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that still writes to the temporary file closes it."""
    writes, goes_on, closed = threading.Event(), threading.Event(), threading.Event()

    class Disk:
        def __getattr__(self, name: str) -> Any:
            return lambda *_: None

        def write(self, data: bytes) -> None:
            writes.set()
            assert goes_on.wait(30)

        def close(self) -> None:
            closed.set()

    monkeypatch.setattr(tempfile, "TemporaryFile", Disk)
    upload = client(HEAD, b"x" * WRITTEN_BYTES * 2, END)
    async with held(upload, headers=TYPE, limits=Limits(spool_size_bytes=10)) as req:
        reading = asyncio.create_task(req.form_data())
        await anyio.to_thread.run_sync(writes.wait)
    assert upload.complete
    assert not closed.is_set()
    goes_on.set()
    file = (await reading).get("f")
    assert closed.is_set()
    with pytest.raises(ValueError, match=r"^The uploaded file 'n' is gone"):
        await file.bytes()


async def test_a_form_with_a_file_that_is_written_again_and_dropped(
    client: Any, held: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On trio a generator that is left to the garbage collector is a ResourceWarning."""
    opened = []
    stream = File.stream

    def noted(self: File) -> Any:
        opened.append(stream(self))
        return opened[-1]

    upload = client(HEAD, b"x" * 200_000, END)
    async with held(upload, headers=TYPE, limits=Limits(spool_size_bytes=10)) as req:
        body: Any = Request("http://x/", method="POST", body=await req.form_data()).body
        monkeypatch.setattr(File, "stream", noted)
        await anext(body)
        await anext(body)
        await body.aclose()
    assert [generator.ag_frame for generator in opened] == [None]
