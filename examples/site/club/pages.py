# SPDX-License-Identifier: MIT
"""The pages: home, the books, a book with its notes."""

from __future__ import annotations

from typing import Annotated, Any, cast

from club.accounts import to_login
from club.forms import Form, check_note, read_form
from club.rendering import current_member, is_part, render
from club.store import Book, Member, Store
from kit import Context, HTTPException, Kit, Next, Response
from kit.session import get_session
from kit.typed import Env, Path, Query, typed

PAGE_SIZE = 9
NEWEST = 5

Club = Annotated[Store, Env("store")]
# SQLite's integers are longer, but no book has such a number.
BookId = Annotated[int, Path(ge=1, le=999_999_999)]
PageNumber = Annotated[int, Query(ge=1, le=1_000_000)]
SearchText = Annotated[str, Query(max_length=200)]

pages = Kit()


async def for_members(c: Context, next: Next) -> Response | None:
    """Sets `c.get("member")` to the logged-in member; redirects other visitors to the login."""
    member = await current_member(c)
    if member is None:
        return to_login(c)
    c.set("member", member)
    await next()
    return None


@pages.get("/")
@typed
async def home(c: Context, club: Club) -> Response:
    notes = await club.newest_notes(NEWEST)
    return await render(c, "home.html", book=await club.current_book(), notes=notes)


@pages.get("/books")
@typed
async def show_books(c: Context, club: Club, q: SearchText = "", page: PageNumber = 1) -> Response:
    q = q.strip()
    books, total = await club.find_books(q, page, PAGE_SIZE)
    last = max(1, -(-total // PAGE_SIZE))
    if page > last:
        raise HTTPException(404)
    return await render(
        c, "books.html", block="found", books=books, total=total, q=q, page=page, last=last
    )


@pages.get("/books/:id")
@typed
async def show_book(c: Context, club: Club, id: BookId) -> Response:
    return await render_book(c, club, await existing(club, id))


@pages.post("/books/:id/notes", use=for_members)
@typed
async def add_note(c: Context, club: Club, id: BookId) -> Response:
    """Adds a note. htmx swaps in the list with the form; other clients return to the page."""
    book, member = await existing(club, id), cast(Member, c.get("member"))
    form = await read_form(c)
    page = check_note(form, book.pages)
    if form.errors:
        return await render_book(c, club, book, block="notes", form=form, status=422)
    await club.add_note(book, member, form["text"], page)
    (await get_session(c)).flash("Your note is on the page")
    if is_part(c):
        return await render_book(c, club, book, block="notes")
    return c.redirect(f"/books/{id}#notes", 303)


@pages.post("/books/:id/readers", use=for_members)
@typed
async def set_read(c: Context, club: Club, id: BookId) -> Response:
    book, member = await existing(club, id), cast(Member, c.get("member"))
    # The form contains the new state, so that sending it twice changes nothing.
    await club.set_read(book, member, (await read_form(c))["read"] == "yes")
    if is_part(c):
        return await render_book(c, club, await existing(club, id), block="readers")
    return c.redirect(f"/books/{id}", 303)


@pages.get("/robots.txt")
async def robots(c: Context) -> Response:
    return await render(c, "robots.txt", layout=None)


@pages.get("/sitemap.xml")
@typed
async def sitemap(c: Context, club: Club) -> Response:
    return await render(c, "sitemap.xml", layout=None, books=await club.book_ids())


async def render_book(
    c: Context, club: Store, book: Book, *, form: Form | None = None, **options: Any
) -> Response:
    return await render(
        c,
        "book.html",
        book=book,
        notes=await club.notes(book.id),
        has_read=await club.has_read(book, await current_member(c)),
        form=form or Form(),
        **options,
    )


async def existing(club: Store, book_id: int) -> Book:
    book = await club.book(book_id)
    if book is None:
        raise HTTPException(404)
    return book
