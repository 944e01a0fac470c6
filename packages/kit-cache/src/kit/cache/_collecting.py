# SPDX-License-Identifier: MIT
"""A streamed body that is collected while it passes through."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable
from typing import Any

from kit.authoring.bodies import close_body


class CollectingBody:
    """Passes a body through, and calls `done` with a copy of it when it ends.

    `done` isn't called if the body exceeds the limit, fails, or is closed before its end.
    Not an async generator: closing one that hasn't started would not close the body.

    Args:
        body: The body.
        most: Maximum number of bytes to collect.
        done: Called with the complete body.
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
        await close_body(self._chunks)
