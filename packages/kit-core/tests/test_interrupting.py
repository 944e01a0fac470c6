# SPDX-License-Identifier: MIT
"""Work that is cancelled when nobody is left to do it for, as a streamed response is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kit._interrupting import run_until


def on(backend: str) -> Callable[[Callable[[], Awaitable[None]]], None]:
    def run(main: Callable[[], Awaitable[None]]) -> None:
        async def bounded() -> None:
            with anyio.fail_after(5):
                await main()

        anyio.run(bounded, backend=backend)

    return run


@pytest.fixture(params=["asyncio", "trio"])
def run(request: pytest.FixtureRequest) -> Any:
    return on(request.param)


async def soon() -> bool:
    await checkpoint()
    return True


async def never() -> bool:
    await anyio.sleep_forever()
    return False


def test_work_ends_where_it_waits(run: Any) -> None:
    trace = []

    async def work() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            trace.append("cleaned up")

    async def main() -> None:
        await run_until(soon, work())
        trace.append("went on")
        await checkpoint()

    run(main)
    assert trace == ["cleaned up", "went on"]


def test_work_that_never_waits_or_waits_and_ends(run: Any) -> None:
    trace = []

    async def work(turns: int) -> None:
        for _ in range(turns):
            await checkpoint()
        trace.append(turns)

    async def main() -> None:
        for turns in range(5):
            await run_until(never, work(turns))

    run(main)
    assert trace == [0, 1, 2, 3, 4]


def test_what_work_raises_comes_out_alone(run: Any) -> None:
    async def work(turns: int) -> None:
        for _ in range(turns):
            await checkpoint()
        raise LookupError("mine")

    async def main() -> None:
        for turns in range(3):
            with pytest.raises(LookupError, match="mine") as caught:
                await run_until(never, work(turns))
            assert caught.value.__context__ is None

    run(main)


def test_what_a_clean_up_raises_names_no_more_than_its_cancellation() -> None:
    async def work() -> None:
        try:
            await anyio.sleep_forever()
        except asyncio.CancelledError:
            raise LookupError("mine") from None

    async def main() -> None:
        with pytest.raises(LookupError, match="mine") as caught:
            await run_until(soon, work())
        context = caught.value.__context__
        assert isinstance(context, asyncio.CancelledError)
        assert context.__context__ is None

    on("asyncio")(main)


def test_a_cancellation_from_outside_goes_on(run: Any) -> None:
    async def main() -> None:
        with anyio.move_on_after(0.01) as scope:
            await run_until(never, anyio.sleep_forever())
        assert scope.cancelled_caught
        await checkpoint()

    run(main)


def test_both_cancel_at_once() -> None:
    """The cancellation from outside stays counted, or the scope that it is of would not end."""

    async def main() -> None:
        async def over() -> bool:
            await asyncio.sleep(0)
            scope.cancel()
            return True

        with anyio.CancelScope() as scope:
            await run_until(over, anyio.sleep_forever())
        assert scope.cancelled_caught

    on("asyncio")(main)


def test_both_cancel_at_once_without_anyio() -> None:
    counts = []

    async def victim() -> None:
        task: Any = asyncio.current_task()

        async def over() -> bool:
            await asyncio.sleep(0)
            task.cancel()
            return True

        try:
            await run_until(over, asyncio.sleep(60))
        finally:
            counts.append(task.cancelling())

    async def main() -> None:
        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(victim())

    on("asyncio")(main)
    assert counts == [1]


def test_what_the_watch_raises_comes_out() -> None:
    async def over() -> bool:
        raise LookupError("watching")

    async def main() -> None:
        with pytest.raises(LookupError, match="watching"):
            await run_until(over, anyio.sleep_forever())
        await checkpoint()

    on("asyncio")(main)
