# SPDX-License-Identifier: MIT
"""Tests channels over Redis under load, and clients that vanish from their WebSockets.

    uv run python scripts/soak_websockets.py channels --seconds 60
    uv run python scripts/soak_websockets.py leaves --connects 10000

`channels`: two workers share a Redis, which is killed and started again in the middle. Each client
publishes to its room, and checks that it gets each message of the room once and in order, except
where a gap was reported. `leaves`: clients connect, send something, and drop the connection;
afterwards, no subscription, task, descriptor or memory may be left. The exit code is 1 if a check
failed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from urllib.request import urlopen

from websockets.asyncio.client import ClientConnection, connect

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

# Found by the line above, which mypy doesn't follow.
import redis_server  # type: ignore[import-not-found]
from serving import ServedApp  # type: ignore[import-not-found]
from soak import MIB, MOST_GROWTH_BYTES, unplanned

SERVER = ("uvicorn", "channels_app:app")
OPTIONS = ("--no-access-log", "--lifespan", "on", "--ws-per-message-deflate", "false")
SETTLE_S = 20.0
DOWN_S = 1.0
AT_ONCE = 50


class Client:
    """Publishes at a fixed rate, and checks what arrives."""

    def __init__(self, number: int, room: int, load: Load) -> None:
        self.number = number
        self.room = room
        self.load = load
        self.sent = 0
        self.last: dict[int, int] = {}
        # Publishers whose messages may be missing because of a gap.
        self.doubtful: set[int] = set()

    async def run(self, base: str) -> None:
        """Connects, and sends messages until the load ends."""
        async with connect(f"{base}/rooms/{self.room}", compression=None, proxy=None) as ws:
            assert await ws.recv() == "ready"
            listening = asyncio.create_task(self._listen(ws))
            await self.load.all_are_there.wait()
            await self._publish(ws)
            await self.load.wait_for_the_rest()
            listening.cancel()
            await asyncio.wait([listening])
            if not listening.cancelled() and (error := listening.exception()):
                self.load.counts["clients lost"] += 1
                self.load.wrong.append(repr(error))

    async def _publish(self, ws: ClientConnection) -> None:
        load = self.load
        interval = load.clients / load.rate
        due = time.monotonic() + interval * self.number / load.clients
        while due < load.end:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            self.sent += 1
            await ws.send(f"{self.number} {self.sent} {time.monotonic()}")
            due += interval

    async def _listen(self, ws: ClientConnection) -> None:
        async for message in ws:
            self._take(str(message))

    def _take(self, message: str) -> None:
        counts = self.load.counts
        first, _, rest = message.partition(" ")
        if first == "gap":
            counts["gaps told"] += 1
            counts["dropped by slow queues"] += int(rest)
            self.doubtful = {each.number for each in self.load.by_room[self.room]}
            return
        if first == "failed":
            counts["refused to publishers"] += 1
            return
        counts["deliveries"] += 1
        publisher = int(first)
        number, sent_at = rest.split(" ")
        self.load.delays.append(time.monotonic() - float(sent_at))
        last = self.last.get(publisher, 0)
        self.last[publisher] = int(number)
        missing = int(number) - last - 1
        if missing < 0:
            self.load.wrong.append("twice, or out of order")
        elif missing and publisher not in self.doubtful:
            self.load.wrong.append("lost without a gap")
        else:
            counts["lost where a gap was told"] += missing
        self.doubtful.discard(publisher)


class Load:
    """The load on channels."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.clients: int = options.clients
        self.rate: float = options.rate
        self.seconds: float = options.seconds
        self.rooms: int = options.rooms
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.delays: list[float] = []
        self.all_are_there = asyncio.Event()
        self.end = float("inf")
        self.all = [Client(number, number % self.rooms, self) for number in range(self.clients)]
        self.by_room: dict[int, list[Client]] = {}
        for client in self.all:
            self.by_room.setdefault(client.room, []).append(client)

    async def run(self, base: str, redis: redis_server.RedisServer, restarts: bool) -> None:
        """Runs the load."""
        async with asyncio.TaskGroup() as group:
            for index, client in enumerate(self.all):
                group.create_task(client.run(base))
                if index % AT_ONCE == 0:
                    await asyncio.sleep(0.1)
            await asyncio.sleep(2)
            self.end = time.monotonic() + self.seconds
            self.all_are_there.set()
            if restarts:
                await asyncio.sleep(self.seconds / 2)
                await asyncio.to_thread(redis.stop)
                await asyncio.sleep(DOWN_S)
                await asyncio.to_thread(redis.start)
        for client in self.all:
            for other in self.by_room[client.room]:
                if client.last.get(other.number, 0) != other.sent:
                    self.wrong.append("the last message is missing")

    async def wait_for_the_rest(self) -> None:
        """Waits until nothing has arrived for a while."""
        before = -1
        while before != self.counts["deliveries"]:
            before = self.counts["deliveries"]
            await asyncio.sleep(2)


def channels(options: argparse.Namespace) -> list[str]:
    """Runs the load on channels; returns the problems."""
    reason = redis_server.missing()
    if reason is not None:
        sys.exit(reason)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "redis").mkdir()
        folder.chmod(0o755)
        redis = redis_server.RedisServer(folder / "redis")
        stack.callback(redis.stop)
        os.environ["CHANNELS_REDIS"] = redis.url
        workers = ("--workers", str(options.workers))
        served = stack.enter_context(ServedApp(*SERVER, folder / "log", *OPTIONS, *workers))

        async def run() -> Load:
            load = Load(options)
            await load.run(f"ws://127.0.0.1:{served.port}", redis, not options.no_restart)
            return load

        load = asyncio.run(run())
        found = unplanned(served.printed())
    published = sum(client.sent for client in load.all)
    print(f"{options.clients} clients in {options.rooms} rooms, {options.workers} workers")
    print(f"{'published':28}{published:,} ({published / options.seconds:,.0f} a second)")
    for name, count in sorted(load.counts.items()):
        print(f"{name:28}{count:,}")
    parts = statistics.quantiles(load.delays, n=100)
    print(
        f"{'delay':28}{parts[49] * 1000:.1f} ms median, {parts[98] * 1000:.1f} ms 99th percentile"
    )
    wrong = [f"{count} times {what}" for what, count in Counter(load.wrong).most_common(10)]
    if not options.no_restart and load.counts["gaps told"] < options.clients:
        wrong.append("not everybody was told of the gap")
    return wrong + [f"in the log: {line}" for line in found[:10]]


def leaves(options: argparse.Namespace) -> list[str]:
    """Connects and leaves abruptly; returns the problems."""
    os.environ.pop("CHANNELS_REDIS", None)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        served = stack.enter_context(ServedApp(*SERVER, folder / "log", *OPTIONS))
        base = f"ws://127.0.0.1:{served.port}"
        warm_up = max(options.connects // 5, AT_ONCE)
        asyncio.run(leave(base, warm_up))
        before = settled(served, None)
        asyncio.run(leave(base, options.connects))
        after = settled(served, before)
        found = unplanned(served.printed())
    print(f"{options.connects:,} connects and abrupt leaves, after {warm_up:,} to warm up")
    wrong = [f"in the log: {line}" for line in found[:10]]
    for name in before:
        unit = MIB if name == "memory" else 1
        print(f"{name:28}{before[name] / unit:.4g} before, {after[name] / unit:.4g} after")
        if after[name] - before[name] > (MOST_GROWTH_BYTES if name == "memory" else 0):
            wrong.append(f"{name} grew")
    return wrong


async def leave(base: str, connects: int) -> None:
    """Opens connections, and drops each at one of three moments."""
    left = iter(range(connects))

    async def client() -> None:
        for number in left:
            ws = await connect(f"{base}/rooms/{number % 7}", compression=None, proxy=None)
            if number % 3:
                await ws.recv()
            if number % 3 == 1:
                await ws.send("hello")
            ws.transport.abort()
            await ws.wait_closed()

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(client())


def settled(served: ServedApp, expected: dict[str, int] | None) -> dict[str, int]:
    """Waits until the server has released all clients; returns what it still has open."""
    end = time.monotonic() + SETTLE_S
    while True:
        time.sleep(1)
        with urlopen(f"http://127.0.0.1:{served.port}/open") as response:
            found: dict[str, int] = json.load(response)
        time.sleep(0.5)  # the connection of this request is gone by then
        found |= {"descriptors": served.open_files(), "memory": served.memory_bytes()}
        is_calm = (
            found["subscriptions"] == 0
            if expected is None
            else all(
                found[name] <= expected[name] for name in ("subscriptions", "tasks", "descriptors")
            )
        )
        if is_calm or time.monotonic() > end:
            return found


def main() -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    kinds = parser.add_subparsers(dest="kind", required=True)
    load = kinds.add_parser("channels", help="messages over Redis, which is restarted")
    load.add_argument("--seconds", type=float, default=60, help="how long (default: 60)")
    load.add_argument("--clients", type=int, default=200, help="how many (default: 200)")
    load.add_argument("--rooms", type=int, default=100, help="how many (default: 100)")
    load.add_argument("--rate", type=float, default=2000, help="messages a second (default: 2000)")
    load.add_argument("--workers", type=int, default=2, help="how many (default: 2)")
    load.add_argument("--no-restart", action="store_true", help="let Redis run")
    left = kinds.add_parser("leaves", help="connects and abrupt leaves")
    left.add_argument("--connects", type=int, default=10_000, help="how many (default: 10000)")
    options = parser.parse_args()
    problems = channels(options) if options.kind == "channels" else leaves(options)
    print("\n".join(f"wrong: {problem}" for problem in problems) or "all as it should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
