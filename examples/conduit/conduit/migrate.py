# SPDX-License-Identifier: MIT
"""Migrates the database when the app starts in development."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from conduit.settings import FOLDER

LOCK = 0x636F6E64756974


async def lock(session: AsyncSession) -> None:
    """Takes a lock that other migrations wait for, until the end of the transaction."""
    await session.connection()  # begins the transaction; SQLite allows only one writer
    if session.get_bind().dialect.name == "postgresql":
        await session.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})


async def upgrade(session: AsyncSession) -> None:
    """Runs pending migrations. If several workers call it, one runs them and the others wait."""
    await lock(session)
    await session.run_sync(_upgrade)


def _upgrade(session: Session) -> None:
    # Imported lazily: apps in production don't need it.
    from alembic import command
    from alembic.config import Config

    config = Config(FOLDER / "alembic.ini")
    config.attributes["session"] = session
    command.upgrade(config, "head")
