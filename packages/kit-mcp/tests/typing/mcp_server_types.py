# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run.

Not called `mcp_types`: that is a module of the library mcp.
"""

from __future__ import annotations

from typing import assert_type

from kit import Context, Kit, Response
from kit.mcp import mcp, tool

app = Kit()
assert_type(mcp(app), Kit)
mcp(
    app,
    path="/tools",
    name="Bookshelf",
    version="2.0",
    instructions="Look up books first.",
    operations=["read_book"],
    tags="agents",
    allowed_hosts=["books.example.com"],
    allowed_origins="https://inspector.example.com",
    forward_cookies=True,
    timeout=5.0,
    max_result_size=1_000,
    stateless=False,
    json_response=True,
    identify=lambda c: c.req.header("x-user"),
    max_sessions=10,
    session_idle_timeout=60,
)


async def whose(c: Context) -> str | None:
    return None


mcp(app, stateless=False, identify=whose)


@app.get("/books/:id")
@tool(name="read", title="Read", description="Reads.", read_only=True, open_world=False)
async def read_book(c: Context) -> Response:
    return c.text("")


async def called(c: Context) -> Response:
    return await read_book(c)


mcp(app, stateless="no")  # type: ignore
mcp(object())  # type: ignore
tool(read_only="yes")  # type: ignore
