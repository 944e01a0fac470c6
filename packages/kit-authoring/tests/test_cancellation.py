# SPDX-License-Identifier: MIT
"""Work on asyncio that is cancelled once."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Awaitable, Generator
from contextlib import suppress
from typing import Any

import anyio
import pytest

from kit.authoring.cancellation import Cancellation, is_shielded
from kit.authoring.maybe_await import resume


async def test_clean_up_may_await_and_the_task_goes_on() -> None:
    steps: list[str] = []
    loop = asyncio.get_running_loop()
    with Cancellation() as cancellation:
        loop.call_soon(cancellation.request)
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.001)
            steps.append("rolled back")
    assert cancellation.is_caught
    assert steps == ["rolled back"]
    assert asyncio.current_task().cancelling() == 0  # type: ignore[union-attr]
    await asyncio.sleep(0)


async def test_a_block_that_swallows_it_or_ends_before() -> None:
    loop = asyncio.get_running_loop()
    with Cancellation() as cancellation:
        loop.call_soon(cancellation.request)
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
    assert not cancellation.is_caught
    with Cancellation() as cancellation:
        pass
    cancellation.request()
    await asyncio.sleep(0)
    assert not cancellation.is_caught
    assert asyncio.current_task().cancelling() == 0  # type: ignore[union-attr]


async def test_an_error_on_the_way_out_is_raised() -> None:
    async def work() -> None:
        with Cancellation() as cancellation:
            asyncio.get_running_loop().call_soon(cancellation.request)
            try:
                await asyncio.sleep(60)
            finally:
                raise ValueError("lost")

    with pytest.raises(ValueError, match="lost"):
        await work()
    assert asyncio.current_task().cancelling() == 0  # type: ignore[union-attr]


async def test_a_cancellation_by_others_stays_one() -> None:
    running = asyncio.Event()
    found: list[Cancellation] = []

    async def work() -> None:
        with Cancellation() as cancellation:
            found.append(cancellation)
            running.set()
            await asyncio.sleep(60)

    for both in (False, True):
        running.clear()
        task = asyncio.create_task(work())
        await running.wait()
        if both:
            found[-1].request()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not found[-1].is_caught


async def test_it_waits_for_a_shield() -> None:
    steps: list[str] = []
    with Cancellation() as cancellation:
        asyncio.get_running_loop().call_soon(cancellation.request)
        with anyio.CancelScope(shield=True):
            assert is_shielded(asyncio.current_task())
            await anyio.sleep(0.02)
            steps.append("saved")
        assert not is_shielded(asyncio.current_task())
        await asyncio.sleep(60)
    assert cancellation.is_caught
    assert steps == ["saved"]


async def test_checked_steps_are_cancelled_right_after_a_shield() -> None:
    steps: list[str] = []

    async def work() -> None:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.001)
            steps.append("saved")
        await asyncio.sleep(0)
        steps.append("went on")

    @types.coroutine
    def bounded(work: Awaitable[None]) -> Generator[Any, Any, bool]:
        ran = work.__await__()
        for waits_for in ran:
            with Cancellation() as cancellation:
                asyncio.get_running_loop().call_soon(cancellation.request)
                yield from resume(cancellation.checked(ran), waits_for)
            return cancellation.is_caught
        return False

    assert await bounded(work())
    assert steps == ["saved"]
    assert asyncio.current_task().cancelling() == 0  # type: ignore[union-attr]
