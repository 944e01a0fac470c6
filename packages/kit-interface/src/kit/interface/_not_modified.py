# SPDX-License-Identifier: MIT
"""Responses with status 304 (RFC 9110, section 15.4.5), for `kit.interface.conditional`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from ._context import Context
from .bodies import close_body

__all__ = ("answer_not_modified", "omitted_when_not_modified")

# Headers that describe the content. Content-Location isn't one of them: a 304 must have it.
_OF_THE_CONTENT = frozenset(
    (
        "content-digest",
        "content-disposition",
        "content-encoding",
        "content-language",
        "content-length",
        "content-md5",
        "content-range",
        "content-type",
        "digest",
        "last-modified",
        "repr-digest",
        "trailer",
        "transfer-encoding",
    )
)


def omitted_when_not_modified(
    names: Collection[str], *, retained: Iterable[str] = ()
) -> frozenset[str]:
    """Returns the headers of a 200 that a 304 omits: those that describe the content.

    They include Last-Modified only if there is an ETag, since caches rely on it otherwise
    (RFC 9110, section 15.4.5).

    Args:
        names: The names of the headers of the 200, in lower case.
        retained: Names of headers to keep nevertheless, in lower case.
    """
    omitted = _OF_THE_CONTENT.intersection(names).difference(retained)
    return omitted if "etag" in names else omitted - {"last-modified"}


async def answer_not_modified(c: Context[Any, Any], *, retained: Iterable[str] = ()) -> None:
    """Replaces the response of a context with a 304, as middleware does after the handlers.

    The 304 has the headers of the response, including cookies and CORS headers, except those that
    `omitted_when_not_modified` returns. A streamed body is closed.

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
