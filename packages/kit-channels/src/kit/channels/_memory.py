# SPDX-License-Identifier: MIT
"""The backend for an app that runs in one process."""

from __future__ import annotations

from collections.abc import Sequence

from anyio.lowlevel import checkpoint

from ._backend import Receiver

__all__ = ("MemoryBackend",)


class MemoryBackend:
    """Carries messages within one process, on asyncio and trio.

    With several workers, a message reaches only subscribers in the worker that published it. Use
    `RedisBackend` in that case.
    """

    def __init__(self) -> None:
        self._receiver: Receiver | None = None

    async def start(self, receiver: Receiver, /) -> None:
        """Starts delivering messages."""
        self._receiver = receiver

    async def stop(self) -> None:
        """Stops delivering messages."""
        self._receiver = None

    async def publish(self, channel: str, message: str | bytes, /) -> None:
        """Delivers a message, and lets other tasks run."""
        if self._receiver is not None:
            self._receiver.deliver(channel, message)
        # Otherwise, a task that only publishes would keep its subscribers from running.
        await checkpoint()

    async def subscribe(self, channels: Sequence[str], /) -> None:
        """Does nothing: all messages are delivered anyway."""

    def unsubscribe(self, channel: str, /) -> None:
        """Does nothing: messages without subscribers are ignored."""
