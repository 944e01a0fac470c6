# SPDX-License-Identifier: MIT
"""`in_thread`: blocking handlers in worker threads, on asyncio and trio."""

from __future__ import annotations

import functools
import threading
from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Any

import anyio
import pytest

from kit import Context, HTTPException, Kit, Response, in_thread


def get(run: Any, app: Kit, path: str = "/") -> Response:
    response: Response = run(app.request, path)
    return response


async def text_of(response: Response) -> str:
    return await response.text()


def test_runs_in_a_thread_and_gives_the_response(run: Any) -> None:
    threads: list[threading.Thread] = []
    app = Kit()

    @app.get("/:name")
    @in_thread
    def handler(c: Context) -> Response:
        threads.append(threading.current_thread())
        c.header("x-a", "1")
        c.status(201)
        return c.text(f"hello {c.req.param('name')}")

    response = get(run, app, "/ada")
    assert (response.status, response.headers["x-a"]) == (201, "1")
    assert run(text_of, response) == "hello ada"
    assert threads[0] is not threading.main_thread()


def test_every_way_to_apply_it(run: Any) -> None:
    def where(c: Context) -> Response:
        return c.text(str(threading.current_thread() is threading.main_thread()))

    class Methods:
        def where(self, c: Context) -> Response:
            return where(c)

        def __call__(self, c: Context) -> Response:
            return where(c)

    app = Kit()
    app.get("/call", in_thread(where))
    app.get("/limit", in_thread(where, limiter=1))
    app.get("/lambda", in_thread(lambda c: where(c)))
    app.get("/partial", in_thread(functools.partial(Methods.where, Methods())))
    app.get("/method", in_thread(Methods().where))
    app.get("/object", in_thread(Methods()))
    app.get("/decorator")(in_thread(limiter=2)(where))
    app.get("/empty")(in_thread()(where))
    app.not_found(in_thread(where))
    for route in [*app.routes]:
        assert run(text_of, get(run, app, route.path)) == "False"
    assert run(text_of, get(run, app, "/missing")) == "False"


def test_what_it_sets_is_seen_by_the_rest(run: Any) -> None:
    app = Kit()
    seen: list[object] = []

    @app.use()
    async def around(c: Context, next: Any) -> None:
        c.set("before", "set")
        await next()
        seen.append(c.get("user"))
        c.header("x-after", "1")

    @app.get("/")
    @in_thread
    def handler(c: Context) -> Response:
        assert c.get("before") == "set"
        c.set("user", "ada")
        return c.json({"user": "ada"})

    assert get(run, app).headers["x-after"] == "1"
    assert seen == ["ada"]


def test_an_awaitable_of_the_context_may_be_returned(run: Any) -> None:
    app = Kit()
    app.get("/", in_thread(lambda c: c.not_found()))
    assert get(run, app).status == 404


def test_what_is_async_can_be_called_from_it(run: Any) -> None:
    app = Kit()

    @app.post("/")
    @in_thread
    def handler(c: Context) -> Response:
        return c.json(anyio.from_thread.run(c.req.json))

    async def main() -> object:
        response = await app.request("/", {"method": "POST", "body": "[1]"})
        return await response.json()

    assert run(main) == [1]


def test_context_variables_are_copied_in(run: Any) -> None:
    variable: ContextVar[str] = ContextVar("variable", default="unset")
    app = Kit()

    @app.use()
    async def around(c: Context, next: Any) -> None:
        variable.set("outside")
        await next()
        assert variable.get() == "outside"

    @app.get("/")
    @in_thread
    def handler(c: Context) -> Response:
        value = variable.get()
        variable.set("inside")
        return c.text(value)

    assert run(text_of, get(run, app)) == "outside"


def test_exceptions_reach_on_error_as_they_are(run: Any) -> None:
    raised: list[Exception] = []

    def handler(c: Context) -> Response:
        raised.append(LookupError("lost"))
        raise raised[0]

    def on_error(error: Exception, c: Context) -> Response:
        assert error is raised[0]
        return c.text("seen", 502)

    assert get(run, Kit().get("/", in_thread(handler)).on_error(on_error)).status == 502

    def forbidden(c: Context) -> Response:
        raise HTTPException(403)

    assert get(run, Kit().get("/", in_thread(forbidden))).status == 403


def test_stop_iteration_is_an_error_as_in_every_coroutine(run: Any) -> None:
    app = Kit().get("/", in_thread(lambda c: next(iter(()))))
    app.on_error(lambda error, c: c.text(f"{error!r} from {error.__cause__!r}", 502))
    text = run(text_of, get(run, app))
    assert text == "RuntimeError('coroutine raised StopIteration') from StopIteration()"


def test_name_and_attributes_are_kept() -> None:
    def report(c: Context) -> Response:
        """Makes a report."""
        return c.text("report")

    report.tags = ["slow"]  # type: ignore[attr-defined]
    wrapped: Any = in_thread(report)
    assert (wrapped.__name__, wrapped.__doc__) == ("report", "Makes a report.")
    assert wrapped.tags == ["slow"]
    assert wrapped.__wrapped__ is report


class Busy:
    """A handler that counts how many of it run at once, and waits until it is let go."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.let_go = threading.Event()
        self.now = 0
        self.most = 0

    def __call__(self, c: Context) -> Response:
        with self.changed:
            self.now += 1
            self.most = max(self.most, self.now)
            self.changed.notify_all()
        self.let_go.wait(30)
        with self.changed:
            self.now -= 1
        return c.text("done")

    def wait_for(self, count: int) -> None:
        """Blocks until so many run."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.now >= count, 30)


async def ask_many(app: Kit, busy: Busy, path: str, requests: int, at_once: int) -> None:
    """Makes requests, and lets them go when as many run as may."""
    async with anyio.create_task_group() as group:
        for _ in range(requests):
            group.start_soon(app.request, path)
        await anyio.to_thread.run_sync(busy.wait_for, at_once)
        # Every other request waits for a thread now. One that had got a thread all the same would
        # run while these threads come and go.
        await anyio.wait_all_tasks_blocked()
        for _ in range(50):
            await anyio.to_thread.run_sync(threading.get_ident)
        busy.let_go.set()
    assert busy.most == at_once


def test_limiter_bounds_the_threads_of_each_event_loop(run: Any) -> None:
    busy = Busy()
    app = Kit().get("/", in_thread(busy, limiter=2))
    for _ in range(2):  # a limiter of one event loop can't be used in the next
        run(ask_many, app, busy, "/", 5, 2)
        busy.let_go.clear()
        busy.most = 0


def test_handlers_without_a_limiter_share_forty_threads(run: Any) -> None:
    busy = Busy()
    app = Kit().get("/a", in_thread(busy)).get("/b", in_thread(busy))

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(30):
                group.start_soon(app.request, "/a")
            # What others do in anyio's threads is not held up.
            assert await anyio.to_thread.run_sync(lambda: "others")
            await ask_many(app, busy, "/b", 30, 40)

    run(main)


def test_two_limiters_are_two(run: Any) -> None:
    first, second = Busy(), Busy()
    app = Kit().get("/a", in_thread(first, limiter=1)).get("/b", in_thread(second, limiter=3))

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(ask_many, app, first, "/a", 4, 1)
            group.start_soon(ask_many, app, second, "/b", 4, 3)

    run(main)


def test_two_event_loops_at_once() -> None:
    busy = Busy()
    app = Kit().get("/", in_thread(busy, limiter=1))
    loops = [threading.Thread(target=anyio.run, args=(app.request, "/")) for _ in range(2)]
    for loop in loops:
        loop.start()
    busy.wait_for(2)  # one of each
    busy.let_go.set()
    for loop in loops:
        loop.join(30)
    assert busy.most == 2


def test_a_cancelled_request_waits_for_its_thread(run: Any) -> None:
    busy = Busy()
    app = Kit().get("/", in_thread(busy))

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(app.request, "/")
            await anyio.to_thread.run_sync(busy.wait_for, 1)
            group.cancel_scope.cancel()
            busy.let_go.set()
        assert busy.now == 0

    run(main)


# --- what is refused ---------------------------------------------------------------------------


async def asynchronous(c: Context) -> Response:
    return c.text("never")


async def generator(c: Context) -> AsyncIterator[int]:
    yield 1


class AsyncCall:
    async def __call__(self, c: Context) -> Response:
        return c.text("never")


@pytest.mark.parametrize(
    "handler", [asynchronous, generator, AsyncCall(), functools.partial(asynchronous)]
)
def test_async_functions(handler: Any) -> None:
    with pytest.raises(TypeError) as caught:
        in_thread(handler)
    assert str(caught.value).endswith(" is async")


def test_middleware() -> None:
    def middleware(c, next):  # type: ignore[no-untyped-def]
        return None

    def optional(c, next=None):  # type: ignore[no-untyped-def]
        return None

    with pytest.raises(TypeError, match="takes next"):
        in_thread(middleware)
    with pytest.raises(TypeError, match="takes next"):
        in_thread(optional)
    with pytest.raises(TypeError, match="takes next"):
        in_thread(lambda *arguments: None)


def test_function_that_was_registered_without_a_decorator(run: Any) -> None:
    def name(c: Context) -> Response:
        return c.text(threading.current_thread().name)

    app = Kit().get("/here", name).get("/thread", in_thread(name))
    here = run(text_of, get(run, app, "/here"))
    assert here == threading.current_thread().name
    assert run(text_of, get(run, app, "/thread")) != here


def test_what_is_no_handler() -> None:
    with pytest.raises(TypeError, match=r"^in_thread\(\) takes a plain function \(c\), not 'x'$"):
        in_thread("x")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"neither a handler \(c\)"):
        Kit().get("/", in_thread(lambda: None))  # type: ignore[arg-type]


@pytest.mark.parametrize("limiter", ["4", 4.0, True])
def test_limiter_of_the_wrong_type(limiter: Any) -> None:
    with pytest.raises(TypeError) as caught:
        in_thread(limiter=limiter)
    assert str(caught.value) == (
        f"in_thread(limiter=...) takes a number of threads, not {limiter!r}"
    )


def test_limiter_below_one() -> None:
    with pytest.raises(ValueError, match=r"^Invalid limiter 0 of in_thread\(\): expected 1 or "):
        in_thread(limiter=0)
