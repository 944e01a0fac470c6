# SPDX-License-Identifier: MIT
"""A subscription: a bounded queue of what was published to some channels."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias, TypeVar, overload

from anyio import Event

from ._errors import SlowSubscriberError, SubscriptionClosedError
from ._json import decode

if TYPE_CHECKING:
    from typing_extensions import TypeForm

__all__ = ("Gap", "Message", "OnOverflow", "Subscription")

T = TypeVar("T")

OnOverflow: TypeAlias = Literal["drop_oldest", "drop_newest", "close"]
"""What happens to the messages of a subscriber that reads more slowly than others publish."""


class Message(NamedTuple):
    """A message and where it was published.

    Attributes:
        channel: The channel.
        data: The message.
    """

    channel: str
    data: str | bytes


class Gap(NamedTuple):
    """Messages are missing here.

    Attributes:
        dropped: How many were dropped since the queue was full.
        interrupted: Whether the connection to the backend was lost. How many messages were lost by
            that is not known; there may be none.
    """

    dropped: int
    interrupted: bool


class Subscription:
    """What `Channels.subscribe` returns; it holds while it is entered with `async with`.

    Iterating it gives the messages, str or bytes, and ends when the channels end, as at the
    shutdown of the app. One task may receive at a time.

    Attributes:
        channels: The names of the channels.
        dropped: How many messages were dropped since the queue was full.
        interruptions: How many times messages may have been lost by the backend. In one outage
            each of the channels counts.
    """

    def __init__(
        self,
        channels: tuple[str, ...],
        enter: Callable[[Subscription], Awaitable[None]],
        leave: Callable[[Subscription], None],
        max_queue: int,
        max_queue_bytes: int,
        on_overflow: OnOverflow,
    ) -> None:
        self.channels = channels
        self.dropped = 0
        self.interruptions = 0
        self._enter = enter
        self._leave = leave
        self._max_queue = max_queue
        self._max_queue_bytes = max_queue_bytes
        self._on_overflow = on_overflow
        self._queue: deque[Message | Gap] = deque()
        # Gaps are in the queue as well, and count for neither.
        self._size = 0
        self._bytes = 0
        self._gap_first: Gap | None = None
        self._arrival: Event | None = None
        self._is_receiving = False
        self._was_entered = False
        self._has_ended = False
        self._has_overflowed = False

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self.channels))
        return f"<Subscription to {names}: {self._size} waiting, {self.dropped} dropped>"

    async def __aenter__(self) -> Self:
        if self._was_entered:
            raise RuntimeError("A subscription can be entered once: call subscribe() again")
        self._was_entered = True
        try:
            await self._enter(self)
        except BaseException:
            self._end()
            self._leave(self)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()
        self._queue.clear()
        self._gap_first = None
        self._size = self._bytes = 0
        self._leave(self)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str | bytes:
        try:
            return await self.receive()
        except SubscriptionClosedError:
            raise StopAsyncIteration from None

    async def receive(self) -> str | bytes:
        """Waits for the next message.

        Returns:
            The message, of the type that it was published with.

        Raises:
            SlowSubscriberError: If the subscription was closed by `on_overflow="close"`. What was
                in the queue is received before.
            SubscriptionClosedError: If it has ended otherwise.
            RuntimeError: If another task is receiving.
        """
        while True:
            event = await self._next()
            if event.__class__ is Message:
                return event.data

    @overload
    async def receive_json(self) -> Any: ...
    @overload
    async def receive_json(self, *, type: TypeForm[T]) -> T: ...
    async def receive_json(self, *, type: Any = None) -> Any:
        """Waits for the next message and reads it as JSON, be it str or bytes.

        Args:
            type: What to make of it: a dataclass, msgspec Struct, TypedDict, any type that
                msgspec knows, or a pydantic model. Default: dicts, lists and plain values.

        Raises:
            InvalidMessageError: If it is no JSON, or doesn't fit `type`. The next message can be
                received nevertheless.
            SlowSubscriberError: As `receive`.
            SubscriptionClosedError: As `receive`.
            RuntimeError: If another task is receiving.
        """
        return decode(await self.receive(), type)

    async def events(self) -> AsyncIterator[Message | Gap]:
        """Iterates the messages with their channels, and where messages are missing.

            async for event in subscription.events():
                match event:
                    case Message(channel, data): ...
                    case Gap(): ...

        Yields:
            A `Message`, or a `Gap` in the place of those that are missing.

        Raises:
            SlowSubscriberError: As `receive`.
            RuntimeError: If another task is receiving.
        """
        while True:
            try:
                event = await self._next()
            except SubscriptionClosedError:
                return
            yield event

    async def _next(self) -> Any:
        if self._is_receiving:
            raise RuntimeError(
                "Two tasks receive from one subscription at once, and either would get some of the "
                "messages: subscribe twice"
            )
        while True:
            if self._gap_first is not None:
                gap, self._gap_first = self._gap_first, None
                return gap
            if self._queue:
                return self._take()
            if self._has_overflowed:
                raise SlowSubscriberError(
                    f"The subscriber reads too slowly: more than {self._limit()} waited"
                )
            if self._has_ended:
                raise SubscriptionClosedError("The subscription has ended")
            if not self._was_entered:
                raise RuntimeError(
                    "The subscription is not entered: write `async with channels.subscribe(...) as "
                    "subscription`"
                )
            self._arrival = Event()
            self._is_receiving = True
            try:
                await self._arrival.wait()
            finally:
                self._arrival = None
                self._is_receiving = False

    def _limit(self) -> str:
        return f"{self._max_queue} messages or {self._max_queue_bytes} bytes"

    def _take(self) -> Message | Gap:
        event = self._queue.popleft()
        if event.__class__ is Message:
            self._size -= 1
            self._bytes -= len(event.data)
        return event

    def _put(self, message: Message) -> None:
        if self._has_ended:
            return
        size = len(message.data)
        if self._size and (
            self._size >= self._max_queue or self._bytes + size > self._max_queue_bytes
        ):
            if self._on_overflow == "close":
                self._has_overflowed = True
                self._end()
                return
            if self._on_overflow == "drop_newest":
                self.dropped += 1
                self._put_gap(Gap(1, interrupted=False))
                return
            while self._size and (
                self._size >= self._max_queue or self._bytes + size > self._max_queue_bytes
            ):
                self._drop_oldest()
        self._queue.append(message)
        self._size += 1
        self._bytes += size
        if self._arrival is not None:
            self._arrival.set()

    def _drop_oldest(self) -> None:
        event = self._take()
        if event.__class__ is Message:
            self.dropped += 1
            event = Gap(1, interrupted=False)
        self._gap_first = _joined(self._gap_first, event)  # type: ignore[arg-type]

    def _interrupt(self) -> None:
        if not self._has_ended:
            self.interruptions += 1
            self._put_gap(Gap(0, interrupted=True))

    def _put_gap(self, gap: Gap) -> None:
        queue = self._queue
        if queue and queue[-1].__class__ is Gap:
            queue[-1] = _joined(queue[-1], gap)
        else:
            queue.append(gap)
        if self._arrival is not None:
            self._arrival.set()

    def _end(self) -> None:
        self._has_ended = True
        if self._arrival is not None:
            self._arrival.set()


def _joined(one: Gap | None, other: Gap) -> Gap:
    if one is None:
        return other
    return Gap(one.dropped + other.dropped, one.interrupted or other.interrupted)


# For `Channels`, which fills and ends subscriptions. They are no part of what users call.
put = Subscription._put
interrupt = Subscription._interrupt
end = Subscription._end
