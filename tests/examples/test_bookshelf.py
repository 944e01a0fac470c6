# SPDX-License-Identifier: MIT
"""The example, served by uvicorn and driven as its users would."""

from __future__ import annotations

import csv
import io
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from workspace import ROOT

# Example apps are served by one interpreter; what differs between them shows in smaller tests.
pytestmark = pytest.mark.once

FOLDER = ROOT / "examples" / "bookshelf"
TOKEN = {"authorization": "Bearer t0ken"}
DUNE = {"title": "Dune", "author": "Frank Herbert", "year": 1965, "isbn": "978-0-441-01359-3"}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40


@pytest.fixture
def shelf(serve: Any, client: Any, database: Path) -> Callable[[], tuple[Any, httpx.Client]]:
    """Serves the shelf, each time on the same database."""

    def start() -> tuple[Any, httpx.Client]:
        settings = {"BOOKSHELF_DB": str(database), "BOOKSHELF_TOKEN": "t0ken"}
        served = serve(FOLDER, "app:app", **settings)
        return served, client(served)

    return start


@pytest.fixture
def api(shared_shelf: Any, client: Any) -> httpx.Client:
    http: httpx.Client = client(shared_shelf)
    return http


def message(response: httpx.Response) -> tuple[int, str]:
    """Status and text of an error, which has to be JSON of one shape."""
    body = response.json()
    assert body == {"error": {"status": response.status_code, "message": body["error"]["message"]}}
    return response.status_code, body["error"]["message"]


def test_create_read_update_delete(api: httpx.Client) -> None:
    created = api.post("/api/books", json=DUNE, headers=TOKEN)
    book = {**DUNE, "id": 1, "isbn": "9780441013593"}
    assert (created.status_code, created.json()) == (201, book)
    assert created.headers["location"] == "/api/books/1"
    assert api.get(created.headers["location"]).json() == book
    changed = {"title": "Dune Messiah", "author": "Frank Herbert", "year": 1969, "isbn": None}
    updated = api.put("/api/books/1", json=changed, headers=TOKEN)
    assert (updated.status_code, updated.json()) == (200, {"id": 1, **changed})
    assert api.get("/api/books/1").json() == {"id": 1, **changed}
    deleted = api.delete("/api/books/1", headers=TOKEN)
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert message(api.get("/api/books/1")) == (404, "There is no book 1")
    for method, more in (("PUT", {"json": changed}), ("DELETE", {})):
        gone = api.request(method, "/api/books/1", headers=TOKEN, **more)
        assert message(gone) == (404, "There is no book 1")


def test_list_is_paged_and_searched(api: httpx.Client) -> None:
    for number in range(1, 26):
        book = {"title": f"Book {number}", "author": "50% of A_B" if number % 2 else "C"}
        assert api.post("/api/books", json=book, headers=TOKEN).status_code == 201
    first = api.get("/api/books").json()
    assert (first["page"], first["size"], first["total"]) == (1, 20, 25)
    assert [b["id"] for b in first["items"]] == list(range(1, 21))
    third = api.get("/api/books", params={"page": 3, "size": 10}).json()
    assert [b["title"] for b in third["items"]] == [f"Book {n}" for n in range(21, 26)]
    assert api.get("/api/books", params={"page": 99}).json()["items"] == []
    assert api.get("/api/books", params={"q": "book 2"}).json()["total"] == 7
    # What is a wildcard in SQL is a character in a search.
    assert api.get("/api/books", params={"q": "50%"}).json()["total"] == 13
    assert api.get("/api/books", params={"q": "A_B"}).json()["total"] == 13
    assert api.get("/api/books", params={"q": "%"}).json()["total"] == 13
    assert api.get("/api/books", params={"q": "_ook"}).json()["total"] == 0


@pytest.mark.parametrize(
    ("query", "name"),
    [
        pytest.param("page=abc", "page", id="no number"),
        pytest.param("page=0", "page", id="zero"),
        pytest.param("page=-1", "page", id="negative"),
        pytest.param("page=", "page", id="empty"),
        pytest.param("size=101", "size", id="too many"),
        pytest.param("size=1.5", "size", id="a fraction"),
        pytest.param("page=%D9%A1", "page", id="a digit that is not ASCII"),
        pytest.param("page=" + "9" * 5000, "page", id="very long"),
    ],
)
def test_bad_query(query: str, name: str, api: httpx.Client) -> None:
    status, text = message(api.get("/api/books?" + query))
    assert status == 400
    assert text.startswith(f"The query is invalid: {name}: ")
    assert len(text) < 200


@pytest.mark.parametrize(
    ("content", "status", "text"),
    [
        pytest.param(
            b'{"title":', 400, "is invalid: Input data was truncated (byte 9)", id="cut short"
        ),
        pytest.param(b"", 400, "is invalid: Input data was truncated (byte 0)", id="empty"),
        pytest.param(
            b"\xff\xfe", 400, "is invalid: JSON is malformed: invalid character", id="no UTF-8"
        ),
        pytest.param(b'{"x":' + b"[" * 200_000, 400, "it is nested too deeply", id="deep"),
        pytest.param(b"[]", 400, "Expected `object`, got `array`", id="a list"),
        pytest.param(b"{}", 400, "invalid: title: Missing required field", id="no title"),
        pytest.param(b'{"title": 5}', 400, "title: Expected `str`, got `int`", id="type"),
        pytest.param(b'{"title": " "}', 400, "The title must not be blank", id="blank title"),
        pytest.param(
            b'{"title": "%s"}' % (b"x" * 301),
            400,
            "title: Expected `str` of length <= 300",
            id="long title",
        ),
        pytest.param(
            b'{"title": "a", "year": 10000}', 400, "year: Expected `int` <= 9999", id="year"
        ),
        pytest.param(
            b'{"title": "a", "isbn": "12"}', 400, "must have 10 or 13 digits, not '12'", id="isbn"
        ),
    ],
)
def test_bad_book(content: bytes, status: int, text: str, api: httpx.Client) -> None:
    headers = {**TOKEN, "content-type": "application/json"}
    got = message(api.post("/api/books", content=content, headers=headers))
    assert got[0] == status
    assert text in got[1]
    assert api.get("/api/books").json()["total"] == 0


def test_wrong_content_type(api: httpx.Client) -> None:
    for given in ("text/plain", "application/x-www-form-urlencoded"):
        sent = api.post("/api/books", content=b"{}", headers={**TOKEN, "content-type": given})
        expected = f"Content-Type is {given!r}, expected application/json"
        assert message(sent)[0] == 415
        assert expected in message(sent)[1]
    cover = api.put(
        "/api/books/1/cover", content=b"x", headers={**TOKEN, "content-type": "image/png"}
    )
    assert message(cover)[0] == 415


def test_duplicate_isbn(api: httpx.Client) -> None:
    assert api.post("/api/books", json=DUNE, headers=TOKEN).status_code == 201
    again = {"title": "Other", "isbn": "9780441013593"}
    expected = (409, "There is a book with this ISBN already")
    assert message(api.post("/api/books", json=again, headers=TOKEN)) == expected
    assert api.post("/api/books", json={"title": "Third"}, headers=TOKEN).status_code == 201
    assert message(api.put("/api/books/2", json=again, headers=TOKEN)) == expected
    assert api.get("/api/books").json()["total"] == 2


@pytest.mark.parametrize(
    ("headers", "status", "challenge"),
    [
        pytest.param({}, 401, 'Bearer realm="bookshelf"', id="none"),
        pytest.param(
            {"authorization": "Basic x"}, 400, 'Bearer error="invalid_request"', id="basic"
        ),
        pytest.param(
            {"authorization": "Bearer no"}, 401, 'Bearer error="invalid_token"', id="wrong"
        ),
    ],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/books"),
        ("PUT", "/api/books/1"),
        ("DELETE", "/api/books/1"),
        ("PUT", "/api/books/1/cover"),
    ],
)
def test_writing_needs_the_token(
    method: str, path: str, headers: Any, status: int, challenge: str, api: httpx.Client
) -> None:
    refused = api.request(method, path, headers=headers)
    assert message(refused)[0] == status
    assert refused.headers["www-authenticate"] == challenge


def test_cover_comes_back_byte_for_byte(api: httpx.Client) -> None:
    api.post("/api/books", json=DUNE, headers=TOKEN)
    assert message(api.get("/api/books/1/cover")) == (404, "There is no cover of a book 1")
    large = PNG * 400  # beyond what is kept in memory while it is received
    for kind, data in (("image/png", PNG), ("image/webp", large), ("image/jpeg", b"")):
        files = {"cover": ("c.png", data, kind)}
        assert api.put("/api/books/1/cover", files=files, headers=TOKEN).status_code == 204
        got = api.get("/api/books/1/cover")
        assert (got.headers["content-type"], got.content == data) == (kind, True)
        assert got.headers["x-content-type-options"] == "nosniff"
    assert api.post("/api/books/1/cover", files=files, headers=TOKEN).status_code == 204
    assert message(api.put("/api/books/9/cover", files=files, headers=TOKEN))[0] == 404


def test_bad_cover(api: httpx.Client) -> None:
    api.post("/api/books", json=DUNE, headers=TOKEN)

    def put(**more: Any) -> tuple[int, str]:
        return message(api.put("/api/books/1/cover", headers=TOKEN, **more))

    html = {"cover": ("c.html", b"<script>", "text/html")}
    expected = "A cover is one of image/png, image/jpeg, image/gif, image/webp, not text/html"
    assert put(files=html) == (415, expected)
    other = {"other": ("c.png", PNG, "image/png")}
    assert put(files=other) == (400, "The form is invalid: cover: Missing required field")
    assert put(files={"cover": (None, "text")}) == (
        400,
        "The form is invalid: cover: Expected `File`",
    )
    most = 5 * 1024 * 1024
    assert put(files={"cover": ("c.png", b"x" * (most + 1), "image/png")})[0] == 413
    assert put(files={"cover": ("c.png", b"x" * (most * 2), "image/png")})[0] == 413
    assert put(json={})[0] == 415
    assert api.get("/api/books/1/cover").status_code == 404


def test_csv_export(api: httpx.Client) -> None:
    titles = ["Plain", 'Quotes "and", commas', "Line\nbreak", "=1+1", "é あ 😀"]
    for title in titles:
        api.post("/api/books", json={"title": title, "author": "-x"}, headers=TOKEN)
    export = api.get("/api/books.csv")
    assert export.headers["content-type"] == "text/csv; charset=UTF-8"
    rows = list(csv.reader(io.StringIO(export.text, newline="")))
    assert rows[0] == ["id", "title", "author", "year", "isbn"]
    assert [row[1] for row in rows[1:]] == [t.replace("=1", "'=1") for t in titles]
    assert {row[2] for row in rows[1:]} == {"'-x"}


def test_documentation_is_served(api: httpx.Client) -> None:
    assert "/docs" in api.get("/").text
    assert api.get("/docs").headers["content-type"].startswith("text/html")
    document = api.get("/openapi.json").json()
    assert document["info"]["title"] == "Bookshelf"
    books = "/api/books"
    assert [*document["paths"]] == [
        books,
        f"{books}.csv",
        f"{books}/{{id}}",
        f"{books}/{{id}}/cover",
    ]


def test_page_shows_and_adds(api: httpx.Client) -> None:
    page = api.get("/")
    assert page.headers["content-type"] == "text/html; charset=UTF-8"
    assert '<form action="/books" method="post">' in page.text
    book = {"title": "<b>Bold</b> & co", "author": "", "year": "1999", "isbn": "0-306-40615-2"}
    added = api.post("/books", data={**book, "token": "t0ken"})
    assert (added.status_code, added.headers["location"]) == (303, "/")
    page = api.get("/")
    assert "&lt;b&gt;Bold&lt;/b&gt; &amp; co" in page.text
    assert "<b>Bold" not in page.text
    assert api.get("/api/books/1").json() == {
        "id": 1,
        "title": "<b>Bold</b> & co",
        "author": None,
        "year": 1999,
        "isbn": "0306406152",
    }
    wrong = [
        ({**book, "token": "no"}, 401, "That is not the token."),
        ({**book}, 401, "That is not the token."),
        ({**book, "token": "t0ken"}, 409, "There is a book with this ISBN already."),
        ({"title": "", "token": "t0ken"}, 400, "The title must not be blank"),
        ({"title": "a", "year": "x", "token": "t0ken"}, 400, "The year must be a whole number"),
    ]
    for fields, status, text in wrong:
        shown = api.post("/books", data=fields)
        assert (shown.status_code, text in shown.text) == (status, True)
        assert "t0ken" not in shown.text
    assert 'value="&lt;b&gt;Bold' in api.post("/books", data={**book, "token": "no"}).text
    assert api.get("/api/books").json()["total"] == 1


def test_new_shelf_has_books_and_says_its_token(serve: Any, client: Any, database: Path) -> None:
    database.unlink()
    served = serve(FOLDER, "app:app", BOOKSHELF_DB=str(database))
    http = client(served)
    assert "To add and change books, use the token 'bookshelf'." in served.printed()
    assert "The token is <code>bookshelf</code>." in http.get("/").text
    books = http.get("/api/books").json()
    assert (books["total"], books["items"][0]["title"]) == (14, "Pride and Prejudice")
    for book in books["items"]:
        digits = [10 if each == "X" else int(each) for each in book["isbn"]]
        # The check digit of ISBN-13 (EAN), and of ISBN-10.
        by_13 = sum(digits[::2]) + 3 * sum(digits[1::2])
        by_10 = sum(digit * (10 - place) for place, digit in enumerate(digits))
        assert (by_13 % 10 if len(digits) == 13 else by_10 % 11) == 0, book
    token = {"authorization": "Bearer bookshelf"}
    assert http.post("/api/books", json=DUNE, headers=token).status_code == 201
    for book in books["items"]:
        assert http.delete(f"/api/books/{book['id']}", headers=token).status_code == 204
    # What was removed stays away.
    served.stop()
    again = client(serve(FOLDER, "app:app", BOOKSHELF_DB=str(database)))
    assert [book["title"] for book in again.get("/api/books").json()["items"]] == ["Dune"]


def test_token_of_your_own_is_shown_nowhere(shelf: Any) -> None:
    served, http = shelf()
    assert "oken is" not in http.get("/").text
    assert "token" not in served.printed()


def test_paths_that_are_not_there(api: httpx.Client) -> None:
    assert message(api.get("/api/nothing")) == (404, "There is nothing at /api/nothing")
    assert message(api.get("/api/books/abc")) == (404, "There is nothing at /api/books/abc")
    assert message(api.get("/api/books/" + "9" * 30))[0] == 404
    wrong = api.patch("/api/books/1")
    assert message(wrong) == (405, "405 Method Not Allowed")
    assert wrong.headers["allow"] == "DELETE, GET, HEAD, OPTIONS, PUT"
    nothing = api.get("/nothing")
    assert (nothing.status_code, nothing.text) == (404, "There is nothing at /nothing")
    moved = api.get("/api/books/?page=1")
    assert moved.status_code == 301
    assert moved.headers["location"] == "../books?page=1"
    head = api.head("/api/books")
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["content-length"]) == len(api.get("/api/books").content)


def test_nothing_is_lost_when_it_is_killed(shelf: Any) -> None:
    served, http = shelf()
    created = [
        http.post("/api/books", json={"title": f"Book {n}"}, headers=TOKEN) for n in range(50)
    ]
    assert served.stop(signal.SIGKILL) == -signal.SIGKILL
    assert {response.status_code for response in created} == {201}
    served, http = shelf()
    kept = http.get("/api/books", params={"size": 100}).json()["items"]
    assert kept == [response.json() for response in created]
    assert served.stop(signal.SIGINT) in (0, 130, -signal.SIGINT)
    _, http = shelf()
    assert http.get("/api/books").json()["total"] == 50


def raw(port: int, data: bytes, *, hang_up: bool = False) -> bytes:
    """What comes back for some bytes on a socket."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(data)
        if hang_up:
            return b""
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
        return received


def test_bad_input_leaves_the_server_going(shelf: Any) -> None:
    served, http = shelf()
    head = b"POST /api/books HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
    head += b"authorization: Bearer t0ken\r\ncontent-type: application/json\r\n"
    # A body cut short: the client is gone, and nobody is there to be answered.
    raw(served.port, head + b'content-length: 100\r\n\r\n{"title":', hang_up=True)
    assert http.get("/api/books").status_code == 200
    # A header with a line break in it, and one without a colon: no HTTP at all.
    for bad in (b"x-bad: a\nb\r\n", b"no colon\r\n", b"bad name: x\r\n"):
        answer = raw(served.port, head + bad + b"content-length: 2\r\n\r\n{}")
        assert answer.startswith(b"HTTP/1.1 400 "), answer
        assert http.get("/api/books").status_code == 200
    assert http.post("/api/books", json={"title": "still here"}, headers=TOKEN).status_code == 201
    assert served.stop(signal.SIGINT) in (0, 130, -signal.SIGINT)
    assert "Traceback" not in served.printed()
