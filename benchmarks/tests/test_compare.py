# SPDX-License-Identifier: MIT
"""What a comparison makes of its figures, and a commit beside itself."""

from __future__ import annotations

import json

import pytest

from benchmarks import compare
from benchmarks.__main__ import main
from benchmarks.compare import (
    MEMORY,
    PROCESSOR_TIME,
    START,
    Figures,
    Pair,
    Plan,
    Ratio,
    mean_ratio,
    ratio_of,
)
from benchmarks.crew import ROOT, Worker, WorkerError
from benchmarks.sides import BEFORE, NOW, Side, both

IN_A_CHECKOUT = pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="there are no commits outside of a git checkout"
)
SERVED = ("text", "five middleware")
SIDES = tuple(Side(name, "1a2b3c4", name, ROOT, ()) for name in (BEFORE, NOW))


def figures(measure=PROCESSOR_TIME, rounds=10, **rows):
    """Figures of rows that are given as the ratio of all rounds."""
    pairs = {row: Pair([ratio] * rounds, [1.0] * rounds) for row, ratio in rows.items()}
    return Figures(rounds, {measure: pairs})


def test_ratios_are_taken_round_by_round():
    # The machine is ten times as slow in the second round, which touches both sides.
    pair = Pair(before=[2.0, 20.0, 3.0], now=[1.0, 20.0, 4.0])
    assert ratio_of(pair) == Ratio(middle=1, least=0.75, most=2, less=1, more=1, rounds=3)


def test_the_mean_of_all_rows_is_geometric():
    pairs = [Pair([4.0, 4.0, 4.0], [1.0, 1.0, 2.0]), Pair([1.0, 1.0, 4.0], [1.0, 4.0, 8.0])]
    # The medians are 4 and 0.5; the means of the rounds 2, 1 and 1.
    mean = mean_ratio(pairs)
    assert mean.middle == pytest.approx(2**0.5)
    assert (mean.least, mean.most) == pytest.approx((1, 2))
    assert (mean.less, mean.more, mean.rounds) == (1, 0, 3)


@pytest.mark.parametrize(
    ("ratio", "sign"),
    [
        pytest.param(Ratio(1.05, 0.9, 1.2, less=12, more=3, rounds=15), 1, id="less"),
        pytest.param(Ratio(1.05, 0.9, 1.2, less=11, more=4, rounds=15), 0, id="in too few rounds"),
        pytest.param(Ratio(1.02, 1.0, 1.2, less=15, more=0, rounds=15), 0, id="less, but noise"),
        pytest.param(Ratio(0.95, 0.9, 1.2, less=3, more=12, rounds=15), -1, id="more"),
        pytest.param(Ratio(0.95, 0.9, 1.2, less=4, more=11, rounds=15), 0, id="more, too seldom"),
        pytest.param(Ratio(0.98, 0.9, 1.0, less=0, more=15, rounds=15), 0, id="more, but noise"),
        pytest.param(Ratio(1.5, 1.4, 1.6, less=7, more=0, rounds=7), 0, id="too few rounds"),
    ],
)
def test_a_difference_is_more_than_noise_and_seen_in_most_rounds(ratio, sign):
    assert ratio.sign(0.03) == sign


def test_the_least_turn_of_a_side_counts_in_a_round():
    made = Figures(2)
    for turns in ([3.0, 1.0, 2.0], [5.0, 6.0]):
        made.add(PROCESSOR_TIME, "text", SIDES[0], turns)
    made.add(PROCESSOR_TIME, "text", SIDES[1], [9.0, 8.0])
    assert made.pairs == {PROCESSOR_TIME: {"text": Pair([1.0, 5.0], [8.0])}}


def test_the_sides_change_places_from_turn_to_turn():
    orders = [[side.name for side in compare.in_turn(SIDES, number)] for number in range(3)]
    assert orders == [[BEFORE, NOW], [NOW, BEFORE], [BEFORE, NOW]]


def test_a_table_shows_both_sides_and_the_mean():
    made = Figures(
        3,
        {
            PROCESSOR_TIME: {
                "text": Pair([2e-6, 2e-6, 3e-6], [1e-6, 2e-6, 2e-6]),
                "json": Pair([4e-3] * 3, [8e-3] * 3),
            },
            MEMORY: {},
        },
    )
    (table,) = compare.tables(made)
    assert str(table) == (
        "Processor time per request, median of 3 rounds; above 1: now faster:\n"
        "\n"
        "|                | before, µs |  now, µs | before / now |     min..max | now faster |\n"
        "| -------------- | ---------: | -------: | -----------: | -----------: | ---------: |\n"
        "| text           |       2.00 |     2.00 |        1.500 | 1.000..2.000 |     2 of 3 |\n"
        "| json           |   4,000.00 | 8,000.00 |        0.500 | 0.500..0.500 |     0 of 3 |\n"
        "| geometric mean |            |          |        0.866 | 0.707..1.000 |     0 of 3 |\n"
    )


@pytest.mark.parametrize(
    ("made", "said"),
    [
        pytest.param(
            figures(text=1.02, json=1.08),
            "in-process, 1a2b3c4 / now: 1.050 (faster), geometric mean of 2 rows over 10 rounds, "
            "1.020 (text) to 1.080 (json); slower: none",
            id="faster",
        ),
        pytest.param(
            figures(
                rounds=15, **{"text": 1.03, "json": 0.96, "form, new values": 0.97, "query": 1.04}
            ),
            "in-process, 1a2b3c4 / now: 0.999 (no difference), geometric mean of 4 rows over 15 "
            "rounds, 0.960 (json) to 1.040 (query); slower: 'json', 'form, new values'",
            id="no difference, but for rows",
        ),
        pytest.param(
            figures(text=0.5),
            "in-process, 1a2b3c4 / now: 0.500 (slower), geometric mean of 1 row over 10 rounds, "
            "0.500 (text) to 0.500 (text); slower: 'text'",
            id="slower",
        ),
        pytest.param(
            figures(MEMORY, text=0.9),
            "in-process, 1a2b3c4 / now: 0.900 (larger), geometric mean of 1 row over 10 rounds, "
            "0.900 (text) to 0.900 (text); larger: 'text'",
            id="memory",
        ),
        pytest.param(
            figures(rounds=1, text=2.0),
            "in-process, 1a2b3c4 / now: 2.000 (too few rounds for a verdict), geometric mean of 1 "
            "row over 1 round, 2.000 (text) to 2.000 (text)",
            id="too few rounds",
        ),
    ],
)
def test_a_verdict_is_one_line(made, said):
    assert compare.verdicts("in-process", "1a2b3c4", made) == [said]


def test_a_verdict_of_several_measures_names_them_and_counts_what_is_left_out():
    made = figures(START, first=1.0, second=2.0)
    made.pairs |= figures(MEMORY, first=1.0, second=2.0).pairs
    made.leave_out("second", "before: it does not start")
    assert made.left_out == ["second: before: it does not start"]
    rest = (
        "1a2b3c4 / now: 1.000 (no difference), geometric mean of 1 row over 10 rounds, 1.000 "
        "(first) to 1.000 (first)"
    )
    assert compare.verdicts("start", "1a2b3c4", made) == [
        f"start, time to start, {rest}; slower: none; left out: 1",
        f"start, peak memory, {rest}; larger: none; left out: 1",
    ]


def test_nothing_measured_is_no_verdict():
    assert compare.verdicts("start", "1a2b3c4", Figures(10, {START: {}})) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["growth"], "error: no section 'growth': there are in-process, start, served, all"),
        (
            ["--peers", "kit"],
            "error: --peers can't be combined with --compare, which measures Kit alone",
        ),
        (["--check"], "error: --check can't be combined with --compare, which measures Kit alone"),
    ],
)
def test_what_compares_peers_is_refused(arguments, said, capsys):
    with pytest.raises(SystemExit):
        main(["--compare", "HEAD", *arguments])
    assert capsys.readouterr().err.endswith(f"python -m benchmarks: {said}\n")


@IN_A_CHECKOUT
def test_an_unknown_commit_is_an_error(capsys):
    assert main(["--compare", "no-such-branch"]) == 1
    assert capsys.readouterr().err == (
        "python -m benchmarks: --compare: no commit 'no-such-branch' in this repository, expected "
        "a hash, branch or tag; git rev-parse says 'fatal: Needed a single revision'\n"
    )


@IN_A_CHECKOUT
def test_a_commit_beside_the_working_tree(tmp_path, capsys):
    path = tmp_path / "figures.json"
    arguments = ["--rows", "text", "404", "--rounds", "2", "--quick", "--json", str(path)]
    assert main(["--compare", "HEAD", *arguments]) == 0
    printed = capsys.readouterr().out
    found = json.loads(path.read_text())
    measured = found["in-process"]
    assert measured["left_out"] == []
    pairs = measured["pairs"][PROCESSOR_TIME]
    assert list(pairs) == ["text", "404"]
    seconds = [each for pair in pairs.values() for side in pair.values() for each in side]
    assert len(seconds) == 8
    assert min(seconds) > 0
    assert f"before: {found['before']}\nnow: working tree, " in printed
    assert printed.endswith(f"\n{found['verdicts'][0]}\n")


@pytest.mark.slow
@IN_A_CHECKOUT
def test_the_start_of_a_commit_beside_that_of_the_working_tree(capsys):
    assert main(["--compare", "HEAD", "start", "--rounds", "1", "--quick"]) == 0
    verdicts = capsys.readouterr().out.splitlines()[-3:]
    assert [line.split(", ")[1] for line in verdicts] == [
        "time to start",
        "processor time to start",
        "peak memory",
    ]
    assert all("geometric mean of 2 rows over 1 round, " in line for line in verdicts)


@pytest.mark.slow
@IN_A_CHECKOUT
def test_a_commit_beside_the_working_tree_over_sockets(tmp_path):
    path = tmp_path / "figures.json"
    arguments = ["served", "--rounds", "1", "--rows", *SERVED, "--json", str(path)]
    assert main(["--compare", "HEAD", *arguments]) == 0
    measured = json.loads(path.read_text())["served"]
    assert measured["left_out"] == []
    assert {measure: list(pairs) for measure, pairs in measured["pairs"].items()} == {
        PROCESSOR_TIME: [
            "uvicorn, text",
            "uvicorn, five middleware",
            "granian, text",
            "granian, five middleware",
        ],
    }


@IN_A_CHECKOUT
@pytest.mark.parametrize(("failing", "round_number"), [("verify", 0), ("time", 1)])
def test_a_row_that_one_side_fails_is_left_out(failing, round_number, monkeypatch):
    ask = Worker.ask
    asked = []

    def ask_or_fail(self, do, limit_s=120, **arguments):
        if (do, arguments.get("row"), self.name) == (failing, "json", BEFORE):
            asked.append(do)
            if len(asked) > round_number * (1 if failing == "verify" else compare.TURNS):
                raise WorkerError(f"{self.name}: no")
        return ask(self, do, limit_s, **arguments)

    monkeypatch.setattr(Worker, "ask", ask_or_fail)
    with both("HEAD") as sides:
        made = compare.in_process(sides, Plan(["text", "json"], 2, 0.001))
    assert made.left_out == ["json: before: no"]
    ((row, pair),) = made.pairs[PROCESSOR_TIME].items()
    assert (row, len(pair.before), len(pair.now)) == ("text", 2, 2)
