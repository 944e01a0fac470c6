# SPDX-License-Identifier: MIT
"""Derives slugs from titles."""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Iterator

MAX_CHARACTERS = 200
SUFFIX_BYTES = 4
# /api/articles/feed is another endpoint.
RESERVED = {"", "feed"}


def slug_of(title: str) -> str:
    """Returns the words of a title in lower case, joined by hyphens; keeps non-ASCII letters."""
    text = unicodedata.normalize("NFKC", title).casefold()
    words = "".join(each if _is_of_word(each) else " " for each in text).split()
    # A mark without a letter is invisible.
    words = [word for word in words if any(map(str.isalnum, word))]
    return "-".join(words)[:MAX_CHARACTERS].strip("-")


def _is_of_word(character: str) -> bool:
    # Vowels of many scripts, such as those of Hindi and Thai, are marks at the letter before.
    return character.isalnum() or unicodedata.category(character) in ("Mc", "Mn")


def slugs_of(title: str) -> Iterator[str]:
    """Yields the slug of a title, then variants with a random suffix."""
    slug = slug_of(title)
    if slug not in RESERVED:
        yield slug
    while True:
        yield f"{slug}-{secrets.token_hex(SUFFIX_BYTES)}".strip("-")
