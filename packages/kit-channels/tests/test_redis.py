# SPDX-License-Identifier: MIT
"""The Redis backend with a real server: outages, what other programs publish, mistakes."""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import trio
from redis.asyncio import Redis
from redis_server import RedisServer, running

from kit.channels import (
    Channels,
    ChannelsUnavailableError,
    Gap,
    Message,
    RedisBackend,
    Subscription,
)

LIMIT_S = 30.0


@pytest.fixture
def acl_redis() -> Iterator[RedisServer]:
    """A server with access control lists."""
    with running() as server:
        yield server


async def allow(admin: Redis, *channels: str) -> None:
    """Lets the user `app` use channels, and no others."""
    rules = ("on", ">secret", "+@all", "~*", "resetchannels", *channels)
    await admin.execute_command("ACL", "SETUSER", "app", *rules)


async def enter(subscription: Subscription) -> None:
    """Enters and leaves a subscription."""
    async with subscription:
        pass


async def publish_again(channels: Channels, message: str) -> None:
    """Publishes once the server is back; what failed is not in doubt here, as it was down."""
    while True:
        try:
            await channels.publish("a", message)
        except ChannelsUnavailableError:
            await asyncio.sleep(0.02)
        else:
            return


@pytest.mark.parametrize("options", [{}, {"protocol": 3}, {"decode_responses": True}])
async def test_a_server_that_is_restarted(redis: RedisServer, options: dict[str, Any]) -> None:
    """Subscriptions stay, the gap is told in its place, and a publish without a server fails."""
    async with asyncio.timeout(LIMIT_S):
        client = Redis(port=redis.port, **options)
        async with (
            Channels(RedisBackend(client)) as channels,
            channels.subscribe("a", "b") as subscription,
        ):
            events = subscription.events()
            for number in range(3):
                await channels.publish("a", f"before {number}")
                assert await anext(events) == Message("a", f"before {number}")
                redis.stop()
                with pytest.raises(ChannelsUnavailableError):
                    await channels.publish("a", "lost")
                redis.start()
                assert await anext(events) == Gap(0, interrupted=True)
                await publish_again(channels, "after")
                event = await anext(events)
                while isinstance(event, Gap):  # that of the other channel
                    event = await anext(events)
                assert event == Message("a", "after")
            assert subscription.interruptions == channels.interruptions == 6
            await events.aclose()
        await client.aclose()


async def test_subscribing_waits_for_the_server(redis: RedisServer) -> None:
    async with asyncio.timeout(LIMIT_S), Channels(RedisBackend(redis.url)) as channels:
        redis.stop()

        async def listen() -> Any:
            async with channels.subscribe("a") as subscription:
                entered.set()
                message = await subscription.receive()
                assert subscription.interruptions == 0  # it lost nothing, as it was not there
                return message

        entered = asyncio.Event()
        listening = asyncio.create_task(listen())
        redis.start()
        await entered.wait()
        await publish_again(channels, "hello")
        assert await listening == "hello"


async def test_no_server(redis: RedisServer) -> None:
    """The start fails; so does what comes later, after a bounded time."""
    async with asyncio.timeout(LIMIT_S):
        async with Channels(RedisBackend(redis.url, timeout=0.2)) as channels:
            redis.stop()
            with pytest.raises(ChannelsUnavailableError, match="not subscribed"):
                async with channels.subscribe("a"):
                    pass
            assert channels.subscriptions == 0
        with pytest.raises(ChannelsUnavailableError, match="No connection to Redis"):
            await Channels(RedisBackend(redis.url)).__aenter__()


async def test_a_server_that_does_not_answer(redis: RedisServer) -> None:
    """A connection over which nothing comes any more is given up, also when it stays open."""
    silent: list[Any] = []

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if not is_silent.is_set():
                writer.write(data)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", redis.port)
        silent.append(asyncio.gather(pipe(reader, back), pipe(there, writer)))
        writers.extend((writer, back))

    is_silent = asyncio.Event()
    writers: list[asyncio.StreamWriter] = []
    async with asyncio.timeout(LIMIT_S):
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        backend = RedisBackend(url, ping_interval=0.1, timeout=0.3)
        async with Channels(backend) as channels, channels.subscribe("a") as subscription:
            await channels.publish("a", "1")
            assert await subscription.receive() == "1"
            is_silent.set()
            with pytest.raises(ChannelsUnavailableError, match="may have been delivered or not"):
                await channels.publish("a", "2")
            events = subscription.events()
            waiting = asyncio.ensure_future(anext(events))
            await asyncio.sleep(0)
            is_silent.clear()
            event = await waiting
            while not isinstance(event, Gap):
                event = await anext(events)
            assert event.interrupted
            await events.aclose()
        for writer in writers:
            writer.close()
        await asyncio.gather(*silent, return_exceptions=True)
        server.close()


async def test_a_server_that_reads_nothing_any_more(redis: RedisServer) -> None:
    """Its connection is given up, although not even a PING can be sent: all buffers are full."""
    tasks: list[asyncio.Task[None]] = []
    writers: list[asyncio.StreamWriter] = []
    has_stopped = asyncio.Event()

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(4096):
            writer.write(data)
            await writer.drain()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", redis.port)
        pipes = [asyncio.create_task(pipe(*each)) for each in ((reader, back), (there, writer))]
        tasks.extend(pipes)
        writers.extend((writer, back))
        if not has_stopped.is_set():
            await has_stopped.wait()
            for each in pipes:
                each.cancel()

    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    listener.bind(("127.0.0.1", 0))
    async with asyncio.timeout(LIMIT_S):
        server = await asyncio.start_server(serve, sock=listener, limit=4096)
        url = f"redis://127.0.0.1:{listener.getsockname()[1]}"
        backend = RedisBackend(url, ping_interval=0.2, timeout=1)
        async with Channels(backend) as channels, channels.subscribe("a") as subscription:
            await channels.publish("a", "1")
            events = subscription.events()
            assert await anext(events) == Message("a", "1")
            has_stopped.set()
            names = [f"{'x' * 190}{number}" for number in range(20_000)]
            flood = asyncio.create_task(enter(channels.subscribe(*names)))
            assert await anext(events) == Gap(0, interrupted=True)
            flood.cancel()
            await asyncio.wait([flood])
            await events.aclose()
        for task in tasks:
            task.cancel()
        for each in writers:
            each.transport.abort()
        await asyncio.gather(*tasks, return_exceptions=True)
        server.close()


@pytest.mark.parametrize("options", [{}, {"protocol": 3}])
async def test_a_channel_that_the_server_refuses(
    acl_redis: RedisServer, options: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """Subscribing to it fails, and other subscriptions lose nothing."""
    async with (
        asyncio.timeout(LIMIT_S),
        Redis(port=acl_redis.port) as admin,
        Redis(port=acl_redis.port, username="app", password="secret", **options) as client,
    ):
        await allow(admin, "&kit:room:*")
        async with (
            Channels(RedisBackend(client)) as channels,
            channels.subscribe("room:1") as subscription,
        ):
            for names in (["admin"], ["room:2", "admin", "room:1", "other"]):
                with pytest.raises(
                    ChannelsUnavailableError, match="Redis refused the subscription to 'admin': "
                ) as caught:
                    await enter(channels.subscribe(*names))
                assert "no permissions" in str(caught.value)
            outcomes = await asyncio.gather(
                *(
                    enter(channels.subscribe(f"{name}:{number}"))
                    for number in range(20)
                    for name in ("room", "admin")
                ),
                return_exceptions=True,
            )
            refused = [isinstance(each, ChannelsUnavailableError) for each in outcomes]
            assert refused == [False, True] * 20
            await channels.publish("room:1", "hello")
            assert await subscription.receive() == "hello"
            assert (channels.subscriptions, channels.interruptions) == (1, 0)
    gc.collect()  # asyncio would log an error that nobody has looked at
    assert caplog.text == ""


async def test_a_channel_that_the_server_refuses_for_a_while(
    acl_redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Other subscriptions go on, and this one does once it is allowed again."""
    async with asyncio.timeout(LIMIT_S), Redis(port=acl_redis.port) as admin:
        await allow(admin, "&kit:room:*", "&kit:other")
        url = f"redis://app:secret@127.0.0.1:{acl_redis.port}"
        async with (
            Channels(RedisBackend(url, max_backoff=0.05)) as channels,
            channels.subscribe("room:1") as room,
            channels.subscribe("other") as other,
        ):
            # The server closes the connection.
            await allow(admin, "&kit:room:*")
            events = room.events()
            assert await anext(events) == Gap(0, interrupted=True)
            while "Redis refused the subscription to 'other'" not in caplog.text:
                await asyncio.sleep(0.01)
            for number in range(20):
                await channels.publish("room:1", str(number))
                assert await anext(events) == Message("room:1", str(number))
                await asyncio.sleep(0.01)
            assert other.interruptions == 0
            await allow(admin, "&kit:room:*", "&kit:other")
            others = other.events()
            assert await anext(others) == Gap(0, interrupted=True)
            while True:  # the connection that publishes was not allowed to, and may be closed
                try:
                    await channels.publish("other", "hello")
                    break
                except ChannelsUnavailableError:
                    await asyncio.sleep(0.01)
            assert await anext(others) == Message("other", "hello")
            assert room.interruptions == 1
            await events.aclose()
            await others.aclose()
    assert caplog.text.count("Redis refused the subscription") == 1


async def test_other_programs(redis: RedisServer) -> None:
    """Text is published as it is; what is no UTF-8 is received as bytes."""
    async with (
        asyncio.timeout(LIMIT_S),
        Redis(port=redis.port) as client,
        Channels(RedisBackend(redis.url, prefix="app:")) as channels,
        channels.subscribe("a") as subscription,
        client.pubsub() as other,
    ):
        await client.publish("app:a", "hé")
        await client.publish("a", "of another prefix")
        await client.publish("app:a", b"\xfe\xff")
        assert [await subscription.receive() for _ in range(2)] == ["hé", b"\xfe\xff"]
        await other.subscribe("app:a")
        await channels.publish("a", "text")
        found = None
        while found is None or found["type"] != "message":
            found = await other.get_message(timeout=LIMIT_S)
        assert found["data"] == b"text"


async def test_two_processes(redis: RedisServer) -> None:
    """Another process publishes; all arrives, in its order."""
    code = """
import asyncio, sys
from kit.channels import Channels, RedisBackend
async def main():
    async with Channels(RedisBackend(sys.argv[1])) as channels:
        for number in range(1000):
            await channels.publish("a", str(number))
asyncio.run(main())
"""
    async with (
        asyncio.timeout(LIMIT_S),
        Channels(RedisBackend(redis.url)) as channels,
        channels.subscribe("a", max_queue=1000) as subscription,
    ):
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, redis.url)
        received = [await subscription.receive() for _ in range(1000)]
        assert received == [str(number) for number in range(1000)]
        assert await process.wait() == 0


async def test_no_tasks_are_left(redis: RedisServer) -> None:
    before = asyncio.all_tasks()
    for _ in range(20):
        async with Channels(RedisBackend(redis.url)) as channels, channels.subscribe("a"):
            await channels.publish("a", "x")
    assert asyncio.all_tasks() == before


async def test_a_backend_serves_one(redis: RedisServer) -> None:
    backend = RedisBackend(redis.url)
    async with Channels(backend):
        with pytest.raises(RuntimeError, match="A backend serves one Channels at a time"):
            await Channels(backend).__aenter__()


def test_trio() -> None:
    async def main() -> None:
        async with Channels(RedisBackend("redis://127.0.0.1")):
            pass

    with pytest.raises(RuntimeError) as caught:
        trio.run(main)
    assert str(caught.value).startswith("RedisBackend runs only on asyncio, like redis-py; on")


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ("http://user:s3cret@host", {}, "expected one such as 'redis://127.0.0.1:6379'"),
        (7, {}, "takes a URL or a redis.asyncio.Redis, not a builtins.int"),
        ("redis://x", {"timeout": 0}, "expected at least 0.001 seconds"),
        ("redis://x", {"prefix": b"x"}, "RedisBackend(prefix=...) takes a str, not b'x'"),
        ("redis://x", {"ping_interval": "1"}, "takes a number, not '1'"),
        ("redis://x", {"max_backoff": -1}, "expected at least 0.001 seconds"),
    ],
)
def test_wrong_options(arguments: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        RedisBackend(arguments, **options)
    assert message in str(caught.value)


async def test_not_started() -> None:
    backend = RedisBackend("redis://127.0.0.1")
    with pytest.raises(RuntimeError, match="The backend is not started"):
        await backend.publish("a", "x")
    with pytest.raises(RuntimeError, match="The backend is not started"):
        await backend.subscribe(["a"])
    backend.unsubscribe("a")


def test_without_redis_py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    with pytest.raises(ImportError, match=r'pip install "kit-channels\[redis\]"'):
        RedisBackend("redis://127.0.0.1")
