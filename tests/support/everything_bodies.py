# SPDX-License-Identifier: MIT
"""Handlers that read bodies, and handlers that stream them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import anyio
from everything_faults import HELD, PlannedError, held

from kit import Context, File, HTTPException, Kit, KitRequest, Response
from kit.request import clone_raw_request
from kit.streaming import stream, stream_sse, stream_text
from kit.validator import validator


@dataclass
class Book:
    """What `/json` takes."""

    title: str
    year: int = 0
    authors: list[str] = field(default_factory=list)


def entry(value: Any) -> Any:
    """A form value as JSON can show it."""
    if isinstance(value, File):
        return [value.name, value.type, value.size]
    if isinstance(value, list):
        return [entry(each) for each in value]
    if isinstance(value, dict):
        return {name: entry(each) for name, each in value.items()}
    return value


async def as_form(req: KitRequest) -> Any:
    return [[name, entry(value)] for name, value in await req.form_data()]


async def as_files(req: KitRequest) -> Any:
    form = await req.form_data()
    return [(await value.bytes()).hex() for _, value in form if isinstance(value, File)]


async def as_clone(req: KitRequest) -> Any:
    return (await (await clone_raw_request(req)).bytes()).hex()


async def as_bytes(req: KitRequest) -> Any:
    return (await req.bytes()).hex()


async def as_blob(req: KitRequest) -> Any:
    blob = await req.blob()
    return [blob.size, blob.type]


READERS: dict[str, Callable[[KitRequest], Awaitable[Any]]] = {
    "bytes": as_bytes,
    "text": lambda req: req.text(),
    "json": lambda req: req.json(),
    "blob": as_blob,
    "form": as_form,
    "files": as_files,
    "clone": as_clone,
    "parsed": lambda req: _parsed(req, all=True, dot=True),
    "limited": lambda req: _parsed(req, max_fields=1),
}


async def _parsed(req: KitRequest, **options: Any) -> Any:
    return entry(await req.parse_body(**options))


async def read(c: Context) -> Response:
    """Reads the body in every way that the path names, one after the other."""
    seen: list[Any] = []
    for how in (c.req.param("how") or "").split("+"):
        if how not in READERS:
            return c.text("unknown reader", 404)
        try:
            seen.append(await READERS[how](c.req))
        except HTTPException as error:
            seen.append([error.status, error.message])
    return c.json(seen)


async def read_together(c: Context) -> Response:
    """Reads the body in two tasks at once."""
    seen: dict[str, Any] = {}

    async def keep(how: str) -> None:
        try:
            seen[how] = await READERS[how](c.req)
        except HTTPException as error:
            seen[how] = error.status

    async with anyio.create_task_group() as group:
        for how in ("bytes", "text"):
            group.start_soon(keep, how)
    return c.json(dict(sorted(seen.items())))


async def read_json(c: Context) -> Response:
    """Reads JSON into a type."""
    return c.json(await c.req.json(type=Book), 201)


async def checked(c: Context) -> Response:
    """Answers with what a validator returned for the body."""
    return c.json([c.req.valid("json"), entry(c.req.valid("form"))])


def boom(c: Context) -> Response:
    """Raises on purpose."""
    raise PlannedError("boom")


def teapot(c: Context) -> Response:
    """Raises an answer."""
    raise HTTPException(418, "teapot")


async def louder(body: Any) -> AsyncIterator[bytes]:
    """Changes a body, and its length, while it passes."""
    with held("louder"):
        try:
            async for chunk in body:
                yield chunk.upper()
            yield b"!"
        finally:
            with anyio.CancelScope(shield=True):
                await body.aclose()


async def stream_both_ways(c: Context) -> Response:
    """Answers with the body of the request, made louder, while it comes."""
    body = c.req.raw.body
    return c.body(None) if body is None else c.body(louder(body))


def counted(c: Context) -> Response:
    """An async generator."""

    async def chunks() -> AsyncIterator[str]:
        with held("counted"):
            for number in range(5):
                await anyio.sleep(0)
                yield f"n{number};"

    return c.body(chunks())


def plainly(c: Context) -> Response:
    """A plain generator that never waits, with empty chunks in it."""

    def chunks() -> Iterator[bytes]:
        with held("plainly"):
            for number in range(40):
                yield b"a" * (number % 3)

    return c.body(chunks())


def endless(c: Context) -> Response:
    """Ends when the client leaves."""

    async def chunks() -> AsyncIterator[str]:
        with held("endless"):
            while True:
                yield "tick"
                await anyio.sleep(0)

    return c.body(chunks())


def written(c: Context) -> Response:
    """A callback that writes from two tasks."""

    async def write(out: Any) -> None:
        with held("written"):
            out.on_abort(lambda: None)
            await out.writeln("first")
            async with anyio.create_task_group() as group:
                for _ in range(2):
                    group.start_soon(out.write, "both;")
            await out.pipe(["last", b"!"])

    return stream_text(c, write)


def endlessly_written(c: Context) -> Response:
    """A callback that ends when the client leaves."""

    async def write(out: Any) -> None:
        with held("endlessly written"):
            while True:
                await out.write("tick")
                await out.sleep(0)

    return stream(c, write)


def closed_early(c: Context) -> Response:
    """A callback whose error the error handler makes an end of."""

    async def write(out: Any) -> None:
        with held("closed early"):
            await out.write("some")
            raise PlannedError("expected")

    async def finish(error: Exception, out: Any) -> None:
        await out.write(", then the rest")
        out.close()

    return stream(c, write, finish)


def events(c: Context) -> Response:
    """Server-sent events."""

    async def write(out: Any) -> None:
        with held("events"):
            await out.write_sse(data=out.last_event_id or "none", event="last")
            await out.write_sse(data={"a": [1]}, id="1", retry=1000)

    return stream_sse(c, write, keep_alive=60)


def later(c: Context) -> Response:
    """Leaves tasks for after the answer, one of which leaves another."""
    ctx = c.execution_ctx

    async def end(times: int) -> None:
        HELD["promised"] -= 1
        with held("task"):
            await anyio.sleep(0)
            if times:
                leave(times - 1)

    def leave(times: int) -> None:
        HELD["promised"] += 1
        ctx.wait_until(end(times))

    leave(2)
    return c.text("now")


def add_streams(app: Kit, prefix: str) -> None:
    """Adds the routes with streamed answers."""
    app.get(f"{prefix}/stream/counted", counted)
    app.get(f"{prefix}/stream/plainly", plainly)
    app.get(f"{prefix}/stream/endless", endless)
    app.get(f"{prefix}/stream/written", written)
    app.get(f"{prefix}/stream/endlessly-written", endlessly_written)
    app.get(f"{prefix}/stream/closed-early", closed_early)
    app.get(f"{prefix}/stream/events", events)
    app.post(f"{prefix}/stream/both-ways", stream_both_ways)


def add_bodies(app: Kit) -> None:
    """Adds the routes."""
    app.on(["POST", "PUT"], "/read/:how", read)
    app.post("/together", read_together)
    app.post("/json", read_json)
    app.post("/checked/json", validator("json", Book), checked)
    app.post("/checked/form", validator("form", dict[str, Any]), checked)
    app.post("/ignored", lambda c: c.text("not read"))
    app.all("/later", later)
    add_streams(app, "")
