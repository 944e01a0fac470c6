# SPDX-License-Identifier: MIT
"""Reads from a server that loses the data a cancelled reader was waiting for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    import asyncio

_T = TypeVar("_T")


class ResumableRead(Generic[_T]):
    """Reads from a server, and keeps data that a cancelled caller waited for until the next call.

    granian loses the data that a cancelled task was waiting for. Only for asyncio.

    Args:
        start: Starts a read.
    """

    __slots__ = ("_future", "_is_over", "_start")

    def __init__(self, start: Callable[[], Awaitable[_T]]) -> None:
        self._start = start
        self._future: asyncio.Future[_T] | None = None
        self._is_over = False

    async def next(self) -> _T:
        """Returns the result of the next read.

        Raises:
            EOFError: If `end` was called.
        """
        import asyncio  # here, since trio doesn't need it

        if self._future is None:
            self._future = asyncio.ensure_future(self._start())
        try:
            value = await asyncio.shield(self._future)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not self._is_over or (task is not None and task.cancelling()):
                raise
            raise EOFError from None
        except BaseException:
            # The traceback refers to this object; a cycle would keep the connection open.
            self._future = None
            raise
        self._future = None
        return value

    def end(self) -> None:
        """Ends reading, also for a waiting caller."""
        self._is_over = True
        if self._future is not None:
            self._future.cancel()
