# SPDX-License-Identifier: MIT
"""Event loops for the tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

# Far more than any test takes: it only turns a hang into a failure.
LIMIT_S = 30.0


@pytest.fixture(params=["asyncio", "trio"])
def backend(request: pytest.FixtureRequest) -> str:
    """The name of an event loop; a test that takes it runs once on each."""
    return str(request.param)


@pytest.fixture
def run(backend: str) -> Callable[..., Any]:
    """Runs an async function on asyncio and on trio, and returns its result."""

    def run(function: Callable[..., Awaitable[Any]], *args: Any) -> Any:
        async def bounded() -> Any:
            with anyio.fail_after(LIMIT_S):
                return await function(*args)

        return anyio.run(bounded, backend=backend)

    return run
