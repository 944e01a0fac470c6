# SPDX-License-Identifier: MIT
"""What happens to handlers when their time is up, and what is answered."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import pytest

import kit.timeout
from kit import Context, HTTPException, Kit, Next, Response, in_thread
from kit.interface import plugins
from kit.interface.metadata import get_facts
from kit.timeout import timeout

SHORT_S = 0.01
LONG_S = 20.0
UP = (504, "Gateway Timeout")


class LateError(HTTPException):
    """An exception of an app's own."""

    def __init__(self, message: str = "late") -> None:
        super().__init__(503, message, headers={"Retry-After": "30"})


async def sleeps(c: Context) -> Response:
    await anyio.sleep_forever()
    raise AssertionError


async def until_time_is_up(seconds: float = 2 * SHORT_S) -> None:
    """Waits until a timeout that began before is certainly over."""
    end = anyio.current_time() + seconds
    while anyio.current_time() < end:
        await anyio.sleep(0.001)


def block(seconds: float = 2 * SHORT_S) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def app_with(handler: Any, *middleware: Any) -> Kit:
    app = Kit()
    app.get("/*", *(middleware or (timeout(SHORT_S),)), handler)
    return app


async def ask(app: Kit, path: str = "/") -> tuple[int, str]:
    response = await app.request(path)
    return response.status, await response.text()


# --- the answer ----------------------------------------------------------------------------------


def test_a_handler_that_takes_too_long(run: Callable[..., Any]) -> None:
    assert run(ask, app_with(sleeps)) == UP


async def quick(c: Context) -> Response:
    await anyio.sleep(0)
    return c.text("quick")


def plain(c: Context) -> Response:
    return c.text("plain")


async def fails(c: Context) -> Response:
    await anyio.sleep(0)
    raise HTTPException(418, "teapot")


@pytest.mark.parametrize(
    ("handler", "expected"),
    [(quick, (200, "quick")), (plain, (200, "plain")), (fails, (418, "teapot"))],
)
def test_in_time(run: Callable[..., Any], handler: Any, expected: tuple[int, str]) -> None:
    assert run(ask, app_with(handler, timeout(LONG_S))) == expected


def test_no_route(run: Callable[..., Any]) -> None:
    app = Kit()
    app.use(timeout(LONG_S))
    assert run(ask, app) == (404, "404 Not Found")


def of_path(c: Context) -> HTTPException:
    return HTTPException(503, f"late {c.req.path}")


async def of_path_later(c: Context) -> HTTPException:
    await anyio.sleep(0)
    return of_path(c)


def raises(c: Context) -> HTTPException:
    raise HTTPException(429, "raised")


@pytest.mark.parametrize(
    ("exception", "expected"),
    [
        (HTTPException(408, "late"), (408, "late")),
        (LateError(), (503, "late")),
        (of_path, (503, "late /x")),
        (of_path_later, (503, "late /x")),
        (lambda c: LateError("own"), (503, "own")),
        (raises, (429, "raised")),
    ],
)
def test_exception(run: Callable[..., Any], exception: Any, expected: tuple[int, str]) -> None:
    app = app_with(sleeps, timeout(SHORT_S, exception))
    for _ in range(2):
        assert run(ask, app, "/x") == expected


def test_an_exception_is_raised_as_it_is(run: Callable[..., Any]) -> None:
    late = LateError()
    seen: list[Exception] = []
    lengths: list[int] = []

    def on_error(error: Exception, c: Context) -> Response:
        seen.append(error)
        lengths.append(len(traceback.extract_tb(error.__traceback__)))
        assert c.error is error
        return c.text("handled", 500)

    app = app_with(sleeps, timeout(SHORT_S, late))
    app.on_error(on_error)
    for _ in range(3):
        assert run(ask, app) == (500, "handled")
    assert seen == [late] * 3
    # A traceback that grew with every request would be a leak.
    assert len(set(lengths)) == 1


def test_a_function_that_returns_no_exception(
    run: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    def wrong(c: Context) -> Any:
        return "too late"

    assert run(ask, app_with(sleeps, timeout(SHORT_S, wrong))) == (500, "Internal Server Error")
    [record] = caplog.records
    assert record.exc_info is not None
    text = str(record.exc_info[1])
    assert text.startswith("test_a_function_that_returns_no_exception.<locals>.wrong (")
    assert text.endswith(
        ") returned 'too late' as the exception of timeout(): return an HTTPException"
    )


def test_nothing_is_logged(run: Callable[..., Any], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="kit"):
        assert run(ask, app_with(sleeps)) == UP
    assert [record for record in caplog.records if record.name.startswith("kit")] == []


# --- cancellation --------------------------------------------------------------------------------


def test_finally_runs_before_the_answer(run: Callable[..., Any]) -> None:
    steps: list[str] = []

    async def handler(c: Context) -> Response:
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            steps.append("caught")
            raise
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0)
                steps.append("finally")
        raise AssertionError

    async def inner(c: Context, next: Next) -> None:
        await next()
        steps.append("after next")

    async def outer(c: Context, next: Next) -> None:
        await next()
        steps.append(f"answered {c.res.status}")

    assert run(ask, app_with(handler, outer, timeout(SHORT_S), inner)) == UP
    assert steps == ["caught", "finally", "answered 504"]


@pytest.mark.parametrize("nested", [False, True])
def test_clean_up_may_await_on_asyncio(nested: bool) -> None:
    """Otherwise a pool would have to throw a connection away for each late request."""
    steps: list[str] = []

    async def handler(c: Context) -> Response:
        try:
            async with anyio.create_task_group() if nested else nullcontext():
                return await sleeps(c)
        finally:
            for _ in range(3):
                await anyio.sleep(0.001)
            steps.append("rolled back")

    async def main() -> tuple[tuple[int, str], int]:
        found = await ask(app_with(handler))
        task = asyncio.current_task()
        assert task is not None
        return found, task.cancelling()

    assert asyncio.run(main()) == (UP, 0)
    assert steps == ["rolled back"]


async def in_task_group(c: Context) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep_forever)
        group.start_soon(anyio.sleep_forever)


async def in_scopes(c: Context) -> None:
    with anyio.move_on_after(LONG_S), anyio.CancelScope(), anyio.fail_after(LONG_S):
        await anyio.sleep_forever()


async def reading(c: Context) -> None:
    send, receive = anyio.create_memory_object_stream[int]()
    async with send, receive:
        await receive.receive()


@pytest.mark.parametrize("wait", [in_task_group, in_scopes, reading])
def test_whatever_the_handler_waits_in(run: Callable[..., Any], wait: Any) -> None:
    assert run(ask, app_with(wait)) == UP


async def gathering(c: Context) -> None:
    await asyncio.gather(asyncio.sleep(LONG_S), asyncio.sleep(LONG_S))


async def wait_for(c: Context) -> None:
    await asyncio.wait_for(asyncio.sleep(LONG_S), LONG_S)


async def asyncio_timeout(c: Context) -> None:
    async with asyncio.timeout(LONG_S):
        await asyncio.sleep(LONG_S)


async def asyncio_group(c: Context) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.sleep(LONG_S))
        await asyncio.sleep(LONG_S)


async def own_task(c: Context) -> None:
    await asyncio.create_task(asyncio.sleep(LONG_S))


async def future(c: Context) -> None:
    await asyncio.get_running_loop().create_future()


async def queue(c: Context) -> None:
    await asyncio.Queue[int]().get()


async def condition(c: Context) -> None:
    changed = asyncio.Condition()
    async with changed:
        await changed.wait()


@pytest.mark.parametrize(
    "wait",
    [gathering, wait_for, asyncio_timeout, asyncio_group, own_task, future, queue, condition],
)
def test_whatever_of_asyncio_the_handler_waits_in(wait: Any) -> None:
    async def main() -> tuple[tuple[int, str], int]:
        async with asyncio.timeout(LONG_S):
            found = await ask(app_with(wait))
        task = asyncio.current_task()
        assert task is not None
        return found, task.cancelling()

    assert asyncio.run(main()) == (UP, 0)


def test_what_it_shields_is_done(run: Callable[..., Any]) -> None:
    steps: list[str] = []

    async def shields(c: Context) -> Response:
        with anyio.CancelScope(shield=True):
            await until_time_is_up()
            steps.append("saved")
        await anyio.sleep(0)
        raise AssertionError

    assert run(ask, app_with(shields)) == UP
    assert steps == ["saved"]


async def answers_shielded(c: Context) -> Response:
    with anyio.CancelScope(shield=True):
        await until_time_is_up()
        return c.text("late, but done")


async def answers_cancelled(c: Context) -> Response:
    try:
        await anyio.sleep_forever()
    except BaseException:
        return c.text("late, but done")
    raise AssertionError


async def blocks(c: Context) -> Response:
    await anyio.sleep(0)
    block()
    return c.text("late, but done")


def blocks_at_once(c: Context) -> Response:
    block()
    return c.text("late, but done")


@pytest.mark.parametrize("handler", [answers_shielded, answers_cancelled, blocks, blocks_at_once])
def test_an_answer_that_comes_all_the_same_stands(run: Callable[..., Any], handler: Any) -> None:
    assert run(ask, app_with(handler)) == (200, "late, but done")


def test_time_before_the_first_wait_counts(run: Callable[..., Any]) -> None:
    async def handler(c: Context) -> Response:
        block(0.05)
        with anyio.move_on_after(LONG_S):
            await anyio.sleep_forever()
        return c.text("waited again")

    async def timed() -> tuple[int, str]:
        with anyio.fail_after(LONG_S / 2):
            return await ask(app_with(handler, timeout(0.05)))

    assert run(timed) == UP


def test_a_fault_on_the_way_out_is_a_fault(
    run: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    async def handler(c: Context) -> Response:
        try:
            await anyio.sleep_forever()
        finally:
            raise ValueError("the rollback failed")

    assert run(ask, app_with(handler)) == (500, "Internal Server Error")
    assert "the rollback failed" in caplog.text


def test_middleware_that_takes_too_long(run: Callable[..., Any]) -> None:
    async def before(c: Context, next: Next) -> None:
        await anyio.sleep_forever()

    async def after(c: Context, next: Next) -> None:
        await next()
        c.header("x-of-the-first", "1")
        await anyio.sleep_forever()

    for slow in (before, after):
        assert run(ask, app_with(plain, timeout(SHORT_S), slow)) == UP


# --- threads -------------------------------------------------------------------------------------


def test_a_thread_is_waited_for(run: Callable[..., Any]) -> None:
    done: list[bool] = []

    @in_thread
    def handler(c: Context) -> Response:
        block(5 * SHORT_S)
        done.append(True)
        return c.text("of a thread")

    assert run(ask, app_with(handler)) == (200, "of a thread")
    assert done == [True]


def test_an_abandoned_thread_goes_on(run: Callable[..., Any]) -> None:
    has_begun, may_end, has_ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        has_begun.set()
        may_end.wait(LONG_S)
        has_ended.set()

    async def handler(c: Context) -> Response:
        async with anyio.create_task_group() as tasks:
            in_thread = partial(anyio.to_thread.run_sync, work, abandon_on_cancel=True)
            tasks.start_soon(in_thread)
            # A thread that is cancelled before it has begun never runs.
            with anyio.CancelScope(shield=True):
                while not has_begun.is_set():
                    await anyio.sleep(0)
        raise AssertionError

    async def main() -> tuple[int, str]:
        try:
            return await ask(app_with(handler))
        finally:
            assert not has_ended.is_set()
            may_end.set()

    assert run(main) == UP
    assert has_ended.wait(LONG_S)


# --- streams -------------------------------------------------------------------------------------


async def chunks() -> AsyncIterator[str]:
    yield "one "
    await until_time_is_up()
    yield "two"


def test_a_stream_under_way_is_not_cut(run: Callable[..., Any]) -> None:
    async def handler(c: Context) -> Response:
        await anyio.sleep(0)
        return c.body(chunks())

    assert run(ask, app_with(handler)) == (200, "one two")


# --- nested, and cancelled from outside ----------------------------------------------------------


@pytest.mark.parametrize(
    ("outer", "inner", "status"),
    [(LONG_S, SHORT_S, 418), (SHORT_S, LONG_S, 503), (SHORT_S, SHORT_S, 503)],
)
def test_nested(run: Callable[..., Any], outer: float, inner: float, status: int) -> None:
    stack = (
        timeout(outer, HTTPException(503, "outer")),
        timeout(inner, HTTPException(418, "inner")),
    )
    assert run(ask, app_with(sleeps, *stack))[0] == status


def test_the_outer_one_bounds_what_the_inner_one_asks(run: Callable[..., Any]) -> None:
    async def never(c: Context) -> HTTPException:
        await anyio.sleep_forever()
        raise AssertionError

    assert run(ask, app_with(sleeps, timeout(5 * SHORT_S), timeout(SHORT_S, never))) == UP


def test_a_cancellation_from_outside_stays_one(run: Callable[..., Any]) -> None:
    seen: list[Exception] = []

    async def main() -> None:
        app = Kit()
        running = anyio.Event()

        async def handler(c: Context) -> Response:
            running.set()
            return await sleeps(c)

        app.get("/", timeout(LONG_S), handler)
        app.on_error(lambda error, c: seen.append(error) or c.text("error", 500))
        async with anyio.create_task_group() as group:
            group.start_soon(ask, app)
            await running.wait()
            group.cancel_scope.cancel()
        assert group.cancel_scope.cancelled_caught

    run(main)
    assert seen == []


def test_a_cancelled_task_of_asyncio() -> None:
    async def main() -> None:
        running = asyncio.Event()

        async def handler(c: Context) -> Response:
            running.set()
            return await sleeps(c)

        task = asyncio.create_task(ask(app_with(handler, timeout(LONG_S))))
        async with asyncio.timeout(LONG_S):
            await running.wait()
            task.cancel()
            await asyncio.wait([task])
        assert task.cancelled()

    asyncio.run(main())


def test_it_can_be_used_by_many_requests_at_once(run: Callable[..., Any]) -> None:
    async def handler(c: Context) -> Response:
        if c.req.path == "/slow":
            await anyio.sleep_forever()
        await anyio.sleep(0)
        return c.text("quick")

    async def main() -> list[int]:
        app = app_with(handler, timeout(5 * SHORT_S))
        found: list[int] = []

        async def one(path: str) -> None:
            found.append((await ask(app, path))[0])

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(one, "/slow" if number % 2 else "/quick")
        return sorted(found)

    assert run(main) == [200] * 10 + [504] * 10


# --- served --------------------------------------------------------------------------------------


async def served(
    app: Any, receive: Callable[[], Awaitable[dict[str, Any]]]
) -> list[dict[str, Any]]:
    scope = {
        "type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": [],
    }  # fmt: skip
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent


def test_a_client_that_sends_its_body_slowly(run: Callable[..., Any]) -> None:
    async def handler(c: Context) -> Response:
        return c.text(await c.req.text())

    async def main() -> Any:
        app = Kit()
        app.post("/", timeout(SHORT_S), handler)
        left = [{"type": "http.request", "body": b"a", "more_body": True}]

        async def receive() -> dict[str, Any]:
            if not left:
                await anyio.sleep_forever()
            return left.pop()

        return (await served(app, receive))[0]["status"]

    assert run(main) == 504


def test_work_for_later_is_done(run: Callable[..., Any]) -> None:
    steps: list[str] = []

    async def later() -> None:
        await until_time_is_up()
        steps.append("later")

    async def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(later())
        return await sleeps(c)

    async def main() -> Any:
        app = Kit()
        app.post("/", timeout(SHORT_S), handler)

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        return (await served(app, receive))[0]["status"]

    assert run(main) == 504
    assert steps == ["later"]


# --- creation ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (("5s",), TypeError, "timeout(seconds=...) takes a number, not '5s'"),
        ((None,), TypeError, "timeout(seconds=...) takes a number, not None"),
        ((True,), TypeError, "timeout(seconds=...) takes a number, not True"),
        ((0,), ValueError, "timeout(seconds=0) can't be used: expected more than 0 seconds"),
        ((-1.5,), ValueError, "timeout(seconds=-1.5) can't be used: expected more than 0 seconds"),
        ((float("inf"),), ValueError, "expected a finite number"),
        ((float("nan"),), ValueError, "expected a finite number"),
        ((5, 408), TypeError, "takes an HTTPException, or a function (c), not 408"),
        ((5, HTTPException), TypeError, "takes an HTTPException, or a function (c), not"),
        ((5, ValueError("late")), TypeError, "takes an HTTPException, or a function (c), not"),
        ((5, lambda: HTTPException(503)), TypeError, "takes a function (c): got the signature"),
    ],
)
def test_wrong_calls(arguments: tuple[Any, ...], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        timeout(*arguments)
    assert text in str(raised.value)


def test_public_names() -> None:
    assert kit.timeout.__all__ == ("ExceptionFunction", "cancel_on_disconnect", "timeout")
    assert plugins.load("kit.middleware", "timeout") is timeout


def test_facts_and_name() -> None:
    middleware: Any = timeout(5)
    assert middleware.__name__ == "timeout"
    assert get_facts(middleware).responses == {504: "The request took too long"}
    own = timeout(5, HTTPException(408))
    assert get_facts(own).responses == {408: "The request took too long"}
    assert get_facts(timeout(5, of_path)).responses == {}
