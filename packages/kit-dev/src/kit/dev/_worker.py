# SPDX-License-Identifier: MIT
"""A process that serves an app on a socket that it was given: what runs in it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from ._errors import AppError, AppFailedError
from ._exit_codes import LOAD_FAILED
from ._loading import load_app


@dataclass(frozen=True)
class Started:
    """Reports that a worker answers requests.

    Attributes:
        routes: The lines that list its routes; None if they are not to be shown.
    """

    routes: list[str] | None = None


@dataclass(frozen=True)
class Failed:
    """Reports that the app of a worker can't be loaded.

    Attributes:
        reason: Why.
        by_itself: Whether its own code raised, rather than that there is no app to be found.
    """

    reason: str
    by_itself: bool


Work = Callable[[Connection, socket.socket, str], int]
"""What a worker does. Takes the connection to report on, the socket, and the import string; returns
the exit code.
"""


def enter(work: Work, channel: Connection, listener: socket.socket, target: str) -> None:
    """Begins a worker, and ends its process with the exit code of the work."""
    # Ctrl-C is sent to all processes of a terminal; this one is told by its parent what to do. The
    # signal was held back until here.
    signal.signal(signal.SIGINT, _ignore)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    with contextlib.suppress(OSError):  # for a debugger; multiprocessing took it away
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - as long as the process is
    threading.Thread(target=_end_with, args=(channel,), daemon=True).start()
    sys.exit(work(channel, listener, target))


def serve(channel: Connection, listener: socket.socket, target: str) -> int:
    """The work of `kit serve --workers`."""
    from ._server import run

    try:
        app = load_app(target)
    except AppError as error:
        channel.send(failure(error))
        return LOAD_FAILED
    return run(app, listener, lambda: channel.send(Started()), is_worker=True)


def failure(error: AppError) -> Failed:
    """What is told of an app that can't be loaded."""
    return Failed(str(error), isinstance(error, AppFailedError))


def _ignore(number: int, frame: Any) -> None:
    """A function, as SIG_IGN would be passed on to processes that the app starts."""


def _end_with(channel: Connection) -> None:
    """Ends this process when the one that started it is gone, however that came about."""
    try:
        channel.recv()  # nothing is ever sent, so this returns at the end of the channel
    except (EOFError, OSError):
        os.kill(os.getpid(), signal.SIGTERM)
