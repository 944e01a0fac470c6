# SPDX-License-Identifier: MIT
"""An app that reads forms, tells what was in them, and what memory that took."""

from __future__ import annotations

import hashlib
import tracemalloc
from typing import Any

from kit import Context, File, FormData, Kit, Response


async def described(value: str | File) -> Any:
    """Text as it is; a file by its name, media type, size and the hash of its content."""
    if isinstance(value, str):
        return value
    content = hashlib.sha256()
    async for chunk in value.stream():
        content.update(chunk)
    return [value.name, value.type, value.size, content.hexdigest()]


async def answer(c: Context, form: FormData) -> Response:
    return c.json([[name, await described(value)] for name, value in form])


async def form_data(c: Context) -> Response:
    return await answer(c, await c.req.form_data())


async def raw_form_data(c: Context) -> Response:
    return await answer(c, await c.req.raw.form_data())


async def parse_body(c: Context) -> Response:
    values = await c.req.parse_body(all=True)
    return c.json({name: await described(value) for name, value in values.items()})


async def bytes_first(c: Context) -> Response:
    await c.req.bytes()
    return await answer(c, await c.req.form_data())


def peak(c: Context) -> Response:
    """How many bytes of memory were taken at most since this was asked before."""
    now, most = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    return c.json({"now": now, "most": most})


def make_app() -> Kit:
    """Makes the app."""
    app = Kit()
    app.post("/form_data", form_data).post("/raw", raw_form_data)
    app.post("/parse_body", parse_body).post("/bytes_first", bytes_first)
    app.get("/peak", peak)
    app.get("/page", lambda c: c.html(c.req.query("html") or ""))
    return app


def measured() -> Kit:
    """Makes the app in a process whose memory is measured."""
    tracemalloc.start()
    return make_app()
