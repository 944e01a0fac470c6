# SPDX-License-Identifier: MIT
"""A small part of `scripts/rolling_restart.py`."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
import rolling_restart
import scaled


@pytest.mark.slow
@pytest.mark.once
def test_no_request_fails_in_a_rolling_restart() -> None:
    if reason := scaled.missing():
        pytest.skip(reason)
    trial = rolling_restart.Trial("rolling", seconds=10, pause_s=1, listens=False)
    with tempfile.TemporaryDirectory() as folder:
        trial.run(Path(folder))
    assert trial.problems() == [], trial.report()
    assert set(trial.restarts) == {"machine 1", "machine 2"}
    assert trial.result.counts["POST"] > 100
    assert trial.is_limit_shared
