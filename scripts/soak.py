# SPDX-License-Identifier: MIT
"""Serves an app that uses every feature under mixed load, and checks that it stays stable.

    uv run python scripts/soak.py --seconds 600
    uv run python scripts/soak.py --seconds 60 --server granian --seed 7

One request in twenty raises in its handler; one in twenty is aborted by the client. Every response
is checked. The exit code is 1 if a response was wrong, if the server's log contains an unplanned
exception, or if memory or file descriptors grew.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

# Found by the line above, which mypy doesn't follow.
from serving import ServedApp  # type: ignore[import-not-found]
from soak_requests import (  # type: ignore[import-not-found]
    BROKEN_OFF,
    FAULTS,
    PLAIN,
    PLANNED,
    Left,
    Plan,
)

MIB = 1024 * 1024
KINDS = {"plain": PLAIN, "raising": FAULTS, "broken off": BROKEN_OFF}
# Smaller changes of memory are due to the allocator. A leak of 100 bytes per request exceeds this
# within a few minutes.
MOST_GROWTH_BYTES = 8 * MIB
# Measurements start after this time, in which caches and pools are filled.
WARM_UP_S = 5.0
SAMPLE_S = 0.5
SETTLE_S = 20.0
OPTIONS = {"uvicorn": ["--no-access-log"], "granian": [], "hypercorn": []}
# The log must not contain unplanned exceptions, nor complaints of the event loop.
RAISED = re.compile(r"^[ |]*([A-Za-z_.]*(?:Error|Exception|Group)(?::.*)?)$", re.MULTILINE)
# Precedes another exception that a cancelled task raised, as an aborted stream does.
CONTEXT = re.compile(r"^.*CancelledError.*\n\n(?=During handling of)", re.MULTILINE)
COMPLAINT = re.compile(
    r"^.*(?:never awaited|never retrieved|was destroyed|socket\.send\(\)|ResourceWarning).*$",
    re.MULTILINE,
)


class Soak:
    """The load, and measurements during it.

    Args:
        served: The server.
        seconds: Duration of the load.
        clients: Number of concurrent clients.
        seed: Seed for the choice of requests.
    """

    def __init__(self, served: ServedApp, seconds: float, clients: int, seed: int) -> None:
        self.served = served
        self.seconds = seconds
        self.clients = clients
        self.seed = seed
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.memory: list[tuple[float, int]] = []
        self.files_before = self.files_after = 0
        self.left_open: object = None
        self.unplanned: list[str] = []

    async def run(self) -> None:
        """Runs the load and takes all measurements."""
        base = f"http://127.0.0.1:{self.served.port}"
        async with httpx.AsyncClient(base_url=base, timeout=30, trust_env=False) as client:
            for plan in PLAIN:  # opens everything that is opened only once
                await self._ask(client, plan, "warm-up")
        self.files_before = await self._settled_files()
        end = time.monotonic() + self.seconds
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch(end))
            for number in range(self.clients):
                group.create_task(self._client(base, random.Random(self.seed + number), end))
        self.files_after = await self._settled_files(self.files_before)
        async with httpx.AsyncClient(base_url=base, timeout=30, trust_env=False) as client:
            self.left_open = (await client.get("/left-open")).json()
        self.unplanned = unplanned(self.served.printed())

    async def _client(self, base: str, choice: random.Random, end: float) -> None:
        async with httpx.AsyncClient(base_url=base, timeout=30, trust_env=False) as client:
            while time.monotonic() < end and self.served.is_running:
                [kind] = choice.choices([*KINDS], [90, 5, 5])
                await self._ask(client, choice.choice(KINDS[kind]), kind)

    async def _ask(self, client: httpx.AsyncClient, plan: Plan, kind: str) -> None:
        self.counts[kind] += 1
        try:
            problem = await plan(client)
        except Left:
            return
        except Exception as error:
            problem = repr(error)
        if problem is not None:
            self.wrong.append(f"{plan.name}: {problem}")

    async def _watch(self, end: float) -> None:
        start = time.monotonic()
        while time.monotonic() < end and self.served.is_running:
            self.memory.append((time.monotonic() - start, self.served.memory_bytes()))
            await asyncio.sleep(SAMPLE_S)

    async def _settled_files(self, expected: int | None = None) -> int:
        """Waits until the server has closed files of finished requests; returns how many are open.

        Args:
            expected: The number of files to wait for; None waits until the number stops falling.
        """
        end = time.monotonic() + SETTLE_S
        files: int = self.served.open_files()
        while time.monotonic() < end:
            await asyncio.sleep(SAMPLE_S)
            before, files = files, self.served.open_files()
            if files == before if expected is None else files <= expected:
                break
        return files

    # Results:

    @property
    def growth_bytes(self) -> int:
        """Growth of memory since the warm-up: medians of the first and last fifth compared."""
        warm = [size for at, size in self.memory if at > min(WARM_UP_S, self.seconds / 4)]
        part = max(1, len(warm) // 5)
        return int(statistics.median(warm[-part:]) - statistics.median(warm[:part]))

    def problems(self) -> list[str]:
        """Lists everything that went wrong."""
        found = [f"{len(self.wrong)} wrong responses"] if self.wrong else []
        if not self.served.is_running:
            found.append("the server ended")
        if not all(self.counts[kind] for kind in KINDS):
            found.append("not every kind of request was sent")
        if self.unplanned:
            found.append(f"{len(self.unplanned)} lines in the log that were not planned")
        if self.growth_bytes > MOST_GROWTH_BYTES:
            found.append("memory grew")
        if self.files_after > self.files_before:
            found.append("file descriptors were left open")
        if self.left_open:
            found.append(f"left open: {self.left_open}")
        return found

    def report(self) -> str:
        """Returns the figures as text."""
        total = self.counts.total()
        rows = [
            ("requests", f"{total:,} ({total / self.seconds:,.0f} a second)"),
            ("of these raising", f"{self.counts['raising']:,}"),
            ("of these broken off", f"{self.counts['broken off']:,}"),
            ("wrong responses", f"{len(self.wrong):,}"),
            ("exceptions not planned", f"{len(self.unplanned):,}"),
            ("memory", f"{self.memory[-1][1] / MIB:.1f} MiB"),
            ("growth of memory", f"{self.growth_bytes / MIB:+.1f} MiB after the warm-up"),
            ("file descriptors", f"{self.files_before} before, {self.files_after} after"),
        ]
        lines = [f"{name:24}{value}" for name, value in rows]
        details = Counter(self.wrong).most_common(10) + Counter(self.unplanned).most_common(10)
        return "\n".join([*lines, *(f"  {count} times {what:.300}" for what, count in details)])


def unplanned(log: str) -> list[str]:
    """Returns the unplanned lines of a server's log."""
    log = CONTEXT.sub("", log)
    raised = [line for line in RAISED.findall(log) if not any(each in line for each in PLANNED)]
    return raised + COMPLAINT.findall(log)


def main() -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600, help="how long (default: 600)")
    parser.add_argument("--server", choices=sorted(OPTIONS), default="uvicorn")
    parser.add_argument("--clients", type=int, default=16, help="how many at once (default: 16)")
    parser.add_argument("--seed", type=int, default=0, help="what the choice depends on")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with ServedApp(options.server, "everything:app", log, *OPTIONS[options.server]) as served:
            soak = Soak(served, options.seconds, options.clients, options.seed)
            asyncio.run(soak.run())
            print(f"{options.seconds:g} s of mixed load on {options.server}")
            print(soak.report())
            problems = soak.problems()
    print("\n".join(f"wrong: {problem}" for problem in problems) or "flat, and every answer right")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
