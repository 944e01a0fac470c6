# SPDX-License-Identifier: MIT
"""The section `techempower`: the checks of answers, and the answers of the apps."""

from __future__ import annotations

import json
from importlib import import_module

import pytest

from benchmarks import postgres, techempower
from benchmarks.__main__ import main
from benchmarks.abreast import Answered
from benchmarks.rows import Answer, Request, WrongAnswerError

pytest.importorskip("asyncpg")
from benchmarks.techempower_apps import NAMES, world


def is_installed(name):
    try:
        import_module(f"benchmarks.techempower_apps.{name}")
    except ImportError:  # the framework, or orjson
        return False
    return True


INSTALLED = tuple(name for name in NAMES if is_installed(name))
ROW_NAMES = ["plaintext", "json", "one query", "twenty queries", "twenty updates", "fortunes"]


class Connection:
    """A connection whose table has each row's id as its number, unless it was updated."""

    def __init__(self):
        self.updated = {}

    async def fetch(self, _):
        numbers = {key: key for key in range(1, 101)} | self.updated
        return [{"id": key, "randomnumber": number} for key, number in numbers.items()]


def answering(*bodies, content_type=b"application/json", status=200, before=None):
    left = list(bodies)

    async def ask():
        if before is not None:
            before()
        body = left.pop(0) if len(left) > 1 else left[0]
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return Answered(Request(b"/", Answer()), status, {b"content-type": content_type}, raw)

    return ask


def rows_of(*keys, number=None):
    return [{"id": key, "randomNumber": key if number is None else number} for key in keys]


def page(*cells, head=("id", "message")):
    rows = "".join(f"<tr><td>{a}</td><td>{b}</td></tr>" for a, b in cells)
    return f"<table><tr><th>{head[0]}</th><th>{head[1]}</th></tr>{rows}</table>".encode()


RIGHT = page(
    *(
        (key, text.replace("&", "&amp;").replace("<", "&lt;"))
        for text, key in sorted(
            [(world.ADDED, 0), *((text, key) for key, text in enumerate(world.FORTUNES, 1))]
        )
    )
)
HTML = b"text/html; charset=utf-8"


@pytest.mark.parametrize(
    ("judged", "ask"),
    [
        ("plaintext", answering(b"Hello, World", content_type=b"text/plain")),
        ("plaintext", answering(b"Hello, World!", content_type=b"text/html")),
        ("plaintext", answering(b"Hello, World!", content_type=b"text/plain", status=500)),
        ("as_json", answering({"message": "Hello"})),
        ("one", answering({"id": 5, "randomNumber": 6})),
        ("one", answering({"id": 5})),
        ("one", answering({"id": 5, "randomNumber": 5})),
        ("many", answering(rows_of(*range(1, 20)))),
        ("many", answering(rows_of(*[1] * 20))),
        ("many", answering(rows_of(*range(1, 20), 500))),
        ("updates", answering(rows_of(*range(1, 21)))),
        ("updates", answering(rows_of(*range(1, 21), number=7))),
        ("fortunes", answering(page((0, world.ADDED)), content_type=HTML)),
        ("fortunes", answering(RIGHT.replace(b"&lt;", b"<"), content_type=HTML)),
        ("fortunes", answering(RIGHT, content_type=b"text/html")),
    ],
)
async def test_a_wrong_answer_is_refused(judged, ask):
    judge = techempower.Judge(Connection())
    with pytest.raises((WrongAnswerError, KeyError)):
        await getattr(judge, judged)(ask)


async def test_right_answers_pass():
    connection = Connection()
    judge = techempower.Judge(connection)
    await judge.plaintext(answering(b"Hello, World!", content_type=b"text/plain; charset=utf-8"))
    await judge.one(answering(*rows_of(1, 2, 3)))
    await judge.many(answering(rows_of(*range(1, 21))))
    await judge.fortunes(answering(RIGHT, content_type=HTML))

    def update():
        connection.updated.update(dict.fromkeys(range(1, 21), 99))

    await judge.updates(answering(rows_of(*range(1, 21), number=99), before=update))


@pytest.mark.once
def test_every_app_answers_right():
    figures = techempower.measure(0, 0, INSTALLED)
    if not figures.seconds:
        pytest.skip(figures.left_out[0])
    assert figures.left_out == []
    assert {row: tuple(by_name) for row, by_name in figures.seconds.items()} == dict.fromkeys(
        ROW_NAMES, INSTALLED
    )


def test_without_postgresql_nothing_is_measured(monkeypatch, capsys):
    def no_server():
        raise postgres.NoPostgresError("there is no PostgreSQL")

    monkeypatch.setattr(postgres, "started", no_server)
    assert main(["techempower", "--check"]) == 1
    assert "techempower: there is no PostgreSQL" in capsys.readouterr().out


def test_sections_that_have_no_check_are_refused(capsys):
    with pytest.raises(SystemExit):
        main(["start", "--check"])
    assert (
        "no section 'start': there are in-process, techempower, conduit" in capsys.readouterr().err
    )
