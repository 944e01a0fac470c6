# SPDX-License-Identifier: MIT
"""Processor time of uvicorn and granian for a request, one worker each.

All peers are served at the same time, each from processes and ports of its own, and only one of
them has load at a time, from `load.py`. In a round, each peer alternates with the raw callable,
which it is compared with; of several turns of both, the fastest counts, since other work on the
machine only adds time. The time is that of the server's processes, with all their threads.

The same callable in three processes differed by 7 %, so the servers are started several times.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from . import rows
from .crew import PYTHON_M, ROOT
from .in_process import median_ratio
from .load import Loaded
from .peers import KIT, RAW
from .processor import apart, processor_seconds
from .rows import AppKey
from .server import SERVERS, Served, ServedError
from .tables import Table

SERVED_ROWS = (
    "text",
    "json",
    "param",
    "five middleware",
    "echo",
    "body of 1 KiB",
    "body of 64 KiB",
    "stream",
)
CONNECTIONS = 32
STARTS = 3
TURNS = 5
"""How often each has its turn in a round."""
_END_LIMIT_S = 10


@dataclass
class Turns:
    """What a peer and, right before it, the raw callable took for a request, in each round.

    Attributes:
        own: Seconds of processor time that the server of the peer had.
        raw: The same of the raw callable's.
    """

    own: list[float] = field(default_factory=list)
    raw: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """Time as a multiple of the raw callable's, median of the rounds."""
        return median_ratio(self.own, self.raw)


@dataclass
class Figures:
    """What was measured.

    Attributes:
        rounds: How many.
        turns: By server, row and peer.
        left_out: What was left out, and why.
        is_apart: Whether the load had a processor to itself.
        failed: Server, row and peer of what was left out under load.
    """

    rounds: int
    turns: dict[str, dict[str, dict[str, Turns]]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    is_apart: bool = False
    failed: list[tuple[str, str, str]] = field(default_factory=list)


class Load:
    """The process of `load.py`; a context manager, which ends it."""

    def __enter__(self) -> Load:
        command = [*PYTHON_M, "benchmarks.load"]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen(command, cwd=ROOT, text=True, **pipes)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._process.communicate(timeout=_END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    def processor_s(self, served: Served, row: str, seconds: float) -> float:
        """Puts load on a server, and returns the seconds of processor time for a request.

        Raises:
            ServedError: If an answer is not 200, or doesn't come.
        """
        arguments = {
            "port": served.port,
            "pid": served.pid,
            "request": rows.ROWS[row].make(42).on_the_wire.decode("latin-1"),
            "seconds": seconds,
            "connections": CONNECTIONS,
        }
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(arguments) + "\n")
        stdin.flush()
        line = stdout.readline()
        if not line:
            raise ServedError("the process of the load is gone")
        answer = json.loads(line)
        if "error" in answer:
            raise ServedError(f"{served.peer}, {row}: {answer['error']}")
        loaded = Loaded(*answer["ok"])
        return loaded.processor_seconds / loaded.answers


def measure(
    names: Sequence[str], row_names: Sequence[str], rounds: int, slot_s: float, is_apart: bool
) -> Figures:
    """Serves, verifies, and puts load on one after the other, round by round.

    Args:
        names: The peers; the raw callable is asked in any case.
        row_names: Which rows; those that are not served are passed over.
        rounds: How many times each peer has its turn, on each server and row.
        slot_s: How long a turn is, in seconds.
        is_apart: Whether the load has a processor to itself, if there are several.
    """
    figures = Figures(rounds, is_apart=is_apart)
    wanted = [row for row in SERVED_ROWS if row in row_names]
    if not processor_seconds(os.getpid()):
        figures.left_out.append("the processor time of other processes is not known on this system")
        return figures
    for server in SERVERS:
        try:
            version(server)
        except PackageNotFoundError:
            figures.left_out.append(f"{server} is not installed")
            continue
        figures.turns[server] = {row: {} for row in wanted}
        done = 0
        for number in range(STARTS):
            numbers = range(done, done + rounds // STARTS + (number < rounds % STARTS))
            done = numbers.stop
            if numbers:
                _start_and_measure(server, names, numbers, slot_s, figures)
    return figures


def _start_and_measure(
    server: str,
    names: Sequence[str],
    numbers: range,
    slot_s: float,
    figures: Figures,
) -> None:
    wanted = list(figures.turns[server])
    with ExitStack() as stack:
        processors = stack.enter_context(apart() if figures.is_apart else nullcontext())
        figures.is_apart = processors is not None
        started = []
        for app in dict.fromkeys(rows.ROWS[row].app for row in wanted):
            for name in dict.fromkeys([RAW, *names]):
                started.append(Served(server, name, processors, app=app))
                stack.callback(started[-1].end)
        working = verified(server, started, wanted, figures.left_out)
        load = stack.enter_context(Load())
        for number in numbers:
            for row in wanted:
                served = working.get(rows.ROWS[row].app, [])
                _measure(load, (server, row), served, number, slot_s, figures)


def verified(
    server: str, started: Sequence[Served], wanted: Sequence[str], left_out: list[str]
) -> dict[AppKey, list[Served]]:
    """Waits for servers, and checks their answers.

    Args:
        server: A name of `SERVERS`.
        started: The processes.
        wanted: The rows; each process has to answer those of its app.
        left_out: Where the problems are added, a line each.

    Returns:
        By app, the processes that answer all of them right.
    """
    working: dict[AppKey, list[Served]] = {}
    for each in started:
        try:
            each.wait_until_up()
            for row in wanted:
                if rows.ROWS[row].app == each.app:
                    each.verify(row)
        except ServedError as error:
            problem = f"{each.peer} on {server}: {error}"
            left_out += [problem] if problem not in left_out else []
        else:
            working.setdefault(each.app, []).append(each)
    return working


def _measure(
    load: Load,
    at: tuple[str, str],
    served: list[Served],
    number: int,
    slot_s: float,
    figures: Figures,
) -> None:
    """Adds a round of a server and a row; a peer that fails is left out of the row from then on."""
    server, row = at
    raw = next((each for each in served if each.peer == RAW), None)
    others = [
        each
        for each in served
        if each is not raw and (server, row, each.peer) not in figures.failed
    ]
    if raw is None or not others:
        return
    by_name = figures.turns[server][row]
    first = number % len(others)
    for each in others[first:] + others[:first]:
        try:
            raw_s, own_s = _turns(load, (raw, each), row, slot_s)
        except ServedError as error:
            figures.left_out.append(f"{server}: {error}")
            figures.failed.append((server, row, each.peer))
            by_name.pop(each.peer, None)
        else:
            turns = by_name.setdefault(each.peer, Turns())
            turns.raw.append(raw_s)
            turns.own.append(own_s)


def _turns(load: Load, pair: tuple[Served, Served], row: str, slot_s: float) -> tuple[float, float]:
    """The fastest of several turns of two servers, which alternate."""
    turns = [tuple(load.processor_s(each, row, slot_s) for each in pair) for _ in range(TURNS)]
    first, second = (min(taken) for taken in zip(*turns, strict=True))
    return first, second


def tables(figures: Figures) -> list[Table]:
    """Multiples of the raw callable's processor time, and Kit beside the fastest peer."""
    made = []
    for server, by_row in figures.turns.items():
        names = list(dict.fromkeys(name for by_name in by_row.values() for name in by_name))
        table = Table(
            f"{server}: processor time for a request as a multiple of the raw callable's, "
            f"median of {figures.rounds} rounds"
            + (", load on a processor of its own" if figures.is_apart else ""),
            ["raw, µs", *names],
        )
        for row, by_name in by_row.items():
            raw = [seconds for turns in by_name.values() for seconds in turns.raw]
            if raw:
                cells = (f"{by_name[name].ratio:.3f}" if name in by_name else "-" for name in names)
                table.add(row, f"{statistics.median(raw) * 1e6:.1f}", *cells)
        made.append(table)
    return made


def best_peer(by_name: dict[str, Turns]) -> str | None:
    """The peer with the least processor time; the raw callable is none."""
    peers = [name for name in by_name if name not in (KIT, RAW)]
    return min(peers, key=lambda name: by_name[name].ratio, default=None)
