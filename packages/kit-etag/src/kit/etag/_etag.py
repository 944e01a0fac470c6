# SPDX-License-Identifier: MIT
"""The middleware: adds entity tags to responses, and evaluates preconditions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from hashlib import sha1
from typing import Any, TypeAlias

from kit.authoring.bodies import close_body
from kit.authoring.maybe_await import call
from kit.authoring.not_modified import answer_not_modified
from kit.authoring.options import OptionChecks
from kit.http.conditional import evaluate
from kit.http.dates import parse_http_date
from kit.http.entity_tags import parse_entity_tag
from kit.http.methods import READING_METHODS
from kit.interface import AsyncMiddleware, Context, HTTPException, Next

__all__ = ("GenerateDigest", "etag")

GenerateDigest: TypeAlias = Callable[[bytes], bytes | Awaitable[bytes | None] | None]
"""Returns the digest of a body, or None for no ETag: `def digest(body)`, plain or async."""

# Hashing this many bytes with SHA-1 takes about as long as handing them to a thread.
_IN_THREAD_BYTES = 128 * 1024


def etag(
    *,
    weak: bool = False,
    retained_headers: Iterable[str] = (),
    generate_digest: GenerateDigest | None = None,
) -> AsyncMiddleware:
    """Returns middleware that adds an ETag to responses, and handles conditional requests.

    A response to GET, HEAD or QUERY with status 200 gets an ETag with a digest of its body, unless
    it already has one. Then the preconditions of the request are evaluated, in the order of
    RFC 9110, section 13.2.2: If-Match, If-Unmodified-Since, If-None-Match and If-Modified-Since.
    The dates are compared with Last-Modified, if the handler has set it. If the client already has
    the response, it gets a 304 without a body. If a precondition fails, the middleware raises an
    `HTTPException` with status 412.

    Streams aren't read: they pass through unchanged unless the handler sets ETag or Last-Modified.

    A 304 keeps the headers of the response, including cookies and CORS headers, except headers that
    describe the content, such as Content-Type.

    Args:
        weak: Whether to generate weak entity tags, which mean that the content is equivalent, but
            not necessarily byte for byte. If-Match and If-Range never match them.
        retained_headers: Names of content headers to keep in a 304.
        generate_digest: `generate_digest(body)`, plain or async, returns the digest of a body as
            bytes, which are written in hexadecimal, or None for no ETag. Default: SHA-1; bodies of
            at least 128 KiB are digested in a worker thread.

    Returns:
        The middleware, for `app.use(...)` or a route.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If a header name is invalid.

    Example:
        app.use(etag())
    """
    check = OptionChecks("etag")
    check.flag("weak", weak)
    kept = {
        check.header_name("retained_headers", name, "Content-Language").lower()
        for name in check.texts("retained_headers", retained_headers)
    }
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
        if method not in READING_METHODS or res.status != 200:
            return
        headers = res.headers
        tag = headers.get("ETag")
        if tag is None:
            body = res.body
            if isinstance(body, bytes) and body and (value := await digest(body)) is not None:
                tag = form.format(value)
                # Uses the context, which copies a response that the handler may return again.
                c.header("ETag", tag)
        modified = headers.get("Last-Modified")
        if tag is None and modified is None:
            return
        # A malformed ETag set by a handler isn't a validator.
        validator = None if tag is None else parse_entity_tag(tag)
        when = parse_http_date(modified)
        status = evaluate(method, req.header, etag=validator, last_modified=when)
        if status == 304:
            await answer_not_modified(c, retained=kept)
        elif status == 412:
            await close_body(res.body)
            raise HTTPException(412, "Precondition Failed")

    return etag


async def _sha1(body: bytes) -> str:
    if len(body) < _IN_THREAD_BYTES:
        return sha1(body, usedforsecurity=False).hexdigest()
    from anyio import to_thread  # here, since most apps don't need it

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
