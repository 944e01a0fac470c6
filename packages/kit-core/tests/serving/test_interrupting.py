# SPDX-License-Identifier: MIT
"""Streams that are cancelled when the client leaves, and who else is told of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kit import Kit


def streaming(make: Callable[[], Any]) -> Kit:
    return Kit().get("/", lambda c: c.body(make()))


def test_a_stream_ends_where_it_waits_and_its_task_goes_on(run: Any, client: Any) -> None:
    trace = []

    async def chunks() -> AsyncIterator[str]:
        yield "a"
        try:
            await anyio.sleep_forever()
        finally:
            trace.append("cleaned up")

    async def main() -> None:
        await client(leaves_after=2).ask(streaming(chunks))
        await checkpoint()
        trace.append("went on")

    run(main)
    assert trace == ["cleaned up", "went on"]


def test_a_stream_that_never_waits_or_waits_and_ends(run: Any, client: Any) -> None:
    async def chunks(turns: int) -> AsyncIterator[str]:
        for _ in range(turns):
            await checkpoint()
        yield str(turns)

    async def main() -> None:
        for turns in range(5):
            for busy in (False, True):
                answer = await client(busy=busy).ask(streaming(partial(chunks, turns)))
                assert answer.check().body == b"%d" % turns

    run(main)


def test_what_a_stream_raises_comes_out_alone(run: Any, client: Any) -> None:
    async def chunks(turns: int) -> AsyncIterator[str]:
        for _ in range(turns):
            await checkpoint()
        raise LookupError("mine")
        yield "never"

    async def main() -> None:
        for turns in range(3):
            with pytest.raises(LookupError, match=r"^mine$") as caught:
                await client(busy=False).ask(streaming(partial(chunks, turns)))
            assert caught.value.__context__ is None

    run(main)


async def test_what_a_clean_up_raises_names_no_more_than_its_cancellation(client: Any) -> None:
    async def chunks() -> AsyncIterator[str]:
        yield "a"
        try:
            await anyio.sleep_forever()
        except asyncio.CancelledError:
            raise LookupError("mine") from None

    with pytest.raises(LookupError, match=r"^mine$") as caught:
        await client(leaves_after=2).ask(streaming(chunks))
    context = caught.value.__context__
    assert isinstance(context, asyncio.CancelledError)
    assert context.__context__ is None


def test_a_cancellation_from_outside_goes_on(run: Any, client: Any) -> None:
    async def chunks() -> AsyncIterator[str]:
        yield "a"
        scope.cancel()
        await anyio.sleep_forever()

    async def main() -> None:
        nonlocal scope
        with anyio.CancelScope() as scope:
            await client().ask(streaming(chunks))
        assert scope.cancelled_caught
        await checkpoint()

    scope: Any = None
    run(main)


async def waiting() -> AsyncIterator[str]:
    yield "a"
    await anyio.sleep_forever()


async def test_both_cancel_at_once(client: Any) -> None:
    """The cancellation from outside stays counted, or the scope that it is of would not end."""

    class Cancelling(client):
        async def receive(self) -> dict[str, Any]:
            message: dict[str, Any] = await super().receive()
            if message["type"] == "http.disconnect":
                scope.cancel()
            return message

    with anyio.CancelScope() as scope:
        await Cancelling(leaves_after=2).ask(streaming(waiting))
    assert scope.cancelled_caught


async def test_both_cancel_at_once_without_anyio(client: Any) -> None:
    counts = []

    class Cancelling(client):
        async def receive(self) -> dict[str, Any]:
            message: dict[str, Any] = await super().receive()
            if message["type"] == "http.disconnect":
                task.cancel()
            return message

    async def victim() -> None:
        try:
            await Cancelling(leaves_after=2).ask(streaming(waiting))
        finally:
            counts.append(task.cancelling())

    task = asyncio.create_task(victim())
    with pytest.raises(asyncio.CancelledError):
        await task
    assert counts == [1]


async def test_what_listening_to_the_client_raises_comes_out(client: Any) -> None:
    class Broken(client):
        async def receive(self) -> dict[str, Any]:
            raise LookupError("listening")

    with pytest.raises(LookupError, match=r"^listening$"):
        await Broken().ask(streaming(waiting))
    await checkpoint()
