# SPDX-License-Identifier: MIT
"""An app with MCP servers of both kinds, for clients over sockets."""

from __future__ import annotations

import os
from typing import Any

import anyio
from msgspec import Struct

from kit import Context, HTTPException, Kit, Response
from kit.bearer_auth import bearer_auth
from kit.conninfo import get_conn_info
from kit.cors import cors
from kit.mcp import mcp, tool
from kit.openapi import describe
from kit.validator import validator

TOKENS = ("of-ada", "of-bob")


class Book(Struct):
    """A book."""

    title: str
    year: int | None = None


app: Kit[Any, Any] = Kit()
app.use(
    cors(
        origin=["https://inspector.example"],
        expose_headers=["Mcp-Session-Id", "WWW-Authenticate"],
    )
)
app.use("/guarded", bearer_auth(token="of-ada"))
app.use("/private/*", bearer_auth(token=TOKENS))
ORIGINS = ["https://inspector.example"]
mcp(app, name="Bookshelf", instructions="Look up books first.", allowed_origins=ORIGINS)
mcp(app, path="/sessions", stateless=False, allowed_origins=ORIGINS, max_sessions=100)
mcp(app, path="/guarded")
waiting = {"begun": 0, "ended": 0}


@app.get("/books/:id")
@tool()
@describe(responses={200: Book})
async def read_book(c: Context[Any, Any]) -> Response:
    """Reads a book."""
    if c.req.param("id") != "7":
        raise HTTPException(404, "There is no such book")
    return c.json(Book("Emma", 1815))


@app.post("/books", use=validator("json", Book))
@tool()
async def add_book(c: Context[Any, Any]) -> Response:
    """Adds a book."""
    return c.json(c.req.valid("json"), 201)


@app.get("/private/caller")
@tool()
async def who_am_i(c: Context[Any, Any]) -> Response:
    """Tells what the app knows of the caller."""
    return c.json(
        {
            "headers": c.req.header(),
            "address": get_conn_info(c).remote.address,
            "process": os.getpid(),
        }
    )


@app.post("/waits")
@tool()
async def wait(c: Context[Any, Any]) -> Response:
    """Waits until the call is cancelled."""
    waiting["begun"] += 1
    try:
        await anyio.sleep_forever()
    finally:
        waiting["ended"] += 1


@app.get("/waits")
async def waits(c: Context[Any, Any]) -> Response:
    return c.json(waiting)
