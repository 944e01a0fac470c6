# SPDX-License-Identifier: MIT
"""How the time of a request grows with the routes, the middleware and the body."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import rows
from .crew import Crew, Worker, WorkerError
from .in_process import median_ratio
from .tables import Table

ROUTES = (10, 100, 1000, 10_000)
MIDDLEWARE = (0, 1, 2, 5, 10, 20)
BODY_BYTES = (1000, 10_000, 100_000, 1_000_000, 10_000_000)
UPLOAD_BYTES = (1000, 10_000, 100_000, 1_000_000, 4_000_000, 10_000_000)
MEMORY_BYTES = 1024 * 1024
"""What Kit and `SPOOLING` keep of a file in memory; a larger one goes to a temporary file."""
SPOOLING = ("starlette", "fastapi", "litestar")
_BUILD_LIMIT_S = 20


@dataclass(frozen=True)
class Series:
    """What is measured at several sizes.

    Attributes:
        name: What grows, and what is asked for.
        sizes: How large, smallest first.
        step: Beyond which size the work is of another kind, which the raw callable does not do;
            growth is judged below it as well. None if there is no such step.
        request: Gives for a size which request: the arguments `kind`, `app`, `count` and
            `argument` of a worker's `time_special`.
    """

    name: str
    sizes: tuple[int, ...]
    request: Callable[[int], dict[str, Any]]
    step: int | None = None

    def spans(self, measured: Collection[int]) -> list[tuple[int, int]]:
        """Between which sizes growth is judged: from each of a tenth or more up to the largest."""
        sides = [sorted(measured)]
        if self.step is not None:
            sides.append([size for size in sides[0] if size <= self.step])
        spans = [(size, side[-1]) for side in sides for size in side[:-1] if side[-1] <= size * 10]
        return list(dict.fromkeys(spans))


def _in_table(count: int, with_parameter: bool) -> dict[str, Any]:
    paths = [path for path in rows.table_paths(count) if (":id" in path) is with_parameter]
    return {"kind": "path", "app": "table_app", "count": count, "argument": paths[-1]}


def _in_app(kind: str, size: int) -> dict[str, Any]:
    return {"kind": kind, "app": "rows_app", "count": 0, "argument": size}


SERIES: tuple[Series, ...] = (
    Series("bytes of a body", BODY_BYTES, lambda size: _in_app("body", size)),
    Series(
        "bytes of an upload", UPLOAD_BYTES, lambda size: _in_app("multipart", size), MEMORY_BYTES
    ),
    Series(
        "middleware",
        MIDDLEWARE,
        lambda count: {"kind": "text", "app": "middleware_app", "count": count, "argument": 0},
    ),
    # At the end, since a table that takes too long to build costs a peer its process.
    Series("routes, static path", ROUTES, lambda count: _in_table(count, with_parameter=False)),
    Series("routes, one parameter", ROUTES, lambda count: _in_table(count, with_parameter=True)),
)


@dataclass
class Figures:
    """What was measured: seconds per request of each round, by series, peer and size."""

    rounds: int
    seconds: dict[str, dict[str, dict[int, list[float]]]]
    left_out: list[str] = field(default_factory=list)


def measure(names: Sequence[str], rounds: int, slot_s: float) -> Figures:
    """Times each size in turn, round by round.

    Args:
        names: The peers.
        rounds: How many times each has its turn.
        slot_s: About how long a turn is, in seconds.
    """
    figures = Figures(rounds, {series.name: {} for series in SERIES})
    with Crew(names) as crew:
        for series in SERIES:
            each = {
                worker.name: _verify(worker, series, figures.left_out)
                for worker in crew.workers.values()
            }
            found = figures.seconds[series.name]
            for name, sizes in each.items():
                found[name] = {size: [] for size in sizes}
            for number in range(rounds):
                for size in series.sizes:
                    for worker in crew.in_turn(number):
                        each_s = each[worker.name].get(size)
                        if each_s is None:
                            continue
                        request = series.request(size)
                        try:
                            taken = worker.ask(
                                "time_special", slot_s=slot_s, each_s=each_s, **request
                            )
                        except WorkerError as error:
                            figures.left_out.append(f"{series.name}: {error}")
                            del each[worker.name][size], found[worker.name][size]
                        else:
                            found[worker.name][size].append(taken)
    return figures


def _verify(worker: Worker, series: Series, left_out: list[str]) -> dict[int, float]:
    """About how many seconds a request takes, by size, up to the largest that can be built."""
    each: dict[int, float] = {}
    builds: list[float] = []
    for size in series.sizes:
        request = series.request(size)
        where = f"{worker.name}, {size:,} {series.name}"
        try:
            if request["app"] == "table_app":
                expected_s = _next_build_s(builds)
                if expected_s > _BUILD_LIMIT_S:
                    left_out.append(f"{where}: would take about {expected_s:.0f} s to build")
                    break
                builds.append(worker.ask("build", app="table_app", count=size))
            each[size] = worker.ask("verify_special", **request)
        except WorkerError as error:
            left_out.append(f"{where}: {error}")
            # What was verified before is gone with the process, if it is.
            return each if worker.is_alive else {}
    return each


def _next_build_s(builds: list[float]) -> float:
    """How long a table takes that is 10 times as large as the last one."""
    if not builds:
        return 0.0
    return builds[-1] * max(10.0, builds[-1] / builds[-2] if len(builds) > 1 else 0.0)


def growth(found: dict[int, list[float]]) -> float:
    """Time at the largest size that was measured / at the smallest, median of the rounds."""
    return grown(found, min(found), max(found))


def grown(found: dict[int, list[float]], smaller: int, larger: int) -> float:
    """Time at one size / at another, median of the rounds."""
    return median_ratio(found[larger], found[smaller])


def tables(figures: Figures) -> list[Table]:
    """Microseconds per request at each size."""
    made = []
    for series in SERIES:
        title = f"{series.name}: µs per request, median of {figures.rounds} rounds"
        table = Table(title, [f"{size:,}" for size in series.sizes])
        for name, found in figures.seconds[series.name].items():
            cells = [
                f"{statistics.median(found[size]) * 1e6:,.1f}" if found.get(size) else "-"
                for size in series.sizes
            ]
            table.add(name, *cells)
        made.append(table)
    return made


def of(figures: Figures, name: str, peer: str) -> dict[int, list[float]]:
    """The figures of a peer in a series; none if they were not measured."""
    return figures.seconds.get(name, {}).get(peer, {})
