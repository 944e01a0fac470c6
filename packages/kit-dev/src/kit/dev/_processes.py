# SPDX-License-Identifier: MIT
"""Starts and ends the processes that serve an app."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import signal
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from types import FrameType
from typing import Any

from ._worker import Ended, Started, Work, enter

_spawn = multiprocessing.get_context("spawn")
_ENDING = (signal.SIGINT, signal.SIGTERM)
_MOST_SIGNALS = 2
_LOOK_S = 0.02


class Worker:
    """A process that serves an app on a shared socket.

    Args:
        work: What it does; a function of a module.
        listener: The socket to listen on.
        given: What the function needs besides; it is pickled.

    Attributes:
        started: Whether it has reported that it answers requests.
    """

    def __init__(self, work: Work, listener: socket.socket, given: Any) -> None:
        self.started = False
        self._channel, other_end = _spawn.Pipe()
        self._process = _spawn.Process(target=enter, args=(work, other_end, listener, given))
        with _holding_back_interrupts():
            self._process.start()
        other_end.close()  # or it would be open as long as this process is

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid or 0

    @property
    def exit_code(self) -> int | None:
        """How it ended, None while it runs; negative is the signal that ended it."""
        return self._process.exitcode

    @property
    def ending(self) -> str:
        """How it ended, in words."""
        code = self.exit_code
        if code is None or code >= 0:
            return f"exit code {code}"
        try:
            return signal.Signals(-code).name
        except ValueError:  # real-time signals have no names
            return f"signal {-code}"

    def news(self) -> Any:
        """Returns the next thing that it has reported, if there is one."""
        try:
            told = self._channel.recv() if self._channel.poll() else None
        except (EOFError, OSError):  # it is gone
            return None
        self.started = self.started or isinstance(told, Started)
        return told

    def tell(self, what: Any) -> None:
        """Sends it something; it may be gone already."""
        with contextlib.suppress(OSError):
            self._channel.send(what)

    def ask_to_end(self) -> None:
        """Starts a graceful shutdown: the process finishes the requests in flight, then ends."""
        self._process.terminate()

    def end(self, limit_s: float) -> None:
        """Shuts the app down gracefully, and kills the process if that takes too long.

        The process itself may go on for a moment.
        """
        self.ask_to_end()
        end = time.monotonic() + limit_s
        while self.exit_code is None:
            left = end - time.monotonic()
            if left <= 0:
                self.kill()
            elif wait([self._channel, self._process.sentinel], left) and self._has_ended():
                return

    def _has_ended(self) -> bool:
        return isinstance(self.news(), Ended)

    def kill(self) -> None:
        """Ends it by force."""
        self._process.kill()
        self._process.join()
        self._channel.close()


class Signals:
    """The signals to end that this process was sent, in order.

    While it is open they do nothing but to be noted here.
    """

    def __init__(self) -> None:
        self.received: list[int] = []

    @contextmanager
    def noted(self) -> Iterator[Signals]:
        """Notes signals meanwhile."""
        before = {number: signal.signal(number, self._note) for number in _ENDING}
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.received.append(number)


def end_all(workers: Sequence[Worker], signals: Signals, limit_s: float = math.inf) -> None:
    """Ends workers, and waits until they have.

    Args:
        workers: The workers.
        signals: Those that come meanwhile are handed on; from the third one on workers are killed.
        limit_s: After so many seconds they are killed.
    """
    end = time.monotonic() + limit_s
    handed_on = len(signals.received)
    for worker in workers:
        worker.ask_to_end()
    while any(worker.exit_code is None for worker in workers) and time.monotonic() < end:
        for count, _ in enumerate(signals.received[handed_on:], handed_on + 1):
            handed_on = count
            for worker in workers:
                worker.ask_to_end() if count <= _MOST_SIGNALS else worker.kill()
        time.sleep(_LOOK_S)
    for worker in workers:
        worker.kill()


@contextmanager
def _holding_back_interrupts() -> Iterator[None]:
    """Keeps SIGINT from a process that is started until it is ready for it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its start unblocks the signal, so it comes first
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
