# SPDX-License-Identifier: MIT
"""Middleware around handlers: order, next, return values, errors where they are thrown."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, HTTPException, Kit, Response


def ok(c: Context) -> Response:
    return c.text("ok")


def place(function: Any) -> str:
    code = function.__code__
    return f"{function.__qualname__} ({code.co_filename}:{code.co_firstlineno})"


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The errors that were logged, each with the exception's own text."""
    return [
        f"{record.exc_info[0].__name__}: {record.exc_info[1]}"
        for record in caplog.records
        if record.name == "kit" and record.exc_info and record.exc_info[0]
    ]


def tracing(trace: list[str], name: str) -> Callable[..., Any]:
    async def middleware(c: Context, next: Any) -> None:
        trace.append(f"{name}>")
        await next()
        trace.append(f"<{name}")

    return middleware


async def test_onion() -> None:
    trace: list[str] = []
    app = Kit()
    app.use(tracing(trace, "a"), tracing(trace, "b"))
    app.get("/", tracing(trace, "c"), lambda c: trace.append("h") or c.text("ok"))
    response = await app.request("/")
    assert await response.text() == "ok"
    assert trace == ["a>", "b>", "c>", "h", "<c", "<b", "<a"]


@given(st.integers(1, 30), st.data())
def test_depth_and_early_answer(depth: int, data: st.DataObject) -> None:
    stop = data.draw(st.integers(0, depth))
    trace: list[int] = []
    app = Kit()

    def layer(number: int) -> Any:
        async def middleware(c: Context, next: Any) -> Response | None:
            trace.append(number)
            if number == stop:
                return c.text(f"stopped at {number}")
            await next()
            trace.append(-number)
            return None

        return middleware

    for number in range(depth):
        app.use(layer(number))
    app.get("/", ok)
    response = asyncio.run(app.request("/"))
    text = asyncio.run(response.text())
    ran = range(min(stop + 1, depth))
    assert text == ("ok" if stop == depth else f"stopped at {stop}")
    assert trace == [*ran, *(-n for n in reversed(range(min(stop, depth))))]


async def test_next_gives_none_and_res_is_there_after_it() -> None:
    app = Kit()
    seen: list[Any] = []

    @app.use("*")
    async def middleware(c: Context, next: Any) -> None:
        seen.append(c.finalized)
        seen.append(await next())
        seen.append(c.finalized)
        seen.append(c.res.status)

    app.get("/", lambda c: c.text("made", 201))
    await app.request("/")
    assert seen == [False, None, True, 201]


async def test_res_may_be_returned_after_next() -> None:
    app = Kit()

    @app.use("*")
    async def middleware(c: Context, next: Any) -> Response:
        await next()
        res = c.res
        c.header("x-a", "1")  # makes a copy, which has everything of the first
        return res

    app.get("/", ok)
    response = await app.request("/")
    assert (response.status, await response.text(), response.headers["x-a"]) == (200, "ok", "1")


async def test_res_may_be_replaced_after_next() -> None:
    app = Kit()

    @app.use("*")
    async def middleware(c: Context, next: Any) -> None:
        await next()
        c.res = c.text(f"wrapped {await c.res.text()}", 202)

    app.get("/", ok)
    response = await app.request("/")
    assert (response.status, await response.text()) == (202, "wrapped ok")


async def test_res_set_without_calling_next_is_the_answer() -> None:
    app = Kit()

    @app.use("*")
    async def middleware(c: Context, next: Any) -> None:
        c.res = c.text("set", 203)

    app.get("/", ok)
    response = await app.request("/")
    assert (response.status, await response.text()) == (203, "set")


async def test_middleware_alone_gets_the_not_found_answer_of_next() -> None:
    app = Kit()

    @app.use("*")
    async def middleware(c: Context, next: Any) -> None:
        await next()
        c.header("x-status", str(c.res.status))

    response = await app.request("/")
    assert (response.status, response.headers["x-status"]) == (404, "404")
    assert await response.text() == "404 Not Found"


async def test_handler_that_takes_no_next_runs_in_the_chain_too() -> None:
    trace: list[str] = []
    app = Kit().use(tracing(trace, "a")).get("/", ok).get("/", lambda c: trace.append("second"))
    assert await (await app.request("/")).text() == "ok"
    assert trace == ["a>", "<a"]


# --- mistakes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("around", [True, False], ids=["in a chain", "alone"])
async def test_next_twice(around: bool, caplog: pytest.LogCaptureFixture) -> None:
    app = Kit()
    calls: list[int] = []

    async def twice(c: Context, next: Any) -> None:
        await next()
        await next()

    app.get("/", twice)
    if around:
        app.get("/", lambda c: calls.append(1) or c.text("ok"))
    response = await app.request("/")
    assert (response.status, await response.text()) == (500, "Internal Server Error")
    assert logged(caplog) == [
        f"HandlerError: {place(twice)} called next() multiple times; call it once"
    ]
    assert calls == ([1] if around else [])


async def test_next_twice_at_once(caplog: pytest.LogCaptureFixture) -> None:
    app = Kit()

    @app.use("*")
    async def both(c: Context, next: Any) -> None:
        await asyncio.gather(next(), next())

    @app.get("/")
    async def slow(c: Context) -> Response:
        await asyncio.sleep(0)
        return c.text("ok")

    assert (await app.request("/")).status == 500
    assert logged(caplog) == [
        f"HandlerError: {place(both)} called next() multiple times; call it once"
    ]


def returns_nothing(c: Context) -> None:
    pass


async def returns_nothing_async(c: Context) -> None:
    pass


async def neither(c: Context, next: Any) -> None:
    pass


def forgets_await(c: Context, next: Any) -> None:
    next().close()


NOTHING = "returned nothing for GET '/x': return a Response"


@pytest.mark.parametrize("around", [True, False], ids=["in a chain", "alone"])
@pytest.mark.parametrize(
    ("handler", "text"),
    [
        pytest.param(returns_nothing, NOTHING, id="plain"),
        pytest.param(returns_nothing_async, NOTHING, id="async"),
        pytest.param(neither, NOTHING + " or await next()", id="middleware"),
        pytest.param(forgets_await, NOTHING + " or await next()", id="next not awaited"),
    ],
)
async def test_nothing(
    handler: Any, text: str, around: bool, caplog: pytest.LogCaptureFixture
) -> None:
    app = Kit()
    if around:
        app.use(tracing([], "a"))
    app.get("/x", handler)
    response = await app.request("/x")
    assert (response.status, await response.text()) == (500, "Internal Server Error")
    assert logged(caplog) == [f"HandlerError: {place(handler)} {text}"]


@pytest.mark.parametrize("around", [True, False], ids=["in a chain", "alone"])
@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param({}, "returned dict, expected a Response", id="dict"),
        pytest.param([], "returned list, expected a Response", id="list"),
        pytest.param("", "returned str, expected a Response", id="str"),
        pytest.param(b"x", "returned bytes, expected a Response", id="bytes"),
        pytest.param(False, "returned bool, expected a Response", id="False"),
        pytest.param(Response, "returned the class Response, expected a Response", id="type"),
    ],
)
async def test_wrong_return_value(
    value: Any, text: str, around: bool, caplog: pytest.LogCaptureFixture
) -> None:
    def plain(c: Context) -> Any:
        return value

    async def coroutine(c: Context) -> Any:
        return value

    app = Kit()
    if around:
        app.use(tracing([], "a"))
    app.get("/plain", plain).get("/async", coroutine)
    for path, handler in (("/plain", plain), ("/async", coroutine)):
        caplog.clear()
        assert (await app.request(path)).status == 500
        (line,) = logged(caplog)
        assert line.startswith(f"HandlerError: {place(handler)} {text}")


async def test_async_generator_as_handler_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async def generator(c: Context) -> Any:
        yield "chunk"

    assert (await Kit().get("/", generator).request("/")).status == 500
    (line,) = logged(caplog)
    assert f"{place(generator)} returned async_generator, expected a Response" in line


async def test_middleware_touching_res_hides_no_missing_answer() -> None:
    app = Kit()

    @app.use("*")
    async def touch(c: Context, next: Any) -> None:
        c.res.headers.set("x-touched", "1")
        await next()
        assert not c.finalized

    app.get("/", returns_nothing)
    response = await app.request("/")
    assert (response.status, response.headers["x-touched"]) == (500, "1")


# --- errors ------------------------------------------------------------------------------------


async def test_error_is_an_answer_for_middleware_further_out() -> None:
    app = Kit()
    seen: list[Any] = []
    boom = ValueError("boom")

    @app.use("*")
    async def outer(c: Context, next: Any) -> None:
        try:
            await next()
        except Exception as error:  # never: it was handled where it was thrown
            seen.append(error)
        seen.append((c.res.status, c.error))
        c.header("x-outer", "1")

    @app.use("*")
    async def thrower(c: Context, next: Any) -> None:
        raise boom

    app.get("/", lambda c: seen.append("never") or c.text("ok"))
    response = await app.request("/")
    assert seen == [(500, boom)]
    assert (response.status, response.headers["x-outer"]) == (500, "1")


@pytest.mark.parametrize("kind", ["plain", "async"])
async def test_error_is_set_for_a_single_handler_too(kind: str) -> None:
    seen: list[Any] = []
    boom = ValueError("boom")

    def plain(c: Context) -> Response:
        raise boom

    async def coroutine(c: Context) -> Response:
        raise boom

    app = Kit().get("/", plain if kind == "plain" else coroutine)
    app.on_error(lambda error, c: seen.append((error, c.error)) or c.text("handled", 500))
    await app.request("/")
    assert seen == [(boom, boom)]


async def test_error_is_none_without_one() -> None:
    app = Kit()
    seen: list[Any] = []

    @app.use("*")
    async def middleware(c: Context, next: Any) -> None:
        await next()
        seen.append(c.error)

    await app.get("/", ok).request("/")
    await app.request("/missing")
    assert seen == [None, None]


async def test_error_after_a_response_replaces_it_and_keeps_other_headers() -> None:
    app = Kit()

    @app.use("*")
    async def late(c: Context, next: Any) -> None:
        await next()
        raise HTTPException(418, "teapot")

    app.get("/", lambda c: c.json({"a": 1}, 201, {"x-handler": "1", "set-cookie": "a=1"}))
    response = await app.request("/")
    assert (response.status, await response.text()) == (418, "teapot")
    assert response.headers["x-handler"] == "1"
    assert response.headers["content-type"].lower().startswith("text/plain")


async def test_error_after_a_response_leaves_nothing_that_describes_it() -> None:
    """Its body is gone: with its Content-Encoding nobody could read the other one."""
    app = Kit()

    @app.use("*")
    async def late(c: Context, next: Any) -> None:
        c.header("x-before", "1")
        await next()
        c.header("x-after", "1")
        raise RuntimeError("late")

    described = {
        "content-encoding": "gzip",
        "content-language": "de",
        "content-range": "bytes 0-1/9",
        "etag": '"1"',
        "last-modified": "Sun, 22 Nov 2026 00:00:00 GMT",
        "set-cookie": "session=secret",
        "x-handler": "1",
    }

    @app.get("/")
    def zipped(c: Context) -> Response:
        c.header("set-cookie", "own=1", append=True)
        c.header("cache-control", "max-age=60")
        return c.body(b"zipped", 206, described)

    response = await app.request("/")
    assert (response.status, await response.text()) == (500, "Internal Server Error")
    assert dict(response.headers.items()) == {
        "content-type": "text/plain; charset=UTF-8",
        "x-after": "1",
        "x-before": "1",
        "x-handler": "1",
    }


async def test_middleware_error_before_next_skips_the_rest() -> None:
    trace: list[str] = []
    app = Kit().use(tracing(trace, "outer"))

    @app.use("*")
    def plain_thrower(c: Context, next: Any) -> Any:
        raise RuntimeError("plain")

    app.get("/", lambda c: trace.append("handler") or c.text("ok"))
    assert (await app.request("/")).status == 500
    assert trace == ["outer>", "<outer"]


async def test_on_error_is_called_once_per_error() -> None:
    calls: list[str] = []
    app = Kit().use(tracing([], "a")).use(tracing([], "b"))
    app.on_error(lambda error, c: calls.append(str(error)) or c.text("handled", 400))

    @app.get("/")
    def handler(c: Context) -> Response:
        raise ValueError("once")

    assert (await app.request("/")).status == 400
    assert calls == ["once"]


async def test_error_in_not_found_is_caught_by_the_middleware_that_asked_for_it() -> None:
    trace: list[str] = []
    app = Kit().use(tracing(trace, "outer"), tracing(trace, "inner"))

    @app.not_found()
    def missing(c: Context) -> Response:
        raise ValueError("not found fails")

    response = await app.request("/missing")
    assert response.status == 500
    # Hono's: the level that called next() is the one where it counts as thrown.
    assert trace == ["outer>", "inner>", "<outer"]


async def test_context_variables_flow_both_ways(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="none")
    seen: list[str] = []
    app = Kit()

    @app.use("*")
    async def middleware(c: Context, next: Any) -> None:
        variable.set("from middleware")
        await next()
        seen.append(variable.get())

    @app.get("/")
    async def handler(c: Context) -> Response:
        seen.append(variable.get())
        variable.set("from handler")
        return c.text("ok")

    await app.request("/")
    assert seen == ["from middleware", "from handler"]


async def test_param_is_that_of_the_running_route() -> None:
    app = Kit()
    seen: list[Any] = []

    @app.use("/:section/*")
    async def middleware(c: Context, next: Any) -> None:
        seen.append((c.req.param("section"), c.req.param("id")))
        await next()

    app.get("/:kind/:id", lambda c: seen.append(c.req.param()) or c.text("ok"))
    await app.request("/users/5")
    assert seen == [("users", None), {"kind": "users", "id": "5"}]


@pytest.mark.parametrize("path", ["/", "/missing"])
async def test_answer_of_middleware_stays_where_nothing_else_answers(path: str) -> None:
    app = Kit()

    @app.use()
    async def answer(c: Context, next: Any) -> None:
        c.res = c.text("kept")
        await next()

    @app.get("/")
    async def silent(c: Context, next: Any) -> None:
        await next()

    response = await app.request(path)
    assert (response.status, await response.text()) == (200, "kept")


async def test_what_next_is_may_be_awaited_by_a_function_that_is_not_async() -> None:
    app = Kit()

    @app.use()
    def middleware(c: Context, next: Any) -> Any:
        return next()

    @app.get("/")
    async def handler(c: Context) -> Response:
        return c.text(str(c.req.route_index))

    assert await (await app.request("/")).text() == "1"
