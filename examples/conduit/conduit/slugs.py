# SPDX-License-Identifier: MIT
"""Makes addresses of titles."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Iterator

MAX_WORDS = 200
SUFFIX_BYTES = 4
# /api/articles/feed is another address.
RESERVED = {"", "feed"}


def slug_of(title: str) -> str:
    """The words of a title in lower case, joined by hyphens; letters of all languages stay."""
    text = unicodedata.normalize("NFKC", title).casefold()
    return "-".join(re.findall(r"[^\W_]+", text))[:MAX_WORDS].strip("-")


def slugs_of(title: str) -> Iterator[str]:
    """The slug of a title, and then others that nobody has, for when it is taken."""
    slug = slug_of(title)
    if slug not in RESERVED:
        yield slug
    while True:
        yield f"{slug}-{secrets.token_hex(SUFFIX_BYTES)}".strip("-")
