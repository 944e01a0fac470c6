# SPDX-License-Identifier: MIT
"""Counters in Redis, which several processes and machines share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from kit.authoring.options import OptionChecks
from kit.authoring.redis import PerLoop

from ._limits import Limit
from ._stores import RateLimitState, RateLimitStoreError, Strategy, WindowState

if TYPE_CHECKING:
    from redis.asyncio import Redis

__all__ = ("RedisStore",)


class RedisStore:
    """Keeps counters in Redis (or Valkey), on asyncio: all processes count together.

    A script checks all limits atomically, using the clock of the server. There is one key for each
    client, which expires with its windows.

    Connections are opened on demand, and again after a failure. A timeout or a lost connection
    raises a `RateLimitStoreError`; see `on_store_error` of `rate_limit`.

    Args:
        redis: The URL of a server, `redis://[[user]:password@]host[:port][/database]`, `rediss://`
            for TLS or `unix://path`; or a redis-py client, `redis.asyncio.Redis`, with its own
            settings. You have to close that client yourself.
        prefix: Prefix of the keys in Redis.
        timeout: How long counting a request may take, in seconds, including the connection.
        max_connections: Maximum number of connections. If all are in use, a request waits for one.
            Only for a URL.

    Raises:
        ImportError: If redis-py isn't installed: `pip install "kit-rate-limit[redis]"`.
        TypeError: If an argument has the wrong type.
        ValueError: If an argument can't be used.
    """

    def __init__(
        self,
        redis: str | Redis,
        *,
        prefix: str = "rate-limit:",
        timeout: float = 1.0,
        max_connections: int = 50,
    ) -> None:
        check = OptionChecks("RedisStore")
        self._prefix = check.text("prefix", prefix)
        self._timeout_s = check.number("timeout", timeout, least=0.001, unit="seconds", whole=False)
        check.number("max_connections", max_connections, least=1)
        self._connect: Callable[[], Any] = check.redis(
            redis,
            "kit-rate-limit",
            lambda url: _connecting(url, self._timeout_s, max_connections),
            lambda client: lambda: client,
        )
        self._scripts = PerLoop("RedisStore", "MemoryStore, for one process", self._script)
        self._is_owner = isinstance(redis, str)

    def counter(
        self, name: str, limits: tuple[Limit, ...], strategy: Strategy, /
    ) -> Callable[[str, int], Awaitable[RateLimitState]]:
        """Returns the function that counts the requests of a limiter, see `Store`."""
        start = f"{self._prefix}{name}:"
        windows: list[str | int] = []
        for limit in limits:
            windows += [f"{strategy[0]}{limit.seconds}", limit.amount, limit.seconds * 1000]

        async def count(key: str, cost: int) -> RateLimitState:
            answer = await self._run(start + key, [cost, *windows])
            states = []
            # Three numbers for each limit, see the script.
            for limit, used, reset, wait in zip(
                limits, answer[1::3], answer[2::3], answer[3::3], strict=True
            ):
                remaining = max(limit.amount - used, 0)
                states.append(WindowState(limit, remaining, reset / 1000, wait > 0))
            return RateLimitState(answer[0] == 1, tuple(states), max(answer[3::3]) / 1000)

        return count

    async def close(self) -> None:
        """Closes the connections of the running event loop, unless you passed a client."""
        script = self._scripts.pop()
        if script is not None and self._is_owner:
            await script.registered_client.aclose()

    async def _run(self, key: str, arguments: list[str | int]) -> list[int]:
        from redis.exceptions import RedisError

        try:
            script = self._scripts.get()
            async with asyncio.timeout(self._timeout_s):
                answer: list[int] = await script(keys=[key], args=arguments)
        except TimeoutError:
            raise RateLimitStoreError(f"Redis didn't reply within {self._timeout_s:g} s") from None
        except (RedisError, OSError) as error:
            raise RateLimitStoreError(f"Redis can't count: {error}") from error
        return answer

    def _script(self) -> Any:
        """Returns the script, with a client for one event loop."""
        from ._script import SCRIPT

        return self._connect().register_script(SCRIPT)


def _connecting(url: str, timeout_s: float, max_connections: int) -> Callable[[], Any]:
    """Returns the function that creates the client; raises ValueError for an invalid URL."""
    from redis.asyncio import BlockingConnectionPool, Redis
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    def connect() -> Any:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=max_connections,
            timeout=timeout_s,
            socket_timeout=timeout_s,
            socket_connect_timeout=timeout_s,
            # Immediately, for a connection that the server has closed meanwhile.
            retry=Retry(NoBackoff(), 1),
        )
        return Redis.from_pool(pool)

    connect()
    return connect
