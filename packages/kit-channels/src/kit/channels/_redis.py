# SPDX-License-Identifier: MIT
"""The backend of an app that runs in several processes: Redis Pub/Sub."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kit.interface.options import OptionChecks

from ._backend import Receiver
from ._redis_connections import Connector, Publisher, Subscriber, end

if TYPE_CHECKING:
    from redis.asyncio import Redis

__all__ = ("RedisBackend",)


class RedisBackend:
    """Carries messages between processes by Redis Pub/Sub (or Valkey), on asyncio.

    It has two connections: one publishes, one receives. If the one that receives breaks, it is made
    again, with growing delays; subscriptions stay, and are told of the gap. `publish` is tried
    once: without a connection it raises at once, and without an answer after `timeout`. A message
    is never sent a second time.

    A str is published as its UTF-8, so that other programs can publish and receive it. Bytes are
    published behind a byte 0xFF, which begins no UTF-8.

    Args:
        redis: The URL of a server, `redis://[[user]:password@]host[:port]`, `rediss://` for TLS or
            `unix://path`; or a client of redis-py, `redis.asyncio.Redis`, whose settings are used,
            for TLS certificates or Sentinel. It stays yours to close.
        prefix: What stands before the names of channels in Redis, where all databases share them.
        timeout: How long connecting, publishing or subscribing may take, in seconds.
        ping_interval: After so many seconds without a message the server is asked whether it is
            still there; after as many more the connection counts as broken.
        max_backoff: The longest delay between two attempts to connect, in seconds.

    Raises:
        ImportError: If redis-py isn't installed: `pip install "kit-channels[redis]"`.
        TypeError: If an argument has the wrong type.
        ValueError: If an argument can't be used.
    """

    def __init__(
        self,
        redis: str | Redis,
        *,
        prefix: str = "kit:",
        timeout: float = 5.0,
        ping_interval: float = 15.0,
        max_backoff: float = 5.0,
    ) -> None:
        check = OptionChecks("RedisBackend")
        self._connector = Connector(
            check.redis(redis, "kit-channels", _pool_of_url, _pool_of_client),
            check.number("timeout", timeout, least=0.001, unit="seconds", whole=False),
        )
        self._prefix = check.text("prefix", prefix).encode()
        self._ping_interval = check.number(
            "ping_interval", ping_interval, least=0.001, unit="seconds", whole=False
        )
        self._max_backoff = check.number(
            "max_backoff", max_backoff, least=0.001, unit="seconds", whole=False
        )
        self._publisher: Publisher | None = None
        self._subscriber: Subscriber | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self, receiver: Receiver, /) -> None:
        """Connects.

        Raises:
            ChannelsUnavailableError: If the server can't be reached.
            RuntimeError: On trio.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            raise RuntimeError(
                "RedisBackend runs on asyncio alone, as redis-py does; on trio there is "
                "MemoryBackend, for one process"
            ) from None
        if self._tasks:
            raise RuntimeError("A backend serves one Channels at a time: make another one")
        connector = self._connector
        subscriber = Subscriber(
            connector, self._prefix, receiver, self._ping_interval, self._max_backoff
        )
        # What was published meanwhile would be lost to a subscriber that waits any longer.
        publisher = Publisher(connector, self._prefix, subscriber.hurry)
        await publisher.connect()
        try:
            await subscriber.connect()
        except BaseException:
            await publisher.disconnect()
            raise
        self._publisher, self._subscriber = publisher, subscriber
        self._tasks = [
            asyncio.create_task(publisher.run(), name="kit.channels: publish"),
            asyncio.create_task(subscriber.run(), name="kit.channels: receive"),
            asyncio.create_task(subscriber.send_commands(), name="kit.channels: subscribe"),
        ]

    async def stop(self) -> None:
        """Disconnects; what waits to be published or subscribed to fails."""
        tasks, self._tasks = self._tasks, []
        await end(tasks)
        # A task that is cancelled before it has begun closes nothing.
        if self._publisher is not None:
            await self._publisher.disconnect()
        if self._subscriber is not None:
            await self._subscriber.disconnect()
        self._publisher = self._subscriber = None

    async def publish(self, channel: str, message: str | bytes, /) -> None:
        """Publishes a message, and waits until the server has it.

        Raises:
            ChannelsUnavailableError: If there is no connection, or no answer in time.
        """
        if self._publisher is None:
            raise RuntimeError("The backend is not started")
        await self._publisher.publish(channel, message)

    async def subscribe(self, channels: Sequence[str], /) -> None:
        """Subscribes to channels, and waits until the server has confirmed it.

        Raises:
            ChannelsUnavailableError: If it has not in time; a lost connection is waited for.
        """
        if self._subscriber is None:
            raise RuntimeError("The backend is not started")
        await self._subscriber.subscribe(channels)

    def unsubscribe(self, channel: str, /) -> None:
        """Ends the subscription to a channel, as soon as there is a connection."""
        if self._subscriber is not None:
            self._subscriber.unsubscribe(channel)


def _pool_of_url(url: str) -> Any:
    from redis.asyncio import ConnectionPool

    # A message is received as it is in the second version of the protocol as well.
    return ConnectionPool.from_url(url, protocol=2)


def _pool_of_client(client: Redis) -> Any:
    return client.connection_pool
