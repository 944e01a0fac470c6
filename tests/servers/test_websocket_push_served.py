# SPDX-License-Identifier: MIT
"""Handlers that only send, over real servers: they end when their clients leave."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from serving import SHUTDOWN_S, ServedApp
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

pytestmark = [pytest.mark.slow, pytest.mark.once]

PATIENCE_S = 30.0
CLIENTS = 20
SERVERS = {
    "uvicorn-websockets": ("uvicorn", "--ws=websockets"),
    "uvicorn-sansio": ("uvicorn", "--ws=websockets-sansio"),
    "uvicorn-wsproto": ("uvicorn", "--ws=wsproto"),
    "granian": ("granian",),
    "granian-rsgi": ("granian-rsgi",),
    "hypercorn": ("hypercorn",),
}


@pytest.fixture(params=SERVERS)
def served(request: Any, tmp_path: Any) -> Iterator[ServedApp]:
    server, *options = SERVERS[request.param]
    with ServedApp(server, "push_app:app", tmp_path / "log", *options) as running:
        yield running


async def subscribed(served: ServedApp, count: int) -> None:
    """Waits until the app has so many subscriptions."""
    async with httpx.AsyncClient(timeout=PATIENCE_S, verify=False) as client:
        url = f"http://127.0.0.1:{served.port}/subscribed/{count}"
        assert (await client.get(url)).json() == count


async def publish(served: ServedApp, channel: str, text: str) -> None:
    async with httpx.AsyncClient(timeout=PATIENCE_S, verify=False) as client:
        await client.post(f"http://127.0.0.1:{served.port}/publish/{channel}", content=text)


async def connected(served: ServedApp, channel: str) -> ClientConnection:
    url = f"ws://127.0.0.1:{served.port}/push/{channel}"
    return await connect(url, ping_interval=None, close_timeout=PATIENCE_S)


@pytest.mark.parametrize("how", ["closed", "broken off"])
async def test_clients_leave_nothing_behind(served: ServedApp, how: str) -> None:
    clients = [await connected(served, "news") for _ in range(CLIENTS)]
    stays = await connected(served, "news")
    await subscribed(served, CLIENTS + 1)
    await publish(served, "news", "first")
    for each in [*clients, stays]:
        assert await each.recv() == "first"
    for each in clients:
        if how == "closed":
            await each.close()
        else:
            each.transport.abort()
    await subscribed(served, 1)
    await publish(served, "news", "second")
    assert await stays.recv() == "second"
    await stays.close()
    await subscribed(served, 0)


async def test_shutdown_ends_them(served: ServedApp) -> None:
    clients = [await connected(served, "news") for _ in range(3)]
    await subscribed(served, 3)
    served.process.send_signal(signal.SIGTERM)
    for each in clients:
        with pytest.raises(ConnectionClosed):
            await asyncio.wait_for(each.recv(), PATIENCE_S)
    await asyncio.to_thread(served.process.wait, SHUTDOWN_S)
