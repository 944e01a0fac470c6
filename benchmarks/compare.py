# SPDX-License-Identifier: MIT
"""A commit of Kit beside the working tree, in one run.

Both answer the same requests, round by round and in alternating order. Figures are ratios, what the
commit takes / what the working tree takes: above 1, the working tree takes less.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from . import served, start
from .crew import ROOT, Worker, WorkerError
from .in_process import WON_ROUNDS_SHARE, ratios
from .origins import FOLDER_VARIABLE
from .peers import KIT
from .processor import apart
from .rows import ROWS
from .server import SERVERS, Served, ServedError
from .sides import BEFORE, Side, SideError
from .tables import Table

SERVED_TURN_S = 0.05
TURNS = 5
"""How often each side has its turn in a round; the fastest turn counts.

Other work on the machine only ever adds time: the fastest of five is off by half as much as one.
"""
FEWEST_ROUNDS = 10
"""Fewer can't tell a difference from chance."""
ROW_NOISE = 0.03
MEAN_NOISE = 0.01
"""A commit beside itself rarely differs by more after 15 rounds, in single rows and their mean.

Less is no difference, in however many rounds.
"""

Sides = tuple[Side, Side]


class Measure(NamedTuple):
    """How a measure is printed.

    Attributes:
        unit: Its unit.
        scale: How many units one second or byte is.
        less: The word for a working tree that takes less.
        more: The word for one that takes more.
    """

    unit: str
    scale: float
    less: str
    more: str


START, PROCESSOR_START, MEMORY = "time to start", "processor time to start", "peak memory"
PROCESSOR_TIME = "processor time per request"
MEASURES = {
    START: Measure("ms", 1e3, "faster", "slower"),
    PROCESSOR_START: Measure("ms", 1e3, "faster", "slower"),
    MEMORY: Measure("MiB", 2**-20, "smaller", "larger"),
    PROCESSOR_TIME: Measure("µs", 1e6, "faster", "slower"),
}


@dataclass
class Pair:
    """What both sides took, in seconds or bytes, one entry a round."""

    before: list[float] = field(default_factory=list)
    now: list[float] = field(default_factory=list)


@dataclass
class Figures:
    """What was measured.

    Attributes:
        rounds: How many.
        pairs: By measure, a key of `MEASURES`, and row.
        left_out: What was left out, and why.
    """

    rounds: int
    pairs: dict[str, dict[str, Pair]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def add(self, measure: str, row: str, side: Side, turns: Sequence[float]) -> None:
        """Adds the least of what a side took in the turns of a round."""
        pair = self.pairs.setdefault(measure, {}).setdefault(row, Pair())
        (pair.before if side.name == BEFORE else pair.now).append(min(turns))

    def leave_out(self, row: str, reason: object) -> None:
        """Drops a row, since rows are compared over the same rounds."""
        for pairs in self.pairs.values():
            pairs.pop(row, None)
        self.left_out.append(f"{row}: {reason}")


@dataclass(frozen=True)
class Ratio:
    """What the commit takes / what the working tree takes, over all rounds.

    Attributes:
        middle: The median of the rounds.
        least: The lowest of them.
        most: The highest.
        less: In how many rounds the working tree took less.
        more: In how many rounds it took more.
        rounds: How many there were.
    """

    middle: float
    least: float
    most: float
    less: int
    more: int
    rounds: int

    def sign(self, noise: float) -> int:
        """1 if the working tree takes less, -1 if it takes more, 0 if neither can be told.

        Args:
            noise: The part by which the same code may differ from itself.
        """
        needed = WON_ROUNDS_SHARE * max(self.rounds, FEWEST_ROUNDS)
        if self.middle > 1 + noise and self.less >= needed:
            return 1
        return -1 if self.middle < 1 / (1 + noise) and self.more >= needed else 0


def ratio_of(pair: Pair) -> Ratio:
    """The ratio of a row."""
    by_round = ratios(pair.before, pair.now)
    return _ratio(statistics.median(by_round), by_round)


def mean_ratio(pairs: Sequence[Pair]) -> Ratio:
    """The geometric mean of all rows: of their medians, and for the rest of each round."""
    by_row = [ratios(pair.before, pair.now) for pair in pairs]
    by_round = [statistics.geometric_mean(each) for each in zip(*by_row, strict=True)]
    return _ratio(statistics.geometric_mean(map(statistics.median, by_row)), by_round)


def _ratio(middle: float, by_round: Sequence[float]) -> Ratio:
    less, more = sum(each > 1 for each in by_round), sum(each < 1 for each in by_round)
    return Ratio(middle, min(by_round), max(by_round), less, more, len(by_round))


class Plan(NamedTuple):
    """What is measured, and for how long.

    Attributes:
        rows: By name.
        rounds: How many, at least 1.
        slot_s: Length of a turn in process, in seconds.
        is_apart: Whether the load over sockets has a processor to itself, if there are several.
    """

    rows: Sequence[str]
    rounds: int
    slot_s: float
    is_apart: bool = True


def in_turn(sides: Sides, number: int) -> Sides:
    """The sides in the order of a turn: in every other one, the working tree is first."""
    return sides if number % 2 == 0 else sides[::-1]


def in_process(sides: Sides, plan: Plan) -> Figures:
    """Times rows as the section `in-process` does, but with new processes in each round.

    A process keeps the luck of its memory layout and hashes. Two that ran the same code for 15
    rounds differed by up to 7 % in a row, and always the same one was faster.

    Raises:
        SideError: If a side can't be measured at all.
    """
    figures = Figures(plan.rounds)
    wanted = list(plan.rows)
    for number in range(plan.rounds):
        with ExitStack() as stack:
            workers = {}
            for side in in_turn(sides, number):
                workers[side] = Worker(KIT, side.python_m, side.name)
                stack.callback(workers[side].end)
            _check_origins(workers)
            each_s = _verify(workers, wanted, figures)
            _check_origins(workers)  # what the first requests loaded as well
            for row in list(wanted):
                try:
                    taken = _time(workers, sides, number, row, plan.slot_s, each_s[row])
                except WorkerError as error:
                    wanted.remove(row)
                    figures.leave_out(row, error)
                else:
                    for side, turns in taken.items():
                        figures.add(PROCESSOR_TIME, row, side, turns)
    return figures


def _check_origins(workers: dict[Side, Worker]) -> None:
    for side, worker in workers.items():
        try:
            worker.ask("check_origins", folder=str(side.folder))
        except WorkerError as error:
            raise SideError(str(error)) from error


def _verify(workers: dict[Side, Worker], wanted: list[str], figures: Figures) -> dict[str, float]:
    """About how many seconds a request of each row takes the slower side."""
    each_s = {}
    for row in list(wanted):
        try:
            each_s[row] = max(worker.ask("verify", row=row) for worker in workers.values())
        except WorkerError as error:
            wanted.remove(row)
            figures.leave_out(row, error)
    return each_s


def _time(
    workers: dict[Side, Worker], sides: Sides, number: int, row: str, slot_s: float, each_s: float
) -> dict[Side, list[float]]:
    """Seconds per request of each side's turns; both sides answer as many requests."""
    taken: dict[Side, list[float]] = {side: [] for side in sides}
    for turn in range(TURNS):
        for side in in_turn(sides, number + turn):
            worker = workers[side]
            taken[side].append(worker.ask("time", row=row, slot_s=slot_s, each_s=each_s))
    return taken


def at_start(sides: Sides, plan: Plan) -> Figures:
    """Starts processes as the section `start` does; the rows of the plan don't matter."""
    figures = Figures(plan.rounds)
    for stage in start.STAGES:
        try:
            for side in sides:  # also writes the byte code
                start.run_once(KIT, stage, start.Starts(), side.prelude, _origins_check(side))
            for number in range(plan.rounds):
                _start(sides, stage, number, figures)
        except start.StartError as error:
            figures.leave_out(stage, error)
    return figures


def _origins_check(side: Side) -> str:
    return (
        f"sys.path.append({str(ROOT)!r})\n"
        "from benchmarks.origins import check_origins\n"
        f"check_origins({str(side.folder)!r})\n"
    )


def _start(sides: Sides, stage: str, number: int, figures: Figures) -> None:
    starts = {side: start.Starts() for side in sides}
    for turn in range(TURNS):
        for side in in_turn(sides, number + turn):
            start.run_once(KIT, stage, starts[side], side.prelude)
    for side, taken in starts.items():
        figures.add(START, stage, side, taken.seconds)
        figures.add(PROCESSOR_START, stage, side, taken.processor_seconds)
        figures.add(MEMORY, stage, side, taken.peak_bytes)


def over_sockets(sides: Sides, plan: Plan) -> Figures:
    """Puts load on servers as the section `served` does, without the raw callable.

    The servers are started three times.
    """
    figures = Figures(plan.rounds)
    wanted = [row for row in served.SERVED_ROWS if row in plan.rows]
    for server in SERVERS:
        try:
            version(server)
            for numbers in _parts(plan.rounds, served.STARTS):
                _serve(server, sides, wanted, plan.is_apart, numbers, figures)
        except PackageNotFoundError:
            figures.left_out.append(f"{server} is not installed")
        except ServedError as error:
            for row in wanted:
                figures.leave_out(f"{server}, {row}", error)
    _drop_unknown(figures)
    return figures


def _parts(rounds: int, count: int) -> Iterator[range]:
    """The numbers of the rounds, in parts of about the same length."""
    size = math.ceil(rounds / count)
    for first in range(0, rounds, size):
        yield range(first, min(first + size, rounds))


def _serve(
    server: str, sides: Sides, wanted: list[str], is_apart: bool, numbers: range, figures: Figures
) -> None:
    with ExitStack() as stack:
        processors = stack.enter_context(apart() if is_apart else nullcontext())
        processes = {}
        for app in dict.fromkeys(ROWS[row].app for row in wanted):
            for side in in_turn(sides, numbers[0]):
                processes[app, side] = Served(
                    server,
                    KIT,
                    processors,
                    python_m=side.python_m,
                    app=app,
                    factory="benchmarks.origins:checked_app",
                    environment={FOLDER_VARIABLE: str(side.folder)},
                )
                stack.callback(processes[app, side].end)
        problems: list[str] = []
        served.verified(server, list(processes.values()), wanted, problems)
        if problems:
            raise ServedError("; ".join(problems))
        load = stack.enter_context(served.Load())
        for number in numbers:
            for row in wanted:
                turns: dict[Side, list[float]] = {side: [] for side in sides}
                for turn in range(TURNS):
                    for side in in_turn(sides, number + turn):
                        served_app = processes[ROWS[row].app, side]
                        turns[side].append(load.processor_s(served_app, row, SERVED_TURN_S))
                for side, taken in turns.items():
                    figures.add(PROCESSOR_TIME, f"{server}, {row}", side, taken)


def _drop_unknown(figures: Figures) -> None:
    """Drops the processor time where a turn has none, as on systems without `/proc`."""
    pairs = figures.pairs.get(PROCESSOR_TIME, {})
    if not all(all(pair.before) and all(pair.now) for pair in pairs.values()):
        del figures.pairs[PROCESSOR_TIME]
        figures.left_out.append(f"{PROCESSOR_TIME}: not known on this system")


SECTIONS: dict[str, Callable[[Sides, Plan], Figures]] = {
    "in-process": in_process,
    "start": at_start,
    "served": over_sockets,
}


def tables(figures: Figures) -> list[Table]:
    """The sides beside each other, a table for each measure that has rows."""
    made = []
    for measure, pairs in _measured(figures):
        unit, scale, less, _ = MEASURES[measure]
        table = Table(
            f"{measure}, median of {_count(figures.rounds, 'round')}; above 1: now {less}",
            [f"before, {unit}", f"now, {unit}", "before / now", "min..max", f"now {less}"],
        )
        for row, pair in pairs.items():
            medians = (statistics.median(side) * scale for side in (pair.before, pair.now))
            table.add(row, *(f"{each:,.2f}" for each in medians), *_cells(ratio_of(pair)))
        table.add("geometric mean", "", "", *_cells(mean_ratio(list(pairs.values()))))
        made.append(table)
    return made


def _measured(figures: Figures) -> list[tuple[str, dict[str, Pair]]]:
    return [(measure, pairs) for measure, pairs in figures.pairs.items() if pairs]


def _cells(ratio: Ratio) -> tuple[str, str, str]:
    spread = f"{ratio.least:.3f}..{ratio.most:.3f}"
    return f"{ratio.middle:.3f}", spread, f"{ratio.less} of {ratio.rounds}"


def verdicts(section: str, revision: str, figures: Figures) -> list[str]:
    """One line for each measure, to be pasted into a commit message.

    Args:
        section: A key of `SECTIONS`.
        revision: What to call the commit.
        figures: What was measured.
    """
    lines = []
    measured = _measured(figures)
    for measure, pairs in measured:
        _, _, less, more = MEASURES[measure]
        found = {row: ratio_of(pair) for row, pair in pairs.items()}
        mean = mean_ratio(list(pairs.values()))
        lowest, highest = (end(found, key=lambda row: found[row].middle) for end in (min, max))
        if figures.rounds < FEWEST_ROUNDS:
            word, rest = "too few rounds for a verdict", ""
        else:
            word = {1: less, 0: "no difference", -1: more}[mean.sign(MEAN_NOISE)]
            worse = [row for row, ratio in found.items() if ratio.sign(ROW_NOISE) < 0]
            rest = f"; {more}: {', '.join(map(repr, worse)) or 'none'}"
        if figures.left_out:
            rest += f"; left out: {len(figures.left_out)}"
        lines.append(
            f"{section}{f', {measure}' if len(measured) > 1 else ''}, {revision} / now: "
            f"{mean.middle:.3f} ({word}), geometric mean of {_count(len(pairs), 'row')} over "
            f"{_count(figures.rounds, 'round')}, {found[lowest].middle:.3f} ({lowest}) to "
            f"{found[highest].middle:.3f} ({highest}){rest}"
        )
    return lines


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
