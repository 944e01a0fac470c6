# SPDX-License-Identifier: MIT
"""The conformance suite for session stores, for their authors. It requires pytest.

from kit.session.testing import SessionStoreConformance

class TestMyStore(SessionStoreConformance):
    def new_store(self):
        return MyStore("my://127.0.0.1")
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from secrets import token_hex
from typing import Any

import anyio
import pytest

from .stores import ImmediateSessionStore, SessionRecord, SessionStore

__all__ = ("SessionStoreConformance",)

_LIMIT_S = 60.0
_HOUR_S = 3600.0


def _key() -> str:
    return sha256(token_hex(16).encode()).hexdigest()


def _record(
    data: bytes = b"{}",
    *,
    user: str | None = None,
    ends_in: float = 1.0,
    login: str | None = None,
) -> SessionRecord:
    """Returns a first record; `ends_in` is in hours."""
    now = float(round(time.time()))
    return SessionRecord(data, 1, now, now + ends_in * _HOUR_S, user, login)


def _next(record: SessionRecord, data: bytes) -> SessionRecord:
    return replace(record, data=data, version=record.version + 1)


class SessionStoreConformance:
    """The tests; subclass it with a name that pytest collects, and define `new_store`.

    Attributes:
        event_loops: The event loops that the store runs on.
        shares_data: Whether all stores that `new_store` returns during a test keep the same
            sessions, as the processes of an app do.
        time_step_s: The smallest time difference that the store keeps, in seconds.
    """

    event_loops: tuple[str, ...] = ("asyncio",)
    shares_data: bool = True
    time_step_s: float = 0.001

    def new_store(self) -> SessionStore:
        """Returns an unopened store, e.g. another connection to the same database."""
        raise NotImplementedError(f"{type(self).__name__} needs a method new_store()")

    def run(self, test: Callable[..., Awaitable[None]], *args: Any) -> None:
        """Runs a test on each event loop, for a bounded time."""

        async def bounded() -> None:
            with anyio.fail_after(_LIMIT_S):
                await test(*args)

        for name in self.event_loops:
            anyio.run(bounded, backend=name)

    @asynccontextmanager
    async def _pair(self) -> AsyncIterator[tuple[SessionStore, SessionStore]]:
        """Two stores with the same sessions: two objects if the store shares its data."""
        one = self.new_store()
        other = self.new_store() if self.shares_data else one
        await one.open()
        await other.open()
        try:
            yield one, other
        finally:
            await one.close()
            await other.close()

    async def _read(self, store: SessionStore, key: str) -> SessionRecord | None:
        """Reads a record in all the ways that a store supports, which must agree."""
        record = await store.read(key)
        if isinstance(store, ImmediateSessionStore):
            with suppress(BlockingIOError):
                again = store.read_now(key)
                if again is None and record is not None:  # it has expired in between
                    assert record.expires_at <= time.time() + self.time_step_s
                else:
                    assert again == record
        return record

    def _assert_same(self, found: SessionRecord | None, expected: SessionRecord) -> None:
        assert found is not None
        assert type(found.data) is bytes
        assert abs(found.created_at - expected.created_at) <= self.time_step_s
        assert abs(found.expires_at - expected.expires_at) <= self.time_step_s
        assert found == replace(expected, created_at=found.created_at, expires_at=found.expires_at)

    def test_is_a_store(self) -> None:
        """It has the methods of a store."""
        assert isinstance(self.new_store(), SessionStore)

    @pytest.mark.parametrize(
        "data",
        [b"{}", '{"é":"\U0001f600\\u0000"}'.encode(), b'{"a":"' + b"x" * 300_000 + b'"}'],
        ids=["empty", "unicode", "long"],
    )
    @pytest.mark.parametrize("user", [None, "", "42", "é:*?[a]\0\n' \"%_", "u" * 300])
    def test_records_are_kept_as_they_are(self, data: bytes, user: str | None) -> None:
        """A record comes back with the same bytes, times, version, user and login."""
        self.run(self._records_are_kept_as_they_are, data, user)

    async def _records_are_kept_as_they_are(self, data: bytes, user: str | None) -> None:
        async with self._pair() as (one, other):
            key = _key()
            assert await self._read(other, key) is None
            record = replace(
                _record(data, user=user, login=user), version=7, created_at=1_700_000_000.25
            )
            assert await one.insert(key, record)
            self._assert_same(await self._read(other, key), record)
            second = SessionRecord(b'{"second":1}', 8, 1_700_000_001.5, record.expires_at + 60, "7")
            assert await other.replace(key, second)
            self._assert_same(await self._read(one, key), second)

    def test_insert_replaces_nothing(self) -> None:
        """A key that is taken keeps its record."""
        self.run(self._insert_replaces_nothing)

    async def _insert_replaces_nothing(self) -> None:
        async with self._pair() as (one, other):
            key, record = _key(), _record(b'{"first":1}', user="a")
            assert await one.insert(key, record)
            assert not await other.insert(key, _record(b'{"second":1}', user="b"))
            self._assert_same(await self._read(other, key), record)
            assert await other.delete_user("b") == 0

    def test_replace_compares_versions(self) -> None:
        """Only the version that follows the stored one is written."""
        self.run(self._replace_compares_versions)

    async def _replace_compares_versions(self) -> None:
        async with self._pair() as (one, other):
            key, record = _key(), _record()
            assert not await one.replace(key, _next(record, b'{"gone":1}'))
            assert await self._read(one, key) is None
            assert await one.insert(key, record)
            second = _next(record, b'{"n":2}')
            for wrong in (1, 3, 4):
                assert not await other.replace(key, replace(second, version=wrong))
                self._assert_same(await self._read(one, key), record)
            assert await other.replace(key, second)
            assert not await one.replace(key, replace(second, data=b'{"late":1}'))
            self._assert_same(await self._read(one, key), second)

    def test_touch(self) -> None:
        """The end moves to a later time, never to an earlier one; version, data and user stay."""
        self.run(self._touch)

    async def _touch(self) -> None:
        async with self._pair() as (one, other):
            key, record = _key(), _record(b'{"a":1}', user="a")
            assert not await one.touch(key, record.expires_at)
            assert await self._read(one, key) is None
            assert await one.insert(key, record)
            later = replace(record, expires_at=record.created_at + 2 * _HOUR_S)
            for hours in (2, 0.5):
                assert await other.touch(key, record.created_at + hours * _HOUR_S)
                self._assert_same(await self._read(one, key), later)
            earlier = _next(record, b'{"a":2}')
            assert await one.replace(key, earlier)
            self._assert_same(await self._read(other, key), earlier)
            assert await one.delete_user("a") == 1

    def test_delete(self) -> None:
        """A deleted record is gone, and no late write brings it back."""
        self.run(self._delete)

    async def _delete(self) -> None:
        async with self._pair() as (one, other):
            key, record = _key(), _record(user="a")
            assert not await one.delete(key)
            assert await one.insert(key, record)
            assert await other.delete(key)
            assert not await one.delete(key)
            assert not await one.replace(key, _next(record, b'{"late":1}'))
            assert not await one.touch(key, record.expires_at)
            assert await self._read(one, key) is None
            assert await one.delete_user("a") == 0
            assert await one.insert(key, record)
            assert await one.delete_user("a") == 1

    def test_keys_are_apart(self) -> None:
        """No key reads, changes or removes the record of another one."""
        self.run(self._keys_are_apart)

    async def _keys_are_apart(self) -> None:
        async with self._pair() as (one, other):
            key = "a" + _key()[1:]
            near = [key[:-1] + ("0" if key[-1] != "0" else "1"), key[:-1], key.upper(), key + "0"]
            assert await one.insert(key, _record())
            for another in near:
                assert await self._read(other, another) is None
                assert not await other.delete(another)
                assert not await other.touch(another, time.time() + 60)
            assert await self._read(other, key) is not None

    def test_expired_records_are_gone(self) -> None:
        """A record past its end isn't read, replaced, touched or deleted, and its key is free."""
        self.run(self._expired_records_are_gone)

    async def _expired_records_are_gone(self) -> None:
        async with self._pair() as (one, other):
            for way in ("insert", "replace"):
                key = _key()
                await self._expire(one, key, way)
                assert await self._read(other, key) is None, way
                later = replace(_record(user="e"), version=3)
                for version in (2, 3):
                    assert not await other.replace(key, replace(later, version=version)), way
                assert not await other.touch(key, later.expires_at), way
                assert not await other.delete(key), way
                assert await other.delete_user("e") == 0, way
                assert await self._read(one, key) is None, way
                assert await other.insert(key, later), way
                self._assert_same(await self._read(one, key), later)
                assert await one.delete_user("e") == 1, way

    async def _expire(self, store: SessionStore, key: str, way: str) -> None:
        record = _record(user="e")
        past = time.time() - 10
        if way == "insert":
            await store.insert(key, replace(record, expires_at=past))
            return
        assert await store.insert(key, record)
        assert await store.replace(key, replace(_next(record, b"{}"), expires_at=past))

    def test_records_expire_by_themselves(self) -> None:
        """A record expires in time, without being touched."""
        self.run(self._records_expire_by_themselves)

    async def _records_expire_by_themselves(self) -> None:
        async with self._pair() as (one, other):
            key = _key()
            end = time.time() + 0.3
            assert await one.insert(key, replace(_record(user="e"), expires_at=end))
            while (record := await self._read(other, key)) is not None:
                assert record.expires_at <= end + self.time_step_s
                await anyio.sleep(0.01)
            assert time.time() >= end - self.time_step_s
            # A server may remove records a step later.
            await anyio.sleep(2 * self.time_step_s)
            assert await one.delete_user("e") == 0

    def test_delete_user(self) -> None:
        """All sessions of a user end except the one to keep, and no others."""
        self.run(self._delete_user)

    async def _delete_user(self) -> None:
        users = ["a", "A", "a ", "a:b", "*", "", "é", None]
        async with self._pair() as (one, other):
            keys = {user: [_key() for _ in range(3)] for user in users}
            for user, owned in keys.items():
                for key in owned:
                    assert await one.insert(key, _record(user=user))
            for user in users[:-1]:
                assert user is not None
                assert await other.delete_user(user, keep=keys[user][1]) == 2
                found = [await self._read(one, key) is not None for key in keys[user]]
                assert found == [False, True, False]
                assert await other.delete_user(user, keep=keys[None][0]) == 1
                assert await one.delete_user(user) == 0
            for key in keys[None]:
                assert await self._read(one, key) is not None

    def test_delete_login(self) -> None:
        """All sessions of a login end, and no others, such as those of a user of that name."""
        self.run(self._delete_login)

    async def _delete_login(self) -> None:
        logins = ["a", "A", "a ", "a:b", "*", "", "é", None]
        async with self._pair() as (one, other):
            keys = {login: [_key() for _ in range(2)] for login in logins}
            for login, owned in keys.items():
                for key in owned:
                    assert await one.insert(key, _record(user="a", login=login))
            for login in logins[:-1]:
                assert login is not None
                assert await other.delete_login(login) == 2
                assert [await self._read(one, key) for key in keys[login]] == [None, None]
                assert await one.delete_login(login) == 0
            for key in keys[None]:
                assert await self._read(one, key) is not None
            assert await other.delete_user("a") == 2

    def test_the_login_of_a_session_changes(self) -> None:
        """A session belongs to the login of its newest record, also after `touch`."""
        self.run(self._the_login_of_a_session_changes)

    async def _the_login_of_a_session_changes(self) -> None:
        async with self._pair() as (one, other):
            key, record = _key(), _record(user="a", login="l")
            assert await one.insert(key, record)
            record = replace(_next(record, b"{}"), login="m")
            assert await other.replace(key, record)
            assert await one.delete_login("l") == 0
            assert await one.touch(key, record.expires_at + _HOUR_S)
            assert await other.delete_login("m") == 1
            assert await self._read(one, key) is None
            assert not await one.replace(key, _next(record, b"{}"))

    def test_the_user_of_a_session_changes(self) -> None:
        """A session belongs to the user of its newest record."""
        self.run(self._the_user_of_a_session_changes)

    async def _the_user_of_a_session_changes(self) -> None:
        async with self._pair() as (one, other):
            key, record = _key(), _record()
            assert await one.insert(key, record)
            record = replace(_next(record, b"{}"), user="a")
            assert await one.replace(key, record)
            record = replace(_next(record, b"{}"), user="b")
            assert await other.replace(key, record)
            assert await one.delete_user("a") == 0
            record = replace(_next(record, b"{}"), user=None)
            assert await one.replace(key, record)
            assert await one.delete_user("b") == 0
            record = replace(_next(record, b"{}"), user="a")
            assert await one.replace(key, record)
            assert await other.delete_user("a") == 1
            assert await self._read(one, key) is None

    def test_revoked_sessions_stay_away(self) -> None:
        """A task that read a session before its user was revoked can't write it any more."""
        self.run(self._revoked_sessions_stay_away)

    async def _revoked_sessions_stay_away(self) -> None:
        async with self._pair() as (one, other):
            key, record = _key(), _record(user="a")
            assert await one.insert(key, record)
            read = await one.read(key)
            assert read is not None
            assert await other.delete_user("a") == 1
            assert not await one.replace(key, _next(read, b'{"late":1}'))
            assert not await one.touch(key, record.expires_at)
            assert await self._read(one, key) is None

    def test_writers_at_once(self) -> None:
        """If several tasks replace the same version concurrently, one succeeds."""
        self.run(self._writers_at_once)

    async def _writers_at_once(self) -> None:
        writers, rounds = 8, 15
        async with self._pair() as pair:
            key, record = _key(), _record(b"0")
            assert await pair[0].insert(key, record)

            async def increment(store: SessionStore) -> None:
                for _ in range(rounds):
                    while True:
                        read = await store.read(key)
                        assert read is not None
                        if await store.replace(key, _next(read, b"%d" % (int(read.data) + 1))):
                            break
                        await anyio.lowlevel.checkpoint()

            async with anyio.create_task_group() as tasks:
                for number in range(writers):
                    tasks.start_soon(increment, pair[number % 2])
            last = await self._read(pair[0], key)
            assert last is not None
            assert (last.data, last.version) == (b"%d" % (writers * rounds), writers * rounds + 1)

    def test_touches_and_writes_at_once(self) -> None:
        """A touch neither reverts a write nor prevents one."""
        self.run(self._touches_and_writes_at_once)

    async def _touches_and_writes_at_once(self) -> None:
        rounds = 25
        async with self._pair() as (one, other):
            key, record = _key(), _record(b"0")
            end = record.expires_at + 60
            assert await one.insert(key, record)

            async def touch() -> None:
                for _ in range(rounds):
                    assert await one.touch(key, end)

            async def write() -> None:
                newest = record
                for number in range(rounds):
                    newest = _next(newest, b"%d" % number)
                    assert await other.replace(key, newest)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(touch)
                tasks.start_soon(write)
            last = await self._read(one, key)
            assert last is not None
            assert (last.data, last.version) == (b"%d" % (rounds - 1), rounds + 1)

    def test_a_user_is_revoked_while_others_write(self) -> None:
        """After `delete_user`, no session of the user exists, whichever task wrote it."""
        self.run(self._a_user_is_revoked_while_others_write)

    async def _a_user_is_revoked_while_others_write(self) -> None:
        async with self._pair() as pair:
            keys = [_key() for _ in range(6)]
            first = _record(user="r")
            for key in keys:
                assert await pair[0].insert(key, first)

            async def write(number: int) -> None:
                newest, store = first, pair[number % 2]
                while await store.replace(keys[number], newest := _next(newest, b"{}")):
                    await store.touch(keys[number], newest.expires_at)
                    # An in-memory store needn't let other tasks run.
                    await anyio.lowlevel.checkpoint()

            async with anyio.create_task_group() as tasks:
                for number in range(len(keys)):
                    tasks.start_soon(write, number)
                await anyio.lowlevel.checkpoint()
                assert await pair[0].delete_user("r") == len(keys)
                for key in keys:
                    assert await self._read(pair[1], key) is None
            assert await pair[1].delete_user("r") == 0

    def test_inserts_at_once(self) -> None:
        """If several tasks insert the same key concurrently, one succeeds."""
        self.run(self._inserts_at_once)

    async def _inserts_at_once(self) -> None:
        async with self._pair() as pair:
            key = _key()
            inserted: list[int] = []

            async def insert(number: int) -> None:
                if await pair[number % 2].insert(key, _record(b"%d" % number)):
                    inserted.append(number)

            async with anyio.create_task_group() as tasks:
                for number in range(10):
                    tasks.start_soon(insert, number)
            record = await self._read(pair[0], key)
            assert record is not None
            assert inserted == [int(record.data)]

    def test_opens_by_itself(self) -> None:
        """An unopened store works, and opening or closing twice isn't an error."""
        self.run(self._opens_by_itself)

    async def _opens_by_itself(self) -> None:
        store, key = self.new_store(), _key()
        assert await store.insert(key, _record())
        assert await self._read(store, key) is not None
        for _ in range(2):
            await store.open()
        assert await self._read(store, key) is not None
        for _ in range(2):
            await store.close()
        await self.new_store().close()

    def test_open_again(self) -> None:
        """A store can be used again after it was closed, also in another event loop."""
        store = self.new_store()
        for _ in range(2):
            self.run(self._open_again, store)

    async def _open_again(self, store: SessionStore) -> None:
        for _ in range(2):
            await store.open()
            key = _key()
            assert await store.insert(key, _record())
            assert await self._read(store, key) is not None
            await store.close()

    def test_cancelled_calls(self) -> None:
        """A cancelled call leaves the store usable for others."""
        self.run(self._cancelled_calls)

    async def _cancelled_calls(self) -> None:
        async with self._pair() as (one, other):
            key, record = _key(), _record()
            assert await one.insert(key, record)

            async def use(scope: anyio.CancelScope) -> None:
                with scope:
                    for _ in range(5):
                        await one.touch(key, record.expires_at)
                        await one.read(key)

            for _ in range(5):
                scopes = [anyio.CancelScope() for _ in range(4)]
                async with anyio.create_task_group() as tasks:
                    for scope in scopes:
                        tasks.start_soon(use, scope)
                    await anyio.lowlevel.checkpoint()
                    for scope in scopes:
                        scope.cancel()
                self._assert_same(await self._read(one, key), record)
            assert await one.replace(key, _next(record, b'{"b":2}'))
            assert await self._read(other, key) is not None
