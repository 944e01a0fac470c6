# SPDX-License-Identifier: MIT
"""Runs migrations, on the connection of the starting app or on a new one."""

from __future__ import annotations

import asyncio
import os
from typing import Literal

from alembic import context
from conduit.database import Database
from conduit.migrate import lock
from conduit.settings import Settings
from conduit.tables import Moment, Table
from sqlalchemy import Connection
from sqlalchemy.orm import Session


def migrate(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=Table.metadata,
        render_as_batch=True,  # SQLite can't alter columns, so Alembic copies the table
        transactional_ddl=True,
        render_item=render_item,
    )
    with context.begin_transaction():
        context.run_migrations()


def render_item(kind: str, item: object, autogenerate: object) -> str | Literal[False]:
    """Renders types without the app's classes, which may change after the migration."""
    is_moment = kind == "type" and isinstance(item, Moment)
    return "sa.DateTime(timezone=True)" if is_moment else False


async def migrate_alone() -> None:
    database = Database(Settings.from_environ(os.environ))
    async with database.transaction() as session:
        await lock(session)
        await session.run_sync(lambda each: migrate(each.connection()))
    await database.close()


session: Session | None = context.config.attributes.get("session")
if session is None:
    asyncio.run(migrate_alone())
else:
    migrate(session.connection())
