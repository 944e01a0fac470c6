# SPDX-License-Identifier: MIT
"""The tests of TechEmpower's benchmarks: texts, JSON, queries, updates and pages, on PostgreSQL.

Each run creates the tables on a new server. Before anything is timed, every answer is compared with
them.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from html.parser import HTMLParser
from importlib import import_module
from typing import Any

from . import abreast, postgres
from .abreast import Answered, Case, Figures
from .rows import Answer, Request, Row, WrongAnswerError, lines
from .techempower_apps import NAMES

Ask = Callable[[], Awaitable[Answered]]


def measure(rounds: int, slot_s: float, names: tuple[str, ...] = NAMES) -> Figures:
    """Starts PostgreSQL, fills it, and times the apps.

    Args:
        rounds: The number of turns of each app in each row.
        slot_s: The approximate length of a turn, in seconds of processor time.
        names: The frameworks.
    """
    loop = abreast.event_loop()
    try:
        with postgres.started() as url:
            return loop.run_until_complete(_measure(url, rounds, slot_s, names))
    except postgres.NoPostgresError as error:
        return Figures(rounds, {}, [str(error)])
    finally:
        loop.close()


async def _measure(url: str, rounds: int, slot_s: float, names: tuple[str, ...]) -> Figures:
    import asyncpg

    from .techempower_apps import world

    await world.fill(url)
    apps: dict[str, Any] = {}
    left_out = []
    for name in names:
        try:
            apps[name] = import_module(f"{world.__package__}.{name}").make(url)
        except ImportError as error:
            left_out.append(f"{name}: {error}")
    connection = await asyncpg.connect(url)
    try:
        figures = await abreast.measure(apps, cases(Judge(connection)), rounds, slot_s)
    finally:
        await connection.close()
    figures.left_out[:0] = left_out
    return figures


class Judge:
    """Checks answers against the tables.

    Args:
        connection: A separate connection.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def plaintext(self, ask: Ask) -> None:
        answered = await ask()
        _check_head(answered, b"text/plain")
        _check(answered, answered.body == b"Hello, World!", "the text")

    async def as_json(self, ask: Ask) -> None:
        _check_equal(_parsed(await ask()), {"message": "Hello, World!"})

    async def one(self, ask: Ask) -> None:
        seen = [_parsed(await ask()) for _ in range(3)]
        self._check_rows(seen, await self._numbers())
        if len({each["id"] for each in seen}) == 1:
            raise WrongAnswerError(f"the rows are not random: {seen}")

    async def many(self, ask: Ask) -> None:
        found = _parsed(await ask())
        self._check_rows(found, await self._numbers(), 20)

    async def updates(self, ask: Ask) -> None:
        before = await self._numbers()
        found = _parsed(await ask())
        after = await self._numbers()
        self._check_rows(found, after, 20)
        changed = {key for key, number in after.items() if number != before[key]}
        if not changed or not changed <= {each["id"] for each in found}:
            raise WrongAnswerError(f"updated {sorted(changed)}, answered {found}")

    async def fortunes(self, ask: Ask) -> None:
        from .techempower_apps import world

        answered = await ask()
        _check_head(answered, b"text/html; charset=utf-8")
        rows = [(str(key), text) for key, text in enumerate(world.FORTUNES, 1)]
        rows = sorted([*rows, ("0", world.ADDED)], key=lambda row: row[1])
        page = _Cells()
        page.feed(answered.body.decode())
        _check_equal(page.rows, [("id", "message"), *rows])
        _check(answered, b"<script" not in answered.body, "escaped texts")

    async def _numbers(self) -> dict[int, int]:
        rows = await self._connection.fetch("SELECT id, randomnumber FROM world")
        return {row["id"]: row["randomnumber"] for row in rows}

    def _check_rows(self, found: Any, numbers: dict[int, int], count: int | None = None) -> None:
        right = all(
            each == {"id": each["id"], "randomNumber": numbers[each["id"]]} for each in found
        )
        if not right or (count is not None and len({each["id"] for each in found}) != count):
            raise WrongAnswerError(f"these are not the rows of the table: {found}")


def cases(judge: Judge) -> list[Case]:
    """Returns the rows in the order of the table."""
    return [
        Case(_row("plaintext", b"/plaintext"), judge.plaintext),
        Case(_row("json", b"/json"), judge.as_json),
        Case(_row("one query", b"/db"), judge.one),
        Case(_row("twenty queries", b"/queries"), judge.many),
        Case(_row("twenty updates", b"/updates"), judge.updates),
        Case(_row("fortunes", b"/fortunes"), judge.fortunes),
    ]


def _row(name: str, path: bytes) -> Row:
    request = Request(path, Answer(), lines=lines())
    return Row(name, lambda _: request)


class _Cells(HTMLParser):
    """Collects the texts of the cells of a table, by row."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[tuple[str, ...]] = []
        self._is_cell = False

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "tr":
            self.rows.append(())
        self._is_cell = tag in ("th", "td")
        if self._is_cell:
            self.rows[-1] += ("",)

    def handle_endtag(self, tag: str) -> None:
        self._is_cell = False

    def handle_data(self, data: str) -> None:
        if self._is_cell:
            self.rows[-1] = (*self.rows[-1][:-1], self.rows[-1][-1] + data)


def _parsed(answered: Answered) -> Any:
    _check_head(answered, b"application/json")
    return json.loads(answered.body)


def _check_head(answered: Answered, content_type: bytes) -> None:
    _check(answered, answered.status == 200, "status 200")
    got = answered.headers.get(b"content-type", b"").lower()
    _check(answered, got.startswith(content_type), f"{content_type!r}, got {got!r}")


def _check(answered: Answered, is_right: bool, expected: str) -> None:
    if not is_right:
        raise WrongAnswerError(
            f"{answered.request.path.decode()}: {answered.status} {answered.body!r:.200}, "
            f"expected {expected}"
        )


def _check_equal(got: Any, expected: Any) -> None:
    if got != expected:
        raise WrongAnswerError(f"{got!r:.500}, expected {expected!r:.500}")
