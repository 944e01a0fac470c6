# SPDX-License-Identifier: MIT
"""Eight processes that change the same sessions at once: a part of `scripts/soak_sessions.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
import redis_server
import soak_sessions

REQUESTS = 6_000


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize("store", ["sqlite", "redis"])
def test_nothing_is_lost(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reason = redis_server.missing() if store == "redis" else None
    if reason is not None:
        pytest.skip(reason)
    # It is set for the processes; this undoes it.
    monkeypatch.setenv("SESSION_STORE", "")
    wrong = soak_sessions.soak(
        store, requests=REQUESTS, users=200, processes=8, at_once=4, folder=tmp_path
    )
    assert wrong == {}
