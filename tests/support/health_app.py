# SPDX-License-Identifier: MIT
"""An app with probes, for real servers: after SIGTERM it goes on for a while, but is not ready."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from kit import Kit
from kit.health import health

DRAIN_S = 4.0

probes = health(drain_file=os.environ.get("DRAIN_FILE"))
hanging = health(
    {"hangs": lambda env: threading.Event().wait()}, live=None, ready="/hanging", timeout=0.1
)


@asynccontextmanager
async def lifespan(app: Kit) -> AsyncIterator[None]:
    """Lets uvicorn end only some seconds after SIGTERM."""
    loop = asyncio.get_running_loop()
    end: Any = signal.getsignal(signal.SIGTERM)

    def drain(number: int, frame: Any) -> None:
        probes.drain()
        loop.call_soon_threadsafe(loop.call_later, DRAIN_S, end, number, frame)

    if threading.current_thread() is threading.main_thread() and callable(end):
        signal.signal(signal.SIGTERM, drain)
    yield


app = Kit(lifespan=lifespan)
app.use(probes, hanging)
app.get("/", lambda c: c.text("Hello"))
