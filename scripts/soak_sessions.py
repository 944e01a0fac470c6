# SPDX-License-Identifier: MIT
"""Changes the sessions of many users in several processes, and checks that no change is lost.

    uv run python scripts/soak_sessions.py --store sqlite
    uv run python scripts/soak_sessions.py --store redis --requests 100000

Each of several uvicorn processes serves the same app with the same store. Each user sends marks
over concurrent connections to different processes; each mark is appended to a list in the session
and counted. Other requests only read the session, or don't use it. In the end, the list must
contain each mark once. No response may contain data of another user, and only the login may set a
cookie. The exit code is 1 if a check failed.
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
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

# Found by the line above, which mypy doesn't follow.
import redis_server  # type: ignore[import-not-found]
from serving import ServedApp  # type: ignore[import-not-found]

OPTIONS = ("--no-access-log", "--lifespan", "on")
APP = ("uvicorn", "session_load_app:app")
# Number of marks between requests that only read, and that don't use the session.
READ_EVERY = 10


class Connection:
    """A connection to one of the processes, which stays open.

    Args:
        port: The port of the process.
    """

    def __init__(self, port: int) -> None:
        self._port = port

    async def open(self) -> None:
        """Connects."""
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)

    async def ask(self, method: str, path: str, cookie: str) -> tuple[int, dict[str, str], Any]:
        """Sends a request; returns status, headers and JSON of the response."""
        field = f"cookie: {cookie}\r\n" if cookie else ""
        request = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n{field}content-length: 0\r\n\r\n"
        self._writer.write(request.encode())
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {}
        for line in head[1:-2]:
            name, _, value = line.partition(": ")
            headers[name.lower()] = value
        body = await self._reader.readexactly(int(headers["content-length"]))
        return int(head[0].split(" ")[1]), headers, json.loads(body) if body else None

    def close(self) -> None:
        """Closes the connection."""
        self._writer.close()


class User:
    """Sends marks over several concurrent connections.

    Args:
        load: The load that it is part of.
        number: The number of the user.
        marks: Number of marks to send.
    """

    def __init__(self, load: Load, number: int, marks: int) -> None:
        self.name = f"user{number}"
        self._load = load
        ports = load.ports
        self._connections = [
            Connection(ports[(number + index) % len(ports)]) for index in range(load.at_once)
        ]
        self._marks = iter(range(marks))
        self._count = marks
        self._cookie = ""

    async def run(self) -> None:
        """Logs in, sends all marks, and compares them with the session."""
        for connection in self._connections:
            await connection.open()
        first = self._connections[0]
        _, headers, answer = await first.ask("POST", f"/login/{self.name}", "")
        self._load.expect(answer == {"name": self.name}, "somebody else logged in")
        self._cookie = headers["set-cookie"].partition(";")[0]
        self._load.counts["cookies set by logins"] += 1
        async with asyncio.TaskGroup() as group:
            for connection in self._connections:
                group.create_task(self._send(connection))
        _, _, answer = await first.ask("GET", "/", self._cookie)
        self._load.expect(answer["count"] == self._count, "the count is wrong")
        self._load.expect(sorted(answer["marks"]) == list(range(self._count)), "marks are missing")
        for connection in self._connections:
            connection.close()

    async def _send(self, connection: Connection) -> None:
        for mark in self._marks:
            await self._ask(connection, "POST", f"/mark/{mark}")
            if mark % READ_EVERY == 0:
                await self._ask(connection, "GET", "/")
            elif mark % READ_EVERY == 1:
                await self._ask(connection, "GET", "/without")

    async def _ask(self, connection: Connection, method: str, path: str) -> None:
        load = self._load
        start = time.perf_counter()
        status, headers, answer = await connection.ask(method, path, self._cookie)
        load.times_s.append(time.perf_counter() - start)
        load.counts[f"requests {path.split('/')[1] or 'read'}"] += 1
        load.expect(status == 200, f"status {status}")
        load.expect("set-cookie" not in headers, "a cookie was set where nothing changed")
        if path == "/without":
            load.expect("vary" not in headers, "a session was used where none was asked for")
        elif status == 200:
            load.expect(headers.get("vary") == "Cookie", "there is no Vary: Cookie")
            mine = (self.name, self.name)
            load.expect((answer["name"], answer["user"]) == mine, "somebody else's session")


class Load:
    """The load on a store.

    Args:
        ports: The ports of the processes.
        users: Number of users.
        requests: Number of requests that change a session, of all users.
        at_once: Number of concurrent requests per user.
    """

    def __init__(self, ports: list[int], users: int, requests: int, at_once: int) -> None:
        self.ports = ports
        self.at_once = at_once
        self.counts: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.times_s: list[float] = []
        self.users = [User(self, number, requests // users) for number in range(users)]

    def expect(self, is_right: bool, problem: str) -> None:
        """Counts a problem."""
        if not is_right:
            self.wrong[problem] += 1

    async def run(self) -> None:
        """Runs the load."""
        async with asyncio.TaskGroup() as group:
            for user in self.users:
                group.create_task(user.run())


def soak(
    store: str, *, requests: int, users: int, processes: int, at_once: int, folder: Path
) -> Counter[str]:
    """Serves the app and runs the load; prints figures, and returns the problems.

    Args:
        store: `sqlite` or `redis`.
        requests: Number of requests that change a session.
        users: Number of sessions.
        processes: Number of server processes.
        at_once: Number of concurrent requests per session.
        folder: A folder for files.
    """
    with ExitStack() as stack:
        if store == "redis":
            # The server runs as a user of its own.
            redis = redis_server.RedisServer(Path(stack.enter_context(_folder())))
            stack.callback(redis.stop)
            place = redis.url
        else:
            place = str(folder / "sessions.db")
        os.environ["SESSION_STORE"] = place
        served = [
            stack.enter_context(ServedApp(*APP, folder / f"{number}.log", *OPTIONS))
            for number in range(processes)
        ]
        load = Load([each.port for each in served], users, requests, at_once)
        start = time.monotonic()
        asyncio.run(load.run())
        seconds = time.monotonic() - start
        for each in served:
            load.expect(each.stop() == 0, "a process did not end")
            for line in each.printed().splitlines():
                load.expect("ERROR" not in line and "Traceback" not in line, line)
    _report(store, load, seconds)
    return load.wrong


def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def _report(store: str, load: Load, seconds: float) -> None:
    times = statistics.quantiles(load.times_s, n=100)
    total = len(load.times_s)
    print(f"{store}: {total} requests in {seconds:.1f} s, {total / seconds:.0f} a second")
    print(f"  median {times[49] * 1000:.1f} ms, 99th percentile {times[98] * 1000:.1f} ms")
    for name, count in sorted(load.counts.items()):
        print(f"  {name}: {count}")


def main() -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--store", choices=("sqlite", "redis"), required=True)
    parser.add_argument(
        "--requests", type=int, default=100_000, help="that change a session (default: 100000)"
    )
    parser.add_argument("--users", type=int, default=200, help="how many (default: 200)")
    parser.add_argument("--processes", type=int, default=8, help="how many (default: 8)")
    parser.add_argument("--at-once", type=int, default=4, help="requests of a user (default: 4)")
    options = vars(parser.parse_args())
    with _folder() as folder:
        wrong = soak(**options, folder=Path(folder))
    for problem, count in wrong.items():
        print(f"wrong, {count} times: {problem}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
