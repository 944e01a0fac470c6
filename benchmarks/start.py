# SPDX-License-Identifier: MIT
"""Wall time and peak memory of a new process: import and first app, and up to its first answer.

The apps are those of `first_apps/`, each run by an interpreter that has nothing else to do. The
first answer counts as well, since what is imported at the first request is not saved, only moved.
"""

from __future__ import annotations

import ast
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .in_process import median_ratio
from .peers import KIT, RAW
from .tables import Table

BARE = "bare"
STAGES = ("first app", "first answer")
LAZY = (
    "anyio",
    "can_ada",
    "importlib.metadata",
    "multipart",
)
"""What no app needs that sends a text."""

_APPS = Path(__file__).parent / "first_apps"
_LIMIT_S = 60

_ANSWER = """
import asyncio

async def first_answer():
    events, changed, started = ["lifespan.startup"], asyncio.Event(), asyncio.Event()
    body, sent = [{"type": "http.request", "body": b"", "more_body": False}], []

    async def next_event():
        while not events:
            changed.clear()
            await changed.wait()
        return {"type": events.pop()}

    async def note(message):
        started.set()

    async def live():
        try:
            scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
            await app(scope, next_event, note)
        except Exception:
            pass  # an app that knows no lifespan
        started.set()

    async def receive():
        if not body:
            await asyncio.get_running_loop().create_future()
        return body.pop()

    async def send(message):
        sent.append(message)

    life = asyncio.create_task(live())
    await started.wait()
    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1",
        "server": ("127.0.0.1", 8000), "client": ("127.0.0.1", 50000), "scheme": "http",
        "root_path": "", "method": "GET", "path": "/", "raw_path": b"/", "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"accept", b"*/*")], "state": {},
    }
    await app(scope, receive, send)
    events.append("lifespan.shutdown")
    changed.set()
    await life
    if sent[0]["status"] != 200 or sent[1]["body"] != b"Hello, World!":
        raise SystemExit(f"the first answer is {sent!r}")

asyncio.run(first_answer())
"""

_REPORT = f"""
import sys
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))
print()
print({{"peak": peak, "lazy": [name for name in {LAZY!r} if name in sys.modules]}})
"""


@dataclass
class Starts:
    """What the processes of one peer took, one entry a round.

    Attributes:
        seconds: Wall time, from the start of the process to its end.
        peak_bytes: Peak resident memory.
        lazy: Which modules of `LAZY` were imported.
        processor_seconds: Processor time, of the system as well.
    """

    seconds: list[float] = field(default_factory=list)
    peak_bytes: list[float] = field(default_factory=list)
    lazy: list[str] = field(default_factory=list)
    processor_seconds: list[float] = field(default_factory=list)


@dataclass
class Figures:
    """What was measured, by stage and peer, and what was left out."""

    rounds: int
    starts: dict[str, dict[str, Starts]]
    left_out: list[str] = field(default_factory=list)


class StartError(Exception):
    """A first app does not run."""


def measure(names: Sequence[str], rounds: int) -> Figures:
    """Starts a process of each peer in turn, round by round.

    Args:
        names: The peers; bare Python and the raw callable are started in any case.
        rounds: How many times.
    """
    figures = Figures(rounds, {stage: {} for stage in STAGES})
    for stage, starts in figures.starts.items():
        # With nothing to answer, bare Python has no second stage: the raw callable is its floor.
        floor = [BARE, RAW] if stage == STAGES[0] else [RAW]
        working = []
        for name in dict.fromkeys([*floor, *names]):
            try:
                run_once(name, stage, Starts())  # also writes the byte code of what it imports
            except StartError as error:
                figures.left_out.append(f"{stage}: {error}")
            else:
                working.append(name)
        starts.update({name: Starts() for name in working})
        for number in range(rounds):
            first = number % len(working)
            for name in working[first:] + working[:first]:
                run_once(name, stage, starts[name])
    return figures


def run_once(name: str, stage: str, starts: Starts, prelude: str = "", epilogue: str = "") -> None:
    """Starts one process, and notes what it took.

    Args:
        name: The peer.
        stage: One of `STAGES`.
        starts: Where the figures are added.
        prelude: Lines that run before the app is imported.
        epilogue: Lines that run at the end.

    Raises:
        StartError: If the process fails, or takes too long.
    """
    source = prelude + (_APPS / f"{name}.py").read_text()
    if stage == STAGES[1]:
        source += _ANSWER
    source += epilogue
    used = _processor_seconds()
    began = time.perf_counter()
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", source + _REPORT],
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=True,
        )
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip().splitlines() or ["it said nothing"]
        raise StartError(f"{name}: {said[-1]}") from error
    except subprocess.TimeoutExpired as error:
        raise StartError(f"{name}: took more than {_LIMIT_S} s") from error
    starts.seconds.append(time.perf_counter() - began)
    starts.processor_seconds.append(_processor_seconds() - used)
    report = ast.literal_eval(done.stdout.splitlines()[-1])
    starts.peak_bytes.append(report["peak"])
    starts.lazy = report["lazy"]


def _processor_seconds() -> float:
    """Processor time of all processes that this one has started and seen end."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def tables(figures: Figures) -> list[Table]:
    """Wall time and memory, in units and as multiples of Kit's."""
    made = []
    for stage, starts in figures.starts.items():
        kit = starts.get(KIT)
        columns = ["ms", "MiB"] if kit is None else ["ms", "time / Kit's", "MiB", "memory / Kit's"]
        title = f"up to the {stage}, in a new process, median of {figures.rounds} rounds"
        table = Table(title, columns)
        for name, own in starts.items():
            milliseconds = f"{statistics.median(own.seconds) * 1e3:.0f}"
            mebibytes = f"{statistics.median(own.peak_bytes) / 2**20:.1f}"
            if kit is None:
                table.add(name, milliseconds, mebibytes)
            else:
                time_ratio = f"{median_ratio(own.seconds, kit.seconds):.2f}"
                memory_ratio = f"{median_ratio(own.peak_bytes, kit.peak_bytes):.2f}"
                table.add(name, milliseconds, time_ratio, mebibytes, memory_ratio)
        made.append(table)
    return made
