# SPDX-License-Identifier: MIT
"""A bookshelf: a JSON API with its documentation, and a small page, over SQLite.

    kit serve examples/bookshelf

The first start creates the database, with the books of seeds.py on the shelf. Two environment
variables change the constants below:

    BOOKSHELF_DB     the database file
    BOOKSHELF_TOKEN  the token for requests that write
"""

from __future__ import annotations

import csv
import hmac
import io
import logging
import os
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path as FilePath
from typing import Annotated, Any, TypeVar

from books import COVER_BODY, COVER_TYPES, Book, BookList, Error, Fault, NewBook, book_of_form
from page import PAGE_SIZE, render
from store import COLUMNS, DuplicateISBNError, Store, open_store

from kit import Context, File, Headers, HTTPException, Kit, Limits, Response
from kit.bearer_auth import bearer_auth
from kit.logger import logger as access_log
from kit.openapi import describe, openapi
from kit.trailing_slash import trim_trailing_slash
from kit.typed import Env, Path, Query, typed
from kit.validator import RequestValidationError

logger = logging.getLogger("bookshelf")
DATABASE = FilePath(os.environ.get("BOOKSHELF_DB") or FilePath(__file__).parent / "bookshelf.db")
TOKEN = os.environ.get("BOOKSHELF_TOKEN") or "bookshelf"
# The terminal and the page tell the token of the demo, never one of your own.
SHOWN_TOKEN = "" if os.environ.get("BOOKSHELF_TOKEN") else TOKEN

MAX_COVER_BYTES = 5 * 1024 * 1024
ABOUT = """Reading is free. To write, press *Authorize* and enter the token: `bookshelf`, unless the
environment variable BOOKSHELF_TOKEN says otherwise."""
INFO = {
    "title": "Bookshelf",
    "version": "1.0.0",
    "description": ABOUT,
    "license": {"name": "MIT", "identifier": "MIT"},
}

# What endpoints ask for. SQLite's integers end where those of BookId do.
Shelf = Annotated[Store, Env("store")]
BookId = Annotated[int, Path(ge=1, le=2**63 - 1)]
PageNumber = Annotated[int, Query(ge=1, le=1_000_000)]
PageSize = Annotated[int, Query(ge=1, le=100)]
SearchText = Annotated[str, Query(max_length=200, description="A part of title or author")]


@asynccontextmanager
async def lifespan(app: Kit) -> AsyncIterator[dict[str, Store]]:
    async with open_store(DATABASE) as store:
        if SHOWN_TOKEN:
            text = f"To add and change books, use the token {SHOWN_TOKEN!r}."
            print(text, flush=True)  # noqa: T201 - for the person who starts it
        yield {"store": store}


# A body is never larger than a cover with the form around it.
limits = Limits(max_body_size_bytes=MAX_COVER_BYTES + 64_000)
app = Kit(lifespan=lifespan, limits=limits, method_not_allowed=True)
app.use(access_log())
app.use(trim_trailing_slash())
# The page is at /docs, the document at /openapi.json.
openapi(app, info=INFO, tags=[{"name": "api", "description": "Books and covers."}], errors=Error)
# Reading is free; every method that writes has to show the token.
app.on(["POST", "PUT", "DELETE"], "/api/*", bearer_auth(token=TOKEN, realm="bookshelf"))


# The API ------------------------------------------------------------------------------------------

api = app.base_path("/api")


@api.get("/books")
@typed
async def list_books(
    store: Shelf, page: PageNumber = 1, size: PageSize = 20, q: SearchText = ""
) -> BookList:
    """Lists the books, a page at a time."""
    items, total = await store.page(page, size, q)
    return BookList(items, page, size, total)


@api.get("/books.csv")
@describe(responses={200: {"content": {"text/csv": str}}})
@typed
async def export_books(c: Context, store: Shelf) -> Response:
    """Sends the whole shelf, for spreadsheets."""
    headers = {
        "content-type": "text/csv; charset=UTF-8",
        "content-disposition": 'attachment; filename="books.csv"',
    }
    return c.body(csv_lines(store), headers=headers)


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


@api.post("/books")
@typed(status=201)
async def create_book(c: Context, book: NewBook, store: Shelf) -> Book:
    """Adds a book.

    Raises:
        DuplicateISBNError: 409 if there is a book with this ISBN already.
    """
    created = await store.create(book)
    c.header("location", f"/api/books/{created.id}")
    return created


@api.get("/books/:id")
@typed
async def read_book(id: BookId, store: Shelf) -> Book:
    """Reads a book."""
    return found(await store.get(id), f"There is no book {id}")


@api.put("/books/:id")
@typed
async def update_book(id: BookId, book: NewBook, store: Shelf) -> Book:
    """Replaces a book.

    Raises:
        DuplicateISBNError: 409 if another book has this ISBN.
    """
    return found(await store.update(id, book), f"There is no book {id}")


@api.delete("/books/:id")
@typed
async def delete_book(id: BookId, store: Shelf) -> None:
    """Removes a book, and its cover."""
    found(await store.delete(id), f"There is no book {id}")


@api.on(["PUT", "POST"], "/books/:id/cover")
@describe(request_body=COVER_BODY)
@typed
async def set_cover(id: BookId, cover: File, store: Shelf) -> None:
    """Sets the cover of a book: an image of at most 5 MiB."""
    if cover.type not in COVER_TYPES:
        raise HTTPException(
            415, f"A cover is one of {', '.join(COVER_TYPES)}, not {cover.type or 'without a type'}"
        )
    if cover.size > MAX_COVER_BYTES:
        raise HTTPException(413, f"A cover has at most {MAX_COVER_BYTES} bytes")
    stored = await store.set_cover(id, cover.type, await cover.bytes())
    found(stored, f"There is no book {id}")


@api.get("/books/:id/cover")
@describe(responses={200: {"content": {"image/*": bytes}}})
@typed
async def read_cover(c: Context, id: BookId, store: Shelf) -> Response:
    """Sends the cover of a book."""
    cover = found(await store.get_cover(id), f"There is no cover of a book {id}")
    # A browser must not take what somebody uploaded for anything but an image.
    headers = {"content-type": cover.type, "x-content-type-options": "nosniff"}
    return c.body(cover.data, headers=headers)


T = TypeVar("T")


def found(value: T | None, otherwise: str) -> T:
    """Returns what the store gave, if it gave something."""
    if not value:
        raise HTTPException(404, otherwise)
    return value


# The page -----------------------------------------------------------------------------------------


@app.get("/")
@describe(hidden=True)
@typed
async def show_shelf(
    c: Context, store: Shelf, page: PageNumber = 1, q: SearchText = ""
) -> Response:
    books = await store.page(page, PAGE_SIZE, q)
    return c.html(render(books, page, q, shown_token=SHOWN_TOKEN))


@app.post("/books")
@describe(hidden=True)
@typed
async def add_book(c: Context, store: Shelf) -> Response:
    """Adds a book from the page's form, which shows the token in a field of its own."""
    form = await c.req.parse_body()
    fields = {name: value for name, value in form.items() if isinstance(value, str)}
    try:
        if not hmac.compare_digest(fields.get("token", "").encode(), TOKEN.encode()):
            raise HTTPException(401, "That is not the token.")
        await store.create(book_of_form(fields))
    except HTTPException as error:
        status, message = error.status, error.message or ""
    except DuplicateISBNError:
        status, message = 409, "There is a book with this ISBN already."
    except ValueError as error:
        status, message = 400, str(error)
    else:
        return c.redirect("/", 303)
    books = await store.page(1, PAGE_SIZE)
    page = render(books, message=message, fields=fields, shown_token=SHOWN_TOKEN)
    return c.html(page, status)


# Errors -------------------------------------------------------------------------------------------


@app.on_error(DuplicateISBNError)
async def duplicate(error: DuplicateISBNError, c: Context) -> Response:
    return problem(c, 409, "There is a book with this ISBN already")


@app.on_error(RequestValidationError)
async def invalid(error: RequestValidationError, c: Context) -> Response:
    if error.target == "param":
        return await not_found(c)
    wrong = [": ".join(filter(None, (each["path"], each["message"]))) for each in error.errors]
    return problem(c, 400, f"{error.detail}: {'; '.join(wrong)}")


@app.on_error(HTTPException)
async def refused(error: HTTPException, c: Context) -> Response:
    given = error.res.headers if error.res else Headers(error.headers)
    kept = {name: given[name] for name in ("allow", "www-authenticate") if name in given}
    return problem(c, error.status, error.message or "", kept)


@app.on_error()
async def fault(error: Exception, c: Context) -> Response:
    logger.error("Exception in %s %s", c.req.method, c.req.url, exc_info=error)
    return problem(c, 500, "Internal Server Error")


@app.not_found()
async def not_found(c: Context) -> Response:
    return problem(c, 404, f"There is nothing at {c.req.path}")


def problem(
    c: Context, status: int, message: str, headers: dict[str, str] | None = None
) -> Response:
    """An error: JSON for a program that uses the API, text for a reader of the page."""
    if c.req.path == "/api" or c.req.path.startswith("/api/"):
        return c.json(Error(Fault(status, message)), status, headers)
    return c.text(message, status, headers)
