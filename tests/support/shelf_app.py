# SPDX-License-Identifier: MIT
"""The bookshelf with a document, described from outside of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from kit import Kit
from kit.interface.metadata import attach
from kit.openapi import describe, openapi

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "bookshelf"))

import app as bookshelf

ISBN = "^(?:[0-9]{13}|[0-9]{9}[0-9X]|)$"


class NewBook(Struct):
    """What is sent."""

    title: Annotated[str, Meta(pattern="^[A-Za-z0-9]", max_length=300)]
    author: Annotated[str, Meta(max_length=200)] | None = None
    year: Annotated[int, Meta(ge=-3000, le=9999)] | None = None
    isbn: Annotated[str, Meta(pattern=ISBN)] | None = None


class Book(Struct):
    """What is on the shelf."""

    id: int
    title: str
    author: str | None
    year: int | None
    isbn: str | None


class Page(Struct):
    """A page of the list."""

    items: list[Book]
    page: int
    size: int
    total: int


class Query(Struct):
    """Which page."""

    page: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    size: Annotated[int, Meta(ge=1, le=100)] = 20
    q: Annotated[str, Meta(max_length=200)] = ""


class Id(Struct):
    """Which book."""

    id: Annotated[int, Meta(ge=0, le=10**17)]


class Fault(Struct):
    """What is wrong."""

    status: int
    message: str


class Error(Struct):
    """The body of every error."""

    error: Fault


COVER = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["cover"],
                "properties": {"cover": {"type": "string", "format": "binary"}},
            },
            "encoding": {"cover": {"contentType": ", ".join(bookshelf.COVER_TYPES)}},
        }
    },
}


def _describe(function: Any, validates: dict[Any, Any], **described: Any) -> None:
    describe(**described)(attach(function, validates=validates))


_describe(bookshelf.list_books, {"query": Query}, responses={200: Page})
_describe(bookshelf.export_books, {}, responses={200: {"content": {"text/csv": str}}})
_describe(bookshelf.create_book, {"json": NewBook}, responses={201: Book, 409: Error})
_describe(bookshelf.read_book, {"param": Id}, responses={200: Book})
_describe(bookshelf.update_book, {"param": Id, "json": NewBook}, responses={200: Book, 409: Error})
_describe(bookshelf.delete_book, {"param": Id})
_describe(bookshelf.set_cover, {"param": Id}, request_body=COVER)
_describe(bookshelf.read_cover, {"param": Id}, responses={200: {"content": {"image/*": bytes}}})
for page in (bookshelf.show_shelf, bookshelf.add_book):
    describe(hidden=True)(page)

app = Kit(method_not_allowed=True)
openapi(app, info={"title": "Bookshelf", "version": "1.0.0"}, errors=Error)
app.route("/", bookshelf.app)
