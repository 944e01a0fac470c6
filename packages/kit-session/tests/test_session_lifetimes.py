# SPDX-License-Identifier: MIT
"""When sessions end, and how seldom anything is written for that."""

from __future__ import annotations

import re

import pytest

from kit.session import get_session
from kit.session.stores import MemoryStore

DAY_S = 86400


def lines_of(response):
    return response.headers.get_set_cookie()


async def read(client):
    return lines_of(await client.request(lambda c: len(get_session(c))))


def max_age(line):
    found = re.search(r"Max-Age=(\d+)", line)
    return None if found is None else int(found[1])


async def test_the_absolute_end_is_not_moved(kept, new_client, clock):
    client = new_client(**kept, max_age=10 * DAY_S)
    await client.do(lambda s: s.update(n=0))
    for number in range(9):
        clock(DAY_S)
        assert await read(client) == []
        response = await client.request(lambda c, n=number: get_session(c).update(n=n))
        assert [max_age(line) for line in lines_of(response)] in ([], [(9 - number) * DAY_S])
    response = await client.request(lambda c: get_session(c).rotate())
    assert [max_age(line) for line in lines_of(response)] == [DAY_S]
    clock(DAY_S - 60)
    assert await client.data() == {"n": 8}
    clock(120)
    assert await client.do(lambda s: [dict(s), s.is_new]) == [{}, True]


async def test_a_login_begins_anew(kept, new_client, clock):
    client = new_client(**kept, max_age=10 * DAY_S)
    await client.do(lambda s: s.rotate(user="42"))
    for _ in range(3):
        clock(6 * DAY_S)
        response = await client.request(lambda c: get_session(c).rotate(user="42"))
        assert [max_age(line) for line in lines_of(response)] == [10 * DAY_S]
    clock(10 * DAY_S + 60)
    assert await client.do(lambda s: s.user) is None


async def test_sessions_that_are_not_used_end_sooner(kept, new_client, clock):
    client = new_client(**kept, idle_timeout=1000)
    await client.do(lambda s: s.update(n=1))
    for _ in range(5):
        clock(900)
        assert await client.data() == {"n": 1}
    clock(1101)
    assert await client.data() == {}


@pytest.mark.parametrize("used_after", [0, 1, 50, 99, 100, 101, 199])
async def test_a_session_never_ends_before_its_idle_timeout(kept, new_client, clock, used_after):
    client = new_client(**kept, idle_timeout=1000)
    await client.do(lambda s: s.update(n=1))
    clock(used_after)
    assert await client.data() == {"n": 1}
    clock(999)
    assert await client.data() == {"n": 1}
    clock(1101)
    assert await client.data() == {}


async def test_a_request_that_does_not_use_the_session_does_not_prolong_it(kept, new_client, clock):
    client = new_client(**kept, idle_timeout=1000)
    await client.do(lambda s: s.update(n=1))
    for _ in range(2):
        clock(600)
        await client.request(lambda c: [])
    assert await client.data() == {}


async def test_the_idle_timeout_ends_with_the_absolute_one(kept, new_client, clock):
    client = new_client(**kept, idle_timeout=1000, max_age=2500)
    await client.do(lambda s: s.update(n=1))
    for _ in range(3):
        clock(800)
        assert await client.data() == {"n": 1}
    clock(200)
    assert await client.data() == {}


async def test_a_cookie_is_refreshed_seldom(new_client, secret, clock):
    client = new_client(secret=secret, idle_timeout=1000)
    await client.do(lambda s: s.update(n=1))
    refreshed = []
    for _ in range(50):
        clock(21)
        refreshed.append(len(await read(client)))
    assert sum(refreshed) == 10
    assert await client.data() == {"n": 1}


async def test_a_stored_session_is_refreshed_seldom_and_without_a_cookie(new_client, clock):
    touched = []

    class Counting(MemoryStore):
        async def touch(self, key, expires_at, /):
            touched.append(expires_at)
            return await super().touch(key, expires_at)

    client = new_client(store=Counting(), idle_timeout=1000)
    await client.do(lambda s: s.update(n=1))
    for _ in range(50):
        clock(21)
        assert await read(client) == []
    assert len(touched) == 10
    assert touched == sorted(set(touched))


async def test_a_new_idle_timeout_counts_for_sessions_that_are_used(kept, new_client, clock):
    before = new_client(**kept)
    await before.do(lambda s: s.rotate(user="42"))
    client = new_client(**kept, idle_timeout=60)
    client.cookies = before.cookies
    assert await client.do(lambda s: s.user) == "42"
    clock(67)
    assert await client.do(lambda s: s.user) is None


async def test_without_an_idle_timeout_nothing_is_refreshed(kept, new_client, clock):
    client = new_client(**kept)
    await client.do(lambda s: s.update(n=1))
    for _ in range(10):
        clock(DAY_S)
        assert await read(client) == []


async def test_remember_me(kept, new_client, clock):
    client = new_client(**kept, persistent=False, max_age=DAY_S, idle_timeout=3600)

    def login(remember):
        def action(c):
            session = get_session(c)
            session.rotate(user="42")
            if remember:
                session.remember(30 * DAY_S)

        return action

    response = await client.request(login(remember=False))
    assert [max_age(line) for line in lines_of(response)] == [None]
    clock(3961)
    assert await client.do(lambda s: s.user) is None
    response = await client.request(login(remember=True))
    assert [max_age(line) for line in lines_of(response)] == [30 * DAY_S]
    clock(29 * DAY_S)
    assert await client.do(lambda s: [s.user, s.rotate()][0]) == "42"
    assert await client.do(lambda s: s.user) == "42"
    # The next login is one of its own.
    response = await client.request(login(remember=False))
    assert [max_age(line) for line in lines_of(response)] == [None]
    clock(3961)
    assert await client.do(lambda s: s.user) is None


async def test_remember_a_session_that_is_there(kept, new_client):
    client = new_client(**kept, persistent=False)
    await client.do(lambda s: s.update(n=1))
    response = await client.request(lambda c: get_session(c).remember(60))
    assert [max_age(line) for line in lines_of(response)] == [60]
    assert await client.data() == {"n": 1}


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        ("1", TypeError, "Session.remember(max_age=...) takes a number, not '1'"),
        (0, ValueError, "expected at least 1 seconds"),
        (401 * DAY_S, ValueError, "expected at most 34560000 seconds"),
    ],
)
async def test_how_long_a_session_can_be_remembered(client, value, error, text):
    def check(session):
        with pytest.raises(error) as raised:
            session.remember(value)
        assert text in str(raised.value)

    await client.do(check)


async def test_a_shorter_lifetime_counts_for_sessions_that_are_there(kept, new_client, clock):
    client = new_client(**kept, max_age=10 * DAY_S)
    await client.do(lambda s: s.update(n=1))
    shorter = new_client(**kept, max_age=DAY_S)
    shorter.cookies = dict(client.cookies)
    assert await shorter.data() == {"n": 1}
    clock(2 * DAY_S)
    assert await shorter.data() == {}
    assert await client.data() == {"n": 1}
