# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Sequence
from typing import Any, Literal, TypedDict, assert_type

from kit import interface
from kit.interface import (
    AsyncMiddleware,
    Context,
    FieldError,
    Handler,
    HTTPException,
    Middleware,
    Next,
    ProblemError,
    Request,
    RequestValidationError,
    Response,
    RouterRoute,
)
from kit.interface.metadata import Facts, attach, get_facts
from kit.interface.websocket import (
    MessageEvent,
    WebSocket,
    WebSocketDisconnectedError,
    WSEvents,
)


class Book(TypedDict):
    title: str


# Middleware that needs more than headers, on the interface alone.


async def upper(chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        yield chunk.upper()


async def shouting(c: Context, next: Next) -> Response | None:
    assert_type(c.matched_routes, Sequence[RouterRoute])
    assert_type(c.req.raw.body, bytes | AsyncIterable[bytes] | None)
    assert_type(c.req.raw.clone(), Request)
    assert_type(c.req.raw.replace(method="PUT", url="http://localhost/x"), Request)
    assert_type(await c.req.json(type=Book), Book)
    assert_type(await c.req.json(Book), Book)
    assert_type(c.req.param("id", int), int)
    assert_type(c.req.param("id", int, default=None), int | None)
    assert_type(c.req.query("page", int), int | None)
    assert_type(c.req.query("page", int, default=1), int)
    assert_type(c.req.query("q", default=""), str)
    assert_type(c.req.query("sort", Literal["title"]), Literal["title"] | None)
    assert_type(c.req.queries("ids", int), list[int])
    assert_type(c.req.header("x-version", int), int | None)
    assert_type(c.req.header("x-version", int, default=1), int)
    assert_type(c.req.valid("json", Book), Book)
    form = await c.req.form_data()
    for value in form.values():
        assert_type(value, str | interface.File)
    await next()
    body = c.res.body
    if isinstance(body, bytes):
        c.res = c.res.replace(body=body.upper(), status=c.res.status)
    elif body is not None:
        c.res = c.res.replace(body=upper(body), headers={"x-shouted": "1"})
    c.res.headers["x"] = ", ".join(c.res.headers.keys())
    return None


async def numbers() -> AsyncIterator[bytes]:
    yield b"1"


def streaming(c: Context) -> Response:
    return c.body(numbers(), 200, {"content-type": "text/plain"})


middleware: Middleware = shouting
async_middleware: AsyncMiddleware = shouting
middleware = async_middleware


# Async middleware can be wrapped.


async def wrapping(c: Context, next: Next) -> Response | None:
    if c.req.path == "/open":
        await next()
        return None
    return await async_middleware(c, next)


handler: Handler = streaming


# Facts: what is attached keeps its type.


def guard(*, realm: str) -> AsyncMiddleware:
    async def guard(c: Context, next: Next) -> None:
        await next()

    made = attach(guard, security={"type": "http", "scheme": "basic"}, responses={401: None})
    return attach(made, provides={"user": str}, validates={"query": Book}, kit_hello=1)


assert_type(get_facts(guard(realm="x")), Facts)
assert_type(get_facts(None).mounted, bool)


# Errors.


def fail(status: int) -> None:
    if status == 400:
        errors: list[FieldError] = [{"path": "a", "message": "Field required", "type": "missing"}]
        raise RequestValidationError("json", errors)
    if status == 409:
        raise ProblemError(409, "Out of stock", left=3, type="/problems/stock")
    raise HTTPException(status, body=b"x", headers={"content-type": "text/x"})


# WebSocket.


async def chat(ws: WebSocket) -> None:
    async for message in ws:
        assert_type(message, str | bytes)
        await ws.send(message)
    assert_type(await ws.receive_json(), Any)
    assert_type(await ws.receive_json(type=Book), Book)
    try:
        await ws.close(1000, "done")
    except WebSocketDisconnectedError as error:
        assert_type(error.code, int)


async def on_message(event: MessageEvent, ws: WebSocket) -> None:
    await ws.send(event.data)


events = WSEvents(on_message=on_message, on_close=lambda event, ws: print(event.code, ws))
