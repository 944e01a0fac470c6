# SPDX-License-Identifier: MIT
"""The chunks of a body, wherever it comes from."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from kit._support.limits import body_too_large
from kit.web._body import Stream, close_stream, iterate
from kit.web._received import ReceivedBody, See


def chunks_of(body: bytes | Stream | None) -> AsyncGenerator[bytes, None]:
    """Gives the chunks; who leaves before the end closes it."""
    if isinstance(body, ReceivedBody):
        return body.__aiter__()
    return iterate([body] if isinstance(body, bytes) else body or ())


async def bounded_chunks_of(
    body: bytes | Stream | None, most: int | None, see: See | None = None
) -> AsyncGenerator[bytes, None]:
    """The chunks of a body, up to a size in bytes.

    Raises:
        HTTPException: 413 beyond it, and what `see` raises.
    """
    size = 0
    try:
        async with aclosing(chunks_of(body)) as chunks:
            async for chunk in chunks:
                size += len(chunk)
                if most is not None and size > most:
                    raise body_too_large(most)
                if see is not None:
                    see(chunk)
                yield chunk
    finally:
        await close_stream(body)
