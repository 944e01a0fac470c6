# SPDX-License-Identifier: MIT
"""Serves an app that uses every feature, under mixed load, and tells whether it stays as it was.

    uv run python scripts/soak.py --seconds 600
    uv run python scripts/soak.py --seconds 60 --server granian --seed 7

One request in twenty raises in its handler, one in twenty is broken off by the client.
Every answer is checked. The exit code is 1 if an answer was wrong, if an exception that was not
planned is in the log of the server, or if memory or file descriptors were not flat.
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

# What the line above finds, and mypy doesn't look for.
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
# A change of memory below this is the allocator's. A leak of 100 bytes a request goes beyond it in
# some minutes.
MOST_GROWTH_BYTES = 8 * MIB
# What caches and pools are filled in is not looked at.
WARM_UP_S = 5.0
SAMPLE_S = 0.5
SETTLE_S = 20.0
OPTIONS = {"uvicorn": ["--no-access-log"], "granian": [], "hypercorn": []}
# What the log must not hold: exceptions but those planned, and what the event loop complains of.
RAISED = re.compile(r"^[ |]*([A-Za-z_.]*(?:Error|Exception|Group)(?::.*)?)$", re.MULTILINE)
# Where a task was cancelled and raised something else, as a stream that is aborted does.
CONTEXT = re.compile(r"^.*CancelledError.*\n\n(?=During handling of)", re.MULTILINE)
COMPLAINT = re.compile(
    r"^.*(?:never awaited|never retrieved|was destroyed|socket\.send\(\)|ResourceWarning).*$",
    re.MULTILINE,
)


class Soak:
    """The load, and what is seen meanwhile.

    Args:
        served: The server.
        seconds: How long.
        clients: How many clients there are at once.
        seed: What the choice of requests depends on.
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
        """Runs all of it."""
        base = f"http://127.0.0.1:{self.served.port}"
        async with httpx.AsyncClient(base_url=base, timeout=30, trust_env=False) as client:
            for plan in PLAIN:  # so that whatever is opened once is open
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
        """Waits until the server has closed what the clients have left.

        Args:
            expected: How many files are enough; None for when there are no fewer than a while ago.
        """
        end = time.monotonic() + SETTLE_S
        files: int = self.served.open_files()
        while time.monotonic() < end:
            await asyncio.sleep(SAMPLE_S)
            before, files = files, self.served.open_files()
            if files == before if expected is None else files <= expected:
                break
        return files

    # What came of it:

    @property
    def growth_bytes(self) -> int:
        """How much more memory is in use at the end than after the warm-up: medians of a fifth."""
        warm = [size for at, size in self.memory if at > min(WARM_UP_S, self.seconds / 4)]
        part = max(1, len(warm) // 5)
        return int(statistics.median(warm[-part:]) - statistics.median(warm[:part]))

    def problems(self) -> list[str]:
        """What was not as it should be."""
        found = [f"{len(self.wrong)} wrong answers"] if self.wrong else []
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
        """The figures."""
        total = self.counts.total()
        rows = [
            ("requests", f"{total:,} ({total / self.seconds:,.0f} a second)"),
            ("of these raising", f"{self.counts['raising']:,}"),
            ("of these broken off", f"{self.counts['broken off']:,}"),
            ("wrong answers", f"{len(self.wrong):,}"),
            ("exceptions not planned", f"{len(self.unplanned):,}"),
            ("memory", f"{self.memory[-1][1] / MIB:.1f} MiB"),
            ("growth of memory", f"{self.growth_bytes / MIB:+.1f} MiB after the warm-up"),
            ("file descriptors", f"{self.files_before} before, {self.files_after} after"),
        ]
        lines = [f"{name:24}{value}" for name, value in rows]
        details = Counter(self.wrong).most_common(10) + Counter(self.unplanned).most_common(10)
        return "\n".join([*lines, *(f"  {count} times {what:.300}" for what, count in details)])


def unplanned(log: str) -> list[str]:
    """The lines of a server's log that nobody planned."""
    log = CONTEXT.sub("", log)
    raised = [line for line in RAISED.findall(log) if not any(each in line for each in PLANNED)]
    return raised + COMPLAINT.findall(log)


def main() -> int:
    """Runs the command; gives its exit code."""
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
