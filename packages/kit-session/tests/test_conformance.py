# SPDX-License-Identifier: MIT
"""The memory store in the suite for third parties, and the suite against stores that are wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kit.session.stores import MemoryStore, SessionRecord, SessionStore
from kit.session.testing import SessionStoreConformance


class TestMemoryStore(SessionStoreConformance):
    event_loops = ("asyncio", "trio")
    shares_data = False
    time_step_s = 0.0

    def new_store(self) -> SessionStore:
        return MemoryStore()


class LastWins(MemoryStore):
    """Replaces whatever version is there."""

    async def replace(self, key: str, record: SessionRecord, /) -> bool:
        stored = self.read_now(key)
        if stored is None:
            return False
        await self.delete(key)
        return await self.insert(key, record)


class Resurrecting(MemoryStore):
    """Inserts what it can't replace."""

    async def replace(self, key: str, record: SessionRecord, /) -> bool:
        return await super().replace(key, record) or await self.insert(key, record)


class Immortal(MemoryStore):
    """Ignores the end of a session."""

    async def insert(self, key: str, record: SessionRecord, /) -> bool:
        return await super().insert(key, replace(record, expires_at=record.expires_at + 1e9))


class Shortening(MemoryStore):
    """Moves the end of a session to an earlier time."""

    async def touch(self, key: str, expires_at: float, /) -> bool:
        stored = self.read_now(key)
        if stored is None:
            return False
        await self.delete(key)
        return await self.insert(key, replace(stored, expires_at=expires_at))


class Folding(MemoryStore):
    """Takes keys for the same that differ in case."""

    def read_now(self, key: str, /) -> SessionRecord | None:
        return super().read_now(key.lower())


class Suite(SessionStoreConformance):
    shares_data = False

    def __init__(self, kind: type[SessionStore]) -> None:
        self.kind = kind

    def new_store(self) -> SessionStore:
        return self.kind()


def test_the_suite_finds_a_store_that_compares_no_versions() -> None:
    with pytest.raises(AssertionError):
        Suite(LastWins).test_replace_compares_versions()


def test_the_suite_finds_a_store_that_brings_back_revoked_sessions() -> None:
    with pytest.raises(AssertionError):
        Suite(Resurrecting).test_revoked_sessions_stay_away()


def test_the_suite_finds_a_store_that_keeps_expired_sessions() -> None:
    with pytest.raises(AssertionError):
        Suite(Immortal).test_expired_records_are_gone()


def test_the_suite_finds_a_store_that_shortens_sessions() -> None:
    with pytest.raises(AssertionError):
        Suite(Shortening).test_touch()


def test_the_suite_finds_a_store_that_mixes_up_keys() -> None:
    with pytest.raises(AssertionError):
        Suite(Folding).test_keys_are_apart()


def test_a_suite_without_a_store() -> None:
    with pytest.raises(NotImplementedError, match=r"needs a method new_store\(\)"):
        SessionStoreConformance().new_store()
