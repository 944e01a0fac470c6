# SPDX-License-Identifier: MIT
"""Runs the lifespan of an app for an RSGI server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ._types import Application, Message


def start_lifespan(app: Application, loop: asyncio.AbstractEventLoop) -> Callable[[], None]:
    """Starts the lifespan of an app.

    SPEC: RSGI 1.6, `__rsgi_init__` and `__rsgi_del__`: the loop isn't running when they are called;
    ASGI Lifespan Protocol 2.0.

    Args:
        app: The app.
        loop: The event loop of the server.

    Returns:
        A function that stops the lifespan, and raises the exception of the shutdown.

    Raises:
        Exception: The exception of the startup.
    """
    stopping = asyncio.Event()
    started: asyncio.Future[None] = loop.create_future()
    messages: list[Message] = [{"type": "lifespan.startup"}]

    async def receive() -> Message:
        if messages:
            return messages.pop()
        await stopping.wait()
        return {"type": "lifespan.shutdown"}

    async def send(message: Message) -> None:
        if message["type"] == "lifespan.startup.complete":
            started.set_result(None)

    async def run() -> None:
        await app({"type": "lifespan", "asgi": {"version": "3.0"}}, receive, send)

    async def start() -> None:
        await asyncio.wait({running, started}, return_when=asyncio.FIRST_COMPLETED)
        if not started.done():
            running.result()

    def stop() -> None:
        stopping.set()
        loop.run_until_complete(running)

    running = loop.create_task(run())
    loop.run_until_complete(start())
    return stop
