# SPDX-License-Identifier: MIT
"""A proxy, and the upstream server behind it: an app each, in processes of their own."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator
from hashlib import sha256
from typing import Any

import anyio

from kit import Context, Kit, Response
from kit.proxy import reverse_proxy
from kit.websocket import WebSocket, upgrade_websocket

upstream = Kit()
counts: Counter[str] = Counter()
ends: list[Any] = []


def body_of(c: Context) -> AsyncIterable[bytes]:
    body = c.req.raw.body
    assert body is not None and not isinstance(body, bytes)  # noqa: PT018 - servers stream bodies
    return body


@upstream.get("/state")
def state(c: Context) -> Response:
    return c.json({"counts": counts, "ends": ends})


@upstream.all("/base/fields/*")
async def fields(c: Context) -> Response:
    await c.req.bytes()
    lines = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in c.req.raw.headers.raw]
    return c.json({"method": c.req.method, "path": c.req.path, "lines": lines})


@upstream.post("/base/count")
async def count(c: Context) -> Response:
    size, digest = 0, sha256()
    async for chunk in body_of(c):
        size += len(chunk)
        digest.update(chunk)
    length = c.req.header("content-length")
    return c.json({"size": size, "sha256": digest.hexdigest(), "length": length})


@upstream.post("/base/slow-count")
async def slow_count(c: Context) -> Response:
    counts["uploads"] += 1
    try:
        async for _ in body_of(c):
            counts["chunks"] += 1
    finally:
        counts["uploads"] -= 1
    return c.text("all")


@upstream.get("/base/bytes/:size")
async def send_bytes(c: Context) -> Response:
    size = c.req.param("size", int)

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(size // 65536):
            yield b"x" * 65536

    return c.body(chunks(), headers={"content-length": str(size // 65536 * 65536)})


@upstream.get("/base/events")
async def events(c: Context) -> Response:
    async def ticks() -> AsyncIterator[bytes]:
        counts["events"] += 1
        try:
            while True:
                yield b"data: tick\n\n"
                await anyio.sleep(0.05)
        finally:
            counts["events"] -= 1

    return c.body(ticks(), headers={"content-type": "text/event-stream"})


@upstream.get("/base/never")
async def never(c: Context) -> Response:
    counts["waiting"] += 1
    await c.req.raw.wait_for_disconnect()
    counts["waiting"] -= 1
    return c.text("nobody reads this")


@upstream.get("/base/broken")
async def broken(c: Context) -> Response:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"x" * 1000
        raise OSError("the upstream server breaks off")

    return c.body(chunks(), headers={"content-length": "2000"})


@upstream.get("/base/status/:status")
async def with_status(c: Context) -> Response:
    status = c.req.param("status", int)
    headers = {"etag": '"a"', "location": "/base/elsewhere", "set-cookie": ["a=1", "b=2"]}
    return c.body(None if status in (204, 304) else b"content", status, headers)


@upstream.get("/base/encoded")
async def encoded(c: Context) -> Response:
    return c.body(b"not really brotli", headers={"content-encoding": "br"})


@upstream.get("/base/echo")
@upgrade_websocket(origins="*", protocols=["v2", "v1"])
async def echo(c: Context, ws: WebSocket) -> None:
    async for message in ws:
        await ws.send(message)
    ends.append(ws.close_code)


@upstream.get("/base/closes")
@upgrade_websocket(origins="*")
async def closes(c: Context, ws: WebSocket) -> None:
    await ws.send(b"last")
    await ws.close(4321, "enough")


@upstream.get("/base/refuses")
def refuses(c: Context) -> Response:
    return c.text("log in first", 401, {"www-authenticate": "Bearer"})


app = Kit()
app.get("/here", lambda c: c.text("the proxy itself"))
app.all("/api/*", reverse_proxy(f"http://127.0.0.1:{os.environ.get('UPSTREAM', '1')}/base"))
app.all("/nobody/*", reverse_proxy("http://127.0.0.1:1/"))
app.all(
    "/quick/*",
    reverse_proxy(f"http://127.0.0.1:{os.environ.get('UPSTREAM', '1')}/base", read_timeout=0.2),
)
