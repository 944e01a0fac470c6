# SPDX-License-Identifier: MIT
"""The figures of two runs side by side, for a page: what differs between them is noise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .in_process import FASTEST_ROUNDS
from .tables import Table

CRITERIA = "requirements"
BETWEEN = " · "
"""What stands between the cells of both runs, if they differ."""
VERSIONS = "versions"
_END = "<!-- end of figures -->\n"


class RunError(Exception):
    """Two files are not those of two runs of the same."""


def noted(tables: list[Table]) -> list[dict[str, Any]]:
    """Tables as they are written to a file."""
    return [{"title": table.title, "lines": table.lines} for table in tables]


def parts(first: Path, second: Path) -> dict[str, str]:
    """The tables of two files that `--json` wrote, as Markdown, by section.

    Args:
        first: The file of the first run, whose tables and rows decide.
        second: That of the second.

    Raises:
        RunError: If a file has no tables, or the runs had other versions or columns.
    """
    runs = [_read(path) for path in (first, second)]
    for name in ("where", "versions"):
        one, other = (run.get(name) for run in runs)
        if one != other:
            raise RunError(f"the runs differ in {name}: {one!r} and {other!r}")
    versions = ", ".join(f"{name} {text}".strip() for name, text in runs[0]["versions"].items())
    found = {VERSIONS: f"{runs[0]['where']}; {versions}\n"}
    for section, tables in runs[0]["tables"].items():
        others = {table["title"]: table["lines"] for table in runs[1]["tables"].get(section, [])}
        found[section] = "\n".join(
            str(merged(table["title"], table["lines"], others.get(table["title"], [])))
            for table in tables
            if table["title"] != FASTEST_ROUNDS
        )
    return found


def page(first: Path, second: Path) -> str:
    """The tables of two files below headings; see `parts`."""
    found = parts(first, second)
    where = found.pop(VERSIONS)
    headed = (
        f"### {name.replace('-', ' ').capitalize()}\n\n{text}" for name, text in found.items()
    )
    return "\n".join([where, *headed])


def put_into(path: Path, first: Path, second: Path) -> list[str]:
    """Puts the tables of two files into a page, between the comments that mark their places.

    Args:
        path: The page, with `<!-- figures: SECTION -->` and `<!-- end of figures -->`.
        first: See `parts`.
        second: See `parts`.

    Returns:
        The sections that have no place on the page.
    """
    text = path.read_text()
    without_place = []
    for section, figures in parts(first, second).items():
        start, place, rest = text.partition(f"<!-- figures: {section} -->\n")
        _, end, rest = rest.partition(_END)
        if end:
            text = f"{start}{place}\n{figures}\n{end}{rest}"
        else:
            without_place.append(section)
    path.write_text(text)
    return without_place


def merged(title: str, lines: list[list[str]], others: list[list[str]]) -> Table:
    """A table with the cells of two in each cell; one if they are the same, or the other has none.

    Args:
        title: The title of both.
        lines: The lines of the first, its headings included.
        others: Those of the second; none if it hasn't got this table.

    Raises:
        RunError: If the headings differ.
    """
    headings = lines[0]
    if others and others[0] != headings:
        raise RunError(f"the columns of {title!r} differ: {headings[1:]!r} and {others[0][1:]!r}")
    by_label = {label: cells for label, *cells in others[1:]}
    made = Table(title, headings[1:])
    for label, *cells in lines[1:]:
        beside = by_label.get(label, cells)
        pairs = zip(cells, beside, strict=True)
        made.add(label, *(one if one == two else one + BETWEEN + two for one, two in pairs))
    return made


def _read(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise RunError(f"{path} can't be read: {error}") from error
    if "tables" not in found:
        raise RunError(f"{path} has no tables, expected a file that a run with --json wrote")
    return found
