# SPDX-License-Identifier: MIT
"""Wrong uses that mypy and pyright refuse; never run.

Each ignore below stands for an error: where there is none, the checker reports it as unused.
"""

import asyncio
from typing import Any

from kit import Context, Kit, Response
from kit.interface import Next
from kit.validator import validator

app = Kit()


async def no_context() -> Response:
    return Response("x")


async def returns_text(c: Context) -> str:
    return "x"


def answer(c: Context) -> Response:
    return c.text("x")


async def middleware(c: Context, next: Next) -> None:
    await next()


def on_os_error(error: OSError, c: Context) -> Response:
    return c.text(str(error.errno))


app.get("/", no_context)  # type: ignore  # refused
app.get("/", returns_text)  # type: ignore  # refused
app.use(returns_text)  # type: ignore  # refused
app.get("/x")(no_context)  # type: ignore  # refused
app.get("/x")(returns_text)  # type: ignore  # refused
app.on_error(no_context)  # type: ignore  # refused
app.get("/x", use=answer)  # type: ignore  # refused
app.get("/x", answer, use=[middleware, answer])  # type: ignore  # refused
app.on("GET", "/x", use="csrf")  # type: ignore  # refused
app.get("/x", middleware)(answer)  # type: ignore  # refused
app.on_error(KeyError, on_os_error)  # type: ignore  # refused
app.on_error(KeyError)(on_os_error)  # type: ignore  # refused
app.on_error(OSError, returns_text)  # type: ignore  # refused
app.on_error(asyncio.CancelledError)  # type: ignore  # refused
app.get(5, no_context)  # type: ignore  # refused


def of_value_alone(value: Any) -> Any:
    return value


validator("body", dict)  # type: ignore  # refused
validator("json", 5)  # type: ignore  # refused
validator("json", of_value_alone)  # type: ignore  # refused


async def wrong_readers(c: Context) -> Response:
    number: int = c.req.query("page", int)  # type: ignore  # refused: there may be none
    text: str = c.req.param("id", int)  # type: ignore  # refused
    c.req.query("page", 1)  # type: ignore  # refused: no type
    c.req.query("page", default=1)  # type: ignore  # refused: no type for it
    c.req.header("x", 1)  # type: ignore  # refused: no type
    c.req.valid("body")  # type: ignore  # refused
    c.req.valid("json", {})  # type: ignore  # refused: no type
    await c.req.json(5)  # type: ignore  # refused: no type
    return c.json([number, text])
