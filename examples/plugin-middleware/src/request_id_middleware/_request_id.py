# SPDX-License-Identifier: MIT
"""Middleware that gives each request an id, which the response repeats."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypedDict
from uuid import uuid4

from kit.interface import AsyncMiddleware, Context, Next

__all__ = ("RequestIdVariables", "request_id")

# APPSEC: ids are copied to logs, responses and requests to other services. These characters suffice
# for UUIDs, ULIDs, base64 and trace ids, and none of them ends a line, a field or a quoted string.
_ID = re.compile(r"[A-Za-z0-9._:=+/-]+")
# SPEC: RFC 9110 section 5.6.2, token.
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class RequestIdVariables(TypedDict):
    """The variables that the middleware sets: `Kit[Any, RequestIdVariables]()` types `c.var`.

    Attributes:
        request_id: The id of the request.
    """

    request_id: str


def request_id(
    *,
    header_name: str = "X-Request-Id",
    max_length: int = 255,
    trust_client: bool = True,
    generator: Callable[[], str] | None = None,
) -> AsyncMiddleware:
    """Returns middleware that gives each request an id.

    Uses the id that the client sent if it is valid, otherwise generates one. Handlers read it from
    the variable `request_id`. All responses, including errors, have it in the same header.

    An id consists of ASCII letters, digits and `. _ : = + / -`. If a client sends other characters,
    or several header lines, the request gets a new id; this isn't an error.

    Args:
        header_name: The header of the request and the response.
        max_length: The maximum length of a client's id, in characters; at least 1.
        trust_client: Whether to use ids from clients. Use False if no proxy in front of the app
            sets them and several requests must not share an id in the logs.
        generator: Returns a new id; by default, a random UUID.

    Returns:
        The middleware, for `app.use(...)`; register it before the handlers that read the id.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `header_name` isn't a valid header name, or `max_length` is below 1.

    Example:
        app.use(request_id())
    """
    _check(header_name, max_length, trust_client, generator)
    new_id = _random_id if generator is None else generator

    async def request_id(c: Context[Any, Any], next: Next) -> None:
        sent = c.req.header(header_name) if trust_client else None
        if sent is not None and len(sent) <= max_length and _ID.fullmatch(sent):
            id_ = sent
        else:
            id_ = new_id()
            if generator is not None:
                _check_generated(id_)
        c.set("request_id", id_)
        await next()
        # After the handlers, so that responses of mounted apps and errors get it too.
        c.header(header_name, id_)

    return request_id


def _random_id() -> str:
    return str(uuid4())


def _check(header_name: object, max_length: object, trust_client: object, gen: object) -> None:
    """Rejects invalid options when the middleware is created, not at the first request."""
    if not isinstance(header_name, str):
        raise TypeError(f"request_id(header_name=...) takes a str, not {header_name!r:.100}")
    if not _HEADER_NAME.fullmatch(header_name):
        raise ValueError(
            f"request_id(header_name=...) takes the name of a header, not {header_name!r:.100}"
        )
    if not isinstance(max_length, int) or isinstance(max_length, bool):
        raise TypeError(f"request_id(max_length=...) takes an int, not {max_length!r:.100}")
    if max_length < 1:
        raise ValueError(f"request_id(max_length=...) takes 1 or more, not {max_length}")
    if not isinstance(trust_client, bool):
        raise TypeError(f"request_id(trust_client=...) takes a bool, not {trust_client!r:.100}")
    if gen is not None and not callable(gen):
        raise TypeError(f"request_id(generator=...) takes a function, not {gen!r:.100}")


def _check_generated(id_: object) -> None:
    if not isinstance(id_, str):
        raise TypeError(f"The generator of request_id returned {id_!r:.100}, expected a str")
    if not _ID.fullmatch(id_):
        raise ValueError(
            f"The generator of request_id returned {id_!r:.100}, expected ASCII letters, digits "
            "and '._:=+/-'"
        )
