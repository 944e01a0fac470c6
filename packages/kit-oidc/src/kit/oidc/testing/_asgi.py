# SPDX-License-Identifier: MIT
"""Serves the provider for tests over HTTP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import msgspec

__all__ = ("Handle", "serve")

Handle: TypeAlias = Callable[[str, str, Mapping[str, str], bytes], Awaitable[tuple[int, Any]]]
"""Handles a request: method, URL, headers and body."""


async def serve(handle: Handle, scope: Any, receive: Any, send: Any) -> None:
    """Serves one ASGI 3 scope.

    Args:
        handle: Returns the status of a response, and its JSON, or the location of a redirect.
        scope: The scope.
        receive: Receives messages.
        send: Sends messages.
    """
    if scope["type"] == "lifespan":
        await _live(receive, send)
        return
    if scope["type"] != "http":
        raise TypeError(f"the provider serves HTTP, not {scope['type']}")
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    query = scope["query_string"].decode("latin-1")
    path = scope["path"] + (f"?{query}" if query else "")
    url = f"{scope['scheme']}://{headers.get('host', 'localhost')}{path}"
    status, answer = await handle(scope["method"], url, headers, await _read(receive))
    if 300 <= status < 400:
        fields, body = [(b"location", answer.encode())], b""
    else:
        fields, body = [(b"content-type", b"application/json")], msgspec.json.encode(answer)
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": body})


async def _read(receive: Any) -> bytes:
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if not message.get("more_body"):
            return body


async def _live(receive: Any, send: Any) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
