# SPDX-License-Identifier: MIT
"""A subscription: receives the messages published to its channels."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from kit.interface import Codecs

from ._errors import SubscriptionClosedError
from ._inbox import Gap, Inbox, Message
from ._json import decode

if TYPE_CHECKING:
    from typing_extensions import TypeForm

__all__ = ("Subscription",)

T = TypeVar("T")


class Subscription:
    """A subscription, returned by `Channels.subscribe`; active while entered with `async with`.

    Iterating over it yields messages, str or bytes. The iteration ends when the channels stop, e.g.
    when the app shuts down. Only one task may receive at a time.

    Attributes:
        channels: The names of the channels.
    """

    def __init__(
        self,
        inbox: Inbox,
        enter: Callable[[Inbox], Awaitable[None]],
        leave: Callable[[Inbox], None],
        codecs: Codecs,
    ) -> None:
        self.channels = inbox.channels
        self._inbox = inbox
        self._enter = enter
        self._leave = leave
        self._codecs = codecs
        self._was_entered = False

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self.channels))
        return f"<Subscription to {names}: {self._inbox.size} waiting, {self.dropped} dropped>"

    @property
    def dropped(self) -> int:
        """Number of messages dropped because the queue was full."""
        return self._inbox.dropped

    @property
    def interruptions(self) -> int:
        """Number of times the backend may have lost messages.

        In an outage, each channel counts separately.
        """
        return self._inbox.interruptions

    async def __aenter__(self) -> Self:
        if self._was_entered:
            raise RuntimeError("A subscription can be entered once: call subscribe() again")
        self._was_entered = True
        try:
            await self._enter(self._inbox)
        except BaseException:
            self._inbox.end()
            self._leave(self._inbox)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._inbox.end()
        self._inbox.clear()
        self._leave(self._inbox)

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
            SlowSubscriberError: If the subscription was closed by `on_overflow="close"`. Messages
                in the queue are received first.
            SubscriptionClosedError: If the subscription ended for another reason.
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
        """Waits for the next message, str or bytes, and decodes it as JSON.

        Args:
            type: The type to decode to: a dataclass, msgspec Struct, TypedDict, any type that
                msgspec supports, or a pydantic model. Default: dicts, lists and plain values.

        Raises:
            InvalidMessageError: If it isn't valid JSON, or doesn't match `type`. You can still
                receive the next message.
            SlowSubscriberError: As `receive`.
            SubscriptionClosedError: As `receive`.
            RuntimeError: If another task is receiving.
        """
        return decode(await self.receive(), type, self._codecs)

    async def events(self) -> AsyncIterator[Message | Gap]:
        """Iterates over the messages with their channels, and over gaps between them.

            async for event in subscription.events():
                match event:
                    case Message(channel, data): ...
                    case Gap(): ...

        Yields:
            A `Message`, or a `Gap` where messages are missing.

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
        if not self._was_entered:
            raise RuntimeError(
                "The subscription is not entered: write `async with channels.subscribe(...) as "
                "subscription`"
            )
        return await self._inbox.next()
