# SPDX-License-Identifier: MIT
"""An app whose answers are compressed; its events wait until the client has the last one."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio

from kit import Context, Kit, Response
from kit.compress import compress
from kit.etag import etag
from kit.streaming import SSEStreamingApi, stream_sse

LINES = [f"Line {number}: Momo and the grey gentlemen.\n" for number in range(20_000)]
TEXT = "".join(LINES[:500])
LARGE = "".join(LINES) * 2  # beyond what is compressed in one go
EVENTS = 3
HUGE_CHUNKS = 2_000
HUGE_CHUNK_BYTES = 128 * 1024
PAGE = "<!doctype html><title>Compressed</title><p>Here"

app = Kit()
app.use(compress())
app.use("/tagged", etag())
_received: dict[str, anyio.Event] = {}
_ended: dict[str, anyio.Event] = {}
_how: dict[str, str] = {}


@app.get("/page")
def page(c: Context) -> Response:
    """A page to run scripts in."""
    return c.html(PAGE)


@app.get("/text")
def text(c: Context) -> Response:
    """A body in memory, with a strong ETag of its own."""
    return c.text(TEXT, headers={"ETag": '"v1"'})


@app.get("/tagged")
def tagged(c: Context) -> Response:
    """A body in memory, whose ETag is made."""
    return c.text(TEXT)


@app.get("/large")
def large(c: Context) -> Response:
    """A body in memory that is sent while it is compressed."""
    return c.text(LARGE)


@app.get("/events/:name")
def events(c: Context) -> Response:
    """Events, each of which is sent once the client says that it has the one before."""
    name = c.req.param("name", str)

    async def write(stream: SSEStreamingApi) -> None:
        for number in range(EVENTS):
            _received[name] = anyio.Event()
            await stream.write_sse(f"event {number}")
            await _received[name].wait()

    return stream_sse(c, write)


@app.post("/received/:name")
def received(c: Context) -> Response:
    """The client has an event."""
    _received[c.req.param("name", str)].set()
    return c.text("")


@app.get("/huge")
def huge(c: Context) -> Response:
    """A stream of far more than a server should hold."""

    async def chunks() -> AsyncIterator[bytes]:
        for number in range(HUGE_CHUNKS):
            yield b"%08d" % number * (HUGE_CHUNK_BYTES // 8)

    return c.body(chunks(), headers={"Content-Type": "text/plain"})


@app.get("/endless/:name")
def endless(c: Context) -> Response:
    """A stream that waits forever once it has begun."""
    name = c.req.param("name", str)
    _ended[name] = anyio.Event()

    async def chunks() -> AsyncIterator[str]:
        try:
            yield "begun"
            await anyio.sleep_forever()
        except BaseException as error:
            _how[name] = type(error).__name__
            _ended[name].set()
            raise

    return c.body(chunks(), headers={"Content-Type": "text/plain"})


@app.get("/ended/:name")
async def ended(c: Context) -> Response:
    """How that stream has ended, once it has."""
    name = c.req.param("name", str)
    await _ended[name].wait()
    return c.text(_how[name])
