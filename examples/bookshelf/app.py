# SPDX-License-Identifier: MIT
"""A bookshelf: a JSON API and a small page over SQLite.

    kit serve examples/bookshelf

The environment variables BOOKSHELF_DB (the database file) and BOOKSHELF_TOKEN (what a write has
to show) change what stands below.
"""

from __future__ import annotations

import csv
import hmac
import io
import logging
import os
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, TypedDict

import page
from books import book_of_form, book_of_json, number, search_text
from store import COLUMNS, DuplicateISBNError, Store, open_store

from kit import Context, File, HTTPException, Kit, Limits, Response
from kit.bearer_auth import bearer_auth
from kit.logger import logger as access_log
from kit.trailing_slash import trim_trailing_slash

logger = logging.getLogger("bookshelf")
DATABASE = Path(os.environ.get("BOOKSHELF_DB") or Path(__file__).parent / "bookshelf.db")
TOKEN = os.environ.get("BOOKSHELF_TOKEN") or "bookshelf"
COVER_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
MAX_COVER_BYTES = 5 * 1024 * 1024


class Bindings(TypedDict):
    """What `c.env` holds."""

    store: Store


@asynccontextmanager
async def lifespan(app: Kit[Bindings]) -> AsyncIterator[Bindings]:
    async with open_store(DATABASE) as store:
        yield {"store": store}


# A body is never larger than a cover with the form around it.
app = Kit[Bindings](lifespan=lifespan, limits=Limits(max_body_size_bytes=MAX_COVER_BYTES + 64_000))
app.use(access_log())
app.use(trim_trailing_slash())
# Reading is free; every method that writes has to show the token.
app.on(["POST", "PUT", "DELETE"], "/api/*", bearer_auth(token=TOKEN, realm="bookshelf"))


# The API ------------------------------------------------------------------------------------------


@app.get("/api/books")
async def list_books(c: Context[Bindings]) -> Response:
    wanted = number("page", c.req.query("page"), default=1, most=1_000_000)
    size = number("size", c.req.query("size"), default=20, most=100)
    found = await c.env["store"].page(wanted, size, search_text(c.req.query("q")))
    return c.json({"items": found.items, "page": wanted, "size": size, "total": found.total})


@app.get("/api/books.csv")
async def export_books(c: Context[Bindings]) -> Response:
    headers = {
        "content-type": "text/csv; charset=UTF-8",
        "content-disposition": 'attachment; filename="books.csv"',
    }
    return c.body(csv_lines(c.env["store"]), headers=headers)


async def csv_lines(store: Store) -> AsyncIterator[str]:
    """The whole shelf as CSV. Only a few rows are in memory at a time, however long it is."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    yield text.getvalue()
    # A client may leave in the middle; without aclosing() the rows would be left open then.
    async with aclosing(store.rows()) as steps:
        async for rows in steps:
            text.seek(0)
            text.truncate()
            writer.writerows([[no_formula(value) for value in row] for row in rows])
            yield text.getvalue()


def no_formula(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula gets an apostrophe in front."""
    is_formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if is_formula else value


@app.post("/api/books")
async def create_book(c: Context[Bindings]) -> Response:
    book = await c.env["store"].create(await book_of_json(c.req))
    return c.json(book, 201, {"location": f"/api/books/{book['id']}"})


@app.get("/api/books/:id")
async def read_book(c: Context[Bindings]) -> Response:
    return c.json(found(await c.env["store"].get(book_id(c)), c))


@app.put("/api/books/:id")
async def update_book(c: Context[Bindings]) -> Response:
    book = await book_of_json(c.req)
    return c.json(found(await c.env["store"].update(book_id(c), book), c))


@app.delete("/api/books/:id")
async def delete_book(c: Context[Bindings]) -> Response:
    found(await c.env["store"].delete(book_id(c)), c)
    return c.body(None, 204)


@app.on(["PUT", "POST"], "/api/books/:id/cover")
async def set_cover(c: Context[Bindings]) -> Response:
    cover = (await c.req.form_data()).get("cover")
    if not isinstance(cover, File):
        raise HTTPException(400, "Expected a file in the form field 'cover'")
    if cover.type not in COVER_TYPES:
        raise HTTPException(
            415, f"A cover is one of {', '.join(COVER_TYPES)}, not {cover.type or 'without a type'}"
        )
    if cover.size > MAX_COVER_BYTES:
        raise HTTPException(413, f"A cover has at most {MAX_COVER_BYTES} bytes")
    stored = await c.env["store"].set_cover(book_id(c), cover.type, await cover.bytes())
    found(stored, c)
    return c.body(None, 204)


@app.get("/api/books/:id/cover")
async def read_cover(c: Context[Bindings]) -> Response:
    cover = found(await c.env["store"].get_cover(book_id(c)), c, "cover of a book")
    # A browser must not take what somebody uploaded for anything but an image.
    headers = {"content-type": cover["type"], "x-content-type-options": "nosniff"}
    return c.body(cover["data"], headers=headers)


def book_id(c: Context[Bindings]) -> int:
    text = c.req.param("id") or ""
    # SQLite's integers end there; a longer number is the number of no book.
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise HTTPException(404, f"There is no book {text!r}")
    return int(text)


def found(value: Any, c: Context[Bindings], what: str = "book") -> Any:
    """What the store gave, if it gave something."""
    if not value:
        raise HTTPException(404, f"There is no {what} {c.req.param('id')!r}")
    return value


# The page -----------------------------------------------------------------------------------------


@app.get("/")
async def show_shelf(c: Context[Bindings]) -> Response:
    return await shelf(c)


@app.post("/books")
async def add_book(c: Context[Bindings]) -> Response:
    """Adds a book from the page's form, which shows the token in a field of its own."""
    form = await c.req.parse_body()
    typed = {name: value for name, value in form.items() if isinstance(value, str)}
    if not hmac.compare_digest(typed.get("token", "").encode(), TOKEN.encode()):
        return await shelf(c, 401, "That is not the token.", typed)
    try:
        await c.env["store"].create(book_of_form(typed))
    except DuplicateISBNError:
        return await shelf(c, 409, "There is a book with this ISBN already.", typed)
    except HTTPException as error:
        return await shelf(c, error.status, error.message or "", typed)
    return c.redirect("/", 303)


async def shelf(
    c: Context[Bindings], status: int = 200, message: str = "", typed: dict[str, str] | None = None
) -> Response:
    wanted = number("page", c.req.query("page"), default=1, most=1_000_000)
    q = search_text(c.req.query("q"))
    books = await c.env["store"].page(wanted, page.SIZE, q)
    return c.html(page.render(books, wanted, q, message, typed or {}), status)


# Errors -------------------------------------------------------------------------------------------


@app.on_error(DuplicateISBNError)
async def duplicate(error: DuplicateISBNError, c: Context[Bindings]) -> Response:
    return problem(c, 409, "There is a book with this ISBN already")


@app.on_error(HTTPException)
async def refused(error: HTTPException, c: Context[Bindings]) -> Response:
    challenge = error.res.headers.get("www-authenticate") if error.res else None
    headers = {"www-authenticate": challenge} if challenge else None
    return problem(c, error.status, error.message or "", headers)


@app.on_error()
async def fault(error: Exception, c: Context[Bindings]) -> Response:
    logger.error("Exception in %s %s", c.req.method, c.req.url, exc_info=error)
    return problem(c, 500, "Internal Server Error")


@app.not_found()
async def not_found(c: Context[Bindings]) -> Response:
    return problem(c, 404, f"There is nothing at {c.req.path}")


def problem(
    c: Context[Bindings], status: int, message: str, headers: dict[str, str] | None = None
) -> Response:
    """An error: JSON for a program that uses the API, text for a reader of the page."""
    if c.req.path == "/api" or c.req.path.startswith("/api/"):
        return c.json({"error": {"status": status, "message": message}}, status, headers)
    return c.text(message, status, headers)
