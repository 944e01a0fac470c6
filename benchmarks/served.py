# SPDX-License-Identifier: MIT
"""Requests per second under uvicorn and granian, one worker each, as a share of the raw callable's.

All peers are served at the same time, each from a process and port of its own, and only one of
them has load at a time. Each turn of a peer follows one of the raw callable, which it is compared
with. The load comes from wrk where it is installed, else from `load.py`.
"""

from __future__ import annotations

import http.client
import json
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

from . import rows
from .crew import ROOT
from .in_process import median_ratio
from .peers import RAW
from .processor import processor_seconds
from .tables import Table

SERVED_ROWS = ("text", "json")
CONNECTIONS = 32
_START_LIMIT_S = 30
_END_LIMIT_S = 10

SERVERS = {
    "uvicorn": (
        "uvicorn {app} --factory --host 127.0.0.1 --port {port} --workers 1 --http httptools"
        " --loop uvloop --interface asgi3 --no-access-log --log-level warning"
    ),
    "granian": (
        "granian {app} --factory --host 127.0.0.1 --port {port} --workers 1 --interface asgi"
        " --loop uvloop --no-access-log --log-level warning"
    ),
}
"""Arguments of `python -m`; those of uvicorn are what it takes by itself where it can."""


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
    """

    load: str
    rounds: int
    turns: dict[str, dict[str, dict[str, Turns]]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


class ServedError(Exception):
    """A server does not start, or answers something else than it should."""


class Served:
    """A server process with the app of one peer.

    Args:
        server: A name of `SERVERS`.
        peer: The peer.
    """

    def __init__(self, server: str, peer: str) -> None:
        self.peer = peer
        self.port = free_port()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by end()
        target = f"benchmarks.peers.{peer}:rows_app"
        arguments = SERVERS[server].format(app=target, port=self.port).split()
        self._process = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def wait_until_up(self) -> None:
        """Waits for the port to open.

        Raises:
            ServedError: If it does not in time.
        """
        until = time.monotonic() + _START_LIMIT_S
        while time.monotonic() < until and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise ServedError(f"it does not start: {self._last_words()}")

    def verify(self, row: str) -> None:
        """Checks the answer to a row.

        Raises:
            ServedError: If it is wrong.
        """
        request = rows.ROWS[row].make(42)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(request.method, request.path.decode())
            response = connection.getresponse()
            lines = [(k.lower().encode(), v.encode()) for k, v in response.getheaders()]
            start = {"type": "http.response.start", "status": response.status, "headers": lines}
            rows.check(request, [start, {"type": "http.response.body", "body": response.read()}])
        except (OSError, http.client.HTTPException, rows.WrongAnswerError) as error:
            raise ServedError(f"{error}; {self._last_words()}") from error
        finally:
            connection.close()

    def end(self) -> None:
        """Ends the process; granian ends its worker then."""
        self._process.terminate()
        try:
            self._process.wait(_END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def _last_words(self) -> str:
        self._log.seek(0)
        said = self._log.read().decode(errors="replace").strip().splitlines()
        return said[-1] if said else "it said nothing"


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


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


def measure(names: Sequence[str], row_names: Sequence[str], rounds: int, slot_s: float) -> Figures:
    """Serves, verifies, and puts load on one after the other, round by round.

    Args:
        names: The peers; the raw callable is asked in any case.
        row_names: Which rows; those that are not served are passed over.
        rounds: How many times each peer has its turn, on each server and row.
        slot_s: How long a turn is, in seconds; wrk takes whole ones.
    """
    figures = Figures(load_name(), rounds)
    wanted = [row for row in SERVED_ROWS if row in row_names]
    for server in SERVERS:
        try:
            version(server)
        except PackageNotFoundError:
            figures.left_out.append(f"{server} is not installed")
            continue
        served = [Served(server, name) for name in dict.fromkeys([RAW, *names])]
        try:
            working = _verified(server, served, wanted, figures.left_out)
            figures.turns[server] = _measure(working, wanted, rounds, slot_s)
        finally:
            for each in served:
                each.end()
    return figures


def _verified(
    server: str, served: list[Served], wanted: list[str], left_out: list[str]
) -> list[Served]:
    working = []
    for each in served:
        try:
            each.wait_until_up()
            for row in wanted:
                each.verify(row)
        except ServedError as error:
            left_out.append(f"{each.peer} on {server}: {error}")
        else:
            working.append(each)
    return working


def _measure(
    working: list[Served], wanted: list[str], rounds: int, slot_s: float
) -> dict[str, dict[str, Turns]]:
    raw = next((each for each in working if each.peer == RAW), None)
    others = [each for each in working if each is not raw]
    if raw is None or not others:
        return {}
    turns = {row: {each.peer: Turns() for each in others} for row in wanted}
    for number in range(rounds):
        first = number % len(others)
        for row in wanted:
            for each in others[first:] + others[:first]:
                turn = turns[row][each.peer]
                wall_s, processor_s = load(raw, row, slot_s)
                turn.raw.append(wall_s)
                turn.raw_processor.append(processor_s)
                wall_s, processor_s = load(each, row, slot_s)
                turn.own.append(wall_s)
                turn.own_processor.append(processor_s)
    return turns


def tables(figures: Figures) -> list[Table]:
    """Shares of the raw callable's requests per second."""
    made = []
    for server, by_row in figures.turns.items():
        names = list(dict.fromkeys(name for by_name in by_row.values() for name in by_name))
        wall = Table(
            f"{server}: requests per second as a share of the raw callable's, "
            f"median of {figures.rounds} rounds, load from {figures.load}",
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
