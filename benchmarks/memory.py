# SPDX-License-Identifier: MIT
"""How much the resident memory grows over 100,000 requests of each kind in one process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .crew import Crew, WorkerError
from .tables import Table

REQUESTS = 100_000
_WARM_UP_SHARE = 0.1
_LIMIT_S = 1800


@dataclass
class Figures:
    """What was measured.

    Attributes:
        requests: How many of each kind.
        grown_bytes: By row and peer, after the warm-up.
        left_out: What was left out, and why.
    """

    requests: int
    grown_bytes: dict[str, dict[str, int]]
    left_out: list[str] = field(default_factory=list)


def measure(names: Sequence[str], row_names: Sequence[str], requests: int) -> Figures:
    """Sends the requests, one kind after the other.

    Args:
        names: The peers.
        row_names: Which rows; those with new values stand for their kind where there are some.
        requests: How many of each kind.
    """
    kinds = [row for row in row_names if f"{row}, new values" not in row_names]
    figures = Figures(requests, {row: {} for row in kinds})
    warm_up = max(1, round(requests * _WARM_UP_SHARE))
    with Crew(names) as crew:
        for worker in crew.workers.values():
            try:
                for row in kinds:
                    worker.ask("verify", row=row)
                    worker.ask("send", _LIMIT_S, name=row, count=warm_up)
                for row in kinds:
                    before = worker.ask("resident_bytes")
                    worker.ask("send", _LIMIT_S, name=row, count=requests)
                    after = worker.ask("resident_bytes")
                    figures.grown_bytes[row][worker.name] = after - before
            except WorkerError as error:
                figures.left_out.append(str(error))
    return figures


def tables(figures: Figures) -> list[Table]:
    """KiB by row and peer."""
    names = list(dict.fromkeys(name for row in figures.grown_bytes.values() for name in row))
    title = f"growth of the resident memory over {figures.requests:,} requests of each kind, KiB"
    table = Table(title, names)
    for row, by_name in figures.grown_bytes.items():
        table.add(row, *(_kibibytes(by_name.get(name)) for name in names))
    table.add("all", *(_kibibytes(total_grown(figures, name)) for name in names))
    return [table]


def _kibibytes(grown: int | None) -> str:
    return "-" if grown is None else f"{grown / 1024:,.0f}"


def total_grown(figures: Figures, name: str) -> int | None:
    """Bytes that all kinds together grew the memory by; None if that was not measured."""
    found = [by_name[name] for by_name in figures.grown_bytes.values() if name in by_name]
    return sum(found) if found else None
