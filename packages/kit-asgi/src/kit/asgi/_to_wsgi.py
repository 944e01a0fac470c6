# SPDX-License-Identifier: MIT
"""Serves an ASGI application on a WSGI server."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterable
from threading import Lock
from typing import TYPE_CHECKING, Any

from ._environ import refuse_unmeasured

if TYPE_CHECKING:
    from ._wsgi_loop import WsgiLoop


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
        self._running: WsgiLoop | None = None
        self._is_closed = False
        self.__wrapped__ = app

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Handles a request, as described in PEP 3333.

        Raises:
            Exception: The exception that the application raised before its response, or at startup.
            RuntimeError: If the application was closed.
        """
        refusal = refuse_unmeasured(environ, start_response)
        if refusal is not None:
            return refusal
        with self._lock:  # so that the loop gets the call before it is told to stop
            call = self._started().call(environ)
        return call.respond(start_response)

    def start(self) -> None:
        """Starts the event loop and the lifespan, unless they are already running.

        Call it when a worker process starts, so that a failing startup shows there and not at the
        first request. Don't call it before the server forks, since threads don't survive a fork.

        Raises:
            HandlerError: If the application reports that its startup failed; the next call retries.
            RuntimeError: If the application was closed.
        """
        with self._lock:
            self._started()

    def _started(self) -> WsgiLoop:
        # Here, as nothing else of this package needs asyncio.
        from ._wsgi_loop import WsgiLoop

        if self._is_closed:
            raise RuntimeError(f"{self._name} can no longer be called: it was closed")
        if self._running is None:
            running = WsgiLoop(self._app, self._name)
            running.start()
            self._running = running
            atexit.register(self.close)
        return self._running

    def close(self) -> None:
        """Waits for requests and background tasks, then runs the shutdown of the lifespan.

        Called when Python exits, unless it was called before. Does nothing if the application was
        never started.

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
