# SPDX-License-Identifier: MIT
"""Tests of kit.authoring.event_loops."""

from __future__ import annotations

import anyio
import pytest
import trio

from kit.authoring.event_loops import running_trio


@pytest.mark.parametrize(("backend", "expected"), [("asyncio", None), ("trio", trio)])
def test_running_trio(backend: str, expected: object) -> None:
    async def seen() -> object:
        return running_trio()

    assert anyio.run(seen, backend=backend) is expected


def test_no_event_loop() -> None:
    assert running_trio() is None
