# SPDX-License-Identifier: MIT
"""The process that `kit dev` serves an app in; there is a new one after each change."""

from __future__ import annotations

import faulthandler
import logging
import socket
import sys
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from kit.authoring.terminal import supports_color
from kit.interface import App

from ._board import Board
from ._env_file import load_env_file
from ._errors import AppError, AppFailedError, EnvFileError
from ._exit_codes import LIFESPAN_FAILED
from ._inspection import inspect_app
from ._loading import load
from ._names import layers
from ._preloading import are_unchanged, libraries, preload
from ._problems import Problem
from ._serving import PLAIN, Serving
from ._style import YELLOW, say
from ._table import route_lines
from ._tracebacks import cut_in_log, from_their_code
from ._worker import Failed, Started, end_with_parent

# What is in flight when a file changes, or at Ctrl-C, has so long to be answered.
_SHUTDOWN_S = 1
_WAITS = "Kit waits for a change of the code, and then loads the app again."


@dataclass(frozen=True)
class DevOptions:
    """What `kit dev` was asked for.

    Attributes:
        target: The import string of the app.
        folder: Where the code of the app is.
        others: Other files and folders that are watched.
        serving: How to serve it.
        env_file: The file of environment variables.
        access_log: Whether to write a line for each request; None to do so unless the app logs
            them by kit-logger.
        browser_reload: Whether to reload pages in browsers.
        host: The name or address that the server was told to listen on.
    """

    target: str
    folder: Path
    others: tuple[Path, ...] = ()
    serving: Serving = PLAIN
    env_file: Path | None = None
    access_log: bool | None = None
    browser_reload: bool = True
    host: str = "127.0.0.1"


@dataclass(frozen=True)
class Setup:
    """What a worker is given when its process is started.

    Attributes:
        options: What `kit dev` was asked for.
        board: Where to note the requests that are running.
        stack_file: Where to write the stack of a crash.
        modules: What to import ahead.
    """

    options: DevOptions
    board: Board
    stack_file: Path
    modules: tuple[str, ...]


@dataclass(frozen=True)
class Turn:
    """The order to serve, which is sent to a worker.

    Attributes:
        problem: What the first request is answered with, or each if the app isn't to be loaded.
        loads_app: Whether the app is to be loaded.
    """

    problem: Problem | None = None
    loads_app: bool = True


@dataclass(frozen=True)
class Ready(Started):
    """Reports that the app answers requests.

    Attributes:
        routes: The lines that list its routes.
        modules: What the next worker may import ahead.
    """

    routes: list[str] = field(default_factory=list)
    modules: tuple[str, ...] = ()


@dataclass(frozen=True)
class Broken(Failed):
    """Reports that there is no app that answers requests.

    Attributes:
        may_be_mended: Whether a change can mend it: its own code raised. Otherwise there is no app
            to be found.
    """

    may_be_mended: bool = True


@dataclass(frozen=True)
class Outdated:
    """Reports that what was imported ahead has changed: another worker has to serve."""


def serve(channel: Connection, listener: socket.socket, setup: Setup) -> int:
    """The work of `kit dev`: imports libraries, waits for its turn, and serves the app.

    If the app can't be loaded, requests are answered with the reason.
    """
    files = _prepare(setup)
    try:
        turn: Turn = channel.recv()
    except EOFError:
        return 0
    if not are_unchanged(files):
        channel.send(Outdated())
        return 0
    end_with_parent(channel)
    # Open as long as the process is.
    faulthandler.enable(setup.stack_file.open("w"), all_threads=False)
    worker = _DevWorker(channel, listener, setup)
    return worker.serve_app(turn.problem) if turn.loads_app else worker.stand_in(turn.problem)


def _prepare(setup: Setup) -> dict[str, int]:
    if not setup.modules:
        return {}
    try:
        load_env_file(setup.options.env_file)  # libraries may read the variables
    except EnvFileError:
        return {}
    return preload(setup.modules)


class _DevWorker:
    def __init__(self, channel: Connection, listener: socket.socket, setup: Setup) -> None:
        self._channel = channel
        self._listener = listener
        self._options = setup.options
        self._board = setup.board

    def serve_app(self, problem: Problem | None) -> int:
        """Serves the app; the first request is answered with a problem, if there is one."""
        options = self._options
        try:
            load_env_file(options.env_file)
            app, served, *_ = load(options.target)
        except AppError as error:
            return self._fail(
                _describe_problem(error), isinstance(error, (AppFailedError, EnvFileError))
            )
        log = options.access_log
        serving = self._wrap(served, problem, log=not logs_requests(app) if log is None else log)
        has_started = False

        def on_start() -> None:
            nonlocal has_started
            has_started = True
            self._watch_loop(app)
            lines = route_lines(inspect_app(app), colorize=supports_color(sys.stderr))
            self._channel.send(Ready(lines, libraries((options.folder, *options.others))))

        with cut_in_log():
            # A copy, as the server closes its socket.
            code = self._run(serving, self._listener.dup(), on_start)
        if code == LIFESPAN_FAILED and not has_started:
            trace = serving.startup_error or ""
            return self._fail(Problem("The app did not start", "", trace, _WAITS), True)
        return code

    def stand_in(self, problem: Problem | None) -> int:
        """Answers every request with a problem."""
        log = self._options.access_log is not False
        return self._run(self._wrap(None, problem, log=log), self._listener)

    def _fail(self, problem: Problem, may_be_mended: bool) -> int:
        self._channel.send(Broken(str(problem), may_be_mended))
        return self.stand_in(problem)

    def _wrap(self, app: Any, problem: Problem | None, *, log: bool) -> Any:
        from ._browser import BrowserReload
        from ._dev_app import DevApp
        from ._faults import note_faults

        note_faults()
        self._browser = BrowserReload() if self._options.browser_reload else None
        host = self._options.host
        return DevApp(app, self._board, problem, self._browser, log=log, host=host)

    def _watch_loop(self, app: App) -> None:
        # Not at the top, as the process that watches the files imports this module as well.
        from ._loop_watch import LoopWatch

        LoopWatch(app.routes, self._options.folder, partial(say, color=YELLOW)).start()

    def _run(self, app: Any, listener: socket.socket, on_start: Any = None) -> int:
        from ._server import run

        logging.getLogger("uvicorn.error").addFilter(_is_news)
        return run(
            app,
            listener,
            on_start,
            on_end=self._browser.end if self._browser is not None else None,
            is_quick=True,
            serving=self._options.serving,
            shutdown_s=_SHUTDOWN_S,
            is_worker=True,
        )


def logs_requests(app: App) -> bool:
    """Whether an app uses the middleware of kit-logger."""
    modules = (
        str(getattr(layer, "__module__", ""))
        for route in app.routes
        for layer in layers(route.handler)
    )
    return any(f"{module}.".startswith("kit.logger.") for module in modules)


def _describe_problem(error: AppError) -> Problem:
    if isinstance(error, AppFailedError):
        return Problem(f"{error.module} can't be loaded", "", error.traceback, _WAITS)
    return Problem(str(error), "", "", _WAITS)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a record isn't what the parent says of an app that did not start.

    A traceback in it is cut.
    """
    if record.exc_info and record.exc_info[1] is not None:
        record.exc_text = from_their_code(record.exc_info[1])
    return record.msg not in (
        "Application startup failed. Exiting.",
        "Exception in 'lifespan' protocol\n",
    )
