# SPDX-License-Identifier: MIT
"""Requests per second under uvicorn and granian, one worker each, as a share of the raw callable's.

All peers are served at the same time, each from a process and port of its own, and only one of
them has load at a time. Each turn of a peer follows one of the raw callable, which it is compared
with. The load comes from wrk where it is installed, else from `load.py`.

The same callable in three processes differed by 7 %, so the servers are started several times.
Where the load has a processor to itself (`--apart`), it is 2 %; on two processors that also puts
all threads of a server on one.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

from . import rows
from .crew import ROOT
from .in_process import median_ratio
from .peers import RAW
from .processor import apart, processor_seconds
from .server import SERVERS, Served, ServedError
from .tables import Table

SERVED_ROWS = ("text", "json")
CONNECTIONS = 32
STARTS = 3


@dataclass
class Turns:
    """What a peer and, right before it, the raw callable took for a request, in each round.

    Attributes:
        own: Seconds of the peer.
        raw: Seconds of the raw callable.
        own_processor: Seconds of processor time that the server of the peer had.
        raw_processor: The same of the raw callable's.
    """

    own: list[float] = field(default_factory=list)
    raw: list[float] = field(default_factory=list)
    own_processor: list[float] = field(default_factory=list)
    raw_processor: list[float] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Requests per second as a share of the raw callable's, median of the rounds."""
        return median_ratio(self.raw, self.own)

    @property
    def processor_share(self) -> float:
        """Requests per second of processor time, likewise; 0 where it is not known."""
        if not all(self.own_processor):
            return 0.0
        return median_ratio(self.raw_processor, self.own_processor)


@dataclass
class Figures:
    """What was measured.

    Attributes:
        load: Where the load came from.
        rounds: How many.
        turns: By server, row and peer.
        left_out: What was left out, and why.
        is_apart: Whether the load had a processor to itself.
    """

    load: str
    rounds: int
    turns: dict[str, dict[str, dict[str, Turns]]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    is_apart: bool = False


def load_name() -> str:
    """Where the load comes from."""
    return "wrk" if shutil.which("wrk") else "benchmarks/load.py"


def load(served: Served, row: str, seconds: float) -> tuple[float, float]:
    """Seconds per request under load, and those of processor time of the server.

    Raises:
        ServedError: If an answer is not 200.
    """
    path = rows.ROWS[row].make(42).path.decode()
    before = processor_seconds(served.pid)
    rate = _rate(served.port, path, seconds)
    used = processor_seconds(served.pid) - before
    return 1 / rate, used / (rate * _turn_s(seconds))


def _turn_s(seconds: float) -> float:
    """How long a turn is: wrk takes whole seconds."""
    return max(1, round(seconds)) if shutil.which("wrk") else seconds


def _rate(port: int, path: str, seconds: float) -> float:
    """Requests per second."""
    if shutil.which("wrk"):
        url = f"http://127.0.0.1:{port}{path}"
        options = ["-t1", f"-c{CONNECTIONS}", f"-d{_turn_s(seconds):g}s"]
        said = _output(["wrk", *options, url], seconds)
        rate = re.search(r"Requests/sec: +([\d.]+)", said)
        if rate is None or re.search("Non-2xx|Socket errors", said):
            raise ServedError(f"wrk says: {said.strip()[-200:]!r}")
        return float(rate[1])
    arguments = ["127.0.0.1", str(port), path, str(seconds), str(CONNECTIONS)]
    said = _output([sys.executable, "-m", "benchmarks.load", *arguments], seconds)
    found = json.loads(said)
    if found["wrong"] or not found["answers"]:
        raise ServedError(f"{found['wrong']} answers of {found['answers']} are wrong")
    return float(found["answers"]) / float(found["seconds"])


def _output(command: list[str], seconds: float) -> str:
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=seconds + 20, check=True
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise ServedError(f"the load failed: {error}") from error
    return done.stdout


def measure(
    names: Sequence[str], row_names: Sequence[str], rounds: int, slot_s: float, is_apart: bool
) -> Figures:
    """Serves, verifies, and puts load on one after the other, round by round.

    Args:
        names: The peers; the raw callable is asked in any case.
        row_names: Which rows; those that are not served are passed over.
        rounds: How many times each peer has its turn, on each server and row.
        slot_s: How long a turn is, in seconds; wrk takes whole ones.
        is_apart: Whether the load has a processor to itself.
    """
    figures = Figures(load_name(), rounds, is_apart=is_apart)
    wanted = [row for row in SERVED_ROWS if row in row_names]
    for server in SERVERS:
        try:
            version(server)
        except PackageNotFoundError:
            figures.left_out.append(f"{server} is not installed")
            continue
        figures.turns[server] = {}
        for number in range(STARTS):
            own_rounds = rounds // STARTS + (number < rounds % STARTS)
            if own_rounds:
                _start_and_measure(server, names, wanted, own_rounds, slot_s, figures)
    return figures


def _start_and_measure(
    server: str,
    names: Sequence[str],
    wanted: list[str],
    rounds: int,
    slot_s: float,
    figures: Figures,
) -> None:
    with apart() if figures.is_apart else nullcontext() as processors:
        served: list[Served] = []
        try:
            for name in dict.fromkeys([RAW, *names]):
                served.append(Served(server, name, processors))  # noqa: PERF401 - those to end
            working = verified(server, served, wanted, figures.left_out)
            _measure(working, wanted, rounds, slot_s, figures.turns[server])
        finally:
            for each in served:
                each.end()


def verified(
    server: str, served: Sequence[Served], wanted: Sequence[str], left_out: list[str]
) -> list[Served]:
    """Waits for servers, and checks their answers.

    Args:
        server: A name of `SERVERS`.
        served: The processes.
        wanted: The rows that each must answer.
        left_out: Where the problems are added, a line each.

    Returns:
        The processes that answer all of them right.
    """
    working = []
    for each in served:
        try:
            each.wait_until_up()
            for row in wanted:
                each.verify(row)
        except ServedError as error:
            problem = f"{each.peer} on {server}: {error}"
            left_out += [problem] if problem not in left_out else []
        else:
            working.append(each)
    return working


def _measure(
    working: list[Served],
    wanted: list[str],
    rounds: int,
    slot_s: float,
    turns: dict[str, dict[str, Turns]],
) -> None:
    """Adds the turns of so many rounds, by row and peer."""
    done = max(
        (len(turn.own) for by_name in turns.values() for turn in by_name.values()), default=0
    )
    raw = next((each for each in working if each.peer == RAW), None)
    others = [each for each in working if each is not raw]
    if raw is None or not others:
        return
    for number in range(done, done + rounds):
        first = number % len(others)
        for row in wanted:
            for each in others[first:] + others[:first]:
                turn = turns.setdefault(row, {}).setdefault(each.peer, Turns())
                wall_s, processor_s = load(raw, row, slot_s)
                turn.raw.append(wall_s)
                turn.raw_processor.append(processor_s)
                wall_s, processor_s = load(each, row, slot_s)
                turn.own.append(wall_s)
                turn.own_processor.append(processor_s)


def tables(figures: Figures) -> list[Table]:
    """Shares of the raw callable's requests per second."""
    made = []
    for server, by_row in figures.turns.items():
        names = list(dict.fromkeys(name for by_name in by_row.values() for name in by_name))
        wall = Table(
            f"{server}: requests per second as a share of the raw callable's, "
            f"median of {figures.rounds} rounds, load from {figures.load}"
            + (" on a processor of its own" if figures.is_apart else ""),
            ["raw, 1/s", *names],
        )
        processor = Table(
            f"{server}: the same, per second of the server's processor time, which tells more "
            "where the machine has other work",
            ["raw, 1/s", *names],
        )
        for row, by_name in by_row.items():
            raw = [seconds for turns in by_name.values() for seconds in turns.raw]
            used = [seconds for turns in by_name.values() for seconds in turns.raw_processor]
            wall.add(row, _per_second(raw), *(f"{by_name[name].share:.2f}" for name in names))
            shares = [f"{by_name[name].processor_share:.2f}" for name in names]
            processor.add(row, _per_second(used), *shares)
        made += [wall, processor]
    return made


def _per_second(seconds: list[float]) -> str:
    median = statistics.median(seconds)
    return f"{1 / median:,.0f}" if median else "-"
