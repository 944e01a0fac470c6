# SPDX-License-Identifier: MIT
"""An app whose store fails under load: 503 or no session, never that of somebody else."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from redis.asyncio import Redis
from redis_server import RedisServer, running

from kit import Context, Kit, Response
from kit.session import get_session, session
from kit.session.redis import RedisStore
from kit.session.sqlite import SQLiteStore
from kit.session.stores import SessionStore

LIMIT_S = 60.0
USERS = 20
OnError = Literal["unavailable", "anonymous"]


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """A server that a test may stop."""
    with running() as server:
        yield server


class Crowd:
    """Users of an app, who all make requests at once, again and again.

    Args:
        store: The store of the app.
        on_store_error: What the app does without it.
    """

    def __init__(self, store: SessionStore, on_store_error: OnError = "unavailable") -> None:
        self.app: Kit[Any, Any] = Kit()
        self.app.use(session(store=store, on_store_error=on_store_error))
        self.app.post("/login/:user", self._login)
        self.app.get("/", self._visit)
        self.cookies: dict[str, str] = {}
        # What was answered: status, and whether it was without a session.
        self.answers: Counter[tuple[int, bool]] = Counter()
        self.is_over = asyncio.Event()

    async def _login(self, c: Context[Any, Any]) -> Response:
        (await get_session(c)).rotate(user=c.req.param("user"))
        return c.text("")

    async def _visit(self, c: Context[Any, Any]) -> Response:
        found = await get_session(c)
        found.update(lambda data: data.update(count=data.get("count", 0) + 1))
        return c.json({"user": found.user, "degraded": found.is_degraded})

    async def log_in(self) -> None:
        """Gives each user a session."""
        for number in range(USERS):
            response = await self.app.request(f"/login/{number}", method="POST")
            assert response.status == 200, await response.text()
            (line,) = response.headers.get_set_cookie()
            self.cookies[str(number)] = line.partition(";")[0]

    async def visit(self, user: str) -> tuple[int, bool]:
        """Makes a request of a user; whatever it is answered, it is not somebody else's."""
        response = await self.app.request("/", headers={"cookie": self.cookies[user]})
        if response.status != 200:
            assert response.status == 503
            assert response.headers.get("retry-after") is not None
            return 503, False
        answer = await response.json()
        assert answer["user"] == (None if answer["degraded"] else user)
        return 200, answer["degraded"]

    async def visit_until_the_end(self, user: str) -> None:
        """Makes requests of a user one after the other."""
        while not self.is_over.is_set():
            self.answers[await self.visit(user)] += 1
            await asyncio.sleep(0)

    async def wait_for(self, outcome: tuple[int, bool], count: int = 2 * USERS) -> None:
        """Waits until requests have been answered like this."""
        wanted = self.answers[outcome] + count
        while self.answers[outcome] < wanted:
            await asyncio.sleep(0.005)

    async def run(self, story: Callable[[], Any]) -> None:
        """Has all users make requests while a story happens."""
        async with asyncio.timeout(LIMIT_S):
            await self.log_in()
            async with asyncio.TaskGroup() as group:
                for user in self.cookies:
                    group.create_task(self.visit_until_the_end(user))
                await self.wait_for((200, False))
                await story()
                self.is_over.set()


@pytest.mark.parametrize(
    ("on_store_error", "without"), [("unavailable", (503, False)), ("anonymous", (200, True))]
)
async def test_redis_is_killed_under_load(
    redis: RedisServer, on_store_error: OnError, without: tuple[int, bool]
) -> None:
    """Then it comes back empty: the users get new sessions when they log in."""
    store = RedisStore(redis.url)
    crowd = Crowd(store, on_store_error)

    async def story() -> None:
        await asyncio.to_thread(redis.stop)
        await crowd.wait_for(without)

    await crowd.run(story)
    redis.start()
    await crowd.log_in()
    assert {await crowd.visit(user) for user in crowd.cookies} == {(200, False)}
    await store.close()


async def test_redis_hangs_under_load(redis: RedisServer) -> None:
    """The timeout applies to each request; afterwards all sessions are there."""
    store = RedisStore(redis.url, timeout=0.2)
    crowd = Crowd(store)

    async def story() -> None:
        redis.pause()
        await crowd.wait_for((503, False))
        redis.resume()
        await crowd.wait_for((200, False))

    await crowd.run(story)
    await store.close()


async def test_redis_loses_its_data_under_load(redis: RedisServer) -> None:
    """Requests that come later have a new, empty session."""
    store = RedisStore(redis.url)
    crowd = Crowd(store)
    async with asyncio.timeout(LIMIT_S), Redis(port=redis.port) as client:
        await crowd.log_in()
        await client.flushall()
        for cookie in crowd.cookies.values():
            response = await crowd.app.request("/", headers={"cookie": cookie})
            assert await response.json() == {"user": None, "degraded": False}
    await store.close()


@pytest.mark.parametrize(
    ("on_store_error", "without"), [("unavailable", (503, False)), ("anonymous", (200, False))]
)
async def test_sqlite_is_locked_under_load(
    tmp_path: Path, on_store_error: OnError, without: tuple[int, bool]
) -> None:
    """Sessions are read all the same; whether one can't be saved is told as the app wants it."""
    path = tmp_path / "sessions.db"
    store = SQLiteStore(path, timeout=0.05)
    crowd = Crowd(store, on_store_error)

    async def story() -> None:
        other = sqlite3.connect(path, isolation_level=None, timeout=LIMIT_S)
        other.execute("BEGIN IMMEDIATE")
        await crowd.wait_for(without)
        other.execute("ROLLBACK")
        other.close()
        await crowd.wait_for((200, False))

    await crowd.run(story)
    await store.close()


async def test_sqlite_is_damaged(tmp_path: Path) -> None:
    """Nobody gets what isn't theirs, and all is well again without the file."""
    path = tmp_path / "sessions.db"
    store = SQLiteStore(path)
    crowd = Crowd(store)
    await crowd.log_in()
    await store.close()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (path.stat().st_size - 4096))
    assert set(await asyncio.gather(*map(crowd.visit, crowd.cookies))) == {(503, False)}
    await store.close()
    path.unlink()
    await crowd.log_in()
    assert set(await asyncio.gather(*map(crowd.visit, crowd.cookies))) == {(200, False)}
    await store.close()
