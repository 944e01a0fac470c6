# SPDX-License-Identifier: MIT
"""Builds responses from stored ones."""

from __future__ import annotations

from typing import Any

from kit.interface import Context, Response
from kit.interface.conditional import evaluate, parse_entity_tag, parse_http_date

from ._entries import Entry

# SPEC: RFC 9110 section 15.4.5: headers that a 304 must have.
_OF_NOT_MODIFIED = frozenset(
    ("cache-control", "content-location", "date", "etag", "expires", "last-modified", "vary")
)


def send(c: Context[Any, Any], entry: Entry, now: float, cache_status: str | None) -> Response:
    """Returns a stored response, or a 304 if the client already has it (RFC 9111, section 4.3.2).

    Args:
        c: The context.
        entry: The stored response.
        now: Seconds since 1970-01-01 00:00:00 UTC.
        cache_status: The value to add to Cache-Status; None adds nothing.
    """
    headers = {**entry.fields, "age": str(int(entry.age(now)))}
    if cache_status is not None:
        own = headers.get("cache-status")
        headers["cache-status"] = cache_status if own is None else f"{own}, {cache_status}"
    if entry.status == 200 and _has_precondition(c):
        modified = parse_http_date(headers.get("last-modified"))
        # A malformed ETag set by a handler isn't a validator.
        tag = parse_entity_tag(headers.get("etag", ""))
        status = evaluate(c.req.method, c.req.header, etag=tag, last_modified=modified)
        if status == 304:
            kept = {
                name: value
                for name, value in headers.items()
                if name in _OF_NOT_MODIFIED or name in ("age", "cache-status")
            }
            return c.body(None, 304, kept)
    return c.body(entry.body or None, entry.status, headers)


def _has_precondition(c: Context[Any, Any]) -> bool:
    header = c.req.header
    return header("if-none-match") is not None or header("if-modified-since") is not None
