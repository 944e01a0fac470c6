# SPDX-License-Identifier: MIT
"""Requests and responses of the behaviours, and how they are sent over a connection."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import BinaryIO

import wire

HOST = "example.com"


@dataclass(frozen=True)
class Request:
    """A request.

    Attributes:
        target: Path and query, as they are on the wire.
        method: The method.
        headers: Further header lines.
        body: The body.
        is_chunked: Whether the body is sent in chunks, without a Content-Length.
    """

    target: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    is_chunked: bool = False

    def head(self, *, keep: bool = False) -> bytes:
        """Returns the head as on the wire."""
        lines = [f"{self.method} {self.target} HTTP/1.1", f"host: {HOST}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        lines += [] if keep else ["connection: close"]
        if self.is_chunked:
            lines.append("transfer-encoding: chunked")
        elif self.body:
            lines.append(f"content-length: {len(self.body)}")
        return "\r\n".join([*lines, "", ""]).encode("latin-1")

    def message(self, *, keep: bool = False) -> bytes:
        """Returns head and body as on the wire."""
        body = self.body
        if self.is_chunked:
            parts = [body[at : at + 65536] for at in range(0, len(body), 65536)]
            body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [*parts, b""])
        return self.head(keep=keep) + body


@dataclass(frozen=True)
class Answer:
    """A response.

    Attributes:
        status: The status code.
        headers: The header lines, names in lower case.
        body: The body.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def values(self, name: str) -> list[str]:
        """Returns the values of a header."""
        return [value for n, value in self.headers if n == name]

    def shown(self, *names: str) -> str:
        """Returns status, body and some headers in one line."""
        lines = [f"{name}: {' | '.join(self.values(name)) or 'none'}" for name in names]
        return "; ".join([f"{self.status} {text_of(self.body)}".rstrip(), *lines])


def text_of(body: bytes) -> str:
    """Returns a short text for a body."""
    if len(body) > 300:
        return f"{len(body)} bytes"
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.hex()


def read(stream: BinaryIO, method: str = "GET") -> Answer:
    """Reads a response; skips interim ones (1xx)."""
    while True:
        response = wire.read_response(stream, method)
        if response.status >= 200:
            lines = ((n.decode(), v.decode("latin-1")) for n, v in response.headers)
            return Answer(response.status, tuple(lines), response.body)


def ask(connection: socket.socket, request: Request) -> Answer:
    """Sends a request with `Connection: close`; returns the response."""
    raw = wire.exchange(connection, request.message())
    [response] = wire.responses(raw, request.method)
    lines = ((n.decode(), v.decode("latin-1")) for n, v in response.headers)
    return Answer(response.status, tuple(lines), response.body)
