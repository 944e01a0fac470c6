# SPDX-License-Identifier: MIT
"""The SQLite and the Redis store in the suite for third parties."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex

import pytest
from redis_server import running

from kit.session.redis import RedisStore
from kit.session.sqlite import SQLiteStore
from kit.session.testing import SessionStoreConformance


class TestSQLiteStore(SessionStoreConformance):
    event_loops = ("asyncio", "trio")
    time_step_s = 0.0

    @pytest.fixture(autouse=True)
    def path(self, tmp_path: Path) -> None:
        self.file = tmp_path / "sessions.db"

    def new_store(self) -> SQLiteStore:
        return SQLiteStore(self.file)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running() as server:
        yield server.url


class TestRedisStore(SessionStoreConformance):
    @pytest.fixture(autouse=True)
    def server(self, url: str) -> None:
        self.url = url
        # Each test has keys of its own.
        self.prefix = f"{token_hex(8)}:"

    def new_store(self) -> RedisStore:
        return RedisStore(self.url, prefix=self.prefix)
