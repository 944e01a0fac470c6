# SPDX-License-Identifier: MIT
"""The backend of an app that runs in one process."""

from __future__ import annotations

from collections.abc import Sequence

from anyio.lowlevel import checkpoint

from ._backend import Receiver

__all__ = ("MemoryBackend",)


class MemoryBackend:
    """Carries messages within one process, on asyncio and trio.

    Each process has its own: with several workers, a message reaches the subscribers of the worker
    that published it and no others. Use `RedisBackend` there.
    """

    def __init__(self) -> None:
        self._receiver: Receiver | None = None

    async def start(self, receiver: Receiver, /) -> None:
        """Begins to deliver."""
        self._receiver = receiver

    async def stop(self) -> None:
        """Ends the delivery."""
        self._receiver = None

    async def publish(self, channel: str, message: str | bytes, /) -> None:
        """Delivers a message, and lets other tasks run."""
        if self._receiver is not None:
            self._receiver.deliver(channel, message)
        # A task that only publishes would keep its subscribers from reading.
        await checkpoint()

    async def subscribe(self, channels: Sequence[str], /) -> None:
        """Does nothing: all messages are here."""

    def unsubscribe(self, channel: str, /) -> None:
        """Does nothing: nobody is delivered to."""
