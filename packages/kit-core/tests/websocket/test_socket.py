# SPDX-License-Identifier: MIT
"""An accepted connection: messages, closing, clients that leave, tasks, backpressure, events."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import anyio
import msgspec
import pytest
from anyio.lowlevel import checkpoint
from trio.testing import MockClock

from kit import Context, HTTPException, Kit
from kit.websocket import (
    CloseEvent,
    ErrorEvent,
    InvalidMessageError,
    ReadyState,
    WebSocket,
    WebSocketDisconnectedError,
    WSEvents,
    upgrade_websocket,
)


async def send_on(ws: WebSocket) -> None:
    while True:
        await ws.send("tick")


def serving(handler: Any, **options: Any) -> Kit:
    return Kit().get("/", upgrade_websocket(handler, **options))


# --- messages ------------------------------------------------------------------------------------


def test_text_and_binary(run: Any, peer: Any) -> None:
    async def echo(c: Context, ws: WebSocket) -> None:
        assert ws.ready_state is ReadyState.OPEN
        assert (ws.close_code, ws.close_reason) == (None, "")
        async for message in ws:
            await ws.send(message)
        assert (ws.ready_state, ws.close_code) == (ReadyState.CLOSED, 1001)

    async def main() -> Any:
        async with peer().open(serving(echo)) as one:
            one.say("text", b"binary", "", b"", "é")
            await one.hear(5)
            one.leave(1001)
        return one

    done = run(main)
    assert done.messages == ["text", b"binary", "", b"", "é"]
    assert [sorted(m) for m in done.sent[1:3]] == [["text", "type"], ["bytes", "type"]]
    assert done.closing is None  # the client has closed


def test_what_can_be_sent(run: Any, peer: Any) -> None:
    class Name(str):
        __slots__ = ()

    async def handler(c: Context, ws: WebSocket) -> None:
        for each in (Name("a"), bytearray(b"b"), memoryview(b"c")):
            await ws.send(each)  # type: ignore[arg-type]
        for wrong in (1, {}):
            with pytest.raises(TypeError, match=r"takes str or bytes, not (int|dict)"):
                await ws.send(wrong)  # type: ignore[arg-type]
        await ws.send_json({"a": [1, None]})
        with pytest.raises(TypeError):
            await ws.send_json({"a": object()})

    done = run(peer().serve, serving(handler))
    assert done.messages == ["a", b"b", b"c", '{"a":[1,null]}']
    assert {type(each) for each in done.messages} == {str, bytes}
    assert done.closing == (1000, "")


def test_receive_json(run: Any, peer: Any) -> None:
    class Point(msgspec.Struct):
        x: int

    async def handler(c: Context, ws: WebSocket) -> None:
        assert await ws.receive_json() == {"x": 1}
        assert await ws.receive_json(type=Point) == Point(2)
        for text in (
            "Malformed JSON in the message: Input data was truncated (byte 4)",
            "Unexpected JSON in the message: Expected `int`, got `str` - at `$.x`",
            "Malformed JSON in the message: JSON is malformed: invalid character (byte 0)",
        ):
            with pytest.raises(InvalidMessageError) as raised:
                await ws.receive_json(type=Point)
            assert str(raised.value) == text
        assert await ws.receive_json(type=Point) == Point(3)

    async def main() -> Any:
        async with peer().open(serving(handler)) as one:
            one.say('{"x":1}', b'{"x":2}', '{"x"', '{"x":"a"}', "x", '{"x":3}')
            await one.wait(lambda: one.over)
        return one

    assert run(main).closing == (1000, "")


def test_receive_json_sets_all_defaults_of_dataclasses(run: Any, peer: Any) -> None:
    @dataclass
    class Point:
        x: int
        y: int | None = None

    async def handler(c: Context, ws: WebSocket) -> None:
        await ws.send_json(await ws.receive_json(type=Point))

    async def main() -> Any:
        async with peer().open(serving(handler)) as one:
            one.say('{"x": 1}')
            await one.hear(1)
            one.leave(1000)
        return one

    assert run(main).messages == ['{"x":1,"y":null}']


def test_receive_json_by_pydantic(run: Any, peer: Any) -> None:
    from pydantic import BaseModel

    class Point(BaseModel):
        x: int

    async def handler(c: Context, ws: WebSocket) -> None:
        assert await ws.receive_json(type=Point) == Point(x=1)
        await ws.receive_json(type=Point)

    async def main() -> Any:
        async with peer().open(serving(handler)) as one:
            one.say('{"x":1}', '{"x":"a"}')
            await one.wait(lambda: one.over)
        return one

    code, reason = run(main).closing
    assert code == 1007
    assert reason.startswith("Unexpected JSON in the message: ")
    assert len(reason.encode()) <= 123


@pytest.mark.parametrize(
    ("message", "size"),
    [("x" * 11, 11), (b"x" * 11, 11), ("é" * 6, 12), ("\U0001f600" * 3, 12)],
)
def test_message_beyond_the_limit(run: Any, peer: Any, message: str | bytes, size: int) -> None:
    got: list[Any] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        got.extend([each async for each in ws])
        assert ws.close_code == 1009

    async def main() -> Any:
        async with peer().open(serving(handler, max_message_size_bytes=10)) as one:
            one.say("x" * 10, "é" * 5, b"x" * 10, message, "never")
            await one.wait(lambda: one.over)
        return one

    assert run(main).closing == (1009, f"The message has {size} bytes, more than the 10 allowed")
    assert got == ["x" * 10, "é" * 5, b"x" * 10]


def test_no_limit(run: Any, peer: Any) -> None:
    async def handler(c: Context, ws: WebSocket) -> None:
        await ws.send(str(len(await ws.receive())))

    async def main() -> Any:
        async with peer().open(serving(handler, max_message_size_bytes=None)) as one:
            one.say(b"x" * (17 * 1024 * 1024))
            return await one.hear()

    assert run(main) == [str(17 * 1024 * 1024)]


# --- closing -------------------------------------------------------------------------------------


def test_close(run: Any, peer: Any) -> None:
    async def handler(c: Context, ws: WebSocket) -> None:
        with pytest.raises(ValueError, match="1006"):
            await ws.close(1006)
        with pytest.raises(ValueError, match="124 bytes"):
            await ws.close(1000, "é" * 62)
        assert ws.ready_state is ReadyState.OPEN
        await ws.close(4000, "é" * 61)
        assert (ws.ready_state, ws.close_code) == (ReadyState.CLOSED, 4000)
        await ws.close(4001)  # does nothing
        with pytest.raises(WebSocketDisconnectedError) as raised:
            await ws.send("late")
        assert (raised.value.code, raised.value.reason) == (4000, "é" * 61)
        with pytest.raises(WebSocketDisconnectedError):
            await ws.receive()
        assert [each async for each in ws] == []

    async def main() -> Any:
        async with peer().open(serving(handler)) as one:
            one.say("never received")
            await one.wait(lambda: one.over)
        return one

    done = run(main)
    assert done.closing == (4000, "é" * 61)
    assert len(done.sent) == 2


@pytest.mark.parametrize(
    ("error", "closing", "is_logged"),
    [
        (ValueError("secret"), (1011, "Internal Server Error"), True),
        (HTTPException(403, "not for you"), (1008, "not for you"), False),
        (HTTPException(404), (1008, ""), False),
        (HTTPException(400, "é" * 100), (1008, "é" * 61), False),
        (HTTPException(503, "busy"), (1011, "Internal Server Error"), True),
        (InvalidMessageError("no JSON"), (1007, "no JSON"), False),
        # Of another connection: this one is open.
        (WebSocketDisconnectedError(1001), (1011, "Internal Server Error"), True),
        (ExceptionGroup("g", [HTTPException(403, "one")]), (1008, "one"), False),
        (ExceptionGroup("g", [HTTPException(403), KeyError()]), (1011, "Internal Server Error"), 1),
    ],
)
def test_handler_that_raises(
    run: Any,
    peer: Any,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    closing: Any,
    is_logged: bool,
) -> None:
    async def handler(c: Context, ws: WebSocket) -> None:
        raise error

    assert run(peer("/").serve, serving(handler)).closing == closing
    logged = [record.getMessage() for record in caplog.records]
    assert logged == ["Exception in the WebSocket handler of /"] * bool(is_logged)


def test_handler_that_raises_after_the_end(
    run: Any, peer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def handler(c: Context, ws: WebSocket) -> None:
        await ws.close(4000)
        raise ValueError("late")

    assert run(peer("/").serve, serving(handler)).closing == (4000, "")
    assert [r.getMessage() for r in caplog.records] == ["Exception in the WebSocket handler of /"]


def test_cancelled_by_the_server(run: Any, peer: Any) -> None:
    ended: list[str] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        await ws.send("1")
        await ws.send("2")  # starts the task that receives
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("cancelled")

    async def main() -> Any:
        one = peer()
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(one.serve, serving(handler))
                await one.hear(2)
                scope.cancel()
        return one

    assert run(main).closing is None
    assert ended == ["cancelled"]


# --- clients that leave --------------------------------------------------------------------------


def test_receive_raises_when_the_client_leaves(
    run: Any, peer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    errors: list[Any] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        try:
            await ws.receive()
        except WebSocketDisconnectedError as error:
            errors.append((error.code, error.reason, str(error)))
        await ws.receive()  # ends the handler, quietly

    async def main() -> None:
        async with peer().open(serving(handler)) as one:
            one.leave(4000, "bye")

    run(main)
    assert errors == [(4000, "bye", "The WebSocket connection is closed (4000 'bye')")]
    assert not caplog.records


def test_no_code_is_1005(run: Any, peer: Any) -> None:
    codes: list[Any] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        async for _ in ws:
            continue
        codes.append(ws.close_code)

    async def main() -> None:
        async with peer().open(serving(handler)) as one:
            one.leave(None)

    run(main)
    assert codes == [1005]


def test_send_raises_while_the_handler_only_sends(run: Any, peer: Any) -> None:
    """The server takes every message: only `receive` tells that the client is gone."""
    codes: list[int] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        try:
            while True:
                await ws.send("tick")
        except WebSocketDisconnectedError as error:
            codes.append(error.code)
            raise

    async def main() -> None:
        async with peer().open(serving(handler)) as one:
            await one.hear(10)
            one.say("never received")
            one.leave(4000)
            await one.wait(lambda: one.over)

    run(main)
    assert codes == [4000]


def test_send_yields_to_a_server_that_never_waits(run: Any, peer: Any) -> None:
    async def handler(c: Context, ws: WebSocket) -> None:
        while True:
            await ws.send("tick")

    class Eager(peer):  # type: ignore[misc]
        async def send(self, message: Any) -> None:
            self.sent.append(message)
            self._tell()

    async def main() -> None:
        async with Eager().open(serving(handler)) as one:
            await one.hear(100)

    run(main)


def test_send_raises_when_the_server_refuses(run: Any, peer: Any) -> None:
    codes: list[Any] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        assert await ws.receive() == "go"
        with pytest.raises(WebSocketDisconnectedError) as raised:
            await ws.send("late")
        codes.append(raised.value.code)
        assert isinstance(raised.value.__cause__, OSError)
        # What the client had sent is there, and so is its code.
        codes.extend([each async for each in ws])
        codes.append(ws.close_code)

    async def main() -> None:
        async with peer().open(serving(handler)) as one:
            await one.wait(lambda: one.sent)
            one.failing = OSError("The client has left")
            one.say("go")
            while not codes:
                await checkpoint()
            one.say("last words")
            one.leave(4000)

    run(main)
    assert codes == [1006, "last words", 4000]


def test_messages_from_before_the_client_left_are_received(run: Any, peer: Any) -> None:
    got: list[Any] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        with pytest.raises(WebSocketDisconnectedError):
            await send_on(ws)
        got.extend([each async for each in ws])

    async def main() -> None:
        async with peer().open(serving(handler)) as one:
            one.say("a", "b")
            one.leave(1000)
            await one.wait(lambda: one.over)

    run(main)
    assert got == ["a", "b"]


def test_cancel_on_disconnect(run: Any, peer: Any) -> None:
    ended: list[Any] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        await ws.send(str(await ws.receive()))
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(ws.close_code)

    async def main() -> Any:
        async with peer().open(serving(handler, cancel_on_disconnect=True)) as one:
            one.say("hi")
            await one.hear()
            one.leave(4000)
            await one.wait(lambda: one.over)
        return one

    assert run(main).messages == ["hi"]
    assert ended == [4000]


def test_cancel_on_disconnect_lets_the_handler_close_in_peace(run: Any, peer: Any) -> None:
    ended: list[str] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        await ws.close()
        for _ in range(5):
            await checkpoint()
        ended.append("done")

    run(peer().serve, serving(handler, cancel_on_disconnect=True))
    assert ended == ["done"]


def test_cancel_on_disconnect_lets_a_close_wait_for_its_turn(run: Any, peer: Any) -> None:
    ended: list[str] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        async with anyio.create_task_group() as group:
            for name in ("first", "second"):
                group.start_soon(ws.send, name)
                await anyio.wait_all_tasks_blocked()
            closing.set()
            await ws.close(4000)
            await checkpoint()
        ended.append("done")

    async def main() -> None:
        nonlocal closing
        closing = anyio.Event()
        async with peer(room=1).open(serving(handler, cancel_on_disconnect=True)) as one:
            await closing.wait()
            one.leave()
            await anyio.wait_all_tasks_blocked()
            await one.hear(1)
            await one.wait(lambda: one.over)

    closing: anyio.Event
    run(main)
    assert ended == ["done"]


def test_server_whose_receive_fails(run: Any, peer: Any) -> None:
    class Failing(peer):  # type: ignore[misc]
        async def receive(self) -> Any:
            if self.received:
                raise RuntimeError("broken")
            return await super().receive()

    codes: list[Any] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        with pytest.raises(WebSocketDisconnectedError) as raised:
            await send_on(ws)
        codes.append(raised.value.code)

    run(Failing().serve, serving(handler))
    assert codes == [1006]


# --- several tasks -------------------------------------------------------------------------------


def test_several_tasks_send(run: Any, peer: Any) -> None:
    sending = 0

    class Strict(peer):  # type: ignore[misc]
        async def send(self, message: Any) -> None:
            nonlocal sending
            assert not sending, "two tasks call send() at once"
            sending += 1
            try:
                await super().send(message)
            finally:
                sending -= 1

    async def handler(c: Context, ws: WebSocket) -> None:
        async def send(name: str) -> None:
            for number in range(20):
                await ws.send(f"{name} {number}")

        async with anyio.create_task_group() as group:
            for name in "abc":
                group.start_soon(send, name)

    done = run(Strict().serve, serving(handler))
    for name in "abc":
        mine = [each for each in done.messages if each[0] == name]
        assert mine == [f"{name} {number}" for number in range(20)]


def test_a_send_that_is_cancelled_leaves_the_others(run: Any, peer: Any) -> None:
    async def main() -> Any:
        given_up = anyio.Event()

        async def handler(c: Context, ws: WebSocket) -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(ws.send, "first")
                await anyio.wait_all_tasks_blocked()
                group.start_soon(ws.send, "second")  # the reader has room for one
                await anyio.wait_all_tasks_blocked()
                with anyio.move_on_after(0):
                    await ws.send("given up")
                async with anyio.create_task_group() as inner:
                    inner.start_soon(ws.send, "given up, too")
                    await anyio.wait_all_tasks_blocked()
                    inner.cancel_scope.cancel()
                group.start_soon(ws.send, "third")
                given_up.set()

        async with peer(room=1).open(serving(handler)) as one:
            await given_up.wait()
            for count in (1, 2, 3):
                await one.hear(count)
            await one.wait(lambda: one.over)
        return one

    assert run(main).messages == ["first", "second", "third"]


def test_close_waits_for_the_messages_before_it(run: Any, peer: Any) -> None:
    async def handler(c: Context, ws: WebSocket) -> None:
        async with anyio.create_task_group() as group:
            for name in ("first", "second"):
                group.start_soon(ws.send, name)
                await anyio.wait_all_tasks_blocked()
            await ws.close(4000)

    async def main() -> Any:
        async with peer(room=1).open(serving(handler)) as one:
            await one.wait(lambda: one.messages)
            await anyio.wait_all_tasks_blocked()
            await one.hear(1)
            await one.wait(lambda: one.over)
        return one

    done = run(main)
    assert (done.messages, done.closing) == (["first", "second"], (4000, ""))


def test_messages_are_sent_in_the_order_of_the_calls(run: Any, peer: Any) -> None:
    calls: list[str] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        async def send(name: str) -> None:
            calls.append(name)
            await ws.send(name)

        await send("0")
        async with anyio.create_task_group() as group:
            for name in "123":  # the second send in a row lets other tasks run
                group.start_soon(send, name)

    done = run(peer().serve, serving(handler))
    assert done.messages == calls
    assert len(calls) == 4


@pytest.fixture
def run_and_jump(backend: str) -> Any:
    """Runs an async function, which gets a function that lets the clock of its loop jump ahead."""

    def run(function: Any) -> Any:
        async def on_asyncio() -> Any:
            loop: Any = asyncio.get_running_loop()
            before = loop.time

            def jump(seconds: float) -> None:
                loop.time = lambda: before() + seconds

            return await function(jump)

        if backend == "asyncio":
            return anyio.run(on_asyncio)
        clock = MockClock(rate=1.0)
        return anyio.run(function, clock.jump, backend="trio", backend_options={"clock": clock})

    return run


async def closed_by_a_task(c: Context, ws: WebSocket) -> None:
    refused: list[int] = []

    async def send_in_turn() -> None:
        with pytest.raises(WebSocketDisconnectedError) as raised:
            await ws.send("never sent")
        refused.append(raised.value.code)

    async with anyio.create_task_group() as group:
        group.start_soon(send_on, ws)  # the server keeps it waiting
        await anyio.wait_all_tasks_blocked()
        group.start_soon(send_in_turn)
        await anyio.wait_all_tasks_blocked()
        await ws.close(4000, "too slow")
        await anyio.wait_all_tasks_blocked()
        assert refused == [4000]
        group.cancel_scope.cancel()


async def closed_after_a_send_was_given_up(c: Context, ws: WebSocket) -> None:
    await ws.send("first")
    with anyio.move_on_after(0):
        await ws.send("second")
    await ws.close(4000, "too slow")


@pytest.mark.parametrize("handler", [closed_by_a_task, closed_after_a_send_was_given_up])
def test_close_gives_up_a_client_that_does_not_read(
    run_and_jump: Any, peer: Any, caplog: pytest.LogCaptureFixture, handler: Any
) -> None:
    class Stalled(peer):  # type: ignore[misc]
        async def send(self, message: Any) -> None:
            if message["type"] == "websocket.close":
                await anyio.sleep_forever()  # as uvicorn, it has no room for the frame either
            await super().send(message)

    closed: list[WebSocket] = []

    async def notes(c: Context, ws: WebSocket) -> None:
        closed.append(ws)
        try:
            await handler(c, ws)
        finally:
            ended.set()

    ended: anyio.Event

    async def main(jump: Any) -> Any:
        nonlocal ended
        ended = anyio.Event()
        with anyio.fail_after(300):
            async with Stalled(room=1).open(serving(notes)) as one:
                while not closed or closed[0].ready_state is ReadyState.OPEN:
                    await anyio.sleep(0.001)
                jump(5)
                await anyio.wait_all_tasks_blocked()
                assert not one.over
                jump(11)
                await ended.wait()
                await anyio.wait_all_tasks_blocked()  # the server has time to drop the client
                jump(70)
                await one.wait(lambda: one.over)
                with pytest.raises(WebSocketDisconnectedError) as raised:
                    await closed[0].send("late")
            return raised.value, one

    error, one = run_and_jump(main)
    assert (error.code, error.reason) == (4000, "too slow")
    assert (closed[0].ready_state, closed[0].close_code) == (ReadyState.CLOSED, 4000)
    assert (one.messages[1:], one.closing) == ([], None)
    assert not caplog.records


def test_a_close_that_is_cancelled_is_made_up_for(run: Any, peer: Any) -> None:
    states: list[ReadyState] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        async with anyio.create_task_group() as group:
            for name in ("first", "second"):
                group.start_soon(ws.send, name)
                await anyio.wait_all_tasks_blocked()
            with anyio.move_on_after(0):  # the reader is slow
                await ws.close(4000, "bye")
            states.append(ws.ready_state)
            read.set()

    async def main() -> Any:
        nonlocal read
        read = anyio.Event()
        async with peer(room=1).open(serving(handler)) as one:
            await read.wait()
            await one.hear(1)
            await one.wait(lambda: one.over)
        return one

    read: anyio.Event
    done = run(main)
    assert states == [ReadyState.CLOSING]
    assert (done.messages, done.closing) == (["first", "second"], (4000, "bye"))


def test_the_app_returns_after_the_close_frame_of_another_task(run: Any, peer: Any) -> None:
    class Slow(peer):  # type: ignore[misc]
        async def send(self, message: Any) -> None:
            assert not self.over, "the app has returned before"
            if message["type"] == "websocket.close":
                await anyio.wait_all_tasks_blocked()
                assert not self.over, "the app has returned meanwhile"
            await super().send(message)

    opened: list[WebSocket] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        for _ in range(3):  # so that another task receives ahead
            await ws.send("x")
        opened.append(ws)
        async for _ in ws:
            continue

    async def main() -> Any:
        async with Slow().open(serving(handler)) as one:
            await one.hear(3)
            await anyio.wait_all_tasks_blocked()
            await opened[0].close(4001, "kicked")
            await one.wait(lambda: one.over)
        return one

    assert run(main).closing == (4001, "kicked")


def test_two_tasks_receive(run: Any, peer: Any) -> None:
    async def handler(c: Context, ws: WebSocket) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(ws.receive)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(RuntimeError) as raised:
                await ws.receive()
            assert str(raised.value).startswith("Two tasks receive from the same WebSocket, so")
            await ws.send("go on")

    async def main() -> Any:
        async with peer().open(serving(handler)) as one:
            await one.hear()
            one.say("x")
            await one.wait(lambda: one.over)
        return one

    assert run(main).closing == (1000, "")


@pytest.mark.parametrize("sends", [0, 3])
def test_another_task_closes(run: Any, peer: Any, sends: int) -> None:
    ended: list[Any] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        for _ in range(sends):  # so that another task receives ahead
            await ws.send("x")

        async def receive() -> None:
            async for _ in ws:
                continue
            ended.append(ws.close_code)

        async with anyio.create_task_group() as group:
            group.start_soon(receive)
            await anyio.wait_all_tasks_blocked()
            await ws.close(4000)

    run(peer().serve, serving(handler))
    assert ended == [4000]


@pytest.mark.parametrize("sends", [0, 3])
def test_a_timeout_loses_no_message(run: Any, peer: Any, sends: int) -> None:
    got: list[Any] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        for _ in range(sends):
            await ws.send("x")
        while len(got) < 20:
            with anyio.move_on_after(0):
                got.append(await ws.receive())
            with anyio.move_on_after(0.001):
                got.append(await ws.receive())

    async def main() -> None:
        async with peer().open(serving(handler)) as one:
            for number in range(20):
                one.say(str(number))
                await anyio.sleep(0.0005)
            await one.wait(lambda: one.over)

    run(main)
    assert got == [str(number) for number in range(20)]


def test_task_groups_of_a_handler_end_quietly(
    run: Any, peer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def handler(c: Context, ws: WebSocket) -> None:
        async def send() -> None:
            while True:
                await ws.send("tick")
                await checkpoint()

        async with anyio.create_task_group() as group:
            group.start_soon(send)
            while True:
                await ws.receive()

    async def main() -> None:
        async with peer().open(serving(handler)) as one:
            await one.hear(5)

    run(main)
    assert not caplog.records


# --- backpressure --------------------------------------------------------------------------------


def test_send_waits_for_a_slow_reader(run: Any, peer: Any) -> None:
    sent: list[int] = []

    async def handler(c: Context, ws: WebSocket) -> None:
        for number in range(10):
            await ws.send(str(number))
            sent.append(number)

    async def main() -> None:
        async with peer(room=2).open(serving(handler)) as one:
            await anyio.wait_all_tasks_blocked()
            assert len(sent) == 2
            for count in range(2, 11, 2):
                await one.hear(count)
                await anyio.wait_all_tasks_blocked()

    run(main)
    assert len(sent) == 10


@pytest.mark.parametrize(("size", "most"), [(1, 17), (64 * 1024, 2)])
def test_a_handler_that_only_sends_reads_ahead_a_little(
    run: Any, peer: Any, size: int, most: int
) -> None:
    async def handler(c: Context, ws: WebSocket) -> None:
        for _ in range(40):
            await ws.send("tick")
        await ws.send("now")
        assert [len(await ws.receive()) for _ in range(100)] == [size] * 100

    async def main() -> None:
        async with peer(room=40).open(serving(handler)) as one:
            one.say(*["x" * size] * 100)
            await anyio.wait_all_tasks_blocked()
            assert 1 < one.received <= most + 1  # and the connect
            await one.hear(40)
            await one.hear(41)
            await one.wait(lambda: one.over)
            assert one.closing == (1000, "")

    run(main)


# --- functions for events, as in Hono ------------------------------------------------------------


def told(events: list[CloseEvent]) -> list[Any]:
    return [(event.code, event.reason, event.was_clean) for event in events]


def test_events(run: Any, peer: Any) -> None:
    trace: list[Any] = []

    async def create(c: Context) -> WSEvents:
        async def on_message(event: Any, ws: WebSocket) -> None:
            trace.append((event.type, event.data))
            await ws.send(event.data)

        return WSEvents(
            on_open=lambda event, ws: trace.append(event.type),
            on_message=on_message,
            on_close=lambda event, ws: trace.append(event),
        )

    async def main() -> None:
        async with peer().open(serving(create)) as one:
            one.say("a", b"b")
            await one.hear(2)
            one.leave(4000, "bye")

    run(main)
    assert trace[:-1] == ["open", ("message", "a"), ("message", b"b")]
    assert trace[-1].type == "close"
    assert told(trace[-1:]) == [(4000, "bye", True)]


def test_event_that_raises(run: Any, peer: Any, caplog: pytest.LogCaptureFixture) -> None:
    closed: list[CloseEvent] = []
    fault = ValueError("a fault")

    def on_message(event: Any, ws: WebSocket) -> None:
        raise fault

    def create(c: Context) -> WSEvents:
        return WSEvents(on_message=on_message, on_close=lambda event, ws: closed.append(event))

    async def main() -> Any:
        async with peer().open(serving(create)) as one:
            one.say("a")
            await one.wait(lambda: one.over)
        return one

    assert run(main).closing == (1011, "Internal Server Error")
    assert told(closed) == [(1011, "Internal Server Error", True)]
    assert len(caplog.records) == 1


def test_on_error_goes_on(run: Any, peer: Any, caplog: pytest.LogCaptureFixture) -> None:
    errors: list[ErrorEvent] = []

    def create(c: Context) -> WSEvents:
        async def on_message(event: Any, ws: WebSocket) -> None:
            await ws.send(str(1 / int(event.data)))

        async def on_error(event: ErrorEvent, ws: WebSocket) -> None:
            errors.append(event)
            await ws.send(f"{event.type} {type(event.error).__name__}")

        return WSEvents(on_message=on_message, on_error=on_error)

    async def main() -> Any:
        async with peer().open(serving(create)) as one:
            one.say("1", "0", "2")
            return await one.hear(3)

    assert run(main) == ["1.0", "error ZeroDivisionError", "0.5"]
    assert not caplog.records


def test_on_close_of_a_client_that_left_while_a_message_was_answered(run: Any, peer: Any) -> None:
    closed: list[CloseEvent] = []

    def create(c: Context) -> WSEvents:
        async def on_message(event: Any, ws: WebSocket) -> None:
            await ws.send(event.data)
            raise AssertionError("unreachable")

        return WSEvents(on_message=on_message, on_close=lambda event, ws: closed.append(event))

    async def main() -> None:
        async with peer().open(serving(create)) as one:
            await one.hear(0)
            one.failing = None
            await anyio.wait_all_tasks_blocked()
            one.say("a")
            one.leave(4000, "bye", fails=True)

    run(main)
    assert told(closed) == [(4000, "bye", True)]


@pytest.mark.parametrize("has_on_error", [True, False])
def test_event_that_sends_to_another_connection_which_is_closed(
    run: Any, peer: Any, caplog: pytest.LogCaptureFixture, has_on_error: bool
) -> None:
    errors: list[Exception] = []
    closed: list[CloseEvent] = []
    gone = WebSocketDisconnectedError(1001)

    def create(c: Context) -> WSEvents:
        def on_message(event: Any, ws: WebSocket) -> None:
            raise gone  # as `other.send()` does

        async def on_error(event: ErrorEvent, ws: WebSocket) -> None:
            errors.append(event.error)
            await ws.close(4000)

        events = WSEvents(on_message=on_message, on_close=lambda event, ws: closed.append(event))
        if has_on_error:
            events["on_error"] = on_error
        return events

    async def main() -> Any:
        async with peer().open(serving(create)) as one:
            one.say("a")
            await one.wait(lambda: one.over)
        return one

    done = run(main)
    if has_on_error:
        assert (errors, done.closing, caplog.records) == ([gone], (4000, ""), [])
    else:
        assert done.closing == (1011, "Internal Server Error")
        assert len(caplog.records) == 1
    assert len(closed) == 1


def test_on_close_may_wait_after_a_cancellation(run: Any, peer: Any) -> None:
    closed: list[CloseEvent] = []

    def create(c: Context) -> WSEvents:
        async def on_open(event: Any, ws: WebSocket) -> None:
            await anyio.sleep_forever()

        async def on_close(event: CloseEvent, ws: WebSocket) -> None:
            await checkpoint()
            closed.append(event)

        return WSEvents(on_open=on_open, on_close=on_close)

    async def main() -> None:
        async with peer().open(serving(create, cancel_on_disconnect=True)) as one:
            await anyio.wait_all_tasks_blocked()
            one.leave(4000, "bye")

    run(main)
    assert told(closed) == [(4000, "bye", True)]
