# SPDX-License-Identifier: MIT
"""A Redis server for tests: a process of its own, on a free port of the loopback interface."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

STARTUP_S = 20.0
NOBODY = 65534
_STAND_IN = Path(__file__).with_name("redis_stand_in.py")


def missing() -> str | None:
    """Says why there is none; None if there is one."""
    if shutil.which("redis-server") is None:
        return "there is no redis-server: install the package redis-server"
    return None


@contextlib.contextmanager
def running(*, is_stand_in: bool = False) -> Iterator[RedisServer]:
    """Runs a server, for a fixture; skips the test if there is none.

    Args:
        is_stand_in: As for RedisServer.
    """
    reason = None if is_stand_in else missing()
    if reason is not None:
        pytest.skip(reason)
    with TemporaryDirectory() as folder:
        server = RedisServer(Path(folder), is_stand_in=is_stand_in)
        try:
            yield server
        finally:
            server.stop()


class RedisServer:
    """A server, started at once; `stop` and `start` may be called again and again.

    Args:
        folder: Where it runs.
        is_stand_in: Whether it is a program of this folder, which any machine can run.
        is_durable: Whether it has its data again when it is started again.
    """

    def __init__(
        self, folder: Path, *, is_stand_in: bool = False, is_durable: bool = False
    ) -> None:
        self._folder = folder
        self._is_stand_in = is_stand_in
        self._is_durable = is_durable
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.url = f"redis://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Starts it, and waits until it answers."""
        user: dict[str, Any] = {}
        if self._is_stand_in:
            command = [sys.executable, str(_STAND_IN), str(self.port)]
        else:
            command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1"]
            command += ["--save", "", "--dir", str(self._folder)]
            command += ["--appendonly", "yes"] if self._is_durable else []
            # It needs no rights of anybody.
            if os.geteuid() == 0:
                user = {"user": NOBODY, "group": NOBODY}
                os.chown(self._folder, NOBODY, NOBODY)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **user,
        )
        end = time.monotonic() + STARTUP_S
        while time.monotonic() < end and self._process.poll() is None:
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", self.port), 1) as connection,
            ):
                connection.sendall(b"*1\r\n$4\r\nPING\r\n")
                if connection.recv(16).startswith(b"+PONG"):
                    return
            time.sleep(0.02)
        self.stop()
        raise RuntimeError("redis-server did not start")

    def pause(self) -> None:
        """Has it hang: connections stay open, and nothing is answered."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Ends the pause."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """Kills it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(STARTUP_S)
            self._process = None
