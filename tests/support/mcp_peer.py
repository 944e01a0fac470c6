# SPDX-License-Identifier: MIT
"""Speaks to MCP servers: in process by hand, over sockets with the client of the library."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

ACCEPT = "application/json, text/event-stream"
VERSION = "2025-11-25"


def message(method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params or {})}


async def post(
    app: Any, body: Any, path: str = "/mcp", headers: Mapping[str, str] | None = None
) -> Any:
    """Posts a message to an app in process."""
    own = {"accept": ACCEPT, "mcp-protocol-version": VERSION, **(headers or {})}
    return await app.request(path, method="POST", json=body, headers=own)


async def ask(app: Any, method: str, params: Mapping[str, Any] | None = None, **how: Any) -> Any:
    """What a server answers to a request: the result, or the error."""
    response = await post(app, message(method, params), **how)
    text = await response.text()
    assert response.status == 200, text
    if (response.headers.get("content-type") or "").startswith("text/event-stream"):
        lines = text.splitlines()
        text = next(line[6:] for line in lines if line.startswith("data: {"))
    answer = json.loads(text)
    return answer.get("result", answer.get("error"))


async def list_tools(app: Any, **how: Any) -> dict[str, Any]:
    """The tools by name."""
    return {each["name"]: each for each in (await ask(app, "tools/list", **how))["tools"]}


async def call(app: Any, name: str, arguments: Any = None, **how: Any) -> Any:
    """The result of a tool call."""
    return await ask(app, "tools/call", {"name": name, "arguments": arguments or {}}, **how)


def text_of(result: Any) -> str:
    """The text of a result that has nothing but that."""
    (content,) = result["content"]
    assert content["type"] == "text"
    return str(content["text"])


@asynccontextmanager
async def connected(
    url: str, headers: Mapping[str, str] | None = None
) -> AsyncIterator[ClientSession]:
    """A session of the library's client, not initialized."""
    async with (
        httpx2.AsyncClient(headers=dict(headers or {}), timeout=20, verify=False) as client,
        streamable_http_client(url, http_client=client) as streams,
        ClientSession(*streams[:2]) as session,
    ):
        yield session
