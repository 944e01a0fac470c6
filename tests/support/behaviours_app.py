# SPDX-License-Identifier: MIT
"""The app whose behaviours are compared between servers.

It writes what happens besides its responses to the file named by KIT_TRACE.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from kit import Context, HTTPException, Kit, Limits, Response, in_thread
from kit.asgi import from_asgi
from kit.conninfo import get_conn_info
from kit.cookie import get_cookie, set_cookie
from kit.serve_static import serve_static
from kit.streaming import SSEStreamingApi, stream_sse
from kit.timeout import cancel_on_disconnect
from kit.websocket import WebSocket, upgrade_websocket

MOST_BYTES = 14_000_000
TRACE = os.environ.get("KIT_TRACE", os.devnull)
met: dict[str, anyio.Event] = {}


def note(text: str) -> None:
    """Appends a line to the trace."""
    with open(TRACE, "a") as file:
        file.write(text + "\n")


@asynccontextmanager
async def lifespan(app: Any) -> AsyncIterator[dict[str, Any]]:
    if os.environ.get("KIT_START_FAILS"):
        raise RuntimeError("no database at startup")
    note("startup")
    yield {"state": "from the lifespan"}
    await anyio.sleep(0)
    note("shutdown")


class ConflictError(Exception):
    """An error that the app's error handler handles."""


def on_error(error: Exception, c: Context) -> Response:
    if isinstance(error, ConflictError):
        return c.json({"conflict": str(error)}, 409)
    raise error


app = Kit(lifespan=lifespan, limits=Limits(max_body_size_bytes=MOST_BYTES)).on_error(on_error)


# --- methods and routing -----------------------------------------------------------------------


app.get("/text", lambda c: c.text("hello"))
app.on(
    ["OPTIONS", "POST", "PUT", "PATCH", "DELETE", "PURGE"],
    "/method",
    lambda c: c.text(c.req.method),
)
app.get("/echo/:value", lambda c: c.json(c.req.param("value")))
app.get("/path/*", lambda c: c.text(c.req.path))
app.get("/query", lambda c: c.json(c.req.queries()))


# --- request headers ---------------------------------------------------------------------------


app.get("/header", lambda c: c.json(c.req.header("x-value")))
app.get("/header-length", lambda c: c.json(len(c.req.header("x-value") or "")))
app.get("/under", lambda c: c.json([c.req.header("x_under"), c.req.header("x-under")]))
app.get("/type", lambda c: c.json(c.req.header("content-type")))
app.get("/cookie", lambda c: c.json([get_cookie(c, "a"), get_cookie(c, "b")]))


# --- bodies ------------------------------------------------------------------------------------


@app.post("/json")
async def read_json(c: Context) -> Response:
    return c.json({"got": await c.req.json()}, 201)


@app.post("/form")
async def read_form(c: Context) -> Response:
    return c.json(await c.req.parse_body())


@app.post("/upload")
async def upload(c: Context) -> Response:
    form = await c.req.parse_body()
    file: Any = form["file"]
    return c.json([file.name, file.size, (await file.bytes()).hex(), form["title"]])


@app.post("/bytes")
async def read_bytes(c: Context) -> Response:
    return c.json((await c.req.bytes()).hex())


@app.post("/count")
async def count(c: Context) -> Response:
    digest, size = hashlib.md5(), 0
    async for chunk in c.req.raw.body:  # type: ignore[union-attr]
        digest.update(chunk)
        size += len(chunk)
    return c.text(f"{size} {digest.hexdigest()[:8]}")


app.post("/ignored", lambda c: c.text("not read"))


@app.post("/broken-off")
async def broken_off(c: Context) -> Response:
    note("broken-off begins")
    try:
        await c.req.bytes()
    except Exception as error:
        note(f"broken-off {type(error).__name__}")
        raise
    return c.text("whole")


# --- responses ---------------------------------------------------------------------------------


OCTETS = {"content-type": "application/octet-stream"}
app.get("/binary", lambda c: c.body(bytes(range(256)), 200, OCTETS))
app.get("/unicode", lambda c: c.text("größer ✓"))
app.get("/empty", lambda c: c.body(None, 204))
app.get("/unchanged", lambda c: c.body(None, 304, {"etag": '"x"'}))
app.get("/large", lambda c: c.body(b"x" * 5_000_000, 200, {"content-type": "application/x-large"}))
app.get("/status/:code", lambda c: c.text("a status", int(c.req.param("code"))))
app.get("/redirect", lambda c: c.redirect("/text"))
app.get("/untyped", lambda c: c.body(b"untyped"))


@app.get("/cookies")
def cookies(c: Context) -> Response:
    for name in "abc":
        set_cookie(c, name, "1")
    return c.text("three")


@app.get("/repeated")
def repeated(c: Context) -> Response:
    c.header("link", "</a>", append=True)
    c.header("link", "</b>", append=True)
    return c.text("two")


@app.get("/latin-1")
def latin_1(c: Context) -> Response:
    return c.body("latin", 200, {"x-value": "caf\xe9", "content-type": "text/plain"})


async def numbers() -> AsyncIterator[str]:
    for number in range(5):
        await anyio.sleep(0)
        yield f"{number};"


app.get("/stream", lambda c: c.body(numbers(), 200, {"content-type": "text/plain"}))
app.get(
    "/generator",
    lambda c: c.body((b"%d;" % n for n in range(5)), 200, {"content-type": "text/plain"}),
)


@app.get("/sse")
def sse(c: Context) -> Response:
    async def write(stream: SSEStreamingApi) -> None:
        for number in range(2):
            await stream.write_sse(data=str(number), event="tick")

    return stream_sse(c, write)


@app.get("/gated/:name")
def gated(c: Context) -> Response:
    gate = met.setdefault(c.req.param("name"), anyio.Event())

    async def chunks() -> AsyncIterator[str]:
        yield "first;"
        await gate.wait()
        yield "second;"

    return c.body(chunks(), 200, {"content-type": "text/plain"})


@app.get("/open/:name")
def open_gate(c: Context) -> Response:
    met.setdefault(c.req.param("name"), anyio.Event()).set()
    return c.text("open")


@app.get("/broken")
def broken(c: Context) -> Response:
    async def chunks() -> AsyncIterator[str]:
        yield "a"
        await anyio.sleep(0.02)
        raise ValueError("broken stream")

    return c.body(chunks(), 200, {"content-type": "text/plain"})


# --- disconnects -------------------------------------------------------------------------------


@app.get("/endless")
def endless(c: Context) -> Response:
    async def chunks() -> AsyncIterator[str]:
        try:
            while True:
                yield "tick"
                await anyio.sleep(0.01)
        finally:
            note("endless closed")

    return c.body(chunks())


@app.get("/endless-generator")
def endless_generator(c: Context) -> Response:
    def chunks() -> Iterator[bytes]:
        try:
            while True:
                yield b"x" * 20_000
        finally:
            note("endless-generator closed")

    return c.body(chunks())


@app.get("/waiting", use=[cancel_on_disconnect()])
async def waiting(c: Context) -> Response:
    note("waiting begins")
    try:
        await anyio.sleep_forever()
    finally:
        note("waiting cancelled")


# --- background --------------------------------------------------------------------------------


async def later(name: str) -> None:
    await anyio.sleep(0.05)
    note(f"later {name}")


@app.get("/later/:name")
def promise(c: Context) -> Response:
    name = c.req.param("name")
    c.execution_ctx.wait_until(later(name))
    if name == "failing":
        raise ValueError("after the promise")
    return c.text("now")


@app.get("/slow/:name")
async def slow(c: Context) -> Response:
    note(f"slow {c.req.param('name')} begins")
    await anyio.sleep(0.3)
    c.execution_ctx.wait_until(later(c.req.param("name")))
    return c.text("slow")


# --- errors, lifespans, connections ------------------------------------------------------------


@app.get("/boom")
def boom(c: Context) -> Response:
    raise ValueError("boom")


@app.get("/refused")
def refused(c: Context) -> Response:
    raise HTTPException(403, "refused", headers={"x-why": "because"})


@app.get("/conflict")
def conflict(c: Context) -> Response:
    raise ConflictError("two at once")


app.get("/env", lambda c: c.json(c.env["state"]))
app.get("/trace", lambda c: c.text(Path(TRACE).read_text()))
app.get("/client", lambda c: c.json(get_conn_info(c).remote.address))
app.get("/url", lambda c: c.text(c.req.url))
app.mount("/mounted", from_asgi(Kit().get("/:what", lambda c: c.json([c.req.path, c.req.url]))))


@app.get("/meet/:name/:side")
async def meet(c: Context) -> Response:
    """Responds once both sides have arrived."""
    name, side = c.req.param("name"), c.req.param("side")
    met.setdefault(f"{name} {side}", anyio.Event()).set()
    other = "b" if side == "a" else "a"
    await met.setdefault(f"{name} {other}", anyio.Event()).wait()
    return c.text("met")


@app.get("/meet-in-thread/:side")
@in_thread
def meet_in_thread(c: Context) -> Response:
    return anyio.from_thread.run(_meet_thread, c)


async def _meet_thread(c: Context) -> Response:
    side = c.req.param("side")
    met.setdefault(f"thread {side}", anyio.Event()).set()
    await met.setdefault("thread " + ("b" if side == "a" else "a"), anyio.Event()).wait()
    return c.text("met")


# --- files -------------------------------------------------------------------------------------

_FILES = Path(TRACE).parent / "files"
if _FILES.is_dir():
    app.use(
        "/files/*",
        serve_static(_FILES, rewrite_request_path=lambda path: path.removeprefix("/files")),
    )


# --- WebSocket ---------------------------------------------------------------------------------


@app.get("/ws")
@upgrade_websocket(origins="*", protocols=["chat"])
async def chat(c: Context, ws: WebSocket) -> None:
    async for message in ws:
        if message == "close":
            await ws.close(4000, "as asked")
        elif message == "fail":
            raise ValueError("in a conversation")
        else:
            await ws.send(message)
    note("ws over")


async def guard(c: Context, next: Any) -> Response | None:
    if c.req.header("x-pass") is None:
        return c.json({"error": "unauthorized"}, 401)
    await next()
    return None


@app.get("/guarded-ws", use=[guard])
@upgrade_websocket(origins="*")
async def guarded(c: Context, ws: WebSocket) -> None:
    await ws.send(json.dumps(c.req.header("x-pass")))
