# SPDX-License-Identifier: MIT
"""The statements that all apps run with asyncpg, and the tables that they use."""

from __future__ import annotations

from pathlib import Path
from random import randint, sample
from typing import Any, NamedTuple, TypeAlias, TypedDict

import asyncpg

TEXT = "Hello, World!"
ADDED = "Added when somebody asked."
ROWS = 10_000
QUERIES = 20
POOL_SIZE = 4
PAGES = Path(__file__).parent / "pages"
TEMPLATE = "fortunes.html"

FORTUNES = (
    "The fastest query is the one that you don't send.",
    "A cache remembers everything but the reason.",
    "It worked before you measured it.",
    "Every index is a promise to each later insert.",
    "Two hard things: names, limits, and counting from zero.",
    "A queue hides the problem until it is full.",
    "<script>alert('what nobody escaped');</script>",
    "データベースは忘れない。",
    "What is retried is done twice.",
    'Quotes & ampersands: "escaped", if all is well.',
    "Nobody reads the log of a service that is up.",
    "A timeout is an answer as well.",
)

_READ = "SELECT randomnumber FROM world WHERE id = $1"
_WRITE = "UPDATE world SET randomnumber = $1 WHERE id = $2"
_FORTUNES = "SELECT id, message FROM fortune"

Pool: TypeAlias = asyncpg.Pool


class Number(TypedDict):
    """A row of the table `world`, with the names of its JSON."""

    id: int
    randomNumber: int


class Fortune(NamedTuple):
    """A row of the table `fortune`."""

    id: int
    message: str


def open_pool(url: str) -> Any:
    """Returns the pool of an app, as an async context manager."""
    return asyncpg.create_pool(url, min_size=POOL_SIZE, max_size=POOL_SIZE)


async def read_one(pool: Pool) -> Number:
    """Reads a random row."""
    key = randint(1, ROWS)
    async with pool.acquire() as connection:
        return {"id": key, "randomNumber": await connection.fetchval(_READ, key)}


async def read_many(pool: Pool) -> list[Number]:
    """Reads twenty random rows, one after another."""
    keys = sample(range(1, ROWS + 1), QUERIES)
    async with pool.acquire() as connection:
        return [{"id": key, "randomNumber": await connection.fetchval(_READ, key)} for key in keys]


async def update_many(pool: Pool) -> list[Number]:
    """Reads twenty random rows one after another, then gives each a new number."""
    # Sorted by id, so that concurrent requests don't deadlock.
    keys = sorted(sample(range(1, ROWS + 1), QUERIES))
    async with pool.acquire() as connection:
        for key in keys:
            await connection.fetchval(_READ, key)
        written = [(randint(1, ROWS), key) for key in keys]
        await connection.executemany(_WRITE, written)
    return [{"id": key, "randomNumber": number} for number, key in written]


async def read_fortunes(pool: Pool) -> list[Fortune]:
    """Reads all fortunes, adds one, and sorts them by text."""
    async with pool.acquire() as connection:
        rows = await connection.fetch(_FORTUNES)
    fortunes = [Fortune(row["id"], row["message"]) for row in rows]
    fortunes.append(Fortune(0, ADDED))
    fortunes.sort(key=lambda fortune: fortune.message)
    return fortunes


async def fill(url: str) -> None:
    """Creates both tables, with 10,000 numbers and 12 fortunes."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(
            "CREATE TABLE world (id integer PRIMARY KEY, randomnumber integer NOT NULL);"
            "CREATE TABLE fortune (id integer PRIMARY KEY, message text NOT NULL);"
        )
        numbers = [(key, randint(1, ROWS)) for key in range(1, ROWS + 1)]
        await connection.copy_records_to_table("world", records=numbers)
        await connection.copy_records_to_table("fortune", records=list(enumerate(FORTUNES, 1)))
        await connection.execute("ANALYZE")
    finally:
        await connection.close()
