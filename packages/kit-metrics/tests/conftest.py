# SPDX-License-Identifier: MIT
"""Runs async tests on asyncio and on trio, and reads values of a registry."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from prometheus_client import CollectorRegistry

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
def registry() -> CollectorRegistry:
    """A registry of the test's own."""
    return CollectorRegistry()


@pytest.fixture
def counted(registry: CollectorRegistry) -> Callable[..., dict[tuple[str, ...], float]]:
    """Returns the samples of a name: values of labels to the value."""

    def counted(
        name: str = "http_requests_total", labels: tuple[str, ...] = ("method", "route", "status")
    ) -> dict[tuple[str, ...], float]:
        return {
            tuple(sample.labels[label] for label in labels): sample.value
            for metric in registry.collect()
            for sample in metric.samples
            if sample.name == name
        }

    return counted
