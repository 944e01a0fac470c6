# SPDX-License-Identifier: MIT
"""`c.execution_ctx.wait_until` under ASGI: after the response, and never lost."""

from __future__ import annotations

import asyncio
import logging
from contextvars import ContextVar
from typing import Any

import anyio
import pytest

from kit import Context, HTTPException, Kit, Next, Response


@pytest.fixture
def serve(client: Any) -> Any:
    """Serves a request and notes what is sent: `await serve(app, trace, failing=error)`."""

    async def serve(app: Any, trace: list[str], *, failing: Exception | None = None) -> None:
        class Noting(client):
            async def take(self, message: dict[str, Any]) -> None:
                if failing is not None:
                    raise failing
                trace.append(message["type"].removeprefix("http.response."))

        await Noting().ask(app)

    return serve


async def work(trace: list[str], name: str = "work") -> None:
    await anyio.lowlevel.checkpoint()
    trace.append(name)


def faults(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        f"{record.name} {record.getMessage()}: {record.exc_info[1]}"
        for record in caplog.records
        if record.exc_info and record.levelno == logging.ERROR
    ]


LOST = "kit A wait_until task failed; its response was sent before"


@pytest.mark.parametrize("body", ["bytes", "stream"])
def test_it_runs_after_the_response(run: Any, serve: Any, body: str) -> None:
    trace: list[str] = []
    app = Kit()

    @app.get("/")
    def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(work(trace))
        return c.body(b"x" if body == "bytes" else ["x"])

    run(serve, app, trace)
    assert trace == ["start", *["body"] * (1 if body == "bytes" else 2), "work"]


def test_it_sees_the_context_variables_of_its_caller(run: Any, serve: Any) -> None:
    variable: ContextVar[str] = ContextVar("variable", default="none")
    trace: list[str] = []
    app = Kit()

    async def inner() -> None:
        trace.append(f"inner {variable.get()}")

    async def outer(c: Context) -> None:
        trace.append(f"outer {variable.get()}")
        variable.set("of outer")
        c.execution_ctx.wait_until(inner())

    @app.use()
    async def middleware(c: Context, next: Next) -> None:
        token = variable.set("of middleware")
        await next()
        variable.reset(token)

    @app.get("/")
    def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(outer(c))
        return c.body(None)

    run(serve, app, trace)
    assert trace == ["start", "body", "outer of middleware", "inner of outer"]


def test_several_run_side_by_side(run: Any, serve: Any) -> None:
    trace: list[str] = []
    app = Kit()

    async def first(event: anyio.Event) -> None:
        await event.wait()
        trace.append("first")

    async def second(event: anyio.Event) -> None:
        trace.append("second")
        event.set()

    @app.get("/")
    def handler(c: Context) -> Response:
        event = anyio.Event()
        c.execution_ctx.wait_until(first(event))
        c.execution_ctx.wait_until(second(event))
        return c.text("x")

    run(serve, app, trace)
    assert trace == ["start", "body", "second", "first"]


def test_execution_ctx_is_one_for_the_request(run: Any, serve: Any) -> None:
    trace: list[str] = []
    seen: list[Any] = []
    app = Kit()

    @app.use("*")
    async def middleware(c: Context, next: Any) -> None:
        seen.append(c.execution_ctx)
        await next()
        c.execution_ctx.wait_until(work(trace, "middleware"))

    @app.get("/")
    def handler(c: Context) -> Response:
        seen.append(c.execution_ctx)
        c.execution_ctx.wait_until(work(trace, "handler"))
        return c.text("x")

    run(serve, app, trace)
    assert seen[0] is seen[1]
    assert sorted(trace[2:]) == ["handler", "middleware"]


def test_nested(run: Any, serve: Any) -> None:
    trace: list[str] = []
    app = Kit()

    async def outer(c: Context, depth: int) -> None:
        trace.append(f"depth {depth}")
        if depth < 3:
            c.execution_ctx.wait_until(outer(c, depth + 1))

    @app.get("/")
    def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(outer(c, 1))
        return c.text("x")

    run(serve, app, trace)
    assert trace == ["start", "body", "depth 1", "depth 2", "depth 3"]


def test_nested_one_begins_while_its_parent_goes_on(run: Any, serve: Any) -> None:
    trace: list[str] = []
    app = Kit()

    async def child(done: anyio.Event) -> None:
        done.set()

    async def parent(c: Context) -> None:
        done = anyio.Event()
        c.execution_ctx.wait_until(child(done))
        with anyio.move_on_after(1):
            await done.wait()
        trace.append(f"child done: {done.is_set()}")

    @app.get("/")
    def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(parent(c))
        return c.text("x")

    run(serve, app, trace)
    assert trace[2:] == ["child done: True"]


def test_failure_is_logged_and_stops_no_other(
    run: Any, serve: Any, caplog: pytest.LogCaptureFixture
) -> None:
    trace: list[str] = []
    app = Kit().on_error(lambda error, c: trace.append("on_error") or c.text("x"))

    async def fails(error: BaseException) -> None:
        raise error

    @app.get("/")
    def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(fails(ValueError("one")))
        c.execution_ctx.wait_until(work(trace))
        c.execution_ctx.wait_until(fails(HTTPException(400, "two")))
        c.execution_ctx.wait_until(fails(SystemExit("three")))  # would end the server
        return c.text("x")

    run(serve, app, trace)
    assert trace == ["start", "body", "work"]
    assert sorted(faults(caplog)) == [f"{LOST}: 400 two", f"{LOST}: one", f"{LOST}: three"]


def test_what_was_left_before_an_error_runs_as_well(run: Any, serve: Any) -> None:
    trace: list[str] = []
    app = Kit()

    @app.get("/")
    def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(work(trace))
        raise ValueError("handler fails")

    run(serve, app, trace)
    assert trace == ["start", "body", "work"]


class Done:
    def __await__(self) -> Any:
        raise AssertionError("unreachable: refused")


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ([None], "NoneType"),
        ([5], "int"),
        ([work], "function"),
        ([work, 3, "a"], "3 arguments"),
        ([Done(), Done()], "2 arguments"),
    ],
    ids=["None", "int", "function", "arguments", "two"],
)
def test_what_can_not_be_awaited_is_refused(
    run: Any, serve: Any, arguments: Any, given: str
) -> None:
    texts: list[str] = []
    app = Kit()

    @app.get("/")
    def handler(c: Context) -> Response:
        with pytest.raises(TypeError) as caught:
            c.execution_ctx.wait_until(*arguments)
        texts.append(str(caught.value))
        return c.text("x")

    run(serve, app, [])
    assert texts == [f"wait_until() takes one awaitable, not {given}"]


async def test_futures_and_tasks_are_awaitables_too(serve: Any) -> None:
    trace: list[str] = []
    app = Kit()

    class Awaitable:
        def __await__(self) -> Any:
            yield from asyncio.sleep(0).__await__()
            trace.append("object")

    @app.get("/")
    async def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(asyncio.ensure_future(work(trace, "task")))
        c.execution_ctx.wait_until(Awaitable())
        return c.text("x")

    await serve(app, trace)
    assert sorted(trace) == ["body", "object", "start", "task"]


async def test_a_task_that_was_cancelled_is_no_cancellation_of_the_others(serve: Any) -> None:
    trace: list[str] = []
    app = Kit()

    @app.get("/")
    async def handler(c: Context) -> Response:
        task = asyncio.ensure_future(asyncio.sleep(3600))
        task.cancel()
        c.execution_ctx.wait_until(task)
        c.execution_ctx.wait_until(work(trace))
        return c.text("x")

    await serve(app, trace)
    assert trace == ["start", "body", "work"]


# --- never lost --------------------------------------------------------------------------------


def test_it_runs_although_the_client_is_gone(run: Any, serve: Any) -> None:
    trace: list[str] = []
    app = Kit()

    @app.get("/")
    def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(work(trace))
        return c.text("x")

    async def main() -> None:
        with pytest.raises(OSError, match=r"^gone$"):
            await serve(app, trace, failing=OSError("gone"))

    run(main)
    assert trace == ["work"]


def test_it_runs_although_the_stream_failed(run: Any, serve: Any) -> None:
    trace: list[str] = []
    app = Kit()

    async def broken() -> Any:
        yield "x"
        raise ValueError("stream fails")

    @app.get("/")
    def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(work(trace))
        return c.body(broken())

    async def main() -> None:
        with pytest.raises(ValueError, match=r"^stream fails$"):
            await serve(app, trace)

    run(main)
    assert trace == ["start", "body", "work"]


@pytest.mark.parametrize("when", ["in the handler", "in a task"])
def test_cancellation_leaves_nothing_behind(run: Any, serve: Any, when: str) -> None:
    trace: list[str] = []
    app = Kit()

    async def long(name: str) -> None:
        try:
            trace.append(name)
            await anyio.sleep_forever()
        finally:
            trace.append(f"{name} ended")

    @app.get("/")
    async def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(long("task"))
        if when == "in the handler":
            await long("handler")
        return c.text("x")

    async def main() -> bool:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(serve, app, trace)
                while not {"handler", "task"} & set(trace):
                    await anyio.sleep(0.001)
                scope.cancel()
        return scope.cancelled_caught

    assert run(main)
    assert trace[-1] == ("handler ended" if when == "in the handler" else "task ended")


def test_what_comes_too_late_is_told(run: Any, serve: Any) -> None:
    kept: list[Any] = []
    trace: list[str] = []
    app = Kit().get("/", lambda c: kept.append(c.execution_ctx) or c.text("x"))

    async def main() -> None:
        await serve(app, trace)
        late = work(trace)
        try:
            with pytest.raises(RuntimeError, match=r"wait_until\(\).*over"):
                kept[0].wait_until(late)
        finally:
            late.close()

    run(main)
