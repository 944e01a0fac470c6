# SPDX-License-Identifier: MIT
"""Times the match of a path: Kit's routers and those of other frameworks, in interleaved rounds.

    uv run --group bench python benchmarks/routers.py [--routes 10 100 1000 10000] [--rounds 15]
        [--json FILE]

The answer for each route that is timed is verified first. Values of parameters and misses are new
in each match, since several peers keep the answers to the last thousand paths or so; static paths
come again, as they do in an app, so that those peers know them unless the table has more. Absolute
times depend on the machine; read the ratios.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import math
import platform
import re
import statistics
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

from _router_peers import CONTESTANTS, KIT, Answer, Contestant, Handler, Route, make_table

KINDS = ("static", "one param", "two params", "miss")
DEFAULT = "Smart"
PEERS = (
    "starlette",
    "werkzeug",
    "falcon",
    "blacksheep",
    "litestar",
    "sanic-routing",
    "http-router",
)
# A contestant answers as many probes in a slot as fit into this time, within these bounds.
SLOT_S = 0.003
FEWEST, MOST = 8, 4000
SLOWEST_MATCH_S = 0.02
# About as many answers as the peers with a cache keep.
CACHED = 1024

Times: TypeAlias = dict[str, list[float]]
Requests: TypeAlias = list[tuple[str, bytes]]
values = itertools.count(10_000_000)


@dataclass(frozen=True)
class Probe:
    """A request, and the answer that every contestant must give."""

    method: str
    path: str
    handler: Handler | None
    params: dict[str, str]


@dataclass
class Entry:
    """A contestant with a table of routes in it.

    Attributes:
        counts: How many matches a slot has, by kind; no entry for a kind that is left out.
        build_s: Seconds of each build, the first match included.
        later_s: Seconds that a lazy one takes to build the rest, when all routes are asked for.
        times: Seconds per match of each round, by kind.
    """

    name: str
    contestant: Contestant
    counts: dict[str, int] = field(default_factory=dict)
    build_s: list[float] = field(default_factory=list)
    later_s: float = 0.0
    times: Times = field(default_factory=lambda: {kind: [] for kind in KINDS})


class Nothing(Contestant):
    """Answers nothing: its time, that of the loop and the call, is in all the others."""

    name = "nothing"

    def build(self, routes: Sequence[Route]) -> None:
        return None

    def match(self, method: str, path: str) -> Answer:
        return None


def make_probes(routes: list[Route], kind: str) -> Iterator[Probe]:
    """Probes of a kind, without end, with new values; a few in a row are from all over a table."""
    parameters = KINDS.index(kind)
    suited = [route for route in routes if kind == "miss" or route.path.count(":") == parameters]
    count = len(suited)
    step = next(n for n in itertools.count(int(count * 0.618)) if math.gcd(n, count) == 1)
    for number in itertools.count():
        method, path, handler = suited[number * step % count]
        value = next(values)
        if kind == "miss":
            _, section, noun, *_ = path.split("/")
            unknown = ("", f"/{section}", f"/{section}/{noun}/{value}")[number % 3]
            yield Probe(method, f"{unknown}/missing-{value}", None, {})
        else:
            named = itertools.islice(
                {"id": f"{value}", "item_id": f"{value:x}"}.items(), parameters
            )
            params = dict(named)
            for name, text in params.items():
                path = path.replace(f":{name}", text, 1)
            yield Probe(method, path, handler, params)


def verify(entry: Entry, probe: Probe) -> float:
    """Asks once, and gives the seconds that it took."""
    began = time.perf_counter()
    found = entry.contestant.match(probe.method, probe.path)
    taken = time.perf_counter() - began
    answer = entry.contestant.answer(found)
    handler, params = answer or (None, {})
    if handler is not probe.handler or dict(params) != probe.params:
        raise SystemExit(f"{entry.name} answers {probe.method} {probe.path} with {answer!r}")
    return taken


def first_probe(routes: list[Route]) -> Probe:
    """The probe that ends a build."""
    return next(make_probes(routes, "one param"))


def build(made: type[Contestant], routes: list[Route]) -> Entry:
    """Builds, several times if that is quick, and keeps the last."""
    taken: list[float] = []
    while len(taken) < 5 and sum(taken) < 0.5:
        # `re` would hand out the expressions of the table before, and a collection would walk it.
        re.purge()
        gc.collect()
        gc.freeze()
        probe = first_probe(routes)
        began = time.perf_counter()
        entry = Entry(made.name, made())
        entry.contestant.build(routes)
        entry.contestant.match(probe.method, probe.path)
        taken.append(time.perf_counter() - began)
    entry.build_s = taken
    if made.is_lazy:
        first, second = (ask_for_all(entry.contestant, routes) for _ in range(2))
        entry.later_s = max(first - second, 0.0)
    return entry


def ask_for_all(contestant: Contestant, routes: list[Route]) -> float:
    """Matches each route once, and gives the seconds that all took together."""
    requests = [(route.method, route.path.replace(":", "")) for route in routes]
    began = time.perf_counter()
    for method, path in requests:
        contestant.match(method, path)
    return time.perf_counter() - began


def prepare(entry: Entry, routes: list[Route], left_out: list[str]) -> None:
    """Verifies each probe that is to be timed, and finds how many fit into a slot."""
    for kind in KINDS:
        few = [verify(entry, p) for p in itertools.islice(make_probes(routes, kind), 2 * FEWEST)]
        each = statistics.median(few[FEWEST:])
        if each > SLOWEST_MATCH_S:
            left_out.append(
                f"{entry.name}, {len(routes):,} routes, {kind}: left out, as one match takes"
                f" {each * 1e3:.1f} ms"
            )
            continue
        count = entry.counts[kind] = max(FEWEST, min(MOST, int(SLOT_S / each)))
        for probe in itertools.islice(make_probes(routes, kind), count):
            verify(entry, probe)


def make_requests(routes: list[Route], kind: str) -> Requests:
    """As many as a slot can have, with new values."""
    probes = itertools.islice(make_probes(routes, kind), MOST)
    return [(probe.method, probe.path.encode()) for probe in probes]


def time_slot(contestant: Contestant, requests: Requests, count: int) -> float:
    """Seconds per match."""
    # New strings for each contestant, as a server makes them: none has computed its hash yet.
    batch = [(method, path.decode()) for method, path in requests[:count]]
    match = contestant.match
    began = time.perf_counter()
    for method, path in batch:
        match(method, path)
    return (time.perf_counter() - began) / len(batch)


def time_kind(entries: list[Entry], routes: list[Route], kind: str) -> None:
    """Times a slot of each contestant."""
    warming, timed = make_requests(routes, kind), make_requests(routes, kind)
    crowded = kind == "static" and sum(":" not in route.path for route in routes) > CACHED
    for entry in entries:
        count = entry.counts.get(kind)
        if count is None:
            continue
        # The slot before has filled the caches of the processor with another table.
        time_slot(entry.contestant, warming, count)
        if crowded:
            # More static paths than answers are kept: where the requests of an app come from all
            # over the table, a path is gone from the cache when it comes again.
            entry.contestant.forget()
        entry.times[kind].append(time_slot(entry.contestant, timed, count))


def time_rounds(
    tables: dict[int, list[Route]], entries: dict[int, list[Entry]], rounds: int
) -> list[float]:
    """Times all entries, and gives the seconds per match of Nothing in each round."""
    floor: list[float] = []
    nothing = Nothing()
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        for size, routes in tables.items():
            for kind in KINDS:
                time_kind(entries[size], routes, kind)
        floor.append(time_slot(nothing, make_requests(routes, "static"), MOST))
    return floor


def measure_memory(made: type[Contestant], routes: list[Route]) -> int:
    """Bytes that a contestant holds, with all built that is built lazily."""
    probe = first_probe(routes)
    re.purge()
    gc.collect()
    tracemalloc.start()
    contestant = made()
    contestant.build(routes)
    contestant.match(probe.method, probe.path)
    if made.is_lazy:
        ask_for_all(contestant, routes)
    re.purge()
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return held


def ratios(taken: list[float], base: list[float]) -> list[float]:
    """Round by round, so that a slow moment of the machine touches both sides."""
    return [own / other for own, other in zip(taken, base, strict=True)]


def row(label: str, cells: Sequence[str]) -> str:
    """A line of a table."""
    return f"{label:20}" + "".join(f"{cell:>12}" for cell in cells)


def print_times(size: int, entries: list[Entry]) -> None:
    """The default router's ns per match, and the others as multiples of it."""
    default = next(entry for entry in entries if entry.name == DEFAULT)
    others = [entry for entry in entries if entry is not default]
    print(f"\n{size:,} routes: ns per match of {DEFAULT}, and multiples of it\n")
    print(row("", [f"{DEFAULT}, ns", *(entry.name for entry in others)]))
    for kind in KINDS:
        base = default.times[kind]
        medians, minima = [f"{statistics.median(base) * 1e9:.0f}"], [f"{min(base) * 1e9:.0f}"]
        for entry in others:
            taken = entry.times[kind]
            medians.append(f"{statistics.median(ratios(taken, base)):.2f}" if taken else "-")
            minima.append(f"{min(taken) / min(base):.2f}" if taken else "-")
        print(row(f"{kind}, median", medians))
        print(row("  minimum", minima))


def print_growth(entries: dict[int, list[Entry]]) -> None:
    """How much longer a match takes in the largest table than in the smallest."""
    smallest, largest = min(entries), max(entries)
    print(f"\ngrowth: time at {largest:,} routes / time at {smallest:,}, median of rounds\n")
    print(row("", KINDS))
    for made in KIT:
        small, large = (
            next(entry for entry in entries[size] if entry.name == made.name)
            for size in (smallest, largest)
        )
        cells = [
            f"{statistics.median(ratios(large.times[kind], small.times[kind])):.2f}"
            if large.times[kind]
            else "-"
            for kind in KINDS
        ]
        print(row(made.name, cells))


def print_costs(entries: dict[int, list[Entry]], memory: dict[int, dict[str, int]]) -> None:
    """Build time and memory."""
    sizes = [f"{size:,}" for size in entries]
    print("\nbuild, ms, with the first match (median); later: what is built when first needed\n")
    print(row("routes", sizes))
    for number, made in enumerate(CONTESTANTS):
        column = [of_size[number] for of_size in entries.values()]
        print(row(made.name, [f"{statistics.median(e.build_s) * 1e3:.1f}" for e in column]))
        if made.is_lazy:
            print(row(f"  {made.name}, later", [f"{e.later_s * 1e3:.1f}" for e in column]))
    print("\nmemory, KiB, with all built\n")
    print(row("routes", sizes))
    for made in CONTESTANTS:
        print(row(made.name, [f"{held[made.name] / 1024:,.0f}" for held in memory.values()]))


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--routes", type=int, nargs="+", default=[10, 100, 1000, 10000])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path, help="write all figures, in seconds and bytes")
    options = parser.parse_args()
    if min(options.routes) < 10 or options.rounds < 1:
        parser.error("a table has at least 10 routes, and there is at least 1 round")

    versions = {name: version(name) for name in ("kit-routers", *PEERS)}
    print(f"Python {platform.python_version()};", ", ".join(" ".join(v) for v in versions.items()))
    tables = {size: make_table(size) for size in sorted(set(options.routes))}
    entries: dict[int, list[Entry]] = {}
    left_out: list[str] = []
    for size, routes in tables.items():
        entries[size] = [build(made, routes) for made in CONTESTANTS]
        for entry in entries[size]:
            prepare(entry, routes, left_out)
    floor = time_rounds(tables, entries, options.rounds)
    for size, of_size in entries.items():
        print_times(size, of_size)
    nothing = statistics.median(floor) * 1e9
    print(f"\nIn each time are {nothing:.0f} ns for the loop and the call of an adapter.")
    for line in left_out:
        print(line)
    print_growth(entries)
    for of_size in entries.values():
        for entry in of_size:
            del entry.contestant
    gc.unfreeze()
    memory = {
        size: {made.name: measure_memory(made, routes) for made in CONTESTANTS}
        for size, routes in tables.items()
    }
    print_costs(entries, memory)
    if options.json:
        figures: dict[str, Any] = {
            "python": platform.python_version(),
            "versions": versions,
            "left_out": left_out,
            "nothing": floor,
            "tables": {
                size: {
                    entry.name: {
                        "match": entry.times,
                        "matches_per_round": entry.counts,
                        "build": entry.build_s,
                        "build_later": entry.later_s,
                        "memory": memory[size][entry.name],
                    }
                    for entry in of_size
                }
                for size, of_size in entries.items()
            },
        }
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
