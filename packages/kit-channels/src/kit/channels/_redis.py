# SPDX-License-Identifier: MIT
"""The backend for an app that runs in several processes: Redis Pub/Sub."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kit.authoring.options import OptionChecks
from kit.authoring.redis import cancel_tasks, check_pool, running_loop

from ._backend import Receiver
from ._redis_connections import Connector
from ._redis_publisher import Publisher
from ._redis_subscriber import Subscriber

if TYPE_CHECKING:
    from redis.asyncio import Redis

__all__ = ("RedisBackend",)


class RedisBackend:
    """Carries messages between processes through Redis (or Valkey) Pub/Sub, on asyncio.

    It uses two connections: one publishes, one receives. If the receiving connection is lost, it
    reconnects with increasing delays; subscriptions survive, and receive a `Gap`. `publish` tries
    only once: it raises immediately if there is no connection, and after `timeout` if there is no
    reply. A message is never sent twice.

    A str is published as UTF-8, so that other programs can publish and receive it. Bytes are
    published with a leading byte 0xFF, which never occurs in UTF-8.

    Args:
        redis: The URL of a server, `redis://[[user]:password@]host[:port]`, `rediss://` for TLS or
            `unix://path`; or a redis-py client, `redis.asyncio.Redis`, with the settings to use,
            e.g. for TLS certificates or Sentinel. You have to close the client yourself.
        prefix: Prefix of channel names in Redis, since all its databases share them.
        timeout: Timeout for connecting, publishing or subscribing, in seconds.
        ping_interval: Seconds without a message after which the server is pinged; after the same
            time without a reply, the connection is considered lost.
        max_backoff: Maximum delay between two attempts to connect, in seconds.

    Raises:
        ImportError: If redis-py isn't installed: `pip install "kit-channels[redis]"`.
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is invalid.
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
            # Version 2 of the protocol transmits messages unchanged, too.
            check_pool(check, redis, "kit-channels", protocol=2),
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
        running_loop("RedisBackend", "MemoryBackend, for one process")
        if self._tasks:
            raise RuntimeError("A backend serves one Channels at a time: create another one")
        connector = self._connector
        subscriber = Subscriber(
            connector, self._prefix, receiver, self._ping_interval, self._max_backoff
        )
        # A subscriber that waited any longer would miss messages published in the meantime.
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
        """Disconnects; pending calls to publish or subscribe fail."""
        tasks, self._tasks = self._tasks, []
        await cancel_tasks(tasks)
        # A task that is cancelled before it has started closes nothing.
        if self._publisher is not None:
            await self._publisher.disconnect()
        if self._subscriber is not None:
            await self._subscriber.disconnect()
        self._publisher = self._subscriber = None

    async def publish(self, channel: str, message: str | bytes, /) -> None:
        """Publishes a message, and waits for the server to confirm it.

        Raises:
            ChannelsUnavailableError: If there is no connection, or no reply in time.
        """
        if self._publisher is None:
            raise RuntimeError("The backend is not started")
        await self._publisher.publish(channel, message)

    async def subscribe(self, channels: Sequence[str], /) -> None:
        """Subscribes to channels, and waits for the server to confirm it.

        Raises:
            ChannelsUnavailableError: If it isn't confirmed in time; if the connection is lost, this
                waits for it to return. Or if the server refuses it, e.g. because of its ACL.
        """
        if self._subscriber is None:
            raise RuntimeError("The backend is not started")
        await self._subscriber.subscribe(channels)

    def unsubscribe(self, channel: str, /) -> None:
        """Ends the subscription to a channel as soon as there is a connection."""
        if self._subscriber is not None:
            self._subscriber.unsubscribe(channel)
