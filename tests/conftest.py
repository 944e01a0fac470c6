# SPDX-License-Identifier: MIT
"""Servers in processes of their own, for tests that talk to one as a user would."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import ModuleType

import browser as chromium
import conduit_served
import httpx
import pytest
from commands import run
from npm import install_npm
from ports import free_port

ROOT = Path(__file__).resolve().parent.parent
BOOKSHELF = ROOT / "examples" / "bookshelf"
STARTUP_S = 30.0
SHUTDOWN_S = 20.0


class Served:
    """A server process, its address, and what it printed."""

    def __init__(self, command: list[str], port: int, log: Path, **environment: str) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.port = port
        self._log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
                # Its workers end with it, in the same session.
                start_new_session=True,
            )
        self.pid = self._process.pid
        self._wait_until_it_answers()

    def _wait_until_it_answers(self) -> None:
        end = time.monotonic() + STARTUP_S
        while time.monotonic() < end:
            if self._process.poll() is not None:
                break
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                    return
            except OSError:
                time.sleep(0.05)
        self.stop(signal.SIGKILL)
        pytest.fail(f"the server did not start:\n{self.printed()}")

    def printed(self) -> str:
        return self._log.read_text(errors="replace")

    def memory_bytes(self) -> int:
        """Resident memory of the process."""
        status = Path(f"/proc/{self.pid}/status")
        if not status.exists():
            pytest.skip("the memory of a process is read from /proc")
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) * 1024

    def stop(self, number: int = signal.SIGINT) -> int:
        """Sends a signal and waits for the end; gives the exit code."""
        if self._process.poll() is None:
            if number == signal.SIGKILL:
                os.killpg(self.pid, number)
            self._process.send_signal(number)
        try:
            return self._process.wait(SHUTDOWN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            pytest.fail(f"the server did not end:\n{self.printed()}")


@pytest.fixture(params=["asyncio", "trio"])
def backend(request: pytest.FixtureRequest) -> str:
    """The name of an event loop; a test that takes it runs once on each."""
    return str(request.param)


class Servers:
    """Starts servers, and ends them all with the block.

    Args:
        folder: Where what they print goes.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[Served] = []

    def __enter__(self) -> Servers:
        return self

    def __exit__(self, *error: object) -> None:
        for served in self._started:
            served.stop(signal.SIGKILL)

    def start(self, command: Callable[[int], list[str]], **environment: str) -> Served:
        """Runs a server, whose command is `command(port)`."""
        port = free_port()
        log = self._folder / f"server-{len(self._started)}.log"
        self._started.append(Served(command(port), port, log, **environment))
        return self._started[-1]

    def start_uvicorn(self, folder: Path, target: str, **environment: str) -> Served:
        """Serves an app of a folder by uvicorn."""
        options = ["--app-dir", str(folder), "--lifespan", "on", "--no-access-log", target]
        return self.start(
            lambda port: [sys.executable, "-m", "uvicorn", "--port", str(port), *options],
            **environment,
        )


@pytest.fixture
def running_servers(tmp_path: Path) -> Iterator[Servers]:
    """Starts servers that end with the test."""
    with Servers(tmp_path) as started:
        yield started


@pytest.fixture
def serve_command(running_servers: Servers) -> Callable[..., Served]:
    """Runs a server: `serve_command(command, NAME="value")`, with `command(port)` the command."""
    return running_servers.start


@pytest.fixture
def serve(running_servers: Servers) -> Callable[..., Served]:
    """Serves an app by uvicorn: `serve(folder, "app:app", NAME="value")`; ended with the test."""
    return running_servers.start_uvicorn


@pytest.fixture(scope="module")
def module_serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Served]]:
    """Serves an app as `serve` does, for the tests of a module, which share it."""
    with Servers(tmp_path_factory.mktemp("servers")) as started:
        yield started.start_uvicorn


@pytest.fixture
def client() -> Iterator[Callable[[Served], httpx.Client]]:
    """Makes a client of a server; closed with the test."""
    opened: list[httpx.Client] = []

    def open_client(served: Served) -> httpx.Client:
        # Loading certificates takes longer than most tests, and no server here has one.
        opened.append(httpx.Client(base_url=served.url, timeout=30, verify=False))
        return opened[-1]

    yield open_client
    for each in opened:
        each.close()


@pytest.fixture(scope="module")
def module_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Browser]:
    """A browser for the tests of a module; `browser` gives it without what others left in it."""
    reason = chromium.missing()
    if reason is not None:
        pytest.skip(reason)
    with chromium.Browser(tmp_path_factory.mktemp("browser")) as started:
        yield started


@pytest.fixture
def browser(module_browser: chromium.Browser) -> chromium.Browser:
    """Chromium on an empty page, without cookies; skips where there is none."""
    module_browser.forget()
    return module_browser


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Where the bookshelf of a test keeps its books: an empty file, so the shelf begins empty."""
    path = tmp_path / "shelf.db"
    path.touch()
    return path


class SharedShelf:
    """A bookshelf that is served to the tests of a module, which share it.

    Args:
        served: The server.
        database: Where it keeps its books.
    """

    def __init__(self, served: Served, database: Path) -> None:
        self.served = served
        self._database = database

    def empty(self) -> None:
        """Removes all books, so that the next one has the number 1."""
        with closing(sqlite3.connect(self._database)) as connection, connection:
            for table in ("covers", "books", "sqlite_sequence"):
                connection.execute(f"DELETE FROM {table}")


@pytest.fixture(scope="module")
def module_shelf(
    module_serve: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory
) -> SharedShelf:
    """The bookshelf with the token `t0ken`, served to the tests of a module."""
    path = tmp_path_factory.mktemp("shelf") / "shelf.db"
    path.touch()
    settings = {"BOOKSHELF_DB": str(path), "BOOKSHELF_TOKEN": "t0ken"}
    return SharedShelf(module_serve(BOOKSHELF, "app:app", **settings), path)


@pytest.fixture
def shared_shelf(module_shelf: SharedShelf) -> Served:
    """A served bookshelf without books, for tests that leave it running."""
    module_shelf.empty()
    return module_shelf.served


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch, database: Path) -> Iterator[ModuleType]:
    """The bookshelf as a module of this process, with its neighbours."""
    monkeypatch.setenv("BOOKSHELF_DB", str(database))
    monkeypatch.syspath_prepend(str(BOOKSHELF))
    spec = importlib.util.spec_from_file_location("bookshelf_app", BOOKSHELF / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    for name in ("books", "page", "seeds", "store"):
        del sys.modules[name]


@pytest.fixture(scope="session", params=conduit_served.SETUPS)
def conduit(request: pytest.FixtureRequest) -> Iterator[conduit_served.Conduit]:
    """A served examples/conduit for each setup; tests share it, because it starts slowly."""
    if reason := conduit_served.missing(request.param.partition("-")[0]):
        pytest.skip(reason)
    with conduit_served.served(request.param) as served:
        yield served


@pytest.fixture(scope="session")
def npm(
    tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Callable[[Mapping[str, str]], Path]:
    """Installs packages of npm: `npm({"typescript": "5.9.3"})`; see `install_npm`.

    The workers share what is installed, one folder for each set of packages.
    """
    base = tmp_path_factory.getbasetemp()
    shared = (base if worker_id == "master" else base.parent) / "npm"

    def install(packages: Mapping[str, str]) -> Path:
        name = hashlib.sha256(json.dumps(dict(packages), sort_keys=True).encode()).hexdigest()
        return install_npm(packages, shared / name[:16])

    return install


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> dict[str, Path]:
    """The wheels of all packages, by distribution; their sources are built as well.

    One of the workers builds them, and the others wait for it. `.ci/run` has built them already, in
    the folder that KIT_DISTRIBUTIONS names.
    """
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "dist"
    if "KIT_DISTRIBUTIONS" in os.environ:
        folder = Path(os.environ["KIT_DISTRIBUTIONS"])
    else:
        folder.mkdir(exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "built").exists():
                build = ("build", "--all-packages", "--no-sources", "-o", folder)
                run("uv", "--directory", ROOT, *build)
                (folder / "built").touch()
    built = {wheel.name.split("-")[0].replace("_", "-"): wheel for wheel in folder.glob("*.whl")}
    packages = [*ROOT.glob("packages/*/pyproject.toml")]
    assert len([*folder.glob("*.tar.gz")]) == len(built) == len(packages)
    return built
