# SPDX-License-Identifier: MIT
"""A PostgreSQL server for as long as a section takes, the one that the tests start."""

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
    """Starts a server without any tables, at a socket of its own.

    It doesn't wait for the disk, as `fsync` is off.

    Yields:
        Its URL, for libpq and asyncpg.

    Raises:
        NoPostgresError: If there is none; the message says what to install.
    """
    support = _support()
    if reason := support.missing():
        raise NoPostgresError(reason)
    with tempfile.TemporaryDirectory(prefix="kit-bench-") as folder:
        Path(folder).chmod(0o755)
        with support.PostgresServer(Path(folder)) as server:
            yield server.url


def _support() -> ModuleType:
    """The module of the tests; they are no package."""
    path = ROOT / "tests" / "support" / "postgres_server.py"
    spec = importlib.util.spec_from_file_location("benchmarks_postgres_server", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
