# SPDX-License-Identifier: MIT
from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from conduit.application import create_app, prepare
from conduit.database import Database
from conduit.migrate import upgrade
from conduit.seed import PASSWORD
from conduit.settings import Settings
from conduit.tables import Table, User
from conduit.testing import Client
from sqlalchemy import func, inspect, make_url, select
from sqlalchemy.orm import Session


@pytest.fixture
def empty(settings: Settings, tmp_path: Path) -> Settings:
    """Development settings, without a database."""
    url = make_url(f"sqlite+aiosqlite:///{tmp_path / 'empty.db'}")
    return replace(settings, database_url=url, is_production=False)


async def test_migrations_make_what_the_tables_say(database: Database) -> None:
    def differences(session: Session) -> list[Any]:
        options = {"compare_type": True, "compare_server_default": True}
        context = MigrationContext.configure(session.connection(), opts=options)
        return [*compare_metadata(context, Table.metadata)]

    async with database.transaction(writes=False) as session:
        assert await session.run_sync(differences) == []


async def test_they_can_be_run_again(database: Database) -> None:
    async with database.transaction() as session:
        await upgrade(session)


async def test_of_several_workers_one_migrates(empty: Settings) -> None:
    workers = [Database(empty) for _ in range(4)]
    await asyncio.gather(*(prepare(each, empty) for each in workers))
    async with workers[0].transaction(writes=False) as session:
        assert await session.scalar(select(func.count()).select_from(User)) == 4
    for each in workers:
        await each.close()


async def test_in_development_an_empty_database_has_examples(empty: Settings) -> None:
    for _ in range(2):  # the second start finds the examples
        app = create_app(empty)
        async with app.running():
            api = Client(app)
            assert (await api.get("/articles")).body["articlesCount"] == 12
            user = {"email": "demo@example.com", "password": PASSWORD}
            answer = await api.post("/users/login", {"user": user})
            demo = Client(app, answer.body["user"]["token"])
            assert (await demo.get("/articles/feed")).body["articlesCount"] == 8


async def test_examples_can_be_left_out(empty: Settings) -> None:
    app = create_app(replace(empty, has_examples=False))
    async with app.running():
        assert (await Client(app).get("/articles")).body["articlesCount"] == 0


async def test_in_production_nothing_is_migrated(empty: Settings) -> None:
    settings = replace(empty, is_production=True)
    async with create_app(settings).running():
        pass
    database = Database(settings)
    async with database.transaction(writes=False) as session:
        names = await session.run_sync(lambda each: inspect(each.connection()).get_table_names())
    await database.close()
    assert names == []
