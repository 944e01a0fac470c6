# SPDX-License-Identifier: MIT
"""A pool whose connections are taken in threads, as the docs advise: many wait for few."""

from __future__ import annotations

import queue
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

import anyio
import pytest

from kit import Kit, in_thread
from kit.typed import Depends, typed

REQUESTS = 60
LIMIT_S = 60.0


def app_with(pool: queue.Queue[str], take: Callable[[], Any]) -> Kit[Any, Any]:
    give_back = in_thread(pool.put)

    async def connection() -> AsyncIterator[str]:
        taken = await take()
        try:
            yield taken
        finally:
            await give_back(taken)

    app: Kit[Any, Any] = Kit()

    @app.get("/")
    @typed
    @in_thread
    def read(connection: Annotated[str, Depends(connection)]) -> str:
        return connection

    return app


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("limit", [1, 2, 40])
def test_more_requests_than_threads_and_connections(backend: str, limit: int) -> None:
    pool: queue.Queue[str] = queue.Queue()
    pool.put("first")
    pool.put("second")
    app = app_with(pool, in_thread(limiter=limit)(pool.get))
    answers: list[int] = []

    async def ask() -> None:
        answers.append((await app.request("/")).status)

    async def main() -> None:
        with anyio.fail_after(LIMIT_S):
            async with anyio.create_task_group() as group:
                for _ in range(REQUESTS):
                    group.start_soon(ask)

    anyio.run(main, backend=backend)
    assert answers == [200] * REQUESTS
    assert pool.qsize() == 2
