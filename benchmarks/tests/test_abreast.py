# SPDX-License-Identifier: MIT
"""Timing apps of several frameworks in one process: their answers, and the figures."""

from __future__ import annotations

import pytest

from benchmarks import abreast, verdict
from benchmarks.abreast import Case, Figures
from benchmarks.rows import Answer, Request, Row, WrongAnswerError


async def answer(send, body, content_type=b"text/plain", length=None, status=200):
    size = b"%d" % (len(body) if length is None else length)
    headers = [(b"Content-Type", content_type), (b"content-length", size)]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def app_of(body, **options):
    async def app(scope, receive, send):
        if scope["type"] == "http":
            await answer(send, body, **options)

    return app


async def says_hello(ask):
    if (await ask()).body != b"hello":
        raise WrongAnswerError("no hello")


CASE = Case(Row("hello", lambda _: Request(b"/", Answer())), says_hello)


async def test_every_app_has_a_turn_in_each_round():
    apps = {"kit": app_of(b"hello"), "peer": app_of(b"hello")}
    figures = await abreast.measure(apps, [CASE], 4, 0.0001)
    assert {name: len(taken) for name, taken in figures.seconds["hello"].items()} == {
        "kit": 4,
        "peer": 4,
    }
    assert figures.left_out == []


@pytest.mark.parametrize(
    ("app", "said"),
    [
        pytest.param(app_of(b"hullo"), "no hello", id="body"),
        pytest.param(app_of(b"hello", length=4), "content-length", id="length"),
    ],
)
async def test_an_app_that_answers_wrong_is_left_out(app, said):
    figures = await abreast.measure({"kit": app_of(b"hello"), "peer": app}, [CASE], 1, 0.0001)
    assert list(figures.seconds["hello"]) == ["kit"]
    (line,) = figures.left_out
    assert line.startswith("hello, peer: ")
    assert said in line


async def test_an_app_that_begins_to_fail_ends_the_measurement():
    asked = []

    async def failing(scope, receive, send):
        if scope["type"] == "http":
            asked.append(scope)
            await answer(send, b"hello", status=200 if len(asked) < 100 else 500)

    with pytest.raises(WrongAnswerError, match="500 b'hello', expected 200"):
        await abreast.measure({"kit": failing}, [CASE], 1000, 0.0001)


async def test_an_app_that_does_not_start_is_left_out():
    async def failing(scope, receive, send):
        await send({"type": "lifespan.startup.failed", "message": "no database"})

    figures = await abreast.measure({"peer": failing}, [CASE], 1, 0.0001)
    assert figures.seconds == {"hello": {}}
    assert "no database" in figures.left_out[0]


def test_the_fastest_peer_is_found_round_by_round():
    row = {"kit": [1.0, 2.0, 3.0], "slow": [3.0, 6.0, 9.0], "quick": [2.0, 1.0, 6.0]}
    (lead,) = abreast.leads(Figures(3, {"json": row}))
    assert (lead.peer, lead.ratio, lead.low, lead.high) == ("quick", 2, 0.5, 2)
    assert lead.won == pytest.approx(2 / 3)
    assert not lead.is_met


def test_the_interval_of_a_median_gets_smaller_with_more_rounds():
    assert abreast.interval([1.0]) == (1, 1)
    assert abreast.interval(range(100)) == (40, 60)
    assert abreast.interval(range(10_000)) == (4902, 5098)


@pytest.mark.parametrize(("least", "met"), [(1.01, True), (0.9, False)])
def test_kit_is_ahead_if_the_interval_is_above_1(least, met):
    peer = [least] * 60 + [1.2] * 40
    seconds = {"json": {"kit": [1.0] * 100, "peer": peer}}
    (found,) = verdict.of_abreast("TechEmpower", Figures(100, seconds))
    assert found.name == "TechEmpower, json: peer / Kit"
    assert found.is_met is met


def test_tables_have_a_dash_for_what_is_missing():
    seconds = {
        "one": {"kit": [1e-6] * 3, "a": [2e-6] * 3, "b": [3e-6] * 3},
        "two": {"kit": [1e-6] * 3, "b": [2e-6] * 3},
        "three": {},
    }
    medians, fastest = map(str, abreast.tables(Figures(3, seconds)))
    assert "| one | kit, µs" not in medians
    assert "| one |     1.0 | 2.000 | 3.000 |" in medians
    assert "| two |     1.0 |     - | 2.000 |" in medians
    assert "three" not in medians + fastest
    assert "100% |   yes |" in fastest
