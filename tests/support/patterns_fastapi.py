# SPDX-License-Identifier: MIT
"""Ten patterns of a service, as FastAPI's documentation writes them; see test_ten_patterns."""

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import (
    APIRouter,
    BackgroundTasks,
    Cookie,
    Depends,
    FastAPI,
    Form,
    Header,
    HTTPException,
    Query,
    Request,
    UploadFile,
)
from fastapi.responses import JSONResponse
from fastapi.sse import EventSourceResponse
from pydantic import BaseModel, Field


class BookIn(BaseModel):
    title: str = Field(min_length=1)
    year: int | None = None


class Book(BookIn):
    id: int


class Store:
    def __init__(self) -> None:
        self.books: dict[int, dict[str, Any]] = {}
        self.mails: list[str] = []

    def add(self, book: BookIn) -> dict[str, Any]:
        number = len(self.books) + 1
        self.books[number] = {"id": number, **book.model_dump(), "secret": "s"}
        return self.books[number]


# 1: what the app shares
@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Store]]:
    yield {"store": Store()}


def get_store(request: Request) -> Store:
    store: Store = request.state.store
    return store


Stored = Annotated[Store, Depends(get_store)]
app = FastAPI(lifespan=lifespan)


# 2: an exception that becomes a response
class UnknownBookError(Exception):
    pass


@app.exception_handler(UnknownBookError)
async def unknown_book(request: Request, error: UnknownBookError) -> JSONResponse:
    return JSONResponse({"detail": "There is no such book"}, 404)


# 3: a guard with a parameter, for all routes of a router
class Require:
    def __init__(self, role: str) -> None:
        self.role = role

    def __call__(self, x_role: Annotated[str | None, Header()] = None) -> None:
        if x_role is None:
            raise HTTPException(401)
        if x_role != self.role:
            raise HTTPException(403)


admin = APIRouter(prefix="/admin", dependencies=[Depends(Require("admin"))])


@admin.delete("/books/{id}", status_code=204)
async def delete_book(id: int, store: Stored) -> None:
    store.books.pop(id, None)


app.include_router(admin)


# 4: a body and a filtered result
@app.post("/books", status_code=201, response_model=Book)
async def create_book(book: BookIn, store: Stored) -> Any:
    return store.add(book)


@app.get("/books/{id}", response_model=Book)
async def read_book(id: int, store: Stored) -> Any:
    if id not in store.books:
        raise UnknownBookError
    return store.books[id]


# 5: pages
class Page(BaseModel):
    items: list[Book]
    total: int
    next: int | None


@app.get("/books", response_model=Page)
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
class BookPatch(BaseModel):
    title: str = Field("", min_length=1)
    year: int | None = None


@app.patch("/books/{id}", response_model=Book)
async def update_book(id: int, patch: BookPatch, store: Stored) -> Any:
    if id not in store.books:
        raise UnknownBookError
    store.books[id] |= patch.model_dump(exclude_unset=True)
    return store.books[id]


# 7: a form and a cookie
class Login(BaseModel):
    name: str
    age: int | None = None


@app.post("/login")
async def login(
    form: Annotated[Login, Form()], theme: Annotated[str, Cookie()] = "light"
) -> dict[str, Any]:
    return {"name": form.name, "age": form.age, "theme": theme}


# 8: an upload
@app.post("/books/{id}/cover")
async def upload_cover(id: int, cover: UploadFile, store: Stored) -> dict[str, Any]:
    if id not in store.books:
        raise UnknownBookError
    return {"name": cover.filename, "size": len(await cover.read())}


# 9: work after the response
@app.post("/books/{id}/mails", status_code=202)
async def send_mail(id: int, tasks: BackgroundTasks, store: Stored) -> dict[str, int]:
    tasks.add_task(store.mails.append, f"book {id}")
    return {"queued": id}


# 10: server-sent events
class Event(BaseModel):
    number: int


@app.get("/events", response_class=EventSourceResponse)
async def events(last_event_id: Annotated[int, Header()] = 0) -> AsyncIterable[Event]:
    for number in range(last_event_id + 1, 4):
        yield Event(number=number)
