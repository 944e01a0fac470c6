# SPDX-License-Identifier: MIT
"""Times requests in process: each peer in a process of its own, in turn, round by round."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from .crew import Crew, WorkerError
from .peers import KIT, RAW, WITHOUT
from .tables import Table

WON_ROUNDS_SHARE = 0.8
"""Kit has to be ahead in so much of the rounds: 12 of 15."""

FASTEST_ROUNDS = "the same, of the fastest rounds"
"""The title of a table."""

Seconds = dict[str, dict[str, list[float]]]
"""By row and peer: seconds per request in each round."""


@dataclass
class Figures:
    """What was measured.

    Attributes:
        rounds: How many.
        seconds: Seconds per request.
        left_out: What was left out, and why.
    """

    rounds: int
    seconds: Seconds
    left_out: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Duel:
    """A row of Kit and the fastest peer, which is the one with the lowest median ratio.

    Attributes:
        ratio: The peer's time as a multiple of Kit's, median of the rounds.
        minimum: The same of their fastest rounds.
        ratios: That of each round.
    """

    row: str
    peer: str
    ratio: float
    minimum: float
    ratios: list[float]

    @property
    def won(self) -> int:
        """In how many rounds Kit was faster."""
        return sum(ratio > 1 for ratio in self.ratios)

    @property
    def rounds(self) -> int:
        """How many there were."""
        return len(self.ratios)

    @property
    def is_met(self) -> bool:
        """Whether Kit is ahead, as it must be."""
        return self.ratio > 1 and self.won >= WON_ROUNDS_SHARE * self.rounds


def measure(names: Sequence[str], rows: Sequence[str], rounds: int, slot_s: float) -> Figures:
    """Verifies every answer, then times round by round.

    Args:
        names: The peers.
        rows: Which rows.
        rounds: How many times each peer has its turn in each row.
        slot_s: About how long a turn is, in seconds.
    """
    with Crew(names) as crew:
        each = {row: _verify(crew, row) for row in rows}
        seconds: Seconds = {row: {name: [] for name in each[row]} for row in rows}
        for number in range(rounds):
            for row in rows:
                for worker in crew.in_turn(number):
                    each_s = each[row].get(worker.name)
                    if each_s is None:
                        continue
                    try:
                        taken = worker.ask("time", row=row, slot_s=slot_s, each_s=each_s)
                    except WorkerError as error:
                        crew.left_out.append(f"{row}: {error}")
                        del each[row][worker.name], seconds[row][worker.name]
                    else:
                        seconds[row][worker.name].append(taken)
        return Figures(rounds, seconds, crew.left_out)


def _verify(crew: Crew, row: str) -> dict[str, float]:
    """About how many seconds a request of a row takes each peer that answers it right."""
    each = {}
    for worker in crew.workers.values():
        if worker.name in WITHOUT.get(row, {}):
            continue
        try:
            each[worker.name] = worker.ask("verify", row=row)
        except WorkerError as error:
            crew.left_out.append(f"{row}: {error}")
    return each


def ratios(taken: Sequence[float], base: Sequence[float]) -> list[float]:
    """Round by round, so that a slow moment of the machine touches both sides."""
    return [own / other for own, other in zip(taken, base, strict=True)]


def median_ratio(taken: Sequence[float], base: Sequence[float]) -> float:
    """The median of the ratios of the rounds."""
    return statistics.median(ratios(taken, base))


def duels(figures: Figures) -> list[Duel]:
    """Kit beside the fastest peer of each row."""
    found = []
    for row, by_name in figures.seconds.items():
        kit = by_name.get(KIT)
        peers = {name: s for name, s in by_name.items() if name not in (KIT, RAW)}
        if kit is None or not peers:
            continue
        peer = min(peers, key=lambda name: median_ratio(peers[name], kit))
        each = ratios(peers[peer], kit)
        found.append(
            Duel(
                row,
                peer,
                statistics.median(each),
                min(peers[peer]) / min(kit),
                each,
            )
        )
    return found


def tables(figures: Figures) -> list[Table]:
    """Medians, minima, and Kit beside the fastest peer."""
    names = list(dict.fromkeys(name for row in figures.seconds.values() for name in row))
    columns = ["kit, µs", *(name for name in names if name != KIT)]
    medians = Table(f"time as a multiple of Kit's, median of {figures.rounds} rounds", columns)
    minima = Table(FASTEST_ROUNDS, columns)
    for row, by_name in figures.seconds.items():
        kit = by_name.get(KIT)
        if kit is None:
            continue
        others = [by_name.get(name) for name in names if name != KIT]
        medians.add(
            row,
            f"{statistics.median(kit) * 1e6:.2f}",
            *(f"{median_ratio(taken, kit):.2f}" if taken else "-" for taken in others),
        )
        minima.add(
            row,
            f"{min(kit) * 1e6:.2f}",
            *(f"{min(taken) / min(kit):.2f}" if taken else "-" for taken in others),
        )
    fastest = Table(
        "Kit and the fastest peer: its time as a multiple of Kit's",
        ["peer", "median", "minimum", "rounds won", "ahead"],
    )
    for duel in duels(figures):
        won = f"{duel.won} of {duel.rounds}"
        cells = (f"{duel.ratio:.2f}", f"{duel.minimum:.2f}", won, "yes" if duel.is_met else "no")
        fastest.add(duel.row, duel.peer, *cells)
    return [medians, minima, fastest]
