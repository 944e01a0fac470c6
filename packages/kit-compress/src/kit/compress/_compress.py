# SPDX-License-Identifier: MIT
"""The middleware: decides which responses to compress, and adjusts their headers."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeAlias

from kit.authoring.maybe_await import call
from kit.authoring.options import OptionChecks
from kit.http.encodings import choose_encoding
from kit.interface import AnyContext, AsyncMiddleware, Context, Next

from ._codings import Coding
from ._headers import (
    ACCEPT_ENCODING,
    describe_encoded,
    describe_revalidated,
    is_fixed,
    is_part,
    is_shorter,
    vary,
)
from ._options import check_codings, check_filter
from ._stream import STREAMED_BYTES, CompressedStream, compress_whole

__all__ = ("ContentTypeFilter", "Skip", "compress")

_PARTIAL = 206

ContentTypeFilter: TypeAlias = re.Pattern[str] | Callable[[str], bool | Awaitable[bool]]
"""Which types to compress: a pattern to search for, or `def is_text(content_type)`."""

Skip: TypeAlias = Callable[[AnyContext], bool | Awaitable[bool]]
"""Returns whether to leave a response uncompressed: `def skip(c)`, plain or async."""


def compress(
    *,
    encodings: Iterable[str] | None = None,
    encoding: str | None = None,
    threshold: int = 1024,
    content_type_filter: ContentTypeFilter | None = None,
    level: int | Mapping[str, int] | None = None,
    skip: Skip | None = None,
) -> AsyncMiddleware:
    """Returns middleware that compresses responses with a coding that the client accepts.

    The coding is chosen by Accept-Encoding (RFC 9110, section 12.5.3). Streams are compressed chunk
    by chunk, and each chunk is sent immediately. Bodies of at least 32 KiB are compressed in a
    worker thread, and bodies of at least 1 MiB are streamed.

    Responses aren't compressed if they have a Content-Encoding, a Transfer-Encoding, a
    Content-Range or `Cache-Control: no-transform` (RFC 9111, section 5.2.2.6), if they are below
    the threshold, or if their type is excluded. All responses that could have been compressed, and
    ranges of them, have `Vary: Accept-Encoding`. A strong ETag becomes a weak one, since it
    identifies the uncompressed bytes; digests of the content and Accept-Ranges are removed.

    If a client rejects every coding, e.g. with `*;q=0`, the response is sent uncompressed.

    Args:
        encodings: The codings to use, in order of preference: `zstd`, `br`, `gzip`, `deflate`.
            Default: the first three, if their libraries are installed.
        encoding: The only coding to use, instead of `encodings`.
        threshold: Size in bytes from which bodies are compressed. Streams of unknown size are
            compressed.
        content_type_filter: Which responses to compress by their Content-Type: a compiled pattern
            to search for, or a function `(content_type)`, plain or async. Default:
            `kit.http.media_types.is_compressible`.
        level: The compression level of all codings, or a mapping with one for each. Default 3 for
            zstd (1 to 19), 4 for br (0 to 11), 6 for gzip and deflate (1 to 9).
        skip: `skip(c)`, plain or async, is called before `c.res` is compressed, and returns whether
            to leave it uncompressed.

    Returns:
        The middleware, for `app.use(...)` or a route.

    Raises:
        TypeError: If an option has the wrong type, or both `encodings` and `encoding` are given.
        ValueError: If an option is invalid.
        ImportError: If the library of a requested coding isn't installed.

    Example:
        app.use(compress())
    """
    check = OptionChecks("compress")
    codings = check_codings(check, encodings, encoding, level)
    # Even with a threshold of 0, an empty body isn't compressed.
    least = max(check.number("threshold", threshold, least=0, unit="bytes"), 1)
    is_type = check_filter(check, content_type_filter)
    if skip is not None:
        check.function("skip", skip, "(c)")
    names = tuple(codings)

    async def compress(c: Context[Any, Any], next: Next) -> None:
        await next()
        res = c.res
        body = res.body
        if isinstance(body, bytes) and len(body) < least and res.status != _PARTIAL:
            return  # PERF: small bodies cost no more than this
        # PERF: read once, since most of them are needed.
        known = dict(res.headers.items())
        status = res.status
        if status == 304:
            describe_revalidated(c, known)
            return
        if not _is_long(status, known, body, c.req.method, least):
            return
        content_type = known.get("content-type")
        if content_type is None:
            return
        if not await call(is_type, content_type):
            return
        if is_fixed(status, known) or (skip is not None and await call(skip, c)):
            return
        chosen = choose_encoding(c.req.header(ACCEPT_ENCODING), names)
        coding = None if chosen is None else codings.get(chosen)
        # SPEC: RFC 9110, section 15.3.7: a 206 has the Vary that the 200 would have.
        if chosen is None or coding is None or status == _PARTIAL:
            vary(c, known)
            return
        # A copy, since the handler may return the same response again.
        encoded = res.replace(body=await _encoded(coding, body))
        describe_encoded(encoded.headers, known, chosen)
        # PERF: the copy has all headers, so there are none to carry over.
        c.res = None
        c.res = encoded

    return compress


def _is_long(status: int, known: Mapping[str, str], body: Any, method: str, threshold: int) -> bool:
    """Returns whether a body is long enough to be compressed, or may be; for a 206, the whole."""
    if status == _PARTIAL:
        return is_part(known, threshold)
    if isinstance(body, bytes):
        return True
    is_short = is_shorter(known, threshold)
    if body is not None:
        return not is_short
    # A HEAD response without a body has the headers of the GET, so its length is only known here.
    return method == "HEAD" and is_short is False


async def _encoded(coding: Coding, body: Any) -> Any:
    if body is None:
        return None
    if isinstance(body, bytes) and len(body) < STREAMED_BYTES:
        return await compress_whole(coding, body)
    return CompressedStream(body, coding.encoder)
