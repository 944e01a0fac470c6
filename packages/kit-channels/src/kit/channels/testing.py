# SPDX-License-Identifier: MIT
"""The conformance suite for backends, for their authors. It requires pytest.

from kit.channels.testing import BackendConformance

class TestMyBackend(BackendConformance):
def new_backend(self):
return MyBackend("my://127.0.0.1")
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import pytest

from ._backend import Backend
from ._channels import Channels

__all__ = ("BackendConformance",)

_LIMIT_S = 30.0
# Sent last: an unexpected message would arrive before it.
_LAST = "the last one"


class BackendConformance:
    """The tests; subclass it with a name that pytest collects, and define `new_backend`.

    Attributes:
        event_loops: The event loops that the backend runs on.
        connects_processes: Whether messages published by one backend reach the others that
            `new_backend` returns.
    """

    event_loops: tuple[str, ...] = ("asyncio",)
    connects_processes: bool = True

    def new_backend(self) -> Backend:
        """Returns a backend that was not started."""
        raise NotImplementedError(f"{type(self).__name__} needs a method new_backend()")

    def run(self, test: Callable[..., Awaitable[None]], *args: Any) -> None:
        """Runs a test on each event loop, with a timeout."""

        async def bounded() -> None:
            with anyio.fail_after(_LIMIT_S):
                await test(*args)

        for name in self.event_loops:
            anyio.run(bounded, backend=name)

    @asynccontextmanager
    async def _pair(self) -> AsyncIterator[tuple[Channels, Channels]]:
        """Yields two connected Channels, with separate backends if these connect processes."""
        async with Channels(self.new_backend()) as one:
            if not self.connects_processes:
                yield one, one
                return
            async with Channels(self.new_backend()) as other:
                yield one, other

    def test_is_a_backend(self) -> None:
        """It has the methods of one."""
        assert isinstance(self.new_backend(), Backend)

    @pytest.mark.parametrize(
        "message",
        [
            "",
            "hé\n\0\U0001f600",
            "x" * 300_000,
            b"",
            b"text",
            b"\xff\x00\r\n\xfe",
            b"\xff" * 70_000,
        ],
        ids=["empty str", "str", "long str", "empty bytes", "text", "bytes", "long bytes"],
    )
    def test_messages_arrive_as_they_are(self, message: str | bytes) -> None:
        """A str arrives as that str, and bytes as these bytes."""
        self.run(self._messages_arrive_as_they_are, message)

    async def _messages_arrive_as_they_are(self, message: str | bytes) -> None:
        async with self._pair() as (one, other), one.subscribe("a") as subscription:
            await other.publish("a", message)
            received = await subscription.receive()
            assert received == message
            assert type(received) is type(message)

    def test_order(self) -> None:
        """Messages of one task arrive in order, each once."""
        self.run(self._order)

    async def _order(self) -> None:
        async with self._pair() as (one, other):
            sent = [str(number) for number in range(1000)]
            async with one.subscribe("a", max_queue=2000) as subscription:
                for message in sent:
                    await other.publish("a", message)
                assert [await subscription.receive() for _ in sent] == sent

    def test_publishers_at_once(self) -> None:
        """If several tasks publish concurrently, the messages of each stay in order."""
        self.run(self._publishers_at_once)

    async def _publishers_at_once(self) -> None:
        async def publish(channels: Channels, name: str) -> None:
            for number in range(50):
                await channels.publish("a", f"{name} {number}")

        async with self._pair() as (one, other), one.subscribe("a", max_queue=2000) as subscription:
            names = [f"p{number}" for number in range(20)]
            async with anyio.create_task_group() as tasks:
                for name in names:
                    tasks.start_soon(publish, other, name)
            received = [str(await subscription.receive()) for _ in range(20 * 50)]
            for name in names:
                mine = [each for each in received if each.startswith(f"{name} ")]
                assert mine == [f"{name} {number}" for number in range(50)]

    def test_channels_are_apart(self) -> None:
        """Each subscription receives only the messages of its channels."""
        self.run(self._channels_are_apart)

    async def _channels_are_apart(self) -> None:
        names = ["a", "A", "a:b", "a*", "?", "ü", "a b", "x" * 200]
        async with self._pair() as (one, other):
            for wanted in names:
                async with one.subscribe(wanted) as subscription:
                    for name in names:
                        await other.publish(name, f"to {name}")
                    await other.publish(wanted, _LAST)
                    received = [await subscription.receive() for _ in range(2)]
                    assert received == [f"to {wanted}", _LAST]

    def test_several_subscribers(self) -> None:
        """All subscriptions to a channel receive a message once, from any publisher."""
        self.run(self._several_subscribers)

    async def _several_subscribers(self) -> None:
        async with (
            self._pair() as (one, other),
            one.subscribe("a", "b") as first,
            one.subscribe("b") as second,
            other.subscribe("b") as third,
        ):
            for publisher in (one, other):
                await publisher.publish("b", "to all")
                await publisher.publish("b", _LAST)
                for subscription in (first, second, third):
                    received = [await subscription.receive() for _ in range(2)]
                    assert received == ["to all", _LAST]

    def test_unsubscribe_and_subscribe_again(self) -> None:
        """Messages published in between are lost; later ones arrive."""
        self.run(self._unsubscribe_and_subscribe_again)

    async def _unsubscribe_and_subscribe_again(self) -> None:
        async with self._pair() as (one, other):
            for number in range(100):
                await other.publish("a", "before")
                async with one.subscribe("a") as subscription:
                    await other.publish("a", str(number))
                    assert await subscription.receive() == str(number)

    def test_many_channels(self) -> None:
        """A process may subscribe to thousands of channels."""
        self.run(self._many_channels)

    async def _many_channels(self) -> None:
        names = [f"channel {number}" for number in range(3000)]
        async with (
            self._pair() as (one, other),
            one.subscribe(*names, max_queue=5000) as subscription,
        ):
            for name in names[::7]:
                await other.publish(name, name)
            assert [await subscription.receive() for _ in names[::7]] == names[::7]

    def test_cancelled_subscribers(self) -> None:
        """Cancelling a subscription while it is being created doesn't affect others."""
        self.run(self._cancelled_subscribers)

    async def _cancelled_subscribers(self) -> None:
        async with self._pair() as (one, other):

            async def subscribe(scope: anyio.CancelScope) -> None:
                with scope:
                    async with one.subscribe("a", "b"):
                        await anyio.sleep_forever()

            for _ in range(20):
                scopes = [anyio.CancelScope() for _ in range(5)]
                async with anyio.create_task_group() as tasks:
                    for scope in scopes:
                        tasks.start_soon(subscribe, scope)
                    await anyio.lowlevel.checkpoint()
                    for scope in scopes[:-1]:
                        scope.cancel()
                    async with one.subscribe("b") as subscription:
                        await other.publish("b", _LAST)
                        assert await subscription.receive() == _LAST
                    scopes[-1].cancel()
            assert one.subscriptions == 0

    def test_start_again(self) -> None:
        """A backend can be restarted, even in another event loop."""
        channels = Channels(self.new_backend())
        for _ in range(2):
            self.run(partial(self._start_again, channels))

    async def _start_again(self, channels: Channels) -> None:
        for _ in range(2):
            async with channels, channels.subscribe("a") as subscription:
                await channels.publish("a", _LAST)
                assert await subscription.receive() == _LAST
