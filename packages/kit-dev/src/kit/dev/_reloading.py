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

from ._dev_process import DevProcess
from ._dev_worker import Broken, DevOptions, Outdated, Ready, Turn
from ._processes import Signals, end_all
from ._style import CYAN, RED, YELLOW, say

# How often the process is looked after while no file changes.
_LOOK_MS = 50
# Changes that come within so long of each other are one.
_STEP_MS = 10
# A worker that does not end by then is ended by force: its event loop is held, say.
_END_S = 3.0
_SHOWN_FILES = 3


class Reloader:
    """Serves an app in a process, and in a new one whenever its code changes.

    The socket stays open meanwhile: a request that comes during a reload waits for its end. The
    next process is started ahead, and imports libraries while it waits for its turn.

    Args:
        options: What `kit dev` was asked for.
        listener: The socket to listen on.
        greeting: What to say once requests are answered.
    """

    def __init__(self, options: DevOptions, listener: socket.socket, greeting: str) -> None:
        self._options = options
        self._listener = listener
        self._greeting = greeting
        self._others = [path.resolve() for path in options.others]
        if options.env_file is not None:
            self._others.append(options.env_file.resolve())
        self._routes: list[str] | None = None
        self._modules: tuple[str, ...] = ()
        self._is_first = True
        self._began_at = 0.0
        self._leaving: list[DevProcess] = []
        self._spare: DevProcess | None = None
        self._current = self._process()

    def run(self) -> int:
        """Goes on until SIGINT or SIGTERM.

        Returns:
            The exit code: 0, or 1 if there is no app to be found.
        """
        with Signals().noted() as signals:
            changes = self._changes()
            self._current.begin(Turn())
            try:
                for changed in changes:
                    if signals.received or not self._look(changed):
                        break
            finally:
                self._end(signals)
        return 0 if signals.received else 1

    def _look(self, changed: set[str]) -> bool:
        """Does what there is to do; returns False if there is no use in waiting for a change."""
        is_gone = self._current.is_gone()  # asked first, or its last news could be missed
        told = self._current.news()
        if isinstance(told, Ready):
            self._show_start(told)
        elif isinstance(told, Broken):
            say(f"Error: {told.reason}", RED)
            if self._is_first and not told.may_be_mended:
                return False
            say("Waiting for a change", YELLOW)
            self._is_first = False
        elif isinstance(told, Outdated):
            self._replace()
        if changed:
            self._reload(changed)
        elif told is None and is_gone:
            self._recover()
        elif self._spare is None and self._current.has_reported:
            self._spare = self._process()
        else:
            self._forget_gone()
        return True

    def _process(self) -> DevProcess:
        return DevProcess(self._listener, self._options, self._modules)

    def _begin(self, turn: Turn) -> None:
        """Has the next process serve."""
        self._began_at = time.monotonic()
        spare, self._spare = self._spare, None
        if spare is not None and spare.is_gone():
            spare.forget()
            spare = None
        self._current = spare or self._process()
        self._current.begin(turn)

    def _reload(self, changed: set[str]) -> None:
        say(f"Reloading: {_names(changed)} changed", CYAN)
        began_at = time.monotonic()
        self._leave(self._current)
        for path in changed:
            _forget_compiled(path)
        env_file = self._options.env_file
        if env_file is not None and str(env_file.resolve()) in changed and self._spare is not None:
            self._spare.forget()  # it has the variables of before
            self._spare = None
        self._begin(Turn())
        self._is_first = False
        self._began_at = began_at

    def _recover(self) -> None:
        """Starts the app again after a crash, or has its requests answered with what happened."""
        turn = self._current.turn
        problem, is_sound = self._current.crash()
        self._current.forget()
        if turn is not None and not turn.loads_app:  # it answered for an app already
            self._begin(turn)
            return
        say(f"Error: {problem}", RED)
        if not is_sound:
            say("Waiting for a change", YELLOW)
        self._is_first = False
        self._begin(Turn(problem, loads_app=is_sound))

    def _replace(self) -> None:
        """Has a process serve that imports everything anew."""
        turn = self._current.turn
        self._leave(self._current)
        self._modules = ()
        self._begin(turn or Turn())

    def _show_start(self, told: Ready) -> None:
        self._modules = told.modules
        if told.routes != self._routes:
            self._routes = told.routes
            say("\n".join(told.routes) + "\n")
        if self._is_first:
            say(self._greeting)
        else:
            turn = self._current.turn
            what = "Started again" if turn is not None and turn.problem else "Reloaded"
            say(f"{what} in {time.monotonic() - self._began_at:.2f} s", CYAN)
        self._is_first = False

    def _leave(self, process: DevProcess) -> None:
        process.end(_END_S)
        self._leaving.append(process)

    def _forget_gone(self) -> None:
        for each in [each for each in self._leaving if each.is_gone()]:
            each.forget()
            self._leaving.remove(each)

    def _end(self, signals: Signals) -> None:
        processes = [self._current, *self._leaving]
        if self._spare is not None:
            processes.append(self._spare)
        end_all([each.worker for each in processes], signals, limit_s=_END_S)
        for each in processes:
            each.forget()

    def _changes(self) -> Iterator[set[str]]:
        """The files that change, again and again; none, where nothing has changed for a while."""
        folders = [self._options.folder, *self._others]
        for changes in watchfiles.watch(
            *(path for path in folders if path.exists()),
            watch_filter=_Filter(self._options.folder, self._others),
            step=_STEP_MS,
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
