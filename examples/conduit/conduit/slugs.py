# SPDX-License-Identifier: MIT
"""Derives slugs from titles."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Iterator

MAX_WORDS = 200
SUFFIX_BYTES = 4
# /api/articles/feed is another endpoint.
RESERVED = {"", "feed"}


def slug_of(title: str) -> str:
    """Returns the words of a title in lower case, joined by hyphens; keeps non-ASCII letters."""
    text = unicodedata.normalize("NFKC", title).casefold()
    return "-".join(re.findall(r"[^\W_]+", text))[:MAX_WORDS].strip("-")


def slugs_of(title: str) -> Iterator[str]:
    """Yields the slug of a title, then variants with a random suffix."""
    slug = slug_of(title)
    if slug not in RESERVED:
        yield slug
    while True:
        yield f"{slug}-{secrets.token_hex(SUFFIX_BYTES)}".strip("-")
