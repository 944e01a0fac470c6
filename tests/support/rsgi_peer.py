# SPDX-License-Identifier: MIT
"""An RSGI server written by hand (SPEC: RSGI 1.6)."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from typing import Any


class Headers:
    """Header lines."""

    def __init__(self, lines: Iterable[tuple[str, str]]) -> None:
        self._lines = list(lines)

    def items(self) -> list[tuple[str, str]]:
        return self._lines

    def get(self, key: str, default: Any = None) -> Any:
        return next((value for name, value in self._lines if name == key), default)

    def get_all(self, key: str) -> list[str]:
        return [value for name, value in self._lines if name == key]

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None


@dataclass
class Scope:
    """A request."""

    path: str = "/"
    method: str = "GET"
    lines: Iterable[tuple[str, str]] = (("host", "example.com"),)
    proto: str = "http"
    http_version: str = "1.1"
    server: str = "127.0.0.1:8000"
    client: str = "127.0.0.1:50000"
    scheme: str = "http"
    query_string: str = ""
    authority: str | None = None

    @property
    def headers(self) -> Headers:
        return Headers(self.lines)


class Transport:
    """Takes the chunks of a stream until the client leaves."""

    def __init__(self, protocol: Http) -> None:
        self._protocol = protocol

    async def send_bytes(self, data: bytes) -> None:
        if self._protocol.gone.is_set():
            raise RuntimeError("RSGI transport is closed")
        self._protocol.sent.append(data)


@dataclass
class Http:
    """The exchange of a request.

    Args:
        chunks: The body; None is a chunk that comes only with `more`.

    Attributes:
        answer: The kind of response, its status, its headers, and what else it was given.
        sent: The chunks of a stream.
        gone: Set once the client has left.
    """

    chunks: Iterable[bytes | None] = ()
    answer: Any = None
    sent: list[bytes] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    more: asyncio.Event = field(default_factory=asyncio.Event)
    _transport: weakref.ref[Transport] | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            if chunk is None:
                await self.more.wait()
            else:
                yield chunk

    async def client_disconnect(self) -> None:
        await self.gone.wait()

    def _respond(self, kind: str, status: int, headers: Any, *rest: Any) -> None:
        assert self.answer is None
        self.answer = (kind, status, dict(headers), *rest)

    def response_empty(self, status: int, headers: Any) -> None:
        self._respond("empty", status, headers)

    def response_bytes(self, status: int, headers: Any, body: bytes) -> None:
        self._respond("bytes", status, headers, body)

    def response_file(self, status: int, headers: Any, file: str) -> None:
        self._respond("file", status, headers, file)

    def response_stream(self, status: int, headers: Any) -> Transport:
        self._respond("stream", status, headers)
        transport = Transport(self)
        self._transport = weakref.ref(transport)
        return transport

    @property
    def is_open(self) -> bool:
        """Whether the stream has not ended: as with granian, nothing may refer to the transport."""
        return self._transport is not None and self._transport() is not None


@dataclass
class Message:
    """A message of a WebSocket."""

    kind: int
    data: Any = None


class Socket:
    """A WebSocket, accepted or not; it is its own transport.

    Args:
        messages: What the client sends; then it is silent.

    Attributes:
        sent: What the client got.
        closed: The statuses that it was closed with.
    """

    def __init__(self, *messages: Message | Exception, accepts: bool = True) -> None:
        self._messages = list(messages)
        self._accepts = accepts
        self.sent: list[Any] = []
        self.closed: list[Any] = []
        self.is_gone = False

    async def accept(self) -> Socket:
        if not self._accepts:
            raise RuntimeError("RSGI protocol error")
        self.sent.append("accepted")
        return self

    def close(self, status: int | None = None) -> None:
        self.closed.append(status)

    async def receive(self) -> Message:
        if not self._messages:
            await asyncio.get_running_loop().create_future()
        message = self._messages.pop(0)
        if isinstance(message, Exception):
            raise message
        return message

    async def send_bytes(self, data: bytes) -> None:
        await self._send(data)

    async def send_str(self, data: str) -> None:
        await self._send(data)

    async def _send(self, data: Any) -> None:
        if self.is_gone:
            raise RuntimeError("RSGI transport is closed")
        self.sent.append(data)
