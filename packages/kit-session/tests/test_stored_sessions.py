# SPDX-License-Identifier: MIT
"""Sessions in a store: requests at once, rotation, revocation, and stores that fail."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import replace

import anyio
import pytest

from kit.session import (
    SessionConflictError,
    SessionError,
    SessionStoreError,
    get_session,
    get_store,
    revoke_login,
    revoke_sessions,
)
from kit.session.stores import MemoryStore, SessionRecord


class WaitingStore:
    """A store in memory that can't read without waiting, counts, and fails when told to."""

    def __init__(self) -> None:
        self._inner = MemoryStore()
        self.calls: list[str] = []
        self.fails: set[str] = set()
        self.before: dict[str, list] = {}

    async def _call(self, name, *args, **kwargs):
        await anyio.lowlevel.checkpoint()
        self.calls.append(name)
        if name in self.fails:
            raise SessionStoreError("gone")
        waiting = self.before.get(name)
        if waiting:
            await waiting.pop(0)()
        return await getattr(self._inner, name)(*args, **kwargs)

    async def open(self):
        await self._inner.open()

    async def close(self):
        await self._inner.close()

    async def read(self, key, /):
        return await self._call("read", key)

    async def insert(self, key, record, /):
        return await self._call("insert", key, record)

    async def replace(self, key, record, /):
        return await self._call("replace", key, record)

    async def touch(self, key, expires_at, /):
        return await self._call("touch", key, expires_at)

    async def delete(self, key, /):
        return await self._call("delete", key)

    async def delete_user(self, user, /, *, keep=None):
        return await self._call("delete_user", user, keep=keep)

    async def delete_login(self, login, /):
        return await self._call("delete_login", login)


@pytest.fixture
def store():
    return WaitingStore()


@pytest.fixture
def client(new_client, store):
    return new_client(store=store)


async def test_the_store_is_used_when_needed(client, store):
    await client.do(lambda s: s.update(n=1))
    assert store.calls == ["insert"]
    store.calls.clear()
    await client.request(lambda c: [])
    assert store.calls == []
    await client.data()
    assert store.calls == ["read"]
    await client.do(lambda s: s.update(n=2))
    assert store.calls == ["read", "read", "replace"]


async def test_a_session_that_has_to_be_awaited(client):
    await client.do(lambda s: s.update(n=1))

    def use(c):
        session = get_session(c)
        for each in (lambda: session["n"], lambda: session.user, session.rotate, session.destroy):
            with pytest.raises(SessionError) as error:
                each()
        return str(error.value)

    assert await (await client.request(use)).json() == (
        "The session has to be read from its store before it is used: "
        "write `session = await get_session(c)`"
    )


async def test_a_request_without_a_cookie_need_not_wait(client, store):
    assert await (await client.request(lambda c: get_session(c).is_new)).json()
    assert store.calls == []


async def test_a_store_that_would_block_is_read_in_its_way(new_client):
    class Busy(WaitingStore):
        def read_now(self, key, /):
            raise BlockingIOError

    client = new_client(store=Busy())
    await client.do(lambda s: s.update(n=1))
    assert await client.data() == {"n": 1}

    def use(c):
        with pytest.raises(SessionError, match="await get_session"):
            get_session(c)["n"]

    await client.request(use)


async def test_the_store_never_sees_the_cookie(client, store, caplog):
    caplog.set_level(logging.DEBUG)
    seen = []
    store.insert = lambda key, record: (
        seen.append((key, record)) or store._call("insert", key, record)
    )
    await client.do(lambda s: s.update(n=1))
    [(key, record)] = seen
    assert len(key) == 64
    assert client.cookie not in key + repr(record) + caplog.text
    assert json.loads(record.data) == {"data": {"n": 1}}
    assert (record.version, record.user) == (1, None)


def at_once(client, *actions):
    """Runs requests of one browser: all read the session before the first one saves it."""
    barrier = anyio.Event()
    waiting = len(actions)

    def wrap(action):
        async def handle(c):
            nonlocal waiting
            session = await get_session(c)
            waiting -= 1
            if not waiting:
                barrier.set()
            await barrier.wait()
            return action(session)

        return handle

    async def run():
        responses = [None] * len(actions)

        async def request(number, action):
            responses[number] = await client.request(wrap(action))

        async with anyio.create_task_group() as tasks:
            for number, action in enumerate(actions):
                tasks.start_soon(request, number, action)
        assert [response.status for response in responses] == [200] * len(actions)
        return responses

    return run()


def test_requests_at_once_lose_nothing_of_different_keys(run, new_client, store):
    async def test():
        client = new_client(store=store)
        await client.do(lambda s: s.update(old=1, gone=1))

        def write(number):
            return lambda session: session.update({f"key {number}": [number]})

        responses = await at_once(
            client, *[write(n) for n in range(20)], lambda session: session.pop("gone")
        )
        expected = {"old": 1} | {f"key {number}": [number] for number in range(20)}
        assert await client.data() == expected
        assert sum(len(each.headers.get_set_cookie()) for each in responses) == 0

    run(test)


def test_updates_at_once_are_all_made(run, new_client, store):
    async def test():
        client = new_client(store=store)
        await client.do(lambda s: s.update(n=0, log=[]))

        def add(number):
            def action(session):
                session["last"] = number
                session.update(lambda data: data["log"].append(number))
                session.update(lambda data: data.update(n=data["n"] + 1))
                session[f"key {number}"] = session["n"]

            return action

        await at_once(client, *[add(number) for number in range(30)])
        data = await client.data()
        assert data["n"] == 30
        assert sorted(data["log"]) == list(range(30))
        assert data["last"] in range(30)
        assert {f"key {number}" for number in range(30)} < data.keys()

    run(test)


async def test_the_last_one_wins_that_writes_a_key(client, store):
    await client.do(lambda s: s.update(n=0))

    async def handle(c):
        session = await get_session(c)
        await client.other().do(lambda s: s.update(n="other", more=1))
        session["n"] = "mine"

    await client.request(handle)
    assert await client.data() == {"n": "mine", "more": 1}


async def test_an_update_that_fails_on_newer_data_is_an_error(client):
    await client.do(lambda s: s.update(cart=[]))

    async def handle(c):
        session = await get_session(c)
        await client.other().do(lambda s: s.pop("cart"))
        session.update(lambda data: data["cart"].append(1))

    assert (await client.request(handle)).status == 500
    assert await client.data() == {}


async def test_clear_and_newer_data(client):
    await client.do(lambda s: s.update(a=1))

    async def handle(c):
        session = await get_session(c)
        await client.other().do(lambda s: s.update(b=2))
        session.clear()
        session["c"] = 3

    await client.request(handle)
    assert await client.data() == {"c": 3}


async def test_flashes_of_requests_at_once(client):
    await client.do(lambda s: s.flash("old"))

    async def handle(c):
        session = await get_session(c)
        await client.other().do(lambda s: s.flash("other"))
        session.flash("mine")
        return session.flashes("message")[:1]

    assert await (await client.request(handle)).json() == [["old", "message"]]
    assert await client.do(lambda s: s.flashes()) == [["other", "message"]]


async def test_two_requests_that_show_the_same_flash(client):
    await client.do(lambda s: s.flash("x"))

    async def handle(c):
        session = await get_session(c)
        await client.other().do(lambda s: s.flashes())
        return session.flashes()

    assert await (await client.request(handle)).json() == [["x", "message"]]
    assert await client.do(lambda s: s.flashes()) == []


async def test_changes_at_once_beyond_measure_are_refused(client, store, monkeypatch, caplog):
    pauses = []

    async def sleep(seconds):
        pauses.append(seconds)

    monkeypatch.setattr(anyio, "sleep", sleep)
    await client.do(lambda s: s.update(n=1))

    async def never(key, record, /):
        return False

    store.replace = never
    response = await client.request(lambda c: _increment(c))
    assert (response.status, response.headers.get("retry-after")) == (503, "5")
    assert "Other requests changed the session again and again" in caplog.text
    assert 10 < len(pauses) < 100
    assert 0 <= min(pauses) < max(pauses) <= 0.1
    assert issubclass(SessionConflictError, SessionStoreError)


async def _increment(c):
    session = await get_session(c)
    session["n"] += 1


async def test_two_tasks_of_a_request_read_it_once(client):
    await client.do(lambda s: s.update(n=1))

    async def handle(c):
        async def read():
            (await get_session(c)).setdefault("log", []).append(1)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            tasks.start_soon(read)
        return (await get_session(c))["log"]

    assert await (await client.request(handle)).json() == [1, 1]
    assert await client.data() == {"n": 1, "log": [1, 1]}


# Rotation.


async def test_an_old_cookie_is_a_new_session_after_a_rotation(client, clock):
    await client.do(lambda s: s.update(n=1))
    old = client.other()
    await client.do(lambda s: s.rotate(user="42"))
    assert client.cookie != old.cookie
    assert await client.do(lambda s: [dict(s), s.user]) == [{"n": 1}, "42"]
    look = lambda s: [dict(s), s.user, s.is_new]  # noqa: E731
    assert await old.do(look) == [{}, None, True]
    clock(60)
    assert await old.do(look) == [{}, None, True]
    await old.do(lambda s: s.update(n=2))
    assert old.cookie != client.cookie
    assert await old.do(look) == [{"n": 2}, None, False]
    assert await client.do(lambda s: [dict(s), s.user]) == [{"n": 1}, "42"]


async def test_a_request_of_before_a_login_does_not_undo_it(client, caplog):
    caplog.set_level(logging.INFO, "kit.session")
    await client.do(lambda s: s.update(n=1))

    async def slow(c):
        session = await get_session(c)
        await client.do(lambda s: s.rotate(user="42"))
        session["n"] = 2

    twin = client.other()
    response = await twin.request(slow)
    assert response.status == 200
    # The cookie of the login stays the newest one.
    assert response.headers.get_set_cookie() == []
    assert await client.do(lambda s: [dict(s), s.user]) == [{"n": 1}, "42"]
    assert "A session ended before a request could save its changes" in caplog.text


async def test_a_request_with_the_old_id_takes_no_cookie_away(client, caplog):
    caplog.set_level(logging.INFO, "kit.session")
    await client.do(lambda s: s.update(n=1))
    twin = client.other()
    await client.do(lambda s: s.rotate(user="42"))
    response = await twin.request(_set_default)
    assert response.status == 200
    assert response.headers.get_set_cookie() == []
    assert "with a session id from before a rotation" in caplog.text
    # A login is another matter: the client may have lost the answer to the first one.
    await twin.do(lambda s: s.rotate(user="42"))
    assert await twin.do(lambda s: s.user) == "42"
    assert await client.do(lambda s: s.user) == "42"


async def _set_default(c):
    (await get_session(c))["n"] = 5


async def test_what_marks_an_old_id_ends_soon_even_if_it_was_touched(new_client, store, clock):
    client = new_client(store=store, idle_timeout=3600)
    await client.do(lambda s: s.update(n=1))
    twin = client.other()
    clock(600)

    async def slow(c):
        await get_session(c)
        await client.do(lambda s: s.rotate())

    await twin.request(slow)
    assert "touch" in store.calls
    clock(60)
    await twin.do(lambda s: s.update(n=2))
    assert await twin.data() == {"n": 2}
    assert await client.data() == {"n": 1}


async def test_a_refresh_does_not_undo_a_concurrent_remember(new_client, clock):
    store = MemoryStore()
    client = new_client(store=store, idle_timeout=60)
    await client.do(lambda s: s.rotate(user="42"))
    twin = client.other()
    clock(30)

    async def slow(c):
        await get_session(c)
        await client.do(lambda s: s.remember(3600))

    await twin.request(slow)
    clock(1800)
    assert await client.do(lambda s: s.user) == "42"


async def test_a_shorter_idle_timeout_does_not_undo_a_concurrent_remember(new_client, clock):
    store = MemoryStore()
    client = new_client(store=store)
    await client.do(lambda s: s.rotate(user="42"))
    shorter = new_client(store=store, idle_timeout=60)
    shorter.cookies = dict(client.cookies)
    twin = shorter.other()

    async def slow(c):
        await get_session(c)
        await shorter.do(lambda s: s.remember(3600))

    await twin.request(slow)
    clock(1800)
    assert await shorter.do(lambda s: s.user) == "42"


async def test_rotation_takes_changes_of_others_along(client):
    await client.do(lambda s: s.update(n=1))
    twin = client.other()

    async def login(c):
        session = await get_session(c)
        await twin.do(lambda s: s.update(other=2))
        session["mine"] = 3
        session.rotate(user="42")

    await client.request(login)
    assert await client.do(lambda s: [dict(s), s.user]) == [{"n": 1, "other": 2, "mine": 3}, "42"]


async def test_two_logins_at_once_are_both_good(client):
    await client.do(lambda s: s.update(n=1))
    twin = client.other()

    async def login(c):
        session = await get_session(c)
        await twin.do(lambda s: s.rotate(user="42"))
        session.rotate(user="42")

    await client.request(login)
    assert client.cookie != twin.cookie
    for each in (client, twin):
        assert await each.do(lambda s: [dict(s), s.user]) == [{"n": 1}, "42"]


async def test_of_two_plain_rotations_at_once_one_counts(client, store):
    await client.do(lambda s: s.update(n=1))
    twin = client.other()

    async def rotate(c):
        session = await get_session(c)
        await twin.do(lambda s: s.rotate())
        session.rotate()

    response = await client.request(rotate)
    assert response.headers.get_set_cookie() == []
    assert await twin.data() == {"n": 1}
    assert len(store._inner) == 2  # and what marks the old id


@pytest.mark.parametrize("rotates_too", [False, True])
async def test_a_change_at_the_same_time_as_a_rotation_is_not_lost(client, store, rotates_too):
    await client.do(lambda s: s.rotate(user="42"))
    twin = client.other()

    async def add(c):
        session = await get_session(c)
        await client.do(lambda s: s.rotate())
        await client.do(lambda s: s.rotate())
        session["added"] = 1
        session.remember(60)
        if rotates_too:
            session.rotate()

    response = await twin.request(add)
    assert response.status == 200
    # The client has the newest id already.
    assert response.headers.get_set_cookie() == []
    assert await client.do(lambda s: [dict(s), s.user]) == [{"added": 1}, "42"]
    assert len(store._inner) == 3  # with what marks the two old ids


@pytest.mark.parametrize("is_late", [False, True])
async def test_a_logout_at_the_same_time_as_a_rotation_is_not_lost(client, store, is_late):
    """Whether the request read the session before the rotation or came after it."""
    await client.do(lambda s: s.rotate(user="42"))
    old, twin = client.other(), client.other()
    await client.do(lambda s: s.update(n=1))

    async def logout(c):
        if is_late:
            await client.do(lambda s: s.rotate())
        session = await get_session(c)
        if not is_late:
            await client.do(lambda s: s.rotate())
        session.destroy()
        session.flash("Goodbye")

    await twin.request(logout)
    assert await client.do(lambda s: [s.is_new, s.user]) == [True, None]
    assert await store._inner.delete_user("42") == 0
    assert await twin.do(lambda s: s.flashes()) == [["Goodbye", "message"]]
    assert await old.do(lambda s: s.is_new)


async def test_two_logouts_at_once(client, store):
    await client.do(lambda s: s.rotate(user="42"))
    twin = client.other()

    async def logout(c):
        session = await get_session(c)
        await client.do(lambda s: s.destroy())
        session.destroy()

    assert (await twin.request(logout)).status == 200
    assert len(store._inner) == 0
    assert twin.cookies == {}


async def test_an_id_from_before_a_login_can_not_end_it(client):
    """Someone else may know it (session fixation)."""
    await client.do(lambda s: s.update(n=1))
    twin, other = client.other(), client.other()

    async def destroy(c):
        session = await get_session(c)
        await client.do(lambda s: s.rotate(user="42"))
        session.destroy()

    await twin.request(destroy)
    await other.do(lambda s: s.destroy())
    assert await client.do(lambda s: [dict(s), s.user]) == [{"n": 1}, "42"]


async def test_rotating_with_an_old_id_takes_no_cookie_away(client):
    """Such as an app does that rotates each session from time to time."""
    await client.do(lambda s: s.rotate(user="42"))
    twin = client.other()

    def rotate(session):
        session.rotate()
        session["rotated_at"] = 1

    await client.do(rotate)

    async def late(c):
        rotate(await get_session(c))

    assert (await twin.request(late)).headers.get_set_cookie() == []
    assert await client.do(lambda s: [dict(s), s.user]) == [{"rotated_at": 1}, "42"]


async def test_an_id_is_worth_nothing_in_another_cookie(new_client, store):
    """Though both apps keep their sessions in one store."""
    shop = new_client(store=store, cookie="shop", cookie_name="__Host-shop")
    admin = new_client(store=store, cookie="admin", cookie_name="__Host-admin")
    await shop.do(lambda s: s.rotate(user="42"))
    admin.cookies = {"__Host-admin": shop.cookie}
    assert await admin.do(lambda s: [s.user, s.is_new]) == [None, True]
    assert await shop.do(lambda s: s.user) == "42"


@pytest.mark.parametrize("way", ["destroy", "revoke"])
async def test_a_session_that_was_ended_stays_so(client, store, way, caplog):
    """Whatever a request does that read it before."""
    caplog.set_level(logging.INFO, "kit.session")
    for action in (
        lambda s: s.update(n=2),
        lambda s: s.rotate(),
        lambda s: s.rotate(user=None),
        lambda s: s.clear(),
        lambda s: s.remember(60),
        lambda s: s.flash("x"),
        lambda s: s.update(lambda data: data.update(n=2)),
    ):
        client.cookies = {}
        await client.do(lambda s: [s.update(n=1), s.rotate(user="42")][0])
        twin = client.other()

        async def slow(c, action=action, twin=twin):
            session = await get_session(c)
            if way == "destroy":
                await twin.do(lambda s: s.destroy())
            else:
                assert await revoke_sessions(store, "42") == 1
            action(session)

        response = await client.request(slow)
        assert response.status == 200
        assert response.headers.get_set_cookie() == []
        assert await client.do(lambda s: [dict(s), s.user, s.is_new]) == [{}, None, True]
        assert await store._inner.delete_user("42") == 0
        assert len(store._inner) == 0
    assert "A session ended" in caplog.text


async def test_a_login_in_a_session_that_was_ended_has_none_of_its_data(client, store):
    await client.do(lambda s: [s.update(secret=1), s.rotate(user="42")][0])

    async def login(c):
        session = await get_session(c)
        await revoke_sessions(c, "42")
        session["mine"] = 1
        session.rotate(user="42")

    await client.request(login)
    assert await client.do(lambda s: [dict(s), s.user]) == [{"mine": 1}, "42"]


async def test_a_login_that_is_revoked_while_it_is_saved(client, store):
    """The old session changes, and the new one is revoked before that is seen."""
    await client.do(lambda s: s.update(n=1))
    twin = client.other()

    async def meddle():
        store.before.clear()
        await twin.do(lambda s: s.update(m=1))
        assert await revoke_sessions(store, "42") == 1

    async def login(c):
        (await get_session(c)).rotate(user="42")
        store.before["replace"] = [meddle]

    response = await client.request(login)
    assert response.headers.get_set_cookie() == []
    assert await client.do(lambda s: [dict(s), s.user]) == [{"n": 1, "m": 1}, None]
    assert len(store._inner) == 1


@pytest.mark.parametrize("way", ["clear", "another user"])
async def test_messages_that_are_added_while_a_session_is_cleared_are_removed(client, way):
    """Nobody sees the messages of the previous user."""
    await client.do(lambda s: [s.rotate(user="a"), s.flash("old")][0])
    twin = client.other()

    async def leave(c):
        session = await get_session(c)
        if way == "clear":
            session.clear()
        else:
            session.rotate(user="b")
        session.flash("mine")
        await twin.do(lambda s: [s.update(n=1), s.flash("The balance of a is 100")][0])

    await client.request(leave)
    assert await client.do(lambda s: [dict(s), [each.text for each in s.flashes()]]) == [
        {},
        ["mine"],
    ]


async def test_messages_alone_are_cleared(client):
    await client.do(lambda s: s.flash("old"))
    assert await client.do(lambda s: [s.clear(), s.flashes()][1]) == []
    assert await client.do(lambda s: s.flashes()) == []


# Revocation.


async def test_revoke_sessions(client, store):
    browsers = [client.other() for _ in range(3)]
    for browser in browsers:
        await browser.do(lambda s: s.rotate(user="42"))
    await client.do(lambda s: s.rotate(user="43"))
    first, second, third = browsers

    async def change_password(c):
        session = await get_session(c)
        session.rotate()
        return await revoke_sessions(c, session.user, keep=session)

    assert await (await first.request(change_password)).json() == 2
    users = [await each.do(lambda s: s.user) for each in (first, second, third, client)]
    assert users == ["42", None, None, "43"]
    kept = await client.do(lambda s: s.id)
    assert await revoke_sessions(store, "43", keep=kept) == 0
    assert await revoke_sessions(store, "43") == 1
    assert await revoke_sessions(store, "nobody") == 0


@pytest.mark.parametrize("rotates", [False, True])
async def test_revoke_all_sessions_but_the_one_with_an_id(client, rotates):
    twin = client.other()
    for each in (client, twin):
        await each.do(lambda s: s.rotate(user="42"))

    async def change_password(c):
        session = await get_session(c)
        if rotates:
            session.rotate()
        return await revoke_sessions(c, "42", keep=session.id)

    assert await (await client.request(change_password)).json() == 1
    assert [await each.do(lambda s: s.user) for each in (client, twin)] == ["42", None]


async def test_revoke_while_logging_in(client, store):
    async def login(c):
        session = await get_session(c)
        session.rotate(user="42")
        return await revoke_sessions(c, "42", keep=session)

    assert await (await client.request(login)).json() == 0
    assert await (await client.request(login)).json() == 0
    assert await client.do(lambda s: s.user) == "42"


async def test_revoke_login(client, store):
    browsers = [client.other() for _ in range(3)]
    first, second, third = browsers
    await first.do(lambda s: s.rotate(user="42", login="id.example a"))
    await second.do(lambda s: s.rotate(user="42", login="id.example b"))
    await third.do(lambda s: s.rotate(user="42"))
    await first.do(lambda s: s.rotate())  # the login stays that of the session
    await first.do(lambda s: s.update(cart=1))

    async def log_out(c):
        assert get_store(c) is store
        return await revoke_login(c, "id.example a")

    assert await (await client.request(log_out)).json() == 1
    assert [await each.do(lambda s: s.user) for each in browsers] == [None, "42", "42"]
    await second.do(lambda s: s.rotate(user="42"))  # another login, without the provider
    assert await revoke_login(store, "id.example b") == 0
    await third.do(lambda s: s.rotate(user="42", login="id.example c"))
    await third.do(lambda s: s.clear())
    assert await revoke_login(store, "id.example c") == 0
    with pytest.raises(TypeError, match="takes a str"):
        await revoke_login(store, 42)
    store.fails = {"delete_login"}
    assert (await client.request(log_out)).status == 503
    with pytest.raises(SessionStoreError):
        await revoke_login(store, "id.example b")


async def test_a_login_needs_a_user_and_a_store(client, new_client, secret):
    def rotate(s):
        with pytest.raises(TypeError, match=r"needs user="):
            s.rotate(login="a")
        with pytest.raises(TypeError, match="takes a str"):
            s.rotate(user="42", login=7)
        return s.cookie_name

    assert await client.do(rotate) == "__Host-session"

    async def in_cookie(c):
        assert get_store(c) is None
        with pytest.raises(ValueError, match="in a store"):
            (await get_session(c)).rotate(user="42", login="a")
        with pytest.raises(ValueError, match="in cookies"):
            await revoke_login(c, "a")
        return "refused"

    assert await (await new_client(secret=secret).request(in_cookie)).json() == "refused"


async def test_what_can_not_be_revoked(new_client, secret):
    async def revoke(c):
        with pytest.raises(ValueError, match="in cookies") as error:
            await revoke_sessions(c, "42")
        with pytest.raises(TypeError) as other:
            await revoke_sessions(c, 42)
        return [str(error.value), str(other.value)]

    assert await (await new_client(secret=secret).request(revoke)).json() == [
        "Sessions in cookies can't be revoked, as the server has no list of them: "
        "give session(store=...) a store",
        "revoke_sessions(user=...) takes a str, not 42",
    ]


# Stores that fail.


async def test_a_store_that_fails_is_503(client, store, caplog):
    await client.do(lambda s: s.update(n=1))
    for name in ("read", "replace"):
        store.fails = {name}
        response = await client.request(_set_default)
        assert (response.status, await response.text()) == (
            503,
            "The session is not available; try again later",
        )
        assert response.headers.get("retry-after") == "5"
        assert response.headers.get_set_cookie() == []
    store.fails = {"insert"}
    client.cookies = {}
    assert (await client.request(_set_default)).status == 503
    assert client.cookies == {}
    store.fails = {"delete_user"}
    assert (await client.request(lambda c: revoke_sessions(c, "42"))).status == 503
    with pytest.raises(SessionStoreError, match="gone"):
        await revoke_sessions(store, "42")
    assert "The store of the sessions failed: gone" in caplog.text


async def test_a_response_is_not_thrown_away_if_the_end_can_not_be_moved(
    new_client, store, clock, caplog
):
    client = new_client(store=store, idle_timeout=60)
    await client.do(lambda s: s.rotate(user="42"))
    clock(30)
    store.fails = {"touch"}
    assert await client.do(lambda s: s.user) == "42"
    assert "The end of a session could not be moved: gone" in caplog.text
    store.fails = set()
    assert await client.do(lambda s: s.user) == "42"
    clock(45)
    assert await client.do(lambda s: s.user) == "42"


async def test_a_store_that_fails_at_once(new_client):
    class Broken(MemoryStore):
        broken = False

        def read_now(self, key, /):
            if self.broken:
                raise SessionStoreError("broken")
            return super().read_now(key)

    store = Broken()
    client = new_client(store=store)
    await client.do(lambda s: s.update(n=1))
    store.broken = True
    assert (await client.request(lambda c: len(get_session(c)))).status == 503
    client = new_client(store=store, on_store_error="anonymous")
    client.cookies = {"__Host-session": "a" * 43}
    assert await client.do(lambda s: [len(s), s.is_degraded]) == [0, True]


async def test_the_degraded_mode_is_anonymous(new_client, store):
    client = new_client(store=store, on_store_error="anonymous")
    assert (
        await client.do(lambda s: [s.update(n=1), s.rotate(user="42"), s.is_degraded][2]) is False
    )
    before = client.cookie
    store.fails = {"read"}

    def use(session):
        session["n"] = 2
        session.flash("x")
        session.update(lambda data: data.update(m=1))
        return [dict(session), session.user, session.is_new, session.is_degraded]

    assert await client.do(use) == [{"n": 2, "m": 1}, None, True, True]
    store.fails = {"replace"}
    await client.do(lambda s: s.update(n=3))
    store.fails = set()
    assert client.cookie == before
    assert await client.do(lambda s: [dict(s), s.user]) == [{"n": 1}, "42"]


@pytest.mark.parametrize("failing", ["read", "replace", "delete", "insert"])
async def test_nobody_believes_to_be_logged_out_in_degraded_mode(new_client, store, failing):
    client = new_client(store=store, on_store_error="anonymous")
    await client.do(lambda s: s.rotate(user="42"))

    async def logout(c):
        (await get_session(c)).destroy()

    async def rotate(c):
        (await get_session(c)).rotate(user="43")

    store.fails = {failing}
    statuses = [(await client.request(action)).status for action in (rotate, logout)]
    expected = {
        "read": [503, 503],
        "replace": [503, 503],
        "delete": [200, 503],
        "insert": [503, 200],
    }
    assert statuses == expected[failing]


async def test_nobody_believes_that_a_session_was_cleared_in_degraded_mode(new_client, store):
    client = new_client(store=store, on_store_error="anonymous")
    await client.do(lambda s: s.rotate(user="42"))
    store.fails = {"read"}

    async def clear(c):
        (await get_session(c)).clear()

    assert (await client.request(clear)).status == 503
    store.fails = set()
    assert await client.do(lambda s: s.user) == "42"


async def test_a_record_that_is_no_session(client, store, caplog):
    await client.do(lambda s: s.update(n=1))
    key = await client.do(lambda s: s.id)
    for data in (b"", b"[]", b'{"data":{}', b"\xff", b'{"flashes":1}', b"[" * 100_000):
        record = await store._inner.read(key)
        assert record is not None
        await store._inner.replace(key, replace(record, data=data, version=record.version + 1))
        assert await client.do(lambda s: [dict(s), s.is_new]) == [{}, True]
    assert "The store has a record that isn't a session" in caplog.text


async def test_a_store_that_has_every_key(client, store):
    async def taken(key, record, /):
        return False

    store.insert = taken
    assert (await client.request(_set_default)).status == 503
    assert client.cookies == {}


async def test_memory_store_is_bounded():
    store = MemoryStore(max_sessions=3)
    now = 2e9
    for number in range(5):
        user = "even" if number % 2 == 0 else None
        await store.insert(str(number), SessionRecord(b"{}", 1, now, now + 60, user))
    assert len(store) == 3
    assert [await store.read(str(n)) is not None for n in range(5)] == [False, False, *[True] * 3]
    assert await store.delete_user("even") == 2


async def test_memory_store_drops_no_session_for_one_that_has_expired(clock):
    """Though the former was written a longer time ago."""
    store = MemoryStore(max_sessions=3)
    now = time.time()
    await store.insert("long", SessionRecord(b"{}", 1, now, now + 3600, "42"))
    for number in range(10):
        await store.insert(str(number), SessionRecord(b"{}", 1, now, time.time() + 1))
        clock(1)
    assert await store.read("long") is not None
    assert len(store) == 2


async def test_memory_store_forgets_ends_that_were_moved(clock):
    store = MemoryStore()
    end = time.time() + 10
    await store.insert("key", SessionRecord(b"{}", 1, 0.0, end))
    for number in range(200):
        assert await store.touch("key", end + number)
    clock(100)
    await store.insert("other", SessionRecord(b"{}", 1, 0.0, end + 1000))
    assert len(store) == 2
    clock(120)
    await store.insert("another", SessionRecord(b"{}", 1, 0.0, end + 1000))
    assert len(store) == 2


async def test_memory_store_removes_what_has_expired(clock):
    store = MemoryStore()
    for number in range(10):
        await store.insert(str(number), SessionRecord(b"{}", 1, 0.0, time.time() + 60))
    clock(60)
    for number in range(10, 15):
        await store.insert(str(number), SessionRecord(b"{}", 1, 0.0, time.time() + 60))
    assert len(store) == 5


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"max_sessions": "1"}, TypeError, "MemoryStore(max_sessions=...) takes an int, not '1'"),
        ({"max_sessions": 0}, ValueError, "expected at least 1"),
    ],
)
def test_options_of_the_memory_store(options, error, text):
    with pytest.raises(error) as raised:
        MemoryStore(**options)
    assert text in str(raised.value)
