# SPDX-License-Identifier: MIT
"""An app with its own database for each test, and users who send requests to it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from conduit import passwords
from conduit.application import create_app
from conduit.database import Database
from conduit.migrate import upgrade
from conduit.settings import Settings
from conduit.testing import Client
from sqlalchemy import make_url

from kit import Kit


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> Iterator[None]:
    """Replaces argon2's parameters: with the real ones, the tests would take minutes."""
    real, passwords.hasher = passwords.hasher, PasswordHasher(1, 8, 1)
    yield
    passwords.hasher = real


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated database, which each test copies."""
    file = tmp_path_factory.mktemp("conduit") / "migrated.db"

    async def migrate() -> None:
        database = Database(settings_for(file))
        async with database.transaction() as session:
            await upgrade(session)
        await database.close()

    asyncio.run(migrate())
    return file


def settings_for(file: Path) -> Settings:
    return Settings(
        database_url=make_url(f"sqlite+aiosqlite:///{file}"),
        secret="0123456789abcdef0123456789abcdef",
        is_production=True,
        login_limit="1000/minute",
    )


@pytest.fixture(scope="session")
def app(migrated_file: Path) -> Kit:
    """The app, which tests share; its lifespan runs anew for each test."""
    return create_app(settings_for(migrated_file.with_name("conduit.db")))


@pytest.fixture
def settings(migrated_file: Path) -> Settings:
    """The settings of the app, with a new database."""
    file = migrated_file.with_name("conduit.db")
    for old in file.parent.glob("conduit.db*"):
        old.unlink()
    return settings_for(Path(shutil.copy(migrated_file, file)))


@pytest.fixture
async def api(settings: Settings, app: Kit) -> AsyncIterator[Client]:
    async with app.running():
        yield Client(app)


@pytest.fixture
async def ann(api: Client) -> Client:
    return await api.join("ann")


@pytest.fixture
async def bob(api: Client) -> Client:
    return await api.join("bob")


@pytest.fixture
async def database(settings: Settings) -> AsyncIterator[Database]:
    database = Database(settings)
    yield database
    await database.close()
