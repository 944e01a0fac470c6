# SPDX-License-Identifier: MIT
"""A process of `kit dev`, as the process that watches the files sees it."""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
from pathlib import Path
from typing import Any

from ._board import Board
from ._crashes import crash
from ._dev_worker import Broken, DevOptions, Ready, Setup, Turn, serve
from ._problems import Problem
from ._processes import Worker


class DevProcess:
    """A process that imports libraries, and serves the app when it is its turn.

    Args:
        listener: The socket to listen on.
        options: What `kit dev` was asked for.
        modules: What to import ahead.

    Attributes:
        worker: The process.
        turn: What it was told to serve; None while it waits.
        has_reported: Whether it has reported that the app answers, or that it can't.
    """

    def __init__(
        self, listener: socket.socket, options: DevOptions, modules: tuple[str, ...]
    ) -> None:
        self._options = options
        self._board = Board()
        number, name = tempfile.mkstemp(prefix="kit-dev-")
        os.close(number)
        self._stack_file = Path(name)
        self.turn: Turn | None = None
        self.has_reported = False
        setup = Setup(options, self._board, self._stack_file, modules)
        self.worker = Worker(serve, listener, setup)

    def begin(self, turn: Turn) -> None:
        """Lets the process serve."""
        self.turn = turn
        self.has_reported = not turn.loads_app  # it has nothing to report then
        self.worker.tell(turn)

    def news(self) -> Any:
        """Returns the next thing that it has reported, if there is one."""
        told = self.worker.news()
        self.has_reported = self.has_reported or isinstance(told, (Ready, Broken))
        return told

    def crash(self) -> tuple[Problem, bool]:
        """Describes how it ended, which nobody had asked for.

        Returns:
            The problem, and whether it is sound to start the app again: a request made it crash,
            not its start.
        """
        again = self.worker.started and self._board.has_begun
        stack = self._stack_file.read_text(encoding="utf-8", errors="replace")
        problem = crash(
            self.worker.ending,
            self._board.running(),
            stack,
            self._options.folder,
            has_started=self.worker.started,
            again=again,
        )
        return problem, again

    def end(self, limit_s: float) -> None:
        """Shuts the app down, and kills the process if that takes too long."""
        self.worker.end(limit_s)

    def is_gone(self) -> bool:
        """Whether the process has ended."""
        return self.worker.exit_code is not None

    def forget(self) -> None:
        """Removes what is left of it."""
        self.worker.kill()
        with contextlib.suppress(OSError):
            self._stack_file.unlink()
