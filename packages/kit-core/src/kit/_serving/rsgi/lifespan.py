# SPDX-License-Identifier: MIT
"""Runs the lifespan of an app for an RSGI server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from kit.lifespan import Lifespan

_logger = logging.getLogger("kit")


def start_lifespan(lifespan: Lifespan, loop: asyncio.AbstractEventLoop) -> Callable[[], None]:
    """Starts a lifespan.

    SPEC: RSGI 1.6, `__rsgi_init__` and `__rsgi_del__`: the loop isn't running when they are called.

    Args:
        lifespan: The lifespan.
        loop: The event loop of the server.

    Returns:
        A function that stops it, and raises what that raises.

    Raises:
        Exception: What the startup raises.
    """
    stopping = asyncio.Event()
    started: asyncio.Future[Any] = loop.create_future()

    async def run() -> None:
        # One task enters and leaves the lifespan, since a task group in it requires that.
        try:
            async with lifespan.running():
                lifespan.check_env()
                started.set_result(None)
                await stopping.wait()
        except Exception:
            # The server gets the exception only when it shuts down.
            if started.done() and not stopping.is_set():
                _logger.exception("The lifespan ended while the app was served")
            raise

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
