# SPDX-License-Identifier: MIT
"""The event loop for an ASGI application on a WSGI server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import Any

from ._lifespan import run_lifespan
from ._wsgi_call import WsgiCall


class WsgiLoop:
    """An event loop in a thread, with the lifespan of the application in it.

    Args:
        app: The ASGI application.
        name: Its name in error messages.
    """

    def __init__(self, app: Callable[..., Any], name: str) -> None:
        self._app = app
        self._name = name
        self._timeout = 0.0
        self._has_started: Future[None] = Future()
        self._has_stopped: Future[None] = Future()
        # A daemon, since Python waits for other threads before it runs atexit handlers.
        self._thread = Thread(target=self._run, name=f"to_wsgi of {name}", daemon=True)
        self._calls: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Starts the thread, and waits until the application has started."""
        self._thread.start()
        self._has_started.result()

    def stop(self, timeout: float) -> None:
        """Stops the thread, and waits until it has ended."""
        self._timeout = timeout
        self._loop.call_soon_threadsafe(self._over.set)
        self._has_stopped.result()

    def call(self, environ: dict[str, Any]) -> WsgiCall:
        """Calls the application in the event loop, which must not have been stopped."""
        call = WsgiCall(self._app, self._name, environ, self._loop, self._state)
        self._loop.call_soon_threadsafe(self._begin, call)
        return call

    # These run in the thread:

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            outcome = self._has_stopped if self._has_started.done() else self._has_started
            outcome.set_exception(error)
        else:
            self._has_stopped.set_result(None)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()
        async with run_lifespan(self._app, self._name) as self._state:
            self._has_started.set_result(None)
            await self._over.wait()
            if self._calls:
                _, late = await asyncio.wait(self._calls, timeout=self._timeout)
                for task in late:
                    task.cancel()
                if late:
                    await asyncio.wait(late)

    def _begin(self, call: WsgiCall) -> None:
        task = self._loop.create_task(call.run())
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)
