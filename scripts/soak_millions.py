# SPDX-License-Identifier: MIT
"""Sends millions of requests to one server, one in twenty a fault, and checks every response.

    uv run python scripts/soak_millions.py --requests 10000000
    uv run python scripts/soak_millions.py --requests 1000000 --server granian --seed 7 --markdown

Several client processes keep connections busy. The random id of a request determines its response,
so a mixed-up response is noticed. Faults are: handlers that raise, time out or fail within a body;
clients that disconnect during a request, during a response or while a handler waits; malformed
bytes. The script prints its progress every ten seconds. The exit code is 1 if a response was wrong,
if the log has unexpected records, or if memory, tasks or file descriptors grew.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.request import urlopen

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

# Found by the line above, which mypy doesn't follow.
import millions_client  # type: ignore[import-not-found]
from serving import ServedApp, exit_on_sigterm  # type: ignore[import-not-found]
from soak import MIB, OPTIONS, unplanned

MILLION = 1_000_000
# After this fraction of the requests, caches and pools are full, and memory should stay flat.
WARM_UP = 0.2
# The allocator causes smaller growth. A leak of 10 bytes per request exceeds this in a million.
MOST_GROWTH_BYTES = 8 * MIB
LOOK_S = 0.5
PROGRESS_S = 10.0
SETTLE_S = 20.0
# How long the clients may take to stop.
STOP_S = 60.0
FAULTS = {"raises", "refuses", "timed out", *millions_client.BREAKING}


class Soak:
    """The load, and what is measured during it.

    Args:
        served: The server.
        options: The command-line options.
    """

    def __init__(self, served: ServedApp, options: argparse.Namespace) -> None:
        self.served = served
        self.options = options
        self.kinds: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.wrong_count = 0
        # Number of finished requests, and resident memory in bytes at that time.
        self.memory: list[tuple[int, int]] = []
        self.seconds = 0.0
        self.trouble: list[str] = []
        self.before: dict[str, Any] = {}
        self.after: dict[str, Any] = {}
        self.unplanned: list[str] = []

    def run(self) -> None:
        """Runs the load and takes all measurements."""
        options = self.options
        # Another seed, so the ids differ from those of the load.
        warm_up = Clients(self.served.port, options, options.warm_up, seed=options.seed + MILLION)
        warm_up.run_to_end(STOP_S)
        self.before = self._settled(None)
        clients = Clients(self.served.port, options, options.requests, seed=options.seed)
        self._watch(clients)
        self.after = self._settled(self.before)
        self.wrong_count, self.wrong = clients.wrong_count, clients.wrong
        self.kinds = clients.kinds
        self._compare_counts(clients, warm_up)
        self.unplanned = unplanned(self.served.printed())

    def _watch(self, clients: Clients) -> None:
        start = time.monotonic()
        shown = start
        while clients.are_running:
            time.sleep(LOOK_S)
            clients.take()
            now = time.monotonic()
            self.seconds = now - start
            if not self.served.is_running:
                clients.stop()
                break
            self.memory.append((clients.answered, self.served.memory_bytes()))
            if now - shown >= PROGRESS_S:
                shown = now
                print(self._progress(clients), flush=True)
            if self.seconds > self.options.seconds:
                clients.stop()
                break
        clients.run_to_end(STOP_S)

    def _progress(self, clients: Clients) -> str:
        rate = clients.answered / self.seconds
        return (
            f"{self.seconds:6.0f} s  {clients.answered:>12,} requests  {rate:7,.0f} a second  "
            f"{clients.wrong_count} wrong  {self.memory[-1][1] / MIB:.1f} MiB  "
            f"{self.served.open_files()} descriptors  load {os.getloadavg()[0]:.1f}"
        )

    def _settled(self, expected: dict[str, Any] | None) -> dict[str, Any]:
        """Waits until the server has released all clients; returns what it still has open."""
        end = time.monotonic() + SETTLE_S
        while True:
            with urlopen(f"http://127.0.0.1:{self.served.port}/state", timeout=30) as response:
                found: dict[str, Any] = json.load(response)
            time.sleep(LOOK_S)  # the connection of this request is gone by then
            found |= {"files": self.served.open_files(), "memory": self.served.memory_bytes()}
            is_calm = not found["open"] and (
                expected is None
                or (found["files"] <= expected["files"] and found["tasks"] <= expected["tasks"])
            )
            if is_calm or time.monotonic() > end:
                return found

    def _compare_counts(self, *loads: Clients) -> None:
        """Compares the server's counts with what the clients did."""
        done: Counter[str] = sum((load.kinds for load in loads), Counter())
        counted = Counter(self.after["counts"])
        agrees = {
            "timeouts": counted["timeouts"] == done["timed out"],
            # A client may disconnect before its handler starts.
            "cancelled": 0 < counted["cancelled"] <= done["leaves a waiting handler"],
            # Bodies that raise are logged too.
            "planned faults logged": counted["planned faults logged"] >= done["raises"],
        }
        wrong = [f"{name}: {counted[name]} of {done}" for name, fits in agrees.items() if not fits]
        self.wrong += wrong
        self.wrong_count += len(wrong)

    # Results:

    @property
    def answered(self) -> int:
        """Number of requests that are finished, right or wrong."""
        return self.kinds.total()

    @property
    def growth_bytes(self) -> float:
        """Memory growth after the warm-up: the last fifth's median minus the first fifth's."""
        first, last = self._warm_fifths()
        return statistics.median(size for _, size in last) - statistics.median(
            size for _, size in first
        )

    @property
    def growth_per_million(self) -> float:
        """Memory growth in bytes per million requests."""
        first, last = self._warm_fifths()
        requests = statistics.median(at for at, _ in last) - statistics.median(
            at for at, _ in first
        )
        return self.growth_bytes / requests * MILLION if requests else 0.0

    def _warm_fifths(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        warm = [each for each in self.memory if each[0] >= self.answered * WARM_UP]
        part = max(1, len(warm) // 5)
        return warm[:part], warm[-part:]

    def memory_at_tenths(self) -> list[float]:
        """Returns memory in MiB after each tenth of the requests."""
        tenths = [self.answered * part / 10 for part in range(11)]
        return [min(self.memory, key=lambda each: abs(each[0] - at))[1] / MIB for at in tenths]

    def problems(self) -> list[str]:
        """Lists everything that went wrong."""
        found = [f"{self.wrong_count} wrong responses"] if self.wrong_count else []
        if not self.served.is_running:
            found.append("the server ended")
        if self.answered < self.options.requests:
            found.append(f"{self.options.requests - self.answered:,} requests were not sent")
        if missing := FAULTS - self.kinds.keys():
            found.append(f"not sent: {sorted(missing)}")
        if self.unplanned:
            found.append(f"{len(self.unplanned)} unexpected log records")
        if self.growth_bytes > MOST_GROWTH_BYTES:
            found.append("memory grew")
        grown = [name for name in ("files", "tasks") if self.after[name] > self.before[name]]
        found += [f"{name} were left open" for name in grown]
        if self.after["open"]:
            found.append(f"left open: {self.after['open']}")
        return found

    def rows(self) -> list[tuple[str, str]]:
        """Returns names and values of all figures."""
        faults = sum(self.kinds[kind] for kind in FAULTS)
        tenths = " ".join(f"{size:.1f}" for size in self.memory_at_tenths())
        return [
            ("requests", f"{self.answered:,}"),
            ("per second", f"{self.answered / self.seconds:,.0f}"),
            ("faults", f"{faults:,} ({faults / self.answered:.1%})"),
            *((f"- {kind}", f"{self.kinds[kind]:,}") for kind in sorted(FAULTS)),
            ("wrong responses", f"{self.wrong_count:,}"),
            ("unexpected log records", f"{len(self.unplanned):,}"),
            ("memory at each tenth, MiB", tenths),
            ("growth after the warm-up", f"{self.growth_bytes / MIB:+.2f} MiB"),
            ("growth per million", f"{self.growth_per_million / MIB:+.3f} MiB"),
            ("file descriptors", f"{self.before['files']} before, {self.after['files']} after"),
            ("tasks", f"{self.before['tasks']} before, {self.after['tasks']} after"),
        ]

    def report(self) -> str:
        """Returns the figures as text."""
        lines = [f"{name:28}{value}" for name, value in self.rows()]
        details = Counter(self.wrong).most_common(10) + Counter(self.unplanned).most_common(10)
        return "\n".join([*lines, *(f"  {count} times {what:.600}" for what, count in details)])

    def markdown(self) -> str:
        """Returns the row for the table in docs/reliability.md."""
        faults = sum(self.kinds[kind] for kind in FAULTS)
        tenths = self.memory_at_tenths()
        cells = [
            self.options.server,
            f"{self.answered:,}",
            f"{self.answered / self.seconds:,.0f}",
            f"{faults:,}",
            f"{self.wrong_count}",
            f"{len(self.unplanned)}",
            f"{tenths[2]:.1f} → {tenths[-1]:.1f} MiB",
            f"{self.growth_per_million / MIB:+.3f} MiB",
            f"{self.before['files']} → {self.after['files']}",
            f"{self.before['tasks']} → {self.after['tasks']}",
        ]
        return f"| {' | '.join(cells)} |"


class Clients:
    """The client processes.

    Args:
        port: The port of the server.
        options: The command-line options.
        requests: Number of requests that they send in total.
        seed: The seed.
    """

    def __init__(self, port: int, options: argparse.Namespace, requests: int, *, seed: int) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._tallies: dict[int, millions_client.Tally] = {}
        self._channels = {}
        self._processes = []
        count = options.clients
        for number in range(count):
            share = requests // count + (number < requests % count)
            channel, other_end = spawn.Pipe()
            arguments = (port, share, options.connections, options.depth, seed * 1000 + number)
            process = spawn.Process(
                target=millions_client.main, args=(other_end, *arguments), daemon=True
            )
            process.start()
            other_end.close()
            self._channels[number] = channel
            self._processes.append(process)

    @property
    def are_running(self) -> bool:
        """Whether any of them hasn't reported its end yet."""
        return bool(self._channels)

    @property
    def answered(self) -> int:
        """Number of finished requests."""
        return sum(tally.answered for tally in self._tallies.values())

    @property
    def kinds(self) -> Counter[str]:
        """Number of finished requests by kind."""
        return sum((tally.kinds for tally in self._tallies.values()), Counter())

    @property
    def wrong_count(self) -> int:
        """Number of problems."""
        return sum(tally.wrong_count for tally in self._tallies.values())

    @property
    def wrong(self) -> list[str]:
        """Descriptions of some problems."""
        return [each for tally in self._tallies.values() for each in tally.wrong]

    def take(self) -> None:
        """Reads their latest counts."""
        for number, channel in [*self._channels.items()]:
            try:
                while channel.poll():
                    if (tally := channel.recv()) is None:
                        raise EOFError
                    self._tallies[number] = tally
            except (EOFError, OSError):
                del self._channels[number]

    def stop(self) -> None:
        """Tells them to stop sending."""
        for channel in self._channels.values():
            with contextlib.suppress(OSError):  # it has just exited
                channel.send("stop")

    def run_to_end(self, limit_s: float) -> None:
        """Waits until all have exited; kills those that exceed the time limit."""
        end = time.monotonic() + limit_s
        while self.are_running and time.monotonic() < end:
            time.sleep(0.05)
            self.take()
        for process in self._processes:
            process.join(max(0.1, end - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()


def soak(options: argparse.Namespace) -> Soak:
    """Serves the app, and runs the load against it.

    Returns:
        The measurements.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        arguments = OPTIONS[options.server]
        with ServedApp(options.server, "millions_app:app", log, *arguments) as served:
            found = Soak(served, options)
            found.run()
            found.trouble = found.problems()
    return found


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--requests", type=int, default=10 * MILLION, help="default: 10 million")
    parser.add_argument(
        "--warm-up",
        type=int,
        default=20_000,
        help="requests before the measurement (default: 20000)",
    )
    parser.add_argument("--server", choices=("granian", "uvicorn"), default="uvicorn")
    parser.add_argument("--clients", type=int, default=2, help="client processes (default: 2)")
    parser.add_argument(
        "--connections",
        type=int,
        default=16,
        help="connections of each client process (default: 16)",
    )
    parser.add_argument(
        "--depth", type=int, default=4, help="requests in flight per connection (default: 4)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed for the ids and kinds of requests (default: 0)"
    )
    parser.add_argument("--seconds", type=float, default=5400, help="time limit (default: 5400)")
    parser.add_argument(
        "--markdown", action="store_true", help="also print the table row for the docs"
    )
    return parser.parse_args(arguments)


def main() -> int:
    """Runs the command; returns its exit code."""
    options = parse_arguments()
    exit_on_sigterm()
    found = soak(options)
    print(f"{options.requests:,} requests to {options.server}")
    print(found.report())
    if options.markdown:
        print(found.markdown())
    print(
        "\n".join(f"wrong: {each}" for each in found.trouble)
        or "no growth, and every response right"
    )
    return 1 if found.trouble else 0


if __name__ == "__main__":
    sys.exit(main())
