# SPDX-License-Identifier: MIT
"""The middleware: gives responses an entity tag, and evaluates preconditions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from hashlib import sha1
from typing import Any, TypeAlias

from kit.interface import AsyncMiddleware, Context, HTTPException, Next, Response
from kit.interface.calls import call
from kit.interface.conditional import evaluate, parse_entity_tag, parse_http_date
from kit.interface.options import OptionChecks

__all__ = ("GenerateDigest", "etag")

GenerateDigest: TypeAlias = Callable[[bytes], bytes | Awaitable[bytes | None] | None]
"""Returns the digest of a body, or None for no ETag: `def digest(body)`, plain or async."""

# Those that ask for a representation, which an ETag describes (RFC 9110, section 8.8.3).
_METHODS = frozenset(("GET", "HEAD", "QUERY"))
# SPEC: RFC 9110 section 15.4.5: what describes the content that is not sent. ETag stands for it.
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
# SHA-1 of so many bytes takes about as long as a thread takes to start on them.
_IN_THREAD_BYTES = 128 * 1024


def etag(
    *,
    weak: bool = False,
    retained_headers: Iterable[str] = (),
    generate_digest: GenerateDigest | None = None,
) -> AsyncMiddleware:
    """Returns middleware that adds an ETag to responses, and answers conditional requests.

    A response to GET, HEAD or QUERY with the status 200 gets an ETag made of a digest of its body,
    unless it has one already. Then the preconditions of the request are evaluated, in the order of
    RFC 9110, section 13.2.2: If-Match, If-Unmodified-Since, If-None-Match and If-Modified-Since.
    The dates are compared with Last-Modified, if the handler has set that. What the client has
    already is answered by a 304 without a body; a precondition that fails is an `HTTPException`
    with the status 412.

    Streams are not read: without an ETag or a Last-Modified of their own, they pass as they are.

    A 304 keeps the headers of the response, its cookies and CORS headers among them, except those
    that describe the content, such as Content-Type.

    Args:
        weak: Make weak entity tags, which say that the content is equivalent, not that it is the
            same bytes. If-Match and If-Range never match them.
        retained_headers: Names of headers that describe the content, and that a 304 keeps.
        generate_digest: `generate_digest(body)`, plain or async, returns the digest of a body as
            bytes, which are written in hexadecimal. None means no ETag. Default: SHA-1; bodies
            beyond 128 KiB are digested in a worker thread.

    Returns:
        The middleware, for `app.use(...)` or a route.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If a header name can't be used.

    Example:
        app.use(etag())
    """
    check = OptionChecks("etag")
    check.flag("weak", weak)
    kept = {
        check.header_name("retained_headers", name, "Content-Language").lower()
        for name in check.texts("retained_headers", retained_headers)
    }
    dropped = _OF_THE_CONTENT - kept
    # Without an ETag, Last-Modified is what a cache goes by.
    dropped_without_tag = dropped - {"last-modified"}
    if generate_digest is None:
        digest: Callable[[bytes], Awaitable[str | None]] = _sha1
    else:
        digest = _checked(check.function("generate_digest", generate_digest, "(body)"))
    form = 'W/"{}"' if weak else '"{}"'

    async def etag(c: Context[Any, Any], next: Next) -> None:
        await next()
        req = c.req
        method = req.method
        res = c.res
        if method not in _METHODS or res.status != 200:
            return
        headers = res.headers
        tag = headers.get("ETag")
        if tag is None:
            body = res.body
            if isinstance(body, bytes) and body and (value := await digest(body)) is not None:
                tag = form.format(value)
                # By the context, which copies a response that the handler may return again.
                c.header("ETag", tag)
        modified = headers.get("Last-Modified")
        if tag is None and modified is None:
            return
        # A handler's own field may be malformed: it is then no validator.
        validator = None if tag is None else parse_entity_tag(tag)
        when = parse_http_date(modified)
        status = evaluate(method, req.header, etag=validator, last_modified=when)
        if status is None:
            return
        await _close(res)
        if status == 412:
            raise HTTPException(412, "Precondition Failed")
        _not_modified(c, dropped if tag is not None else dropped_without_tag)

    return etag


def _not_modified(c: Context[Any, Any], dropped: frozenset[str]) -> None:
    answer = c.res.replace(body=None, status=304)
    headers = answer.headers
    for name in dropped.intersection(dict(headers.items())):
        headers.delete(name)
    # The copy has all headers that are to be kept, so none are handed on.
    c.res = None
    c.res = answer


async def _sha1(body: bytes) -> str:
    if len(body) < _IN_THREAD_BYTES:
        return sha1(body, usedforsecurity=False).hexdigest()
    from anyio import to_thread  # here, since most apps need none

    return await to_thread.run_sync(lambda: sha1(body, usedforsecurity=False).hexdigest())


def _checked(generate_digest: GenerateDigest) -> Callable[[bytes], Awaitable[str | None]]:
    async def digest(body: bytes) -> str | None:
        made: Any = await call(generate_digest, body)
        if made is None:
            return None
        if not isinstance(made, bytes) or not made:
            raise TypeError(
                f"etag(generate_digest=...) returned {made!r:.100}: expected a digest as bytes, "
                "or None for no ETag"
            )
        return made.hex()

    return digest


async def _close(res: Response) -> None:
    """Closes a streamed body, which will not be sent."""
    aclose = getattr(res.body, "aclose", None)
    if aclose is not None:
        await aclose()
