# SPDX-License-Identifier: MIT
"""Sends a response to an RSGI server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from kit._engine.framing import frame
from kit._serving.stream import send_stream
from kit.context import Context
from kit.rsgi import HeaderPairs, RsgiHttp, RsgiTransport
from kit.web._streams import close_stream


def header_pairs(lines: Iterable[tuple[bytes, bytes]]) -> HeaderPairs:
    """Returns header lines as an RSGI server takes them."""
    return [(name.decode(), _text(value)) for name, value in lines]


def _text(value: bytes) -> str:
    """Returns a header value, which the server encodes as UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")  # RSGI has no way to send these bytes as they are


async def send_response(c: Context[Any, Any], protocol: RsgiHttp) -> None:
    """Sends the response of a request. A streamed body is closed, even if it is not sent.

    Args:
        c: The context of the request, whose handlers have run.
        protocol: The protocol of the server.

    Raises:
        Exception: The exception that a streamed body raised. If the response has started by then,
            the client doesn't get its end.
    """
    status, lines, body = frame(c)
    if isinstance(body, bytes):
        if body:
            protocol.response_bytes(status, header_pairs(lines), body)
        else:
            protocol.response_empty(status, header_pairs(lines))
        return
    path = getattr(body, "send_path", None)  # see kit.interface.PathBody
    if path is not None:
        protocol.response_file(status, header_pairs(lines), path)
        await close_stream(body)
        return
    head = {"status": status, "headers": lines}
    sender = _StreamSender(protocol)
    try:
        await send_stream(head, body, sender.send, c._wait_for_disconnect)
    except BaseException:
        sender.leave_unfinished()
        raise
    sender.end()


class _StreamSender:
    """Sends a streamed response by the messages of ASGI.

    RSGI has no flow control: the server keeps what the client has not read yet in memory.

    Args:
        protocol: The protocol of the server.
    """

    __slots__ = ("_has_length", "_protocol", "_transport")

    def __init__(self, protocol: RsgiHttp) -> None:
        self._protocol = protocol
        self._transport: RsgiTransport | None = None
        self._has_length = False

    def end(self) -> None:
        """Ends the response, which the server does once nothing refers to its transport."""
        self._transport = None

    async def send(self, message: Any) -> None:
        """Sends the head of the response, or a chunk of its body.

        Raises:
            ConnectionResetError: If the client has disconnected.
        """
        if self._transport is None:
            pairs = header_pairs(message["headers"])
            self._has_length = any(name == "content-length" for name, _ in pairs)
            self._transport = self._protocol.response_stream(message["status"], pairs)
        elif message["body"]:
            try:
                await self._transport.send_bytes(message["body"])
            except RuntimeError as error:  # granian's RSGIProtocolClosed
                raise ConnectionResetError(str(error)) from None

    def leave_unfinished(self) -> None:
        """Keeps a response that has failed from looking complete.

        RSGI can't abort a response, and the server ends it once nothing refers to its transport.
        So the transport is kept until the client gives up. With a Content-Length, the client can
        tell by itself that bytes are missing.
        """
        if self._has_length:
            self.end()
        elif self._transport is not None:
            waiting = asyncio.ensure_future(self._wait_for_client())
            _unfinished.add(waiting)
            waiting.add_done_callback(_unfinished.discard)

    async def _wait_for_client(self) -> None:
        await self._protocol.client_disconnect()


# An event loop holds only weak references to its tasks.
_unfinished: set[asyncio.Future[None]] = set()
