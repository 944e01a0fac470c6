# SPDX-License-Identifier: MIT
"""The example under load: many writers at once, and a shelf of a million books."""

from __future__ import annotations

import asyncio
import signal
import socket
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from workspace import ROOT

FOLDER = ROOT / "examples" / "bookshelf"
TOKEN = {"authorization": "Bearer bookshelf"}
pytestmark = pytest.mark.slow


def fill(database: Path, count: int) -> None:
    """Puts books into a database that the app has made."""
    with sqlite3.connect(database) as connection:
        rows = ((f"Book {number}", f"Author {number % 1000}") for number in range(1, count + 1))
        connection.executemany("INSERT INTO books (title, author) VALUES (?, ?)", rows)
    connection.close()


async def create(url: str, numbers: Iterator[int], limits: httpx.Limits) -> list[int]:
    """Creates books one after another on one connection; gives their ids."""
    async with httpx.AsyncClient(base_url=url, headers=TOKEN, limits=limits, timeout=60) as client:
        created = []
        for number in numbers:
            book = {"title": f"Book {number}", "isbn": f"{9780000000000 + number}"}
            response = await client.post("/api/books", json=book)
            assert response.status_code == 201, response.text
            created.append(response.json()["id"])
        return created


async def test_ten_thousand_books_by_sixteen_connections(serve: Any, database: Path) -> None:
    served = serve(FOLDER, "app:app", BOOKSHELF_DB=str(database))
    numbers = iter(range(10_000))
    one = httpx.Limits(max_connections=1)
    created = await asyncio.gather(*(create(served.url, numbers, one) for _ in range(16)))
    ids = [book_id for each in created for book_id in each]
    assert len(set(ids)) == len(ids) == 10_000
    assert all(each for each in created)
    # What was answered is there after a kill, once each.
    served.stop(signal.SIGKILL)
    again = serve(FOLDER, "app:app", BOOKSHELF_DB=str(database))
    seen: Counter[str] = Counter()
    async with httpx.AsyncClient(base_url=again.url, timeout=60) as client:
        for page in range(1, 101):
            answer = (await client.get(f"/api/books?size=100&page={page}")).json()
            assert answer["total"] == 10_000
            seen.update(book["title"] for book in answer["items"])
    assert seen == Counter({f"Book {number}": 1 for number in range(10_000)})


def test_export_of_a_million_books_to_a_slow_reader(serve: Any, database: Path) -> None:
    served = serve(FOLDER, "app:app", BOOKSHELF_DB=str(database))
    assert httpx.get(served.url + "/api/books.csv").text == "id,title,author,year,isbn\r\n"
    fill(database, 1_000_000)
    before = served.memory_bytes()
    most = before
    received = bytearray()
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
        connection.sendall(b"GET /api/books.csv HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        reads = 0
        while chunk := connection.recv(256 * 1024):
            received += chunk
            reads += 1
            # The reader rests now and then; meanwhile the server has to wait, not to fill up.
            if reads % 100 == 1 and reads < 2000:
                time.sleep(0.1)
                most = max(most, served.memory_bytes())
    most = max(most, served.memory_bytes())
    assert most - before < 20 * 1024 * 1024
    lines = bytes(received).split(b"\r\n")
    numbers = [line.split(b",")[0] for line in lines if b",Book " in line]
    assert numbers == [b"%d" % number for number in range(1, 1_000_001)]
    assert httpx.get(served.url + "/api/books/1000000").json()["title"] == "Book 1000000"


def test_others_are_answered_during_an_export(serve: Any, database: Path) -> None:
    served = serve(FOLDER, "app:app", BOOKSHELF_DB=str(database))
    fill(database, 50_000)
    with httpx.Client(base_url=served.url, headers=TOKEN, timeout=30) as client:
        for _ in range(5):
            with client.stream("GET", "/api/books.csv") as export:
                lines = export.iter_lines()
                assert next(lines) == "id,title,author,year,isbn"
                assert client.get("/api/books/50000").status_code == 200
                assert client.post("/api/books", json={"title": "More"}).status_code == 201
                next(lines)
            # Left in the middle: the server goes on, and its connection to the database is closed.
        assert client.get("/api/books").json()["total"] == 50_005
    assert served.stop(signal.SIGINT) in (0, 130, -signal.SIGINT)
    assert "Traceback" not in served.printed()


async def test_first_bytes_leave_before_the_last_row_is_read(
    example: ModuleType, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    rows_of = example.Store.rows

    async def counted(self: Any) -> Any:
        async for rows in rows_of(self):
            read.append(len(rows))
            yield rows

    monkeypatch.setattr(example.Store, "rows", counted)
    async with example.app.running():
        fill(database, 10_000)
        response = await example.app.request("/api/books.csv")
        body = response.body
        assert await anext(body) == b"id,title,author,year,isbn\r\n"
        assert sum(read) == 0
        first = await anext(body)
        assert first.startswith(b"1,Book 1,Author 1,,\r\n")
        assert 0 < sum(read) < 1000
        rest = [chunk async for chunk in body]
        assert sum(read) == 10_000
        assert len(rest) == len(read) - 1
        assert max(read) == min(read[:-1]) == 200
