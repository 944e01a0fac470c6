# SPDX-License-Identifier: MIT
"""What the API takes and sends. kit-typed checks it, and kit-openapi documents it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from kit import File

COVER_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
ISBN = r"^(?:(?:[0-9][- ]?){9}[0-9Xx]|(?:[0-9][- ]?){12}[0-9])?$"


class NewBook(Struct):
    """A book that is put on the shelf.

    Attributes:
        isbn: 10 or 13 digits, with or without hyphens. No two books have the same.
    """

    # Of patterns the schema alone tells: what `__post_init__` says is easier to read.
    title: Annotated[
        str, Meta(max_length=300, examples=["Dune"], extra_json_schema={"pattern": r"\S"})
    ]
    author: Annotated[str, Meta(max_length=200)] | None = None
    year: Annotated[int, Meta(ge=-3000, le=9999)] | None = None
    isbn: Annotated[str, Meta(extra_json_schema={"pattern": ISBN})] | None = None

    def __post_init__(self) -> None:
        self.title = self.title.strip()
        if not self.title:
            raise ValueError("The title must not be blank")
        self.author = (self.author or "").strip() or None
        if not re.fullmatch(ISBN, self.isbn or ""):
            raise ValueError(f"The ISBN must have 10 or 13 digits, not {self.isbn!r:.40}")
        # One book has one spelling.
        self.isbn = re.sub("[- ]", "", self.isbn or "").upper() or None


class Book(Struct):
    """A book on the shelf."""

    id: int
    title: str
    author: str | None
    year: int | None
    isbn: str | None


class BookList(Struct):
    """A page of the shelf.

    Attributes:
        total: How many books there are on all pages.
    """

    items: list[Book]
    page: int
    size: int
    total: int


class CoverForm(Struct):
    """The form that a cover is sent in."""

    cover: File


# The form by its type, and which media types the file may have.
COVER_BODY = {
    "content": {
        "multipart/form-data": {
            "schema": CoverForm,
            "encoding": {"cover": {"contentType": ", ".join(COVER_TYPES)}},
        }
    },
    "required": True,
}


class Fault(Struct):
    """What went wrong."""

    status: int
    message: str


class Error(Struct):
    """The body of every error."""

    error: Fault


def book_of_form(fields: Mapping[str, str]) -> NewBook:
    """Reads a book from the fields of a form, where an empty field is one left out.

    Raises:
        ValueError: If it isn't a book; the text says why.
    """
    given = {name: text.strip() for name, text in fields.items() if text.strip()}
    year = given.get("year", "0")
    if not re.fullmatch("-?[0-9]{1,9}", year):
        raise ValueError(f"The year must be a whole number, not {year!r:.40}")
    return msgspec.convert({"title": "", **given}, NewBook, strict=False)
