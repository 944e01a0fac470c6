# SPDX-License-Identifier: MIT
"""The Redis store with a real server: what is in it, outages, mistakes."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
import trio
from redis.asyncio import Connection, Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis_server import RedisServer, running

from kit.session import SessionStoreError
from kit.session.redis import RedisStore
from kit.session.stores import SessionRecord

LIMIT_S = 30.0


def record(
    data: bytes = b"{}", *, user: str | None = None, ends_in_s: float = 3600.0
) -> SessionRecord:
    now = time.time()
    return SessionRecord(data, 1, now, now + ends_in_s, user)


def key(number: int) -> str:
    return f"{number:064x}"


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """A server that a test may stop."""
    with running() as server:
        yield server


@asynccontextmanager
async def opened(*arguments: Any, **options: Any) -> AsyncIterator[RedisStore]:
    store = RedisStore(*arguments, **options)
    async with asyncio.timeout(LIMIT_S):
        await store.open()
        try:
            yield store
        finally:
            await store.close()


async def test_what_is_in_redis(redis: RedisServer) -> None:
    """Keys with the prefix alone; all of them go by themselves."""
    async with (
        opened(redis.url, prefix="app:") as store,
        Redis(port=redis.port, decode_responses=True) as client,
    ):
        kept = record(b'{"a":1}', user="42", ends_in_s=100)
        later = record(user="42", ends_in_s=1000)
        await store.insert(key(1), kept)
        await store.insert(key(2), later)
        await store.insert(key(3), record())
        names = {f"app:{key(number)}" for number in (1, 2, 3)}
        assert set(await client.keys()) == {*names, "app:user:42"}
        assert await client.hgetall(f"app:{key(1)}") == {
            "d": '{"a":1}',
            "v": "1",
            "c": repr(kept.created_at),
            "e": repr(kept.expires_at),
            "u": "42",
        }
        assert abs(await client.pexpiretime(f"app:{key(1)}") - kept.expires_at * 1000) <= 1
        assert 0 <= await client.expiretime("app:user:42") - later.expires_at <= 2


async def test_the_index_of_a_user_cleans_itself(redis: RedisServer) -> None:
    async with opened(redis.url) as store, Redis(port=redis.port, decode_responses=True) as client:
        for number in range(5):
            await store.insert(key(number), record(user="42"))
        await store.delete(key(0))
        await store.replace(key(1), replace(record(user="43"), version=2))
        await store.replace(key(2), replace(record(user="42", ends_in_s=-10), version=2))
        # What the server would do to a session that has expired.
        await client.delete(f"session:{key(3)}")
        assert await client.zrange("session:user:42", 0, -1) == [
            f"session:{key(number)}" for number in (3, 4)
        ]
        assert await store.delete_user("42") == 1
        assert await client.keys("session:user:*") == ["session:user:43"]
        await store.replace(key(1), replace(record(user=None), version=3))
        assert await client.keys("session:user:*") == []


async def test_an_end_that_moves(redis: RedisServer) -> None:
    """The index lives as long as the session that ends last."""
    async with opened(redis.url) as store, Redis(port=redis.port) as client:
        now = time.time()
        await store.insert(key(1), record(user="42", ends_in_s=100))
        await store.touch(key(1), now + 5000)
        assert await client.expiretime("session:user:42") >= now + 5000
        await store.touch(key(1), now + 50)
        assert await client.expiretime("session:user:42") >= now + 5000
        await store.replace(key(1), replace(record(user="42", ends_in_s=50), version=2))
        assert now + 50 <= await client.expiretime("session:user:42") <= now + 60


@pytest.mark.parametrize("options", [{}, {"protocol": 3}, {"decode_responses": True}])
async def test_a_client_of_the_app(redis: RedisServer, options: dict[str, Any]) -> None:
    """Its settings are used, and it stays open."""
    kept = record("é".encode(), user="ü")
    async with Redis(port=redis.port, db=3, **options) as client:
        async with opened(client) as store:
            assert await store.insert(key(1), kept)
            assert await store.read(key(1)) == kept
        assert await client.exists(f"session:{key(1)}") == 1
    async with opened(f"{redis.url}/3") as store:
        assert await store.read(key(1)) == kept


async def test_a_server_that_is_restarted(redis: RedisServer) -> None:
    """It is an error as long as it is away; then there are new sessions."""
    async with opened(redis.url) as store:
        for _ in range(3):
            assert await store.insert(key(1), record())
            redis.stop()
            for _ in range(2):
                with pytest.raises(SessionStoreError, match="Redis can't be used: "):
                    await store.read(key(1))
                with pytest.raises(SessionStoreError, match="Redis can't be used: "):
                    await store.insert(key(2), record())
            redis.start()
            assert not await store.replace(key(1), replace(record(), version=2))
            assert await store.read(key(1)) is None


async def test_a_restart_that_nobody_noticed(redis: RedisServer) -> None:
    """A connection that broke while it was idle costs no request an error, not even a write."""
    async with opened(redis.url) as store:
        for _ in range(3):
            assert await store.insert(key(1), record())
            redis.stop()
            redis.start()


async def test_a_server_that_hangs(redis: RedisServer) -> None:
    """Each command ends after the timeout, and the next ones work once the server goes on."""
    async with opened(redis.url, timeout=0.2) as store:
        kept = record()
        await store.insert(key(1), kept)
        await store.read(key(1))
        redis.pause()
        outcomes = await asyncio.gather(
            *(store.read(key(1)) for _ in range(3)),
            store.touch(key(1), kept.expires_at),
            return_exceptions=True,
        )
        assert [str(each) for each in outcomes] == [
            "Redis can't be used: no reply within 0.2 s"
        ] * 4
        with pytest.raises(SessionStoreError, match=r"no reply within 0\.2 s"):
            await store.insert(key(2), record())
        redis.resume()
        while True:
            try:
                assert await store.read(key(1)) == kept
                break
            except SessionStoreError:
                await asyncio.sleep(0.01)


async def test_data_that_are_lost(redis: RedisServer) -> None:
    async with opened(redis.url) as store, Redis(port=redis.port) as client:
        await store.insert(key(1), record(user="42"))
        await client.flushall()
        await client.script_flush()
        assert await store.read(key(1)) is None
        assert not await store.replace(key(1), replace(record(), version=2))
        assert await store.delete_user("42") == 0
        assert await store.insert(key(1), record())


async def test_a_command_that_is_refused(redis: RedisServer) -> None:
    async with opened(redis.url) as store, Redis(port=redis.port) as client:
        await client.set(f"session:{key(1)}", "something else")
        outcomes = await asyncio.gather(
            store.read(key(1)), store.insert(key(2), record()), return_exceptions=True
        )
        assert isinstance(outcomes[0], SessionStoreError)
        assert str(outcomes[0]).startswith("Redis refused a command: WRONGTYPE ")
        assert outcomes[1] is True
        await client.config_set("maxmemory", "1")
        with pytest.raises(SessionStoreError, match=r"Redis refused a command: .*maxmemory"):
            await store.insert(key(3), record())


async def test_a_wrong_password(redis: RedisServer) -> None:
    async with Redis(port=redis.port) as client:
        await client.config_set("requirepass", "right")
    with pytest.raises(SessionStoreError) as caught:
        await RedisStore(f"redis://:s3cret@127.0.0.1:{redis.port}").open()
    assert "s3cret" not in str(caught.value)


class Breaking:
    """Stands between a store and the server, and breaks connections when it is told to."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        # How many more answers get through; None for all.
        self.answers: int | None = None
        self.url = ""
        self.is_asked = asyncio.Event()

    async def __aenter__(self) -> Breaking:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"redis://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.close()
        await asyncio.gather(
            *(writer.wait_closed() for writer in self._writers), return_exceptions=True
        )

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers += [writer, back]

        async def requests() -> None:
            while data := await reader.read(65536):
                self.is_asked.set()
                back.write(data)
            back.close()

        async def answers() -> None:
            while data := await there.read(65536):
                if self.answers is not None:
                    if self.answers == 0:
                        self.answers = None
                        break
                    self.answers -= 1
                writer.write(data)
            writer.close()

        for each in (requests(), answers()):
            task = asyncio.create_task(each)
            self._tasks.add(task)


async def test_a_connection_that_breaks_before_the_answer(redis: RedisServer) -> None:
    """A read is sent again; a write is not, as it may have been done."""
    async with Breaking(redis.port) as between, opened(between.url) as store:
        kept = record(b"1")
        await store.insert(key(1), kept)
        # The server knows the script from now on.
        await store.replace(key(2), kept)
        between.answers = 0
        assert await store.read(key(1)) == kept
        between.answers = 0
        with pytest.raises(SessionStoreError, match="Redis can't be used: "):
            await store.replace(key(1), replace(kept, version=2, data=b"2"))
        found = await store.read(key(1))
        assert found is not None
        assert found.data == b"2"
        between.answers = 0
        outcomes = await asyncio.gather(
            store.read(key(1)),
            store.replace(key(1), replace(kept, version=3, data=b"3")),
            store.read(key(2)),
            return_exceptions=True,
        )
        assert isinstance(outcomes[1], SessionStoreError)
        assert outcomes[0] == await store.read(key(1))
        assert outcomes[2] is None


async def test_cancelled_commands_mix_up_nothing(redis: RedisServer) -> None:
    """What others are answered never belongs to a command that was cancelled."""
    async with opened(redis.url) as store:
        records = [record(b"%d" % number) for number in range(20)]
        for number, each in enumerate(records):
            await store.insert(key(number), each)
        for turns in range(20):
            tasks = [asyncio.create_task(store.read(key(number))) for number in range(20)]
            for _ in range(turns % 7):
                await asyncio.sleep(0)
            for task in tasks[turns % 2 :: 2]:
                task.cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            for each, outcome in zip(records, outcomes, strict=True):
                assert outcome == each or isinstance(outcome, asyncio.CancelledError)


async def test_commands_that_wait_when_the_store_is_closed(redis: RedisServer) -> None:
    before = asyncio.all_tasks()
    async with asyncio.timeout(LIMIT_S), Breaking(redis.port) as between:
        store = RedisStore(between.url, timeout=LIMIT_S)

        async def close_during(reads: int) -> None:
            tasks = [asyncio.create_task(store.read(key(1))) for _ in range(reads)]
            if is_sent:
                await between.is_asked.wait()
            else:
                await asyncio.sleep(0)
            await store.close()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            assert [str(each) for each in outcomes] == [
                "Redis can't be used: the store was closed"
            ] * reads

        is_sent = False
        await close_during(3)
        await store.insert(key(1), record())
        is_sent = True
        redis.pause()
        between.is_asked.clear()
        await close_during(3)
        redis.resume()
        assert await store.read(key(1)) is not None
        await store.close()
        await store.close()
    assert asyncio.all_tasks() == before


async def test_a_connection_that_broke_while_idle(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No request gets an error, not even a write, where redis-py raises one of its own."""
    async with opened(redis.url) as store:
        assert await store.insert(key(1), record())

        async def can_read(self: Connection) -> bool:
            monkeypatch.undo()
            raise RedisConnectionError("as with the parser of hiredis")

        monkeypatch.setattr(Connection, "can_read", can_read)
        assert await store.delete(key(1))


def test_several_event_loops(redis: RedisServer) -> None:
    """As in tests, each of which may have a loop of its own."""
    store = RedisStore(redis.url)

    async def use(number: int) -> None:
        assert await store.insert(key(number), record())
        await store.close()

    for number in range(3):
        asyncio.run(use(number))


# redis-py warns of the connection that nobody closed.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_loop_that_ended_without_close(redis: RedisServer) -> None:
    store = RedisStore(redis.url)
    assert asyncio.run(store.read(key(1))) is None

    async def use() -> None:
        assert await store.insert(key(1), record())
        await store.close()

    asyncio.run(use())
    gc.collect()


def test_trio() -> None:
    with pytest.raises(RuntimeError) as caught:
        trio.run(RedisStore("redis://127.0.0.1").open)
    assert str(caught.value) == (
        "RedisStore runs only on asyncio, like redis-py; on trio, use SQLiteStore or MemoryStore"
    )


@pytest.mark.parametrize(
    ("redis", "options", "message"),
    [
        ("http://user:s3cret@host", {}, "expected one such as 'redis://127.0.0.1:6379'"),
        (7, {}, "RedisStore(redis=...) takes a URL or a redis.asyncio.Redis, not a builtins.int"),
        ("redis://x", {"timeout": 0}, "expected at least 0.001 seconds"),
        ("redis://x", {"prefix": b"x"}, "RedisStore(prefix=...) takes a str, not b'x'"),
    ],
)
def test_wrong_options(redis: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        RedisStore(redis, **options)
    assert message in str(caught.value)


def test_without_redis_py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    with pytest.raises(ImportError, match=r'pip install "kit-session\[redis\]"'):
        RedisStore("redis://127.0.0.1")
