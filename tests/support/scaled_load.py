# SPDX-License-Identifier: MIT
"""Visitors of examples/scaling: each knows what its session has to hold."""

from __future__ import annotations

import asyncio
import contextlib
import json
import statistics
import time
from collections import Counter
from dataclasses import dataclass, field

# An answer that takes longer has failed.
ANSWER_S = 10.0
# As EventSource does by itself, if sooner.
RECONNECT_S = 0.2


class Lost(Exception):  # noqa: N818 - says what became of a connection
    """The connection ended before there was an answer."""


@dataclass
class Result:
    """What the visitors have seen.

    Attributes:
        counts: Requests by method and outcome.
        failed: What failed, and how often.
        wrong: Answers of status 2xx that were not right.
        times_s: How long answers took.
        workers: How many answers came from which process.
        remaining: The lowest number of requests that the rate limit had left.
        counted: Answers that the rate limit has counted.
        events: Events that arrived at the listener, and how often it had to connect again.
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
        """How many requests failed."""
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
    """A connection to the proxy, opened when it is needed.

    Args:
        port: The port of the proxy.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._writer: asyncio.StreamWriter | None = None

    @property
    def is_open(self) -> bool:
        """Whether a request would go over a connection that has been used."""
        return self._writer is not None and not self._reader.at_eof()

    async def ask(self, method: str, path: str, cookie: str) -> tuple[int, dict[str, str], bytes]:
        """Sends a request; returns status, headers and body of the answer.

        Raises:
            Lost: If the connection ends before.
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
        """Closes it."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class Visitor:
    """Counts its visits by its session, now and then by POST, otherwise by GET.

    Args:
        number: Which one it is. Every other opens a connection for each request; those that keep
            theirs send a GET again if the connection was closed meanwhile, as browsers do, and
            send each POST over a new one.
        load: What it is a part of.
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
            if method == "POST":  # it may have been done
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
    """All visitors, and perhaps somebody who listens to events.

    Args:
        port: The port of the proxy.
        seconds: For how long.
        rate: How many requests a second.
        visitors: How many visitors send them.
        listens: Whether somebody listens to events.
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
        """Runs it."""
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
