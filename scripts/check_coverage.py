# SPDX-License-Identifier: MIT
"""Checks test coverage of the packages: 98 % of their lines, and 95 % of their branches.

    coverage json -o REPORT && python scripts/check_coverage.py REPORT

Prints the figures and the modules with the most gaps; exits with 1 if a figure is below its limit.
Branches are checked if they were measured, which takes more than twice as long: `.ci/run` measures
lines only, unless KIT_BRANCHES is `true`.
coverage's own limit applies to lines and branches taken together. Exclusions, and the reasons for
them, are next to `[tool.coverage.report]` in pyproject.toml.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

LEAST_LINES_PERCENT = 98.0
LEAST_BRANCHES_PERCENT = 95.0
_SHOWN = 8
_PLACES = 10


def percent(covered: int, total: int) -> float:
    """Returns a share in percent; 100 if the total is 0."""
    return 100 * covered / total if total else 100.0


def of_lines(summary: dict[str, Any]) -> float:
    """Returns the percentage of lines that ran."""
    return percent(summary["covered_lines"], summary["num_statements"])


def of_branches(summary: dict[str, Any]) -> float:
    """Returns the percentage of branches that were taken."""
    return percent(summary["covered_branches"], summary["num_branches"])


def lacking(summary: dict[str, Any]) -> int:
    """Returns the number of missing lines and branches."""
    return int(summary["missing_lines"] + summary.get("missing_branches", 0))


def shortened(places: list[str]) -> str:
    """Returns the first of some places, and how many more there are."""
    more = len(places) - _PLACES
    shown = ", ".join(places[:_PLACES]) or "-"
    return f"{shown} and {more} more" if more > 0 else shown


def untested(report: dict[str, Any]) -> list[str]:
    """Returns the packages of which nothing was measured: they are missing from the figures."""
    folders = sorted(path.parent.parent.name for path in Path("packages").glob("*/src/kit"))
    return [
        name
        for name in folders
        if not any(
            f"packages/{name}/src/" in path.replace("\\", "/") and file["executed_lines"]
            for path, file in report["files"].items()
        )
    ]


def main(path: str) -> int:
    """Prints the figures; returns the exit code."""
    report = json.loads(Path(path).read_text(encoding="utf-8"))
    totals = report["totals"]
    figures = [("lines", of_lines(totals), LEAST_LINES_PERCENT)]
    if "num_branches" in totals:
        figures.append(("branches", of_branches(totals), LEAST_BRANCHES_PERCENT))
    for what, share, least in figures:
        print(f"{share:.2f} % of {what} (at least {least:g} %)")
    modules = sorted(report["files"].items(), key=lambda item: -lacking(item[1]["summary"]))
    for name, file in modules[:_SHOWN]:
        summary = file["summary"]
        if lacking(summary):
            lines = shortened([str(line) for line in file["missing_lines"]])
            gaps = file.get("missing_branches", [])
            branches = shortened([f"{start}->{end}" for start, end in gaps])
            print(f"  {name}: lines {lines}; branches {branches}")
    missing = untested(report)
    for name in missing:
        print(f"Nothing of {name} was run under coverage")
    return int(bool(missing) or any(share < least for _, share, least in figures))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python scripts/check_coverage.py COVERAGE_JSON")
    sys.exit(main(sys.argv[1]))
