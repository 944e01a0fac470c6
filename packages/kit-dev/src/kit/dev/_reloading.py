# SPDX-License-Identifier: MIT
"""Keeps an app served while its code changes."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import socket
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import watchfiles

from ._dev_worker import serve
from ._processes import Signals, Worker, end_all
from ._style import CYAN, RED, YELLOW, say
from ._worker import Failed, Started

# How often the process is looked after while no file changes.
_LOOK_MS = 100
# A worker that does not end by then is ended by force: its event loop is held, say.
_END_S = 3.0
_SHOWN_FILES = 3


class Reloader:
    """Serves an app in a process, and in a new one whenever its code changes.

    The socket stays open meanwhile: a request that comes during a reload waits for its end.

    Args:
        target: The import string of the app.
        listener: The socket to listen on.
        greeting: What to say once requests are answered.
        folder: Where the code of the app is; Python files that change there count.
        others: Other files and folders; whatever changes there counts.
    """

    def __init__(
        self,
        target: str,
        listener: socket.socket,
        greeting: str,
        folder: Path,
        others: Sequence[Path],
    ) -> None:
        self._target = target
        self._listener = listener
        self._greeting = greeting
        self._folder = folder
        self._others = [path.resolve() for path in others]
        self._routes: list[str] | None = None
        self._has_ended = False
        self._changed_at = 0.0

    def run(self) -> int:
        """Goes on until SIGINT or SIGTERM.

        Returns:
            The exit code: 0, or 1 if there is no app to be found.
        """
        with Signals().noted() as signals:
            changes = self._changes()
            worker = self._start()
            try:
                for changed in changes:
                    if signals.received:
                        break
                    told = worker.news()
                    if told is not None and not self._tell(told):
                        return 1
                    if changed:
                        worker = self._restart(worker, changed)
                    elif worker.exit_code is not None and not self._has_ended:
                        self._has_ended = True
                        say(f"The app has ended ({worker.ending}); waiting for a change", YELLOW)
            finally:
                end_all([worker], signals, limit_s=_END_S)
        return 0

    def _start(self) -> Worker:
        self._has_ended = False
        return Worker(serve, self._listener, self._target)

    def _restart(self, worker: Worker, changed: set[str]) -> Worker:
        self._changed_at = time.monotonic()
        say(f"Reloading: {_names(changed)} changed", CYAN)
        for path in changed:
            _forget_compiled(path)
        worker.end(_END_S)
        return self._start()

    def _tell(self, told: Started | Failed) -> bool:
        """Shows what a worker tells; False if there is no use in waiting for a change."""
        if isinstance(told, Failed):
            say(f"Error: {told.reason}", RED)
            if not told.by_itself and self._routes is None and not self._changed_at:
                return False
            say("Waiting for a change", YELLOW)
            return True
        if told.routes != self._routes:
            self._routes = told.routes
            say("\n".join(told.routes or ()) + "\n")
        if self._changed_at:
            say(f"Reloaded in {time.monotonic() - self._changed_at:.1f} s", CYAN)
        else:
            say(self._greeting)
        return True

    def _changes(self) -> Iterator[set[str]]:
        """The files that change, again and again; none, where nothing has changed for a while."""
        folders = [self._folder, *self._others]
        for changes in watchfiles.watch(
            *(path for path in folders if path.exists()),
            watch_filter=_Filter(self._folder, self._others),
            rust_timeout=_LOOK_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
        ):
            yield {path for _, path in changes}


class _Filter(watchfiles.DefaultFilter):
    """Python files of the app, and whatever else is named; not what tools and editors leave."""

    def __init__(self, folder: Path, others: Sequence[Path]) -> None:
        super().__init__()
        self._folder = folder
        self._others = others

    def __call__(self, change: watchfiles.Change, path: str) -> bool:
        if not super().__call__(change, path):
            return False
        if path.endswith(".py") and Path(path).is_relative_to(self._folder):
            return True
        return any(Path(path).is_relative_to(other) for other in self._others)


def _forget_compiled(path: str) -> None:
    """Removes what Python compiled of a file.

    Python checks it by size and second: not enough for two changes within one second.
    """
    if path.endswith(".py"):
        with contextlib.suppress(OSError):
            os.unlink(importlib.util.cache_from_source(path))


def _names(changed: set[str]) -> str:
    names = sorted(os.path.relpath(path) for path in changed)
    more = len(names) - _SHOWN_FILES
    return ", ".join(names[:_SHOWN_FILES]) + (f" and {more} more" if more > 0 else "")
