# SPDX-License-Identifier: MIT
"""A server in a process of its own, and what the system knows about it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import servers
from ports import free_port

HERE = Path(__file__).resolve().parent
STARTUP_S = 30.0
SHUTDOWN_S = 20.0


def exit_on_sigterm() -> None:
    """Has SIGTERM end this process as `sys.exit` does, so that its servers end with it."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


class ServerProcess:
    """Runs a server while it is entered; the process and its workers end with it.

    Args:
        command: The command, which listens on `port` of the loopback interface.
        port: The port.
        log: Where the server's output goes.
        folder: Where it runs.
        environment: Variables beside those of this process.
    """

    def __init__(
        self,
        command: Sequence[str],
        port: int,
        log: Path,
        *,
        folder: Path = HERE,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.log = log
        self.port = port
        self._command = command
        self._folder = folder
        self._environment = environment or {}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        defaults = {"PYTHONUNBUFFERED": "1"}
        # Behind what it wrote before, if it is started again.
        with self.log.open("wb" if self._process is None else "ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._folder,
                env={**os.environ, **defaults, **self._environment},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            self._wait_until_it_listens()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.kill()

    def _wait_until_it_listens(self) -> None:
        end = time.monotonic() + STARTUP_S
        while time.monotonic() < end and self.is_running:
            try:
                self.connect(1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise RuntimeError(f"{self._command} did not start:\n{self.printed()}")

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The process."""
        if self._process is None:
            raise RuntimeError("the server was not started")
        return self._process

    @property
    def is_running(self) -> bool:
        """Whether the process is there."""
        return self.process.poll() is None

    def connect(self, timeout_s: float) -> socket.socket:
        """Opens a connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout_s)

    def printed(self) -> str:
        """What the server wrote to its output."""
        return self.log.read_text(errors="replace")

    def pids(self) -> list[int]:
        """The process and those below it that serve: all of its session."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError, ValueError):
                # The name, in parentheses, may hold anything; the session is the fourth behind it.
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == self.process.pid:
                    found.append(int(entry.name))
        return found

    def memory_bytes(self) -> int:
        """Resident memory of all processes."""
        pages = [Path(f"/proc/{pid}/statm").read_text().split()[1] for pid in self.pids()]
        return sum(map(int, pages)) * os.sysconf("SC_PAGE_SIZE")

    def open_files(self) -> int:
        """How many file descriptors all processes have."""
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in self.pids())

    def stop(self, number: int = signal.SIGINT) -> int:
        """Asks the server to end, by a signal; gives its exit code."""
        self.process.send_signal(number)
        return self.process.wait(SHUTDOWN_S)

    def kill(self) -> None:
        """Ends all processes, if there are any."""
        if self._process is None:
            return
        # The session holds what was started here, and its workers, alone.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(SHUTDOWN_S)


class ServedApp(ServerProcess):
    """Serves an app of this folder.

    Args:
        server: One of `servers.SERVERS` or `servers.WSGI_SERVERS`.
        target: The app, as `module:name`.
        log: Where the server's output goes.
        options: Further options of the server.
        environment: Variables beside those of this process.

    Attributes:
        port: The port on the loopback interface.
    """

    def __init__(
        self,
        server: str,
        target: str,
        log: Path,
        *options: str,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        port = free_port()
        command = [*servers.command(server, target, port), *options]
        super().__init__(command, port, log, environment=environment)
        self.server = server
