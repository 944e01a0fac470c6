# SPDX-License-Identifier: MIT
"""Helpers for stores on redis-py: an object for each event loop, and connections without a pool.

    from redis.asyncio import Redis

    class Store:
        def __init__(self, url: str) -> None:
            self._clients = PerLoop("Store", "another store", lambda: Redis.from_url(url))

        async def read(self, key: str) -> bytes | None:
            return await self._clients.get().get(key)

        async def close(self) -> None:
            client = self._clients.pop()
            if client is not None:
                await client.aclose()

A connection that `connect` opens isn't in a pool, and never repeats a command by itself. It suits
stores that must know whether a command was run, that send the commands of many tasks together, or
that subscribe to channels. The pool only provides the settings.

Importing this module doesn't import redis-py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from .options import OptionChecks

__all__ = (
    "PerLoop",
    "cancel_tasks",
    "check_pool",
    "connect",
    "disconnect",
    "is_usable",
    "running_loop",
)

T = TypeVar("T")

_CANCEL_AGAIN_S = 0.1


class PerLoop(Generic[T]):
    """An object, such as a client, for each event loop that uses a store.

    Connections belong to the event loop that opened them. An app has one; its tests may have
    several, one after the other or in several threads.

    Args:
        owner: Name of the store, for the error on trio.
        instead: What to use on trio, for the error, e.g. `MemoryStore`.
        create: Creates the object; called in the event loop, on first use.
    """

    __slots__ = ("_create", "_created", "_instead", "_owner")

    def __init__(self, owner: str, instead: str, create: Callable[[], T]) -> None:
        self._owner = owner
        self._instead = instead
        self._create = create
        self._created: dict[asyncio.AbstractEventLoop, T] = {}

    def get(self) -> T:
        """Returns the object of the running event loop.

        Raises:
            RuntimeError: On trio.
        """
        loop = running_loop(self._owner, self._instead)
        created = self._created
        if loop not in created:
            # The connections of a closed loop can't be closed any more. Other threads may remove
            # the same ones at the same time.
            for each in [each for each in tuple(created) if each.is_closed()]:
                created.pop(each, None)
            created[loop] = self._create()
        return created[loop]

    def pop(self) -> T | None:
        """Removes the object of the running event loop, and returns it; None if there is none.

        Raises:
            RuntimeError: On trio.
        """
        return self._created.pop(running_loop(self._owner, self._instead), None)


def running_loop(owner: str, instead: str) -> asyncio.AbstractEventLoop:
    """Returns the running event loop of asyncio, the only one that redis-py supports.

    Args:
        owner: Name of the store, for the error.
        instead: What to use on trio, for the error, e.g. `MemoryStore`.

    Raises:
        RuntimeError: On trio, or if no event loop is running.
    """
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise RuntimeError(
            f"{owner} runs only on asyncio, like redis-py; on trio, use {instead}"
        ) from None


def check_pool(check: OptionChecks, redis: Any, package: str, **settings: Any) -> Any:
    """Checks the option `redis`, and returns a connection pool with its settings.

    Args:
        check: The checks of the store's options; see `OptionChecks.redis`.
        redis: The URL of a server, or a client, `redis.asyncio.Redis`.
        package: The distribution with redis-py in its extra `redis`.
        **settings: More settings of the connections; used with a URL.

    Returns:
        The pool of the client, or a new `redis.asyncio.ConnectionPool` without connections.

    Raises:
        ImportError: If redis-py isn't installed.
        TypeError: If the option has the wrong type.
        ValueError: If the URL can't be used.
    """

    def from_url(url: str) -> Any:
        from redis.asyncio import ConnectionPool

        return ConnectionPool.from_url(url, **settings)

    return check.redis(redis, package, from_url, lambda client: client.connection_pool)


async def connect(pool: Any) -> Any:
    """Opens a connection outside of a pool, with the pool's settings except retries and timeouts.

    redis-py sends a command again if the connection breaks, though the server may have run it. Its
    timeouts use `asyncio.wait_for`, which can lose a cancellation before Python 3.12; so apply
    `asyncio.timeout` to this and to each command.

    Args:
        pool: The pool, a `redis.asyncio.ConnectionPool`.

    Returns:
        The connection, a `redis.asyncio.Connection`; `disconnect` closes it.

    Raises:
        RedisError: If the server refuses the connection.
        OSError: If the server can't be reached.
    """
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    connection = pool.make_connection()
    connection.retry = Retry(NoBackoff(), 0)
    connection.socket_timeout = None
    try:
        await connection.connect()
    except BaseException:
        await disconnect(connection)
        raise
    return connection


async def disconnect(connection: Any) -> None:
    """Closes a connection, without waiting for the server. Never raises an Exception.

    Args:
        connection: A connection of redis-py.
    """
    with suppress(Exception):
        await connection.disconnect(nowait=True)


async def is_usable(connection: Any) -> bool:
    """Returns whether an idle connection is open at both ends, as far as is known.

    A server may have closed it, e.g. after its `timeout`, or because it was restarted.

    Args:
        connection: A connection of redis-py whose replies have all been read.
    """
    if not connection.is_connected:
        return False
    # Both forms, for redis-py 8 and earlier, report data and the end of the connection.
    can_read = getattr(connection, "can_read", None) or connection.can_read_destructive
    try:
        return not await can_read()
    except Exception:
        return False


async def cancel_tasks(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancels tasks that use redis-py until they have ended: once may not be enough, see `connect`.

    Args:
        tasks: The tasks.
    """
    running = list(tasks)
    while running := [task for task in running if not task.done()]:
        for task in running:
            task.cancel()
        await asyncio.wait(running, timeout=_CANCEL_AGAIN_S)
