# SPDX-License-Identifier: MIT
"""An app whose clients leave, and what each of them has left behind."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio

from kit import Context, Kit, Limits, Response
from kit.streaming import stream
from kit.typed import typed

SPOOL_BYTES = 10_000
CHUNK = b"x" * 4096
_running: list[str] = []


@contextmanager
def running(what: str) -> Iterator[None]:
    """Notes that something goes on."""
    _running.append(what)
    try:
        yield
    finally:
        _running.remove(what)


def state() -> dict[str, Any]:
    """What there is now of things that end with a request."""
    return {"running": list(_running), "tasks": _tasks(), "temporary_files": _temporary_files()}


def _tasks() -> int:
    trio = sys.modules.get("trio")
    if trio is not None:
        try:
            living: int = trio.lowlevel.current_statistics().tasks_living
        except RuntimeError:  # imported, but it does not run here
            pass
        else:
            return living
    return len(asyncio.all_tasks())


def _temporary_files() -> int:
    """Files that have no name any more, as those have that hold a form."""
    count = 0
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            count += os.readlink(f"/proc/self/fd/{descriptor}").endswith("(deleted)")
        except OSError:  # the one that lists them
            continue
    return count


def reads(read: Callable[[Context], Any]) -> Callable[[Context], Any]:
    """A handler that reads the body."""

    async def handler(c: Context) -> Response:
        with running("handler"):
            await read(c)
        return c.text("complete")

    return handler


async def read_raw(c: Context) -> None:
    body = c.req.raw.body
    assert body is not None
    async for _ in body:
        continue


async def read_in_two_tasks(c: Context) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(c.req.bytes)
        group.start_soon(c.req.form_data)


def generated(c: Context) -> Response:
    async def chunks() -> AsyncIterator[bytes]:
        with running("body"):
            while True:
                yield CHUNK

    return c.body(chunks())


def generated_plainly(c: Context) -> Response:
    def chunks() -> Iterator[bytes]:
        with running("body"):
            while True:
                yield CHUNK

    return c.body(chunks())


def waiting(c: Context) -> Response:
    async def chunks() -> AsyncIterator[bytes]:
        with running("body"):
            yield CHUNK
            await anyio.sleep(3600)

    return c.body(chunks())


def written(c: Context) -> Response:
    async def write(output: Any) -> None:
        with running("body"):
            while True:
                await output.write(CHUNK)

    return stream(c, write)


@typed
async def yielded() -> AsyncIterator[str]:
    with running("body"):
        while True:
            yield "x" * 4096


@typed
async def yielded_slowly() -> AsyncIterator[str]:
    with running("body"):
        while True:
            yield "x" * 4096
            await anyio.sleep(0)


UPLOADS = {
    "raw": read_raw,
    "bytes": lambda c: c.req.bytes(),
    "form_data": lambda c: c.req.form_data(),
    "parse_body": lambda c: c.req.parse_body(),
    "raw_form_data": lambda c: c.req.raw.form_data(),
    "two_tasks": read_in_two_tasks,
}
DOWNLOADS = {
    "generated": generated,
    "generated_plainly": generated_plainly,
    "waiting": waiting,
    "written": written,
    "yielded": yielded,
    "yielded_slowly": yielded_slowly,
}


def make_app() -> Kit:
    """Makes the app."""
    app = Kit(limits=Limits(spool_size_bytes=SPOOL_BYTES))
    app.get("/state", lambda c: c.json(state()))
    for name, read in UPLOADS.items():
        app.post(f"/{name}", reads(read))
    for name, handler in DOWNLOADS.items():
        app.get(f"/{name}", handler)
    return app


def served_app() -> Kit:
    """Makes the app in a process of its own, where all that is worth a line is printed."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("kit").setLevel(logging.DEBUG)
    return make_app()
