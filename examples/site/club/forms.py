# SPDX-License-Identifier: MIT
"""Reads and validates forms."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kit import Context

MAX_NAME = 30
MIN_PASSWORD = 8
MAX_PASSWORD = 200
MAX_NOTE = 2000


@dataclass
class Form:
    """The fields of a form by name, and their errors, to show the form again."""

    values: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    def refuse(self, name: str, reason: str) -> None:
        self.errors[name] = reason


async def read_form(c: Context) -> Form:
    """Reads the text fields of a form; a body of another type has none."""
    sent = await c.req.parse_body()
    # Browsers send newlines as two characters, but count them as one.
    texts = {name: text.replace("\r\n", "\n") for name, text in sent.items() if type(text) is str}
    return Form(
        {name: text if name == "password" else text.strip() for name, text in texts.items()}
    )


def check_note(form: Form, pages: int) -> int | None:
    """Checks a note about a book with `pages` pages; returns the page that it refers to, if any."""
    if not form["text"]:
        form.refuse("text", "Write something first.")
    elif len(form["text"]) > MAX_NOTE:
        form.refuse("text", f"At most {MAX_NOTE} characters: these are {len(form['text'])}.")
    if not form["page"]:
        return None
    page = int(form["page"]) if re.fullmatch(r"[0-9]{1,6}", form["page"]) else 0
    if not 1 <= page <= pages:
        form.refuse("page", f"The book has the pages 1 to {pages}.")
    return page


def check_login(form: Form) -> None:
    for name in ("name", "password"):
        if not form[name]:
            form.refuse(name, f"Your {name} is missing.")


def check_new_member(form: Form) -> None:
    name, password = form["name"], form["password"]
    if not 2 <= len(name) <= MAX_NAME or not name.isprintable():
        form.refuse("name", f"A name has 2 to {MAX_NAME} characters.")
    if len(password) < MIN_PASSWORD:
        form.refuse("password", f"A password has {MIN_PASSWORD} characters or more.")
    elif len(password) > MAX_PASSWORD:
        form.refuse("password", f"At most {MAX_PASSWORD} characters, please.")
