# SPDX-License-Identifier: MIT
"""What is made of the seconds that were measured."""

from __future__ import annotations

import pytest

from benchmarks import growth, in_process, memory, served, start, verdict
from benchmarks.__main__ import main
from benchmarks.crew import Worker, WorkerError
from benchmarks.tables import Table


def figures(**rows):
    return in_process.Figures(rounds=5, seconds=rows)


def criteria(found):
    return {each.name: each for each in found}


def test_the_fastest_peer_is_found_and_the_raw_callable_is_no_peer():
    row = {
        "raw": [0.5] * 5,
        "kit": [1, 1, 1, 1, 2],
        "slow": [3, 3, 3, 3, 3],
        "quick": [2, 2, 2, 2, 1],
    }
    (duel,) = in_process.duels(figures(text=row))
    assert (duel.peer, duel.ratio, duel.won, duel.rounds) == ("quick", 2, 4, 5)
    assert duel.minimum == 1
    assert duel.is_met


@pytest.mark.parametrize(
    ("peer", "met"),
    [
        pytest.param([2, 2, 2, 2, 2], True, id="all rounds"),
        pytest.param([2, 2, 2, 2, 0.5], True, id="4 of 5"),
        pytest.param([2, 2, 2, 0.5, 0.5], False, id="3 of 5, although the median is above 1"),
        pytest.param([1, 1, 1, 1, 1], False, id="a draw"),
    ],
)
def test_kit_is_ahead_by_median_and_by_rounds(peer, met):
    (duel,) = in_process.duels(figures(text={"kit": [1] * 5, "peer": peer}))
    assert duel.is_met is met


def test_one_lost_row_is_enough_to_fail():
    won = {"kit": [1] * 5, "peer": [4] * 5}
    lost = {"kit": [4] * 5, "peer": [1] * 5}
    found = criteria(verdict.of_in_process(figures(text=won, json=lost)))
    rows = found["rows on which Kit is ahead"]
    assert (rows.seen, rows.is_met) == ("1 of 2 rows", False)
    assert "fastest peer / Kit, geometric mean of 12 rows" not in found


def all_rows(**ratios):
    """Figures over 15 rounds of all rows of the mean, 3 in those that aren't given."""
    rounds = {row: [3.0] * 15 for row in verdict.MEAN_ROWS} | ratios
    return in_process.Figures(
        15, {row: {"kit": [1.0] * 15, "peer": each} for row, each in rounds.items()}
    )


@pytest.mark.parametrize(
    ("row", "needed", "ratios", "met"),
    [
        ("param", "> 1.00", [1.01] * 13 + [1.0] * 2, True),
        ("param", "> 1.00", [1.6] * 12 + [0.9] * 3, False),
        ("twenty middleware", "> 1.00", [1.01] * 15, True),
        ("twenty middleware", "> 1.00", [1.0] * 15, False),
    ],
)
def test_a_row_has_its_mark(row, needed, ratios, met):
    found = criteria(verdict.of_in_process(all_rows(**{row: ratios})))
    mark = found[f"{row}: fastest peer / Kit"]
    assert (mark.needed, mark.is_met) == (f"{needed}, 13 of 15 rounds", met)


@pytest.mark.parametrize(("lost", "met"), [(2, True), (3, False)])
def test_the_mean_has_to_be_reached_in_most_rounds(lost, met):
    rounds = [1.8] * (15 - lost) + [1.5] * lost
    figures = all_rows(**dict.fromkeys(verdict.MEAN_ROWS, rounds), other=[0.1] * 15)
    mean = criteria(verdict.of_in_process(figures))["fastest peer / Kit, geometric mean of 12 rows"]
    assert (mean.seen, mean.is_met) == (f"1.80, {15 - lost} of 15 rounds", met)


def test_without_peers_nothing_is_said_about_them():
    found = criteria(verdict.of_in_process(figures(text={"kit": [3.0] * 5, "raw": [1.0] * 5})))
    assert list(found) == ["text: Kit / raw"]
    assert found["text: Kit / raw"].is_met


def test_a_table_has_a_column_for_each_peer_and_a_dash_for_what_is_missing():
    made = in_process.tables(
        figures(text={"kit": [1e-6] * 5, "a": [2e-6] * 5}, json={"kit": [1e-6] * 5})
    )
    lines = str(made[0]).splitlines()
    assert lines[2].split("|")[2:-1] == [" kit, µs ", "    a "]
    assert [cell.strip() for cell in lines[4].split("|")] == ["", "text", "1.00", "2.00", ""]
    assert [cell.strip() for cell in lines[5].split("|")] == ["", "json", "1.00", "-", ""]


def test_a_table_is_markdown():
    table = Table("title", ["n"])
    table.add("row", "12")
    assert str(table) == "Title:\n\n|     |  n |\n| --- | -: |\n| row | 12 |\n"


def test_ratios_to_the_raw_callable_are_taken_turn_by_turn():
    # The machine is twice as slow in the second turn, which touches both.
    kit = served.Turns([1.04e-5, 2.08e-5], [1e-5, 2e-5])
    peer = served.Turns([2e-5, 4e-5], [1e-5, 2e-5])
    rows = {"json": {"kit": kit, "peer": peer}, "echo": {"kit": peer, "peer": kit}}
    made = served.Figures(2, {"granian": rows})
    found = criteria(verdict.of_served(made))
    assert [(each.name, each.seen, each.is_met) for each in found.values()] == [
        ("granian, json: Kit / raw", "1.04", True),
        ("granian, json: ahead", "1.040, peer 2.000", True),
        ("granian, echo: ahead", "2.000, peer 1.040", False),
    ]
    (table,) = served.tables(made)
    assert str(table).splitlines()[4:] == [
        "| json |    15.0 | 1.040 | 2.000 |",
        "| echo |    15.0 | 2.000 | 1.040 |",
    ]


def test_the_start_is_compared_with_starlette_and_falcon():
    peers = {"starlette": start.Starts([2.0], [5]), "falcon": start.Starts([0.5], [20])}
    first_app = {"kit": start.Starts([1.0], [10], ["anyio"]), **peers}
    first_answer = {"kit": start.Starts([1.9], [30]), **peers}
    made = start.Figures(1, {"first app": first_app, "first answer": first_answer})
    found = criteria(verdict.of_start(made))
    assert [each.is_met for each in found.values()] == [True, True, False, False, False, True]
    assert found["first app: time, Kit / Starlette"].needed == "<= 0.60"
    assert found["first answer: time, Kit / Starlette"].needed == "<= 0.90"


@pytest.mark.parametrize(
    ("series", "seconds", "met"),
    [
        pytest.param("routes, static path", {10: [1.0], 10_000: [1.2]}, True, id="flat"),
        pytest.param("routes, static path", {10: [1.0], 10_000: [9.0]}, False, id="not flat"),
        pytest.param("middleware", {0: [1.0], 10: [2.0], 20: [3.0]}, True, id="linear"),
        pytest.param("middleware", {0: [1.0], 10: [2.0], 20: [6.0]}, False, id="quadratic"),
        pytest.param("bytes of a body", {1000: [1.0], 10_000: [20.0]}, True, id="as raw"),
        pytest.param("bytes of an upload", {1000: [1.0], 10_000: [30.0]}, False, id="more"),
    ],
)
def test_growth(series, seconds, met):
    raw = {1000: [0.5], 10_000: [10.0]}
    made = growth.Figures(1, {series: {"kit": seconds, "raw": raw}})
    assert [each.is_met for each in verdict.of_growth(made)] == [met]


@pytest.mark.parametrize(("largest_s", "met"), [(50.0, True), (80.0, False)])
def test_growth_is_judged_from_each_size_up_to_a_tenth_of_the_largest(largest_s, met):
    times = {1000: [0.1], 100_000: [0.2], 1_000_000: [1.0]}
    times |= {4_000_000: [20.0], 10_000_000: [largest_s]}
    raw = {1000: [0.1], 100_000: [0.1], 1_000_000: [1.0], 4_000_000: [4.0], 10_000_000: [10.0]}
    made = growth.Figures(1, {"bytes of an upload": {"kit": times, "raw": raw}})
    name = "bytes of an upload: growth from {} to {}, Kit's / raw's".format
    assert [(each.name, each.is_met) for each in verdict.of_growth(made)] == [
        (name("1,000,000", "10,000,000"), False),
        (name("4,000,000", "10,000,000"), met),
        (name("100,000", "1,000,000"), True),
    ]


@pytest.mark.parametrize(("own_s", "met"), [(2.0, True), (4.0, False)])
def test_uploads_on_disk_are_compared_with_those_who_write_there_too(own_s, met):
    seconds = {
        "kit": {4_000_000: [own_s]},
        "starlette": {4_000_000: [5.0]},
        "litestar": {4_000_000: [3.0]},
        "falcon": {4_000_000: [1.0]},
    }
    (found,) = verdict.of_growth(growth.Figures(1, {"bytes of an upload": seconds}))
    assert found.is_met is met


@pytest.mark.parametrize(("grown", "met"), [(900_000, True), (1_000_000, False)])
def test_the_growth_of_memory_is_that_of_all_kinds_together(grown, met):
    made = memory.Figures(100_000, {"text": {"kit": 1_000_000}, "json": {"kit": grown}})
    (found,) = verdict.of_memory(made)
    assert found.is_met is met


def test_a_run_prints_tables_and_writes_figures(tmp_path, capsys):
    path = tmp_path / "figures.json"
    arguments = ["in-process", "--rows", "text", "--peers", "raw", "kit", "--quick"]
    assert main([*arguments, "--rounds", "1", "--json", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "## in-process" in printed
    assert "text: Kit / raw" in printed
    assert '"text: Kit / raw"' in path.read_text()


def test_an_unknown_section_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["in_process"])
    assert "no section 'in_process': there are in-process, served," in capsys.readouterr().err


def test_a_peer_whose_process_ends_is_left_out(monkeypatch):
    ask = Worker.ask

    def ask_once(self, do, limit_s=120, **arguments):
        if do == "time" and self.name == "raw":
            self.kill()
        return ask(self, do, limit_s, **arguments)

    monkeypatch.setattr(Worker, "ask", ask_once)
    measured = in_process.measure(["raw", "kit"], ["text", "json"], 2, 0.001)
    assert {row: list(by_name) for row, by_name in measured.seconds.items()} == {
        "text": ["kit"],
        "json": ["kit"],
    }
    assert [len(by_name["kit"]) for by_name in measured.seconds.values()] == [2, 2]
    assert [line.split(":")[0] for line in measured.left_out] == ["text", "json"]
    assert "raw: the process is gone" in measured.left_out[0]


def test_a_worker_that_does_not_answer_in_time_is_ended():
    worker = Worker("raw")
    try:
        with pytest.raises(WorkerError, match="raw: verify took more than 0 s"):
            worker.ask("verify", 0, row="text")
        assert not worker.is_alive
    finally:
        worker.end()
