# SPDX-License-Identifier: MIT
"""Visitors of examples/scaling: each knows what its session must contain."""

from __future__ import annotations

import asyncio
import contextlib
import json
import statistics
import time
from collections import Counter
from dataclasses import dataclass, field

# A response that takes longer counts as failed.
ANSWER_S = 10.0
# Like EventSource, but sooner.
RECONNECT_S = 0.2


class Lost(Exception):  # noqa: N818 - the name says what happened
    """The connection was closed before the response."""


@dataclass
class Result:
    """The results of the visitors.

    Attributes:
        counts: Requests by method and outcome.
        failed: What failed, and how often.
        wrong: Descriptions of successful responses with wrong content.
        times_s: Response times in seconds.
        workers: Number of responses by process id.
        remaining: The lowest number of requests that the rate limit reported as left.
        counted: Number of responses that the rate limit must have counted.
        events: Events that the listener received, and how often it reconnected.
    """

    counts: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    times_s: list[float] = field(default_factory=list)
    workers: Counter[int] = field(default_factory=Counter)
    remaining: int | None = None
    counted: int = 0
    events: Counter[str] = field(default_factory=Counter)

    @property
    def failures(self) -> int:
        """Number of failed requests."""
        return self.failed.total()

    def percentile_ms(self, percent: int) -> float:
        """Returns a percentile of the times, in ms."""
        return statistics.quantiles(self.times_s, n=100)[percent - 1] * 1000

    def note(self, method: str, status: int | str) -> None:
        """Counts a request and its outcome."""
        self.counts[method] += 1
        if status not in (200, 201):
            self.failed[f"{method} {status}"] += 1


class Connection:
    """A connection to the proxy, opened by the first request.

    Args:
        port: The port of the proxy.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._writer: asyncio.StreamWriter | None = None

    @property
    def is_open(self) -> bool:
        """Whether the next request would reuse the connection."""
        return self._writer is not None and not self._reader.at_eof()

    async def ask(self, method: str, path: str, cookie: str) -> tuple[int, dict[str, str], bytes]:
        """Sends a request; returns status, headers and body of the response.

        Raises:
            Lost: If the connection is closed before the response.
        """
        if not self.is_open:
            self.close()
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        assert self._writer is not None
        line = f"cookie: {cookie}\r\n" if cookie else ""
        head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n{line}content-length: 0\r\n\r\n"
        try:
            self._writer.write(head.encode())
            lines = (await self._reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers: dict[str, str] = {}
            for each in lines[1:-2]:
                name, _, value = each.partition(": ")
                headers[name.lower()] = value
            body = await self._reader.readexactly(int(headers["content-length"]))
        except (OSError, asyncio.IncompleteReadError) as error:
            self.close()
            raise Lost from error
        if headers.get("connection") == "close":
            self.close()
        return int(lines[0].split(" ")[1]), headers, body

    def close(self) -> None:
        """Closes the connection."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class Visitor:
    """Visits by POST, which its session counts, and reads the count by GET.

    Args:
        number: Its number. Odd ones open a connection for each request. Even ones keep theirs: if
            it was closed, they repeat a GET, as browsers do. They send each POST on a new one.
        load: The load that it belongs to.
    """

    def __init__(self, number: int, load: Load) -> None:
        self._number = number
        self._load = load
        self._keeps = number % 2 == 0
        self._kept = Connection(load.port)
        self._cookie = ""
        self._count: int | None = 0

    async def run(self) -> None:
        """Sends requests at a fixed rate, until the load ends."""
        load = self._load
        interval = load.visitors / load.rate
        due = time.monotonic() + interval * self._number / load.visitors
        turn = 0
        while due < load.end and not load.is_over.is_set():
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            method = "POST" if turn % 4 == 0 else "GET"
            await self._visit(method)
            turn += 1
            due += interval
        self._kept.close()

    async def _visit(self, method: str) -> None:
        result = self._load.result
        start = time.monotonic()
        try:
            async with asyncio.timeout(ANSWER_S):
                status, headers, body = await self._ask(method)
        except (Lost, TimeoutError, OSError) as error:
            result.note(method, type(error).__name__)
            if method == "POST":  # the app may have counted it
                self._count = None
            return
        result.times_s.append(time.monotonic() - start)
        result.note(method, status)
        if status not in (200, 201):
            if method == "POST":
                self._count = None
            return
        self._cookie = headers.get("set-cookie", self._cookie).partition(";")[0]
        self._check(method, headers, json.loads(body))

    async def _ask(self, method: str) -> tuple[int, dict[str, str], bytes]:
        if self._keeps and method == "GET":
            is_used = self._kept.is_open
            try:
                return await self._kept.ask(method, "/visits", self._cookie)
            except Lost:
                if not is_used:
                    raise
                self._load.result.counts["sent again by the client"] += 1
                return await self._kept.ask(method, "/visits", self._cookie)
        connection = Connection(self._load.port)
        try:
            return await connection.ask(method, "/visits", self._cookie)
        finally:
            connection.close()

    def _check(self, method: str, headers: dict[str, str], found: dict[str, int]) -> None:
        result = self._load.result
        result.workers[found["worker"]] += 1
        result.counted += 1
        remaining = int(headers["ratelimit"].partition(";r=")[2].partition(";")[0])
        result.remaining = min(result.remaining or remaining, remaining)
        expected = None if self._count is None else self._count + (method == "POST")
        if expected is not None and found["count"] != expected:
            result.wrong.append(f"{method}: {found['count']} visits, expected {expected}")
        self._count = found["count"]


class Load:
    """All visitors, and optionally a client that listens to events.

    Args:
        port: The port of the proxy.
        seconds: Duration.
        rate: Requests per second of all visitors.
        visitors: Number of visitors.
        listens: Whether a client listens to events.
    """

    def __init__(
        self,
        port: int,
        seconds: float,
        *,
        rate: float = 200,
        visitors: int = 40,
        listens: bool = False,
    ) -> None:
        self.port = port
        self.rate = rate
        self.visitors = visitors
        self.end = time.monotonic() + seconds
        self.is_over = asyncio.Event()
        self.result = Result()
        self._listens = listens

    async def run(self) -> Result:
        """Runs the load."""
        listening = asyncio.create_task(self._listen()) if self._listens else None
        async with asyncio.TaskGroup() as group:
            for number in range(self.visitors):
                group.create_task(Visitor(number, self).run())
        if listening is not None:
            listening.cancel()
            await asyncio.wait([listening])
        return self.result

    async def _listen(self) -> None:
        events = self.result.events
        while True:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                await self._listen_once()
            events["connected again"] += 1
            await asyncio.sleep(RECONNECT_S)

    async def _listen_once(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(b"GET /events HTTP/1.1\r\nhost: localhost\r\n\r\n")
            while line := await reader.readline():
                self.result.events["received"] += line.startswith(b"data: ") and len(line) > 7
        finally:
            writer.close()
