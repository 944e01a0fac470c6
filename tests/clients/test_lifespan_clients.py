# SPDX-License-Identifier: MIT
"""A lifespan that fails, under the clients that run it for tests, and mounted in another app."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from kit import Kit
from kit.asgi import from_asgi
from kit.interface import HandlerError
from kit.testing import sync_test_client

PHASES = pytest.mark.parametrize("phase", ["startup", "shutdown"])


class BrokenError(Exception):
    """The lifespan fails."""


def app_failing_at(phase: str) -> Kit[Any, Any]:
    @asynccontextmanager
    async def lifespan(app: Kit[Any, Any]) -> AsyncIterator[None]:
        if phase == "startup":
            raise BrokenError(phase)
        yield
        raise BrokenError(phase)

    return Kit(lifespan=lifespan).get("/", lambda c: c.text("ok"))


@PHASES
@pytest.mark.timeout(60)
def test_client_of_starlette(phase: str) -> None:
    """It raises what the app raises; where the app returns, it waits for ever."""
    asked: list[int] = []

    def run() -> None:
        with TestClient(app_failing_at(phase)) as client:
            asked.append(client.get("/").status_code)

    with pytest.raises(BrokenError, match=phase):
        run()
    assert asked == ([] if phase == "startup" else [200])


@PHASES
def test_client_of_kit(phase: str) -> None:
    asked: list[int] = []

    def run() -> None:
        with sync_test_client(app_failing_at(phase)) as client:
            asked.append(client.get().status)

    with pytest.raises(BrokenError, match=phase):
        run()
    assert asked == ([] if phase == "startup" else [200])


@PHASES
def test_mounted_by_from_asgi(phase: str) -> None:
    """An app that is mounted as a foreign one is named in the error, whose cause is its own."""
    app: Kit[Any, Any] = Kit()
    app.mount("/sub", from_asgi(app_failing_at(phase)))

    def run() -> None:
        with sync_test_client(app) as client:
            assert client.sub.get().status == 200

    with pytest.raises(HandlerError, match=f"failed at {phase}") as raised:
        run()
    assert isinstance(raised.value.__cause__, BrokenError)


@PHASES
@pytest.mark.timeout(60)
def test_lifespan_run_by_starlette(phase: str) -> None:
    kit_app = app_failing_at(phase)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with kit_app.running():
            yield

    app = Starlette(routes=[Mount("/sub", kit_app)], lifespan=lifespan)

    def run() -> None:
        with TestClient(app) as client:
            assert client.get("/sub/").status_code == 200

    with pytest.raises(BrokenError, match=phase):
        run()
