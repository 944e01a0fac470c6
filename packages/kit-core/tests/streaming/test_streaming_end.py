# SPDX-License-Identifier: MIT
"""`kit.streaming`: clients that go away, errors, `close` and `abort`.

On asyncio and trio; served, within a middleware that changes the body, and read in process.
"""

from __future__ import annotations

import asyncio
import copy
import gc
import logging
import pickle
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from kit import Context, Kit, Response
from kit.streaming import (
    StreamAbortedError,
    StreamClosedError,
    StreamingApi,
    stream,
    stream_sse,
    stream_text,
)
from kit.web import ClientDisconnectedError

Callback = Callable[[Any], Awaitable[object]]


def served(callback: Callback, on_error: Any = None, helper: Any = stream) -> Kit:
    return Kit().get("/", lambda c: helper(c, callback, on_error))


def wrapped(callback: Callback, on_error: Any = None) -> Kit:
    """As `served`, within a middleware that changes the body as it comes."""
    app = Kit()

    async def shout(body: Any) -> AsyncIterator[bytes]:
        async with aclosing(body) as chunks:
            async for chunk in chunks:
                yield chunk.upper()

    @app.use("*")
    async def middleware(c: Context, next: Any) -> None:
        await next()
        c.res = Response(shout(c.res.body), status=c.res.status)

    return app.get("/", lambda c: stream(c, callback, on_error))


MAKERS = pytest.mark.parametrize("make", [served, wrapped], ids=["plain", "wrapped"])


# --- the client goes away ----------------------------------------------------------------------


def leaving(trace: list[Any], *, waits: bool) -> Callback:
    async def callback(stream: StreamingApi) -> None:
        async def on_abort() -> None:
            await anyio.sleep(0.01)  # longer than the callback needs to end
            trace.append("async")

        def fails() -> None:
            raise ValueError("in on_abort")

        stream.on_abort(lambda: trace.append(("sync", stream.aborted, stream.closed)))
        stream.on_abort(fails)
        stream.on_abort(on_abort)
        try:
            await stream.write("first")
            while waits:
                await stream.sleep(60)
            while True:
                await stream.write("more")
        finally:
            trace.append(("finally", stream.aborted, stream.closed))
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.001)
                with pytest.raises(StreamClosedError) as caught:
                    await stream.write("late")
            trace.append(str(caught.value))

    return callback


@pytest.mark.parametrize("waits", [True, False], ids=["while it waits", "while it writes"])
@pytest.mark.parametrize("failing", [None, OSError("gone")], ids=["ignored", "send fails"])
@pytest.mark.parametrize("busy", [True, False], ids=["busy", "never waits"])
@MAKERS
def test_client_going_away_cancels_the_callback(
    run: Any,
    client: Any,
    make: Any,
    waits: bool,
    failing: Any,
    busy: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    trace: list[Any] = []
    on_error: list[Any] = []
    asking = client(leaves_after=2, failing=failing, busy=busy)
    run(asking.ask, make(leaving(trace, waits=waits), lambda e, s: on_error.append(e)))
    late = "Can't write to the stream: it was aborted, or the client went away"
    assert trace[0] == ("sync", True, True)
    assert set(trace[1:]) == {"async", ("finally", True, True), late}
    assert len(trace) == 4
    assert len(asking.sent) == 2
    assert on_error == []
    [record] = caplog.records
    assert record.getMessage() == "Exception in an on_abort callback of stream() for GET /"


def test_callback_that_catches_exceptions_is_stopped(run: Any, client: Any) -> None:
    trace: list[str] = []

    async def callback(stream: StreamingApi) -> None:
        try:
            while True:
                try:
                    await stream.write("x")
                except Exception:
                    trace.append("caught")
        finally:
            trace.append("finally")

    for failing in (None, OSError("gone")):
        trace.clear()
        run(client(leaves_after=3, failing=failing).ask, served(callback))
        assert trace == ["finally"]


def test_callback_that_ends_well_although_the_client_is_gone(run: Any, client: Any) -> None:
    async def callback(stream: StreamingApi) -> None:
        with anyio.CancelScope(shield=True):
            await stream.write("x")
            while not stream.aborted:
                await anyio.sleep(0.001)

    asking = client(leaves_after=2)
    run(asking.ask, served(callback))
    assert not asking.complete


@MAKERS
def test_cancellation_by_the_server(run: Any, client: Any, make: Any) -> None:
    trace: list[Any] = []

    async def callback(stream: StreamingApi) -> None:
        stream.on_abort(lambda: trace.append(("on_abort", stream.aborted)))
        try:
            while True:
                await stream.write("x")
                await stream.sleep(0.001)
        finally:
            trace.append("finally")

    async def main() -> bool:
        asking = client()
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(asking.ask, make(callback))
                while len(asking.sent) < 3:
                    await anyio.sleep(0.001)
                scope.cancel()
        return scope.cancelled_caught

    assert run(main)
    assert sorted(map(str, trace)) == ["('on_abort', True)", "finally"]


def test_reader_in_process_that_stops_early(run: Any) -> None:
    trace: list[Any] = []

    async def main() -> None:
        body: Any = (await served(leaving(trace, waits=False)).request("/")).body
        assert await anext(body) == b"first"
        await body.aclose()
        assert len(trace) == 4

    run(main)


def test_reader_in_process_that_is_cancelled(run: Any) -> None:
    trace: list[Any] = []

    async def main() -> None:
        async def callback(stream: StreamingApi) -> None:
            group.cancel_scope.cancel()
            await leaving(trace, waits=True)(stream)

        async with anyio.create_task_group() as group:
            await (await served(callback).request("/")).text()
        assert len(trace) == 4

    run(main)


def test_clients_request_that_breaks_off_is_no_fault(
    run: Any, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    trace: list[Any] = []

    async def callback(stream: StreamingApi) -> None:
        stream.on_abort(lambda: trace.append(stream.aborted))
        await stream.write("x")
        raise ClientDisconnectedError("while its body was read")

    for make in (served, wrapped):
        asking = client()
        run(asking.ask, make(callback))
        assert not asking.complete
    assert trace == [True, True]
    assert caplog.records == []


async def test_body_that_is_dropped_half_way_is_closed_by_the_garbage_collector() -> None:
    trace: list[Any] = []
    body: Any = (await served(leaving(trace, waits=True)).request("/")).body
    assert await anext(body) == b"first"
    del body
    gc.collect()
    async with asyncio.timeout(5):
        while len(trace) < 4:
            await asyncio.sleep(0.001)


@MAKERS
def test_shielded_tasks_that_write_on(
    run: Any, client: Any, make: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def callback(stream: StreamingApi) -> None:
        async def shielded() -> None:
            with anyio.CancelScope(shield=True):
                while True:
                    await stream.write("x")

        async with anyio.create_task_group() as group:
            group.start_soon(shielded)
            group.start_soon(shielded)

    asking = client(leaves_after=3)
    run(asking.ask, make(callback))
    assert not asking.complete
    assert caplog.records == []


async def test_tasks_of_asyncio_are_cancelled_with_the_callback(client: Any) -> None:
    trace: list[str] = []

    async def callback(stream: StreamingApi) -> None:
        async def work() -> None:
            try:
                while True:
                    await stream.write("x")
            finally:
                trace.append("task")

        try:
            async with asyncio.timeout(60), asyncio.TaskGroup() as group:
                group.create_task(work())
                group.create_task(work())
        finally:
            trace.append("callback")

    for make in (served, wrapped):
        trace.clear()
        await client(leaves_after=4).ask(make(callback))
        assert trace == ["task", "task", "callback"]


# --- errors ------------------------------------------------------------------------------------


def failing_after(number: int, error: Exception) -> Callback:
    async def callback(stream: StreamingApi) -> None:
        for _ in range(number):
            await stream.write("X")
        raise error

    return callback


async def cut(asking: Any, app: Kit) -> Exception:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the caller looks at it
        await asking.ask(app)
    assert not asking.complete
    return caught.value


@pytest.mark.parametrize("number", [0, 1, 3])
@pytest.mark.parametrize("error", [ValueError("broke"), OSError("own")], ids=repr)
@MAKERS
def test_error_is_logged_and_cuts_the_answer(
    run: Any,
    client: Any,
    make: Any,
    number: int,
    error: Exception,
    caplog: pytest.LogCaptureFixture,
) -> None:
    asking = client()
    app = make(failing_after(number, error)).on_error(lambda e, c: c.text("never"))
    assert run(cut, asking, app) is error
    assert asking.sent[0]["status"] == 200
    assert asking.body == b"X" * number
    [record] = caplog.records
    assert (record.name, record.levelno) == ("kit", logging.ERROR)
    assert record.getMessage() == "Exception in the callback of stream() for GET /"
    assert record.exc_info is not None
    assert record.exc_info[1] is error
    assert "callback" in [frame.name for frame in traceback.extract_tb(error.__traceback__)]


@pytest.mark.parametrize("helper", [stream, stream_text, stream_sse])
def test_error_reaches_who_reads_in_process(run: Any, helper: Any) -> None:
    async def main() -> None:
        app = served(failing_after(2, ValueError("broke")), helper=helper)
        body: Any = (await app.request("/")).body
        assert [await anext(body), await anext(body)] == [b"X", b"X"]
        with pytest.raises(ValueError, match=r"^broke$"):
            await anext(body)
        with pytest.raises(ValueError, match=r"^broke$"):
            await (await app.request("/")).text()

    run(main)


@MAKERS
async def test_exit_of_the_callback_does_not_end_the_event_loop(client: Any, make: Any) -> None:
    async def callback(stream: StreamingApi) -> None:
        await stream.write("a")
        raise SystemExit("no")

    with pytest.raises(SystemExit, match=r"^no$"):
        await client().ask(make(callback))
    await anyio.lowlevel.checkpoint()


def test_path_in_the_log_can_not_forge_a_line(run: Any, caplog: pytest.LogCaptureFixture) -> None:
    app = Kit().get("/*", lambda c: stream_text(c, failing_after(0, ValueError("broke"))))

    async def main() -> None:
        with pytest.raises(ValueError, match=r"^broke$"):
            await (await app.request("/a%0Ab")).text()

    run(main)
    assert [record.getMessage() for record in caplog.records] == [
        "Exception in the callback of stream_text() for GET /a\\nb"
    ]


@pytest.mark.parametrize("kind", ["async", "plain"])
@MAKERS
def test_on_error(
    run: Any, client: Any, make: Any, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[Any] = []

    def on_error(error: Exception, stream: StreamingApi) -> Any:
        seen.append((error, stream.closed, stream.aborted))
        return stream.write("SORRY") if kind == "async" else None

    error = ValueError("broke")
    asking = client()
    app = make(failing_after(1, error), on_error)
    assert run(cut, asking, app) is error
    assert asking.body == (b"XSORRY" if kind == "async" else b"X")
    assert seen == [(error, False, False)]
    assert caplog.records == []


@MAKERS
def test_on_error_may_say_that_the_answer_is_complete(run: Any, client: Any, make: Any) -> None:
    async def on_error(error: Exception, stream: StreamingApi) -> None:
        await stream.write("SORRY")
        stream.close()

    asking = client()
    assert run(asking.ask, make(failing_after(1, ValueError("broke")), on_error)).body == b"XSORRY"
    assert asking.complete


@MAKERS
def test_on_error_that_raises(
    run: Any, client: Any, make: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def on_error(error: Exception, stream: StreamingApi) -> None:
        raise TypeError("second") from error

    error = ValueError("broke")
    assert run(cut, client(), make(failing_after(1, error), on_error)) is error
    [record] = caplog.records
    assert record.getMessage() == "Exception in the on_error of stream() for GET /"
    assert record.exc_info is not None
    assert str(record.exc_info[1]) == "second"


def test_error_while_the_client_goes_away_is_logged(
    run: Any, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def callback(stream: StreamingApi) -> None:
        try:
            await stream.write("x")
            await stream.sleep(60)
        finally:
            raise ValueError("in finally")

    run(client(leaves_after=2).ask, served(callback))
    assert [str(record.exc_info[1]) for record in caplog.records] == ["in finally"]  # type: ignore[index]


async def test_callback_that_awaits_what_was_cancelled(client: Any) -> None:
    """It is an error of the callback, whose response is cut."""

    async def callback(stream: StreamingApi) -> None:
        await stream.write("x")
        task = asyncio.create_task(asyncio.sleep(60))
        task.cancel()
        await task

    asking = client()
    with pytest.raises(RuntimeError) as caught:
        await asking.ask(served(callback))
    assert isinstance(caught.value.__cause__, asyncio.CancelledError)
    assert not asking.complete
    assert type(await cut(client(), wrapped(callback))) is StreamAbortedError


def plain_callback(stream: StreamingApi) -> None: ...


async def generator_callback(stream: StreamingApi) -> AsyncIterator[str]:
    yield "x"


@pytest.mark.parametrize(
    ("callback", "gave"),
    [(plain_callback, "NoneType"), (generator_callback, "async_generator")],
    ids=["plain", "generator"],
)
def test_callback_that_is_not_async(run: Any, client: Any, callback: Any, gave: str) -> None:
    line = callback.__code__.co_firstlineno
    assert str(run(cut, client(), served(callback))) == (
        "stream() takes an async function, which awaits stream.write(): "
        f"{callback.__name__} ({__file__}:{line}) returned {gave}"
    )


# --- close and abort ---------------------------------------------------------------------------


@MAKERS
def test_close(run: Any, client: Any, make: Any, caplog: pytest.LogCaptureFixture) -> None:
    seen: list[Any] = []

    async def callback(stream: StreamingApi) -> None:
        seen.append(stream.closed)
        await stream.write("X")
        stream.close()
        seen.append((stream.closed, stream.aborted))
        await stream.write("never")

    asking = client()
    assert run(asking.ask, make(callback)).body == b"X"
    assert asking.complete
    assert seen == [False, (True, False)]
    [record] = caplog.records
    assert record.exc_info is not None
    assert type(record.exc_info[1]) is StreamClosedError
    assert str(record.exc_info[1]) == "Can't write to the stream: it was closed by close()"


@pytest.mark.parametrize("again", [True, False])
@MAKERS
def test_abort(
    run: Any, client: Any, make: Any, again: bool, caplog: pytest.LogCaptureFixture
) -> None:
    trace: list[Any] = []

    async def callback(stream: StreamingApi) -> None:
        stream.on_abort(lambda: trace.append("on_abort"))
        await stream.write("X")
        await stream.abort()
        trace.append((stream.aborted, stream.closed))
        if again:
            await stream.abort()
            await stream.write("never")
            trace.append("never")

    asking = client()
    error = run(cut, asking, make(callback))
    assert type(error) is StreamAbortedError
    assert str(error) == "The stream was aborted, so the response is incomplete"
    assert asking.body == b"X"
    assert trace == ["on_abort", (True, True)]
    assert caplog.records == []


@MAKERS
def test_abort_by_another_task(run: Any, client: Any, make: Any) -> None:
    streams: list[StreamingApi] = []

    async def callback(stream: StreamingApi) -> None:
        streams.append(stream)
        await stream.write("X")
        await stream.sleep(60)

    async def main() -> None:
        asking = client()

        async def abort() -> None:
            while len(asking.sent) < 2:
                await anyio.sleep(0.001)
            await streams[0].abort()

        async with anyio.create_task_group() as group:
            group.start_soon(abort)
            assert type(await cut(asking, make(callback))) is StreamAbortedError

    run(main)


def test_abort_when_it_is_over_does_nothing(run: Any, client: Any) -> None:
    streams: list[StreamingApi] = []

    async def callback(stream: StreamingApi) -> None:
        streams.append(stream)
        stream.on_abort(lambda: pytest.fail("called"))

    async def main() -> None:
        await client().ask(served(callback))
        await streams[0].abort()
        assert (streams[0].aborted, streams[0].closed) == (False, True)

    run(main)


@pytest.mark.parametrize("error", [StreamAbortedError(), StreamClosedError("it is over")], ids=str)
def test_errors_survive_pickle_and_copy(error: Exception) -> None:
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is type(error)
        assert (str(other), other.args) == (str(error), error.args)
