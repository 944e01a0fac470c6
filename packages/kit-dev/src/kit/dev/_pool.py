# SPDX-License-Identifier: MIT
"""Several processes that serve one app on one socket, each replaced when it ends."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

import click

from ._exit_codes import LIFESPAN_FAILED, LOAD_FAILED
from ._processes import Signals, Worker, end_all
from ._serving import PLAIN, Serving
from ._style import YELLOW, say
from ._worker import Failed, Job, serve

_LOOK_S = 0.1
# One that could not start is started again then, as long as others run: what it lacks, a database
# say, may come back.
_AGAIN_S = 1.0


class Pool:
    """Processes that take connections from one queue: those of one that dies are not lost.

    Args:
        target: The import string of the app.
        listener: The socket to listen on.
        count: How many processes.
        serving: How to serve it.
    """

    def __init__(
        self, target: str, listener: socket.socket, count: int, serving: Serving = PLAIN
    ) -> None:
        self._job = Job(target, serving)
        self._listener = listener
        self._count = count
        self._workers: list[Worker] = []
        self._wait_until = 0.0
        self._has_started = False

    def run(self, on_start: Callable[[], object]) -> int:
        """Keeps the processes running until SIGINT or SIGTERM; closes the socket then.

        Args:
            on_start: Called once all of them answer requests.

        Returns:
            The exit code, see `kit.dev._server.run`.

        Raises:
            ClickException: If the app can't be loaded.
        """
        code = 0
        with Signals().noted() as signals:
            try:
                while not signals.received and not code:
                    self._fill()
                    time.sleep(_LOOK_S)
                    code = self._look()
                    if not self._has_started and self._all_started():
                        self._has_started = True
                        on_start()
            finally:
                # Or it would be open until the last worker has ended, and clients would connect to
                # what nobody accepts any more; a proxy sends them elsewhere when they are refused.
                self._listener.close()
                end_all(self._workers, signals)
        return code or self._code_at_end(signals.received)

    def _fill(self) -> None:
        # The first goes ahead, so that what is wrong with the app is told once.
        may_start = not self._workers or any(worker.started for worker in self._workers)
        while (
            may_start and len(self._workers) < self._count and time.monotonic() > self._wait_until
        ):
            self._workers.append(Worker(serve, self._listener, self._job))
            may_start = any(worker.started for worker in self._workers)

    def _look(self) -> int:
        """Removes the processes that have ended; returns an exit code if restarting is no use."""
        for worker in list(self._workers):
            told = worker.news()
            if isinstance(told, Failed) and not self._has_started:
                raise click.ClickException(told.reason)
            if worker.exit_code is None:
                continue
            if not (worker.started or self._has_started):
                return worker.exit_code if worker.exit_code > 0 else LOAD_FAILED
            self._workers.remove(worker)
            if worker.started:
                text = "ended unexpectedly, another one takes its place"
            else:
                text = "could not start, another one will be tried"
                self._wait_until = time.monotonic() + _AGAIN_S
            say(f"Process {worker.pid} {text} ({worker.ending})", YELLOW)
            worker.kill()  # what is left of it
        return 0

    def _all_started(self) -> bool:
        return len(self._workers) == self._count and all(w.started for w in self._workers)

    def _code_at_end(self, received: list[int]) -> int:
        codes = {worker.exit_code for worker in self._workers}
        if LIFESPAN_FAILED in codes:
            return LIFESPAN_FAILED
        return 128 + received[-1] if len(received) > 1 and codes - {0} else 0
