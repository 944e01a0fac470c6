# SPDX-License-Identifier: MIT
"""Publish and subscribe between the connections of an app, in one process or over Redis.

    channels = Channels(RedisBackend("redis://127.0.0.1"))
    app = Kit(lifespan=channels.lifespan)

    await channels.publish("room:1", "hello")

    async with channels.subscribe("room:1") as subscription:
        async for message in subscription:  # str or bytes
            ...

Delivery is at most once, and ordered per publisher. A subscriber that reads too slowly loses
messages or is closed, depending on its options; lost messages are counted and reported. Publishers
never wait for subscribers.
"""

from ._backend import Backend, Receiver
from ._channels import Channels
from ._errors import (
    ChannelsError,
    ChannelsUnavailableError,
    InvalidMessageError,
    SlowSubscriberError,
    SubscriptionClosedError,
)
from ._inbox import Gap, Message, OnOverflow
from ._memory import MemoryBackend
from ._redis import RedisBackend
from ._subscription import Subscription

__all__ = (
    "Backend",
    "Channels",
    "ChannelsError",
    "ChannelsUnavailableError",
    "Gap",
    "InvalidMessageError",
    "MemoryBackend",
    "Message",
    "OnOverflow",
    "Receiver",
    "RedisBackend",
    "SlowSubscriberError",
    "Subscription",
    "SubscriptionClosedError",
)

# Public classes show the module that they are imported from.
for _class in (
    Backend,
    Channels,
    ChannelsError,
    ChannelsUnavailableError,
    Gap,
    InvalidMessageError,
    MemoryBackend,
    Message,
    Receiver,
    RedisBackend,
    SlowSubscriberError,
    Subscription,
    SubscriptionClosedError,
):
    _class.__module__ = __name__
