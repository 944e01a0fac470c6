# SPDX-License-Identifier: MIT
"""Runs async tests on asyncio and on trio."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import anyio
import pytest

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


@pytest.fixture
def unused_port() -> Iterator[int]:
    """A port where nothing listens."""
    with socket.socket() as bound:  # not listening: connections are refused
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]
