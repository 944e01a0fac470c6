# SPDX-License-Identifier: MIT
"""Runs async tests on asyncio and on trio."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import anyio
import pytest
from redis_server import RedisServer, running

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


@pytest.fixture(params=["redis-server", "stand-in"])
def redis(request: pytest.FixtureRequest) -> Iterator[RedisServer]:
    """A Redis server, skipped where there is none, and a program that any machine can run."""
    with running(is_stand_in=request.param == "stand-in") as server:
        yield server
