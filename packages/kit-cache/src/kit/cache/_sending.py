# SPDX-License-Identifier: MIT
"""Builds responses from stored ones."""

from __future__ import annotations

from typing import Any

from kit.http.conditional import omitted_when_not_modified
from kit.interface import Context, Response

from ._entries import Entry
from ._preconditions import is_conditional, is_not_modified


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
    if entry.status == 200 and is_conditional(c) and is_not_modified(c, headers):
        for name in omitted_when_not_modified(headers):
            del headers[name]
        return c.body(None, 304, headers)
    return c.body(entry.body or None, entry.status, headers)
