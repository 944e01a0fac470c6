# SPDX-License-Identifier: MIT
"""What `kit shell` offers: an app that runs in the background, and code that may await."""

from __future__ import annotations

import ast
import asyncio
import builtins
import code
import importlib
import inspect
import sys
import threading
import traceback
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from types import CodeType
from typing import Any, TypeVar

T = TypeVar("T")
FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


class ShellResponse:
    """A response whose body has been read.

    Attributes:
        status: HTTP status code.
        headers: The headers.
        content: The body.
    """

    def __init__(self, status: int, headers: Any, content: bytes) -> None:
        self.status = status
        self.headers = headers
        self.content = content

    def text(self) -> str:
        """Returns the body as text in UTF-8."""
        return self.content.decode(errors="replace")

    def json(self) -> Any:
        """Returns the value of a JSON body.

        Raises:
            ValueError: If the body isn't JSON.
        """
        import json

        return json.loads(self.content)

    def __repr__(self) -> str:
        kind = self.headers.get("content-type")
        return f"<{self.status} {kind}: {self.text()!r:.200}>" if kind else f"<{self.status}>"


class RunningApp:
    """An app whose lifespan runs, in the event loop of another thread.

    Attributes:
        app: The app.
        client: The synchronous client of kit-testing; None if that isn't installed.
    """

    def __init__(self, app: Any, loop: asyncio.AbstractEventLoop, client: Any) -> None:
        self.app = app
        self.client = client
        self._loop = loop

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine in the event loop of the app.

        Args:
            coroutine: What to run; it is cancelled by Ctrl-C.

        Returns:
            Its result.

        Raises:
            BaseException: What it raises.
        """
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        finally:
            future.cancel()  # after Ctrl-C

    def execute(self, compiled: CodeType, names: dict[str, Any]) -> None:
        """Runs code that was compiled with `FLAGS`; if it awaits, in the event loop of the app.

        Args:
            compiled: The code.
            names: Its global names.

        Raises:
            BaseException: What the code raises.
        """
        result = eval(compiled, names)  # noqa: S307 - this is what a shell is for
        if compiled.co_flags & inspect.CO_COROUTINE:
            self.run(result)

    def request(self, path: str, **options: Any) -> ShellResponse:
        """Sends the app a request.

        Args:
            path: The path, which may have a query, or a URL.
            **options: `method`, `headers`, `json` and `body`, as for `app.request`.

        Returns:
            The response.

        Raises:
            RuntimeError: If called by code that runs in the event loop of the app.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self.run(self._ask(path, options))
        raise RuntimeError(
            "request() can't be called in a statement that awaits: use `await app.request(...)`"
        )

    async def _ask(self, path: str, options: Mapping[str, Any]) -> ShellResponse:
        response = await self.app.request(path, **options)
        return ShellResponse(response.status, response.headers, await response.bytes())


@contextmanager
def running(app: Any) -> Iterator[RunningApp]:
    """Runs an app in an event loop of another thread, until the block ends.

    Args:
        app: The app.

    Raises:
        Exception: What the lifespan raises.
    """
    testing = _import_if_installed("kit.testing")
    if testing is None:
        with _own_loop(app) as loop:
            yield RunningApp(app, loop, None)
        return
    seen = _LoopSeen(app)
    with testing.sync_test_client(seen) as client:
        yield RunningApp(app, seen.loop, client)


class _LoopSeen:
    """Stands for an app towards the client, to find out in which event loop the lifespan runs.

    So that what the lifespan opens can be used by the client and by what is typed in.
    """

    loop: asyncio.AbstractEventLoop

    def __init__(self, app: Any) -> None:
        self._app = app

    @property  # type: ignore[misc] # for `isinstance`, as mocks do it
    def __class__(self) -> Any:
        return type(self._app)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._app, name)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self.loop = asyncio.get_running_loop()
        async with self._app.running():
            yield


@contextmanager
def _own_loop(app: Any) -> Iterator[asyncio.AbstractEventLoop]:
    started: Future[asyncio.AbstractEventLoop] = Future()
    stop = asyncio.Event()

    async def live() -> None:
        async with app.running():
            started.set_result(asyncio.get_running_loop())
            await stop.wait()

    def main() -> None:
        try:
            asyncio.run(live())
        except BaseException as error:
            failed.append(error)
            if not started.done():
                started.set_exception(error)

    failed: list[BaseException] = []
    thread = threading.Thread(target=main, name="the app")
    thread.start()
    loop = started.result()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
    if failed:
        raise failed[0]


def run_source(source: str, file: str, running_app: RunningApp, names: dict[str, Any]) -> bool:
    """Runs a program that may await at its top level.

    Args:
        source: The program.
        file: What tracebacks call it.
        running_app: The app.
        names: The global names of the program.

    Returns:
        Whether it ended without an exception; one is printed.

    Raises:
        SystemExit: If the program raises it.
    """
    try:
        # One by one, as what awaits runs in the event loop, where a request of the client can't.
        for statement in ast.parse(source, file).body:
            tree = ast.Module([statement], [])
            running_app.execute(compile(tree, file, "exec", FLAGS, dont_inherit=True), names)
    except Exception as error:
        sys.stderr.write(_traceback(error, file))
        return False
    return True


class Console(code.InteractiveConsole):
    """A Python console that may await at its top level.

    Args:
        running_app: The app.
        names: The global names.
    """

    def __init__(self, running_app: RunningApp, names: dict[str, Any]) -> None:
        super().__init__(names)
        self._running_app = running_app
        self._names = names
        self.compile.compiler.flags |= FLAGS

    def runcode(self, code: CodeType) -> None:
        """Runs what was typed in, and prints what it raises."""
        try:
            self._running_app.execute(code, self._names)
        except SystemExit:
            raise
        except KeyboardInterrupt:
            self.write("\nKeyboardInterrupt\n")
        except BaseException as error:
            self.write(_traceback(error, self.filename))


def interact(running_app: RunningApp, names: dict[str, Any], banner: str) -> None:
    """Reads and runs what is typed in, with IPython if it is installed.

    Args:
        running_app: The app.
        names: The global names.
        banner: What is printed first.
    """
    ipython = _import_if_installed("IPython")
    if ipython is None:
        _complete_names(names)
        Console(running_app, names).interact(banner, exitmsg="")
        return
    config = importlib.import_module("traitlets.config").Config()
    # A function, as IPython copies what is configured: of a method it would copy the app.
    config.InteractiveShell.loop_runner = lambda coroutine: running_app.run(coroutine)
    config.TerminalInteractiveShell.banner1 = banner + "\n\n"
    ipython.start_ipython(argv=[], user_ns=names, config=config)


def _complete_names(names: dict[str, Any]) -> None:
    readline = _import_if_installed("readline")  # Windows has none
    if readline is not None:
        completer = importlib.import_module("rlcompleter").Completer(names)
        readline.set_completer(completer.complete)
        readline.parse_and_bind("tab: complete")


def _import_if_installed(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def _traceback(error: BaseException, file: str) -> str:
    """The traceback, from the code on that was typed in."""
    place = error.__traceback__
    while place is not None and place.tb_frame.f_code.co_filename != file:
        place = place.tb_next
    return "".join(traceback.format_exception(type(error), error, place))


def names_for(running_app: RunningApp, module: Any) -> dict[str, Any]:
    """Returns the names that the shell has: those of the app's module, and its own.

    Args:
        running_app: The app.
        module: The module that the app is in.
    """
    own = {name: value for name, value in vars(module).items() if not name.startswith("__")}
    client = {} if running_app.client is None else {"client": running_app.client}
    return {
        **own,
        "__name__": "__console__",
        "__builtins__": builtins,
        "app": running_app.app,
        "request": running_app.request,
        **client,
    }
