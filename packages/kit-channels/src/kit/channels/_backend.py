# SPDX-License-Identifier: MIT
"""What carries messages between the processes of an app."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

__all__ = ("Backend", "Receiver")


class Receiver(Protocol):
    """Takes what a backend received; `Channels` is one. Called in the event loop of `start`."""

    def deliver(self, channel: str, message: str | bytes, /) -> None:
        """Hands a message to the subscribers of this process. Never waits.

        Args:
            channel: A channel that the backend is subscribed to; of any other it is ignored.
            message: The message, of the type that it was published with.
        """
        ...

    def interrupted(self, channel: str, /) -> None:
        """Says that messages of a channel may have been lost, as the connection was.

        Call it when the channel is subscribed to again, before its next message: a subscriber that
        now loads what it may have missed misses nothing.

        Args:
            channel: The channel.
        """
        ...


@runtime_checkable
class Backend(Protocol):
    """Carries messages; `kit.channels.testing` has the conformance tests for one.

    A backend delivers each message at most once to each process, and the messages that one task
    publishes in the order in which it published them. It reconnects by itself.
    """

    async def start(self, receiver: Receiver, /) -> None:
        """Connects. A backend may be started again after `stop`, also in another event loop.

        Args:
            receiver: Takes what arrives.

        Raises:
            ChannelsUnavailableError: If there is no connection within a bounded time.
        """
        ...

    async def stop(self) -> None:
        """Disconnects, and ends all tasks of the backend. Raises nothing."""
        ...

    async def publish(self, channel: str, message: str | bytes, /) -> None:
        """Publishes a message, once.

        Args:
            channel: A checked name: 1 to 200 characters, no control characters.
            message: The message. A str and bytes are told apart where they arrive.

        Raises:
            ChannelsUnavailableError: If that isn't known to have worked within a bounded time.
        """
        ...

    async def subscribe(self, channels: Sequence[str], /) -> None:
        """Subscribes this process to channels; what is published after it returns arrives.

        It may be called again for a channel that is subscribed to, or while such a call waits, and
        may be cancelled: `unsubscribe` follows then.

        Args:
            channels: At least one name.

        Raises:
            ChannelsUnavailableError: If that isn't known to have worked within a bounded time.
        """
        ...

    def unsubscribe(self, channel: str, /) -> None:
        """Ends the subscription to a channel. Never waits, as it is called in cancelled tasks.

        A later `subscribe` to the same channel holds, in whatever order they reach a server.

        Args:
            channel: The name.
        """
        ...
