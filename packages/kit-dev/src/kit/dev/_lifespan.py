# SPDX-License-Identifier: MIT
"""Runs the lifespan of an app, or of ASGI middleware around it, as a server would."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from kit.authoring.wrapped_apps import is_app


@asynccontextmanager
async def run_lifespan(served: Any) -> AsyncIterator[dict[str, Any]]:
    """Runs the lifespan of an app, or of ASGI middleware around it.

    SPEC: ASGI Lifespan Protocol, version 2.0. Middleware that ends without an answer has none.

    Args:
        served: The app, or the middleware.

    Yields:
        What the scopes of requests have from the lifespan.

    Raises:
        Exception: The exception that made the startup or the shutdown fail.
    """
    if is_app(served):
        async with served.running():
            yield {}
        return
    lifespan = _Lifespan(served)
    await lifespan.tell("startup")
    try:
        yield {"state": lifespan.state}
    finally:
        await lifespan.tell("shutdown")


class _Lifespan:
    """The task in which ASGI middleware runs its lifespan."""

    def __init__(self, served: Any) -> None:
        self.state: dict[str, Any] = {}
        self._events: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._answers: asyncio.Queue[Exception | None] = asyncio.Queue()
        scope = {
            "type": "lifespan",
            "asgi": {"version": "3.0", "spec_version": "2.0"},
            "state": self.state,
        }
        self._task = asyncio.ensure_future(served(scope, self._events.get, self._send))

    async def tell(self, event: str) -> None:
        """Sends an event, and waits for its answer.

        Raises:
            Exception: The exception that made it fail.
        """
        self._events.put_nowait({"type": f"lifespan.{event}"})
        answer = asyncio.ensure_future(self._answers.get())
        await asyncio.wait((answer, self._task), return_when=asyncio.FIRST_COMPLETED)
        failure = answer.result() if answer.done() else None
        answer.cancel()
        if failure is not None or event == "shutdown":
            self._task.cancel()
            await asyncio.wait((self._task,))
        if failure is not None:
            raise failure

    async def _send(self, message: dict[str, Any]) -> None:
        failure = None
        if message["type"].endswith(".failed"):
            # Kit sends the message while it handles the exception.
            cause = sys.exception()
            text = message.get("message") or message["type"]
            failure = cause if isinstance(cause, Exception) else RuntimeError(text)
        self._answers.put_nowait(failure)
