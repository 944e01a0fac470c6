# SPDX-License-Identifier: MIT
"""A server that is handed its socket is restarted without refusing a connection."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from behaviours_wire import Request, read
from workspace import ROOT

pytestmark = pytest.mark.once

WAIT_S = 30
HERE = ROOT / "tests" / "support"
COMMANDS = {
    "uvicorn": ["uvicorn", "--fd={fd}", "behaviours_app:app"],
    "hypercorn": ["hypercorn", "--bind=fd://{fd}", "behaviours_app:app"],
    "gunicorn": ["gunicorn", "--bind=fd://{fd}", "behaviours_wsgi:application"],
}


@contextmanager
def _served(name: str, fd: int) -> Iterator[None]:
    command = [part.format(fd=fd) for part in COMMANDS[name]]
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=HERE,
        env={**os.environ, "KIT_TRACE": os.devnull},
        pass_fds=[fd],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
        process.terminate()
        process.wait(WAIT_S)
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("name", COMMANDS)
def test_connections_wait_while_the_server_is_restarted(name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        answers = []
        for _ in range(2):  # the second connection comes when the first server has ended
            with socket.create_connection(listener.getsockname(), timeout=WAIT_S) as connection:
                connection.sendall(Request("/text").message())
                with _served(name, listener.fileno()):
                    answers.append(read(connection.makefile("rb")).shown())
    assert answers == ["200 hello", "200 hello"]
