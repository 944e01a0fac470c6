# SPDX-License-Identifier: MIT
"""Starts the servers of a document as its commands say, at free ports of this machine."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import httpx
from commands import clean_environment
from ports import free_port

SERVERS = ("uvicorn", "granian", "hypercorn", "anycorn", "gunicorn", "kit serve", "kit dev")
STARTUP_S = 60.0
SHUTDOWN_S = 30.0
# More processes than this show nothing more.
_WORKERS = "2"


def is_server(command: str) -> bool:
    """Whether a command, without variables before it, starts a server."""
    return command.startswith(SERVERS)


class _Server:
    """A server that runs as a command says, but for the address and the number of workers."""

    def __init__(self, command: str, folder: Path, log: IO[bytes]) -> None:
        self.command = command
        self._log = log
        self.output = ""
        self._port = free_port()
        variables, arguments = moved(shlex.split(command, comments=True), self._port)
        environment = {**clean_environment(), **variables}
        self._process = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def answers(self) -> None:
        """Waits for an answer of the app."""
        end = time.monotonic() + STARTUP_S
        while time.monotonic() < end and self._process.poll() is None:
            try:
                status = httpx.get(
                    f"http://127.0.0.1:{self._port}/", timeout=10, verify=False
                ).status_code
            except httpx.TransportError:
                time.sleep(0.05)
            else:
                assert status < 500, f"{self.command} answers {status}: {self._read()}"
                return
        raise AssertionError(f"{self.command} does not answer: {self._read()}")

    def terminate(self) -> None:
        """Tells it to end, as a container is stopped."""
        self._process.terminate()

    def end(self) -> None:
        """Waits until it has ended, and keeps what it printed, as at port 8000."""
        self.terminate()
        try:
            self._process.wait(SHUTDOWN_S)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            raise AssertionError(f"{self.command} does not end: {self._read()}") from None
        self.output = self._read().replace(f":{self._port}", ":8000")

    def _read(self) -> str:
        self._log.seek(0)
        return self._log.read().decode(errors="replace")


def serve(commands: Sequence[str], folder: Path) -> list[str]:
    """Starts servers side by side; each has to answer, and to end when it is told to.

    Args:
        commands: What to type, with variables before it if there are some.
        folder: Where it is typed.

    Returns:
        What each printed.

    Raises:
        AssertionError: If one does not start, answer or end.
    """
    servers: list[_Server] = []
    with ExitStack() as stack:
        for command in commands:
            log = stack.enter_context(tempfile.TemporaryFile())
            server = _Server(command, folder, log)
            servers.append(server)
            stack.callback(server.end)
        for server in servers:
            server.answers()
        for server in servers:
            server.terminate()
    return [server.output for server in servers]


def moved(words: Sequence[str], port: int) -> tuple[dict[str, str], list[str]]:
    """Returns the variables and arguments of a server's command, at another address."""
    first = next(index for index, word in enumerate(words) if "=" not in word)
    variables = dict(word.split("=", 1) for word in words[:first])
    arguments = [*words[first:]]
    address = f"127.0.0.1:{port}"
    values = {"--host": "127.0.0.1", "--port": str(port), "--bind": address, "--workers": _WORKERS}
    for index, word in enumerate(arguments[:-1]):
        if word in values:
            arguments[index + 1] = values[word]
    option = "--bind" if arguments[0] in ("hypercorn", "anycorn", "gunicorn") else "--port"
    if option not in arguments:
        arguments += [option, values[option]]
    return variables, arguments
