# SPDX-License-Identifier: MIT
"""Brings the database up to date when the app starts, in development."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from conduit.settings import FOLDER

LOCK = 0x636F6E64756974


async def lock(session: AsyncSession) -> None:
    """Makes all others who migrate wait for the end of the transaction."""
    await session.connection()  # begins; in SQLite only one at a time can write
    if session.get_bind().dialect.name == "postgresql":
        await session.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})


async def upgrade(session: AsyncSession) -> None:
    """Runs the migrations that the database lacks. Of several workers, one does."""
    await lock(session)
    await session.run_sync(_upgrade)


def _upgrade(session: Session) -> None:
    # Imported here: an app in production needs none of it.
    from alembic import command
    from alembic.config import Config

    config = Config(FOLDER / "alembic.ini")
    config.attributes["session"] = session
    command.upgrade(config, "head")
