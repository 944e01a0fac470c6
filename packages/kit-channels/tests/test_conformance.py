# SPDX-License-Identifier: MIT
"""Both backends in the suite for third parties, and the suite against one that is wrong."""

from __future__ import annotations

import pytest
from redis_server import RedisServer

from kit.channels import Backend, MemoryBackend, RedisBackend
from kit.channels.testing import BackendConformance


class TestMemoryBackend(BackendConformance):
    event_loops = ("asyncio", "trio")
    connects_processes = False

    def new_backend(self) -> Backend:
        return MemoryBackend()


class TestRedisBackend(BackendConformance):
    @pytest.fixture(autouse=True)
    def server(self, redis: RedisServer) -> None:
        self.url = redis.url

    def new_backend(self) -> Backend:
        return RedisBackend(self.url)


class ReversingBackend(MemoryBackend):
    """Delivers the first of two messages last."""

    held: tuple[str, str | bytes] | None = None

    async def publish(self, channel: str, message: str | bytes, /) -> None:
        held, self.held = self.held, (channel, message) if self.held is None else None
        if held is not None:
            await super().publish(channel, message)
            await super().publish(*held)


class LatinBackend(MemoryBackend):
    """Makes bytes of every str."""

    async def publish(self, channel: str, message: str | bytes, /) -> None:
        data = message.encode() if isinstance(message, str) else message
        await super().publish(channel, data)


class Suite(BackendConformance):
    connects_processes = False

    def __init__(self, kind: type[Backend]) -> None:
        self.kind = kind

    def new_backend(self) -> Backend:
        return self.kind()


def test_the_suite_finds_disorder() -> None:
    with pytest.raises(AssertionError):
        Suite(ReversingBackend).test_order()


def test_the_suite_finds_another_type() -> None:
    with pytest.raises(AssertionError):
        Suite(LatinBackend).test_messages_arrive_as_they_are("text")


def test_a_suite_without_a_backend() -> None:
    with pytest.raises(NotImplementedError, match=r"needs a method new_backend\(\)"):
        BackendConformance().new_backend()
