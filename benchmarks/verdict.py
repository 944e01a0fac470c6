# SPDX-License-Identifier: MIT
"""What the figures must show, and whether they do."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from . import (
    abreast,
    files,
    growth,
    in_process,
    memory,
    overhead,
    served,
    start,
    typed,
    typed_apps,
    websocket,
)
from .in_process import median_ratio
from .peers import KIT, RAW
from .tables import Table

# Readable code is worth more than a margin that nobody feels: ahead everywhere, and by this much in
# the mean.
LEAST_MEAN = 1.6
LEAST_RATIO = 1.0
DEEP_ROWS = ("ten middleware", "twenty middleware", "fifty middleware")
REACHED_ROUNDS_SHARE = 13 / 15
MEAN_ROWS = (
    "text",
    "json",
    "param",
    "query",
    "headers",
    "five middleware",
    "echo",
    "form",
    "upload",
    "stream",
    "404",
    "table",
)
"""The rows whose mean is judged."""
MOST_OF_RAW = 3.0
MOST_OF_TEXT = 2.3
NEAR_RAW_ROWS = ("text", "json")
MOST_OF_RAW_SERVED = 1.06
MOST_OF_BY_HAND = 1.6
MOST_OF_STARLETTES_START = dict(zip(start.STAGES, (0.6, 0.9), strict=True))
LEAST_OF_TYPED_PEERS = {typed_apps.FASTAPI: 4.0, typed_apps.LITESTAR: 2.0}
LEAST_OF_FILTERED = 4.0
MOST_GROWN_BYTES = 2_000_000
# Flat and linear, with room for caches of the processor, which large tables and bodies leave.
MOST_OF_SMALLEST_TABLE = 1.5
MOST_OF_FIRST_MIDDLEWARE = 1.5
MOST_OF_RAW_GROWTH = 1.25


@dataclass(frozen=True)
class Criterion:
    """One thing that the figures must show."""

    name: str
    needed: str
    seen: str
    is_met: bool


def table(criteria: list[Criterion]) -> Table:
    """The criteria as a table."""
    made = Table("what it must show", ["needed", "seen", "met"])
    for each in criteria:
        made.add(each.name, each.needed, each.seen, "yes" if each.is_met else "no")
    return made


def at_most(name: str, most: float, seen: float) -> Criterion:
    """That a figure is at most so much."""
    return Criterion(name, f"<= {most:.2f}", f"{seen:.2f}", seen <= most)


def at_least(name: str, least: float, seen: float) -> Criterion:
    """That a figure is at least so much."""
    return Criterion(name, f">= {least:.2f}", f"{seen:.2f}", seen >= least)


def of_in_process(figures: in_process.Figures) -> Iterator[Criterion]:
    """Kit ahead on every row, and not far behind the raw callable."""
    duels = in_process.duels(figures)
    if duels:
        won = sum(duel.is_met for duel in duels)
        needed = f"{in_process.WON_ROUNDS_SHARE:.0%} of rounds"
        seen = f"{won} of {len(duels)} rows"
        yield Criterion("rows on which Kit is ahead", needed, seen, won == len(duels))
        yield from _of_ratios(duels)
    text = figures.seconds.get("text", {})
    if KIT in text and RAW in text:
        ratio = median_ratio(text[KIT], text[RAW])
        yield at_most("text: Kit / raw", MOST_OF_RAW, ratio)
    five = figures.seconds.get("five middleware", {})
    if KIT in text and KIT in five:
        ratio = median_ratio(five[KIT], text[KIT])
        yield at_most("five middleware / text, of Kit", MOST_OF_TEXT, ratio)


def _of_ratios(duels: list[in_process.Duel]) -> Iterator[Criterion]:
    """Far enough ahead of the fastest peer, in nearly all rounds."""
    by_row = {duel.row: duel.ratios for duel in duels}
    for row in [row for row in by_row if row in (*MEAN_ROWS, *DEEP_ROWS)]:
        yield _in_most_rounds(f"{row}: fastest peer / Kit", LEAST_RATIO, by_row[row])
    if by_row.keys() >= set(MEAN_ROWS):
        by_round = zip(*(by_row[row] for row in MEAN_ROWS), strict=True)
        means = [statistics.geometric_mean(each) for each in by_round]
        name = f"fastest peer / Kit, geometric mean of {len(MEAN_ROWS)} rows"
        yield _in_most_rounds(name, LEAST_MEAN, means)


def _in_most_rounds(name: str, least: float, ratios: list[float]) -> Criterion:
    """That a ratio is above 1 and at least so much: its median, and that of most rounds."""
    reached = sum(ratio >= least and ratio > 1 for ratio in ratios)
    needed = math.ceil(REACHED_ROUNDS_SHARE * len(ratios))
    return Criterion(
        name,
        f"{'>' if least == 1 else '>='} {least:.2f}, {needed} of {len(ratios)} rounds",
        f"{statistics.median(ratios):.2f}, {reached} of {len(ratios)} rounds",
        reached >= needed,
    )


def of_served(figures: served.Figures) -> Iterator[Criterion]:
    """Near the raw callable where there is little else to do, and ahead of all peers."""
    for server, by_row in figures.turns.items():
        for row, by_name in by_row.items():
            if KIT not in by_name:
                continue
            own = by_name[KIT].ratio
            if row in NEAR_RAW_ROWS:
                yield at_most(f"{server}, {row}: Kit / raw", MOST_OF_RAW_SERVED, own)
            peer = served.best_peer(by_name)
            if peer is not None:
                other = by_name[peer].ratio
                seen = f"{own:.3f}, {peer} {other:.3f}"
                yield Criterion(f"{server}, {row}: ahead", "below all peers", seen, own < other)


def of_start(figures: start.Figures) -> Iterator[Criterion]:
    """Much faster than Starlette, no larger than Falcon, and nothing imported that is not used."""
    for stage, most in MOST_OF_STARLETTES_START.items():
        starts = figures.starts[stage]
        kit = starts.get(KIT)
        if kit is None:
            continue
        if "starlette" in starts:
            ratio = median_ratio(kit.seconds, starts["starlette"].seconds)
            yield at_most(f"{stage}: time, Kit / Starlette", most, ratio)
        if "falcon" in starts:
            ratio = median_ratio(kit.peak_bytes, starts["falcon"].peak_bytes)
            yield at_most(f"{stage}: memory, Kit / Falcon", 1, ratio)
        seen = ", ".join(kit.lazy) or "none"
        yield Criterion(f"{stage}: imported, but not used", "none", seen, not kit.lazy)


def of_growth(figures: growth.Figures) -> Iterator[Criterion]:
    """Flat in the routes, linear in middleware and bodies."""
    found = growth.of(figures, "routes, static path", KIT)
    if len(found) > 1:
        name = f"static path: time at {max(found):,} routes / at {min(found):,}"
        yield at_most(name, MOST_OF_SMALLEST_TABLE, growth.growth(found))
    found = growth.of(figures, "middleware", KIT)
    if {0, 10, 20} <= found.keys():
        first, middle, last = (statistics.median(found[count]) for count in (0, 10, 20))
        name = "middleware: time of 11th to 20th / of 1st to 10th"
        yield at_most(name, MOST_OF_FIRST_MIDDLEWARE, (last - middle) / (middle - first))
    for series in growth.SERIES:
        if not series.name.startswith("bytes"):
            continue
        found, raw = (growth.of(figures, series.name, name) for name in (KIT, RAW))
        # The copies of a large body miss the caches of the processor, whoever makes them.
        for smaller, larger in series.spans(found.keys() & raw.keys()):
            name = f"{series.name}: growth from {smaller:,} to {larger:,}, Kit's / raw's"
            seen = growth.grown(found, smaller, larger) / growth.grown(raw, smaller, larger)
            yield at_most(name, MOST_OF_RAW_GROWTH, seen)
        if series.step is not None:
            yield from _of_step(figures, series.name, series.step)


def _of_step(figures: growth.Figures, series: str, step: int) -> Iterator[Criterion]:
    """No slower on disk than whoever writes there as well; the raw callable does not."""
    found = growth.of(figures, series, KIT)
    for size in sorted(size for size in found if size > step):
        others = [growth.of(figures, series, name).get(size) for name in growth.SPOOLING]
        ratios = [median_ratio(found[size], other) for other in others if other]
        if ratios:
            name = f"{series}, {size:,}: Kit / the fastest that writes to disk as well"
            yield at_most(name, 1, max(ratios))


def of_memory(figures: memory.Figures) -> Iterator[Criterion]:
    """No leak."""
    grown = memory.total_grown(figures, KIT)
    if grown is not None:
        needed = f"< {MOST_GROWN_BYTES / 1e6:.2f} MB"
        name = f"{figures.requests:,} requests of each kind"
        yield Criterion(name, needed, f"{grown / 1e6:.2f} MB", grown < MOST_GROWN_BYTES)


def of_overhead(figures: overhead.Figures) -> Iterator[Criterion]:
    """No middleware costs more than that of a peer."""
    for row in overhead.ROWS:
        own = figures.median_s(row.name, KIT)
        for name in row.frameworks:
            cost = None if name == KIT else figures.median_s(row.name, name)
            if own is not None and cost is not None:
                yield Criterion(
                    f"{row.name}: what Kit's {'request takes' if row.whole else 'adds'}",
                    f"<= {cost * 1e6:.2f} µs, {name}",
                    f"{own * 1e6:.2f} µs",
                    own <= cost,
                )


def of_typed(figures: typed.Figures) -> Iterator[Criterion]:
    """Near the handler written by hand, and well ahead of the frameworks whose habit it is."""
    ratio = figures.ratio(typed_apps.INT, KIT, typed_apps.BY_HAND)
    if ratio is not None:
        yield at_most(f"{typed_apps.INT}: kit-typed / by hand", MOST_OF_BY_HAND, ratio)
    for row in figures.seconds:
        is_filtered = row in (typed_apps.FILTERED, typed_apps.PAGE)
        for name, least in LEAST_OF_TYPED_PEERS.items():
            least = LEAST_OF_FILTERED if is_filtered else least
            ratio = figures.ratio(row, name)
            if ratio is not None:
                yield at_least(f"{row}: {name} / kit-typed", least, ratio)


def of_websocket(figures: websocket.Figures) -> Iterator[Criterion]:
    """Ahead of every peer in each kind of work."""
    for row in websocket.ROWS:
        own = figures.median(row.name, KIT)
        for name in websocket.APPS:
            rate = None if name == KIT else figures.median(row.name, name)
            if own is not None and rate is not None:
                yield Criterion(
                    f"WebSocket, {row.name}: Kit's rate",
                    f"> {rate / 1000:.1f} thousand/s, {name}",
                    f"{own / 1000:.1f} thousand/s",
                    own > rate,
                )


def of_files(figures: files.Figures) -> Iterator[Criterion]:
    """Ahead of every framework with each file; nginx is there for scale."""
    for row in files.ROWS:
        own = figures.median_s(row, KIT)
        for name in files.FRAMEWORKS:
            other = None if name == KIT else figures.median_s(row, name)
            if own is not None and other is not None:
                yield Criterion(
                    f"static files, {row}: Kit's processor time",
                    f"< {other * 1e6:,.0f} µs, {name}",
                    f"{own * 1e6:,.0f} µs",
                    own < other,
                )


def of_abreast(title: str, figures: abreast.Figures) -> Iterator[Criterion]:
    """Significantly ahead of every framework in each row."""
    for lead in abreast.leads(figures):
        yield Criterion(
            f"{title}, {lead.row}: {lead.peer} / Kit",
            "> 1 in the 95 % interval",
            f"{lead.ratio:.3f} ({lead.low:.3f} to {lead.high:.3f})",
            lead.is_met,
        )
