# SPDX-License-Identifier: MIT
"""`kit.streaming.stream_sse`: events as clients understand them, and keep-alive comments.

In process, on asyncio, trio, and a clock that jumps.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st

from kit import Context, Kit, Response
from kit.streaming import SSEStreamingApi, stream_sse

Callback = Callable[[Any], Awaitable[object]]


# --- server-sent events ------------------------------------------------------------------------


@dataclass
class Event:
    """What an EventSource gives its page."""

    type: str
    data: str
    last_event_id: str


@dataclass
class Point:
    x: int


def parse(text: str) -> tuple[list[Event], int | None]:
    """Interprets an event stream step by step as WHATWG HTML section 9.2.6 says."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    events: list[Event] = []
    data, event_type, last_event_id, retry = "", "", "", None
    for line in lines[:-1]:  # what follows the last line end is no line, and is dropped
        if line == "":
            if data != "":
                events.append(
                    Event(event_type or "message", data.removesuffix("\n"), last_event_id)
                )
            data, event_type = "", ""
            continue
        field, colon, value = line.partition(":")
        if colon and not field:
            continue
        value = value.removeprefix(" ")
        if field == "event":
            event_type = value
        elif field == "data":
            data += value + "\n"
        elif field == "id" and "\0" not in value:
            last_event_id = value
        elif field == "retry" and value.isascii() and value.isdigit():
            retry = int(value)
    return events, retry


async def sse(callback: Callback, **options: Any) -> str:
    app = Kit().get("/", lambda c: stream_sse(c, callback, **options))
    return await (await app.request("/")).text()


def event_of(*arguments: Any, **fields: Any) -> Callback:
    async def callback(stream: SSEStreamingApi) -> None:
        await stream.write_sse(*arguments, **fields)

    return callback


def test_the_parser_by_the_examples_of_the_standard() -> None:
    assert parse("data: YHOO\ndata: +2\ndata: 10\n\n")[0] == [Event("message", "YHOO\n+2\n10", "")]
    text = (
        ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n"
    )
    assert parse(text)[0] == [
        Event("message", "first event", "1"),
        Event("message", "second event", ""),
    ]
    assert [event.data for event in parse("data\n\ndata\ndata\n\ndata:")[0]] == ["", "\n"]
    assert [event.data for event in parse("data:test\n\ndata: test\n\n")[0]] == ["test", "test"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"data": "a"}, "data: a\n\n"),
        ({"data": ""}, "data: \n\n"),
        ({"data": " a "}, "data:  a \n\n"),
        ({"data": "a\nb"}, "data: a\ndata: b\n\n"),
        ({"data": "a\r\nb\rc\n"}, "data: a\ndata: b\ndata: c\ndata: \n\n"),
        ({"data": "a\x0b\x0c\x1c\x85\u2028b"}, "data: a\x0b\x0c\x1c\x85\u2028b\n\n"),
        ({"data": {"a": [1, "é\n"]}}, 'data: {"a":[1,"é\\n"]}\n\n'),
        ({"data": Point(1)}, 'data: {"x":1}\n\n'),
        ({"data": None}, "data: null\n\n"),
        ({"data": 5}, "data: 5\n\n"),
        (
            {"data": "a", "event": "tick", "id": "7", "retry": 3000},
            "event: tick\ndata: a\nid: 7\nretry: 3000\n\n",
        ),
        ({"data": "a", "event": "", "id": "", "retry": 0}, "event: \ndata: a\nid: \nretry: 0\n\n"),
        ({"data": "a", "event": "a:b é\0", "id": " é"}, "event: a:b é\0\ndata: a\nid:  é\n\n"),
    ],
)
async def test_write_sse(fields: Any, text: str) -> None:
    assert await sse(event_of(**fields)) == text


async def test_write_sse_takes_its_data_first() -> None:
    assert await sse(event_of("a", "tick")) == "event: tick\ndata: a\n\n"


@pytest.mark.parametrize(
    ("fields", "error", "text"),
    [
        (
            {"event": "a\nb"},
            ValueError,
            "Invalid event 'a\\nb' of an event: CR and LF are not allowed",
        ),
        (
            {"event": "a\r"},
            ValueError,
            "Invalid event 'a\\r' of an event: CR and LF are not allowed",
        ),
        ({"id": "\n"}, ValueError, "Invalid id '\\n' of an event: CR, LF and NUL are not allowed"),
        (
            {"id": "1\r"},
            ValueError,
            "Invalid id '1\\r' of an event: CR, LF and NUL are not allowed",
        ),
        (
            {"id": "\0"},
            ValueError,
            "Invalid id '\\x00' of an event: CR, LF and NUL are not allowed",
        ),
        ({"retry": -1}, ValueError, "Invalid retry -1 of an event: expected 0 or more"),
        ({"event": 5}, TypeError, "write_sse() takes event as a str, not int"),
        ({"id": 5}, TypeError, "write_sse() takes id as a str, not int"),
        ({"retry": 1.5}, TypeError, "write_sse() takes retry as an int of milliseconds, not float"),
        ({"retry": "5"}, TypeError, "write_sse() takes retry as an int of milliseconds, not str"),
        ({"retry": True}, TypeError, "write_sse() takes retry as an int of milliseconds, not bool"),
        ({"data": object}, TypeError, f"Can't encode type as JSON, at $: {object!r}"),
    ],
)
async def test_what_is_no_event(fields: Any, error: Any, text: str) -> None:
    async def callback(stream: SSEStreamingApi) -> None:
        with pytest.raises(error) as caught:
            await stream.write_sse(**{"data": "x", **fields})
        await stream.write(str(caught.value))

    assert await sse(callback) == text


# What UTF-8 can't say is no text.
texts = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\r\n:\0 \ufeff"))
lines = texts.map(lambda text: text.replace("\r", "").replace("\n", ""))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda values: st.lists(values) | st.dictionaries(texts, values),
)


@settings(max_examples=200)
@given(
    st.lists(
        st.tuples(
            texts | json_values,
            st.none() | lines,
            st.none() | lines.map(lambda line: line.replace("\0", "")),
            st.none() | st.integers(0, 10**9),
        ),
        max_size=4,
    )
)
def test_events_arrive_as_they_were_written(written: list[Any]) -> None:
    async def callback(stream: SSEStreamingApi) -> None:
        for data, event, event_id, retry in written:
            await stream.write_sse(data=data, event=event, id=event_id, retry=retry)

    events, last_retry = parse(asyncio.run(sse(callback)))
    last_event_id = ""
    assert len(events) == len(written)
    for got, (data, event, event_id, _) in zip(events, written, strict=True):
        last_event_id = last_event_id if event_id is None else event_id
        assert (got.type, got.last_event_id) == (event or "message", last_event_id)
        if isinstance(data, str):
            assert got.data == data.replace("\r\n", "\n").replace("\r", "\n")
        else:
            assert json.loads(got.data) == data
    retries = [retry for *_, retry in written if retry is not None]
    assert last_retry == (retries[-1] if retries else None)


@pytest.mark.parametrize(
    ("header", "expected"),
    [(None, None), ("7", "7"), ("é".encode().decode("latin-1"), "é"), ("\xff", "\ufffd"), ("", "")],
)
async def test_last_event_id(header: str | None, expected: str | None) -> None:
    seen: list[Any] = []

    async def callback(stream: SSEStreamingApi) -> None:
        seen.append(stream.last_event_id)

    app = Kit().get("/", lambda c: stream_sse(c, callback))
    headers = {} if header is None else {"last-event-id": header}
    await (await app.request("/", {"headers": headers})).text()
    assert seen == [expected]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((None,), "stream_sse() takes an async function as callback, not None"),
        ((print, 5), "stream_sse() takes a function as on_error, not 5"),
    ],
)
async def test_arguments_that_are_no_functions(arguments: Any, text: str) -> None:
    def handler(c: Context) -> Response:
        with pytest.raises(TypeError) as caught:
            stream_sse(c, *arguments)
        return c.text(str(caught.value))

    assert await (await Kit().get("/", handler).request("/")).text() == text


# --- keep-alive comments -----------------------------------------------------------------------


def in_virtual_time(callback: Callback, read: Any = None) -> Any:
    """Runs on a clock that jumps to the next thing to do, so that every second is exact."""

    async def main() -> Any:
        app = Kit().get("/", lambda c: stream_sse(c, callback, keep_alive=5))
        response = await app.request("/")
        return await (response.text() if read is None else read(response.body))

    return trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


def test_keep_alive_when_nothing_else_is_sent() -> None:
    async def callback(stream: SSEStreamingApi) -> None:
        await stream.sleep(3)
        await stream.write("data: a\n\n")
        await stream.sleep(11)
        for letter in "bcd":
            await stream.write_sse(letter)
            await stream.sleep(4)

    comment = ": keep-alive\n"
    assert in_virtual_time(callback) == (
        "data: a\n\n" + comment * 2 + "data: b\n\ndata: c\n\ndata: d\n\n"
    )


def test_keep_alive_never_gets_into_a_line() -> None:
    async def callback(stream: SSEStreamingApi) -> None:
        await stream.write("data: a")
        await stream.sleep(60)
        await stream.write("b\n")
        await stream.sleep(6)
        await stream.write("data: c\n\n")

    assert parse(in_virtual_time(callback))[0] == [Event("message", "ab\nc", "")]


async def slowly(body: Any) -> list[bytes]:
    """Reads a chunk a minute."""
    chunks = []
    async for chunk in body:
        chunks.append(chunk)
        await anyio.sleep(60)
    return chunks


def test_keep_alive_waits_with_what_waits_to_be_sent() -> None:
    """A comment is no news behind an event that the client has not taken yet."""

    async def callback(stream: SSEStreamingApi) -> None:
        await stream.write_sse("a")
        await stream.write_sse("b")

    assert in_virtual_time(callback, slowly) == [b"data: a\n\n", b"data: b\n\n"]


async def closing(stream: SSEStreamingApi) -> None:
    await stream.write_sse("a")
    await stream.write_sse("b")
    stream.close()
    await stream.sleep(60)


async def at_once(stream: SSEStreamingApi) -> None:
    pass


@pytest.mark.parametrize("read", [None, slowly], ids=["fast", "slowly"])
def test_keep_alive_ends_with_the_stream(read: Any, caplog: pytest.LogCaptureFixture) -> None:
    text = "data: a\n\ndata: b\n\n"
    expected: Any = text if read is None else [b"data: a\n\n", b"data: b\n\n"]
    assert in_virtual_time(closing, read) == expected
    assert in_virtual_time(at_once, read) == ("" if read is None else [])
    assert caplog.records == []


def test_keep_alive_does_not_hide_errors(run: Any) -> None:
    async def callback(stream: SSEStreamingApi) -> None:
        await stream.write_sse("a")
        raise ValueError("broke")

    async def main() -> None:
        with pytest.raises(ValueError, match=r"^broke$"):
            await sse(callback, keep_alive=60)

    run(main)


def test_keep_alive_comments_come_on_every_clock(run: Any) -> None:
    async def callback(stream: SSEStreamingApi) -> None:
        await stream.sleep(3600)

    async def main() -> None:
        app = Kit().get("/", lambda c: stream_sse(c, callback, keep_alive=0.001))
        body: Any = (await app.request("/")).body
        assert [await anext(body) for _ in range(3)] == [b": keep-alive\n"] * 3
        await body.aclose()

    run(main)


def test_keep_alive_finds_a_client_that_is_gone(run: Any, client: Any) -> None:
    trace: list[Any] = []

    async def callback(stream: SSEStreamingApi) -> None:
        stream.on_abort(lambda: trace.append(stream.aborted))
        try:
            await stream.sleep(3600)
        finally:
            trace.append("finally")

    class Silent(client):
        """As a server that never tells that the client left."""

        async def receive(self) -> dict[str, Any]:
            await anyio.lowlevel.checkpoint()
            return {"type": "http.request", "body": b""}

        async def take(self, message: dict[str, Any]) -> None:
            if message.get("body"):
                raise BrokenPipeError("gone")

    app = Kit().get("/", lambda c: stream_sse(c, callback, keep_alive=0.001))
    run(Silent().ask, app, method="GET")
    assert trace == [True, "finally"]


@pytest.mark.parametrize("keep_alive", [0, -1, float("nan")])
async def test_keep_alive_of_no_time(keep_alive: float) -> None:
    def handler(c: Context) -> Response:
        with pytest.raises(ValueError) as caught:  # noqa: PT011 - compared below
            stream_sse(c, at_once, keep_alive=keep_alive)
        return c.text(str(caught.value))

    assert await (await Kit().get("/", handler).request("/")).text() == (
        f"Invalid keep_alive {keep_alive!r} of stream_sse(): expected seconds above 0, or None"
    )
