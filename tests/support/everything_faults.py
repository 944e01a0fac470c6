# SPDX-License-Identifier: MIT
"""Faults on purpose, and the count of what is open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio

from kit import Context, HTTPException, Kit, Response
from kit.streaming import StreamAbortedError, stream

HELD: Counter[str] = Counter()
"""How many of each are open: lifespans, streams, tasks."""


class PlannedError(Exception):
    """Raised on purpose."""


def is_planned(error: BaseException, *paths: str) -> bool:
    """Whether an exception is one that is meant to be raised at one of the paths."""
    if isinstance(error, BaseExceptionGroup):
        return all(is_planned(each, *paths) for each in error.exceptions)
    planned = (PlannedError, StreamAbortedError, HTTPException)
    return isinstance(error, planned) or any("/misuse/" in path for path in paths)


@contextmanager
def held(what: str) -> Iterator[None]:
    """Counts what is open, until it is closed in whatever way."""
    HELD[what] += 1
    try:
        yield
    finally:
        HELD[what] -= 1


def left_open(but_for: str = "nothing") -> dict[str, int]:
    """Returns what is open now, apart from what has a name with `but_for` in it."""
    return {what: count for what, count in HELD.items() if count and but_for not in what}


async def grouped(c: Context) -> None:
    """Raises an answer from within a task group."""

    async def refuse() -> None:
        raise HTTPException(409, "from a group")

    async with anyio.create_task_group() as group:
        group.start_soon(refuse)


async def two_faults(c: Context) -> None:
    """Raises a group of two."""
    raise ExceptionGroup("two", [PlannedError("one"), HTTPException(400, "two")])


def raising(make_error: Callable[[], Exception]) -> Any:
    """Makes a handler that raises, each time another one: an exception keeps its traceback."""

    def handler(c: Context) -> None:
        c.header("x-set", "before the fault")
        raise make_error()

    return handler


async def next_twice(c: Context, next: Any) -> None:
    """Middleware with a mistake."""
    await next()
    await next()


async def without_next(c: Context, next: Any) -> None:
    """Middleware with another mistake."""


async def broken_generator(c: Context) -> Response:
    """Raises in the middle of its body."""

    async def chunks() -> Any:
        with held("broken generator"):
            yield "some"
            raise PlannedError("in the middle")

    return c.body(chunks())


async def broken_callback(c: Context) -> Response:
    """Raises in the middle of its body."""

    async def write(out: Any) -> None:
        with held("broken callback"):
            await out.write("some")
            raise PlannedError("in the middle")

    return stream(c, write)


async def broken_chunk(c: Context) -> Response:
    """Gives what is no chunk."""

    async def chunks() -> Any:
        with held("broken chunk"):
            yield "some"
            yield 1

    return c.body(chunks())


async def aborted_callback(c: Context) -> Response:
    """Gives its answer up."""

    async def write(out: Any) -> None:
        with held("aborted callback"):
            await out.write("some")
            await out.abort()
            await out.write("more")

    return stream(c, write)


async def used(c: Context) -> Response:
    """Gives a response whose body was read."""
    response = c.body(iter(["some"]))
    await response.text()
    return response


async def broken_later(c: Context) -> Response:
    """Leaves a task that raises, and another one that does not."""

    async def raise_later() -> None:
        with held("task"):
            await anyio.sleep(0)
            raise PlannedError("later")

    async def end_later() -> None:
        with held("task"):
            await anyio.sleep(0)

    c.execution_ctx.wait_until(raise_later())
    c.execution_ctx.wait_until(end_later())
    return c.text("now")


def add_faults(app: Kit) -> None:
    """Adds the routes whose faults are planned."""
    app.get("/raise/fault", raising(lambda: PlannedError("fault")))
    app.all("/raise/any", raising(lambda: PlannedError("any")))
    app.get("/raise/on-error", raising(lambda: PlannedError("on_error")))
    app.get(
        "/raise/refused", raising(lambda: HTTPException(403, "refused", headers={"x-why": "so"}))
    )
    app.get("/raise/204", raising(lambda: HTTPException(204)))
    # One response for all: it must not be used up, or changed, by the first that it answers.
    shared = Response("shared", status=400, headers={"x-kind": "shared"})
    app.get("/raise/response", raising(lambda: HTTPException(451, res=shared)))
    app.get("/raise/group", grouped)
    app.get("/raise/two", two_faults)
    app.get("/misuse/nothing", lambda c: None)
    app.get("/misuse/dict", lambda c: {"a": 1})
    app.get("/misuse/next-twice", next_twice, lambda c: c.text("inside"))
    app.get("/misuse/without-next", without_next, lambda c: c.text("never"))
    app.get("/misuse/newline", lambda c: c.text("x", 200, {"x-evil": "a\r\nset-cookie: b=c"}))
    app.get("/misuse/body-of-204", lambda c: c.text("x", 204))
    app.get("/misuse/json", lambda c: c.json({"a": object()}))
    app.get("/broken/generator", broken_generator)
    app.get("/broken/callback", broken_callback)
    app.get("/misuse/chunk", broken_chunk)
    app.get("/misuse/used", used)
    app.get("/broken/aborted", aborted_callback)
    app.get("/broken/later", broken_later)
