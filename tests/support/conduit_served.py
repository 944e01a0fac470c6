# SPDX-License-Identifier: MIT
"""Serves examples/conduit in its own processes, with its own database."""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self

import postgres_server
from ports import free_port
from serving import ServerProcess

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parents[1] / "examples" / "conduit"
KINDS = ("sqlite", "postgresql")
WORKERS = 4
# The setups of the fixture `conduit`: database and number of processes.
SETUPS = tuple(f"{kind}-{workers}" for kind in KINDS for workers in (1, WORKERS))
WITH_WORKERS = tuple(setup for setup in SETUPS if setup.endswith(f"-{WORKERS}"))
PASSWORD = "correct horse"
READY_S = 30.0
LOOK_S = 0.02
_numbers = itertools.count()


class SQLite:
    """A database in a file."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "conduit.db"
        self.url = f"sqlite+aiosqlite:///{self._file}"

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """A connection that commits nothing by itself."""
        with closing(sqlite3.connect(self._file, timeout=READY_S)) as connection:
            yield connection


class PostgreSQL:
    """A database on a server.

    Attributes:
        server: The server.
    """

    def __init__(self, server: postgres_server.PostgresServer) -> None:
        self.server = server
        import psycopg

        self._connect = psycopg.connect
        self._name = f"conduit{next(_numbers)}"
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{self._name}"'.encode())
        self._url = server.url.replace("/postgres?", f"/{self._name}?")
        self.url = f"postgresql+asyncpg://kit@/{self._name}?host={server.socket}"

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """A connection that commits nothing by itself."""
        with closing(self._connect(self._url)) as connection:
            yield connection


Database = SQLite | PostgreSQL


@contextmanager
def database(kind: str) -> Iterator[Database]:
    """An empty database.

    Args:
        kind: One of `KINDS`.
    """
    with tempfile.TemporaryDirectory() as own:
        folder = Path(own)
        folder.chmod(0o755)
        if kind == "sqlite":
            yield SQLite(folder)
        else:
            with postgres_server.PostgresServer(folder) as server:
                yield PostgreSQL(server)


def missing(kind: str) -> str | None:
    """Says why there is no such database; None if there is one."""
    return postgres_server.missing() if kind == "postgresql" else None


@contextmanager
def served(setup: str) -> Iterator[Conduit]:
    """Serves one of `SETUPS`."""
    kind, _, workers = setup.partition("-")
    with database(kind) as base, Conduit(base, int(workers), has_cheap_passwords=True) as conduit:
        yield conduit


class Conduit(ServerProcess):
    """Runs the app with `kit serve`, as a context manager.

    Args:
        base: The database.
        workers: The number of processes.
        has_cheap_passwords: Whether to hash passwords with cheap parameters.
        environment: Further variables.

    Attributes:
        database: The database.
        url: The URL of the API.
    """

    def __init__(
        self,
        base: Database,
        workers: int = 1,
        *,
        has_cheap_passwords: bool = False,
        **environment: str,
    ) -> None:
        port = free_port()
        app = "conduit_cheap_passwords.py" if has_cheap_passwords else "app.py"
        target = (HERE if has_cheap_passwords else EXAMPLE) / app
        command = [sys.executable, "-m", "kit", "serve", str(target)]
        command += ["--port", str(port), "--workers", str(workers)]
        self.own = Path(tempfile.mkdtemp())
        self._variables = {
            "CONDUIT_ENV": "production",
            "CONDUIT_DATABASE_URL": base.url,
            "CONDUIT_SECRET": secrets.token_urlsafe(32),
            "CONDUIT_LOGIN_LIMIT": "100000/minute",
            **environment,
        }
        log = self.own / "log"
        super().__init__(command, port, log, folder=EXAMPLE, environment=self._variables)
        self.database = base
        self.workers = workers
        self.url = f"http://127.0.0.1:{port}/api"

    def __enter__(self) -> Self:
        if self._variables["CONDUIT_ENV"] == "production":
            self._migrate()
        super().__enter__()
        try:
            # `kit serve` prints this once all processes accept requests.
            wait_for(lambda: "(Ctrl-C ends it)" in self.printed(), self.printed)
        except BaseException:
            self.kill()
            raise
        return self

    def _migrate(self) -> None:
        """Creates the tables with the README's command; in development, the app does this."""
        subprocess.run(
            [sys.executable, "-m", "alembic", "upgrade", "head"],
            cwd=EXAMPLE,
            env={**os.environ, **self._variables},
            check=True,
            capture_output=True,
        )

    def worker_pids(self) -> list[int]:
        """Returns the ids of the worker processes, if there are several."""
        return [pid for pid in self.pids() if b"spawn_main" in _command_line(pid)]

    def kill(self) -> None:
        """Ends all processes."""
        super().kill()
        shutil.rmtree(self.own, ignore_errors=True)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Returns the rows that a statement selects."""
        with self.database.connection() as connection:
            cursor = connection.cursor()
            cursor.execute(statement)
            return [tuple(row) for row in cursor.fetchall()]

    def count(self, source: str) -> int:
        """Returns the number of rows: `count("users WHERE username = 'ada'")`."""
        return int(self.rows(f"SELECT count(*) FROM {source}")[0][0])


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has ended
        return b""


def wait_for(condition: Callable[[], bool], describe: Callable[[], str]) -> None:
    """Waits until a condition is true.

    Raises:
        RuntimeError: After `READY_S` seconds, with a description.
    """
    end = time.monotonic() + READY_S
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(describe())
        time.sleep(LOOK_S)
