# SPDX-License-Identifier: MIT
"""Sends an app's ASGI messages as the RSGI response to an HTTP request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from ._types import HeaderPairs, RsgiHttp, RsgiTransport

# SPEC: RFC 9110 section 6.4.1.
_STATUSES_WITHOUT_CONTENT = (101, 204, 304)


class ResponseSender:
    """Sends a response: whole, by the path of a file, or as a stream.

    RSGI has no flow control: the server keeps data that the client has not read yet in memory.

    Args:
        protocol: The RSGI protocol.
        method: The method of the request.
        on_end: Called once the server has the whole response.
    """

    __slots__ = ("_has_length", "_head", "_method", "_on_end", "_protocol", "_transport")

    def __init__(self, protocol: RsgiHttp, method: str, on_end: Callable[[], None]) -> None:
        self._protocol = protocol
        self._method = method
        self._on_end = on_end
        self._head: tuple[int, HeaderPairs] = (500, [])
        self._has_length = False
        self._transport: RsgiTransport | None = None

    async def send(self, message: Any) -> None:
        """Sends the head of the response, or a part of its body.

        SPEC: ASGI HTTP, "Response Start" and "Response Body - send event", "Path Send" extension.

        Raises:
            ConnectionResetError: If the client has disconnected.
        """
        kind = message["type"]
        if kind == "http.response.start":
            self._start(message["status"], message["headers"])
        elif kind == "http.response.pathsend":
            self._protocol.response_file(*self._head, message["path"])
            self._on_end()
        else:
            await self._send_body(message["body"], is_last=not message.get("more_body", False))

    def _start(self, status: int, lines: Any) -> None:
        """Keeps the head of a response, or sends it at once if the length is unknown.

        The app sends whole responses with their length. A stream without a length may take long to
        start, and its client waits for the head. A stream with a length starts with its first
        chunk.
        """
        self._head = status, header_pairs(lines)
        self._has_length = b"content-length" in dict(lines)
        has_content = self._method != "HEAD" and status not in _STATUSES_WITHOUT_CONTENT
        if has_content and not self._has_length:
            self._transport = self._protocol.response_stream(*self._head)

    async def _send_body(self, body: bytes, *, is_last: bool) -> None:
        if self._transport is None:
            if is_last:
                self._send_whole(body)
                return
            self._transport = self._protocol.response_stream(*self._head)
        if body:
            try:
                await self._transport.send_bytes(body)
            except RuntimeError as error:  # granian's RSGIProtocolClosed
                raise ConnectionResetError(str(error)) from None
        if is_last:
            self._transport = None  # ends the stream
            self._on_end()

    def _send_whole(self, body: bytes) -> None:
        if body:
            self._protocol.response_bytes(*self._head, body)
        else:
            self._protocol.response_empty(*self._head)
        self._on_end()

    def leave_unfinished(self) -> None:
        """Keeps a stream whose last message wasn't sent from looking complete.

        RSGI can't abort a response, and the server ends it once nothing refers to its transport.
        The transport is therefore kept until the client gives up. With a Content-Length, the client
        can detect that bytes are missing.
        """
        if self._has_length:
            self._transport = None
        elif self._transport is not None:
            waiting = asyncio.ensure_future(self._wait_for_client())
            _unfinished.add(waiting)
            waiting.add_done_callback(_unfinished.discard)

    async def _wait_for_client(self) -> None:
        await self._protocol.client_disconnect()


# An event loop holds only weak references to its tasks.
_unfinished: set[asyncio.Future[None]] = set()


def header_pairs(lines: Any) -> HeaderPairs:
    """Converts header lines for an RSGI server."""
    return [(name.decode(), _decode(value)) for name, value in lines]


def _decode(value: bytes) -> str:
    """Decodes a header value, which the server encodes as UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")  # RSGI can't send these bytes unchanged
