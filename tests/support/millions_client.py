# SPDX-License-Identifier: MIT
"""The clients of `scripts/soak_millions.py`: one process with many connections.

The client must be cheaper than the server. So it sends prepared bytes, and compares the response
with the bytes expected for the id of the request. A connection may have several requests in flight;
responses arrive in order (RFC 9112 section 9.3.2).
"""

from __future__ import annotations

import asyncio
import random
import signal
import socket
import struct
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, cast

import uvloop

REPORT_S = 0.5
# A response that takes longer counts as wrong.
ANSWER_S = 30.0
# How many connections with a fault may be open at once.
MOST_FAULTY = 40
# Seconds until a client disconnects: at once, or while the server is working.
LEAVE_S = (0.0, 0.002, 0.02)
_RESET = struct.pack("ii", 1, 0)


class Expected(NamedTuple):
    """An expected response.

    Attributes:
        kind: The kind of request.
        status: The start of the status line.
        fields: Header lines that it must have.
        body: The body.
        has_body: Whether the body is sent.
    """

    kind: str
    status: bytes
    fields: tuple[bytes, ...]
    body: bytes
    has_body: bool = True


Make = Callable[[bytes, int], tuple[bytes, Expected]]
OK = b"HTTP/1.1 200 "
TEXT = b"\r\ncontent-type: text/plain\r\n"


def _text(ident: bytes, number: int) -> tuple[bytes, Expected]:
    head = b"GET /text/%s?n=%d HTTP/1.1\r\nhost: a\r\n\r\n" % (ident, number)
    fields = (b"\r\nx-id: %s\r\n" % ident, TEXT)
    return head, Expected("text", OK, fields, b"text %s %d" % (ident, number))


def _header(ident: bytes, number: int) -> tuple[bytes, Expected]:
    head = b"GET /header/%s HTTP/1.1\r\nhost: a\r\nx-sent: %d\r\n\r\n" % (ident, number)
    return head, Expected("header", OK, (b"\r\nx-id: %s\r\n" % ident,), b"header %d" % number)


def _head(ident: bytes, number: int) -> tuple[bytes, Expected]:
    head = b"HEAD /text/%s HTTP/1.1\r\nhost: a\r\n\r\n" % ident
    return head, Expected("head", OK, (b"\r\nx-id: %s\r\n" % ident,), b"", has_body=False)


def _json(ident: bytes, number: int) -> tuple[bytes, Expected]:
    sent = b'{"n":%d}' % number
    head = b"POST /json/%s HTTP/1.1\r\nhost: a\r\ncontent-length: %d\r\n\r\n" % (ident, len(sent))
    body = b'{"id":"%s","next":%d}' % (ident, number + 1)
    fields = (b"\r\nx-id: %s\r\n" % ident, b"\r\ncontent-type: application/json\r\n")
    return head + sent, Expected("json", b"HTTP/1.1 201 ", fields, body)


def _body(ident: bytes, number: int) -> tuple[bytes, Expected]:
    sent = ident * (number % 64 + 1)
    head = b"POST /body/%s HTTP/1.1\r\nhost: a\r\ncontent-length: %d\r\n\r\n" % (ident, len(sent))
    return head + sent, Expected("body", OK, (b"\r\nx-id: %s\r\n" % ident,), sent[::-1])


def _stream(ident: bytes, number: int) -> tuple[bytes, Expected]:
    head = b"GET /stream/%s HTTP/1.1\r\nhost: a\r\n\r\n" % ident
    body = b"".join(b"%s %d;" % (ident, each) for each in range(4))
    return head, Expected("stream", OK, (b"\r\nx-id: %s\r\n" % ident,), body)


def _missing(ident: bytes, number: int) -> tuple[bytes, Expected]:
    head = b"GET /%s HTTP/1.1\r\nhost: a\r\n\r\n" % ident
    return head, Expected("not found", b"HTTP/1.1 404 ", (), b"404 Not Found")


def _raise(ident: bytes, number: int) -> tuple[bytes, Expected]:
    head = b"GET /raise/%s HTTP/1.1\r\nhost: a\r\n\r\n" % ident
    return head, Expected("raises", b"HTTP/1.1 500 ", (), b"Internal Server Error")


def _refuse(ident: bytes, number: int) -> tuple[bytes, Expected]:
    head = b"GET /refuse/%s HTTP/1.1\r\nhost: a\r\n\r\n" % ident
    fields = (b"\r\nx-id: %s\r\n" % ident,)
    return head, Expected("refuses", b"HTTP/1.1 409 ", fields, b"refused %s" % ident)


def _late(ident: bytes, number: int) -> tuple[bytes, Expected]:
    head = b"GET /late/%s HTTP/1.1\r\nhost: a\r\n\r\n" % ident
    return head, Expected("timed out", b"HTTP/1.1 504 ", (), b"Gateway Timeout")


MALFORMED = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    b"GET /text/%s HTTP/9.9\r\nhost: a\r\n\r\n",
    b"GET /text/%s HTTP/1.1\r\nhost: a\r\nno colon\r\n\r\n",
    b"GET /text/%s HTTP/1.1\r\nhost: a\r\nbad name: b\r\n\r\n",
    b"POST /body/%s HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n",
    b"%s\r\n\r\n",
)
# Requests per thousand. Each of BREAKING needs a connection of its own.
PLAIN: dict[Make, int] = {
    _text: 420,
    _json: 180,
    _header: 120,
    _stream: 90,
    _body: 80,
    _missing: 40,
    _head: 20,
}
RAISING: dict[Make, int] = {_raise: 10, _refuse: 8, _late: 4}
BREAKING = {
    "leaves in a request": 6,
    "leaves in an answer": 6,
    "leaves a waiting handler": 5,
    "malformed": 6,
    "answer cut by a fault": 5,
}
_TABLE: list[Make | str] = [
    each
    for weights in (PLAIN, RAISING, BREAKING)
    for each, weight in weights.items()  # type: ignore[attr-defined]
    for _ in range(weight)
]
assert len(_TABLE) == 1000
# How many bytes of a wrong response are shown.
_SHOWN = 200


@dataclass
class Tally:
    """The results of a client process.

    Attributes:
        answered: Number of requests that got a response, or were aborted as planned.
        kinds: The same number by kind.
        wrong: Descriptions of the first few problems.
        wrong_count: Number of problems.
    """

    answered: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    wrong_count: int = 0

    def note(self, problem: str) -> None:
        """Counts a problem."""
        self.wrong_count += 1
        if len(self.wrong) < 20:
            self.wrong.append(problem)


def parse(data: bytes, expected: Expected) -> tuple[int, str | None] | None:
    """Compares a response with the expected one.

    Returns:
        The end of the response in `data`, and the problem with it, if any. None if the response
        is still incomplete.
    """
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return None
    head, at = data[: end + 2], end + 4
    length = head.find(b"\r\ncontent-length: ")
    if not expected.has_body:
        body = b""
    elif length >= 0:
        stop = at + int(head[length + 18 : head.index(b"\r\n", length + 18)])
        if stop > len(data):
            return None
        body, at = data[at:stop], stop
    elif b"\r\ntransfer-encoding: chunked\r\n" in head:
        read = _dechunk(data, at)
        if read is None:
            return None
        body, at = read
    else:
        return at, f"an answer without a length: {head!r}"
    if (
        body == expected.body
        and head.startswith(expected.status)
        and all(each in head for each in expected.fields)
    ):
        return at, None
    return at, f"{head + body!r:.{_SHOWN}}, expected {expected}"


def _dechunk(data: bytes, at: int) -> tuple[bytes, int] | None:
    parts = []
    while True:
        line = data.find(b"\r\n", at)
        if line < 0:
            return None
        size = int(data[at:line], 16)
        at = line + 2 + size + 2
        if at > len(data):
            return None
        if not size:
            return b"".join(parts), at
        parts.append(data[line + 2 : at - 2])


class Steady(asyncio.Protocol):
    """A connection that is kept open, always with requests in flight."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._waiting: deque[Expected] = deque()
        self._data = b""
        self.asked_at = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's class doesn't inherit from it.
        self._transport = cast(asyncio.Transport, transport)
        self._ask()

    @property
    def is_late(self) -> bool:
        """Whether a response is overdue."""
        return bool(self._waiting) and time.monotonic() - self.asked_at > ANSWER_S

    def _ask(self) -> None:
        load, waiting, requests = self._load, self._waiting, []
        while len(waiting) < load.depth and (made := load.draw()) is not None:
            requests.append(made[0])
            waiting.append(made[1])
        if requests:
            self.asked_at = load.now
            self._transport.write(b"".join(requests))
        elif not waiting:
            self._transport.close()

    def data_received(self, data: bytes) -> None:
        data = self._data + data if self._data else data
        waiting, tally = self._waiting, self._load.tally
        while data:
            if not waiting:
                tally.note(f"more than was asked for: {data!r:.{_SHOWN}}")
                break
            if (read := parse(data, waiting[0])) is None:
                break
            end, problem = read
            data = data[end:]
            tally.answered += 1
            tally.kinds[waiting.popleft().kind] += 1
            if problem is not None:
                tally.note(problem)
        self._data = data
        if len(waiting) <= self._load.depth // 2:
            self._ask()

    def connection_lost(self, error: Exception | None) -> None:
        for expected in self._waiting:
            self._load.tally.note(f"connection lost ({error!r}), expected {expected}")
        self._load.end_of(self)


class Breaking(asyncio.Protocol):
    """A connection with one faulty request.

    Args:
        load: The load that it belongs to.
        kind: A key of BREAKING.
        ident: The id of the request.
    """

    def __init__(self, load: Load, kind: str, ident: bytes) -> None:
        self._load = load
        self._kind = kind
        self._ident = ident
        self._data = b""
        self._has_left = False
        self.asked_at = load.now

    @property
    def is_late(self) -> bool:
        """Whether the connection has been open for too long."""
        return time.monotonic() - self.asked_at > ANSWER_S

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's class doesn't inherit from it.
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(self._request())
        if self._kind in ("leaves in a request", "leaves a waiting handler"):
            delay = LEAVE_S[self._ident[-1] % len(LEAVE_S)]
            self._load.loop.call_later(delay, self._leave)

    def _request(self) -> bytes:
        ident = self._ident
        if self._kind == "malformed":
            template = MALFORMED[ident[-1] % len(MALFORMED)]
            return template % ident if b"%s" in template else template
        if self._kind == "leaves in a request":
            head = b"POST /body/%s HTTP/1.1\r\nhost: a\r\ncontent-length: 9999\r\n\r\n" % ident
            return head + ident * 2
        paths = {
            "leaves in an answer": b"endless",
            "leaves a waiting handler": b"waits",
            "answer cut by a fault": b"broken",
        }
        return b"GET /%s/%s HTTP/1.1\r\nhost: a\r\n\r\n" % (paths[self._kind], ident)

    def _leave(self) -> None:
        """Closes the connection, or resets it, with equal probability."""
        if self._transport.is_closing():
            return
        self._has_left = True
        if self._ident[0] % 2:
            connection = self._transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._data += data
        if self._kind == "leaves in an answer" and self._ident in self._data:
            self._leave()

    def connection_lost(self, error: Exception | None) -> None:
        tally = self._load.tally
        tally.answered += 1
        tally.kinds[self._kind] += 1
        if not self._is_as_planned():
            tally.note(f"{self._kind}, {self._request()!r}: {self._data!r:.{_SHOWN}} {error!r}")
        self._load.end_of(self)

    def _is_as_planned(self) -> bool:
        data = self._data
        if self._kind == "malformed":
            return data.startswith(b"HTTP/1.1 400 ") and data.count(b"HTTP/1.1 ") == 1
        if self._kind == "answer cut by a fault":
            # The start may be lost with the connection, but the response must not look complete.
            return not self._has_left and b"\r\n0\r\n\r\n" not in data
        if self._kind == "leaves in an answer":
            return self._has_left and data.startswith(OK)
        return self._has_left and not data


class Load:
    """The connections of a client process.

    Args:
        port: The port of the server.
        requests: Number of requests to send.
        connections: Number of connections that are kept open.
        depth: Number of requests in flight on each.
        seed: Seed for ids and kinds.
    """

    def __init__(self, port: int, requests: int, connections: int, depth: int, seed: int) -> None:
        self.port = port
        self.depth = depth
        self.tally = Tally()
        self.now = time.monotonic()
        self._left = requests
        self._connections = connections
        self._bits = random.Random(seed).getrandbits
        self._open: set[Steady | Breaking] = set()
        self._breaking = 0
        self._opening: set[asyncio.Task[None]] = set()

    def draw(self) -> tuple[bytes, Expected] | None:
        """Returns the next request of a kept connection; None if there are no more."""
        while self._left > 0:
            bits = self._bits(64)
            drawn = _TABLE[bits % 1000]
            ident = b"%016x" % bits
            if isinstance(drawn, str):
                if self._breaking >= MOST_FAULTY:
                    continue
                self._left -= 1
                self._breaking += 1
                self._start(Breaking(self, drawn, ident))
                continue
            self._left -= 1
            return drawn(ident, bits >> 40)
        return None

    def _start(self, protocol: Steady | Breaking) -> None:
        self._open.add(protocol)
        task = self.loop.create_task(self._connect(protocol))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _connect(self, protocol: Steady | Breaking) -> None:
        try:
            await self.loop.create_connection(lambda: protocol, "127.0.0.1", self.port)
        except OSError as error:
            self.tally.note(f"no connection: {error!r}")
            self.end_of(protocol)

    def end_of(self, protocol: Steady | Breaking) -> None:
        """Forgets a connection."""
        self._open.discard(protocol)
        self._breaking -= isinstance(protocol, Breaking)

    def _note_fault(self, loop: asyncio.AbstractEventLoop, what: dict[str, Any]) -> None:
        self.tally.note(f"the client failed: {what.get('exception')!r} {what.get('message')}")

    async def run(self, report: Callable[[Tally], None], stopped: Callable[[], bool]) -> None:
        """Sends all requests, unless it is stopped.

        Args:
            report: Called with the counts twice a second, and at the end.
            stopped: Returns True if no more requests should be sent.
        """
        self.loop = asyncio.get_running_loop()
        self.loop.set_exception_handler(self._note_fault)
        for _ in range(self._connections):
            self._start(Steady(self))
        while self._open:
            await asyncio.sleep(REPORT_S)
            self.now = time.monotonic()
            if stopped():
                self._left = 0
            late = [each for each in self._open if each.is_late]
            if late:
                self.tally.note(f"{len(late)} connections without an answer for {ANSWER_S} s")
                break
            if self._left and not any(isinstance(each, Steady) for each in self._open):
                self.tally.note(f"no connection is left for {self._left} requests")
                break
            report(self.tally)
        report(self.tally)


def main(channel: Connection, *arguments: int) -> None:
    """Runs a client process; arguments as for `Load`.

    Sends a `Tally` twice a second, and None at the end. Any message to it makes it stop.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles it
    load = Load(*arguments)
    uvloop.run(load.run(channel.send, channel.poll))
    channel.send(None)
