# SPDX-License-Identifier: MIT
"""Reads and validates forms."""

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
    """The fields of a form, and their errors, by name; an invalid form is shown again."""

    values: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    def refuse(self, name: str, reason: str) -> None:
        """Adds the error of a field, unless it already has one."""
        self.errors.setdefault(name, reason)

    def require(self, name: str, most: int) -> None:
        if not self[name].strip():
            self.refuse(name, "This field is required.")
        self.bound(name, most)

    def bound(self, name: str, most: int) -> None:
        if len(self[name]) > most:
            self.refuse(name, f"Use at most {most} characters, not {len(self[name])}.")


async def read_form(c: Context) -> Form:
    """Reads the text fields of a form; a body of another type has none."""
    sent = await c.req.parse_body()
    return Form({name: _clean(name, text) for name, text in sent.items() if type(text) is str})


def _clean(name: str, text: str) -> str:
    if name in PASSWORDS:
        return text
    # Browsers send newlines as two characters, but count them as one for maxlength. PostgreSQL
    # can't store null characters.
    return text.replace("\r\n", "\n").replace("\x00", "").strip()


def local(path: str) -> str:
    """Returns the path if it leads to a page of this site, or else the home page.

    Browsers treat `//host` and `/\\host` as another site, and remove tabs and newlines.
    """
    return path if re.fullmatch(r"/(?![/\\])[!-~]*", path) else "/"


def check_login(form: Form) -> None:
    form.require("email", MAX_EMAIL)
    form.require("password", MAX_PASSWORD)


def check_account(form: Form) -> None:
    form.require("username", MAX_USERNAME)
    if not re.fullmatch(USERNAME, form["username"]):
        form.refuse(
            "username",
            "Use only letters from A to Z, digits, “_”, “.” and “-”. "
            "Start with a letter or a digit.",
        )
    form.require("email", MAX_EMAIL)
    if not re.fullmatch(EMAIL, form["email"]):
        form.refuse("email", "Enter an email address such as ann@example.com.")


def check_password(form: Form) -> None:
    form.bound("password", MAX_PASSWORD)
    if len(form["password"]) < MIN_PASSWORD:
        form.refuse("password", f"Use {MIN_PASSWORD} characters or more.")
    if "\x00" in form["password"]:
        form.refuse("password", "A password can't contain null characters.")


def check_profile(form: Form) -> None:
    form.bound("bio", MAX_BIO)
    form.bound("image", MAX_IMAGE)
    if not re.fullmatch(r"(https://[^\s\x00-\x1F\x7F]+)?", form["image"]):
        form.refuse("image", "Enter a URL that starts with https://.")


def check_article(form: Form) -> None:
    form.require("title", MAX_TITLE)
    form.require("description", MAX_DESCRIPTION)
    form.require("body", MAX_BODY)
    names = tag_names(form)
    if len(names) > MAX_TAGS:
        form.refuse("tags", f"Use at most {MAX_TAGS} tags, not {len(names)}.")
    if any(len(name) > MAX_TAG for name in names):
        form.refuse("tags", f"Use at most {MAX_TAG} characters for each tag.")


def tag_names(form: Form) -> list[str]:
    """Returns the tags of the field `tags`, in order and without duplicates."""
    names = (" ".join(name.split()) for name in form["tags"].split(","))
    return list(dict.fromkeys(name for name in names if name))


def check_comment(form: Form) -> None:
    form.require("body", MAX_COMMENT)
