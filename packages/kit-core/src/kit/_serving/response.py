# SPDX-License-Identifier: MIT
"""Sends the bodies to an ASGI server that aren't in memory."""

from __future__ import annotations

from typing import Any

from kit.context import Context
from kit.web._streams import close_stream

from .stream import send_stream
from .types import Message, Send


async def send_body(head: Message, body: Any, c: Context[Any, Any], send: Send) -> None:
    """Sends a response whose body is streamed, or is a file.

    Args:
        head: The message that starts the response.
        body: The body, which is closed, even if it is not sent.
        c: The context of the request.
        send: Sends messages to the server.

    Raises:
        Exception: The exception that the body raised. The response has started by then, so the
            server closes the connection.
    """
    path = getattr(body, "send_path", None)  # see kit.interface.PathBody
    if path is None or "http.response.pathsend" not in (c._scope.get("extensions") or {}):
        await send_stream(head, body, send, c._wait_for_disconnect)
        return
    try:
        await send(head)
        await send({"type": "http.response.pathsend", "path": path})
    finally:
        await close_stream(body)
