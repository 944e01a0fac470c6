# SPDX-License-Identifier: MIT
"""The preconditions of a request: hidden from the handlers, and evaluated by the cache.

Handlers would answer them with a 304, which can't be stored (RFC 9111, section 4.3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from kit.http.conditional import evaluate
from kit.http.dates import parse_http_date
from kit.http.entity_tags import parse_entity_tag
from kit.interface import Context

_NAMES = ("if-none-match", "if-modified-since")


def is_conditional(c: Context[Any, Any]) -> bool:
    """Returns whether a request has preconditions that a cache evaluates."""
    header = c.req.header
    return header("if-none-match") is not None or header("if-modified-since") is not None


@contextmanager
def hidden(c: Context[Any, Any]) -> Iterator[None]:
    """Removes the preconditions from a request; on exit, it has them again."""
    headers = c.req.raw.headers
    removed = [(name, value) for name in _NAMES for value in headers.get_all(name)]
    for name in _NAMES:
        headers.delete(name)
    try:
        yield
    finally:
        for name, value in removed:
            headers.append(name, value)


def is_not_modified(c: Context[Any, Any], headers: Mapping[str, str]) -> bool:
    """Returns whether the client already has a response (RFC 9111, section 4.3.2).

    Args:
        c: The context.
        headers: The headers of the response, whose status is 200.
    """
    modified = parse_http_date(headers.get("last-modified"))
    # A malformed ETag set by a handler isn't a validator.
    tag = parse_entity_tag(headers.get("etag", ""))
    return evaluate(c.req.method, c.req.header, etag=tag, last_modified=modified) == 304
