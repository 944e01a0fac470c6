# SPDX-License-Identifier: MIT
"""The middleware, which decides what to indent, and corrects the headers."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from kit.authoring.options import OptionChecks
from kit.http.entity_tags import weaken
from kit.interface import AsyncMiddleware, Context, Next, Response

from ._indenting import indenter

# SPEC: RFC 8259 section 11 and RFC 6839 section 3.1.
_JSON_TYPE = re.compile(r"application/(?:[^\s;/]+\+)?json(?=$|[;\s])", re.IGNORECASE)
# SPEC: ECMA-262, JSON.stringify, step 6.
_MOST_SPACE = 10
# A larger body takes more than 10 ms. It is indented in a worker thread, so other requests go on.
_IN_THREAD_BYTES = 8 * 1024
# SPEC: RFC 9530 sections 2 and 3, RFC 3230 and RFC 1864: digests of the bytes that are sent.
_DIGESTS = ("Content-Digest", "Repr-Digest", "Digest", "Content-MD5")


def pretty_json(*, space: int = 2, query: str = "pretty", force: bool = False) -> AsyncMiddleware:
    """Returns middleware that indents JSON responses if the query has `?pretty`.

    The text of the response is indented, not decoded: numbers, escapes, repeated keys and the order
    of keys are kept. Responses of type `application/json` and `application/*+json` are indented;
    streams, partial content, and anything that isn't valid JSON (RFC 8259) are sent unchanged. So
    is a response that would become more than 32 times as large, and larger than 64 KiB. Bodies of
    at least 8 KiB are indented in a worker thread.

    A strong ETag becomes a weak one (RFC 9110, section 8.8.1), since the bytes have changed.

    Args:
        space: Spaces per level, at most 10; a larger number counts as 10, and 0 removes all
            whitespace, as in JavaScript's `JSON.stringify`.
        query: Name of the query parameter that turns it on, with any value or none.
        force: Indent all JSON responses, whatever the query.

    Returns:
        The middleware, for `app.use(...)`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `space` is negative, or `query` is empty.

    Example:
        app.use(pretty_json())
    """
    check = OptionChecks("pretty_json")
    check.number("space", space, least=0)
    if not check.text("query", query):
        check.unusable("query", query, "the name of a query parameter, e.g. 'pretty'")
    check.flag("force", force)
    indent = indenter(min(space, _MOST_SPACE))

    async def after(next: Next, c: Context[Any, Any]) -> None:
        await next()
        await _make_pretty(c, indent)

    # PERF: a plain function, since there is nothing to do after most requests.
    def pretty_json(c: Context[Any, Any], next: Next) -> Awaitable[None]:
        if force or c.req.query(query) is not None:
            return after(next, c)
        return next()

    return pretty_json


async def _make_pretty(c: Context[Any, Any], indent: Callable[[str], str | None]) -> None:
    res = c.res
    content_type = res.headers.get("Content-Type")
    if content_type is None and res.status == 304:
        # SPEC: RFC 9110 section 15.4.5: a 304 has the ETag that a 200 would have had.
        _weaken_etag(c, res)
        return
    if content_type is None or not _JSON_TYPE.match(content_type):
        return
    body = res.body
    if not isinstance(body, bytes) or res.headers.has("Content-Range"):
        return
    if len(body) < _IN_THREAD_BYTES:
        pretty = _indented(body, indent)
    else:
        from anyio import to_thread  # here, since most apps don't need it

        pretty = await to_thread.run_sync(_indented, body, indent)
    if pretty is None:
        return
    c.res = res.replace(body=pretty)
    _weaken_etag(c, res)
    for name in _DIGESTS:
        c.header(name)


def _indented(body: bytes, indent: Callable[[str], str | None]) -> bytes | None:
    try:
        text = indent(body.decode().removeprefix("\ufeff"))
    except UnicodeDecodeError:  # SPEC: RFC 8259 section 8.1: not JSON, or compressed
        return None
    return None if text is None else text.encode()


def _weaken_etag(c: Context[Any, Any], res: Response) -> None:
    etag = res.headers.get("ETag")
    if etag is not None:
        c.header("ETag", weaken(etag))
