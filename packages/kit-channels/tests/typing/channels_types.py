# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_type

from kit.channels import Backend, Channels, Gap, MemoryBackend, Message, Subscription

backend: Backend = MemoryBackend()
channels = Channels(backend)


@dataclass
class Move:
    x: int


async def use() -> None:
    async with channels.subscribe("a", "b", on_overflow="close") as subscription:
        assert_type(subscription, Subscription)
        async for message in subscription:
            assert_type(message, str | bytes)
        assert_type(await subscription.receive_json(type=Move), Move)
        assert_type(await subscription.receive_json(), Any)
        async for event in subscription.events():
            assert_type(event, Message | Gap)
    await channels.publish("a", b"x")
    await channels.publish("a", 1)  # type: ignore
    channels.subscribe("a", on_overflow="drop")  # type: ignore
