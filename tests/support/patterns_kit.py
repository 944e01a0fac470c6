# SPDX-License-Identifier: MIT
"""The ten patterns of patterns_fastapi, with Kit; see test_ten_patterns."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from msgspec import Meta, Struct, structs

from kit import Context, File, HTTPException, Kit, Response
from kit.typed import Cookie, Depends, Endpoints, Env, Form, Header, Partial, Query


class BookIn(Struct):
    title: Annotated[str, Meta(min_length=1)]
    year: int | None = None


class Book(BookIn, kw_only=True):
    id: int


class Store:
    def __init__(self) -> None:
        self.books: dict[int, dict[str, Any]] = {}
        self.mails: list[str] = []

    def add(self, book: BookIn) -> dict[str, Any]:
        number = len(self.books) + 1
        self.books[number] = {"id": number, **structs.asdict(book), "secret": "s"}
        return self.books[number]


# 1: what the app shares
@asynccontextmanager
async def lifespan(app: Kit) -> AsyncIterator[dict[str, Store]]:
    yield {"store": Store()}


Stored = Annotated[Store, Env("store")]
app = Kit(lifespan=lifespan, validation_status=422)
api = Endpoints(app)


# 2: an exception that becomes a response
class UnknownBookError(Exception):
    pass


@app.on_error(UnknownBookError)
async def unknown_book(error: UnknownBookError, c: Context) -> Response:
    return c.json({"detail": "There is no such book"}, 404)


# 3: a guard with a parameter, for all routes of a router
class Require:
    def __init__(self, role: str) -> None:
        self.role = role

    def __call__(self, x_role: Annotated[str | None, Header()] = None) -> None:
        if x_role is None:
            raise HTTPException(401)
        if x_role != self.role:
            raise HTTPException(403)


admins = app.base_path("/admin").use(Depends(Require("admin")))
admin = Endpoints(admins)


@admin.delete("/books/:id")
async def delete_book(id: int, store: Stored) -> None:
    store.books.pop(id, None)


# 4: a body and a filtered result
@api.post("/books", status=201, response=Book)
async def create_book(book: BookIn, store: Stored) -> Any:
    return store.add(book)


@api.get("/books/:id", response=Book)
async def read_book(id: int, store: Stored) -> Any:
    if id not in store.books:
        raise UnknownBookError
    return store.books[id]


# 5: pages
class Page(Struct):
    items: list[Book]
    total: int
    next: int | None


@api.get("/books", response=Page)
async def list_books(
    store: Stored,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> Any:
    books = list(store.books.values())
    following = offset + limit
    return {
        "items": books[offset:following],
        "total": len(books),
        "next": following if following < len(books) else None,
    }


# 6: a part of an object
@api.patch("/books/:id", response=Book)
async def update_book(id: int, patch: Partial[BookIn], store: Stored) -> Any:
    if id not in store.books:
        raise UnknownBookError
    store.books[id] |= patch.changes
    return store.books[id]


# 7: a form and a cookie
class Login(Struct):
    name: str
    age: int | None = None


@api.post("/login")
async def login(
    form: Annotated[Login, Form()], theme: Annotated[str, Cookie()] = "light"
) -> dict[str, Any]:
    return {"name": form.name, "age": form.age, "theme": theme}


# 8: an upload
@api.post("/books/:id/cover")
async def upload_cover(id: int, cover: File, store: Stored) -> dict[str, Any]:
    if id not in store.books:
        raise UnknownBookError
    return {"name": cover.name, "size": cover.size}


# 9: work after the response
@api.post("/books/:id/mails", status=202)
async def send_mail(id: int, c: Context, store: Stored) -> dict[str, int]:
    c.after_success(store.mails.append, f"book {id}")
    return {"queued": id}


# 10: server-sent events
class Event(Struct):
    number: int


@api.get("/events")
async def events(last_event_id: Annotated[int, Header()] = 0) -> AsyncIterator[Event]:
    for number in range(last_event_id + 1, 4):
        yield Event(number)
