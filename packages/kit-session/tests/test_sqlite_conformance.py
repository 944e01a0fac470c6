# SPDX-License-Identifier: MIT
"""The SQLite store in the suite for third parties."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.session.sqlite import SQLiteStore
from kit.session.testing import SessionStoreConformance


class TestSQLiteStore(SessionStoreConformance):
    event_loops = ("asyncio", "trio")

    @pytest.fixture(autouse=True)
    def path(self, tmp_path: Path) -> None:
        self.file = tmp_path / "sessions.db"

    def new_store(self) -> SQLiteStore:
        return SQLiteStore(self.file)
