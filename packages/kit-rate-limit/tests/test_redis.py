# SPDX-License-Identifier: MIT
"""Counters in Redis: the script beside the counters in memory, shared counters, and failures."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import weakref
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from redis.asyncio import Redis
from redis_server import RedisServer

from kit import Kit
from kit.interface.metadata import get_facts
from kit.rate_limit import Limit, MemoryStore, RateLimitStoreError, RedisStore, rate_limit

WORKER = Path(__file__).with_name("redis_worker.py")
PROCESSES = 16
PER_SECOND = 60


@pytest.fixture
async def store(redis: RedisServer) -> AsyncIterator[RedisStore]:
    store = RedisStore(redis.url)
    yield store
    await store.close()


async def statuses(app: Kit, count: int) -> list[int]:
    return [(await app.request("/")).status for _ in range(count)]


def app_with(*limits: Any, **options: Any) -> Kit:
    app = Kit()
    app.use(rate_limit(*limits, name="api", **options))
    app.get("/", lambda c: c.text("Hello"))
    return app


@pytest.mark.parametrize("strategy", ["fixed", "sliding"])
async def test_requests_beyond_a_limit_are_refused(store: RedisStore, strategy: Any) -> None:
    app = app_with("3/hour", "5/day", store=store, strategy=strategy)
    assert await statuses(app, 5) == [200, 200, 200, 429, 429]
    response = await app.request("/")
    assert response.headers.get("RateLimit").startswith('"api:3/hour";r=0;t=')
    assert ', "api:5/day";r=2;t=' in response.headers.get("RateLimit")
    assert (await response.json())["violated-policies"] == ["api:3/hour"]


async def test_limiters_without_a_name_count_together_if_their_limits_are_the_same(
    redis: RedisServer,
) -> None:
    def app_of_a_process(store: RedisStore) -> Kit:
        app = Kit()
        app.use("/a", rate_limit("2/hour", key=lambda c: "ann", store=store))
        app.use("/b", rate_limit("3/hour", key=lambda c: "ann", store=store))
        app.use("/c", rate_limit("2/hour", key=lambda c: "ann", store=store, name="c"))
        return app.get("/:name", lambda c: c.text(""))

    stores = [RedisStore(redis.url), RedisStore(redis.url)]
    apps = [app_of_a_process(store) for store in stores]
    for path, expected in (
        ("/a", [200, 200, 429]),
        ("/b", [200, 200, 200]),
        ("/c", [200, 200, 429]),
    ):
        found = [(await apps[turn % 2].request(path)).status for turn in range(3)]
        assert found == expected
    response = await apps[0].request("/b")
    assert response.headers.get("RateLimit-Policy") == '"3/hour";q=3;w=3600'
    for store in stores:
        await store.close()


class Moved:
    """Moves the times that are kept in Redis, as if so much time had passed."""

    def __init__(self, client: Any, limits: list[Limit]) -> None:
        self._client = client
        self._limits = limits

    async def __call__(self, passed_ms: int) -> None:
        for key in await self._client.keys("*"):
            for field, value in (await self._client.hgetall(key)).items():
                # A slice is a tenth of the window.
                unit = int(field[1:]) * 100 if field[:1] == b"s" else 1
                pairs = [pair.split(b":") for pair in value.split(b",")]
                moved = [b"%d:%s" % (int(at) - passed_ms // unit, used) for at, used in pairs]
                await self._client.hset(key, field, b",".join(moved))


@pytest.mark.parametrize("strategy", ["fixed", "sliding"])
async def test_it_counts_as_in_memory(
    redis: RedisServer, store: RedisStore, strategy: Any, clock: Any
) -> None:
    # Days, so that the time which the test itself takes ends no window and no slice; the slices are
    # 1 and 3 days long.
    limits = [Limit(5, 864_000), Limit(7, 2_592_000)]
    days = 86400
    steps = [(0, 1), (0, 2), (3 * days, 2), (0, 1), (3 * days, 0), (6 * days, 3), (3 * days, 3)]
    steps += [(0, 5), (3 * days, 6), (9 * days, 2), (9 * days, 3), (0, 8), (39 * days, 1)]
    client = Redis.from_url(redis.url)
    move = Moved(client, limits)
    server = store.counter("a", tuple(limits), strategy)
    # In the middle of a slice, as the clock of the server is not.
    seconds, _ = await client.time()
    clock.now = float(seconds)
    memory = MemoryStore(clock=clock).counter("a", tuple(limits), strategy)
    for passed, cost in steps:
        await move(passed * 1000)
        clock.now += passed
        found, expected = await server("k", cost), memory("k", cost)
        assert found.allowed == expected.allowed
        assert [(each.remaining, each.exceeded) for each in found.windows] == [
            (each.remaining, each.exceeded) for each in expected.windows
        ]
        # The clock of the server goes on.
        slack = 60.0
        assert found.retry_after == pytest.approx(expected.retry_after, abs=slack)
        for one, other in zip(found.windows, expected.windows, strict=True):
            assert one.reset == pytest.approx(other.reset, abs=slack)
    await client.aclose()


async def test_keys_expire_with_their_windows(redis: RedisServer, store: RedisStore) -> None:
    client = Redis.from_url(redis.url)
    await store.counter("a", (Limit(5, 60), Limit(9, 600)), "fixed")("k", 1)
    assert await client.keys() == [b"rate-limit:a:k"]
    assert 600_000 < await client.pttl("rate-limit:a:k") <= 660_000
    await store.counter("a", (Limit(5, 1),), "fixed")("k", 1)
    assert await client.pttl("rate-limit:a:k") > 500_000
    # What is refused or free makes no key.
    await store.counter("b", (Limit(5, 60),), "fixed")("k", 6)
    await store.counter("b", (Limit(5, 60),), "sliding")("k", 0)
    assert await client.keys() == [b"rate-limit:a:k"]
    await client.aclose()


async def test_limiters_share_counters_by_name(redis: RedisServer, store: RedisStore) -> None:
    other = RedisStore(redis.url)
    apart = RedisStore(redis.url, prefix="b:")
    assert (await store.counter("a", (Limit(3, 60),), "fixed")("k", 3)).allowed
    smaller = await other.counter("a", (Limit(2, 60), Limit(9, 600)), "fixed")("k", 0)
    assert [window.remaining for window in smaller.windows] == [0, 9]
    for free in (
        other.counter("b", (Limit(3, 60),), "fixed"),
        other.counter("a", (Limit(3, 60),), "sliding"),
        apart.counter("a", (Limit(3, 60),), "fixed"),
    ):
        assert (await free("k", 3)).allowed
    await other.close()
    await apart.close()


@pytest.mark.parametrize("decode_responses", [False, True])
async def test_a_client_of_ones_own_stays_open(redis: RedisServer, decode_responses: bool) -> None:
    client = Redis.from_url(redis.url, decode_responses=decode_responses)
    store = RedisStore(client)
    assert await statuses(app_with("1/hour", store=store), 2) == [200, 429]
    await store.close()
    assert await client.ping()
    await client.aclose()


def test_a_store_is_used_on_one_loop_after_another(redis: RedisServer) -> None:
    store = RedisStore(redis.url)
    app = app_with("2/hour", store=store)

    async def once() -> list[int]:
        try:
            return await statuses(app, 1)
        finally:
            await store.close()

    assert [asyncio.run(once()) for _ in range(3)] == [[200], [200], [429]]


def test_on_trio_it_says_what_to_use(caplog: pytest.LogCaptureFixture) -> None:
    app = app_with("1/hour", store=RedisStore("redis://127.0.0.1:1"), on_store_error="allow")
    assert anyio.run(statuses, app, 1, backend="trio") == [500]
    assert (
        "RedisStore runs only on asyncio, like redis-py; on trio, use MemoryStore, for one process"
    ) in caplog.text


def test_loops_that_run_in_turn_keep_their_connections(redis: RedisServer) -> None:
    store = RedisStore(redis.url)
    app = app_with("9/hour", store=store)

    async def connections() -> int:
        async with Redis.from_url(redis.url) as client:
            return int((await client.info("stats"))["total_connections_received"])

    before = asyncio.run(connections())
    runners = [asyncio.Runner() for _ in range(2)]
    found = [runner.run(statuses(app, 1)) for _ in range(5) for runner in runners]
    assert found == [[200]] * 9 + [[429]]
    for runner in runners:
        runner.run(store.close())
        runner.close()
    # One for each loop, and the one that asks.
    assert asyncio.run(connections()) - before == 3


def test_a_store_keeps_no_loop_that_is_closed() -> None:
    app = app_with("9/hour", store=RedisStore("redis://127.0.0.1:1"))
    loops: list[weakref.ref[asyncio.AbstractEventLoop]] = []

    async def once() -> None:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        assert await statuses(app, 1) == [503]

    for _ in range(3):
        asyncio.run(once())
    gc.collect()
    # The first is kept by the exception in the log.
    assert loops[1]() is None


async def test_a_server_that_is_killed_and_started_again(
    redis: RedisServer, store: RedisStore, caplog: pytest.LogCaptureFixture
) -> None:
    refusing = app_with("5/hour", store=store)
    allowing = app_with("5/hour", store=store, on_store_error="allow")
    counting = app_with("5/hour", store=store, on_store_error="memory")
    assert await statuses(refusing, 1) == [200]
    redis.stop()
    assert await statuses(refusing, 2) == [503, 503]
    assert await statuses(allowing, 7) == [200] * 7
    assert await statuses(counting, 7) == [200] * 5 + [429] * 2
    # One line for each of them, and not one for each request.
    lines = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert [line.rpartition("until the store recovers, ")[2] for line in lines] == [
        "requests are refused with 503",
        "requests are not limited",
        "each process counts on its own",
    ]
    redis.start()
    # The server has forgotten what was counted.
    for app in (refusing, allowing, counting):
        assert await statuses(app, 1) == [200]
    assert await statuses(refusing, 3) == [200, 200, 429]


async def test_a_server_that_hangs(redis: RedisServer) -> None:
    store = RedisStore(redis.url, timeout=0.2, max_connections=2)
    app = app_with("5/hour", store=store)
    assert await statuses(app, 1) == [200]
    redis.pause()
    try:
        found = await asyncio.gather(*(statuses(app, 1) for _ in range(20)))
        assert found == [[503]] * 20
        with pytest.raises(RateLimitStoreError) as raised:
            await store.counter("a", (Limit(1, 1),), "fixed")("k", 1)
        assert str(raised.value) == "Redis didn't reply within 0.2 s"
    finally:
        redis.resume()
    assert await statuses(app, 1) in ([200], [429])
    await store.close()


async def test_an_unreachable_server_reveals_no_password(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = app_with("5/hour", store=RedisStore("redis://:s3cret@127.0.0.1:1"))
    response = await app.request("/")
    assert (response.status, await response.text()) == (503, "Service Unavailable")
    assert "Rate limit: Redis can't count: " in caplog.text
    assert "s3cret" not in caplog.text


def test_it_carries_the_503_too() -> None:
    store = RedisStore("redis://127.0.0.1:1")
    refusing = rate_limit("1/day", store=store, name="a")
    assert list(get_facts(refusing).responses) == [429, 503]
    allowing = rate_limit("1/day", store=store, name="a", on_store_error="allow")
    assert list(get_facts(allowing).responses) == [429]


def workers(url: str, strategy: str, seconds: int) -> list[tuple[float, float, int]]:
    """Returns what many processes were allowed that count as fast as they can at the same time.

    Each item is the time before, the time after, and what remained.
    """
    command = [sys.executable, str(WORKER), url, strategy, str(PER_SECOND), str(seconds)]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(PROCESSES)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        outputs = [process.communicate()[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return [tuple(each) for output in outputs for each in json.loads(output)]


@pytest.mark.slow
@pytest.mark.once
def test_16_processes_are_allowed_exactly_the_limit_in_every_fixed_window(
    redis: RedisServer,
) -> None:
    allowed = workers(redis.url, "fixed", 4)
    # In a window, each number that may remain is left once.
    counts = Counter(remaining for _, _, remaining in allowed)
    windows = counts[PER_SECOND - 1]
    assert windows >= 3
    # The last window may have been left before it was full.
    found = [counts[remaining] for remaining in reversed(range(PER_SECOND))]
    assert set(found) <= {windows, windows - 1}
    assert found == sorted(found, reverse=True)


@pytest.mark.slow
@pytest.mark.once
def test_16_processes_are_never_allowed_more_than_the_limit_in_a_sliding_window(
    redis: RedisServer,
) -> None:
    seconds = 4
    allowed = workers(redis.url, "sliding", seconds)
    for begin, _, _ in allowed:
        # Counted surely within a second: asked for after its begin, and answered before its end.
        within = [1 for before, after, _ in allowed if begin <= before and after < begin + 1]
        assert len(within) <= PER_SECOND
    # What was used is there again after 1.1 seconds.
    assert len(allowed) >= PER_SECOND * int(seconds / 1.1)
