# SPDX-License-Identifier: MIT
"""A temporary PostgreSQL server for a section, started by the code of the tests."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import support


class NoPostgresError(Exception):
    """There is no PostgreSQL on this machine."""


@contextmanager
def started() -> Iterator[str]:
    """Starts an empty server on its own socket, with `fsync` off.

    Yields:
        The URL of the server, for libpq and asyncpg.

    Raises:
        NoPostgresError: If PostgreSQL isn't installed; the message says what to install.
    """
    server_of_tests = support.load("postgres_server")
    if reason := server_of_tests.missing():
        raise NoPostgresError(reason)
    with tempfile.TemporaryDirectory(prefix="kit-bench-") as folder:
        Path(folder).chmod(0o755)
        with server_of_tests.PostgresServer(Path(folder)) as server:
            yield server.url
