# SPDX-License-Identifier: MIT
"""The example in rough handling: clients that leave, race or lie, and a server that is killed."""

from __future__ import annotations

import asyncio
import signal
import socket
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from workspace import ROOT

# Example apps are served by one interpreter; what differs between them shows in smaller tests.
pytestmark = pytest.mark.once

FOLDER = ROOT / "examples" / "bookshelf"
TOKEN = {"authorization": "Bearer t0ken"}
WAIT_S = 20.0


@pytest.fixture
def served(serve: Any, database: Path) -> Any:
    return serve(FOLDER, "app:app", **settings(database))


def settings(database: Path) -> dict[str, str]:
    return {"BOOKSHELF_DB": str(database), "BOOKSHELF_TOKEN": "t0ken"}


@pytest.fixture
def http(served: Any, client: Any) -> httpx.Client:
    opened: httpx.Client = client(served)
    return opened


@pytest.fixture
def shared(shared_shelf: Any, client: Any) -> httpx.Client:
    """A client of the shelf that the tests which leave it running share."""
    opened: httpx.Client = client(shared_shelf)
    return opened


def fill(database: Path, count: int) -> None:
    with sqlite3.connect(database) as connection:
        rows = ((f"Book {number}",) for number in range(1, count + 1))
        connection.executemany("INSERT INTO books (title) VALUES (?)", rows)
    connection.close()


def eventually(holds: Callable[[], bool]) -> bool:
    """Waits for what happens in another process; says whether it did."""
    end = time.monotonic() + WAIT_S
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


@pytest.mark.parametrize("length", [201, 50_001, 60_000])
def test_search_text_is_limited(length: int, shared: httpx.Client) -> None:
    text = "The query is invalid: q: Expected `str` of length <= 200"
    answer = shared.get("/api/books?q=" + "x" * length)
    assert answer.status_code == 400
    assert answer.json() == {"error": {"status": 400, "message": text}}
    assert shared.get("/api/books?q=" + "x" * 200).json()["total"] == 0


def test_errors_of_the_page_are_text(shared: httpx.Client) -> None:
    wrong_page = shared.get("/?page=abc")
    assert wrong_page.status_code == 400
    assert wrong_page.text == "The query is invalid: page: Expected `int`"
    too_long = shared.post("/books", data={"title": "x" * 2_000_000})
    assert (too_long.status_code, too_long.text) == (
        413,
        "The form field 'title' is longer than 1048576 bytes",
    )
    too_large = shared.post("/books", data={"title": "x" * 6_000_000})
    assert (too_large.status_code, too_large.text) == (
        413,
        "The body is larger than 5306880 bytes",
    )
    for answer in (wrong_page, too_long, too_large, shared.get("/nothing")):
        assert answer.headers["content-type"] == "text/plain; charset=UTF-8"
    for path in ("/api", "/api/nothing"):
        assert shared.get(path).json()["error"]["status"] == 404


@pytest.mark.parametrize(
    "year",
    [
        pytest.param("1_999", id="an underscore"),
        pytest.param("+1999", id="a plus"),
        pytest.param("١٩٩٩", id="digits that are not ASCII"),
        pytest.param("19.5", id="a fraction"),
        pytest.param("9" * 6000, id="very long"),
    ],
)
def test_bad_year_in_the_form(year: str, shared: httpx.Client) -> None:
    shown = shared.post("/books", data={"token": "t0ken", "title": "a", "year": year})
    assert shown.status_code == 400
    message = shown.text.partition('role="alert">')[2].partition("<")[0]
    assert message.startswith("The year must be a whole number, not ")
    assert len(message) < 100
    assert shared.get("/api/books").json()["total"] == 0


def test_year_before_our_era_in_the_form(shared: httpx.Client) -> None:
    fields = {"token": "t0ken", "title": "Iliad", "year": " -750 "}
    assert shared.post("/books", data=fields).status_code == 303
    assert shared.get("/api/books/1").json()["year"] == -750


async def test_one_of_many_gets_the_isbn(shared_shelf: Any) -> None:
    async with httpx.AsyncClient(base_url=shared_shelf.url, headers=TOKEN, timeout=30) as client:
        book = {"title": "Dune", "isbn": "9780441013593"}
        answers = await asyncio.gather(*(client.post("/api/books", json=book) for _ in range(16)))
        assert sorted(answer.status_code for answer in answers) == [201, *[409] * 15]
        assert (await client.get("/api/books")).json()["total"] == 1


async def test_killed_between_writes_nothing_answered_is_lost(serve: Any, database: Path) -> None:
    served = serve(FOLDER, "app:app", **settings(database))
    created: dict[int, str] = {}
    enough = asyncio.Event()

    async def create(writer: int) -> None:
        async with httpx.AsyncClient(base_url=served.url, headers=TOKEN, timeout=30) as client:
            for number in range(100_000):
                title = f"Book {writer}-{number}"
                try:
                    answer = await client.post("/api/books", json={"title": title})
                except httpx.TransportError:
                    return
                assert answer.status_code == 201
                created[answer.json()["id"]] = title
                if len(created) >= 300:
                    enough.set()

    writers = asyncio.gather(*(create(writer) for writer in range(16)))
    await asyncio.wait_for(enough.wait(), WAIT_S)
    served.stop(signal.SIGKILL)
    await writers
    assert len(created) >= 300
    again = serve(FOLDER, "app:app", **settings(database))
    async with httpx.AsyncClient(base_url=again.url, timeout=30) as client:
        total = (await client.get("/api/books")).json()["total"]
        kept: dict[int, str] = {}
        for page in range(1, total // 100 + 2):
            items = (await client.get(f"/api/books?size=100&page={page}")).json()["items"]
            kept.update((book["id"], book["title"]) for book in items)
    assert len(kept) == len(set(kept.values())) == total
    assert created.items() <= kept.items()


def test_sigint_closes_the_database(served: Any, http: httpx.Client, database: Path) -> None:
    assert http.post("/api/books", json={"title": "a"}, headers=TOKEN).status_code == 201
    log = database.with_name(database.name + "-wal")
    assert log.exists()
    http.close()
    served.stop(signal.SIGINT)
    # SQLite removes the log when the last connection is closed in order, and only then.
    assert not log.exists()


def test_clients_that_leave_an_export_leave_no_connection(
    served: Any, http: httpx.Client, database: Path
) -> None:
    tasks = Path(f"/proc/{served.pid}/task")
    if not tasks.exists():
        pytest.skip("the threads of a process are counted in /proc")
    fill(database, 100_000)
    # Each connection of aiosqlite is a thread.
    assert http.get("/api/books").status_code == 200
    before = len(list(tasks.iterdir()))
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", served.port), timeout=WAIT_S) as left:
            left.sendall(b"GET /api/books.csv HTTP/1.1\r\nhost: x\r\n\r\n")
            assert left.recv(100).startswith(b"HTTP/1.1 200 ")
    assert http.get("/api/books").status_code == 200
    assert eventually(lambda: len(list(tasks.iterdir())) <= before)
    assert served.stop(signal.SIGINT) in (0, 130, -signal.SIGINT)
    assert "Traceback" not in served.printed()


async def test_closing_an_export_closes_its_connection_at_once(
    example: ModuleType, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = sys.modules["store"]
    connect = store.connect
    seen: list[str] = []

    @asynccontextmanager
    async def counted(file: Path) -> AsyncIterator[Any]:
        try:
            async with connect(file) as connection:
                seen.append("opened")
                yield connection
        finally:
            seen.append("closed")

    async with store.open_store(database) as shelf:
        fill(database, 10_000)
        monkeypatch.setattr(store, "connect", counted)
        lines = example.csv_lines(shelf)
        assert await anext(lines) == "id,title,author,year,isbn\r\n"
        assert seen == []
        await anext(lines)
        assert seen == ["opened"]
        await lines.aclose()
        # Not whenever the garbage is collected.
        assert seen == ["opened", "closed"]


def talk(port: int, data: bytes, *, then_no_more: bool = False) -> bytes:
    """What comes back for some bytes on a socket."""
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as connection:
        connection.sendall(data)
        if then_no_more:
            connection.shutdown(socket.SHUT_WR)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
        return received


HEAD = (
    b"POST /api/books HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
    b"authorization: Bearer t0ken\r\ncontent-type: application/json\r\n"
)


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(b"x-bad: a\nb\r\n", id="a line feed"),
        pytest.param(b"x-bad: a\rb\r\n", id="a carriage return"),
        pytest.param(b"x-bad: a\x00b\r\n", id="NUL"),
        pytest.param(b"content-length: x\r\n", id="a length that is no number"),
    ],
)
def test_malformed_header(header: bytes, shared_shelf: Any, shared: httpx.Client) -> None:
    answer = talk(shared_shelf.port, HEAD + header + b"content-length: 2\r\n\r\n{}")
    assert answer.startswith(b"HTTP/1.1 400 "), answer
    assert shared.get("/api/books").json()["total"] == 0


def test_folded_header(shared_shelf: Any, shared: httpx.Client) -> None:
    # RFC 9112, 5.2: a server refuses a folded line, or takes the fold for blanks.
    body = b'{"title": "a"}'
    folded = b"x-folded: a\r\n b: c\r\ncontent-length: %d\r\n\r\n" % len(body)
    answer = talk(shared_shelf.port, HEAD + folded + body)
    assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 201 ")), answer
    created = answer.startswith(b"HTTP/1.1 201 ")
    assert shared.get("/api/books").json()["total"] == int(created)


def test_body_cut_short_makes_no_book(served: Any, http: httpx.Client) -> None:
    cut = HEAD + b'content-length: 100\r\n\r\n{"title": "a"}'
    answer = talk(served.port, cut, then_no_more=True)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 "), answer
    assert http.get("/api/books").json()["total"] == 0
    assert served.stop(signal.SIGINT) in (0, 130, -signal.SIGINT)
    assert "Traceback" not in served.printed()
