# SPDX-License-Identifier: MIT
"""Tests of kit.authoring.redis."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import trio
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis_server import RedisServer, running

from kit.authoring.options import OptionChecks
from kit.authoring.redis import (
    PerLoop,
    cancel_tasks,
    check_pool,
    connect,
    disconnect,
    is_usable,
    running_loop,
)

CHECK = OptionChecks("Store")
ON_TRIO = "Store runs only on asyncio, like redis-py; on trio, use another store"


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with running() as server:
        yield server


def per_loop() -> PerLoop[list[int]]:
    return PerLoop("Store", "another store", list)


async def exchange(connection: Any, *parts: str) -> Any:
    await connection.send_command(*parts)
    return await connection.read_response()


def test_redis_is_imported_late() -> None:
    program = "import sys, kit.authoring.redis; sys.exit('redis' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_each_loop_has_its_own() -> None:
    lists = per_loop()

    async def used(number: int) -> list[int]:
        lists.get().append(number)
        return lists.get()

    assert [asyncio.run(used(number)) for number in range(3)] == [[0], [1], [2]]


def test_what_was_removed_is_created_anew() -> None:
    lists = per_loop()

    async def test() -> None:
        assert lists.pop() is None
        first = lists.get()
        assert lists.pop() is first
        assert lists.pop() is None
        assert lists.get() is not first

    asyncio.run(test())


def test_a_loop_of_another_thread_keeps_its_own() -> None:
    lists = per_loop()
    is_used, may_end = threading.Event(), threading.Event()
    kept: list[bool] = []

    async def other() -> None:
        mine = lists.get()
        is_used.set()
        await asyncio.to_thread(may_end.wait)
        kept.append(lists.get() is mine)

    async def own() -> None:
        lists.get()
        lists.pop()

    thread = threading.Thread(target=asyncio.run, args=(other(),))
    thread.start()
    is_used.wait()
    asyncio.run(own())
    may_end.set()
    thread.join()
    assert kept == [True]


@pytest.mark.parametrize(
    "use",
    [
        lambda: running_loop("Store", "another store"),
        lambda: per_loop().get(),
        lambda: per_loop().pop(),
    ],
)
def test_trio(use: Callable[[], object]) -> None:
    async def main() -> None:
        use()

    with pytest.raises(RuntimeError) as caught:
        trio.run(main)
    assert str(caught.value) == ON_TRIO


async def test_the_running_loop() -> None:
    assert running_loop("Store", "another store") is asyncio.get_running_loop()


def test_the_pool_of_a_url_has_the_settings() -> None:
    pool = check_pool(CHECK, "redis://:secret@127.0.0.1:7/3", "kit-x", protocol=2)
    settings = pool.connection_kwargs
    assert (settings["host"], settings["port"], settings["db"]) == ("127.0.0.1", 7, 3)
    assert (settings["password"], settings["protocol"]) == ("secret", 2)


async def test_the_pool_of_a_client_is_its_own() -> None:
    client = Redis.from_url("redis://127.0.0.1:7")
    assert check_pool(CHECK, client, "kit-x", protocol=2) is client.connection_pool


def test_options_that_are_no_redis() -> None:
    with pytest.raises(TypeError, match=r"^Store\(redis=\.\.\.\) takes a URL or a redis\.asyncio"):
        check_pool(CHECK, 7, "kit-x")
    with pytest.raises(ValueError, match=r"^Store\(redis=\.\.\.\) has a URL that can't be used"):
        check_pool(CHECK, "http://127.0.0.1", "kit-x")


async def test_a_connection_of_its_own(redis: RedisServer) -> None:
    pool = check_pool(CHECK, redis.url, "kit-x")
    connection = await connect(pool)
    assert await is_usable(connection)
    assert await exchange(connection, "SET", "a", "1") == b"OK"
    await disconnect(connection)
    assert not await is_usable(connection)
    await disconnect(connection)


async def test_a_connection_that_the_server_closed_is_not_usable(redis: RedisServer) -> None:
    connection = await connect(check_pool(CHECK, redis.url, "kit-x"))
    await asyncio.to_thread(redis.stop)
    while await is_usable(connection):
        await asyncio.sleep(0)
    await disconnect(connection)


async def test_a_connection_with_a_reply_that_nobody_read_is_not_usable(redis: RedisServer) -> None:
    connection = await connect(check_pool(CHECK, redis.url, "kit-x"))
    await connection.send_command("PING")
    while await is_usable(connection):
        await asyncio.sleep(0)
    await disconnect(connection)


async def test_no_server(redis: RedisServer) -> None:
    redis.stop()
    with pytest.raises((RedisConnectionError, OSError)):
        await connect(check_pool(CHECK, redis.url, "kit-x"))


async def test_a_server_that_refuses(redis: RedisServer) -> None:
    with pytest.raises((ResponseError, RedisConnectionError)):
        await connect(check_pool(CHECK, redis.url.replace("//", "//user:wrong@"), "kit-x"))


async def test_connecting_may_be_cancelled() -> None:
    is_ended = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1024):
            pass
        is_ended.set()
        writer.close()

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        pool = check_pool(CHECK, f"redis://127.0.0.1:{port}", "kit-x")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await connect(pool)
        await is_ended.wait()


@pytest.mark.parametrize("losses", [0, 1, 3])
async def test_tasks_are_cancelled_until_they_end(losses: int) -> None:
    left = losses

    async def stubborn() -> None:
        nonlocal left
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if left == 0:
                    raise
                left -= 1

    tasks = [asyncio.create_task(stubborn()), asyncio.create_task(asyncio.sleep(0))]
    await asyncio.sleep(0)
    await cancel_tasks(iter(tasks))
    assert all(task.done() for task in tasks)
    assert left == 0
    await cancel_tasks(tasks)
    await cancel_tasks([])
