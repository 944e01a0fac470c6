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

TURNS = 5
"""How often each peer has its turn in a round; the fastest turn counts.

Other work on the machine only ever adds time.
"""

ROUNDS_OF_CREW = 5
"""After so many rounds, all peers get new processes.

Processes of the same code differ from each other for as long as they run.
"""

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

    def leave_out(self, row: str, name: str, reason: object) -> None:
        """Drops a peer from a row, since all peers are compared over the same rounds."""
        del self.seconds[row][name]
        self.left_out.append(f"{row}: {reason}")


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
        rounds: How many rounds each row has.
        slot_s: About how long a turn is, in seconds.
    """
    left = {row: [name for name in names if name not in WITHOUT.get(row, {})] for row in rows}
    figures = Figures(rounds, {row: {name: [] for name in left[row]} for row in rows})
    # Without rounds, the answers are checked, and that is all.
    for first in range(0, max(rounds, 1), ROUNDS_OF_CREW):
        with Crew(names) as crew:
            each_s = {row: _verify(crew, row, figures) for row in rows}
            for number in range(first, min(first + ROUNDS_OF_CREW, rounds)):
                for row in rows:
                    _round(crew, number, row, each_s[row], slot_s, figures)
    return figures


def _round(
    crew: Crew, number: int, row: str, each_s: dict[str, float], slot_s: float, figures: Figures
) -> None:
    """Times a row; drops a peer that fails."""
    turns: dict[str, list[float]] = {name: [] for name in figures.seconds[row]}
    for turn in range(TURNS):
        for worker in crew.in_turn(number + turn):
            name = worker.name
            if name not in turns:
                continue
            try:
                taken = worker.ask("time", row=row, slot_s=slot_s, each_s=each_s[name])
            except WorkerError as error:
                figures.leave_out(row, name, error)
                del turns[name]
            else:
                turns[name].append(taken)
    for name, taken_s in turns.items():
        figures.seconds[row][name].append(min(taken_s))


def _verify(crew: Crew, row: str, figures: Figures) -> dict[str, float]:
    """About how many seconds a request of a row takes each peer; drops those that fail."""
    each_s = {}
    for name in [*figures.seconds[row]]:
        try:
            each_s[name] = crew.workers[name].ask("verify", row=row)
        except WorkerError as error:
            figures.leave_out(row, name, error)
    return each_s


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
