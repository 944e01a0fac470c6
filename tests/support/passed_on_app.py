# SPDX-License-Identifier: MIT
"""An app that passes on headers of another server, with all that framed its answer there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from kit import Context, Kit, Response

UPSTREAM = {
    "connection": "keep-alive, x-hop",
    "keep-alive": "timeout=5",
    "proxy-connection": "keep-alive",
    "te": "trailers",
    "trailer": "x-sum",
    "transfer-encoding": "chunked",
    "upgrade": "h2c",
    "x-hop": "1",
    "x-end": "1",
}

app = Kit()


async def chunks() -> AsyncIterator[bytes]:
    yield b"up"
    yield b"stream"


@app.get("/whole")
def whole(c: Context) -> Response:
    return Response("upstream", headers=UPSTREAM)


@app.get("/stream")
def stream(c: Context) -> Response:
    return Response(chunks(), headers=UPSTREAM)


@app.get("/length")
def length(c: Context) -> Response:
    return Response(chunks(), headers=[*UPSTREAM.items(), ("content-length", "8, 9")])


@app.get("/short")
def short(c: Context) -> Response:
    return Response("upstream", headers={**UPSTREAM, "content-length": "3"})


@app.get("/by-c")
def by_c(c: Context) -> Response:
    for name, value in UPSTREAM.items():
        c.header(name, value)
    return c.text("upstream")


@app.get("/by-argument")
def by_argument(c: Context) -> Response:
    return c.text("upstream", headers=UPSTREAM)


@app.get("/by-set-headers")
def by_set_headers(c: Context) -> Response:
    c.set_headers(UPSTREAM)
    return c.body("upstream")


async def afterwards(c: Context, next: Any) -> None:
    await next()
    c.set_headers(UPSTREAM)


app.get("/afterwards", afterwards, lambda c: c.text("upstream"))
