# SPDX-License-Identifier: MIT
"""Load on a server: keep-alive connections, each with one request at a time.

    python -m benchmarks.load

It reads a JSON object a line from its input, the arguments of `run`, and writes one for each:
`{"ok": ...}` or `{"error": ...}`.

All connections send a request before the first answer is read. Sending and reading take this
process less time than answering takes any server. So a server hardly pauses, and has about
as many requests at hand in each turn of its loop, however fast it is.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import sys
import time
from contextlib import ExitStack
from typing import NamedTuple

from .processor import processor_seconds

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked\r\n", re.IGNORECASE)
_LAST_CHUNK = b"\r\n0\r\n\r\n"
_ANSWER_LIMIT_S = 10
_PAUSE_S = 0.005
_PIECE_BYTES = 64 << 10


class LoadError(Exception):
    """An answer is not a right one, or doesn't come."""


class Loaded(NamedTuple):
    """What came of a load.

    Attributes:
        answers: How many there were.
        seconds: How long it took.
        processor_seconds: How long the server had a processor; 0 where that isn't known.
    """

    answers: int
    seconds: float
    processor_seconds: float


def connect(port: int) -> socket.socket:
    """A connection whose calls block, up to a limit that the kernel keeps."""
    connection = socket.create_connection(("127.0.0.1", port), _ANSWER_LIMIT_S)
    connection.settimeout(None)  # with one, Python calls poll() before each call
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    limit = struct.pack("ll", _ANSWER_LIMIT_S, 0)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
    return connection


def answer_length(data: bytes) -> int:
    """Bytes of the answer that data begins with; 0 as long as that can't be told.

    The body of a chunked answer must not look like the end of one.

    Raises:
        LoadError: If the head says nothing about it.
    """
    head, end, body = data.partition(b"\r\n\r\n")
    if not end:
        return 0
    found = _LENGTH.search(head + b"\r\n")
    if found is not None:
        return len(head) + len(end) + int(found[1])
    if not _CHUNKED.search(head + b"\r\n"):
        raise LoadError("the answer has neither a Content-Length nor chunks")
    chunks, last, _ = body.partition(_LAST_CHUNK)
    return len(head) + len(end) + len(chunks) + len(last) if last else 0


def receive(connection: socket.socket) -> None:
    """Reads an answer.

    Raises:
        LoadError: If it is not complete, or not 200.
    """
    got = connection.recv(_PIECE_BYTES)
    while not (length := answer_length(got)) or len(got) < length:
        more = connection.recv(_PIECE_BYTES)
        if not more:
            raise LoadError("the server closed a connection")
        got += more
    if len(got) != length or not got.startswith(b"HTTP/1.1 200 "):
        raise LoadError(f"the answer is {got[:200]!r}")


def send_all(connections: list[socket.socket], request: bytes) -> None:
    """Sends a request on each connection, then reads all answers."""
    for connection in connections:
        connection.sendall(request)
    for connection in connections:
        receive(connection)


def settled_seconds(pid: int) -> float:
    """Processor time of a server that has answered everything.

    Linux adds what a thread takes when it leaves the processor, or some milliseconds later.
    """
    time.sleep(_PAUSE_S)
    return processor_seconds(pid)


def run(port: int, pid: int, request: str, seconds: float, connections: int) -> Loaded:
    """Loads a server for so many seconds, after one request on each connection.

    Args:
        port: Where it listens, on the loopback interface.
        pid: Its process.
        request: The bytes of the request, as Latin-1.
        seconds: For how long.
        connections: How many.

    Raises:
        LoadError: If an answer is wrong.
        OSError: If one doesn't come.
    """
    sent = request.encode("latin-1")
    with ExitStack() as stack:
        opened = [stack.enter_context(connect(port)) for _ in range(connections)]
        send_all(opened, sent)
        answers = 0
        used = settled_seconds(pid)
        began = time.perf_counter()
        until = began + seconds
        while not answers or time.perf_counter() < until:
            send_all(opened, sent)
            answers += connections
        seconds = time.perf_counter() - began
        return Loaded(answers, seconds, settled_seconds(pid) - used)


def main() -> None:
    """Runs loads until the input ends."""
    for line in sys.stdin:
        try:
            answer: dict[str, object] = {"ok": run(**json.loads(line))}
        except (LoadError, OSError) as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
