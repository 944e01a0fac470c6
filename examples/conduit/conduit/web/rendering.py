# SPDX-License-Identifier: MIT
"""Renders pages, with the values that all of them use."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zlib import crc32

from conduit import tables
from conduit.web.assets import ADDRESSES
from conduit.web.requests import is_part, page_address
from conduit.web.visitors import current_user
from kit import Context, HTTPException, Response
from kit.session import get_session
from kit.templates import Templates, templates

WORDS_PER_MINUTE = 220
# Maximum lengths of form fields.
LIMITS = {
    "bio": tables.MAX_BIO,
    "body": tables.MAX_BODY,
    "comment": tables.MAX_COMMENT,
    "description": tables.MAX_DESCRIPTION,
    "email": tables.MAX_EMAIL,
    "image": tables.MAX_IMAGE,
    "min_password": tables.MIN_PASSWORD,
    "password": tables.MAX_PASSWORD,
    "title": tables.MAX_TITLE,
    "username": tables.MAX_USERNAME,
}


def make_templates() -> Templates:
    return templates(
        Path(__file__).resolve().parent / "templates",
        layout="layout.html",
        context=common,
        globals={"asset": ADDRESSES.__getitem__, "limits": LIMITS},
        filters={
            "day": day,
            "initials": initials,
            "minutes": minutes,
            "paragraphs": paragraphs,
            "segment": segment,
            "tint": tint,
        },
        environment_options={"trim_blocks": True, "lstrip_blocks": True},
        htmx=True,
    )


def day(timestamp: str) -> str:
    """Writes a date as `22 November 2026`."""
    when = datetime.fromisoformat(timestamp)
    return f"{when.day} {when:%B %Y}"


def initials(name: str) -> str:
    """Returns up to two initials for an avatar: `AL` for `Ada Lovelace`."""
    words = re.findall(r"[^\W_]+", name) or ["?"]
    shown = words if len(words) == 1 else (words[0], words[-1])
    return "".join(word[0] for word in shown).upper()


def tint(name: str) -> int:
    """Returns the number of the avatar color for a name, out of six."""
    return (crc32(name.encode()) >> 16) % 6


def minutes(text: str) -> int:
    """Returns the reading time of a text in minutes."""
    return max(1, round(len(text.split()) / WORDS_PER_MINUTE))


def paragraphs(text: str) -> list[str]:
    return [each.strip("\n") for each in re.split(r"\n\s*\n", text) if each.strip()]


def segment(text: str) -> str:
    """Encodes a text as one segment of a path."""
    return quote(text, safe="")


async def common(c: Context) -> dict[str, Any]:
    """Returns the values that all pages use."""
    known = {"is_part": is_part(c), "here": page_address(c)}
    error = c.error
    if error is not None and not (isinstance(error, HTTPException) and error.status < 500):
        # The lookups below may be what failed, so the error page does without them.
        return {**known, "user": None, "flashes": []}
    session = await get_session(c)
    return {**known, "user": await current_user(c), "flashes": session.flashes()}


async def render(
    c: Context, name: str, /, *, block: str | None = None, status: int = 200, **values: Any
) -> Response:
    """Renders a page, or only the given block if htmx requests it."""
    c.status(status)
    # Pages differ by visitor and may change at any time; an unchanged one costs only a 304.
    c.header("Cache-Control", "private, no-cache")
    response: Response = await c.render(name, block=block if is_part(c) else None, **values)
    return response
