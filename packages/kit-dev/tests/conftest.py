# SPDX-License-Identifier: MIT
"""Apps in folders of their own, commands in processes of their own, and made-up distributions."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

LIMIT_S = 30.0


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty current folder; what is imported from it is forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


class Process:
    """A `kit` command that runs, and what it has written to standard error so far."""

    def __init__(self, folder: Path, arguments: tuple[str, ...]) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kit", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            # A group of its own, as a shell makes one: Ctrl-C is sent to all of it.
            start_new_session=True,
        )
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._changed:
                self.lines.append(line)
                self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()

    @property
    def said(self) -> str:
        return "".join(self.lines)

    def wait_for(self, pattern: str, start: int = 0) -> re.Match[str]:
        """Until something is written, from a line on; gives the match."""
        end = time.monotonic() + LIMIT_S
        with self._changed:
            while True:
                found = re.search(pattern, "".join(self.lines[start:]), re.MULTILINE)
                if found:
                    return found
                left = end - time.monotonic()
                if left < 0 or (self.process.poll() is not None and not self._reader.is_alive()):
                    pytest.fail(f"no {pattern!r} in:\n{self.said}")
                self._changed.wait(min(left, 0.2))

    def wait_until(self, condition: Callable[[], object]) -> None:
        """Until something is so."""
        end = time.monotonic() + LIMIT_S
        while not condition():
            if time.monotonic() > end:
                pytest.fail(f"it did not come true; what was written:\n{self.said}")
            time.sleep(0.02)

    def address(self) -> str:
        return self.wait_for(r"^Serving .* at (http://\S+:\d+) ")[1]

    def connect(self, port: int | None = None) -> socket.socket:
        """A new connection to the server: at a port, or the address that it has told."""
        if port is not None:
            return socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S)
        host, _, told = self.address().removeprefix("http://").rpartition(":")
        return socket.create_connection((host.strip("[]"), int(told)), timeout=LIMIT_S)

    def ask(self, path: str = "/", method: str = "GET", port: int | None = None) -> tuple[int, str]:
        """Sends a request on a connection of its own; gives status and body."""
        with closing(HTTPConnection("")) as http:
            http.sock = self.connect(port)
            http.request(method, path)
            response = http.getresponse()
            return response.status, response.read().decode()

    def get(self, path: str = "/") -> str:
        """The body of the answer to a GET."""
        return self.ask(path)[1]

    def interrupt(self) -> None:
        """Does what Ctrl-C does in a terminal."""
        os.killpg(self.process.pid, signal.SIGINT)

    def close(self) -> None:
        self._reader.join(LIMIT_S)
        for stream in (self.process.stdin, self.process.stderr):
            assert stream is not None
            stream.close()

    def end(self, number: int | None = None) -> int:
        """The exit code, after a signal to the process alone if one is given."""
        if number is not None:
            self.process.send_signal(number)
        code = self.process.wait(LIMIT_S)
        self._reader.join(LIMIT_S)
        return code


def end_all(processes: list[Process]) -> None:
    """Ends the processes that still run."""
    for each in processes:
        if each.process.poll() is None:
            each.process.terminate()
    for each in processes:
        try:
            each.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            # The group is that of the process alone, see above.
            os.killpg(each.process.pid, signal.SIGKILL)
            each.process.wait()
        each.close()


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Starts `kit` with arguments in the test's folder; what still runs is ended with the test."""
    started: list[Process] = []

    def start(*arguments: str) -> Process:
        started.append(Process(tmp_path, arguments))
        return started[-1]

    yield start
    end_all(started)


@pytest.fixture(scope="module")
def kit_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Process]]:
    """Starts `kit` for all tests of a module: `kit_in({"app.py": text}, "dev", "--port", "0")`."""
    started: list[Process] = []

    def start(files: Mapping[str, str], *arguments: str) -> Process:
        folder = tmp_path_factory.mktemp("kit")
        for name, text in files.items():
            (folder / name).write_text(text)
        started.append(Process(folder, arguments))
        return started[-1]

    yield start
    end_all(started)


@pytest.fixture
def distribution(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Makes a folder that looks as if a distribution was installed there."""

    def make(name: str, entry_points: Mapping[str, Mapping[str, str]], **modules: str) -> Path:
        site = tmp_path_factory.mktemp("site")
        info = site / f"{name.replace('-', '_')}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        lines = []
        for group, entries in entry_points.items():
            lines += [f"[{group}]", *(f"{key} = {target}" for key, target in entries.items())]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        for module, text in modules.items():
            (site / f"{module}.py").write_text(text)
        return site

    return make
