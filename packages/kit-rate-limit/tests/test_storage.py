# SPDX-License-Identifier: MIT
"""Counters in storages of the library limits."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from limits.aio.storage import MemoryStorage, SlidingWindowCounterSupport, Storage

from kit import Kit
from kit.rate_limit import Limit, StorageStore, rate_limit


def delegate(name: str) -> Any:
    async def method(self: Estimating, *args: Any, **options: Any) -> Any:
        return await getattr(self.inner, name)(*args, **options)

    return method


class Estimating(Storage, SlidingWindowCounterSupport):
    """One that knows no moving window, such as that of Memcached."""

    STORAGE_SCHEME = None
    base_exceptions = ValueError
    incr = delegate("incr")
    get = delegate("get")
    get_expiry = delegate("get_expiry")
    check = delegate("check")
    reset = delegate("reset")
    clear = delegate("clear")
    acquire_sliding_window_entry = delegate("acquire_sliding_window_entry")
    get_sliding_window = delegate("get_sliding_window")
    clear_sliding_window = delegate("clear_sliding_window")

    def __init__(self, inner: MemoryStorage) -> None:
        super().__init__()
        self.inner = inner


class Failing(MemoryStorage):
    STORAGE_SCHEME = None  # type: ignore[assignment]

    async def get(self, key: str) -> int:
        raise ConnectionError("gone")


@pytest.fixture
async def storage() -> AsyncIterator[MemoryStorage]:
    storage = MemoryStorage()
    yield storage
    if storage.timer is not None:
        await storage.timer


def app_with(storage: Any, *limits: str, **options: Any) -> Kit:
    app = Kit()
    app.use(rate_limit(*limits, name="api", store=StorageStore(storage), **options))
    app.get("/", lambda c: c.text("Hello"))
    return app


@pytest.mark.parametrize("strategy", ["fixed", "sliding"])
async def test_a_storage_of_limits(storage: MemoryStorage, strategy: Any) -> None:
    app = app_with(storage, "3/hour", "5/day", strategy=strategy)
    assert [(await app.request("/")).status for _ in range(5)] == [200, 200, 200, 429, 429]
    response = await app.request("/")
    # What the first limit refuses the second has not counted.
    hour, day = response.headers.get("RateLimit").split(", ")
    assert hour.startswith('"api:3/hour";r=0;t=')
    assert day.startswith('"api:5/day";r=2;t=')
    assert 0 < int(response.headers.get("Retry-After")) <= 3600


async def test_costs(storage: MemoryStorage) -> None:
    count = StorageStore(storage).counter("a", (Limit(5, 3600),), "fixed")
    assert [(await count("k", cost)).allowed for cost in (3, 3, 2, 0)] == [True, False, True, True]
    assert not (await count("k", 1)).allowed
    free = await count("other", 0)
    assert (free.remaining, free.windows[0].reset, free.retry_after) == (5, 0.0, 0.0)


async def test_a_storage_without_moving_windows_estimates(storage: MemoryStorage) -> None:
    count = StorageStore(Estimating(storage)).counter("a", (Limit(2, 3600),), "sliding")
    assert [(await count("k", 1)).allowed for _ in range(3)] == [True, True, False]


async def test_a_storage_that_fails(caplog: pytest.LogCaptureFixture) -> None:
    response = await app_with(Failing(), "3/hour").request("/")
    assert response.status == 503
    assert (
        "Rate limit: The storage can't count: gone; until the store recovers, requests"
        in caplog.text
    )
    assert (await app_with(Failing(), "3/hour", on_store_error="allow").request("/")).status == 200


async def test_a_limiter_without_a_name(storage: MemoryStorage) -> None:
    app = Kit()
    app.use(rate_limit("2/minute", "5/10 minutes", store=StorageStore(storage)))
    app.get("/", lambda c: c.text("Hello"))
    assert [(await app.request("/")).status for _ in range(3)] == [200, 200, 429]
    assert not any(character.isspace() for key in storage.storage for character in key)
