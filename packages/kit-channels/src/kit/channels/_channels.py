# SPDX-License-Identifier: MIT
"""`Channels`: the subscriptions of this process."""

from __future__ import annotations

import unicodedata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

from anyio import CancelScope

from kit.authoring.codecs import default_codecs
from kit.authoring.options import OptionChecks
from kit.interface import Codecs

from ._backend import Backend
from ._inbox import Inbox, Message, OnOverflow
from ._memory import MemoryBackend
from ._subscription import Subscription

__all__ = ("Channels",)

_MOST_CHARACTERS = 200
_POLICIES = ("drop_oldest", "drop_newest", "close")
# Control characters, surrogates, and separators of lines and paragraphs.
_UNFIT_CATEGORIES = ("Cc", "Cs", "Zl", "Zp")


class _Listeners:
    """The subscriptions of this process to one channel."""

    __slots__ = ("inboxes", "is_ready")

    def __init__(self) -> None:
        self.inboxes: dict[Inbox, None] = {}
        # Whether the backend has confirmed the subscription.
        self.is_ready = False


class Channels:
    """Publishes messages to channels, and subscribes to them.

        channels = Channels()
        app = Kit(lifespan=channels.lifespan)

    Delivery: each subscription receives a message at most once, and the messages of one task in the
    order in which it published them. Messages aren't stored: a subscription receives what is
    published between entering and leaving it. Messages lost by a slow subscriber or in an outage of
    the backend are reported, see `Subscription.events`.

    Args:
        backend: Carries the messages. Default: `MemoryBackend`, for one process.

    Attributes:
        backend: The backend.
        dropped: Total number of messages that slow subscribers have lost.
        codecs: The encoders and decoders of messages in JSON: those of the app, once its
            lifespan runs.
        interruptions: Number of times the backend may have lost a channel's messages.

    Raises:
        TypeError: If `backend` isn't a backend.
    """

    def __init__(self, backend: Backend | None = None) -> None:
        if backend is None:
            backend = MemoryBackend()
        elif isinstance(backend, type) or not isinstance(backend, Backend):
            hint = ", e.g. RedisBackend(url)" if isinstance(backend, str) else ""
            OptionChecks("Channels").wrong_type("backend", backend, f"a backend{hint}")
        self.backend = backend
        self.interruptions = 0
        self.codecs: Codecs = default_codecs()
        self._listeners: dict[str, _Listeners] = {}
        self._inboxes: dict[Inbox, None] = {}
        self._dropped_before = 0
        self._is_running = False
        self._is_starting = False

    def __repr__(self) -> str:
        state = "running" if self._is_running else "not running"
        name = type(self.backend).__name__
        return f"<Channels on {name}: {state}, {len(self._inboxes)} subscriptions>"

    @property
    def dropped(self) -> int:
        """Total number of messages that slow subscribers have lost."""
        return self._dropped_before + sum(each.dropped for each in self._inboxes)

    @property
    def subscriptions(self) -> int:
        """Number of subscriptions in this process."""
        return len(self._inboxes)

    async def __aenter__(self) -> Self:
        if self._is_running or self._is_starting:
            raise RuntimeError(
                "The channels are already running: pass them to the lifespan of only one app, the "
                "outermost"
            )
        self._is_starting = True
        try:
            await self.backend.start(_Receiver(self))
            self._is_running = True
        finally:
            self._is_starting = False
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_running = False
        for inbox in self._inboxes:
            inbox.end()
        self._listeners.clear()
        with CancelScope(shield=True):
            await self.backend.stop()

    @asynccontextmanager
    async def lifespan(self, app: object = None) -> AsyncIterator[dict[str, Any]]:
        """The lifespan of an app: `Kit(lifespan=channels.lifespan)`.

        Args:
            app: The app, whose encoders and decoders apply to messages in JSON; see `Kit`.

        Yields:
            `{"channels": channels}`, so that handlers also find them in `c.env`.
        """
        self.codecs = getattr(app, "codecs", default_codecs())
        async with self:
            yield {"channels": self}

    async def publish(self, channel: str, message: str | bytes) -> None:
        """Publishes a message to all subscribers of a channel, in all processes.

        Args:
            channel: The channel, 1 to 200 characters without control characters.
            message: A str or bytes; subscribers receive the same type.

        Raises:
            ChannelsUnavailableError: If the backend can't be reached. The message may have been
                delivered or not; it is never sent twice.
            TypeError: If the message is neither str nor bytes, or the channel isn't a str.
            ValueError: If the name of the channel is invalid.
            RuntimeError: If the channels are not running.
        """
        _check_name(channel)
        if message.__class__ is not str and message.__class__ is not bytes:
            message = _checked(message)
        if not self._is_running:
            raise self._not_running()
        await self.backend.publish(channel, message)

    async def publish_json(self, channel: str, value: Any) -> None:
        """Publishes a value as JSON, in a str.

        Args:
            channel: The channel.
            value: Plain values, dataclasses, msgspec Structs, datetimes, pydantic models, ...

        Raises:
            TypeError: If something in it can't be encoded.
            ChannelsUnavailableError: As `publish`.
            ValueError: As `publish`.
            RuntimeError: As `publish`.
        """
        await self.publish(channel, self.codecs.encode_json(value).decode())

    def subscribe(
        self,
        *channels: str,
        max_queue: int = 256,
        max_queue_bytes: int = 1024 * 1024,
        on_overflow: OnOverflow = "drop_oldest",
    ) -> Subscription:
        """Subscribes to channels while the returned object is entered.

            async with channels.subscribe("room:1") as subscription:
                async for message in subscription:
                    ...

        Messages published after it is entered are received. They wait in a queue. If the subscriber
        reads too slowly and the queue is full, messages are dropped or the subscription is closed;
        publishers never wait.

        Args:
            *channels: The channels, at least one.
            max_queue: Maximum number of messages in the queue.
            max_queue_bytes: Maximum total size of the queue in bytes, or characters for a str. A
                single message always fits.
            on_overflow: What to do with a new message when the queue is full. `"drop_oldest"` drops
                the oldest messages, for data such as positions that the next message replaces.
                `"drop_newest"` drops the new message. `"close"` ends the subscription with
                SlowSubscriberError after the queue is read, for subscribers that need every
                message.

        Returns:
            The subscription. Entering it raises ChannelsUnavailableError if the backend can't be
            reached or refuses a channel, and RuntimeError if the channels are not running.

        Raises:
            TypeError: If an argument has the wrong type, or there is no channel.
            ValueError: If an argument is invalid.
        """
        if not channels:
            raise TypeError("subscribe() takes at least one channel")
        for channel in channels:
            _check_name(channel)
        check = OptionChecks("subscribe")
        check.number("max_queue", max_queue, least=1, unit="message")
        check.number("max_queue_bytes", max_queue_bytes, least=1, unit="byte")
        check.choice("on_overflow", on_overflow, _POLICIES)
        names = tuple(dict.fromkeys(channels))
        inbox = Inbox(names, max_queue, max_queue_bytes, on_overflow)
        return Subscription(inbox, self._enter, self._leave, self.codecs)

    async def _enter(self, inbox: Inbox) -> None:
        if not self._is_running:
            raise self._not_running()
        self._inboxes[inbox] = None
        unready = []
        for channel in inbox.channels:
            listeners = self._listeners.get(channel)
            if listeners is None:
                listeners = self._listeners[channel] = _Listeners()
            listeners.inboxes[inbox] = None
            if not listeners.is_ready:
                unready.append((channel, listeners))
        if unready:
            await self.backend.subscribe([channel for channel, _ in unready])
            for _, listeners in unready:
                listeners.is_ready = True

    def _leave(self, inbox: Inbox) -> None:
        if self._inboxes.pop(inbox, self) is None:
            self._dropped_before += inbox.dropped
        for channel in inbox.channels:
            listeners = self._listeners.get(channel)
            if listeners is None or inbox not in listeners.inboxes:
                continue
            del listeners.inboxes[inbox]
            if not listeners.inboxes:
                del self._listeners[channel]
                self.backend.unsubscribe(channel)

    def _deliver(self, channel: str, message: str | bytes) -> None:
        listeners = self._listeners.get(channel)
        if listeners is not None:
            made = Message(channel, message)
            for inbox in listeners.inboxes:
                inbox.put(made)

    def _interrupted(self, channel: str) -> None:
        listeners = self._listeners.get(channel)
        if listeners is not None:
            self.interruptions += 1
            for inbox in listeners.inboxes:
                inbox.interrupt()

    def _not_running(self) -> RuntimeError:
        return RuntimeError(
            "The channels are not running: write Kit(lifespan=channels.lifespan), or "
            "`async with channels`. In tests, `async with app.running()` or the test client "
            "starts the lifespan"
        )


class _Receiver:
    """Receives messages from the backend."""

    __slots__ = ("deliver", "interrupted")

    def __init__(self, channels: Channels) -> None:
        self.deliver = channels._deliver
        self.interrupted = channels._interrupted


def _check_name(channel: str) -> None:
    if not isinstance(channel, str):
        raise TypeError(f"The name of a channel must be a str, not {channel!r:.100}")
    if not channel or len(channel) > _MOST_CHARACTERS:
        raise ValueError(
            f"The channel {channel!r:.100} can't be used: its name has {len(channel)} characters, "
            f"expected 1 to {_MOST_CHARACTERS}"
        )
    # isprintable() is faster, but rejects valid characters of later Unicode versions.
    if not channel.isprintable() and any(
        unicodedata.category(each) in _UNFIT_CATEGORIES for each in channel
    ):
        raise ValueError(
            f"The channel {channel!r:.100} can't be used: expected no control characters, line "
            "separators and surrogates in its name"
        )


def _checked(message: Any) -> str | bytes:
    if isinstance(message, str):
        return str(message)
    if isinstance(message, (bytes, bytearray, memoryview)):
        return bytes(message)
    hint = ": use publish_json()" if isinstance(message, (dict, list)) else ""
    raise TypeError(f"publish() takes str or bytes, not {type(message).__name__}{hint}")
