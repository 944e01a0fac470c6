# SPDX-License-Identifier: MIT
"""Runs uvicorn, so that signals end it whatever the app is doing."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import Any

import uvicorn

from ._exit_codes import LIFESPAN_FAILED
from ._serving import PLAIN, Serving

_SHUTDOWN_S = 10
_MOST_SIGNALS = 2
# What ends at once has so long before it is waited for.
_LOOKS = 10
_LOOK_S = 0.003


def run(
    app: Any,
    listener: socket.socket,
    on_start: Callable[[], object] | None = None,
    *,
    on_end: Callable[[], object] | None = None,
    is_quick: bool = False,
    serving: Serving = PLAIN,
    shutdown_s: int = _SHUTDOWN_S,
    is_worker: bool = False,
) -> int:
    """Serves an app until SIGINT or SIGTERM.

    Args:
        app: The app.
        listener: The socket to listen on; it is closed at the end.
        on_start: Called once requests are accepted, in the event loop.
        on_end: Called in the event loop when the shutdown begins.
        is_quick: Whether to end as soon as nothing is in flight; uvicorn waits a tenth of a second
            at least.
        serving: How to serve it.
        shutdown_s: How many seconds requests in flight have to be answered at the end.
        is_worker: Whether another process sees to the end of this one, so that SIGINT, which a
            terminal sends to both, is not for this one.

    Returns:
        The exit code of the process: 0, 3 if the app failed to start or to shut down, 128 and
        the number of the signal if a second one ended the shutdown. A third one, or one that comes
        when the server has ended, ends the process by itself.
    """
    config = uvicorn.Config(
        app,
        interface="asgi3",
        # A Kit app always speaks the lifespan protocol: a failure there is one, and no sign of an
        # app that has none, as uvicorn would guess by default.
        lifespan="on",
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=shutdown_s,
        root_path=serving.root_path,
        ssl_certfile=serving.tls_cert,
        ssl_keyfile=serving.tls_key,
    )
    server = _Server(config, on_start, on_end, is_worker, is_quick)
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    server.handle_signals()
    # The SystemExit is uvicorn's, after a failed startup.
    with listener, contextlib.suppress(SystemExit):
        server.run(sockets=[listener])
    return server.exit_code()


class _Server(uvicorn.Server):
    """A server that greets, and whose startup and shutdown can be ended by a signal.

    uvicorn waits for both without end: an app that waits for its database could be killed only.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        on_start: Callable[[], object] | None,
        on_end: Callable[[], object] | None,
        is_worker: bool,
        is_quick: bool,
    ) -> None:
        super().__init__(config)
        self._is_quick = is_quick
        self._on_start = on_start
        self._on_end = on_end
        self._handled = (signal.SIGTERM,) if is_worker else (signal.SIGTERM, signal.SIGINT)
        self._without_interrupt = is_worker and sys.platform != "win32"
        self._signals: list[int] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._step: asyncio.Task[None] | None = None
        self._ticks: asyncio.Task[None] | None = None
        self._cut_short_by: int | None = None

    def handle_signals(self) -> None:
        """Handles signals from here on; uvicorn would do so only when it begins to serve."""
        for number in self._handled:
            signal.signal(number, self._handle_outside)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._leave_signals)

    def _leave_signals(self) -> None:
        """Lets SIGTERM end a process that the app forks, e.g. for a pool of processes.

        It would inherit the handler of this server, which has nothing to end there.
        """
        if signal.getsignal(signal.SIGTERM) in (self.handle_exit, self._handle_outside):
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().serve(sockets)
        finally:
            # Tasks and threads of the app may go on without end; uvicorn no longer waits for them,
            # but the event loop does.
            for number in self._handled:
                signal.signal(number, signal.SIG_DFL)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await self._run_step(self._start_up(sockets))
        if self._on_start is not None and self.started and not self.should_exit:
            self._on_start()

    async def _start_up(self, sockets: list[socket.socket] | None) -> None:
        # Asked here, as a signal that comes from now on finds a step to cancel.
        if not self.should_exit:
            await super().startup(sockets)

    async def main_loop(self) -> None:
        # uvicorn looks ten times a second whether it should end; a signal wakes this.
        self._loop = asyncio.get_running_loop()
        self._ticks = self._loop.create_task(super().main_loop())
        await asyncio.wait([self._ticks])
        if not self._ticks.cancelled():
            self._ticks.result()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._on_end is not None:
            self._on_end()
        await self._run_step(self._shut_down(sockets))

    async def _shut_down(self, sockets: list[socket.socket] | None) -> None:
        if self._is_quick and await self._is_idle(sockets):
            await self.lifespan.shutdown()
        else:
            await super().shutdown(sockets)

    async def _is_idle(self, sockets: list[socket.socket] | None) -> bool:
        """Closes what can be closed; returns whether nothing is in flight then."""
        for each in (*self.servers, *(sockets or ())):
            each.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        for _ in range(_LOOKS):
            if not (self.server_state.connections or self.server_state.tasks):
                return True
            await asyncio.sleep(_LOOK_S)
        return False

    async def _run_step(self, step: Coroutine[Any, Any, None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._step = self._loop.create_task(step)
        try:
            await self._step
        except asyncio.CancelledError:
            if not self._signals:
                raise
            self._cut_short_by = self._signals[-1]
        finally:
            self._step = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if sig == signal.SIGINT and self._without_interrupt:
            return
        self._note(sig)
        again = self.should_exit
        if not again:  # at a second SIGINT uvicorn would leave out the shutdown of the app
            super().handle_exit(sig, frame)
        # Not `cancel` itself: a loop that waits for I/O would not wake up for it.
        if self._loop is not None and self._step is not None and (again or not self.started):
            self._loop.call_soon_threadsafe(self._step.cancel)
        elif self._loop is not None and self._ticks is not None:
            self._loop.call_soon_threadsafe(self._ticks.cancel)

    def _handle_outside(self, sig: int, frame: FrameType | None) -> None:
        """Handles a signal that comes before uvicorn handles them.

        Nothing is raised: if a weak reference's callback or a finalizer were just running, Python
        would print what is raised, forget it, and go on.
        """
        # uvicorn calls this as well, when it ends, for the signal that it has handled.
        if self._loop is None:
            self._note(sig)
            self.should_exit = True

    def _note(self, sig: int) -> None:
        self._signals.append(sig)
        if len(self._signals) > _MOST_SIGNALS:  # the loop itself is blocked
            signal.signal(sig, signal.SIG_DFL)
            signal.raise_signal(sig)

    def exit_code(self) -> int:
        """The exit code that says how it went."""
        if self.started and self._cut_short_by is not None:
            return 128 + self._cut_short_by
        failed = self.lifespan.should_exit or not (self.started or self._signals)
        return LIFESPAN_FAILED if failed else 0


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a record is no traceback of what was cancelled because the server ends."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))
