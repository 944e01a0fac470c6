# SPDX-License-Identifier: MIT
"""A temporary PostgreSQL server for a section, started by the code of the tests."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from .crew import ROOT


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
    support = _support()
    if reason := support.missing():
        raise NoPostgresError(reason)
    with tempfile.TemporaryDirectory(prefix="kit-bench-") as folder:
        Path(folder).chmod(0o755)
        with support.PostgresServer(Path(folder)) as server:
            yield server.url


def _support() -> ModuleType:
    """Imports the tests' module by its path, since the tests aren't a package."""
    path = ROOT / "tests" / "support" / "postgres_server.py"
    spec = importlib.util.spec_from_file_location("benchmarks_postgres_server", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
