# SPDX-License-Identifier: MIT
"""A server process with the app of one peer."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence

from . import rows, support
from .crew import PYTHON_M, ROOT
from .peers import APP_VARIABLE

_START_LIMIT_S = 30
_END_LIMIT_S = 10

SERVERS = {
    "uvicorn": (
        "uvicorn {app} --factory --host 127.0.0.1 --port {port} --workers 1 --http httptools"
        " --loop uvloop --interface asgi3 --no-access-log --log-level warning"
    ),
    "granian": (
        "granian {app} --factory --host 127.0.0.1 --port {port} --workers 1 --interface asgi"
        " --loop uvloop --no-access-log --log-level warning"
    ),
}
"""Arguments of `python -m`; those of uvicorn are what it takes by itself where it can."""


class ServedError(Exception):
    """A server does not start, or answers something else than it should."""


class Served:
    """A server process with the app of one peer.

    Args:
        server: A name of `SERVERS`.
        peer: The peer.
        processors: Where it may run; None for anywhere.
        python_m: The start of a command that runs a module.
        app: Which app of the peer.
        factory: What makes the app, by default the one that the arguments name.
        environment: Variables to set.
    """

    def __init__(
        self,
        server: str,
        peer: str,
        processors: set[int] | None = None,
        *,
        python_m: Sequence[str] = PYTHON_M,
        app: rows.AppKey = ("rows_app", 0),
        factory: str = "benchmarks.peers:app_of_environment",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.peer = peer
        self.app = app
        self.port: int = support.load("ports").free_port()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by end()
        arguments = SERVERS[server].format(app=factory, port=self.port).split()
        function, count = app
        named = {APP_VARIABLE: f"{peer} {function} {count}"}
        self._process = subprocess.Popen(
            [*python_m, *arguments],
            cwd=ROOT,
            env={**os.environ, **named, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )
        if processors is not None:  # before it has threads or children, which do as it does
            os.sched_setaffinity(self._process.pid, processors)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def wait_until_up(self) -> None:
        """Waits for the port to open.

        Raises:
            ServedError: If it does not in time.
        """
        until = time.monotonic() + _START_LIMIT_S
        while time.monotonic() < until and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise ServedError(f"it does not start: {self._last_words()}")

    def verify(self, row: str) -> None:
        """Checks the answer to a row.

        Raises:
            ServedError: If it is wrong.
        """
        request = rows.ROWS[row].make(42)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            target = request.path + b"?" * bool(request.query) + request.query
            own = {name.decode(): value.decode() for name, value in request.lines}
            connection.request(request.method, target.decode(), request.body or None, own)
            response = connection.getresponse()
            lines = [(k.lower().encode(), v.encode()) for k, v in response.getheaders()]
            start = {"type": "http.response.start", "status": response.status, "headers": lines}
            rows.check(request, [start, {"type": "http.response.body", "body": response.read()}])
        except (OSError, http.client.HTTPException, rows.WrongAnswerError) as error:
            raise ServedError(f"{error}; {self._last_words()}") from error
        finally:
            connection.close()

    def end(self) -> None:
        """Ends the process; granian ends its worker then."""
        self._process.terminate()
        try:
            self._process.wait(_END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def _last_words(self) -> str:
        self._log.seek(0)
        said = self._log.read().decode(errors="replace").strip().splitlines()
        return said[-1] if said else "it said nothing"
