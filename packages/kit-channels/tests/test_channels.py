# SPDX-License-Identifier: MIT
"""Publishing, subscribing, slow subscribers, and what is left of a subscription."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any

import anyio
import pytest

from kit import Context, Kit, Response
from kit.channels import (
    Channels,
    Gap,
    InvalidMessageError,
    MemoryBackend,
    Message,
    SlowSubscriberError,
    SubscriptionClosedError,
)


@dataclass
class Move:
    x: int
    y: int


def test_lifespan_of_an_app(run: Callable[..., Any]) -> None:
    channels = Channels()
    app: Kit[Any, Any] = Kit(lifespan=channels.lifespan)

    @app.post("/say/:text")
    async def say(c: Context[Any, Any]) -> Response:
        await c.env["channels"].publish("room", c.req.param("text"))
        return c.text("said")

    async def main() -> None:
        for _ in range(2):
            async with app.running(), channels.subscribe("room") as subscription:
                await app.request("/say/hello", {"method": "POST"})
                assert await subscription.receive() == "hello"
                assert repr(channels) == "<Channels on MemoryBackend: running, 1 subscriptions>"

    run(main)
    assert repr(channels) == "<Channels on MemoryBackend: not running, 0 subscriptions>"


def test_json(run: Callable[..., Any]) -> None:
    async def main() -> None:
        async with Channels() as channels, channels.subscribe("a") as subscription:
            await channels.publish_json("a", Move(1, 2))
            await channels.publish_json("a", {"x": [1, None]})
            await channels.publish("a", b'{"x": 1}')
            await channels.publish("a", "{")
            await channels.publish("a", "[" * 100_000)
            await channels.publish_json("a", Move(3, 4))
            assert await subscription.receive_json(type=Move) == Move(1, 2)
            assert await subscription.receive_json() == {"x": [1, None]}
            with pytest.raises(InvalidMessageError, match=r"Unexpected JSON in the message: .*`y`"):
                await subscription.receive_json(type=Move)
            with pytest.raises(InvalidMessageError, match="Malformed JSON in the message: "):
                await subscription.receive_json(type=Move)
            with pytest.raises(InvalidMessageError, match="nested too deeply"):
                await subscription.receive_json()
            assert await subscription.receive_json(type=Move) == Move(3, 4)

    run(main)


def test_models_of_pydantic(run: Callable[..., Any]) -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Step", n=(int, ...))

    async def main() -> None:
        async with Channels() as channels, channels.subscribe("a") as subscription:
            await channels.publish_json("a", model(n=1))
            await channels.publish("a", '{"n": "x"}')
            assert (await subscription.receive_json(type=model)).n == 1
            with pytest.raises(InvalidMessageError, match="Unexpected JSON in the message: "):
                await subscription.receive_json(type=model)

    run(main)


def test_encoders_and_decoders_of_the_app(run: Callable[..., Any]) -> None:
    class Square:
        def __init__(self, name: str) -> None:
            self.file, self.rank = name

        def __str__(self) -> str:
            return f"{self.file}{self.rank}"

    channels = Channels()
    app: Kit[Any, Any] = Kit(
        lifespan=channels.lifespan, encoders={Square: str}, decoders={Square: Square}
    )

    async def main() -> None:
        async with app.running(), channels.subscribe("a") as subscription:
            await channels.publish_json("a", [Square("e4")])
            (square,) = await subscription.receive_json(type=list[Square])
            assert (square.file, square.rank) == ("e", "4")
            await channels.publish("a", '["e44"]')
            with pytest.raises(InvalidMessageError, match="Invalid Square"):
                await subscription.receive_json(type=list[Square])
            await channels.publish_json("a", {"at": IPv4Address("10.0.0.1")})
            found = await subscription.receive_json(type=dict[str, IPv4Address])
            assert found == {"at": IPv4Address("10.0.0.1")}

    run(main)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("drop_oldest", [Gap(7, False), *(Message("a", str(n)) for n in (7, 8, 9))]),
        ("drop_newest", [*(Message("a", str(n)) for n in (0, 1, 2)), Gap(7, False)]),
    ],
)
def test_slow_subscribers(run: Callable[..., Any], policy: Any, expected: Any) -> None:
    async def main() -> None:
        async with Channels() as channels:
            async with channels.subscribe("a", max_queue=3, on_overflow=policy) as subscription:
                for number in range(10):
                    await channels.publish("a", str(number))
                assert subscription.dropped == channels.dropped == 7
                assert repr(subscription) == "<Subscription to 'a': 3 waiting, 7 dropped>"
                events = subscription.events()
                assert [await anext(events) for _ in expected] == expected
                await channels.publish("a", "next")
                assert await anext(events) == Message("a", "next")
                await events.aclose()
            assert channels.dropped == 7

    run(main)


def test_close_on_overflow(run: Callable[..., Any]) -> None:
    async def main() -> None:
        async with (
            Channels() as channels,
            channels.subscribe("a", max_queue=2, on_overflow="close") as subscription,
        ):
            for number in range(4):
                await channels.publish("a", str(number))
            assert [await subscription.receive() for _ in range(2)] == ["0", "1"]
            for _ in range(2):
                with pytest.raises(SlowSubscriberError) as caught:
                    await anext(subscription)
            expected = (
                "The subscriber reads too slowly: more than 2 messages or 1048576 bytes waited"
            )
            assert str(caught.value) == expected

    run(main)


def test_large_messages(run: Callable[..., Any]) -> None:
    async def main() -> None:
        async with (
            Channels() as channels,
            channels.subscribe("a", max_queue_bytes=10) as subscription,
        ):
            await channels.publish("a", b"123456")
            await channels.publish("a", b"1234")
            await channels.publish("a", b"12345")
            assert [await subscription.receive() for _ in range(2)] == [b"1234", b"12345"]
            await channels.publish("a", b"x" * 100)  # alone it may always wait
            await channels.publish("a", b"y" * 100)
            assert await subscription.receive() == b"y" * 100
            assert subscription.dropped == 2

    run(main)


def test_the_backend_is_interrupted(run: Callable[..., Any]) -> None:
    class Broken(MemoryBackend):
        def lose(self) -> None:
            assert self._receiver is not None
            for name in ("a", "b", "nobody listens to this"):
                self._receiver.interrupted(name)

    async def main() -> None:
        backend = Broken()
        async with (
            Channels(backend) as channels,
            channels.subscribe("a", "b", max_queue=1) as subscription,
        ):
            await channels.publish("a", "1")
            backend.lose()
            await channels.publish("b", "2")
            events = subscription.events()
            # The interruption stays told, though the message before it was dropped.
            assert await anext(events) == Gap(1, False)
            assert await anext(events) == Gap(0, True)
            assert await anext(events) == Message("b", "2")
            assert (subscription.interruptions, channels.interruptions) == (2, 2)
            await events.aclose()

    run(main)


def test_the_end_of_the_channels_ends_iteration(run: Callable[..., Any]) -> None:
    async def main() -> None:
        received: list[Any] = []
        entered = anyio.Event()

        async def listen() -> None:
            async with channels.subscribe("a") as subscription:
                entered.set()
                received.extend([message async for message in subscription])
                with pytest.raises(SubscriptionClosedError, match="The subscription has ended"):
                    await subscription.receive()

        channels = Channels()
        async with anyio.create_task_group() as tasks, channels:
            tasks.start_soon(listen)
            await entered.wait()
            await channels.publish("a", "1")
        assert received == ["1"]

    run(main)


def test_nothing_is_left(run: Callable[..., Any]) -> None:
    async def main() -> None:
        async with Channels() as channels:
            left = []
            for _ in range(20):
                with anyio.CancelScope() as scope:
                    async with channels.subscribe("a", "b") as subscription:
                        left.append(weakref.ref(subscription))
                        await channels.publish("a", "x")
                        scope.cancel()
                        await anyio.sleep_forever()
                del subscription
            assert channels.subscriptions == 0
            assert channels._listeners == {}
            gc.collect()
            assert [each for each in left if each() is not None] == []

    run(main)


def test_misuse(run: Callable[..., Any]) -> None:
    async def main() -> None:
        channels = Channels()
        with pytest.raises(RuntimeError, match=r"Kit\(lifespan=channels.lifespan\)"):
            await channels.publish("a", "x")
        with pytest.raises(RuntimeError, match="The channels are not running"):
            async with channels.subscribe("a"):
                pass
        async with channels:
            with pytest.raises(RuntimeError, match="The channels are already running"):
                await channels.__aenter__()
            subscription = channels.subscribe("a")
            with pytest.raises(RuntimeError, match="The subscription is not entered"):
                await subscription.receive()
            async with subscription, anyio.create_task_group() as tasks:
                tasks.start_soon(subscription.receive)
                await anyio.wait_all_tasks_blocked()
                with pytest.raises(RuntimeError, match="Two tasks are receiving"):
                    await subscription.receive()
                tasks.cancel_scope.cancel()
            with pytest.raises(RuntimeError, match="can be entered once"):
                await subscription.__aenter__()

    run(main)


WRONG_NAMES: list[tuple[Any, type[Exception], str]] = [
    ("", ValueError, "The channel '' can't be used: its name has 0 characters, expected 1 to 200"),
    (
        "x" * 201,
        ValueError,
        f"The channel '{'x' * 99} can't be used: its name has 201 characters, expected 1 to 200",
    ),
    (
        "a\nb",
        ValueError,
        "The channel 'a\\nb' can't be used: expected no control characters, line separators and "
        "surrogates in its name",
    ),
    (
        "\ud800",
        ValueError,
        "The channel '\\ud800' can't be used: expected no control characters, line separators and "
        "surrogates in its name",
    ),
    (7, TypeError, "The name of a channel must be a str, not 7"),
]


@pytest.mark.parametrize(("name", "kind", "message"), WRONG_NAMES)
def test_wrong_names(
    run: Callable[..., Any], name: Any, kind: type[Exception], message: str
) -> None:
    async def main() -> None:
        async with Channels() as channels:
            with pytest.raises(kind) as caught:
                channels.subscribe("fine", name)
            assert str(caught.value) == message
            with pytest.raises(kind) as caught:
                await channels.publish(name, "x")
            assert str(caught.value) == message

    run(main)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_queue": 0}, "subscribe(max_queue=0) can't be used: expected at least 1 message"),
        ({"max_queue": "9"}, "subscribe(max_queue=...) takes an int, not '9'"),
        ({"max_queue_bytes": 0}, "expected at least 1 byte"),
        ({"on_overflow": "drop"}, "expected 'drop_oldest', 'drop_newest' or 'close'"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        Channels().subscribe("a", **options)
    assert message in str(caught.value)


def test_wrong_calls(run: Callable[..., Any]) -> None:
    async def main() -> None:
        async with Channels() as channels, channels.subscribe("a") as subscription:
            with pytest.raises(TypeError, match=r"subscribe\(\) takes at least one channel"):
                channels.subscribe()
            with pytest.raises(TypeError) as caught:
                await channels.publish("a", {"x": 1})  # type: ignore[arg-type]
            assert str(caught.value) == "publish() takes str or bytes, not dict: use publish_json()"
            with pytest.raises(TypeError, match="Can't encode object as JSON, at "):
                await channels.publish_json("a", object())
            await channels.publish("a", bytearray(b"x"))  # type: ignore[arg-type]
            assert await subscription.receive() == b"x"

    run(main)


@pytest.mark.parametrize(
    ("backend", "message"),
    [
        ("redis://x", "takes a backend, e.g. RedisBackend(url), not 'redis://x'"),
        (7, "Channels(backend=...) takes a backend, not 7"),
        (MemoryBackend, "takes a backend, not <class 'kit.channels.MemoryBackend'>"),
    ],
)
def test_wrong_backends(backend: Any, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        Channels(backend)
    assert message in str(caught.value)
