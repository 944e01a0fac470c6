# SPDX-License-Identifier: MIT
"""Media types of requests and responses (RFC 9110, section 8.3.1)."""

from __future__ import annotations

__all__ = ("JSON", "MULTIPART", "URLENCODED", "is_json", "media_type")

JSON = "application/json"
"""JSON (RFC 8259)."""

MULTIPART = "multipart/form-data"
"""Forms that may hold files (RFC 7578)."""

URLENCODED = "application/x-www-form-urlencoded"
"""Forms of text alone (WHATWG URL, section 5)."""


def media_type(content_type: str | None) -> str:
    """Returns the media type of a Content-Type header, in lower case and without parameters.

    Args:
        content_type: The header's value; None if there is none.

    Returns:
        The media type, e.g. `text/html`; `""` if there is none.
    """
    if content_type == URLENCODED:  # PERF: as clients write it
        return URLENCODED
    return (content_type or "").partition(";")[0].strip().lower()


def is_json(content_type: str | None) -> bool:
    """Returns whether a Content-Type header is one of JSON (RFC 8259; RFC 6839, `+json`).

    Args:
        content_type: The header's value; None if there is none.
    """
    kind = media_type(content_type)
    return kind == JSON or kind.endswith("+json")
