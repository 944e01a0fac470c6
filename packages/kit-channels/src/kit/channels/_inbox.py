# SPDX-License-Identifier: MIT
"""The bounded queue of a subscription, filled by `Channels` and emptied by the subscriber."""

from __future__ import annotations

from collections import deque
from typing import Any, Literal, NamedTuple, TypeAlias

from anyio import Event

from ._errors import SlowSubscriberError, SubscriptionClosedError

__all__ = ("Gap", "Inbox", "Message", "OnOverflow")

OnOverflow: TypeAlias = Literal["drop_oldest", "drop_newest", "close"]
"""What to do with messages when a subscriber reads too slowly."""


class Message(NamedTuple):
    """A message and its channel.

    Attributes:
        channel: The channel.
        data: The message.
    """

    channel: str
    data: str | bytes


class Gap(NamedTuple):
    """Messages are missing here.

    Attributes:
        dropped: Number of messages dropped because the queue was full.
        interrupted: Whether the connection to the backend was lost. An unknown number of messages,
            possibly none, was lost with it.
    """

    dropped: int
    interrupted: bool


class Inbox:
    """The messages of one subscription that haven't been received yet.

    Args:
        channels: The names of the channels.
        max_queue: Maximum number of messages.
        max_queue_bytes: Maximum total size in bytes, or characters for a str. A single message
            always fits.
        on_overflow: What to do with messages that don't fit.

    Attributes:
        channels: The names of the channels.
        size: Number of messages in the queue.
        dropped: Number of messages dropped because the queue was full.
        interruptions: Number of times the backend may have lost messages.
    """

    __slots__ = (
        "_arrival",
        "_bytes",
        "_gap_first",
        "_has_ended",
        "_has_overflowed",
        "_is_receiving",
        "_max_queue",
        "_max_queue_bytes",
        "_on_overflow",
        "_queue",
        "channels",
        "dropped",
        "interruptions",
        "size",
    )

    def __init__(
        self,
        channels: tuple[str, ...],
        max_queue: int,
        max_queue_bytes: int,
        on_overflow: OnOverflow,
    ) -> None:
        self.channels = channels
        self.dropped = 0
        self.interruptions = 0
        # Gaps are in the queue too, but don't count toward either limit.
        self.size = 0
        self._bytes = 0
        self._queue: deque[Message | Gap] = deque()
        self._max_queue = max_queue
        self._max_queue_bytes = max_queue_bytes
        self._on_overflow = on_overflow
        self._gap_first: Gap | None = None
        self._arrival: Event | None = None
        self._is_receiving = False
        self._has_ended = False
        self._has_overflowed = False

    async def next(self) -> Any:
        """Waits for the next message or gap.

        Raises:
            SlowSubscriberError: If the queue was full and `on_overflow` is `"close"`.
            SubscriptionClosedError: If the subscription ended for another reason.
            RuntimeError: If another task is waiting.
        """
        if self._is_receiving:
            raise RuntimeError(
                "Two tasks are receiving from one subscription, so each would get only some of "
                "the messages: subscribe twice"
            )
        while True:
            if self._gap_first is not None:
                gap, self._gap_first = self._gap_first, None
                return gap
            if self._queue:
                return self._take()
            if self._has_overflowed:
                raise SlowSubscriberError(
                    "The subscriber reads too slowly: more than "
                    f"{self._max_queue} messages or {self._max_queue_bytes} bytes waited"
                )
            if self._has_ended:
                raise SubscriptionClosedError("The subscription has ended")
            self._arrival = Event()
            self._is_receiving = True
            try:
                await self._arrival.wait()
            finally:
                self._arrival = None
                self._is_receiving = False

    def put(self, message: Message) -> None:
        """Adds a message, unless the subscription has ended."""
        if self._has_ended:
            return
        size = len(message.data)
        if self.size and (
            self.size >= self._max_queue or self._bytes + size > self._max_queue_bytes
        ):
            if self._on_overflow == "close":
                self._has_overflowed = True
                self.end()
                return
            if self._on_overflow == "drop_newest":
                self.dropped += 1
                self._put_gap(Gap(1, interrupted=False))
                return
            while self.size and (
                self.size >= self._max_queue or self._bytes + size > self._max_queue_bytes
            ):
                self._drop_oldest()
        self._queue.append(message)
        self.size += 1
        self._bytes += size
        if self._arrival is not None:
            self._arrival.set()

    def interrupt(self) -> None:
        """Records that the backend may have lost messages."""
        if not self._has_ended:
            self.interruptions += 1
            self._put_gap(Gap(0, interrupted=True))

    def end(self) -> None:
        """Ends the subscription; queued messages can still be received."""
        self._has_ended = True
        if self._arrival is not None:
            self._arrival.set()

    def clear(self) -> None:
        """Discards the queued messages."""
        self._queue.clear()
        self._gap_first = None
        self.size = self._bytes = 0

    def _take(self) -> Message | Gap:
        event = self._queue.popleft()
        if event.__class__ is Message:
            self.size -= 1
            self._bytes -= len(event.data)
        return event

    def _drop_oldest(self) -> None:
        event = self._take()
        if event.__class__ is Message:
            self.dropped += 1
            event = Gap(1, interrupted=False)
        self._gap_first = _joined(self._gap_first, event)  # type: ignore[arg-type]

    def _put_gap(self, gap: Gap) -> None:
        queue = self._queue
        if queue and queue[-1].__class__ is Gap:
            queue[-1] = _joined(queue[-1], gap)
        else:
            queue.append(gap)
        if self._arrival is not None:
            self._arrival.set()


def _joined(one: Gap | None, other: Gap) -> Gap:
    if one is None:
        return other
    return Gap(one.dropped + other.dropped, one.interrupted or other.interrupted)
