# SPDX-License-Identifier: MIT
"""Bodies: sending streamed ones as files, replacing and closing them; what texts count for."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kit.interface import Context

__all__ = ("close_body", "memory_of_text", "read_within", "replace_body")


async def close_body(body: Any) -> None:
    """Closes the body of a response that isn't sent, so that it can release what it has opened.

    Args:
        body: The body: bytes, a stream or None. One that has no `aclose` stays as it is.
    """
    aclose = getattr(body, "aclose", None)
    if aclose is not None:
        await aclose()


def memory_of_text(text: str) -> int:
    """Returns the number of bytes that a text counts for in a limit of memory.

    Of ASCII it is the number of characters. Other texts take up to four bytes for each, even for
    the ASCII ones among them, and count as what Python allocates for them.
    """
    return len(text) if text.isascii() else text.__sizeof__()


def replace_body(c: Context[Any, Any], body: AsyncIterable[bytes]) -> None:
    """Replaces the body of `c.res` with one of the same length, so that Content-Length stays.

    Args:
        c: The context.
        body: The new body, which reads the previous one.
    """
    response = c.res
    length = response.headers.get("content-length")
    c.res = response.replace(body=body)
    if length is not None:
        c.header("content-length", length)


def read_within(
    c: Context[Any, Any], value: Any, current: Callable[[], Any], enter: Callable[[Any], object]
) -> None:
    """Sets a value, e.g. of a context variable, whenever the streamed body of `c.res` is read.

    It is for middleware that sets the value around `next()`, since a stream is read later. In a
    request made in process, it is read with the context variables of the caller. Other bodies stay
    as they are.

    Args:
        c: The context.
        value: The value while a chunk is read, and while the body is closed.
        current: Returns the present value.
        enter: Sets a value; called with `value` before, and with the previous value after.
    """
    body = c.res.body
    if body is not None and not isinstance(body, bytes) and not c.res.body_used:
        replace_body(c, _BodyWithin(body, value, current, enter))


class _BodyWithin(AsyncIterator[bytes]):
    """See `read_within`. Closing an async generator before its start would not close the body."""

    __slots__ = ("_chunks", "_current", "_enter", "_value")

    def __init__(
        self,
        body: AsyncIterable[bytes],
        value: Any,
        current: Callable[[], Any],
        enter: Callable[[Any], object],
    ) -> None:
        self._chunks = body.__aiter__()
        self._value = value
        self._current = current
        self._enter = enter

    async def __anext__(self) -> bytes:
        outer = self._current()
        self._enter(self._value)
        try:
            return await self._chunks.__anext__()
        finally:
            self._enter(outer)

    async def aclose(self) -> None:
        outer = self._current()
        self._enter(self._value)
        try:
            await close_body(self._chunks)
        finally:
            self._enter(outer)
