# SPDX-License-Identifier: MIT
"""`sync_test_client`: the same calls in plain tests, on asyncio and trio."""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kit import Context, File, FormData, Kit, Response
from kit.cookie import get_cookie
from kit.streaming import stream_sse, stream_text
from kit.testing import (
    ExecutionContext,
    MethodNotFoundError,
    ParameterError,
    RouteNotFoundError,
    SyncResponse,
    SyncTestClient,
    sync_test_client,
)
from kit.typed import typed

Make = Callable[..., SyncTestClient]


@pytest.fixture
def make(backend: str) -> Make:
    """Makes a client on this event loop."""

    def make(app: Kit, *args: Any, **options: Any) -> SyncTestClient:
        return sync_test_client(app, *args, backend=backend, **options)

    return make


def books() -> Kit:
    app = Kit()
    shelf: list[Any] = []

    @app.get("/books")
    def index(c: Context) -> Response:
        return c.json(shelf[: int(c.req.query("size") or 100)])

    @app.post("/books")
    async def create(c: Context) -> Response:
        if c.req.header("authorization") != "Bearer s3cret":
            return c.text("Unauthorized", 401)
        shelf.append(await c.req.json())
        return c.json(shelf[-1], 201)

    @app.get("/books/:id{[0-9]+}")
    def read(c: Context) -> Response:
        return c.json({"id": c.req.param("id"), "user": get_cookie(c, "user")})

    return app


# --- calls and responses -----------------------------------------------------------------------


def test_a_session(make: Make) -> None:
    with make(books(), headers={"authorization": "Bearer s3cret"}) as client:
        created = client.books.post(json={"title": "Dune"})
        assert (created.status, created.ok, created.json()) == (201, True, {"title": "Dune"})
        assert client.books.post(json={}, header={"authorization": None}).status == 401
        assert client.books.get(query={"size": 1}).json() == [{"title": "Dune"}]
        book = client.books[":id"].get(param={"id": 7}, cookie={"user": "ada"})
        assert book.json() == {"id": "7", "user": "ada"}
        assert client.books[":id"].get(param={"id": "x"}).status == 404
        assert client.books.head().bytes() == b""


def test_bearer_token_as_a_header_of_the_client(make: Make) -> None:
    bearer_auth = pytest.importorskip("kit.bearer_auth").bearer_auth
    app = Kit().use("/api/*", bearer_auth(token="s3cret")).get("/api/me", lambda c: c.text("ada"))
    with make(app, headers={"authorization": "Bearer s3cret"}) as client:
        assert client.api.me.get().text() == "ada"
        refused = client.api.me.get(header={"authorization": "Bearer x"})
        assert (refused.status, refused.text()) == (401, "Unauthorized")


def test_response_is_read_again_and_again_and_later(make: Make) -> None:
    app = Kit().get("/", lambda c: c.body("\ufeff{}", 200, {"content-type": "text/x"}))
    app.get("/empty", lambda c: c.body(None, 204))
    with make(app) as client:
        response = client.get()
        empty = client.empty.get()
    assert isinstance(response, SyncResponse)
    for _ in range(2):
        assert (response.text(), response.json()) == ("{}", {})
        assert response.bytes() == b"\xef\xbb\xbf{}"
        assert list(response.body) == [b"\xef\xbb\xbf{}"]
    assert (response.blob().size, response.blob().type) == (5, "text/x")
    assert (response.headers["content-type"], response.status_text) == ("text/x", "")
    assert repr(response) == "<SyncResponse 200>"
    assert (empty.status, empty.bytes()) == (204, b"")


def test_response_that_is_no_json(make: Make) -> None:
    with (
        make(Kit().get("/", lambda c: c.text("<p>"))) as client,
        pytest.raises(ValueError, match="malformed"),
    ):
        client.get().json()


def test_forms_there_and_back(make: Make) -> None:
    app = Kit()

    @app.post("/echo")
    async def echo(c: Context) -> Response:
        return c.body(await c.req.form_data())

    with make(app) as client:
        sent = {"title": "é", "file": File([b"one"], "1.txt")}
        form = client.echo.post(form=sent).form_data()
        assert isinstance(form, FormData)
        assert form.get("title") == "é"
        file = form.get("file")
        assert isinstance(file, File)
        assert (file.name, file.size) == ("1.txt", 3)


def test_walk_is_that_of_the_async_client() -> None:
    client = sync_test_client(books())
    assert repr(client.books.get) == "<client.books.get: GET /books>"
    assert repr(client) == (
        "<client: 2 routes\n  client.books  GET, POST\n  client.books[':id{[0-9]+}']  GET>"
    )
    assert client.books[":id"].path(param={"id": 1}) == "/books/1"
    assert str(client.books.url(query={"a": "b"})) == "http://localhost/books?a=b"
    assert not hasattr(client, "__wrapped__")
    with pytest.raises(RouteNotFoundError):
        client.boks.get()
    with pytest.raises(MethodNotFoundError):
        client.books.put()
    with pytest.raises(ParameterError):
        client.books[":id"].get()
    with pytest.raises(
        TypeError,
        match=r"^sync_test_client\(\) takes a Kit app, or ASGI mid",
    ):
        sync_test_client(5)  # type: ignore[arg-type]


def test_handler_that_raises_is_answered_as_in_production(make: Make) -> None:
    def fault(c: Context) -> Response:
        raise ValueError("no")

    with make(Kit().get("/", fault)) as client:
        response = client.get()
    assert (response.status, response.text()) == (500, "Internal Server Error")


def test_handler_that_fails_the_test_fails_it(make: Make) -> None:
    def handler(c: Context) -> Response:
        if c.req.query("fail"):
            pytest.fail("not like this")
        return c.text("x")

    with make(Kit().get("/", handler)) as client:
        with pytest.raises(pytest.fail.Exception, match="not like this"):
            client.get(query={"fail": 1})
        assert client.get().text() == "x"


def test_context_variables_of_the_test_are_seen(make: Make) -> None:
    user = ContextVar("user", default="nobody")
    with make(Kit().get("/", lambda c: c.text(user.get()))) as client:
        token = user.set("ada")
        assert client.get().text() == "ada"
        user.reset(token)


def test_several_threads_may_call(make: Make) -> None:
    together = threading.Barrier(4)

    async def handler(c: Context) -> Response:
        await anyio.to_thread.run_sync(together.wait, 5)
        return c.text(c.req.param("n") or "")

    with make(Kit().get("/:n", handler)) as client, ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(client[":n"].get, param={"n": n}) for n in range(4)]
        assert [call.result(5).text() for call in calls] == ["0", "1", "2", "3"]


async def test_within_a_running_event_loop() -> None:
    with sync_test_client(Kit().get("/", lambda c: c.text("x"))) as client:
        assert client.get().text() == "x"


# --- background tasks and streams --------------------------------------------------------------


def background(trace: list[str], task: Any, body: Any = "x") -> Kit:
    """An app whose handler leaves a task: a name to note, or an exception to raise."""

    async def work() -> None:
        await checkpoint()
        if isinstance(task, Exception):
            raise task
        trace.append(task)

    def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(work())
        return c.body(body() if callable(body) else body)

    return Kit().get("/", handler)


def test_background_tasks_are_done_when_the_call_returns(make: Make) -> None:
    trace: list[str] = []
    with make(background(trace, "task")) as client:
        assert client.get().text() == "x"
        assert trace == ["task"]
    failing = make(background(trace, ValueError("task")))
    with failing, pytest.raises(ValueError, match=r"^task$"):
        failing.get()
    context = ExecutionContext()
    with make(background(trace, "more"), None, context) as client:
        client.get()
    assert trace == ["task", "more"]


def test_stream_is_read_as_a_whole(make: Make) -> None:
    trace: list[str] = []

    async def chunks() -> AsyncIterator[str]:
        async with anyio.create_task_group():
            yield "a"
            yield "b"
        trace.append("body")

    with make(background(trace, "task", chunks)) as client:
        response = client.get()
        assert trace == []
        assert response.text() == "ab"
        assert trace == ["body", "task"]
        assert response.text() == "ab"
        assert list(response.body) == [b"ab"]


def test_stream_is_iterated_as_it_comes(make: Make) -> None:
    trace: list[str] = []

    async def chunks() -> AsyncIterator[str]:
        async with anyio.create_task_group():
            for text in "abc":
                trace.append(text)
                yield text

    with make(background(trace, "task", chunks)) as client:
        response = client.get()
        body = response.body
        assert next(body) == b"a"
        assert trace == ["a"]
        assert list(body) == [b"b", b"c"]
        assert trace == ["a", "b", "c", "task"]
        with pytest.raises(RuntimeError) as caught:
            response.text()
        assert str(caught.value) == (
            "The streamed body is closed: it can be read once, and within the `with` of the client"
        )


def test_stream_that_is_being_iterated_is_not_read_as_well(make: Make) -> None:
    with make(background([], "task", lambda: iter(["a", "b"]))) as client:
        response = client.get()
        body = response.body
        assert next(body) == b"a"
        with pytest.raises(TypeError, match="already read"):
            response.text()


def events(trace: list[str]) -> Kit:
    """An app that sends events for ever."""

    def handler(c: Context) -> Response:
        async def write(stream: Any) -> None:
            try:
                while True:
                    await stream.write_sse(data="tick")
                    await stream.sleep(0.001)
            finally:
                trace.append("closed")

        return stream_sse(c, write)

    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[None]:
        yield
        trace.append("shutdown")

    return Kit(lifespan=lifespan).get("/", handler)


def test_endless_stream_is_closed_with_its_iterator(make: Make) -> None:
    trace: list[str] = []
    with make(events(trace)) as client:
        for number, chunk in enumerate(client.get().body):
            assert chunk == b"data: tick\n\n"
            if number == 2:
                break
        body: Any = client.get().body
        next(body)
        body.close()
        assert trace == ["closed", "closed"]


@pytest.mark.parametrize(
    ("accept", "first"), [("application/jsonl", b"0\n"), ("text/event-stream", b"data: 0\n\n")]
)
def test_endless_typed_stream(make: Make, accept: str, first: bytes) -> None:
    trace: list[str] = []

    @typed
    async def numbers() -> AsyncIterator[int]:
        try:
            for number in itertools.count():
                yield number
                await anyio.sleep(0.001)
        finally:
            trace.append("closed")

    with make(Kit().get("/", numbers)) as client:
        body: Any = client.get(headers={"accept": accept}).body
        assert next(body).startswith(first)
        body.close()
        assert trace == ["closed"]
        next(client.get(headers={"accept": accept}).body)
    assert trace == ["closed", "closed"]


def test_streams_that_are_open_are_closed_with_the_client(make: Make) -> None:
    trace: list[str] = []
    with make(events(trace)) as client:
        unread = client.get()
        body = client.get().body
        next(body)
    assert trace == ["closed", "shutdown"]
    assert list(body) == []
    with pytest.raises(RuntimeError, match="The streamed body is closed"):
        unread.text()
    with pytest.raises(RuntimeError, match="The streamed body is closed"):
        next(unread.body)


def test_stream_that_fails_fails_at_the_reader(make: Make) -> None:
    trace: list[str] = []

    def chunks() -> Iterator[str]:
        yield "a"
        raise ValueError("broken")

    with make(background(trace, "task", chunks)) as client:
        with pytest.raises(ValueError, match=r"^broken$"):
            client.get().text()
        body = client.get().body
        assert next(body) == b"a"
        with pytest.raises(ValueError, match=r"^broken$"):
            next(body)
    assert trace == ["task", "task"]


def test_answer_and_body_are_made_in_one_task(make: Make) -> None:
    current = ContextVar("current", default="unset")
    tasks: list[Any] = []

    def handler(c: Context) -> Response:
        current.set("handler")
        tasks.append(anyio.get_current_task())

        async def chunks() -> AsyncIterator[str]:
            for _ in range(2):
                tasks.append(anyio.get_current_task())
                yield current.get()

        return c.body(chunks())

    with make(Kit().get("/", handler)) as client:
        assert list(client.get().body) == [b"handler"] * 2
        assert client.get().text() == "handlerhandler"
    assert tasks[0] == tasks[1] == tasks[2]
    assert tasks[3] == tasks[4] == tasks[5]


def test_callback_stream(make: Make) -> None:
    async def write(stream: Any) -> None:
        await stream.writeln("a")
        await stream.writeln("b")

    with make(Kit().get("/", lambda c: stream_text(c, write))) as client:
        assert client.get().text() == "a\nb\n"


# --- the length of the `with` ------------------------------------------------------------------


def living(trace: list[str], failing: str = "") -> Kit:
    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[dict[str, str]]:
        async with anyio.create_task_group():
            trace.append("startup")
            if failing == "startup":
                raise ValueError("no database")
            yield {"db": "open"}
            trace.append("shutdown")
            if failing == "shutdown":
                raise ValueError("no goodbye")

    return Kit(lifespan=lifespan).get("/", lambda c: c.json(dict(c.env)))


def test_lifespans_run_for_its_length(make: Make) -> None:
    trace: list[str] = []
    app = Kit().route("/part", living(trace))
    client = make(app, {"user": "ada"})
    for _ in range(2):
        with client as entered:
            assert entered is client
            assert trace == ["startup"]
            assert client.part.get().json() == {"user": "ada", "db": "open"}
        assert trace == ["startup", "shutdown"]
        trace.clear()


@pytest.mark.parametrize("when", ["startup", "shutdown"])
def test_lifespan_that_fails(make: Make, when: str) -> None:
    client = make(living([], when))
    with pytest.raises(ExceptionGroup) as caught, client:
        assert client.get().status == 200
    assert len(caught.value.exceptions) == 1
    with pytest.raises(RuntimeError, match="The client is not running"):
        client.get()


def test_test_that_fails_fails_as_it_did(make: Make) -> None:
    trace: list[str] = []
    with pytest.raises(KeyError, match="mine"), make(living(trace)):
        raise KeyError("mine")
    assert trace == ["startup", "shutdown"]


def test_calls_outside_of_it_say_so() -> None:
    client = sync_test_client(books())
    for _ in range(2):
        with pytest.raises(RuntimeError) as caught:
            client.books.get()
        assert str(caught.value) == (
            "The client is not running: put the call into `with sync_test_client(app) as client:`"
        )
        with client:
            client.books.get()


def test_it_can_not_be_nested() -> None:
    client = sync_test_client(books())
    with client, pytest.raises(RuntimeError) as caught, client:
        raise AssertionError("it does not get here")
    assert str(caught.value) == "The client is running already: its `with` can't be nested"


def test_unknown_event_loop() -> None:
    with pytest.raises(ValueError, match="curio"):
        sync_test_client(Kit(), backend="curio")  # type: ignore[arg-type]


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="there is no alarm on this system")
@pytest.mark.parametrize("what", ["handler", "body", "iteration"])
def test_hanging_test_can_be_interrupted(make: Make, what: str) -> None:
    trace: list[str] = []

    async def hang() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            trace.append("cancelled")

    async def handler(c: Context) -> Response:
        async def chunks() -> AsyncIterator[str]:
            await hang()
            yield "never"

        if what == "handler":
            await hang()
        return c.body(chunks())

    def alarm(number: int, frame: Any) -> None:
        raise TimeoutError("interrupted")

    def read() -> None:
        with make(Kit().get("/", handler)) as client:
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            response = client.get()
            assert list(response.body) if what == "iteration" else response.text()

    began = time.monotonic()
    before = signal.signal(signal.SIGALRM, alarm)
    try:
        with pytest.raises(TimeoutError, match="interrupted"):
            read()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert trace == ["cancelled"]
    assert time.monotonic() - began < 5


class InterruptionError(BaseException):
    """Like KeyboardInterrupt, which pytest would take for its own."""


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="threads get no signals here")
def test_call_can_be_interrupted_as_it_begins(make: Make) -> None:
    main_thread = threading.main_thread().ident
    assert main_thread is not None

    async def handler(c: Context) -> Response:
        # The caller has just handed over the request, or already waits.
        signal.pthread_kill(main_thread, signal.SIGALRM)
        await anyio.sleep_forever()
        raise AssertionError("it does not get here")

    def alarm(number: int, frame: Any) -> None:
        raise InterruptionError

    def call() -> None:
        with make(Kit().get("/", handler)) as client:
            client.get()

    before = signal.signal(signal.SIGALRM, alarm)
    try:
        for _ in range(30):
            with pytest.raises(InterruptionError):
                call()
    finally:
        signal.signal(signal.SIGALRM, before)
