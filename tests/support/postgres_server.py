# SPDX-License-Identifier: MIT
"""A PostgreSQL server for tests: a process of its own, at a socket in a folder of its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

STARTUP_S = 30.0
NOBODY = 65534


def _program(name: str) -> str | None:
    """Returns the path of a PostgreSQL program, which Debian doesn't put in the PATH."""
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(installed[-1]) if installed else shutil.which(name)


def missing() -> str | None:
    """Returns why PostgreSQL can't be started; None if it can."""
    if _program("initdb") is None or _program("postgres") is None:
        return "there is no PostgreSQL: install the package postgresql"
    return None


class PostgresServer:
    """Runs an empty server as a context manager; every local user may do everything.

    Args:
        folder: An empty folder that everyone can enter.

    Attributes:
        socket: The folder of its socket.
        url: The URL of the server, for libpq.
    """

    def __init__(self, folder: Path) -> None:
        self._data = folder / "data"
        self.socket = folder / "socket"
        self.socket.mkdir()
        self._log = folder / "log"
        # PostgreSQL refuses to run as root.
        self._user: dict[str, Any] = {"user": NOBODY, "group": NOBODY} if os.geteuid() == 0 else {}
        if self._user:
            for each in (folder, self.socket):
                os.chown(each, NOBODY, NOBODY)
        self.url = f"postgresql:///postgres?host={self.socket}&user=kit"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        options = ["-D", str(self._data), "-U", "kit", "--auth=trust", "--no-sync"]
        self._run(f"{_program('initdb')}", *options)
        self.start()
        return self

    def start(self) -> None:
        """Starts the server, also again after `stop`."""
        command = [f"{_program('postgres')}", "-D", str(self._data), "-k", str(self.socket)]
        command += ["-c", "listen_addresses=", "-c", "fsync=off"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self._user
            )
        end = time.monotonic() + STARTUP_S
        while "ready to accept connections" not in self._log.read_text():
            if self._process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise RuntimeError(f"PostgreSQL did not start:\n{self._log.read_text()}")
            time.sleep(0.05)

    def _run(self, *command: str) -> None:
        subprocess.run(command, cwd="/", check=True, capture_output=True, **self._user)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends the server and all its connections; committed data stays."""
        assert self._process is not None
        self._process.send_signal(signal.SIGQUIT)  # ends it and its children immediately
        self._process.wait(STARTUP_S)
