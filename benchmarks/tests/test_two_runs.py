# SPDX-License-Identifier: MIT
"""Two runs side by side."""

from __future__ import annotations

import json
import re

import pytest

from benchmarks.__main__ import main
from benchmarks.crew import ROOT
from benchmarks.in_process import FASTEST_ROUNDS
from benchmarks.two_runs import RunError, merged, page, put_into


def run(text="2.00", title="time", columns=("raw",), **changes):
    tables = [
        {"title": title, "lines": [["", *columns], ["text", text], ["json", "3.00"]]},
        {"title": FASTEST_ROUNDS, "lines": [["", "raw"], ["text", "1.00"]]},
    ]
    where = {"where": "Python 3.11", "versions": {"raw": "", "kit": "1.0"}}
    return {**where, "tables": {"in-process": tables}, **changes}


def written(tmp_path, *runs):
    paths = [tmp_path / f"{number}.json" for number in range(len(runs))]
    for path, each in zip(paths, runs, strict=True):
        path.write_text(json.dumps(each))
    return paths


def test_cells_that_differ_stand_side_by_side(tmp_path):
    assert page(*written(tmp_path, run(), run("2.10"))) == (
        "Python 3.11; raw, kit 1.0\n\n"
        "### In process\n\n"
        "Time:\n\n"
        "|      |         raw |\n"
        "| ---- | ----------: |\n"
        "| text | 2.00 · 2.10 |\n"
        "| json |        3.00 |\n"
    )


def test_tables_are_put_into_the_places_of_a_page(tmp_path):
    path = tmp_path / "page.md"
    place = "<!-- figures: {} -->\n{}<!-- end of figures -->\n".format
    path.write_text(
        "# Page\n" + place("in-process", "old\n") + "More.\n" + place("served", "old\n")
    )
    assert put_into(path, *written(tmp_path, run(), run("2.10"))) == ["versions"]
    table = page(*written(tmp_path, run(), run("2.10"))).partition("process\n")[2]
    assert path.read_text() == (
        "# Page\n" + place("in-process", f"{table}\n") + "More.\n" + place("served", "old\n")
    )


def test_the_readme_has_a_place_for_each_section_with_figures_of_all_peers():
    text = (ROOT / "benchmarks/README.md").read_text()
    places = re.findall(r"<!-- figures: (.*) -->\n(?:(?!<!--).*\n)*<!-- end of figures -->\n", text)
    assert places == [
        "versions",
        "in-process",
        "served",
        "start",
        "growth",
        "memory",
        "techempower",
        "conduit",
        "requirements",
    ]


@pytest.mark.parametrize("others", [[], [["", "a"]]], ids=["no table", "no row"])
def test_what_the_second_run_does_not_have_stands_alone(others):
    made = merged("time", [["", "a"], ["text", "1"]], others)
    assert made.lines == [["", "a"], ["text", "1"]]


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (run(where="Python 3.13"), "differ in where: 'Python 3.11' and 'Python 3.13'"),
        (run(versions={"kit": "2.0"}), "differ in versions"),
        (run(columns=("muffin",)), r"the columns of 'time' differ: \['raw'\] and \['muffin'\]"),
        ({}, "has no tables, expected a file that a run with --json wrote"),
    ],
)
def test_runs_of_different_things_are_an_error(tmp_path, second, said):
    with pytest.raises(RunError, match=said):
        page(*written(tmp_path, run(), second))


def test_two_runs_on_the_command_line(tmp_path, capsys):
    paths = [str(tmp_path / name) for name in ("first.json", "second.json")]
    arguments = ["in-process", "--rows", "text", "--peers", "kit", "raw", "--quick"]
    for path in paths:
        assert main([*arguments, "--rounds", "1", "--json", path]) == 0
    capsys.readouterr()
    assert main(["--side-by-side", *paths]) == 0
    printed = capsys.readouterr().out
    assert "### In process\n" in printed
    assert "### Requirements\n" in printed
    assert main(["--side-by-side", paths[0], "nowhere.json"]) == 1
    assert "--side-by-side: nowhere.json can't be read" in capsys.readouterr().err
