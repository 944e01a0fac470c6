# SPDX-License-Identifier: MIT
"""Responses with status 304 (RFC 9110, section 15.4.5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kit.http.conditional import omitted_when_not_modified
from kit.interface import Context

from .bodies import close_body

__all__ = ("answer_not_modified",)


async def answer_not_modified(c: Context[Any, Any], *, retained: Iterable[str] = ()) -> None:
    """Replaces the response of a context with a 304, as middleware does after the handlers.

    The 304 has the headers of the response, including cookies and CORS headers, except those that
    `kit.http.conditional.omitted_when_not_modified` returns. A streamed body is closed.

    Args:
        c: The context, whose response is the 200 that the client already has.
        retained: Names of headers to keep nevertheless, in lower case.
    """
    res = c.res
    await close_body(res.body)
    answer = res.replace(body=None, status=304)
    headers = answer.headers
    for name in omitted_when_not_modified(dict(headers.items()), retained=retained):
        headers.delete(name)
    # The copy has all headers to keep, so there are none to carry over.
    c.res = None
    c.res = answer
