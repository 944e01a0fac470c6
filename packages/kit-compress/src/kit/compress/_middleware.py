# SPDX-License-Identifier: MIT
"""The middleware: decides which responses are compressed, and corrects their headers."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeAlias

from kit.interface import AsyncMiddleware, Context, Next
from kit.interface.calls import call
from kit.interface.encodings import choose_encoding
from kit.interface.options import OptionChecks

from ._codings import Coding
from ._headers import (
    ACCEPT_ENCODING,
    describe_encoded,
    describe_revalidated,
    is_fixed,
    is_shorter,
    vary,
)
from ._options import check_codings, check_filter
from ._stream import STREAMED_BYTES, CompressedStream, compress_whole

__all__ = ("ContentTypeFilter", "Skip", "compress")

ContentTypeFilter: TypeAlias = re.Pattern[str] | Callable[[str], bool | Awaitable[bool]]
"""Which types to compress: a pattern that is searched, or `def is_text(content_type)`."""

# Any lets the function annotate its context as the core's own class, or one with its types.
Skip: TypeAlias = Callable[[Any], bool | Awaitable[bool]]
"""Returns whether to leave a response as it is: `def skip(c)`, plain or async."""


def compress(
    *,
    encodings: Iterable[str] | None = None,
    encoding: str | None = None,
    threshold: int = 1024,
    content_type_filter: ContentTypeFilter | None = None,
    level: int | Mapping[str, int] | None = None,
    skip: Skip | None = None,
) -> AsyncMiddleware:
    """Returns middleware that compresses responses with what the client accepts.

    The coding is chosen by Accept-Encoding (RFC 9110, section 12.5.3). Streams are compressed chunk
    by chunk, and each chunk is sent at once. Bodies from 32 KiB on are compressed in a worker
    thread, and from 1 MiB on they are streamed.

    Left alone are responses that have a Content-Encoding, a Transfer-Encoding or a Content-Range,
    `Cache-Control: no-transform` (RFC 9111, section 5.2.2.6), bodies below the threshold, and other
    types. All that could have been compressed have `Vary: Accept-Encoding`, whether they are or
    not. A strong ETag becomes a weak one, since it was made for other bytes; digests of the content
    and Accept-Ranges are removed.

    A client that refuses everything, as by `*;q=0`, gets the response as it is.

    Args:
        encodings: The codings to use, the preferred one first: `zstd`, `br`, `gzip`, `deflate`.
            Default: the first three, as far as their libraries are installed.
        encoding: The only coding to use, in place of `encodings`.
        threshold: Size in bytes from which bodies are compressed. It is unknown for most streams,
            which are compressed.
        content_type_filter: Which responses to compress by their Content-Type: a compiled pattern,
            which is searched in it, or a function `(content_type)`, plain or async. Default:
            `kit.interface.media_types.is_compressible`.
        level: How much effort to make: a level, or one for each coding. Default 3 for zstd (1 to
            19), 4 for br (0 to 11), 6 for gzip and deflate (1 to 9).
        skip: `skip(c)`, plain or async, is called when `c.res` is about to be compressed, and
            returns whether to leave it as it is.

    Returns:
        The middleware, for `app.use(...)` or a route.

    Raises:
        TypeError: If an option has the wrong type, or both `encodings` and `encoding` are given.
        ValueError: If an option can't be used.
        ImportError: If the library of a coding that is named isn't installed.

    Example:
        app.use(compress())
    """
    check = OptionChecks("compress")
    codings = check_codings(check, encodings, encoding, level)
    # Not even a threshold of 0 makes an empty body larger.
    least = max(check.number("threshold", threshold, least=0, unit="bytes"), 1)
    is_type = check_filter(check, content_type_filter)
    if skip is not None:
        check.function("skip", skip, "(c)")
    names = tuple(codings)

    async def compress(c: Context[Any, Any], next: Next) -> None:
        await next()
        res = c.res
        body = res.body
        if isinstance(body, bytes) and len(body) < least:
            return  # PERF: what is small costs no more than this
        # PERF: read once, as most of them are asked for.
        known = dict(res.headers.items())
        if res.status == 304:
            describe_revalidated(c, known)
            return
        if not _is_long(known, body, c.req.method, least):
            return
        content_type = known.get("content-type")
        if content_type is None:
            return
        is_wanted = is_type(content_type)
        if not (await is_wanted if hasattr(is_wanted, "__await__") else is_wanted):
            return
        if is_fixed(res.status, known) or (skip is not None and await call(skip, c)):
            return
        chosen = choose_encoding(c.req.header(ACCEPT_ENCODING), names)
        coding = None if chosen is None else codings.get(chosen)
        if chosen is None or coding is None:
            vary(c, known)
            return
        # A copy, since the handler may return the same response again.
        encoded = res.replace(body=await _encoded(coding, body))
        describe_encoded(encoded.headers, known, chosen)
        # PERF: the copy has all headers, so there are none to be handed on.
        c.res = None
        c.res = encoded

    return compress


def _is_long(known: Mapping[str, str], body: Any, method: str, threshold: int) -> bool:
    """Returns whether a body is long enough to be compressed, or may be."""
    if isinstance(body, bytes):
        return True
    is_short = is_shorter(known, threshold)
    if body is not None:
        return not is_short
    # A HEAD without a body is to have the headers of a GET, whose length is known from here only.
    return method == "HEAD" and is_short is False


async def _encoded(coding: Coding, body: Any) -> Any:
    if body is None:
        return None
    if isinstance(body, bytes) and len(body) < STREAMED_BYTES:
        return await compress_whole(coding, body)
    return CompressedStream(body, coding.encoder)
