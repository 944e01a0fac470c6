# SPDX-License-Identifier: MIT
"""Runs async tests on asyncio and on trio, with a clock that stands still."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from redis_server import running

from kit.cache import MemoryStore
from kit.cache.redis import RedisStore
from kit.cache.sqlite import SQLiteStore

# Far more than any test takes: it only turns a hang into a failure.
LIMIT_S = 30.0


@pytest.fixture(params=["asyncio", "trio"])
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Runs an async function; a test that takes it runs once on each event loop."""

    def run(function: Callable[..., Awaitable[Any]], *args: Any) -> Any:
        async def bounded() -> Any:
            with anyio.fail_after(LIMIT_S):
                return await function(*args)

        return anyio.run(bounded, backend=request.param)

    return run


class Clock:
    """The time, which passes when a test says so."""

    def __init__(self) -> None:
        self.now = 1_790_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """The URL of a Redis server."""
    with running() as server:
        yield server.url


def _maker(kind: str, request: pytest.FixtureRequest, folder: Path) -> Callable[[], Any]:
    def make() -> Any:
        if kind == "memory":
            return MemoryStore()
        if kind == "sqlite":
            return SQLiteStore(folder / "cache.db")
        url = request.getfixturevalue("redis_url")
        return RedisStore(url, prefix=f"{folder.name}:")

    return make


@pytest.fixture(params=["memory", "sqlite", "redis"])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Any]:
    """Makes stores of each kind."""
    return _maker(request.param, request, tmp_path)


@pytest.fixture(params=["sqlite", "redis"])
def make_shared_store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Any]:
    """Makes stores of each kind that processes can share; each has what the others keep."""
    return _maker(request.param, request, tmp_path)
