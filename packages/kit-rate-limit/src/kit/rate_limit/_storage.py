# SPDX-License-Identifier: MIT
"""Counters in any asynchronous storage of the limits library."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from ._limits import Limit
from ._stores import RateLimitState, RateLimitStoreError, Strategy, WindowState

if TYPE_CHECKING:
    from limits.aio.storage import Storage

__all__ = ("StorageStore",)


class StorageStore:
    """Keeps counters in a storage of the limits library: Memcached, MongoDB, Redis Cluster, ...

    The library can't count several windows atomically. A request is first tested against each
    limit, then counted in each. So concurrent requests never exceed the limit of a fixed window,
    but requests refused by one limit may use up another.

    A sliding window is the library's moving window if the storage supports it, otherwise its
    sliding window counter, which is an estimate.

    Args:
        storage: A storage of `limits.aio.storage`.

    Raises:
        ImportError: If limits isn't installed: `pip install "kit-rate-limit[limits]"`.
        TypeError: If `storage` is anything else, such as a synchronous storage.
    """

    def __init__(self, storage: Storage) -> None:
        try:
            from limits.aio.storage import Storage
        except ImportError as error:
            raise ImportError(
                'StorageStore needs limits: pip install "kit-rate-limit[limits]"'
            ) from error
        if not isinstance(storage, Storage):
            kind = type(storage)
            raise TypeError(
                "StorageStore() takes a storage of limits.aio.storage, not a "
                f"{kind.__module__}.{kind.__qualname__}"
            )
        self._storage = storage

    def counter(
        self, name: str, limits: tuple[Limit, ...], strategy: Strategy, /
    ) -> Callable[[str, int], Awaitable[RateLimitState]]:
        """Returns the function that counts the requests of a limiter, see `Store`."""
        from limits import RateLimitItemPerSecond
        from limits.aio.storage import MovingWindowSupport
        from limits.aio.strategies import (
            FixedWindowRateLimiter,
            MovingWindowRateLimiter,
            RateLimiter,
            SlidingWindowCounterRateLimiter,
        )

        storage = self._storage
        limiter: RateLimiter
        if strategy == "fixed":
            limiter = FixedWindowRateLimiter(storage)
        elif isinstance(storage, MovingWindowSupport):
            limiter = MovingWindowRateLimiter(storage)
        else:
            limiter = SlidingWindowCounterRateLimiter(storage)
        items = [RateLimitItemPerSecond(limit.amount, limit.seconds, name) for limit in limits]

        async def count(key: str, cost: int) -> RateLimitState:
            try:
                fits = [await limiter.test(item, key, cost=cost) for item in items]
                if cost and all(fits):
                    fits = [await limiter.hit(item, key, cost=cost) for item in items]
                found = [await limiter.get_window_stats(item, key) for item in items]
            except Exception as error:
                raise RateLimitStoreError(f"The storage can't count: {error}") from error
            now = time.time()
            states = [
                WindowState(
                    limit,
                    max(int(remaining), 0),
                    max(reset - now, 0.0) if remaining < limit.amount else 0.0,
                    not each,
                )
                for limit, (reset, remaining), each in zip(limits, found, fits, strict=True)
            ]
            wait = max((state.reset for state in states if state.exceeded), default=0.0)
            return RateLimitState(all(fits), tuple(states), wait)

        return count
