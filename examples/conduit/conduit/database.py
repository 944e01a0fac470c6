# SPDX-License-Identifier: MIT
"""The database engine, and one transaction per request."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from sqlalchemy import Connection, Executable, event, text
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.pool import PoolResetState

from conduit.settings import Settings
from kit.interface import Context, Next
from kit.interface.metadata import attach
from kit.typed import Depends, Var

POOL_TIMEOUT_S = 10
BUSY_TIMEOUT_MS = 10_000
WAL_RETRY_MS = 50


class Database:
    """The engine, and transactions that use it."""

    def __init__(self, settings: Settings) -> None:
        self.engine = create_async_engine(
            settings.database_url,
            pool_size=settings.pool_size,
            max_overflow=0,
            pool_timeout=POOL_TIMEOUT_S,
            # Errors are logged, and would have addresses and hashes of passwords in them.
            hide_parameters=True,
        )
        if self.engine.dialect.name == "sqlite":
            event.listen(self.engine.sync_engine, "connect", _set_up_sqlite)
            event.listen(self.engine.sync_engine, "begin", _begin_sqlite)
            event.listen(self.engine.sync_engine, "reset", _reset_sqlite)
        writing = self.engine.execution_options(sqlite_begin="IMMEDIATE")
        self._reading = async_sessionmaker(self.engine, expire_on_commit=False)
        self._writing = async_sessionmaker(writing, expire_on_commit=False)

    @asynccontextmanager
    async def transaction(self, *, writes: bool = True) -> AsyncIterator[AsyncSession]:
        """Commits at the end of the block, and rolls back on exceptions and cancellation.

        The transaction begins with the first statement.

        Args:
            writes: Whether the transaction may write. SQLite then waits for its turn to write
                before the first read; otherwise the data read could be out of date by then.
        """
        async with (self._writing if writes else self._reading)() as session:
            yield session
            if session.in_transaction():
                await session.commit()

    async def check(self) -> None:
        """Raises an exception if the database can't be reached."""
        async with self.transaction(writes=False) as session:
            await session.execute(text("SELECT 1"))

    async def close(self) -> None:
        await self.engine.dispose()


def _set_up_sqlite(connection: Any, record: object) -> None:
    # Leaves transactions to `_begin_sqlite`: the driver begins them too late.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    connection.run_async(_use_wal)
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


async def _use_wal(connection: Any) -> None:
    # Unlike other statements, this one doesn't wait for a connection that writes, e.g. that of a
    # worker that creates the file at the same moment.
    for is_last in [*[False] * (BUSY_TIMEOUT_MS // WAL_RETRY_MS), True]:
        try:
            await connection.execute_fetchall("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if is_last:
                raise
            await asyncio.sleep(WAL_RETRY_MS / 1000)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    mode = connection.get_execution_options().get("sqlite_begin", "DEFERRED")
    connection.exec_driver_sql(f"BEGIN {mode}")


def _reset_sqlite(connection: Any, record: object, state: PoolResetState) -> None:
    # After a failed commit, SQLite is still in the transaction, which would block all other
    # writers.
    if state.asyncio_safe and connection.driver_connection.in_transaction:
        connection.rollback()


def _writes(c: Context) -> bool:
    return c.req.method not in ("GET", "HEAD")


def _for_request(c: Context) -> Any:
    database: Database = c.env["database"]
    return database.transaction(writes=_writes(c))


async def transaction(c: Context) -> AsyncIterator[AsyncSession]:
    """One transaction per request, as a dependency of typed endpoints."""
    async with _for_request(c) as session:
        yield session


async def in_transaction(c: Context, next: Next) -> None:
    """One transaction per request, as middleware that guards and endpoints share."""
    if _writes(c):
        # Read the body before the transaction begins: with a guard's transaction open, a client
        # that sends slowly could block all other writers. The endpoint gets the same bytes.
        await c.req.bytes()
    async with _for_request(c) as session:
        c.set("db", session)
        await next()
        # `next()` doesn't raise the handler's exception. A handler may also return no response.
        has_failed = c.error is not None or not c.finalized or c.res.status >= 400
        if has_failed and session.in_transaction():
            await session.rollback()


attach(in_transaction, provides={"db": AsyncSession})

# The parameter type of endpoints. The transaction commits before the response is sent, so that the
# client's next request sees the change. If the commit fails, the client gets an error.
Transaction = Annotated[AsyncSession, Depends(transaction, scope="function")]
# The session of `in_transaction`.
Session = Annotated[AsyncSession, Var("db")]


async def insert_once(session: AsyncSession, insert: Executable) -> None:
    """Inserts a row unless it exists; only one of several concurrent requests inserts it."""
    try:
        async with session.begin_nested():
            await session.execute(insert)
    except IntegrityError:
        pass


def is_unavailable(error: BaseException) -> bool:
    """Returns whether the database is unreachable or too busy, so that a retry may succeed."""
    if isinstance(error, (OSError, PoolTimeoutError)):
        return True
    cause = error
    if isinstance(error, DBAPIError) and error.orig is not None:
        if error.connection_invalidated or "database is locked" in str(error.orig):
            return True
        cause = error.orig
    # PostgreSQL: no connection, too many connections, a server that starts up or shuts down.
    return str(getattr(cause, "sqlstate", "")).startswith(("08", "53", "57P"))


def violated_constraint(error: IntegrityError) -> str:
    """Returns the name of the violated constraint; empty if it is unknown."""
    text = str(error.orig)
    if columns := re.search(r"UNIQUE constraint failed: (\w+)\.(\w+)", text):  # SQLite
        return f"uq_{columns[1]}_{columns[2]}"
    if text.startswith("FOREIGN KEY constraint failed"):  # SQLite doesn't name it
        return "fk_"
    name = re.search(r'violates \w+(?: \w+)? constraint "(\w+)"', text)  # PostgreSQL
    return name[1] if name else ""
