# SPDX-License-Identifier: MIT
"""Endpoints that yield: server-sent events and JSON Lines."""

from __future__ import annotations

import contextlib
import functools
import json
import logging
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
)
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import anyio
import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, HTTPException, Kit, Response
from kit.interface.metadata import get_facts
from kit.typed import Depends, Header, ServerSentEvent, Typed, override, typed
from kit.websocket import WebSocket

Run = Callable[..., Any]

EVENTS = {"accept": "text/event-stream"}


class Event(msgspec.Struct):
    n: int


class Note(msgspec.Struct, tag=True):
    text: str


class Ping(msgspec.Struct, tag=True):
    pass


class Model(pydantic.BaseModel):
    n: int


@dataclass
class Point:
    x: int


def serve(endpoint: Any) -> Kit:
    """Returns an app that has the endpoint at `/`."""
    app = Kit()
    app.get("/", endpoint)
    return app


async def read(endpoint: Any, accept: str | None = None, **more: Any) -> str:
    headers = {} if accept is None else {"accept": accept}
    response = await serve(endpoint).request("/", headers=headers, **more)
    assert response.status == 200
    return await response.text()


@typed
async def numbers(count: int = 2) -> AsyncIterator[Event]:
    for n in range(count):
        yield Event(n)


# --- Media types ------------------------------------------------------------------------------


LINES = '{"n":0}\n{"n":1}\n'
SENT = 'data: {"n":0}\n\ndata: {"n":1}\n\n'


@pytest.mark.parametrize(
    ("accept", "media_type", "body"),
    [
        (None, "application/jsonl", LINES),
        ("*/*", "application/jsonl", LINES),
        ("application/jsonl", "application/jsonl", LINES),
        ("application/x-ndjson", "application/x-ndjson", LINES),
        ("application/ndjson", "application/ndjson", LINES),
        ("text/event-stream", "text/event-stream", SENT),
        ("text/*", "text/event-stream", SENT),
        ("application/jsonl;q=0.5, text/event-stream;q=0.9", "text/event-stream", SENT),
    ],
)
def test_media_types(run: Run, accept: str | None, media_type: str, body: str) -> None:
    async def main() -> None:
        headers = {} if accept is None else {"accept": accept}
        response = await serve(numbers).request("/", headers=headers)
        assert (response.status, response.headers["content-type"]) == (200, media_type)
        assert response.headers["vary"] == "Accept"
        assert response.headers["x-accel-buffering"] == "no"
        has_events = media_type == "text/event-stream"
        assert response.headers.get("cache-control") == ("no-cache" if has_events else None)
        assert await response.text() == body

    run(main)


@pytest.mark.parametrize("accept", ["application/json", "text/html", "*/*;q=0"])
def test_unacceptable(run: Run, accept: str) -> None:
    async def main() -> None:
        response = await serve(numbers).request("/", headers={"accept": accept})
        assert (response.status, response.headers["vary"]) == (406, "Accept")
        assert "application/jsonl or text/event-stream" in await response.text()

    run(main)


def test_headers_and_status(run: Run) -> None:
    @typed(status=202)
    async def endpoint(c: Context) -> AsyncIterator[int]:
        c.header("cache-control", "no-store")
        c.header("vary", "Origin")
        yield 1

    @typed
    async def own_status(c: Context) -> AsyncIterator[int]:
        c.status(201)
        yield 1

    async def main() -> None:
        response = await serve(endpoint).request("/", headers=EVENTS)
        assert response.status == 202
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["vary"] == "Origin, Accept"
        assert (await serve(own_status).request("/")).status == 201

    run(main)


# --- Items ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "line"),
    [
        (Event(1), '{"n":1}'),
        (Model(n=1), '{"n":1}'),
        (Point(1), '{"x":1}'),
        ({"a": [None, 1.5]}, '{"a":[null,1.5]}'),
        (None, "null"),
        ("a\nb", '"a\\nb"'),
        (Note("a"), '{"type":"Note","text":"a"}'),
    ],
)
def test_items(run: Run, item: Any, line: str) -> None:
    @typed
    async def endpoint() -> AsyncIterator[Any]:
        yield item

    async def main() -> None:
        assert await read(endpoint) == line + "\n"
        data = f"data: {line}" if not isinstance(item, str) else "data: a\ndata: b"
        assert await read(endpoint, "text/event-stream") == data + "\n\n"

    run(main)


Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=9)]


@pytest.mark.parametrize("kind", [str, Text, Any, ServerSentEvent[str], ServerSentEvent])
def test_text_is_sent_as_it_is(run: Run, kind: Any) -> None:
    @typed
    async def endpoint() -> AsyncIterator[kind]:
        yield "one"
        yield ServerSentEvent("two")

    async def main() -> None:
        assert await read(endpoint, "text/event-stream") == "data: one\n\ndata: two\n\n"
        assert await read(endpoint, "application/jsonl") == '"one"\n"two"\n'

    run(main)


@pytest.mark.parametrize(
    "kind", [str | Event, Literal["a"], ServerSentEvent[str] | Event, ServerSentEvent[str | Event]]
)
def test_text_beside_other_types_is_json(run: Run, kind: Any) -> None:
    @typed
    async def endpoint() -> AsyncIterator[kind]:
        yield "a"

    async def main() -> None:
        assert await read(endpoint, "text/event-stream") == 'data: "a"\n\n'

    run(main)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.lists(VALUES, max_size=200))
def test_any_items_arrive(items: list[Any]) -> None:
    @typed
    async def endpoint() -> AsyncIterator[Event | Any]:
        for item in items:
            yield item

    @typed
    async def told() -> AsyncIterator[dict[str, Any]]:
        for item in items:
            yield {"it": item}

    async def main() -> None:
        lines = (await read(endpoint)).split("\n")
        assert [json.loads(line) for line in lines[:-1]] == items
        events = (await read(told, "text/event-stream")).split("\n\n")
        assert [json.loads(each.removeprefix("data: "))["it"] for each in events[:-1]] == items
        assert lines[-1] == events[-1] == ""

    anyio.run(main)


# --- ServerSentEvent --------------------------------------------------------------------------


@typed
async def ticks(
    last_event_id: Annotated[str | None, Header()] = None,
) -> AsyncIterator[ServerSentEvent[Event]]:
    yield ServerSentEvent(comment="open", retry=100)
    for n in range(int(last_event_id or 0), 3):
        yield ServerSentEvent(Event(n), event="tick", id=str(n + 1))


def test_events_resume(run: Run) -> None:
    async def main() -> None:
        response = await serve(ticks).request("/", headers={"last-event-id": "2"})
        assert response.headers["content-type"] == "text/event-stream"
        assert await response.text() == (
            ': open\nretry: 100\n\nevent: tick\ndata: {"n":2}\nid: 3\n\n'
        )

    run(main)


def test_fields_of_events_have_no_lines(run: Run) -> None:
    async def main() -> None:
        assert await read(ticks, "application/jsonl") == '{"n":0}\n{"n":1}\n{"n":2}\n'

    run(main)


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"event": "a\nb"}, ValueError, "Invalid event"),
        ({"id": "a\0"}, ValueError, "Invalid id"),
        ({"id": 5}, TypeError, "takes id as a str, not int"),
        ({"retry": -1}, ValueError, "Invalid retry"),
        ({"retry": "5"}, TypeError, "takes retry as an int"),
        ({"comment": b"x"}, TypeError, "takes comment as a str, not bytes"),
    ],
)
def test_fields_are_checked(fields: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        ServerSentEvent("x", **fields)


# --- Functions --------------------------------------------------------------------------------


def decorated(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


async def as_iterable() -> AsyncIterable[int]:
    yield 1


async def as_generator() -> AsyncGenerator[int, None]:
    yield 1


async def unannotated():  # type: ignore[no-untyped-def]
    yield 1


def plain() -> Iterator[int]:
    yield 1


def plain_iterable() -> Iterable[int]:
    yield 1


def plain_generator() -> Generator[int, None, None]:
    yield 1


@decorated
async def wrapped() -> AsyncIterator[int]:
    yield 1


def returned() -> AsyncIterator[int]:
    return as_generator()


async def returned_late() -> Iterator[int]:
    return iter([1])


class Feed:
    async def __call__(self) -> AsyncIterator[int]:
        yield 1

    async def method(self) -> AsyncIterator[int]:
        yield 1


@pytest.mark.parametrize(
    "function",
    [
        as_iterable,
        as_generator,
        unannotated,
        plain,
        plain_iterable,
        plain_generator,
        wrapped,
        returned,
        returned_late,
        Feed(),
        Feed().method,
        functools.partial(as_generator),
    ],
)
def test_functions(run: Run, function: Any) -> None:
    async def main() -> None:
        assert await read(typed(function)) == "1\n"

    run(main)


def test_calls_in_unit_tests(run: Run) -> None:
    async def main() -> None:
        assert [each async for each in numbers(2)] == [Event(0), Event(1)]

    run(main)


def test_a_returned_response_is_sent(run: Run) -> None:
    def refuse(function: Any) -> Any:
        @functools.wraps(function)
        def wrapper(c: Context) -> Any:
            return c.text("none", 404)

        return wrapper

    @typed
    @refuse
    async def endpoint(c: Context) -> AsyncIterator[int]:
        yield 1

    async def main() -> None:
        assert (await serve(endpoint).request("/")).status == 404

    run(main)


def test_a_result_that_is_no_stream(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    @typed
    def endpoint() -> Iterator[int]:
        return [1]  # type: ignore[return-value]

    async def main() -> None:
        assert (await serve(endpoint).request("/")).status == 500

    run(main)
    assert "annotated to return a stream, but returned list" in caplog.text


# --- Errors -----------------------------------------------------------------------------------


def test_errors_before_the_first_item(run: Run) -> None:
    async def find(name: str = "x") -> str:
        if name == "secret":
            raise HTTPException(403)
        return name

    @typed
    async def endpoint(found: Annotated[str, Depends(find)], count: int) -> AsyncIterator[int]:
        await anyio.sleep(0.001)
        if found == "nothing":
            raise HTTPException(404, "nothing there")
        yield count

    async def main() -> None:
        app = serve(endpoint)
        for query, status in [
            ("count=1", 200),
            ("count=x", 400),
            ("count=1&name=secret", 403),
            ("count=1&name=nothing", 404),
        ]:
            assert (await app.request(f"/?{query}")).status == status

    run(main)


def test_other_errors_before_the_first_item(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    @typed
    async def endpoint() -> AsyncIterator[object]:
        raise LookupError("gone")
        yield

    @typed
    async def unencodable() -> AsyncIterator[object]:
        yield object()

    async def main() -> None:
        app = serve(endpoint)
        app.on_error(lambda error, c: c.text(repr(error), 500))
        response = await app.request("/")
        assert (response.status, await response.text()) == (500, "LookupError('gone')")
        assert (await serve(unencodable).request("/")).status == 500

    run(main)
    assert "Can't encode object as JSON" in caplog.text


@pytest.mark.parametrize("error", [ValueError("broke"), HTTPException(404)])
def test_errors_in_the_middle(run: Run, error: Exception) -> None:
    @typed
    async def endpoint() -> AsyncIterator[int]:
        yield 1
        await anyio.sleep(0.001)
        raise error

    async def main() -> None:
        response = await serve(endpoint).request("/")
        assert response.status == 200
        chunks = response.body
        assert not isinstance(chunks, bytes)
        assert chunks is not None
        it = aiter(chunks)
        assert await anext(it) == b"1\n"
        with pytest.raises(type(error)):
            await anext(it)

    run(main)


# --- The course of a stream -------------------------------------------------------------------


def test_head_does_not_run_it(run: Run) -> None:
    begun = []

    @typed
    async def endpoint() -> AsyncIterator[int]:
        begun.append(1)
        yield 1

    async def main() -> None:
        app = serve(endpoint)
        response = await app.request("/", method="HEAD", headers=EVENTS)
        assert (response.status, await response.text()) == (200, "")
        whole = await app.request("/", headers=EVENTS)
        assert dict(response.headers.items()) == dict(whole.headers.items())
        assert begun == [1]
        await whole.text()

    run(main)


def test_a_slow_first_item_does_not_hold_the_response(run: Run) -> None:
    async def main() -> None:
        go_on = anyio.Event()

        @typed
        async def endpoint() -> AsyncIterator[int]:
            await go_on.wait()
            yield 1

        response = await serve(endpoint).request("/")
        go_on.set()
        assert await response.text() == "1\n"

    run(main)


def test_a_request_that_is_cancelled(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        @typed
        async def endpoint() -> AsyncIterator[int]:
            try:
                group.cancel_scope.cancel()
                await anyio.sleep_forever()
                yield 1
            finally:
                raise ValueError("broke")

        async with anyio.create_task_group() as group:
            await serve(endpoint).request("/")
        assert group.cancel_scope.cancelled_caught

    run(main)
    assert "closing a stream that isn't sent" in caplog.text
    assert "ValueError: broke" in caplog.text


def test_keep_alive(run: Run) -> None:
    async def main(keep_alive: float | None, accept: str) -> bytes:
        go_on = anyio.Event()

        @typed(keep_alive=keep_alive)
        async def endpoint() -> AsyncIterator[int]:
            yield 1
            await go_on.wait()
            yield 2

        response = await serve(endpoint).request("/", headers={"accept": accept})
        received = b""
        chunks = response.body
        assert chunks is not None
        assert not isinstance(chunks, bytes)
        async for chunk in chunks:
            received += chunk
            if b": keep-alive\n" in received or keep_alive is None or accept != EVENTS["accept"]:
                go_on.set()
        return received

    received = run(main, 0.001, "text/event-stream")
    assert received.replace(b": keep-alive\n", b"") == b"data: 1\n\ndata: 2\n\n"
    assert b": keep-alive\n" in received
    assert run(main, None, "text/event-stream") == b"data: 1\n\ndata: 2\n\n"
    assert run(main, 0.001, "application/jsonl") == b"1\n2\n"


async def leave(response: Any) -> bytes:
    """Reads a chunk of a body, and closes it."""
    body = response.body
    chunk: bytes = await anext(body)
    await body.aclose()
    return chunk


@pytest.mark.parametrize("waits", [True, False], ids=["waiting", "yielding"])
def test_a_client_that_leaves(run: Run, waits: bool) -> None:
    ended: list[str] = []

    async def session() -> AsyncIterator[str]:
        yield "session"
        ended.append("session")

    @typed
    async def endpoint(it: Annotated[str, Depends(session)]) -> AsyncIterator[int]:
        try:
            async with anyio.create_task_group():  # left by the task that has entered it
                while True:
                    yield 1
                    if waits:
                        await anyio.sleep_forever()
        finally:
            ended.append(f"stream with {it}")

    async def main() -> None:
        assert (await leave(await serve(endpoint).request("/"))).startswith(b"1\n")
        assert ended == ["stream with session", "session"]

    run(main)


def test_clean_up_may_wait() -> None:
    ended = []

    @typed
    async def endpoint() -> AsyncIterator[int]:
        try:
            yield 1
            await anyio.sleep_forever()
        finally:
            await anyio.sleep(0.001)
            ended.append(1)

    async def main() -> None:
        await leave(await serve(endpoint).request("/"))
        assert ended == [1]

    anyio.run(main)


def test_plain_generators_are_closed(run: Run) -> None:
    ended = []

    @typed
    def endpoint() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            ended.append(1)

    async def main() -> None:
        await leave(await serve(endpoint).request("/"))
        assert ended == [1]

    run(main)


def test_a_response_that_is_not_sent(run: Run) -> None:
    ended = []

    @typed
    async def endpoint() -> AsyncIterator[int]:
        try:
            yield 1
            await anyio.sleep_forever()
        finally:
            ended.append(1)

    async def replace(c: Context, next: Any) -> None:
        await next()
        c.res = c.text("instead")

    async def main() -> None:
        app = Kit()
        app.use(replace)
        app.get("/", endpoint)
        assert await (await app.request("/")).text() == "instead"
        assert ended == [1]

    run(main)


def test_a_fast_generator_waits_for_its_reader(run: Run) -> None:
    yielded = 0

    @typed
    async def endpoint() -> AsyncIterator[int]:
        nonlocal yielded
        while True:
            yielded += 1
            yield 1

    async def main() -> None:
        response = await serve(endpoint).request("/")
        for _ in range(100):
            await anyio.lowlevel.checkpoint()
        assert yielded < 1000
        await leave(response)

    run(main)


def test_dependencies_close_after_the_stream(run: Run) -> None:
    course: list[str] = []

    def session() -> Iterator[str]:
        course.append("open")
        yield "it"
        course.append("closed")

    @typed
    async def endpoint(it: Annotated[str, Depends(session)]) -> AsyncIterator[str]:
        for _ in range(2):
            await anyio.sleep(0.001)
            course.append("item")
            yield it

    async def main() -> None:
        assert await read(endpoint) == '"it"\n"it"\n'
        assert course == ["open", "item", "item", "closed"]

    run(main)


user: ContextVar[str] = ContextVar("user")


def test_context_variables(run: Run) -> None:
    @typed
    async def endpoint() -> AsyncIterator[str]:
        for _ in range(2):
            yield user.get()
            await anyio.sleep(0.001)

    async def identify(c: Context, next: Any) -> None:
        token = user.set("ada")
        await next()
        user.reset(token)

    async def main() -> None:
        app = Kit()
        app.use(identify)
        app.get("/", endpoint)
        assert await (await app.request("/")).text() == '"ada"\n"ada"\n'

    run(main)


# --- Mistakes ---------------------------------------------------------------------------------


def stream_or_response() -> AsyncIterator[int] | Response:
    return as_generator()


async def wrong_annotation() -> Event:  # type: ignore[misc]
    yield Event(1)


async def binary() -> AsyncIterator[bytes]:
    yield b""


async def binary_in_union() -> AsyncIterator[str | bytes]:
    yield b""


async def socket(ws: WebSocket) -> AsyncIterator[int]:
    yield 1


@contextlib.asynccontextmanager
async def manager() -> AsyncIterator[int]:
    yield 1


def unsafe() -> Iterator[list[int] | Annotated[str, msgspec.Meta(pattern="a")]]:
    yield []


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (wrong_annotation, "it yields, but is annotated to return"),
        (stream_or_response, "it may return a stream or something else"),
        (binary, r"it yields bytes, .* return c\.body"),
        (binary_in_union, "it yields bytes"),
        (socket, "so it can't yield: send with await ws.send_json"),
        (manager, "it returns a context manager, so it can't be an endpoint"),
        (unsafe, "can't be documented"),
    ],
)
def test_mistakes(function: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        typed(function)


def test_options_that_do_not_fit() -> None:
    with pytest.raises(TypeError, match="status 204 has no body, but it yields"):
        typed(status=204)(as_generator)
    with pytest.raises(TypeError, match="keep_alive has no effect"):
        typed(keep_alive=15)(lambda: 1)
    with pytest.raises(ValueError, match=r"typed\(keep_alive=0\)|keep_alive"):
        typed(keep_alive=0)
    with pytest.raises(TypeError, match="keep_alive"):
        typed(keep_alive="15")  # type: ignore[call-overload]


def test_dependencies_that_would_end_early() -> None:
    def early() -> Iterator[int]:
        yield 1

    def late() -> int:
        return 1

    def endpoint(it: Annotated[int, Depends(early, scope="function")]) -> Iterator[int]:
        yield it

    def fitting(it: Annotated[int, Depends(late, scope="function")]) -> Iterator[int]:
        yield it

    with pytest.raises(TypeError, match="the dependency 'it' has the scope 'function'"):
        serve(typed(endpoint))
    app = serve(typed(fitting))
    with pytest.raises(TypeError, match="scope 'function'"), override(app, {late: early}):
        pass


# --- Documents --------------------------------------------------------------------------------


def responses_of(endpoint: Typed[Any, Any]) -> Any:
    return get_facts(serve(endpoint).routes[0].handler).responses


def test_facts() -> None:
    assert responses_of(numbers)[200] == {
        "content": {
            "application/jsonl": {"itemSchema": Event},
            "text/event-stream": {"itemSchema": Event},
        }
    }
    assert 406 in responses_of(numbers)
    assert list(responses_of(ticks)[200]["content"]) == ["text/event-stream", "application/jsonl"]
    assert responses_of(typed(status=202)(as_generator)).keys() == {202, 406}


def test_an_error_in_the_middle_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    @typed
    async def endpoint() -> AsyncIterator[int]:
        yield 1
        await anyio.sleep(0.001)
        raise ValueError("broke")

    async def main() -> list[Any]:
        sent: list[Any] = []

        async def receive() -> Any:
            await anyio.sleep_forever()

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b""}
        with pytest.raises(ValueError, match="broke"):
            await serve(endpoint)(scope, receive, send)
        return sent

    with caplog.at_level(logging.WARNING):
        sent = anyio.run(main)
    assert [each.get("body") for each in sent] == [None, b"1\n"]
    assert sent[-1]["more_body"]
