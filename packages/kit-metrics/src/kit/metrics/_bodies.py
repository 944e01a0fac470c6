# SPDX-License-Identifier: MIT
"""The sizes of bodies."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import Any

from kit.interface import Context

__all__ = ("CountedBody", "content_length", "count_stream", "sent_size", "whole_size")

# SPEC: RFC 9110 sections 15.2, 15.3.5 and 15.4.5.
_WITHOUT_BODY = frozenset((101, 204, 304))


class CountedBody:
    """A streamed body that counts its bytes as they are read.

    Not an async generator: closing one that hasn't begun would not close the body.

    Args:
        body: The streamed body of a response, which can be closed.

    Attributes:
        size: Number of bytes so far.
    """

    __slots__ = ("_body", "_chunks", "size")

    def __init__(self, body: Any) -> None:
        self._body = body
        self._chunks = body.__aiter__()
        self.size = 0

    def __aiter__(self) -> CountedBody:
        return self

    async def __anext__(self) -> bytes:
        chunk: bytes = await self._chunks.__anext__()
        self.size += len(chunk)
        return chunk

    async def aclose(self) -> None:
        """Closes the body."""
        await self._body.aclose()


def whole_size(body: bytes, status: int, method: str) -> int:
    """Returns how many bytes of a body in memory are sent.

    Args:
        body: The body.
        status: The status of the response.
        method: The method of the request: the response to HEAD has no body.
    """
    if method == "HEAD" or status in _WITHOUT_BODY:
        return 0
    return len(body)


def count_stream(c: Context[Any, Any], body: AsyncIterable[bytes]) -> CountedBody | None:
    """Has the streamed body of the response counted.

    Args:
        c: The context.
        body: The body of its response.

    Returns:
        What counts; None if the server is to send a file by its path: the file is not read here.
    """
    response = c.res
    length = response.headers.get("content-length")
    if length is not None:
        extensions = (c.req.raw.scope or {}).get("extensions") or {}
        if "http.response.pathsend" in extensions:
            return None
    counted = CountedBody(body)
    c.res = response.replace(body=counted)
    if length is not None:
        c.header("content-length", length)
    return counted


def sent_size(c: Context[Any, Any], counted: CountedBody | None) -> int:
    """Returns how many bytes of a streamed body were sent.

    Args:
        c: The context.
        counted: What `count_stream` returned.
    """
    if counted is not None:
        return counted.size
    if c.req.method == "HEAD":
        return 0
    return content_length(c.res.headers.get("content-length")) or 0


def content_length(declared: str | None) -> int | None:
    """Returns the number of a Content-Length header, or None if it isn't one."""
    if declared is None or not (declared.isdigit() and declared.isascii()):
        return None
    return int(declared[:18])
