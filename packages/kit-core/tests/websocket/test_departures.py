# SPDX-License-Identifier: MIT
"""Handlers that don't receive: they end when their client leaves, and lose no message before."""

from __future__ import annotations

import asyncio
import gc
import selectors
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
import trio.testing

from kit import Context, Kit
from kit.websocket import WebSocket, WebSocketDisconnectedError, upgrade_websocket


class SkippingSelector(selectors.DefaultSelector):
    """Skips the time that an event loop would wait for what is due later."""

    skipped_s = 0.0

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(timeout if timeout is None else 0)
        if not found and timeout:
            self.skipped_s += timeout
        return found


class SkippingLoop(asyncio.SelectorEventLoop):
    """An event loop by whose clock nothing waits, as that of trio's MockClock."""

    def __init__(self) -> None:
        self._skipping = SkippingSelector()
        super().__init__(self._skipping)

    def time(self) -> float:
        return super().time() + self._skipping.skipped_s


@pytest.fixture
def backend_options(backend: str) -> dict[str, Any]:
    """An event loop on which the seconds that a handler has to notice a departure take no time."""
    if backend == "trio":
        return {"clock": trio.testing.MockClock(autojump_threshold=0)}
    return {"loop_factory": SkippingLoop}


def serving(handler: Callable[[Context, WebSocket], Awaitable[None]]) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.get("/", upgrade_websocket(handler))
    return app


async def see_another_end(peer: Any) -> None:
    """Waits until a handler that has never received is cancelled for a client that leaves now."""

    async def handler(c: Context, ws: WebSocket) -> None:
        await anyio.sleep_forever()

    async with peer().open(serving(handler)) as other:
        await other.wait(lambda: other.sent)
        other.leave()


def test_a_handler_that_waits_for_something_to_send(run: Any, peer: Any) -> None:
    ended: list[str] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        c.add_cleanup(lambda error: ended.append(type(error).__name__))
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("cancelled")

    async def main() -> None:
        async with peer().open(serving(handler)) as one:
            await one.wait(lambda: one.sent)
            one.leave()

    run(main)
    assert ended == ["cancelled", "WebSocketDisconnectedError"]


@pytest.mark.parametrize("backend", ["asyncio"])
def test_its_cleanup_may_wait_on_asyncio(run: Any, peer: Any) -> None:
    ended: list[str] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        await ws.send("welcome")
        try:
            await anyio.sleep_forever()
        finally:
            await anyio.sleep(0.001)
            ended.append("rolled back")

    async def main() -> None:
        async with peer().open(serving(handler)) as one:
            await one.hear()
            one.leave(1012)

    run(main)
    assert ended == ["rolled back"]


def test_a_handler_that_received_before_it_only_sends(run: Any, peer: Any) -> None:
    ended: list[str] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        channel = await ws.receive()
        await ws.send(f"subscribed to {channel!r}")
        await ws.send("first")
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("cancelled")

    async def main() -> None:
        async with peer().open(serving(handler)) as one:
            one.say("news")
            await one.hear(2)
            one.leave()

    run(main)
    assert ended == ["cancelled"]


def test_messages_that_nobody_receives_don_t_keep_it(run: Any, peer: Any) -> None:
    ended: list[str] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("cancelled")

    async def main() -> None:
        async with peer().open(serving(handler)) as one:
            one.say("a", "b")
            await one.wait(lambda: one.received == 3)
            one.leave()

    run(main)
    assert ended == ["cancelled"]


def test_a_handler_that_begins_late_gets_every_message(run: Any, peer: Any) -> None:
    """Ahead of it, no more is read than it may hold."""
    got: list[object] = []
    codes: list[object] = []
    sent = [str(number) for number in range(50)]

    async def main() -> None:
        begin = anyio.Event()

        async def handler(c: Context, ws: WebSocket) -> None:
            await begin.wait()
            got.extend([message async for message in ws])
            codes.append(ws.close_code)

        async with peer().open(serving(handler)) as one:
            one.say(*sent)
            one.leave(4000)
            await one.wait(lambda: one.received == 17)  # the handshake, and 16 messages
            await anyio.wait_all_tasks_blocked()
            assert one.received == 17
            begin.set()

    run(main)
    assert got == sent
    assert codes == [4000]


def test_a_handler_that_works_for_a_message_goes_on(run: Any, peer: Any) -> None:
    """It has a message to work for, and gets to know of the departure when it receives again."""
    done: list[str] = []

    async def main() -> None:
        go_on = anyio.Event()

        async def handler(c: Context, ws: WebSocket) -> None:
            async for message in ws:
                await ws.send("working")
                await go_on.wait()
                done.append(str(message))

        async with peer().open(serving(handler)) as one:
            one.say("job")
            await one.hear()
            one.leave()
            await see_another_end(peer)
            go_on.set()

    run(main)
    assert done == ["job"]


def test_a_handler_that_was_told_may_go_on(run: Any, peer: Any) -> None:
    done: list[str] = []

    async def main() -> None:
        go_on = anyio.Event()

        async def handler(c: Context, ws: WebSocket) -> None:
            try:
                while True:
                    await ws.send("x")
            except WebSocketDisconnectedError:
                await go_on.wait()
                done.append("cleaned up")

        async with peer().open(serving(handler)) as one:
            await one.hear(2)
            one.leave()
            await see_another_end(peer)
            go_on.set()

    run(main)
    assert done == ["cleaned up"]


def test_nothing_is_kept_of_connections_that_have_ended(run: Any, peer: Any) -> None:
    async def handler(c: Context, ws: WebSocket) -> None:
        await ws.send("welcome")

    async def waiting(c: Context, ws: WebSocket) -> None:
        await ws.receive()

    app = serving(handler)
    counts: list[int] = []

    async def main() -> None:
        async with peer().open(serving(waiting)) as open_one:
            await open_one.wait(lambda: open_one.sent)
            for _ in range(3):
                for _ in range(30):
                    async with peer().open(app) as one:
                        await one.hear()
                await anyio.sleep(1.1)
                gc.collect()
                objects = [type(each).__module__ for each in gc.get_objects()]
                counts.append(sum(module.split(".")[0] == "kit" for module in objects))

    run(main)
    assert counts[-1] - counts[0] < 30
