# SPDX-License-Identifier: MIT
"""Kit beside its peers: in process, served, at the start, as things grow, and in memory.

    uv run --group bench python -m benchmarks [SECTION ...] [--rows ...] [--peers ...]
        [--rounds N] [--spread] [--quick] [--json FILE]
    uv run --group bench python -m benchmarks --compare REV [SECTION ...] [--rows ...]
        [--rounds N] [--spread] [--quick] [--json FILE]
    uv run --group bench python -m benchmarks --side-by-side FILE FILE [--into PAGE]

Each section prints its tables; the last table says what the figures must show and whether they do.
Peers that are not installed are named and left out. With --compare, a commit of Kit is measured
beside the working tree instead; the last lines say what came out. With --side-by-side, nothing is
measured: it prints the tables of two runs whose figures were written with --json, or puts them
into the places of a page.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from . import (
    abreast,
    compare,
    files,
    growth,
    in_process,
    memory,
    overhead,
    peers,
    rows,
    served,
    sides,
    start,
    techempower,
    two_runs,
    typed,
    verdict,
    websocket,
)
from .conduit import section as conduit
from .tables import Table


class Effort(NamedTuple):
    """How long is measured.

    Attributes:
        rounds: Rounds of each section.
        slot_s: Length of a turn, in seconds, of which each section takes a part or a multiple.
        requests: Of each kind, for the section `memory`.
    """

    rounds: dict[str, int]
    slot_s: float
    requests: int


FULL = Effort(
    {
        "in-process": 15,
        "served": 6,
        "start": 15,
        "growth": 7,
        "overhead": 15,
        "typed": 15,
        "websocket": 15,
        "files": 9,
        "techempower": 600,
        "conduit": 150,
    },
    0.05,
    memory.REQUESTS,
)
QUICK = Effort(
    {
        "in-process": 5,
        "served": 1,
        "start": 3,
        "growth": 3,
        "overhead": 5,
        "typed": 5,
        "websocket": 5,
        "files": 1,
        "techempower": 5,
        "conduit": 3,
    },
    0.01,
    2000,
)
COMPARE = FULL._replace(rounds=dict.fromkeys(compare.SECTIONS, 15), slot_s=0.005)
COMPARE_QUICK = QUICK._replace(slot_s=0.002)


class Run(NamedTuple):
    """What a section is given."""

    names: list[str]
    rows: list[str]
    rounds: int
    effort: Effort
    is_apart: bool


class Section(NamedTuple):
    """A part of the suite: measures, then makes tables and criteria of the figures."""

    measure: Callable[[Run], Any]
    tables: Callable[[Any], list[Table]]
    criteria: Callable[[Any], Any]
    has_all_peers: bool = True


SECTIONS: dict[str, Section] = {
    "in-process": Section(
        lambda run: in_process.measure(run.names, run.rows, run.rounds, run.effort.slot_s / 10),
        in_process.tables,
        verdict.of_in_process,
    ),
    "served": Section(
        lambda run: served.measure(
            run.names, run.rows, run.rounds, run.effort.slot_s, run.is_apart
        ),
        served.tables,
        verdict.of_served,
    ),
    "start": Section(
        lambda run: start.measure(run.names, run.rounds), start.tables, verdict.of_start
    ),
    "growth": Section(
        lambda run: growth.measure(run.names, run.rounds, run.effort.slot_s),
        growth.tables,
        verdict.of_growth,
    ),
    "memory": Section(
        lambda run: memory.measure(run.names, run.rows, run.effort.requests),
        memory.tables,
        verdict.of_memory,
        has_all_peers=False,
    ),
    "overhead": Section(
        lambda run: overhead.measure(run.rounds, run.effort.slot_s),
        overhead.tables,
        verdict.of_overhead,
        has_all_peers=False,
    ),
    "typed": Section(
        lambda run: typed.measure(run.rounds, run.effort.slot_s),
        typed.tables,
        verdict.of_typed,
        has_all_peers=False,
    ),
    "websocket": Section(
        lambda run: websocket.measure(run.rounds, run.effort.slot_s),
        websocket.tables,
        verdict.of_websocket,
        has_all_peers=False,
    ),
    "files": Section(
        lambda run: files.measure(run.rounds, 10 * run.effort.slot_s),
        files.tables,
        verdict.of_files,
        has_all_peers=False,
    ),
    "techempower": Section(
        lambda run: techempower.measure(run.rounds, 0.08 * run.effort.slot_s),
        abreast.tables,
        lambda figures: verdict.of_abreast("TechEmpower", figures),
        has_all_peers=False,
    ),
    "conduit": Section(
        lambda run: conduit.measure(run.rounds, 0.4 * run.effort.slot_s),
        abreast.tables,
        lambda figures: verdict.of_abreast("Conduit", figures),
        has_all_peers=False,
    ),
}


def parse(arguments: list[str]) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    sections = [*SECTIONS, "all"]
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(sections))
    parser.add_argument(
        "--compare",
        metavar="REV",
        help=f"a commit of Kit beside the working tree; sections: {', '.join(compare.SECTIONS)}",
    )
    parser.add_argument("--rows", nargs="+", choices=rows.ROWS, metavar="ROW", help="by name")
    parser.add_argument("--peers", nargs="+", choices=peers.NEEDED, metavar="PEER")
    parser.add_argument("--rounds", type=int, help="of every section")
    parser.add_argument("--requests", type=int, help="of each kind, for the section memory")
    parser.add_argument(
        "--spread", action="store_true", help="served: on all processors, which the load shares"
    )
    parser.add_argument("--quick", action="store_true", help="few and short rounds, to try")
    parser.add_argument("--check", action="store_true", help="only check every answer")
    parser.add_argument(
        "--side-by-side", nargs=2, type=Path, metavar="FILE", help="print the tables of two runs"
    )
    parser.add_argument("--into", type=Path, metavar="PAGE", help="put those tables into a page")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    options = parser.parse_args(arguments)
    if options.compare is not None:
        sections = [*compare.SECTIONS, "all"]
        for name in ("peers", "requests", "check"):
            if getattr(options, name):
                parser.error(f"--{name} can't be combined with --compare, which measures Kit alone")
    elif options.check:
        sections = list(CHECKS)
    unknown = [name for name in options.sections if name not in sections]
    if unknown:
        parser.error(f"no section {unknown[0]!r}: there are {', '.join(sections)}")
    if options.rounds is not None and options.rounds < 1:
        parser.error("there is at least 1 round")
    return options


CHECKS: dict[str, Callable[[list[str], list[str]], Any]] = {
    "in-process": lambda names, row_names: in_process.measure(names, row_names, 0, 0),
    "techempower": lambda *_: techempower.measure(0, 0),
    "conduit": lambda *_: conduit.measure(0, 0),
}
"""The sections whose answers can be checked alone."""


def check(names: list[str], row_names: list[str], sections: list[str]) -> int:
    """Checks every answer; gives the exit status."""
    status = 0
    for section in sections:
        figures = CHECKS[section](names, row_names)
        apps = {name for by_name in figures.seconds.values() for name in by_name}
        right = f"{len(apps)} apps answer {len(figures.seconds)} rows right"
        print(f"{section}: " + ("; ".join(figures.left_out) or right), flush=True)
        if figures.left_out:
            status = 1
    return status


def compare_with(options: argparse.Namespace) -> int:
    """Measures a commit beside the working tree.

    Returns:
        The exit status: 1 if nothing could be measured.
    """
    effort = COMPARE_QUICK if options.quick else COMPARE
    wanted = options.sections or ["in-process"]
    if "all" in wanted:
        wanted = list(compare.SECTIONS)
    results: dict[str, Any] = {"python": platform.python_version()}
    verdicts: list[str] = []
    with sides.both(options.compare) as both:
        print(f"Python {platform.python_version()}, {os.cpu_count()} processors")
        for side in both:
            print(f"{side.name}: {side.title}")
            results[side.name] = side.title
        print(flush=True)
        for name in dict.fromkeys(wanted):
            rounds = options.rounds or effort.rounds[name]
            row_names = options.rows or list(rows.ROWS)
            plan = compare.Plan(row_names, rounds, effort.slot_s, not options.spread)
            figures = compare.SECTIONS[name](both, plan)
            print(f"## {name}\n")
            print("\n".join(map(str, compare.tables(figures))))
            for line in figures.left_out:
                print(f"left out: {line}")
            print(flush=True)
            verdicts += compare.verdicts(name, both[0].revision, figures)
            results[name] = dataclasses.asdict(figures)
    print("\n".join(verdicts))
    if options.json:
        results["verdicts"] = verdicts
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0 if verdicts else 1


def main(arguments: list[str]) -> int:
    """Measures and prints; gives the exit status."""
    options = parse(arguments)
    option = ""
    try:
        if options.side_by_side is not None:
            option = "--side-by-side"
            return show(options)
        if options.compare is not None:
            option = "--compare"
            return compare_with(options)
    except (two_runs.RunError, sides.SideError) as error:
        print(f"python -m benchmarks: {option}: {error}", file=sys.stderr)
        return 1
    return compare_peers(options)


def show(options: argparse.Namespace) -> int:
    """Prints the tables of two runs, or puts them into a page; gives the exit status."""
    if options.into is None:
        print(two_runs.page(*options.side_by_side))
        return 0
    for section in two_runs.put_into(options.into, *options.side_by_side):
        print(f"{options.into} has no place for {section}: <!-- figures: {section} -->")
    return 0


def compare_peers(options: argparse.Namespace) -> int:
    """Measures all peers; gives the exit status."""
    asked = options.peers or list(peers.NEEDED)
    installed, missing = peers.versions(asked)
    versions = " ".join(f"{name} {text}".strip() + "," for name, text in installed.items())
    where = f"Python {platform.python_version()}, {os.cpu_count()} processors"
    print(f"{where}; {versions.rstrip(',')}")
    for name, reason in missing.items():
        print(f"{name} is left out: {reason}")
    print(flush=True)
    names, row_names = list(installed), options.rows or list(rows.ROWS)
    if options.check:
        return check(names, row_names, options.sections or list(CHECKS))

    effort = QUICK if options.quick else FULL
    if options.requests is not None:
        effort = effort._replace(requests=options.requests)
    wanted = options.sections
    if not wanted or "all" in wanted:
        wanted = list(SECTIONS)
    results: dict[str, Any] = {"where": where, "versions": installed, "tables": {}}
    criteria: list[verdict.Criterion] = []
    for name in dict.fromkeys(wanted):
        section = SECTIONS[name]
        own = names if section.has_all_peers or options.peers else [peers.KIT]
        rounds = options.rounds or effort.rounds.get(name, 1)
        figures = section.measure(Run(own, row_names, rounds, effort, not options.spread))
        print(f"## {name}\n")
        tables = section.tables(figures)
        print("\n".join(map(str, tables)))
        for line in figures.left_out:
            print(f"left out: {line}")
        print(flush=True)
        results["tables"][name] = two_runs.noted(tables)
        criteria += section.criteria(figures)
        results[name] = dataclasses.asdict(figures)
    table = verdict.table(criteria)
    print(table)
    if options.json:
        results["tables"][two_runs.CRITERIA] = two_runs.noted([table])
        results["criteria"] = [dataclasses.asdict(each) for each in criteria]
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
