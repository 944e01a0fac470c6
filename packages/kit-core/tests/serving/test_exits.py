# SPDX-License-Identifier: MIT
"""`c.add_cleanup`: after the response, last first, whatever becomes of the request."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kit import Context, HTTPException, Kit, Request, Response
from kit.streaming import stream


class Trace(list[Any]):
    """Notes what happens in a request."""

    def exit(self, name: str, answer: object = None) -> Callable[[Any], Any]:
        async def run(error: BaseException | None) -> object:
            await checkpoint()
            self.append((name, type(error).__name__ if error else None))
            if isinstance(answer, BaseException):
                raise answer
            return answer

        return run


@pytest.fixture
def serve(client: Any) -> Any:
    async def serve(app: Any, trace: Trace, **options: Any) -> Any:
        class Noting(client):
            async def take(self, message: dict[str, Any]) -> None:
                await super().take(message)
                trace.append(message["type"].removeprefix("http.response."))

        method = options.pop("method", None)
        return await Noting(**options).ask(app, method=method)

    return serve


def app_of(trace: Trace, answer: Callable[[Context], Any]) -> Kit:
    app = Kit()

    @app.get("/")
    async def handler(c: Context) -> Response:
        c.add_cleanup(trace.exit("outer"))
        c.add_cleanup(trace.exit("inner"))
        result = answer(c)
        return await result if hasattr(result, "__await__") else result  # type: ignore[no-any-return]

    return app


async def chunks(trace: Trace, failure: Exception | None = None) -> AsyncIterator[str]:
    try:
        yield "a"
        await checkpoint()
        if failure:
            raise failure
        yield "b"
    finally:
        trace.append("closed")


IN_ORDER = [("inner", None), ("outer", None)]


def test_after_the_response(run: Any, serve: Any) -> None:
    trace = Trace()
    run(serve, app_of(trace, lambda c: c.text("x")), trace)
    assert trace == ["start", "body", *IN_ORDER]


def test_after_the_last_chunk(run: Any, serve: Any) -> None:
    trace = Trace()
    run(serve, app_of(trace, lambda c: c.body(chunks(trace))), trace)
    assert trace == ["start", "body", "body", "closed", "body", *IN_ORDER]


def test_plain_functions(run: Any, serve: Any) -> None:
    trace = Trace()

    def plain(name: str, answer: bool) -> Callable[[Any], bool]:
        def run(error: BaseException | None) -> bool:
            trace.append((name, type(error).__name__ if error else None))
            return answer

        return run

    app = Kit()

    @app.get("/")
    def handler(c: Context) -> Response:
        c.add_cleanup(trace.exit("outermost"))
        c.add_cleanup(plain("deals with it", True))
        c.add_cleanup(plain("first", False))
        raise ValueError

    run(serve, app, trace)
    assert trace == [
        "start",
        "body",
        ("first", "ValueError"),
        ("deals with it", "ValueError"),
        ("outermost", None),
    ]


def test_head_closes_the_stream_first(run: Any, serve: Any) -> None:
    trace = Trace()
    run(lambda: serve(app_of(trace, lambda c: c.body(chunks(trace))), trace, method="HEAD"))
    assert trace == ["start", "body", *IN_ORDER]


def test_before_the_tasks_of_wait_until(run: Any, serve: Any) -> None:
    trace = Trace()

    async def work() -> None:
        trace.append("work")

    def answer(c: Context) -> Response:
        c.execution_ctx.wait_until(work())
        return c.text("x")

    run(serve, app_of(trace, answer), trace)
    assert trace == ["start", "body", *IN_ORDER, "work"]


@pytest.mark.parametrize("error", [KeyError("x"), HTTPException(403)])
def test_the_error_of_the_handler(run: Any, serve: Any, error: Exception) -> None:
    trace = Trace()

    def answer(c: Context) -> Response:
        raise error

    run(serve, app_of(trace, answer), trace)
    name = type(error).__name__
    assert trace == ["start", "body", ("inner", name), ("outer", name)]


def test_the_error_of_the_stream(run: Any, serve: Any) -> None:
    trace = Trace()
    app = app_of(trace, lambda c: c.body(chunks(trace, OSError("disk"))))
    with pytest.raises(OSError, match="disk"):
        run(serve, app, trace)
    assert trace == ["start", "body", "closed", ("inner", "OSError"), ("outer", "OSError")]


def test_when_the_client_leaves(run: Any, serve: Any) -> None:
    trace = Trace()

    async def endless() -> AsyncIterator[str]:
        while True:
            yield "x"
            await checkpoint()

    run(lambda: serve(app_of(trace, lambda c: c.body(endless())), trace, leaves_after=3))
    assert trace[-2:] == IN_ORDER


def test_cancelled(run: Any, serve: Any) -> None:
    trace = Trace()

    async def main() -> None:
        async def wait(c: Context) -> Response:
            scope.cancel()
            await anyio.sleep_forever()
            raise AssertionError

        with anyio.CancelScope() as scope:
            await serve(app_of(trace, wait), trace)

    run(main)
    assert [name for name, _ in trace] == ["inner", "outer"]
    assert all(error in ("CancelledError", "Cancelled") for _, error in trace)


def test_what_exits_answer_and_raise(
    run: Any, serve: Any, caplog: pytest.LogCaptureFixture
) -> None:
    trace = Trace()
    app = Kit()

    @app.get("/")
    def handler(c: Context) -> Response:
        c.add_cleanup(trace.exit("last"))
        c.add_cleanup(trace.exit("failing", ValueError("late")))
        c.add_cleanup(trace.exit("after"))
        c.add_cleanup(trace.exit("dealing", True))
        raise KeyError

    run(serve, app, trace)
    assert trace[2:] == [
        ("dealing", "KeyError"),
        ("after", None),
        ("failing", None),
        ("last", "ValueError"),
    ]
    assert [record.getMessage() for record in caplog.records if "exit" in record.getMessage()] == [
        "An exit of a request failed; its response was sent before"
    ]


class Interrupt(BaseException):
    pass


def test_no_exit_keeps_another_from_running(run: Any, serve: Any) -> None:
    trace = Trace()
    app = Kit()

    @app.get("/")
    def handler(c: Context) -> Response:
        c.add_cleanup(trace.exit("last"))
        c.add_cleanup(trace.exit("interrupting", Interrupt()))
        c.add_cleanup(trace.exit("first"))
        return c.text("")

    with pytest.raises(Interrupt):
        run(serve, app, trace)
    assert trace[2:] == [("first", None), ("interrupting", None), ("last", "Interrupt")]


class Unclosable:
    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __aiter__(self) -> Unclosable:
        return self

    async def __anext__(self) -> bytes:
        return b"x"

    async def aclose(self) -> None:
        raise self._error


@pytest.mark.parametrize("error", [OSError(), Interrupt()])
def test_in_process_where_the_stream_can_not_be_closed(run: Any, error: BaseException) -> None:
    trace = Trace()

    async def main() -> None:
        app = app_of(trace, lambda c: c.body(Unclosable(error)))
        response = await app.request("/")
        body: Any = response.body
        await body.aclose()

    with pytest.raises(type(error)):
        run(main)
    name = type(error).__name__
    assert trace == [("inner", name), ("outer", name)]


def test_a_stream_that_head_does_not_read_and_that_can_not_be_closed(run: Any, caplog: Any) -> None:
    trace = Trace()

    async def main() -> None:
        app = app_of(trace, lambda c: c.body(Unclosable(OSError("no"))))
        response = await app.request("/", method="HEAD")
        assert response.status == 200
        assert response.body is None

    run(main)
    assert trace == [("inner", "NoneType"), ("outer", "NoneType")] or trace == IN_ORDER
    assert "Exception while closing the body" in caplog.text


def test_an_exit_may_add_another(run: Any, serve: Any) -> None:
    trace = Trace()
    app = Kit()

    @app.get("/")
    def handler(c: Context) -> Response:
        async def adding(error: BaseException | None) -> None:
            c.add_cleanup(trace.exit("added"))

        c.add_cleanup(adding)
        return c.text("")

    run(serve, app, trace)
    assert trace == ["start", "body", ("added", None)]


def test_in_process(run: Any) -> None:
    async def main() -> None:
        trace = Trace()
        await app_of(trace, lambda c: c.text("x")).request("/")
        assert trace == IN_ORDER
        trace.clear()
        response = await app_of(trace, lambda c: c.body(chunks(trace))).request("/")
        assert trace == []
        assert await response.text() == "ab"
        assert trace == ["closed", *IN_ORDER]
        trace.clear()
        app = app_of(trace, lambda c: c.body(chunks(trace)))
        response = await app.request("/", method="HEAD")
        assert trace == IN_ORDER

    run(main)


def test_in_process_with_a_callback(run: Any) -> None:
    trace = Trace()

    async def write(out: Any) -> None:
        await out.write("a")
        trace.append("written")

    async def main() -> None:
        response = await app_of(trace, lambda c: stream(c, write)).request("/")
        assert await response.text() == "a"
        assert trace == ["written", *IN_ORDER]

    run(main)


def test_in_process_closed_early(run: Any) -> None:
    async def main() -> None:
        trace = Trace()
        response = await app_of(trace, lambda c: c.body(chunks(trace))).request("/")
        body: Any = response.body
        assert await anext(body) == b"a"
        await body.aclose()
        assert trace == ["closed", *IN_ORDER]
        trace.clear()
        response = await app_of(trace, lambda c: c.body(chunks(trace))).request("/")
        body = response.body
        await body.aclose()
        assert trace == IN_ORDER

    run(main)


def test_in_process_with_errors(run: Any) -> None:
    async def main() -> None:
        trace = Trace()

        async def cancelled(c: Context) -> Response:
            scope.cancel()
            await anyio.sleep_forever()
            raise AssertionError

        with anyio.CancelScope() as scope:
            await app_of(trace, cancelled).request("/")
        assert [name for name, _ in trace] == ["inner", "outer"]
        trace.clear()
        app = app_of(trace, lambda c: c.body(chunks(trace, OSError("disk"))))
        response = await app.request("/")
        with pytest.raises(OSError, match="disk"):
            await response.text()
        assert trace == ["closed", ("inner", "OSError"), ("outer", "OSError")]

    run(main)


def test_behind_mount(run: Any, serve: Any) -> None:
    trace = Trace()
    inner = app_of(trace, lambda c: c.body(chunks(trace)))
    app = Kit().mount("/", inner.fetch)
    run(serve, app, trace)
    assert trace == ["start", "body", "body", "closed", *IN_ORDER, "body"]


def test_objects_are_made_in_process_too(run: Any) -> None:
    async def main() -> None:
        trace = Trace()
        request = Request("http://localhost/", method="GET")
        assert await (await app_of(trace, lambda c: c.text("x")).fetch(request)).text() == "x"
        assert trace == IN_ORDER

    run(main)
