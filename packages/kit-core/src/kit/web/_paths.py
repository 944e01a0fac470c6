# SPDX-License-Identifier: MIT
"""Paths in URLs."""

from __future__ import annotations

import re

# SPEC: WHATWG URL, section 4.4: parsers drop tabs and newlines anywhere, the others at the ends.
_DROPPED = re.compile(r"[\x00-\x20]")


def encode_delimiters(path: str) -> str:
    """Encodes characters of a decoded path that would end it or start an escape in a URL."""
    return path.replace("%", "%25").replace("?", "%3F").replace("#", "%23")


def encode_dropped(text: str) -> str:
    """Encodes the characters of a path, or of a path and query, that a URL parser would drop.

    Without them, the text would name a different path from the one matched with middleware.
    """
    return _DROPPED.sub(lambda found: f"%{ord(found[0]):02X}", text)
