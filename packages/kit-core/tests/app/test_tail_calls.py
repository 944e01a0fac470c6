# SPDX-License-Identifier: MIT
"""Middleware whose last action is `await next()`: composed in another way, with the same result.

Each app is compared with one that has the same middleware behind a wrapper, which takes `next` for
other purposes than to call it last, and so is composed in the general way.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import re
import sys
import weakref
from collections.abc import Callable
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import wraps
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, Headers, HTTPException, Kit, Response

Middleware = Callable[..., Any]


def shown(error: Exception | None) -> str:
    """The error without the line of a function, which isn't that of its wrapper."""
    return re.sub(r":\d+\)", ")", repr(error))


class Trace(list[object]):
    """What ran, and what it saw."""

    def note(self, c: Context, *what: object) -> None:
        names = [route.path for route in c.matched_routes]
        self.append((*what, c.finalized, shown(c.error), c.req.route_index, names, c.req.param()))


def fail(c: Context, name: str) -> None:
    """Raises an exception if the request asks for it."""
    kind = c.req.query(name)
    if kind == "http":
        raise HTTPException(418, f"teapot {name}", headers={"x-error": name})
    if kind == "value":
        raise ValueError(name)


# C901: all shapes are in one function, since their own code may have nothing but `c` and `next`.
def made_of(shape: str, name: str, trace: Trace) -> Middleware:  # noqa: C901
    """Middleware of a given shape."""

    @contextmanager
    def around(c: Context) -> Any:
        trace.note(c, name, "enter")
        yield
        trace.note(c, name, "exit")

    @asynccontextmanager
    async def around_async(c: Context) -> Any:
        with around(c):
            yield

    def begin(c: Context) -> None:
        trace.note(c, name, "begin")
        fail(c, name)

    async def last(c: Context, next: Any) -> None:
        begin(c)
        await next()

    async def returned(c: Context, next: Any) -> Any:
        begin(c)
        return await next()

    async def suspended(c: Context, next: Any) -> None:
        await asyncio.sleep(0)
        begin(c)
        await next()

    async def branch(c: Context, next: Any) -> None:
        begin(c)
        if c.req.query("stop") != name:
            await next()

    async def early(c: Context, next: Any) -> Response | None:
        begin(c)
        if c.req.query("stop") == name:
            return c.text(f"stopped by {name}", 201)
        return await next()  # type: ignore[no-any-return]

    async def early_or_none(c: Context, next: Any) -> Any:
        begin(c)
        if c.req.query("stop") in (None, name):
            return (c.req.query("stop") and c.text(f"stopped by {name}", 202)) or await next()
        await next()
        return None

    async def tried_before(c: Context, next: Any) -> None:
        try:
            begin(c)
        except ValueError:
            raise HTTPException(400, f"tried {name}") from None
        await next()

    async def in_else(c: Context, next: Any) -> None:
        try:
            begin(c)
        except ValueError as error:
            trace.note(c, name, "except", shown(error))
        else:
            await next()

    async def in_except(c: Context, next: Any) -> None:
        try:
            begin(c)
        except ValueError:
            await next()

    async def tried(c: Context, next: Any) -> None:
        begin(c)
        try:
            await next()
        except Exception as error:
            trace.note(c, name, "except", shown(error))

    async def in_finally(c: Context, next: Any) -> None:
        begin(c)
        try:
            await next()
        finally:
            trace.note(c, name, "finally")

    async def in_with(c: Context, next: Any) -> None:
        begin(c)
        with around(c):
            await next()

    async def in_async_with(c: Context, next: Any) -> None:
        begin(c)
        async with around_async(c):
            await next()

    async def suppressed(c: Context, next: Any) -> None:
        begin(c)
        with suppress(Exception):
            await next()

    async def after(c: Context, next: Any) -> None:
        begin(c)
        await next()
        trace.note(c, name, "after")
        c.header("x-after", name, append=True)

    async def late(c: Context, next: Any) -> None:
        begin(c)
        await next()
        fail(c, f"{name}-late")

    async def twice(c: Context, next: Any) -> None:
        begin(c)
        await next()
        await next()

    async def twice_at_once(c: Context, next: Any) -> None:
        begin(c)
        for result in await asyncio.gather(next(), next(), return_exceptions=True):
            if isinstance(result, BaseException):
                raise result

    async def in_loop(c: Context, next: Any) -> None:
        for _ in range(1):
            begin(c)
            await next()

    async def out_of_loop(c: Context, next: Any) -> None:
        while True:
            begin(c)
            await next()
            break

    async def in_task(c: Context, next: Any) -> None:
        begin(c)
        await asyncio.create_task(next())

    async def kept(c: Context, next: Any) -> None:
        begin(c)
        result = await next()
        trace.append((name, result))

    async def in_closure(c: Context, next: Any) -> None:
        begin(c)

        async def call() -> None:
            await next()

        await call()

    async def never(c: Context, next: Any) -> None:
        begin(c)

    async def answers(c: Context, next: Any) -> Response:
        begin(c)
        return c.text(f"answered by {name}", 203)

    def plain(c: Context, next: Any) -> Any:
        begin(c)
        return next()

    found: Middleware = locals()[shape]
    return found


SHAPES = [
    "last",
    "returned",
    "suspended",
    "branch",
    "early",
    "early_or_none",
    "tried_before",
    "in_else",
    "in_except",
    "tried",
    "in_finally",
    "in_with",
    "in_async_with",
    "suppressed",
    "after",
    "late",
    "twice",
    "twice_at_once",
    "in_loop",
    "out_of_loop",
    "in_task",
    "kept",
    "in_closure",
    "never",
    "answers",
    "plain",
]
LAST = SHAPES[:8]
"""Shapes that end with a call of `next`, in at least one branch."""


def wrapped(middleware: Middleware) -> Middleware:
    """The same middleware; its `next` is passed on as an argument."""

    @wraps(middleware)
    async def wrapper(c: Context, next: Any) -> Any:
        result = middleware(c, next)
        return await result if asyncio.iscoroutine(result) else result

    return wrapper


def app_of(shapes: list[str], trace: Trace, wrap: Callable[[Middleware], Middleware]) -> Kit:
    """Middleware of an outer and an inner app, each with its own error handler."""
    middle = len(shapes) // 2
    inner, outer = Kit(), Kit()
    for number, shape in enumerate(shapes):
        app, path = (outer, "/:where/*") if number < middle else (inner, "*")
        app.use(path, wrap(made_of(shape, f"m{number}", trace)))

    @inner.get("/:id")
    async def handler(c: Context) -> Response:
        trace.note(c, "handler")
        fail(c, "handler")
        return c.text(f"book {c.req.param('id')}")

    @inner.on_error
    def inner_error(error: Exception, c: Context) -> Response:
        trace.note(c, "inner", shown(error))
        if isinstance(error, ValueError):
            return c.text(f"inner {error}", 422)
        raise error

    @outer.on_error
    def outer_error(error: Exception, c: Context) -> Response:
        trace.note(c, "outer", shown(error))
        if isinstance(error, HTTPException):
            raise error
        return c.text(f"outer {type(error).__name__}", 500)

    return outer.route("/books", inner)


async def run(
    shapes: list[str], path: str, wrap: Callable[[Middleware], Middleware]
) -> tuple[object, ...]:
    trace = Trace()
    app = app_of(shapes, trace, wrap)
    seen: list[object] = []
    for _ in range(2):  # the second finds what the first has prepared
        for send in (in_process, served):
            trace.clear()
            seen.append((*await send(app, path), list(trace)))
    assert seen[0] == seen[1]
    return tuple(seen)


async def in_process(app: Kit, path: str) -> tuple[object, ...]:
    response = await app.request(path)
    return response.status, dict(response.headers.items()), await response.bytes()


async def served(app: Kit, path: str) -> tuple[object, ...]:
    messages: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        messages.append(message)

    path, _, query = path.partition("?")
    scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode()}
    await app({**scope, "headers": []}, receive, send)
    start, *parts = messages
    headers = Headers((name.decode(), value.decode()) for name, value in start["headers"])
    headers.delete("content-length")
    return start["status"], dict(headers.items()), b"".join(part["body"] for part in parts)


def check(shapes: list[str], path: str) -> None:
    async def both() -> None:
        assert await run(shapes, path, lambda it: it) == await run(shapes, path, wrapped)

    asyncio.run(both())


stacks = st.lists(st.sampled_from(SHAPES) | st.sampled_from(LAST), max_size=8)
queries = st.lists(
    st.tuples(
        st.sampled_from([*(f"m{n}" for n in range(8)), "m1-late", "m3-late", "handler"]),
        st.sampled_from(["http", "value"]),
    )
    | st.tuples(st.just("stop"), st.sampled_from([f"m{n}" for n in range(8)])),
    max_size=2,
)


@given(stacks, queries, st.sampled_from(["/books/7", "/books/7/pages"]))
def test_any_stack(shapes: list[str], query: list[tuple[str, str]], path: str) -> None:
    check(shapes, f"{path}?{'&'.join(f'{name}={value}' for name, value in query)}")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("query", ["", "m0=value", "m1=http", "handler=value", "stop=m1"])
def test_a_shape_among_others(shape: str, place: int, query: str) -> None:
    shapes = ["last", "returned", "last"]
    shapes[place] = shape
    check(shapes, f"/books/7?{query}")


@pytest.mark.parametrize("shape", ["last", "returned", "suspended", "branch", "tried_before"])
async def test_no_frames_between_middleware(shape: str) -> None:
    app = Kit().use(*[made_of(shape, f"m{number}", Trace()) for number in range(50)])
    names: list[str] = []

    @app.get("/")
    async def handler(c: Context) -> Response:
        frame = sys._getframe()
        while frame.f_back is not None:
            frame = frame.f_back
            names.append(frame.f_code.co_name)
        return c.text("ok")

    await app.request("/")
    first = names.index(shape)
    assert names[first : first + 50] == [shape] * 50


def test_a_served_request_leaves_no_cycles() -> None:
    app = Kit().use(*[made_of("last", f"m{number}", Trace()) for number in range(5)])
    app.get("/", lambda c: c.text("ok"))

    async def count() -> int:
        await served(app, "/")
        gc.collect()
        gc.disable()
        try:
            for _ in range(100):
                await served(app, "/")
            return gc.collect()
        finally:
            gc.enable()

    assert asyncio.run(count()) == 0


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("query", ["", "x", "x=1"])
async def test_a_response_instead_of_the_call(place: int, query: str) -> None:
    """`next` may be called last, or something else in its place whose result counts."""

    async def refuse(c: Context) -> Response | None:
        return c.text("refused", 403) if c.req.query("x") is not None else None

    async def alternative(c: Context, next: Any) -> Any:
        return await (refuse(c) if c.req.query("x") else next())

    async def either(c: Context, next: Any) -> Any:
        return await refuse(c) or await next()

    async def function(c: Context, next: Any) -> Any:
        return await (c.not_found if c.req.query("x") else next)()

    async def last(c: Context, next: Any) -> None:
        await next()

    for guard in (alternative, either, function):
        stack = [last, last]
        stack.insert(place, guard)
        calls: list[int] = []
        app = Kit().use(*stack).get("/", lambda c, calls=calls: calls.append(1) or c.text("ok"))
        response = await app.request(f"/?{query}")
        is_let_through = query == "" or (query == "x" and guard is not either)
        expected = 200 if is_let_through else 404 if guard is function else 403
        assert (response.status, len(calls)) == (expected, is_let_through), guard


def test_a_failure_before_the_routes_is_not_kept() -> None:
    class NoPathError(Exception):
        """Can be referenced weakly, unlike a built-in exception."""

    failures: list[weakref.ref[Exception]] = []

    def get_path(request: object) -> str:
        error = NoPathError()
        failures.append(weakref.ref(error))
        raise error

    app = Kit(get_path=get_path).use(made_of("last", "m0", Trace()))
    app.on_error(lambda error, c: c.text("no path", 400))

    async def send() -> None:
        assert (await app.request("/")).status == 400

    for _ in range(3):
        asyncio.run(send())
    gc.collect()
    assert [failure() for failure in failures] == [None] * 3


async def test_middleware_after_one_that_runs_next_in_a_task() -> None:
    """It goes on when the middleware before has returned a response."""
    tasks: list[asyncio.Task[None]] = []
    calls: list[int] = []

    async def last(c: Context, next: Any) -> None:
        await next()

    async def detached(c: Context, next: Any) -> Response:
        tasks.append(asyncio.create_task(next()))
        await asyncio.sleep(0)
        return c.text("accepted", 202)

    async def suspended(c: Context, next: Any) -> None:
        await go_on.wait()
        await next()

    go_on = asyncio.Event()
    app = Kit().use(last, last, detached, suspended, last)
    app.get("/", lambda c: calls.append(1) or c.text("ok"))
    assert (await app.request("/")).status == 202

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def drop(message: Any) -> None: ...

    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}
    await app(scope, receive, drop)
    go_on.set()
    await asyncio.gather(*tasks)
    assert calls == [1, 1]


async def test_next_that_is_called_through_locals_is_refused(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Middleware that can read `next` without naming it is composed in the general way."""
    calls: list[int] = []

    async def sly(c: Context, next: Any) -> None:
        if c.req.query("sly") is not None:
            await locals()["next"]()
        await next()

    app = Kit().use(sly, sly, sly).get("/", lambda c: calls.append(1) or c.text("ok"))
    assert (await app.request("/")).status == 200
    caplog.set_level(logging.CRITICAL, "kit")
    assert (await app.request("/?sly")).status == 500
    assert calls == [1, 1]

    async def refuse(c: Context, next: Any) -> None:
        if c.req.query("sly") is None:
            await next()
        else:
            c.res = c.text("refused", 403)

    calls.clear()
    app = Kit().use(sly, refuse).get("/", lambda c: calls.append(1) or c.text("ok"))
    assert (await app.request("/?sly")).status == 500
    assert calls == []
