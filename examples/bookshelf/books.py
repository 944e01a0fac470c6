# SPDX-License-Identifier: MIT
"""What a book may be: checks what came from outside, and says what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kit import HTTPException, KitRequest

MOST = {"title": 300, "author": 200}
YEARS = range(-3000, 10_000)
MOST_SEARCHED = 200


@dataclass
class NewBook:
    """The body of POST and PUT. `c.req.json(type=NewBook)` checks names and types."""

    title: str
    author: str | None = None
    year: int | None = None
    isbn: str | None = None


async def book_of_json(req: KitRequest) -> dict[str, Any]:
    """Reads a book from a JSON body.

    Raises:
        HTTPException: 415 if the body is no JSON by its content type, 400 if it is no book.
    """
    media_type = (req.header("content-type") or "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise HTTPException(
            415, f"Expected the Content-Type application/json, not {media_type or 'none'}"
        )
    return checked(await req.json(type=NewBook))


def book_of_form(fields: Mapping[str, str]) -> dict[str, Any]:
    """Reads a book from the fields of a form, where an empty field is one left out.

    Raises:
        HTTPException: 400 if it is no book.
    """
    year = fields.get("year", "").strip()
    # int() alone would take "1_999" and the digits of any script as well.
    if year and not re.fullmatch("-?[0-9]{1,9}", year):
        raise HTTPException(400, f"The year must be a whole number, not {year!r:.40}")
    book = NewBook(
        title=fields.get("title", ""),
        author=fields.get("author") or None,
        year=int(year) if year else None,
        isbn=fields.get("isbn") or None,
    )
    return checked(book)


def checked(book: NewBook) -> dict[str, Any]:
    """Gives the columns of a book.

    Raises:
        HTTPException: 400 with what is wrong.
    """
    book.title = book.title.strip()
    if not book.title:
        raise HTTPException(400, "The title must not be blank")
    book.author = (book.author or "").strip() or None
    for name, most in MOST.items():
        if len(getattr(book, name) or "") > most:
            raise HTTPException(400, f"The {name} must have at most {most} characters")
    if book.year is not None and book.year not in YEARS:
        raise HTTPException(400, f"The year must be from {YEARS[0]} to {YEARS[-1]}")
    book.isbn = isbn(book.isbn)
    return asdict(book)


def isbn(text: str | None) -> str | None:
    """Gives an ISBN without hyphens and blanks, so that one book has one spelling.

    Raises:
        HTTPException: 400 if it is neither 10 digits (the last may be X) nor 13.
    """
    digits = (text or "").replace("-", "").replace(" ", "").upper()
    if not digits:
        return None
    body = digits.removesuffix("X") if len(digits) == 10 else digits
    if len(digits) not in (10, 13) or not (body.isascii() and body.isdigit()):
        raise HTTPException(400, f"The ISBN must have 10 or 13 digits, not {text!r:.40}")
    return digits


def number(name: str, text: str | None, *, default: int, most: int) -> int:
    """Reads a whole number from a query parameter.

    Raises:
        HTTPException: 400 if it is none, or not from 1 to `most`.
    """
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and 1 <= int(text) <= most):
        raise HTTPException(
            400,
            f"The query parameter {name!r} must be a whole number from 1 to {most}, "
            f"not {text!r:.40}",
        )
    return int(text)


def search_text(text: str | None) -> str:
    """Reads what is searched for.

    Raises:
        HTTPException: 400 if it is too long; SQLite takes no pattern of any length.
    """
    if len(text or "") > MOST_SEARCHED:
        raise HTTPException(
            400, f"The query parameter 'q' must have at most {MOST_SEARCHED} characters"
        )
    return text or ""
