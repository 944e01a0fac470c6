# SPDX-License-Identifier: MIT
"""Chunks that a stream yields without waiting, which are sent together on asyncio."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Kit

# More chunks than are ever sent one by one at the start.
MANY = 1000
PAUSE = object()

pytestmark = pytest.mark.filterwarnings("error")


def streaming(make: Callable[[], Any]) -> Kit:
    return Kit().get("/", lambda c: c.body(make()))


def bodies(asking: Any) -> list[bytes]:
    """The bodies of all messages but the last one, which ends the response."""
    return [message["body"] for message in asking.sent[1:-1]]


def numbers(count: int = MANY) -> list[str]:
    return [f"{number}," for number in range(count)]


async def async_numbers() -> AsyncIterator[str]:
    for number in numbers():
        yield number


NUMBERS = "".join(numbers()).encode()


class Iterating:
    """An async iterator that is no generator."""

    def __init__(self, *items: Any) -> None:
        self.items = iter(items)

    def __aiter__(self) -> Iterating:
        return self

    async def __anext__(self) -> Any:
        for item in self.items:
            return item
        raise StopAsyncIteration


class Resetting:
    """An async iterator that starts anew whenever somebody begins to iterate."""

    def __aiter__(self) -> Resetting:
        self.items = iter(numbers())
        return self

    async def __anext__(self) -> str:
        for item in self.items:
            return item
        raise StopAsyncIteration


@pytest.mark.parametrize("busy", [False, True], ids=["server takes all", "server waits"])
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(async_numbers, id="async generator"),
        pytest.param(lambda: (number for number in numbers()), id="generator"),
        pytest.param(numbers, id="list"),
        pytest.param(lambda: Iterating(*numbers()), id="async iterator"),
        pytest.param(Resetting, id="async iterator that starts anew"),
    ],
)
def test_small_chunks_are_sent_together(
    run: Any, client: Any, backend: str, make: Any, busy: bool
) -> None:
    asking = run(client(busy=busy).ask, streaming(make))
    assert asking.check().body == NUMBERS
    if backend == "asyncio":
        assert len(asking.sent) < MANY / 4
    assert all(bodies(asking))


def test_the_first_chunks_are_sent_one_by_one(run: Any, client: Any) -> None:
    asking = run(client().ask, streaming(async_numbers))
    assert bodies(asking)[:8] == [b"%d," % number for number in range(8)]


def test_large_chunks_are_not_copied(run: Any, client: Any) -> None:
    small, large = b"small", b"x" * 100_000
    chunks = [small] * 40 + [large] + [small] * 40 + [large] * 40

    async def generator() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    asking = run(client(busy=False).ask, streaming(generator))
    assert asking.check().body == b"".join(chunks)
    assert [each is large for each in bodies(asking) if len(each) > 50_000] == [True] * 41


def test_empty_chunks_make_no_messages(run: Any, client: Any) -> None:
    async def generator() -> AsyncIterator[str]:
        for number in numbers(20):
            yield number
        for _ in range(MANY):
            yield ""
        yield "end"

    asking = run(client(busy=False).ask, streaming(generator))
    assert asking.check().body.endswith(b"19,end")
    assert all(bodies(asking))


def test_chunks_are_sent_before_the_stream_waits(run: Any, client: Any) -> None:
    asking = client(busy=False)
    seen: list[bool] = []

    async def generator() -> AsyncIterator[str]:
        expected = b""
        for count in (40, 1, 17, 200, 3, 33):
            for number in numbers(count):
                expected += number.encode()
                yield number
            await anyio.wait_all_tasks_blocked()
            seen.append(asking.body == expected)

    run(asking.ask, streaming(generator))
    assert seen == [True] * 6
    assert asking.complete


def test_a_stream_that_waits_after_each_chunk_has_a_message_for_each(run: Any, client: Any) -> None:
    async def generator() -> AsyncIterator[str]:
        for number in numbers():
            yield number
            await anyio.lowlevel.checkpoint()

    asking = run(client(busy=False).ask, streaming(generator))
    assert asking.check().body == NUMBERS
    assert len(bodies(asking)) == MANY


def test_a_stream_that_becomes_slow_has_a_message_for_each(run: Any, client: Any) -> None:
    async def generator() -> AsyncIterator[str]:
        for number in numbers(40):
            yield number
        for _ in range(60):
            time.sleep(0.002)  # it blocks the event loop, as it shouldn't
            yield "slow"

    asking = run(client(busy=False).ask, streaming(generator))
    assert bodies(asking)[-10:] == [b"slow"] * 10


def test_the_stream_is_not_read_far_ahead_of_a_server_that_waits(run: Any, client: Any) -> None:
    yielded = 0
    ahead: list[int] = []

    async def generator() -> AsyncIterator[str]:
        nonlocal yielded
        for number in numbers():
            yielded += 1
            yield number

    class Slow(client):
        async def take(self, message: dict[str, Any]) -> None:
            await anyio.wait_all_tasks_blocked()
            await super().take(message)
            ahead.append(yielded - self.body.count(b","))

    asking = run(Slow().ask, streaming(generator))
    assert asking.check().body == NUMBERS
    assert max(ahead) == 0


@pytest.mark.parametrize("count", [0, 7, 8, 9, 40, 71, 72, 73, 200])
@pytest.mark.parametrize("waits", [False, True], ids=["at once", "after a wait"])
@pytest.mark.parametrize("error", [ValueError("broke"), OSError("own")], ids=repr)
def test_what_comes_before_an_error_is_sent(
    run: Any, client: Any, count: int, waits: bool, error: Exception
) -> None:
    async def generator() -> AsyncIterator[str]:
        for number in numbers(count):
            yield number
        if waits:
            await anyio.lowlevel.checkpoint()
        raise error

    asking = client(busy=False)

    async def main() -> None:
        with pytest.raises(type(error)) as caught:
            await asking.ask(streaming(generator))
        assert caught.value is error

    run(main)
    assert asking.body == "".join(numbers(count)).encode()
    assert not asking.complete


def test_what_comes_before_a_chunk_of_another_type_is_sent(run: Any, client: Any) -> None:
    asking = client(busy=False)

    async def main() -> None:
        with pytest.raises(TypeError, match=r"^A body yielded int: expected str or bytes$"):
            await asking.ask(streaming(lambda: [*["x"] * 40, 5, "y"]))

    run(main)
    assert asking.body == b"x" * 40


@pytest.mark.parametrize("leaves_after", [*range(3, 12)])
@pytest.mark.parametrize("failing", [None, ConnectionResetError("gone")], ids=repr)
@pytest.mark.parametrize("waits", [False, True], ids=["never waits", "waits at the end"])
def test_a_client_that_leaves_ends_the_stream(
    run: Any, client: Any, leaves_after: int, failing: Exception | None, waits: bool
) -> None:
    trace: list[str] = []

    async def generator() -> AsyncIterator[str]:
        try:
            for number in numbers(200):
                yield number
            while waits:
                await anyio.sleep_forever()
            while True:
                yield "more"
        finally:
            trace.append("closed")

    asking = client(busy=False, leaves_after=leaves_after, failing=failing)
    run(asking.ask, streaming(generator))
    assert trace == ["closed"]
    assert len(asking.sent) <= leaves_after


def test_an_error_of_the_server_is_raised(run: Any, client: Any) -> None:
    trace: list[str] = []

    async def generator() -> AsyncIterator[str]:
        try:
            for _ in range(3):
                for number in numbers(100):
                    yield number
                await anyio.lowlevel.checkpoint()
        finally:
            trace.append("closed")

    async def main(leaves_after: int) -> None:
        asking = client(busy=False, leaves_after=leaves_after, failing=RuntimeError("bad message"))
        with pytest.raises(RuntimeError, match=r"^bad message$"):
            await asking.ask(streaming(generator))

    for leaves_after in (5, 9, 10):
        run(main, leaves_after)
    assert trace == ["closed"] * 3


class Blocking:
    """A server that waits for ever, from the message after the given number of chunks on."""

    def __init__(self, base: type, count: int) -> None:
        class Blocked(base):  # type: ignore[misc]  # the class is a fixture
            was_cancelled = False

            async def take(self, message: dict[str, Any]) -> None:
                if self.body.count(b",") + message.get("body", b"").count(b",") >= count:
                    try:
                        await anyio.sleep_forever()
                    except BaseException:
                        self.was_cancelled = True
                        raise
                await super().take(message)

        self.client = Blocked(busy=False)


@pytest.mark.parametrize("count", [5, 30, 60])
def test_cancellation_reaches_the_stream_and_the_server(run: Any, client: Any, count: int) -> None:
    trace: list[str] = []

    async def generator() -> AsyncIterator[str]:
        try:
            for number in numbers(60):
                yield number
            await anyio.sleep_forever()
        finally:
            trace.append("closed")

    asking = Blocking(client, count).client

    async def main() -> bool:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(asking.ask, streaming(generator))
                await anyio.wait_all_tasks_blocked()
                scope.cancel()
        return scope.cancelled_caught

    assert run(main)
    assert asking.was_cancelled
    assert trace == ["closed"]


class Stop(BaseException):
    """Raised by a stream."""


def test_what_comes_before_any_exception_is_sent(run: Any, client: Any) -> None:
    async def generator() -> AsyncIterator[str]:
        for number in numbers(40):
            yield number
        raise Stop

    asking = client(busy=False)

    async def main() -> None:
        with pytest.raises((Stop, BaseExceptionGroup)):  # a group on trio
            await asking.ask(streaming(generator))

    run(main)
    assert asking.body == "".join(numbers(40)).encode()


@pytest.mark.parametrize("error", [OSError("gone"), RuntimeError("bad message")], ids=repr)
@pytest.mark.parametrize("catches", [False, True], ids=["passes it on", "catches it"])
def test_sending_that_fails_ends_a_stream_that_waits(
    run: Any, client: Any, error: Exception, catches: bool
) -> None:
    trace: list[str] = []

    async def generator() -> AsyncIterator[str]:
        try:
            for number in numbers(40):
                yield number
            try:
                await anyio.sleep_forever()
            except BaseException:
                if not catches:
                    raise
        finally:
            trace.append("closed")

    class Failing(client):
        async def take(self, message: dict[str, Any]) -> None:
            if b"39," in message.get("body", b""):
                raise error
            await super().take(message)

    async def main() -> None:
        asking = Failing(busy=False)
        if isinstance(error, OSError):
            await asking.ask(streaming(generator))
        else:
            with pytest.raises(RuntimeError, match=r"^bad message$"):
                await asking.ask(streaming(generator))

    run(main)
    assert trace == ["closed"]


@pytest.mark.parametrize("how", ["returns", "raises", "yields"])
def test_a_scope_cancels_the_sending_even_if_the_stream_catches_that(
    run: Any, client: Any, how: str
) -> None:
    async def generator() -> AsyncIterator[str]:
        for number in numbers(60):
            yield number
        try:
            await anyio.sleep_forever()
        except BaseException:
            if how == "raises":
                raise ValueError("other") from None
        if how == "yields":
            yield "more"

    asking = Blocking(client, 60).client

    async def receive() -> dict[str, Any]:
        """Never reports a disconnect, and ends what watches for it."""
        return {"type": "http.request", "body": b"", "more_body": False}

    asking.receive = receive

    async def main() -> bool:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(asking.ask, streaming(generator))
                await anyio.wait_all_tasks_blocked()
                scope.cancel()
        return scope.cancelled_caught

    assert run(main)
    assert asking.was_cancelled


def test_cancellations_within_the_stream_do_not_reach_the_server(client: Any) -> None:
    async def fail() -> None:
        await anyio.lowlevel.checkpoint()
        raise ValueError("child")

    async def generator() -> AsyncIterator[str]:
        for number in numbers(40):
            yield number
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fail())
        except ExceptionGroup:
            pass  # up to Python 3.12, task.cancelling() keeps counting this
        caught.set()
        yield "after"

    class Held(client):
        async def take(self, message: dict[str, Any]) -> None:
            if b"39," in message.get("body", b""):
                await caught.wait()
                await anyio.wait_all_tasks_blocked()
            await super().take(message)

    async def main() -> Any:
        return await Held(busy=False).ask(streaming(generator))

    caught = anyio.Event()
    assert anyio.run(main).check().body == "".join([*numbers(40), "after"]).encode()


def test_a_body_that_is_told_of_the_disconnect_may_take_its_time(run: Any, client: Any) -> None:
    trace: list[str] = []

    class Watching:
        def __aiter__(self) -> AsyncIterator[str]:
            return self.chunks()

        async def chunks(self) -> AsyncIterator[str]:
            for number in numbers(40):
                yield number
            await anyio.sleep_forever()

        async def client_left(self) -> None:
            trace.append("begins")
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
            trace.append("ends")

    class Leaving(client):
        async def take(self, message: dict[str, Any]) -> None:
            await super().take(message)
            if b"39," in message.get("body", b""):
                self.gone.set()
                for _ in range(5):
                    await anyio.lowlevel.checkpoint()

    run(Leaving(busy=False).ask, streaming(Watching))
    assert trace == ["begins", "ends"]


def test_a_server_that_cancels_itself_ends_the_stream(client: Any) -> None:
    async def generator() -> AsyncIterator[str]:
        for number in numbers(40):
            yield number
        await anyio.sleep_forever()

    class Cancelling(client):
        async def take(self, message: dict[str, Any]) -> None:
            if b"39," in message.get("body", b""):
                raise asyncio.CancelledError
            await super().take(message)

    async def main() -> int:
        with pytest.raises(RuntimeError) as raised:  # nobody has cancelled the request
            await Cancelling(busy=False).ask(streaming(generator))
        assert isinstance(raised.value.__cause__, asyncio.CancelledError)
        task = asyncio.current_task()
        assert task is not None
        return task.cancelling()

    assert anyio.run(main) == 0


def test_a_server_that_is_cancelled_ends_before_the_app(run: Any, client: Any) -> None:
    trace: list[str] = []

    async def generator() -> AsyncIterator[str]:
        for number in numbers(60):
            yield number
        await anyio.sleep_forever()

    class Cleaning(client):
        async def take(self, message: dict[str, Any]) -> None:
            if b"59," in message.get("body", b""):
                try:
                    await anyio.sleep_forever()
                finally:
                    with anyio.CancelScope(shield=True):
                        for _ in range(5):
                            await anyio.lowlevel.checkpoint()
                    trace.append("server")
            await super().take(message)

    async def ask() -> None:
        try:
            await Cleaning(busy=False).ask(streaming(generator))
        finally:
            trace.append("app")

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            group.cancel_scope.cancel()

    run(main)
    assert trace == ["server", "app"]


@pytest.mark.parametrize("large", [0, 7])
@pytest.mark.parametrize("backend", ["asyncio"])
def test_other_tasks_run_after_every_fifth_message(run: Any, client: Any, large: int) -> None:
    """An asyncio transport warns of more writes than that after its connection is lost."""
    turn = 0
    in_turn: dict[int, int] = {}

    async def generator() -> AsyncIterator[bytes]:
        while time.monotonic() < began + 0.05:
            for _ in range(300):
                yield b"small"
            for _ in range(large):
                yield b"x"
                yield b"L" * 5000

    class Counting(client):
        async def take(self, message: dict[str, Any]) -> None:
            # During the first millisecond, chunks that are sent one by one have no turns.
            if time.monotonic() > began + 0.01:
                in_turn[turn] = in_turn.get(turn, 0) + 1

    async def count_turns() -> None:
        nonlocal turn
        while True:
            await anyio.lowlevel.checkpoint()
            turn += 1

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(count_turns)
            await Counting(busy=False).ask(streaming(generator))
            group.cancel_scope.cancel()

    began = time.monotonic()
    run(main)
    assert max(in_turn.values()) <= 5


def test_timeouts_of_the_stream_do_not_reach_the_server(
    run: Any, client: Any, backend: str
) -> None:
    async def main() -> Any:
        ready = anyio.Event()

        class Held(client):
            async def take(self, message: dict[str, Any]) -> None:
                if b"39," in message.get("body", b""):
                    await ready.wait()
                await super().take(message)

        async def generator() -> AsyncIterator[str]:
            for number in numbers(40):
                yield number
            with anyio.move_on_after(0.01):
                await anyio.sleep_forever()
            ready.set()
            yield "late"

        asking = Held(busy=False)
        if backend == "trio":
            ready.set()  # there, the stream goes on only once the server has taken its chunks
        return await asking.ask(streaming(generator))

    assert run(main).check().body == "".join([*numbers(40), "late"]).encode()


ITEMS = st.lists(
    st.one_of(
        st.integers(1, 80),  # as many small chunks
        st.sampled_from([b"", "é", b"L" * 5000, bytearray(b"array"), memoryview(b"view")]),
        st.just(PAUSE),
    ),
    max_size=12,
)


@given(ITEMS, st.booleans(), st.booleans())
def test_any_stream_arrives_as_it_is(
    client: Any, items: list[Any], busy: bool, fails: bool
) -> None:
    """Whatever comes in which order: nothing is lost, and nothing is kept during a pause."""
    asking = client(busy=busy)
    expected = b""
    on_time: list[bool] = []

    def chunks_of(item: Any) -> Iterator[Any]:
        if isinstance(item, int):
            yield from numbers(item)
        else:
            yield item

    async def generator() -> AsyncIterator[Any]:
        nonlocal expected
        for item in items:
            if item is PAUSE:
                await anyio.wait_all_tasks_blocked()
                on_time.append(asking.body == expected)
                continue
            for chunk in chunks_of(item):
                expected += chunk.encode() if isinstance(chunk, str) else bytes(chunk)
                yield chunk
        if fails:
            raise ValueError("broke")

    async def main() -> None:
        if fails:
            with pytest.raises(ValueError, match=r"^broke$"):
                await asking.ask(streaming(generator))
        else:
            await asking.ask(streaming(generator))

    anyio.run(main)
    assert asking.body == expected
    assert all(on_time)
    assert asking.complete is not fails
    assert all(bodies(asking))
