# SPDX-License-Identifier: MIT
"""A clock that only tests move, async tests on asyncio and on trio, and a Redis server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import anyio
import pytest
from redis_server import RedisServer, running

# Far more than any test takes: it only turns a hang into a failure.
LIMIT_S = 60.0


class Clock:
    """A clock in seconds."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["asyncio", "trio"])
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Runs an async function; a test that takes it runs once on each event loop."""

    def run(function: Callable[..., Awaitable[Any]], *args: Any) -> Any:
        async def bounded() -> Any:
            with anyio.fail_after(LIMIT_S):
                return await function(*args)

        return anyio.run(bounded, backend=request.param)

    return run


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """A Redis server, skipped where there is none."""
    with running() as server:
        yield server
