# SPDX-License-Identifier: MIT
"""The app of `scripts/soak_millions.py`: the id in a request determines the response.

Planned faults are counted instead of logged, so the log contains only unexpected records.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import anyio
from everything_faults import PlannedError, held, left_open

from kit import Context, HTTPException, Kit, Response
from kit.streaming import stream
from kit.timeout import cancel_on_disconnect, timeout

LATE_S = 0.02
COUNTS: Counter[str] = Counter()

app: Kit[Any, Any] = Kit()


class _Planned(logging.Filter):
    """Counts log records of planned faults, and drops them."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, PlannedError):
            return True
        COUNTS["planned faults logged"] += 1
        return False


# uvicorn and granian log bodies that raise to their own loggers.
for name in ("kit", "uvicorn.error", "_granian", "granian"):
    logging.getLogger(name).addFilter(_Planned())


def answer(c: Context[Any, Any], content: str | bytes, status: int = 200) -> Response:
    headers = {"x-id": c.req.param("id"), "content-type": "text/plain"}
    return c.body(content, status, headers)


@app.get("/text/:id")
async def text(c: Context[Any, Any]) -> Response:
    return answer(c, f"text {c.req.param('id')} {c.req.query('n')}")


@app.get("/header/:id")
async def header(c: Context[Any, Any]) -> Response:
    return answer(c, f"header {c.req.header('x-sent')}")


@app.post("/json/:id")
async def json(c: Context[Any, Any]) -> Response:
    sent = await c.req.json()
    c.header("x-id", c.req.param("id"))
    return c.json({"id": c.req.param("id"), "next": sent["n"] + 1}, 201)


@app.post("/body/:id")
async def body(c: Context[Any, Any]) -> Response:
    with held("body read"):
        return answer(c, (await c.req.bytes())[::-1])


@app.get("/stream/:id")
async def streamed(c: Context[Any, Any]) -> Response:
    ident = c.req.param("id")

    async def chunks() -> AsyncIterator[bytes]:
        for number in range(4):
            yield b"%s %d;" % (ident.encode(), number)

    return answer(c, chunks())  # type: ignore[arg-type]


@app.get("/raise/:id")
async def fault(c: Context[Any, Any]) -> Response:
    c.header("x-id", "must not be sent")
    raise PlannedError(c.req.param("id"))


@app.get("/refuse/:id")
async def refuse(c: Context[Any, Any]) -> Response:
    ident = c.req.param("id")
    raise HTTPException(409, f"refused {ident}", headers={"x-id": ident})


@app.get("/late/:id", use=[timeout(LATE_S)])
async def late(c: Context[Any, Any]) -> Response:
    try:
        await anyio.sleep(60)
    finally:
        COUNTS["timeouts"] += 1
    return c.text("not cancelled")


@app.get("/waits/:id", use=[cancel_on_disconnect()])
async def waits(c: Context[Any, Any]) -> Response:
    with held("waiting"):
        try:
            await anyio.sleep(60)
        finally:
            COUNTS["cancelled"] += 1
    return c.text("not cancelled")


@app.get("/endless/:id")
async def endless(c: Context[Any, Any]) -> Response:
    ident = c.req.param("id").encode()

    async def write(output: Any) -> None:
        with held("endless"):
            while True:
                await output.write(ident * 256)

    return stream(c, write)


@app.get("/broken/:id")
async def broken(c: Context[Any, Any]) -> Response:
    ident = c.req.param("id").encode()

    async def chunks() -> AsyncIterator[bytes]:
        yield ident
        raise PlannedError("in a body")

    return answer(c, chunks())  # type: ignore[arg-type]


@app.get("/state")
async def state(c: Context[Any, Any]) -> Response:
    return c.json({"open": left_open(), "counts": COUNTS, "tasks": len(asyncio.all_tasks())})
