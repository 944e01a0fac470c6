# SPDX-License-Identifier: MIT
"""A streamed body that passes through while it is collected."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable
from typing import Any


class CollectingBody:
    """Passes a body through, and hands over a copy of it once it has ended.

    Nothing is handed over if it is larger than the limit, breaks off, or is closed before its end.
    Not an async generator: closing one that hasn't begun would not close the body.

    Args:
        body: The body.
        most: How many bytes are collected.
        done: Called with the whole.
    """

    __slots__ = ("_chunks", "_collected", "_done", "_left")

    def __init__(
        self, body: AsyncIterable[bytes], most: int, done: Callable[[bytes], Awaitable[None]]
    ) -> None:
        self._chunks: Any = body.__aiter__()
        self._left = most
        self._collected: list[bytes] | None = []
        self._done = done

    def __aiter__(self) -> CollectingBody:
        return self

    async def __anext__(self) -> bytes:
        try:
            chunk: bytes = await self._chunks.__anext__()
        except StopAsyncIteration:
            collected, self._collected = self._collected, None
            if collected is not None:
                await self._done(b"".join(collected))
            raise
        except BaseException:
            self._collected = None
            raise
        if self._collected is not None:
            self._left -= len(chunk)
            if self._left < 0:
                self._collected = None
            else:
                self._collected.append(bytes(chunk))
        return chunk

    async def aclose(self) -> None:
        """Closes the body."""
        self._collected = None
        await getattr(self._chunks, "aclose", _nothing)()


async def _nothing() -> None:
    """Closes a body that can't be closed."""
