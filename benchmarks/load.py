# SPDX-License-Identifier: MIT
"""Load on a server where wrk is not installed: keep-alive connections, one request at a time each.

    python -m benchmarks.load HOST PORT PATH SECONDS CONNECTIONS

Prints the number of answers, of those that were not 200, and the seconds, as JSON. The length of
the first answer is that of all: apps under this load give the same one again and again.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from typing import Any

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
_END_LIMIT_S = 5


class Counts:
    """What all connections counted together."""

    def __init__(self) -> None:
        self.answers = 0
        self.wrong = 0
        self.is_over = False


class Connection(asyncio.Protocol):
    """Sends a request when the answer to the one before is complete."""

    def __init__(self, request: bytes, counts: Counts) -> None:
        self._request = request
        self._counts = counts
        self._got = b""
        self._length = 0
        self._transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        got = self._got + data if self._got else data
        length = self._length or answer_length(got)
        if not length or len(got) < length:
            self._got = got
            return
        self._length = length
        self._got = b""
        counts = self._counts
        counts.answers += 1
        if len(got) != length or not got.startswith(b"HTTP/1.1 200 "):
            counts.wrong += 1
            self._length = 0
        if not counts.is_over:
            self._transport.write(self._request)

    def connection_lost(self, error: Exception | None) -> None:
        if not self._counts.is_over:
            self._counts.wrong += 1


def answer_length(data: bytes) -> int:
    """Bytes of the answer that data begins with; 0 as long as its head is not complete."""
    head, end, _ = data.partition(b"\r\n\r\n")
    if not end:
        return 0
    found = _LENGTH.search(head + b"\r\n")
    if found is None:
        raise SystemExit("the answer has no Content-Length")
    return len(head) + len(end) + int(found[1])


async def run(host: str, port: int, path: str, seconds: float, connections: int) -> Counts:
    """Sends requests for so many seconds."""
    request = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
    counts = Counts()
    loop = asyncio.get_running_loop()
    made = [
        await loop.create_connection(lambda: Connection(request, counts), host, port)
        for _ in range(connections)
    ]
    await asyncio.sleep(seconds)
    counts.is_over = True
    for transport, _ in made:
        transport.close()
    return counts


def main() -> None:
    """Loads, and prints what came of it."""
    host, port, path, seconds, connections = sys.argv[1:]
    try:
        from uvloop import new_event_loop
    except ImportError:
        from asyncio import new_event_loop
    began = time.perf_counter()
    limit_s = float(seconds) + _END_LIMIT_S
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        loading = run(host, int(port), path, float(seconds), int(connections))
        counts = runner.run(asyncio.wait_for(loading, limit_s))
    taken = time.perf_counter() - began
    print(json.dumps({"answers": counts.answers, "wrong": counts.wrong, "seconds": taken}))


if __name__ == "__main__":
    main()
