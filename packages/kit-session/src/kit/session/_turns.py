# SPDX-License-Identifier: MIT
"""Queues the requests of this process that retry to change the same session.

The store decides which write comes first. If many retried at the same time, all but one would fail
again.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.lowlevel import RunVar

__all__ = ("is_contended", "pause", "turn")

_FIRST_PAUSE_S = 0.002
_LONGEST_PAUSE_S = 0.1


class _Queue:
    """The requests that wait for the same session."""

    __slots__ = ("lock", "users")

    def __init__(self) -> None:
        self.lock = anyio.Lock()
        self.users = 0


_queues: RunVar[dict[str, _Queue]] = RunVar("kit.session.queues")


def is_contended(key: str) -> bool:
    """Whether another request of this process is retrying to change a session."""
    return key in _queues.get({})


@asynccontextmanager
async def turn(key: str) -> AsyncIterator[None]:
    """Waits until no other request of this process is in this block for the same session."""
    queues = _queues.get({})
    _queues.set(queues)
    queue = queues.setdefault(key, _Queue())
    queue.users += 1
    try:
        async with queue.lock:
            yield
    finally:
        queue.users -= 1
        if not queue.users:
            del queues[key]


async def pause(attempt: int) -> None:
    """Waits for a random time that grows with the number of failed attempts."""
    longest = min(_FIRST_PAUSE_S * 2**attempt, _LONGEST_PAUSE_S)
    await anyio.sleep(random.random() * longest)  # noqa: S311 - no secret
