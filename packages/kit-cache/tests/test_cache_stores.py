# SPDX-License-Identifier: MIT
"""What every store does, and what each of them does besides."""

from __future__ import annotations

import gc
import os
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.exceptions import ConnectionError as RedisConnectionError

from kit.cache import Entry, Key, MemoryStore, Variants, decode, encode
from kit.cache.redis import RedisStore
from kit.cache.sqlite import SQLiteStore

KEY = Key("c", "/a", "http://localhost?")


def entry(body: bytes = b"body", **changes: Any) -> Entry:
    values: dict[str, Any] = {
        "status": 200,
        "headers": (("x-a", "1"),),
        "body": body,
        "stored_at": 1.5,
        "initial_age": 0.0,
        "lifetime": 60.0,
        "stale_while_revalidate": 0.0,
        "stale_if_error": 0.0,
        "must_revalidate": False,
        "for_authorized": False,
        "vary": ("x-a",),
    }
    return Entry(**{**values, **changes})


@pytest.fixture
def use(make_store: Callable[[], Any]) -> Callable[[Callable[[Any], Awaitable[None]]], None]:
    """Runs a test with a store of each kind."""

    def use(test: Callable[[Any], Awaitable[None]]) -> None:
        async def run() -> None:
            store = make_store()
            try:
                await test(store)
            finally:
                if hasattr(store, "close"):
                    await store.close()

        anyio.run(run)

    return use


def test_what_was_stored_is_found(use: Any) -> None:
    async def test(store: Any) -> None:
        assert await store.get(KEY) is None
        await store.set(KEY, entry(), 60)
        assert await store.get(KEY) == entry()
        assert await store.get(KEY._replace(rest="x")) is None
        await store.set(KEY, Variants(("a", "b")), 60)
        assert await store.get(KEY) == Variants(("a", "b"))

    use(test)


def test_what_has_ended_is_not_found(use: Any) -> None:
    async def test(store: Any) -> None:
        await store.set(KEY, entry(), 0.001)
        while await store.get(KEY) is not None:
            await anyio.sleep(0.001)
        await store.set(KEY, entry(b"new"), 60)
        assert (await store.get(KEY)).body == b"new"

    use(test)


def test_a_group_is_removed(use: Any) -> None:
    async def test(store: Any) -> None:
        keys = [Key(c, g, r) for c in "ab" for g in ("/a", "/b") for r in "12"]
        for key in keys:
            await store.set(key, entry(), 60)
        await store.delete("a", "/a")
        await store.delete("a", "/absent")
        found = [key for key in keys if await store.get(key) is not None]
        assert found == [key for key in keys if key[:2] != ("a", "/a")]
        await store.set(keys[0], entry(b"new"), 60)
        assert (await store.get(keys[0])).body == b"new"
        await store.clear("a")
        found = [key for key in keys if await store.get(key) is not None]
        assert found == [key for key in keys if key.cache == "b"]

    use(test)


def test_any_text_is_a_key(use: Any) -> None:
    async def test(store: Any) -> None:
        keys = [Key("c", "/\u00fc \u4e16", "?\n"), Key("c", "", ""), Key("c", "/a'--", '"')]
        for number, key in enumerate(keys):
            await store.set(key, entry(str(number).encode()), 60)
        for number, key in enumerate(keys):
            assert (await store.get(key)).body == str(number).encode()

    use(test)


# What is stored, as bytes


@given(
    st.builds(
        entry,
        st.binary(),
        headers=st.lists(st.tuples(st.text(), st.text())).map(tuple),
        lifetime=st.floats(0, 1e10),
        vary=st.lists(st.text()).map(tuple),
    )
    | st.builds(Variants, st.lists(st.text()).map(tuple))
)
def test_what_was_encoded_is_decoded(stored: Any) -> None:
    assert decode(encode(stored)) == stored


@given(st.binary())
def test_other_bytes_are_nothing(data: bytes) -> None:
    found = decode(data)
    assert found is None or encode(found)


def test_an_older_format_is_nothing() -> None:
    assert decode(b"\x93\x01\xcc\xc8\x90") is None


# Memory


def test_memory_keeps_what_was_used_last() -> None:
    async def test() -> None:
        store = MemoryStore(max_size=5000)
        keys = [KEY._replace(rest=str(number)) for number in range(4)]
        for key in keys[:3]:
            await store.set(key, entry(bytes(400)), 60)
        assert await store.get(keys[0]) is not None
        await store.set(keys[3], entry(bytes(400)), 60)
        assert [await store.get(key) is not None for key in keys] == [True, False, True, True]
        assert 0 < store.size <= 5000
        await store.set(KEY, entry(bytes(5000)), 60)
        assert await store.get(KEY) is None
        await store.set(keys[0], entry(), 0)
        assert await store.get(keys[0]) is None
        await store.clear("c")
        assert store.size == 0

    anyio.run(test)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: MemoryStore(0), ValueError, "expected at least 1 byte"),
        (lambda: MemoryStore("1"), TypeError, "MemoryStore(max_size=...) takes an int, not '1'"),
        (lambda: SQLiteStore(7), TypeError, "SQLiteStore(path=...) takes a path, not 7"),
        (lambda: SQLiteStore(":memory:"), ValueError, "expected a file: use MemoryStore for"),
        (lambda: SQLiteStore("/absent/cache.db"), ValueError, "expected a file in a folder"),
        (lambda: SQLiteStore("cache.db", max_size=0), ValueError, "expected at least 1 byte"),
        (lambda: RedisStore(7), TypeError, "takes a URL or a redis.asyncio.Redis, not a"),
        (
            lambda: RedisStore("redis://localhost", timeout=0),
            ValueError,
            "RedisStore(timeout=0) can't be used: expected at least 0.001 seconds",
        ),
    ],
)
def test_a_wrong_argument_is_refused(
    make: Callable[[], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as raised:
        make()
    assert text in str(raised.value)


# SQLite


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    async def test() -> None:
        store = SQLiteStore(tmp_path / "cache.db")
        await store.set(KEY, entry(), 60)
        await store.close()

    anyio.run(test)
    assert (tmp_path / "cache.db").stat().st_mode & 0o777 == 0o600


def test_two_stores_share_a_file(tmp_path: Path) -> None:
    async def test() -> None:
        one, two = SQLiteStore(tmp_path / "cache.db"), SQLiteStore(tmp_path / "cache.db")
        await one.set(KEY, entry(), 60)
        assert await two.get(KEY) == entry()
        await two.delete("c", "/a")
        assert await one.get(KEY) is None
        for store in (one, two):
            await store.close()
            await store.close()
        await one.set(KEY, entry(), 60)
        assert await two.get(KEY) == entry()
        await one.close()
        await two.close()

    anyio.run(test)


def test_a_file_that_is_full_makes_room(tmp_path: Path) -> None:
    async def test() -> None:
        store = SQLiteStore(tmp_path / "cache.db", max_size=20_000)
        for number in range(101):
            await store.set(KEY._replace(rest=str(number)), entry(bytes(1000)), 60 + number)
        kept = [
            number
            for number in range(101)
            if await store.get(KEY._replace(rest=str(number))) is not None
        ]
        assert 10 < len(kept) < 20
        assert kept == [*range(101 - len(kept), 101)]
        await store.close()

    anyio.run(test)


def test_what_has_ended_is_removed_from_the_file(tmp_path: Path) -> None:
    async def test() -> None:
        store = SQLiteStore(tmp_path / "cache.db")
        await store.set(KEY, entry(), -1)
        await store.set(KEY._replace(rest="x"), entry(), 60)
        await store.close()

    anyio.run(test)
    with sqlite3.connect(tmp_path / "cache.db") as db:
        assert db.execute("SELECT rest FROM responses_1").fetchall() == [("x",)]
    db.close()


def test_many_tasks_use_a_file_at_once(tmp_path: Path) -> None:
    async def test() -> None:
        store = SQLiteStore(tmp_path / "cache.db")

        async def work(number: int) -> None:
            key = KEY._replace(rest=str(number))
            await store.set(key, entry(str(number).encode()), 60)
            found = await store.get(key)
            assert isinstance(found, Entry)
            assert found.body == str(number).encode()

        async with anyio.create_task_group() as group:
            for number in range(50):
                group.start_soon(work, number)
        await store.close()

    anyio.run(test)


# SQLite in several processes

WRITER = """
import sys, anyio
from kit.cache import Entry, Key
from kit.cache.sqlite import SQLiteStore

async def write():
    store = SQLiteStore(sys.argv[1])
    for number in range(3):
        entry = Entry(200, (), b"x", 1.5, 0.0, 60.0, 0.0, 0.0, False, False, ())
        await store.set(Key("c", "/other", str(number)), entry, 60)
    await store.close()

anyio.run(write)
"""


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_a_second_store_leaves_the_locks_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"

    async def test() -> None:
        one, two = SQLiteStore(path), SQLiteStore(path)
        await one.set(KEY, entry(), 60)
        assert await two.get(KEY) == entry()
        # Closing the file, this process would remove the log if it thought to be the last one.
        await anyio.run_process([sys.executable, "-c", WRITER, str(path)])
        assert Path(f"{path}-wal").exists()
        late = KEY._replace(rest="late")
        await one.set(late, entry(), 60)
        await one.close()
        await two.close()

    anyio.run(test)
    with sqlite3.connect(path) as db:
        found = {rest for (rest,) in db.execute("SELECT rest FROM responses_1")}
        assert found == {KEY.rest, "late", "0", "1", "2"}
    db.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_has_a_connection_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    store = SQLiteStore(path)

    def keep(rest: str) -> None:
        anyio.run(store.set, KEY._replace(rest=rest), entry(), 60)

    keep("before")
    has_written, told_of_it = os.pipe()
    is_closed, told_to_end = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            keep("child")
            os.write(told_of_it, b"1")
            os.read(is_closed, 1)
            keep("child, after the parent closed it")
            anyio.run(store.close)
            code = 0
        finally:
            os._exit(code)
    os.close(told_of_it)
    assert os.read(has_written, 1) == b"1"
    keep("parent")
    anyio.run(store.close)
    os.write(told_to_end, b"1")
    assert os.waitpid(child, 0)[1] == 0
    for end in (has_written, is_closed, told_to_end):
        os.close(end)
    with sqlite3.connect(path) as db:
        found = {rest for (rest,) in db.execute("SELECT rest FROM responses_1")}
        assert found == {"before", "child", "parent", "child, after the parent closed it"}
    db.close()


def test_a_process_forked_by_native_code_opens_the_file_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs no functions of `os.register_at_fork`, so the store sees only another process ID."""

    async def test() -> None:
        store = SQLiteStore(tmp_path / "cache.db")
        await store.set(KEY, entry(), 60)
        monkeypatch.setattr(os, "getpid", lambda: -1)
        assert await store.get(KEY) == entry()
        await store.set(KEY._replace(rest="x"), entry(), 60)
        await store.close()
        monkeypatch.undo()
        assert await store.get(KEY._replace(rest="x")) == entry()
        await store.close()

    anyio.run(test)


def test_a_file_that_is_no_database_can_be_replaced(tmp_path: Path) -> None:
    async def test() -> None:
        path = tmp_path / "cache.db"
        path.write_text("no database, but a text that is longer than its header" * 100)
        store = SQLiteStore(path)
        with pytest.raises(sqlite3.DatabaseError, match="file is not a database"):
            await store.get(KEY)
        path.unlink()
        await store.set(KEY, entry(), 60)
        assert await store.get(KEY) == entry()
        await store.close()

    anyio.run(test)


def test_only_so_many_purges_of_others_are_remembered(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"

    async def test() -> None:
        store = SQLiteStore(path)
        early, late = store.for_request(), store.for_request()
        assert await early.get(KEY) is None
        await store.delete("c", "/other")
        assert await late.get(KEY) is None
        await store.close()
        with sqlite3.connect(path) as db:
            number = 10_000
            db.execute("INSERT INTO purges_1 VALUES (?, 'c', '/other')", (number,))
        db.close()
        await store.delete("c", "/another")
        await early.set(KEY, entry(), 60)
        assert await store.get(KEY) is None
        await late.set(KEY, entry(), 60)
        assert await store.get(KEY) == entry()
        await store.close()
        with sqlite3.connect(path) as db:
            numbers = [number for (number,) in db.execute("SELECT number FROM purges_1")]
            assert numbers == [10_000, 10_001]
        db.close()

    anyio.run(test)


# Redis


def test_a_client_may_be_given(redis_url: str, tmp_path: Path) -> None:
    from redis.asyncio import Redis

    async def test() -> None:
        client = Redis.from_url(redis_url)
        store = RedisStore(client, prefix=f"{tmp_path.name}:")
        await store.set(KEY, entry(), 10 * 86_400)
        assert await store.get(KEY) == entry()
        [name] = [name async for name in client.scan_iter(f"{tmp_path.name}:response:*")]
        assert 0 < await client.ttl(name) <= 6 * 86_400
        await client.set(name, b"something else")
        assert await store.get(KEY) is None
        connection = await client.client_id()
        await store.close()
        assert await client.client_id() == connection
        await client.aclose()
        with pytest.raises(ValueError, match="decode_responses") as raised:
            RedisStore(Redis.from_url(redis_url, decode_responses=True))
        assert str(raised.value) == (
            "RedisStore() takes a client without decode_responses: responses are bytes"
        )

    anyio.run(test)


def test_one_event_loop_after_another(redis_url: str, tmp_path: Path) -> None:
    store = RedisStore(redis_url, prefix=f"{tmp_path.name}:")

    async def use() -> None:
        try:
            if (stored := await store.get(KEY)) is not None:
                assert stored == entry()
                found.append(stored)
            await store.set(KEY, entry(), 60)
        finally:
            await store.close()

    found: list[object] = []
    for _ in range(3):
        anyio.run(use)
    assert len(found) == 2


# redis-py warns of the connection that nobody closed.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_loop_that_ended_without_close(redis_url: str, tmp_path: Path) -> None:
    store = RedisStore(redis_url, prefix=f"{tmp_path.name}:")
    anyio.run(store.set, KEY, entry(), 60)

    async def use() -> None:
        assert await store.get(KEY) == entry()
        await store.close()

    anyio.run(use)
    gc.collect()


def test_trio() -> None:
    with pytest.raises(RuntimeError) as caught:
        anyio.run(RedisStore("redis://127.0.0.1").get, KEY, backend="trio")
    assert str(caught.value) == (
        "RedisStore runs only on asyncio, like redis-py; on trio, use MemoryStore or SQLiteStore"
    )


def test_what_is_stored_while_it_is_purged_is_gone(redis_url: str, tmp_path: Path) -> None:
    from redis.asyncio import Redis

    async def test() -> None:
        client = Redis.from_url(redis_url)
        store = RedisStore(client, prefix=f"{tmp_path.name}:")
        other = RedisStore(redis_url, prefix=f"{tmp_path.name}:")
        mget = client.mget

        async def purged_after(*names: str) -> Any:
            found = await mget(*names)
            await other.delete("c", "/a")
            return found

        client.mget = purged_after  # type: ignore[method-assign]
        await store.set(KEY, entry(), 60)
        client.mget = mget  # type: ignore[method-assign]
        assert await store.get(KEY) is None
        await client.aclose()
        await other.close()

    anyio.run(test)


@pytest.mark.parametrize("evicted", ["group", "all"])
def test_eviction_brings_back_nothing_that_was_purged(
    redis_url: str, tmp_path: Path, evicted: str
) -> None:
    from redis.asyncio import Redis

    async def test() -> None:
        client = Redis.from_url(redis_url)
        store = RedisStore(client, prefix=f"{tmp_path.name}:")
        await store.set(KEY, entry(), 60)
        await (store.delete("c", "/a") if evicted == "group" else store.clear("c"))
        async for name in client.scan_iter(f"{tmp_path.name}:{evicted}:*"):
            await client.delete(name)
        assert await store.get(KEY) is None
        await store.set(KEY, entry(), 60)
        assert await store.get(KEY) == entry()
        await client.aclose()

    anyio.run(test)


def test_a_server_without_room_for_generations_keeps_nothing(
    redis_url: str, tmp_path: Path
) -> None:
    from redis.asyncio import Redis

    async def test() -> None:
        client = Redis.from_url(redis_url)
        store = RedisStore(client, prefix=f"{tmp_path.name}:")
        mget = client.mget

        async def evicting(*names: str) -> Any:
            await client.delete(*names)
            return await mget(*names)

        client.mget = evicting  # type: ignore[method-assign]
        await store.set(KEY, entry(), 60)
        client.mget = mget  # type: ignore[method-assign]
        assert await store.get(KEY) is None
        await client.aclose()

    anyio.run(test)


def test_a_server_that_is_gone_is_an_error() -> None:
    async def test() -> None:
        store = RedisStore("redis://127.0.0.1:1", timeout=0.5)
        with pytest.raises(RedisConnectionError):
            await store.get(KEY)
        await store.close()

    anyio.run(test)


def test_without_redis_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    with pytest.raises(ImportError) as raised:
        RedisStore("redis://127.0.0.1")
    assert str(raised.value) == 'RedisStore needs redis-py: pip install "kit-cache[redis]"'


def test_no_error_shows_the_password_of_a_url() -> None:
    with pytest.raises(ValueError, match="URL") as raised:
        RedisStore("http://:s3cret@127.0.0.1")
    assert str(raised.value).startswith("RedisStore(redis=...) has a URL that can't be used")
