# SPDX-License-Identifier: MIT
"""Reads forms: what was written into them, and what is wrong with it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from conduit.schemas import EMAIL, USERNAME
from conduit.tables import (
    MAX_BIO,
    MAX_BODY,
    MAX_COMMENT,
    MAX_DESCRIPTION,
    MAX_EMAIL,
    MAX_IMAGE,
    MAX_PASSWORD,
    MAX_TAG,
    MAX_TAGS,
    MAX_TITLE,
    MAX_USERNAME,
    MIN_PASSWORD,
)
from kit import Context

PASSWORDS = ("password", "current")


@dataclass
class Form:
    """The fields of a form by name, to be shown again with the errors beside them."""

    values: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    def refuse(self, name: str, reason: str) -> None:
        """Says what is wrong with a field; the first reason stays."""
        self.errors.setdefault(name, reason)

    def require(self, name: str, most: int) -> None:
        if not self[name].strip():
            self.refuse(name, "This is missing.")
        self.bound(name, most)

    def bound(self, name: str, most: int) -> None:
        if len(self[name]) > most:
            self.refuse(name, f"At most {most} characters: these are {len(self[name])}.")


async def read_form(c: Context) -> Form:
    """Reads the fields that are text; a body that isn't a form has none."""
    sent = await c.req.parse_body()
    return Form({name: _clean(name, text) for name, text in sent.items() if type(text) is str})


def _clean(name: str, text: str) -> str:
    if name in PASSWORDS:
        return text
    # Browsers send line ends as two characters, and count them as one. No keyboard writes null
    # characters, and PostgreSQL doesn't take them.
    return text.replace("\r\n", "\n").replace("\x00", "").strip()


def local(path: str) -> str:
    """Returns the address to go to next: one of this site, or else the first page.

    Browsers read `//host` and `/\\host` as another site, and drop tabs and line breaks.
    """
    return path if re.fullmatch(r"/(?![/\\])[!-~]*", path) else "/"


def check_login(form: Form) -> None:
    form.require("email", MAX_EMAIL)
    form.require("password", MAX_PASSWORD)


def check_account(form: Form) -> None:
    form.require("username", MAX_USERNAME)
    if not re.fullmatch(USERNAME, form["username"]):
        form.refuse("username", "Letters from A to Z, digits, “_”, “.” and “-”, please.")
    form.require("email", MAX_EMAIL)
    if not re.fullmatch(EMAIL, form["email"]):
        form.refuse("email", "Write an address such as ann@example.com.")


def check_password(form: Form) -> None:
    form.bound("password", MAX_PASSWORD)
    if len(form["password"]) < MIN_PASSWORD:
        form.refuse("password", f"A password has {MIN_PASSWORD} characters or more.")
    if "\x00" in form["password"]:
        form.refuse("password", "A password has no null characters.")


def check_profile(form: Form) -> None:
    form.bound("bio", MAX_BIO)
    form.bound("image", MAX_IMAGE)
    if not re.fullmatch(r"(https://[^\s\x00-\x1F\x7F]+)?", form["image"]):
        form.refuse("image", "Write an address that begins with https://.")


def check_article(form: Form) -> None:
    form.require("title", MAX_TITLE)
    form.require("description", MAX_DESCRIPTION)
    form.require("body", MAX_BODY)
    names = tag_names(form)
    if len(names) > MAX_TAGS:
        form.refuse("tags", f"At most {MAX_TAGS} tags: these are {len(names)}.")
    if any(len(name) > MAX_TAG for name in names):
        form.refuse("tags", f"A tag has at most {MAX_TAG} characters.")


def tag_names(form: Form) -> list[str]:
    """Returns the tags in a field, in order and each once."""
    names = (" ".join(name.split()) for name in form["tags"].split(","))
    return list(dict.fromkeys(name for name in names if name))


def check_comment(form: Form) -> None:
    form.require("body", MAX_COMMENT)
