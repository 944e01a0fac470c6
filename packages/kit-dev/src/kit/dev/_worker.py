# SPDX-License-Identifier: MIT
"""A process that serves an app on a socket that it was given: what runs in it."""

from __future__ import annotations

import atexit
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

from ._errors import AppError
from ._exit_codes import LOAD_FAILED
from ._loading import load_served
from ._serving import PLAIN, Serving


@dataclass(frozen=True)
class Started:
    """Reports that a worker of `kit serve` answers requests."""


@dataclass(frozen=True)
class Failed:
    """Reports that the app of a worker of `kit serve` can't be loaded.

    Attributes:
        reason: Why.
    """

    reason: str


@dataclass(frozen=True)
class Ended:
    """Reports that nothing of the app runs any more: all that is left is the end of Python."""


@dataclass(frozen=True)
class Job:
    """What a worker of `kit serve --workers` serves.

    Attributes:
        target: The import string of the app.
        serving: How to serve it.
    """

    target: str
    serving: Serving = PLAIN


Work = Callable[[Connection, socket.socket, Any], int]
"""What a worker does. Takes the connection to its parent, the socket, and what else it was given;
returns the exit code. Calls `end_with_parent` once it no longer reads from the connection.
"""


def enter(work: Work, channel: Connection, listener: socket.socket, given: Any) -> None:
    """Begins a worker, and ends its process with the exit code of the work."""
    # Ctrl-C is sent to all processes of a terminal; this one is told by its parent what to do. The
    # signal was held back until here.
    signal.signal(signal.SIGINT, _ignore)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # The first that is registered runs last, after what the app registers.
    atexit.register(_report_end, channel)
    with contextlib.suppress(OSError):  # for a debugger; multiprocessing took it away
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - as long as the process is
    sys.exit(work(channel, listener, given))


def end_with_parent(channel: Connection) -> None:
    """Has this process end when the one that started it is gone, however that came about."""
    threading.Thread(target=_end_with, args=(channel,), daemon=True).start()


def serve(channel: Connection, listener: socket.socket, job: Job) -> int:
    """The work of `kit serve --workers`."""
    from ._server import run

    end_with_parent(channel)
    try:
        app = load_served(job.target)
    except AppError as error:
        channel.send(Failed(str(error)))
        return LOAD_FAILED
    return run(app, listener, lambda: channel.send(Started()), serving=job.serving, is_worker=True)


def _ignore(number: int, frame: Any) -> None:
    """A function, as SIG_IGN would be passed on to processes that the app starts."""


def _report_end(channel: Connection) -> None:
    with contextlib.suppress(OSError):  # the parent is gone, or doesn't listen any more
        channel.send(Ended())


def _end_with(channel: Connection) -> None:
    try:
        channel.recv()  # nothing more is sent, so this returns at the end of the channel
    except (EOFError, OSError):
        os.kill(os.getpid(), signal.SIGTERM)
