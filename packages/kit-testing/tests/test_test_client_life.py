# SPDX-License-Identifier: MIT
"""`test_client`: background tasks, streamed bodies and lifespans."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from contextvars import ContextVar
from typing import Any

import anyio
import pytest
import pytest_asyncio

from kit import Context, Kit, Response
from kit.streaming import stream_text
from kit.testing import ExecutionContext, TestClient, test_client


def background(trace: list[str], *tasks: Any, body: Any = "x") -> Kit:
    """An app whose handler leaves tasks: names to note, or exceptions to raise."""

    async def work(task: Any) -> None:
        await anyio.lowlevel.checkpoint()
        if isinstance(task, Exception):
            raise task
        trace.append(task)

    def handler(c: Context) -> Response:
        for task in tasks:
            c.execution_ctx.wait_until(work(task))
        answer = body(c) if callable(body) else body
        return answer if isinstance(answer, Response) else c.body(answer)

    return Kit().get("/", handler)


def test_background_tasks_are_done_when_the_call_returns(run: Any) -> None:
    trace: list[str] = []

    async def main() -> None:
        response = await test_client(background(trace, "a", "b")).get()
        assert sorted(trace) == ["a", "b"]
        assert await response.text() == "x"

    run(main)


def test_what_a_background_task_raises_is_raised_by_the_call(run: Any) -> None:
    trace: list[str] = []

    async def main() -> None:
        with pytest.raises(ValueError, match=r"^one$"):
            await test_client(background(trace, ValueError("one"), "b")).get()
        with pytest.raises(ExceptionGroup, match=r"^Several wait_until tasks failed") as caught:
            await test_client(background(trace, ValueError("one"), OSError("two"))).get()
        assert sorted(map(str, caught.value.exceptions)) == ["one", "two"]

    run(main)
    assert trace == ["b"]


def test_tasks_of_tasks_begin_at_once(run: Any) -> None:
    trace: list[str] = []
    app = Kit()

    async def child(done: anyio.Event) -> None:
        done.set()

    async def parent(c: Context) -> None:
        done = anyio.Event()
        c.execution_ctx.wait_until(child(done))
        await done.wait()
        trace.append("parent")

    @app.get("/")
    def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(parent(c))
        return c.text("x")

    run(lambda: test_client(app).get())
    assert trace == ["parent"]


def test_task_that_was_cancelled_is_no_fault() -> None:
    app = Kit()

    @app.get("/")
    def handler(c: Context) -> Response:
        task = asyncio.ensure_future(asyncio.sleep(60))
        task.cancel()
        c.execution_ctx.wait_until(task)
        return c.text("x")

    assert anyio.run(lambda: test_client(app).get()).status == 200


def test_cancelled_call_leaves_no_task_behind(run: Any) -> None:
    trace: list[str] = []
    app = Kit()

    async def work() -> None:
        trace.append("work")

    @app.get("/")
    async def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(work())
        await anyio.sleep_forever()
        return c.text("x")

    async def main() -> None:
        with anyio.move_on_after(0.01):
            await test_client(app).get()

    run(main)  # a coroutine that nobody awaited is a RuntimeWarning
    assert trace == []


def test_time_limit_ends_a_task_that_hangs(run: Any) -> None:
    trace: list[str] = []
    app = Kit()

    async def hang() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            trace.append("ended")

    @app.get("/")
    def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(hang())
        return c.text("x")

    async def main() -> None:
        with anyio.move_on_after(0.01):
            await test_client(app).get()

    run(main)
    assert trace == ["ended"]


def test_tasks_run_behind_a_streamed_body(run: Any) -> None:
    trace: list[str] = []

    def body(c: Context) -> AsyncIterator[str]:
        async def late() -> None:
            trace.append("late")

        async def chunks() -> AsyncIterator[str]:
            async with anyio.create_task_group():
                yield "a"
                yield "b"
            c.execution_ctx.wait_until(late())
            trace.append("body")

        return chunks()

    async def main() -> None:
        response = await test_client(background(trace, "task", body=body)).get()
        assert trace == []
        assert await response.text() == "ab"
        assert trace[0] == "body"
        assert sorted(trace) == ["body", "late", "task"]
        with pytest.raises(TypeError, match="already read"):
            await response.text()

    run(main)


def test_streamed_body_is_iterated_as_it_comes(run: Any) -> None:
    trace: list[str] = []
    app = Kit()

    @app.get("/")
    def endless(c: Context) -> Response:
        async def write(stream: Any) -> None:
            try:
                while True:
                    await stream.write("tick\n")
            finally:
                trace.append("closed")

        return stream_text(c, write)

    async def main() -> None:
        response = await test_client(app).get()
        assert response.body is not None
        async with aclosing(response.body) as chunks:
            assert [await anext(chunks) for _ in range(3)] == [b"tick\n"] * 3
        assert trace == ["closed"]

    run(main)


def test_streamed_body_that_fails_has_its_tasks_run(run: Any) -> None:
    trace: list[str] = []

    def body(c: Context) -> AsyncIterator[str]:
        async def chunks() -> AsyncIterator[str]:
            yield "a"
            raise ValueError("broken")

        return chunks()

    async def main() -> None:
        response = await test_client(background(trace, "task", body=body)).get()
        with pytest.raises(ValueError, match=r"^broken$"):
            await response.text()

    run(main)
    assert trace == ["task"]


def test_what_a_task_behind_a_streamed_body_raises_is_raised_to_the_reader(run: Any) -> None:
    app = background([], ValueError("task"), body=lambda c: iter(["a"]))

    async def main() -> None:
        response = await test_client(app).get()
        with pytest.raises(ValueError, match=r"^task$"):
            await response.text()

    run(main)


def test_streams_that_nobody_read_are_closed_with_the_client(run: Any) -> None:
    trace: list[str] = []

    def body(c: Context) -> Any:
        async def write(stream: Any) -> None:
            raise AssertionError("nobody reads it")

        return stream_text(c, write)

    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[None]:
        yield
        trace.append("shutdown")

    async def main() -> None:
        app = Kit(lifespan=lifespan).route("/", background(trace, "task", body=body))
        async with test_client(app) as client:
            await client.get()
            assert trace == []
        assert trace == ["task", "shutdown"]

    run(main)


def test_execution_context_of_the_user_is_passed_through() -> None:
    class Recorder:
        def __init__(self) -> None:
            self.left: list[Any] = []

        def wait_until(self, awaitable: Any, /) -> None:
            self.left.append(awaitable)

    recorder = Recorder()
    anyio.run(lambda: test_client(background([], "a"), None, recorder).get())
    assert len(recorder.left) == 1
    recorder.left[0].close()


def test_execution_context_of_the_user_may_be_ours(run: Any) -> None:
    trace: list[str] = []

    async def before() -> None:
        trace.append("before")

    async def main() -> None:
        context = ExecutionContext()
        context.wait_until(before())
        client = test_client(background(trace, "a"), execution_ctx=context)
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(client.get)
        assert sorted(trace) == ["a", "a", "a", "before"]

    run(main)


def test_execution_context_for_app_request(run: Any) -> None:
    trace: list[str] = []

    async def main() -> None:
        context = ExecutionContext()
        await background(trace, "a").request("/", execution_ctx=context)
        assert trace == []
        await context.finish()
        assert trace == ["a"]
        await context.finish()

    run(main)


def test_tasks_see_the_context_variables_of_their_caller(run: Any) -> None:
    variable: ContextVar[str] = ContextVar("variable", default="none")
    seen: list[str] = []
    app = Kit()

    async def work() -> None:
        seen.append(variable.get())

    @app.get("/")
    def handler(c: Context) -> Response:
        token = variable.set("of the handler")
        c.execution_ctx.wait_until(work())
        variable.reset(token)
        return c.text("x")

    run(test_client(app).get)
    assert seen == ["of the handler"]


def test_execution_context_takes_awaitables() -> None:
    with pytest.raises(TypeError) as caught:
        ExecutionContext().wait_until("x")  # type: ignore[arg-type]
    assert str(caught.value) == (
        "wait_until() takes an awaitable, not str: call the async function first"
    )


# --- lifespans ---------------------------------------------------------------------------------


def living(trace: list[str], **options: Any) -> Kit:
    """An app with a lifespan that has a task group open, as many do."""

    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[dict[str, str]]:
        async with anyio.create_task_group() as group:
            trace.append("startup")
            await options.get("startup", anyio.lowlevel.checkpoint)()
            if "task" in options:
                group.start_soon(options["task"])
            yield {"db": "open"}
            await options.get("shutdown", anyio.lowlevel.checkpoint)()
            trace.append("shutdown")

    return Kit(lifespan=lifespan).get("/", lambda c: c.json(dict(c.env)))


def test_lifespans_run_around_the_client(run: Any) -> None:
    trace: list[str] = []
    app = Kit().route("/part", living(trace)).get("/", lambda c: c.json(dict(c.env)))

    async def main() -> None:
        client = test_client(app, {"user": "ada"})
        assert await (await client.get()).json() == {"user": "ada"}
        async with client as entered:
            assert entered is client
            assert trace == ["startup"]
            assert await (await client.get()).json() == {"user": "ada", "db": "open"}
            async with client:
                assert await (await client.part.get()).json() == {"user": "ada", "db": "open"}
        assert trace == ["startup", "shutdown"]

    run(main)


async def fails() -> None:
    raise ValueError("no database")


def test_startup_that_fails_is_raised(run: Any) -> None:
    async def main() -> None:
        with pytest.raises(ExceptionGroup) as caught:
            async with test_client(living([], startup=fails)):
                raise AssertionError("it does not get here")
        assert [str(error) for error in caught.value.exceptions] == ["no database"]

    run(main)


async def test_startup_that_awaits_a_cancelled_task_is_raised() -> None:
    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[None]:
        task = asyncio.ensure_future(asyncio.sleep(0))
        task.cancel()
        await task
        yield

    with pytest.raises(RuntimeError) as caught:
        async with test_client(Kit(lifespan=lifespan)):
            pytest.fail("It has not started")
    assert str(caught.value).startswith("The startup of the lifespan raised CancelledError: it")
    assert isinstance(caught.value.__cause__, asyncio.CancelledError)


@pytest.mark.parametrize("when", ["shutdown", "task"])
def test_what_fails_later_is_raised_at_the_end(run: Any, when: str) -> None:
    async def main() -> None:
        with pytest.raises(ExceptionGroup) as caught:
            async with test_client(living([], **{when: fails})) as client:
                assert (await client.get()).status == 200
        assert [str(error) for error in caught.value.exceptions] == ["no database"]

    run(main)


@pytest.mark.parametrize("when", ["startup", "shutdown"])
def test_time_limit_ends_a_lifespan_that_hangs(run: Any, when: str) -> None:
    trace: list[str] = []
    reached: list[str] = []

    async def main() -> None:
        with anyio.CancelScope() as limit:

            async def hang() -> None:
                limit.cancel()
                await anyio.sleep_forever()

            async with test_client(living(trace, **{when: hang})):
                reached.append("body")

    run(main)
    assert trace == ["startup"]
    assert reached == ([] if when == "startup" else ["body"])


def test_event_loop_that_ends_ends_the_lifespan_as_well(run: Any) -> None:
    trace: list[str] = []

    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[None]:
        try:
            yield
        finally:
            trace.append("ended")

    run(lambda: test_client(Kit(lifespan=lifespan)).__aenter__())
    assert trace == ["ended"]


def test_test_that_fails_fails_as_it_did(run: Any) -> None:
    trace: list[str] = []

    async def main() -> None:
        with pytest.raises(KeyError, match="mine"):
            async with test_client(living(trace)):
                raise KeyError("mine")

    run(main)
    assert trace == ["startup", "shutdown"]


FIXTURE_TRACE: list[str] = []


@pytest_asyncio.fixture
async def client() -> AsyncIterator[TestClient]:
    async with test_client(living(FIXTURE_TRACE)) as client:
        yield client


async def test_client_of_a_fixture_that_is_left_in_another_task(client: TestClient) -> None:
    assert await (await client.get()).json() == {"db": "open"}
