# SPDX-License-Identifier: MIT
"""Serves an ASGI application by a WSGI server."""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from threading import Lock, Thread
from typing import Any

from ._lifespan import run_lifespan
from ._wsgi_call import WsgiCall, refuse_unmeasured


class WsgiApplication:
    """The WSGI application that `to_wsgi` returns.

    The first request starts an event loop in a thread, and the lifespan of the ASGI application in
    it. All requests run in that loop; the threads of the server pass their bodies on.

    Args:
        app: The ASGI application.
        name: Its name in error messages.
        shutdown_timeout: Seconds that `close` waits for requests and background tasks.
    """

    def __init__(self, app: Callable[..., Any], name: str, shutdown_timeout: float) -> None:
        self._app = app
        self._name = name
        self._shutdown_timeout = shutdown_timeout
        self._lock = Lock()
        self._running: _Running | None = None
        self._is_closed = False
        self.__wrapped__ = app

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answers a request, as PEP 3333 describes.

        Raises:
            Exception: The exception that the application raised before its response, or its start.
            RuntimeError: If the application was closed.
        """
        refusal = refuse_unmeasured(environ, start_response)
        if refusal is not None:
            return refusal
        return self._start().call(environ).respond(start_response)

    def start(self) -> None:
        """Starts the event loop and the lifespan, unless they run already.

        Call it where a worker process starts, to see a failing start there and not at the first
        request; not before the server forks, as threads don't survive that.

        Raises:
            HandlerError: If the application reports that its startup failed; the next call tries
                again.
            RuntimeError: If the application was closed.
        """
        self._start()

    def _start(self) -> _Running:
        with self._lock:
            if self._is_closed:
                raise RuntimeError(f"{self._name} can't be called any more: it was closed")
            if self._running is None:
                running = _Running(self._app, self._name)
                running.start()
                self._running = running
                atexit.register(self.close)
            return self._running

    def close(self) -> None:
        """Waits for requests and background tasks, then runs the shutdown of the lifespan.

        Called when Python exits, unless it was called before. Without `start` there is nothing to
        do.

        Raises:
            HandlerError: If the application reports that its shutdown failed.
        """
        with self._lock:
            self._is_closed = True
            running, self._running = self._running, None
        if running is not None:
            atexit.unregister(self.close)
            running.stop(self._shutdown_timeout)

    def __repr__(self) -> str:
        return f"<WsgiApplication of {self._name}>"


class _Running:
    """An event loop in a thread, with the lifespan of the application in it.

    Args:
        app: The ASGI application.
        name: Its name in error messages.
    """

    def __init__(self, app: Callable[..., Any], name: str) -> None:
        self._app = app
        self._name = name
        self._lock = Lock()
        self._is_stopping = False
        self._timeout = 0.0
        self._has_started: Future[None] = Future()
        self._has_stopped: Future[None] = Future()
        # A daemon, as Python waits for other threads before it runs what atexit has.
        self._thread = Thread(target=self._run, name=f"to_wsgi of {name}", daemon=True)
        self._calls: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Starts the thread, and waits until the application has started."""
        self._thread.start()
        self._has_started.result()

    def stop(self, timeout: float) -> None:
        """Ends the thread, and waits for that."""
        with self._lock:
            self._is_stopping = True
            self._timeout = timeout
            self._loop.call_soon_threadsafe(self._over.set)
        self._has_stopped.result()

    def call(self, environ: dict[str, Any]) -> WsgiCall:
        """Starts a call of the application in the event loop.

        Raises:
            RuntimeError: If the event loop is about to end.
        """
        call = WsgiCall(self._app, self._name, environ, self._loop, self._state)
        with self._lock:  # so that the loop gets it before it is told to end
            if self._is_stopping:
                raise RuntimeError(f"{self._name} can't be called any more: it was closed")
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
