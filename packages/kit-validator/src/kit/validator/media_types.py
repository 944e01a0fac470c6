# SPDX-License-Identifier: MIT
"""Refuses bodies with another media type than the expected ones."""

from __future__ import annotations

from typing import Any

from kit.http.media_types import JSON, MULTIPART, URLENCODED, format_accept_query
from kit.interface import Context, ProblemError

__all__ = ("FORM_TYPES", "JSON_TYPES", "refuse_other_body")

JSON_TYPES = (JSON,)
"""The media type of JSON bodies. Types that end in `+json` are accepted, too."""

FORM_TYPES = (MULTIPART, URLENCODED)
"""The media types of forms."""


async def refuse_other_body(c: Context[Any, Any], expected: tuple[str, ...]) -> None:
    """Refuses the body of a request whose Content-Type is none of those expected.

    Call this only if the Content-Type isn't one of them. A body of another type is never ignored,
    even if all values in it are optional, since it was sent for a purpose.

    Args:
        c: The context.
        expected: The expected media types, which the response lists.

    Raises:
        ProblemError: 415 if there is a body (RFC 9110, section 15.5.16). Its header `Accept` lists
            the types to send, and so do `Accept-Patch` for PATCH (RFC 5789, section 2.2) and
            `Accept-Query` for QUERY. A QUERY must have a Content-Type, even without a body; one
            without it is a 400 (RFC 10008, section 2.1).
    """
    is_query = c.req.method == "QUERY"
    if not is_query and not await _has_body(c):
        return
    content_type = c.req.header("content-type")
    found = "There is no Content-Type"
    if content_type is not None:
        found = f"Content-Type is {content_type!r:.100}"
    accepted = ", ".join(expected)
    headers = {"accept": accepted}
    if c.req.method == "PATCH":
        headers["accept-patch"] = accepted
    elif is_query:
        headers["accept-query"] = format_accept_query(expected)
    detail = f"{found}, expected {' or '.join(expected)}"
    status = 400 if is_query and not content_type else 415
    raise ProblemError(status, detail=detail, headers=headers)


async def _has_body(c: Context[Any, Any]) -> bool:
    """Returns whether a request has content, without reading it if its headers tell."""
    length = c.req.header("content-length")
    if length is not None:
        return length.strip("0") != ""
    return c.req.header("transfer-encoding") is not None or bool(await c.req.bytes())
