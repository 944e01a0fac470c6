# SPDX-License-Identifier: MIT
"""The protocol for backends, which carry messages between the processes of an app."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

__all__ = ("Backend", "Receiver")


class Receiver(Protocol):
    """Receives messages from a backend. Its methods are called in the event loop of `start`."""

    def deliver(self, channel: str, message: str | bytes, /) -> None:
        """Delivers a message to the subscribers of this process. Never waits.

        Args:
            channel: A channel that the backend is subscribed to; other channels are ignored.
            message: The message, of the type that it was published with.
        """
        ...

    def interrupted(self, channel: str, /) -> None:
        """Reports that messages of a channel may have been lost with the connection.

        Call it after resubscribing to the channel, before its next message, so that subscribers can
        load the messages they may have missed.

        Args:
            channel: The channel.
        """
        ...


@runtime_checkable
class Backend(Protocol):
    """Carries messages; `kit.channels.testing` has conformance tests for backends.

    A backend delivers each message at most once to each process. Messages published by one task are
    delivered in order. It reconnects automatically.
    """

    async def start(self, receiver: Receiver, /) -> None:
        """Connects. A backend may be restarted after `stop`, even in another event loop.

        Args:
            receiver: Receives the messages.

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
            message: The message. Receivers can distinguish str from bytes.

        Raises:
            ChannelsUnavailableError: If success isn't confirmed within a bounded time.
        """
        ...

    async def subscribe(self, channels: Sequence[str], /) -> None:
        """Subscribes this process to channels; messages published after it returns are received.

        It may be called again for a subscribed channel, or while another such call waits. It may be
        cancelled; `unsubscribe` is then called.

        Args:
            channels: At least one name.

        Raises:
            ChannelsUnavailableError: If success isn't confirmed within a bounded time, or the
                server refuses a channel.
        """
        ...

    def unsubscribe(self, channel: str, /) -> None:
        """Ends the subscription to a channel. Never waits, since it is called in cancelled tasks.

        A later `subscribe` to the same channel takes precedence, in whatever order the two calls
        reach the server.

        Args:
            channel: The name.
        """
        ...
