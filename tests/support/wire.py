# SPDX-License-Identifier: MIT
"""Raw bytes over a connection, and the responses that come back, read strictly.

SPEC: RFC 9112.
"""

from __future__ import annotations

import contextlib
import re
import socket
from dataclasses import dataclass
from io import BytesIO
from typing import BinaryIO

from asgi_peer import NAME, VALUE

_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2}) ?[\t -~\x80-\xff]*\r\n")


@dataclass(frozen=True)
class WireResponse:
    """A response as it came.

    Attributes:
        status: Its status code.
        headers: Its header lines, names in lower case.
        body: Its body.
    """

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes

    def header(self, name: bytes) -> list[bytes]:
        """Gives the values of a header."""
        return [value for n, value in self.headers if n == name]


def request(
    target: bytes,
    *lines: bytes,
    method: bytes = b"GET",
    host: bytes | None = b"example.com",
    body: bytes = b"",
    keep: bool = False,
) -> bytes:
    """Writes a request; the connection ends with it, unless it is to be kept."""
    head = [method + b" " + target + b" HTTP/1.1"]
    head += [] if host is None else [b"host: " + host]
    head += [] if keep else [b"connection: close"]
    return b"\r\n".join([*head, *lines, b"", b""]) + body


def exchange(connection: socket.socket, data: bytes) -> bytes:
    """Sends bytes, and gives all that comes back until the server closes the connection.

    Raises:
        TimeoutError: If it does not close it in the time set on the connection.
    """
    received = b""
    # A server that refuses may close the connection while there is still something to send.
    with contextlib.suppress(ConnectionError):
        connection.sendall(data)
    with contextlib.suppress(ConnectionError):
        while chunk := connection.recv(65536):
            received += chunk
    return received


def responses(raw: bytes, *methods: str) -> list[WireResponse]:
    """Reads the responses that bytes are made of.

    Args:
        raw: The bytes, to the end of the connection.
        methods: What was asked, as far as it is not GET: a HEAD has no body.

    Raises:
        AssertionError: If they are anything but valid responses.
    """
    stream = BytesIO(raw)
    found: list[WireResponse] = []
    while stream.tell() < len(raw):
        method = methods[len(found)] if len(found) < len(methods) else "GET"
        response = read_response(stream, method)
        if response.status >= 200:  # the others are on the way to the final one
            found.append(response)
    return found


def read_response(stream: BinaryIO, method: str = "GET") -> WireResponse:
    """Reads one response, which may be one on the way to the final one.

    Raises:
        AssertionError: If it is anything but a valid response.
    """
    line = stream.readline()
    match = _STATUS_LINE.fullmatch(line)
    assert match, f"no status line: {line[:100]!r}"
    status = int(match[1])
    headers = _headers(stream)
    values = dict(headers)
    if method == "HEAD" or status < 200 or status in (204, 304):
        body = b""
    elif b"transfer-encoding" in values:
        assert values[b"transfer-encoding"].lower() == b"chunked"
        assert b"content-length" not in values
        body = _chunks(stream)
    elif b"content-length" in values:
        length = int(values[b"content-length"])
        body = stream.read(length)
        assert len(body) == length, f"{len(body)} bytes of {length}"
    else:
        body = stream.read()
    return WireResponse(status, tuple(headers), body)


def _headers(stream: BinaryIO) -> list[tuple[bytes, bytes]]:
    lines: list[tuple[bytes, bytes]] = []
    while (line := stream.readline()) != b"\r\n":
        assert line.endswith(b"\r\n"), f"no header line: {line[:100]!r}"
        name, colon, value = line[:-2].partition(b":")
        assert colon
        assert NAME.fullmatch(name.lower()), f"no header name: {name[:100]!r}"
        assert VALUE.fullmatch(value.strip(b" \t")), f"no header value: {value[:100]!r}"
        lines.append((name.lower(), value.strip(b" \t")))
    framing = [n for n, _ in lines if n in (b"content-length", b"transfer-encoding")]
    assert len(framing) == len(set(framing)), framing
    return lines


def _chunks(stream: BinaryIO) -> bytes:
    body = b""
    while size := int(stream.readline(), 16):
        chunk = stream.read(size)
        assert len(chunk) == size
        assert stream.read(2) == b"\r\n"
        body += chunk
    assert stream.readline() == b"\r\n"
    return body
