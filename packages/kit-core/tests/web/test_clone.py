# SPDX-License-Identifier: MIT
"""`clone` of requests and responses: two bodies of one, on asyncio and trio.

SPEC: WHATWG Fetch section 2.2.4, "clone a body".
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from kit import Blob, Context, FormData, Kit, Request, Response
from kit.streaming import StreamingApi, stream


async def turns(count: int = 20) -> None:
    """Lets other tasks run as far as they can."""
    for _ in range(count):
        await checkpoint()


class Source:
    """A stream that tells what happens to it.

    Args:
        chunks: What it gives; an exception is raised in its place.
    """

    def __init__(self, *chunks: bytes | str | Exception) -> None:
        self.trace: list[str] = []
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes | str]:
        try:
            for number, chunk in enumerate(self._chunks):
                self.trace.append(f"asked {number}")
                await checkpoint()
                if isinstance(chunk, Exception):
                    raise chunk
                yield chunk
        finally:
            with anyio.CancelScope(shield=True):
                await checkpoint()
            self.trace.append("closed")

    @property
    def closed(self) -> bool:
        return "closed" in self.trace


def chunks_of(body: Response | Request) -> Any:
    stream = body.body
    assert stream is not None
    return stream


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param("é", "é", id="str"),
        pytest.param(b"x", "x", id="bytes"),
        pytest.param(Blob(["a", "b"]), "ab", id="blob"),
        pytest.param(["a", b"b", ""], "ab", id="list"),
        pytest.param(lambda: iter(["a", "b"]), "ab", id="iterator"),
        pytest.param(lambda: aiter(Source("a", b"b")), "ab", id="generator"),
        pytest.param(lambda: Source(b"a", b"", b"b"), "ab", id="async iterable"),
        pytest.param([], "", id="no chunk"),
    ],
)
def test_both_have_the_content(run: Any, body: Any, text: str) -> None:
    async def main() -> None:
        for make in (
            lambda body: Response(body),
            lambda body: Request("http://x/", method="POST", body=body),
        ):
            one = make(body() if callable(body) else body)
            other = one.clone()
            assert await one.text() == text
            assert (one.body_used, other.body_used) == (True, False)
            assert await other.text() == text
            with pytest.raises(TypeError, match="already read"):
                await other.text()

    run(main)


async def test_a_body_in_memory_is_shared() -> None:
    one = Response(b"x" * 1000)
    assert await one.clone().bytes() is await one.bytes()


async def test_no_body() -> None:
    assert Response(None, status=204).clone().body is None
    request = Request("http://x/")
    await request.bytes()
    assert request.clone().body is None


def test_what_else_a_response_has() -> None:
    one = Response("x", status=404, status_text="Nope", headers=[("Set-Cookie", "a=1")] * 2)
    other = one.clone()
    assert (other.status, other.status_text, other.ok) == (404, "Nope", False)
    assert list(other.headers.items()) == list(one.headers.items())
    assert other.headers.get_set_cookie() == ["a=1", "a=1"]
    other.headers.set("x", "1")
    one.headers.set("y", "1")
    assert (one.headers.has("x"), other.headers.has("y")) == (False, False)
    assert Response("x").clone().status_text == ""


async def test_responses_that_share_their_header_lines() -> None:
    app = Kit()
    app.get("/", lambda c: c.text("x"))
    one, two = await app.request("/"), await app.request("/")
    one.clone().headers.set("content-type", "a/b")
    one.headers.set("x", "1")
    assert list(two.headers.items()) == [("content-type", "text/plain; charset=UTF-8")]


def test_what_else_a_request_has() -> None:
    one = Request("http://x/a?b#c", method="patch", headers={"a": "1"}, body="x")
    other = one.clone()
    assert (other.url, other.method, other.scope) == ("http://x/a?b#c", "patch", None)
    assert other.headers == one.headers
    other.headers.set("a", "2")
    assert one.headers["a"] == "1"


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_body_that_was_read_can_not_be_cloned(streamed: bool) -> None:
    response = Response(iter(["a", "b"]) if streamed else "ab")
    request = Request("http://x/", method="PUT", body=iter(["a", "b"]) if streamed else "ab")
    text = "its body was read, or is being read; clone it before that$"
    for body in (response, request):
        chunks = chunks_of(body)
        other = body.clone()  # asking for the stream is not reading it
        await anext(chunks)
        with pytest.raises(TypeError, match=rf"^Can't clone this {type(body).__name__}: {text}"):
            body.clone()
        await chunks.aclose()
        assert await other.text() == "ab"


def test_the_faster_reader_sets_the_pace(run: Any) -> None:
    async def main() -> None:
        source = Source(b"a", b"b", b"c")
        one = Response(source)
        other = one.clone()
        await turns()
        assert source.trace == []  # nothing is read before someone asks
        fast, slow = chunks_of(one), chunks_of(other)
        assert await anext(fast) == b"a"
        await turns()
        assert source.trace == ["asked 0"]  # nor ahead of who asks
        assert await anext(slow) == b"a"
        await turns()
        assert source.trace == ["asked 0"]
        assert [chunk async for chunk in fast] == [b"b", b"c"]
        assert source.closed
        assert [chunk async for chunk in slow] == [b"b", b"c"]

    run(main)


def test_both_at_once(run: Any) -> None:
    async def main() -> None:
        source = Source(*(b"%d," % n for n in range(50)))
        one = Response(source)
        texts: list[str] = []

        async def read(body: Response) -> None:
            texts.append(await body.text())

        async with anyio.create_task_group() as group:
            for body in (one.clone(), one.clone(), one):
                group.start_soon(read, body)
        assert texts == ["".join(f"{n}," for n in range(50))] * 3
        assert source.trace.count("closed") == 1

    run(main)


async def test_clones_of_clones_are_read_by_one_task() -> None:
    one = Response(Source(b"a", b"b"))
    clones = [one]
    for _ in range(500):
        clones.append(clones[-1].clone())
    tasks = len(asyncio.all_tasks())
    for clone in clones:
        chunks = chunks_of(clone)
        assert await anext(chunks) == b"a"
        assert len(asyncio.all_tasks()) <= tasks + 1
        assert [chunk async for chunk in chunks] == [b"b"]


def test_one_that_is_closed_leaves_the_other(run: Any) -> None:
    async def main() -> None:
        for closed_first in (0, 1):
            source = Source(b"a", b"b")
            one = Response(source)
            bodies = [chunks_of(one.clone()), chunks_of(one)]
            left, read_on = bodies[closed_first], bodies[1 - closed_first]
            assert await anext(left) == b"a"
            await left.aclose()
            assert not source.closed
            assert [chunk async for chunk in read_on] == [b"a", b"b"]
            assert source.closed

    run(main)


def test_the_last_that_is_closed_closes_the_source(run: Any) -> None:
    async def main() -> None:
        source = Source(b"a", b"b", b"c")
        one = Response(source)
        bodies = [chunks_of(one.clone()), chunks_of(one)]
        for body in bodies:
            await anext(body)
        await bodies[0].aclose()
        assert not source.closed
        await bodies[1].aclose()
        assert source.trace == ["asked 0", "closed"]

    run(main)


def test_one_that_is_dropped_counts_as_closed(run: Any) -> None:
    async def main() -> None:
        source = Source(b"a", b"b", b"c")
        one = Response(source)
        other = one.clone()
        assert other is not None
        chunks = chunks_of(one)
        await anext(chunks)
        del other
        await chunks.aclose()
        await turns()
        assert source.closed
        again = Source(b"a")
        one = Response(again)
        one.clone()
        assert await one.text() == "a"

    run(main)


def test_one_is_cancelled_half_way_and_the_other_dropped(run: Any) -> None:
    async def main() -> None:
        class Stuck(Source):
            async def __aiter__(self) -> AsyncIterator[bytes | str]:
                try:
                    yield b"a"
                    scope.cancel()
                    await anyio.sleep_forever()
                finally:
                    self.trace.append("closed")

        source = Stuck()
        response = Response(source)
        clone = response.clone()
        with anyio.CancelScope() as scope:
            await response.text()
        assert scope.cancelled_caught
        assert not source.closed
        del response, clone
        gc.collect()
        await turns()
        assert source.closed

    run(main)


def test_what_the_source_raises_reaches_both(run: Any) -> None:
    async def main() -> None:
        source = Source(b"a", ConnectionError("gone"))
        one = Response(source)
        other = one.clone()
        for body in (one, other):
            chunks = chunks_of(body)
            assert await anext(chunks) == b"a"
            with pytest.raises(ConnectionError, match=r"^gone$"):
                await anext(chunks)
        assert source.closed
        late = Response(Source(ConnectionError("gone")))
        unread = late.clone()
        for body in (late, unread):
            with pytest.raises(ConnectionError):
                await body.json()

    run(main)


def test_what_is_no_chunk_reaches_both(run: Any) -> None:
    async def main() -> None:
        one = Response(["a", 1])  # type: ignore[list-item]
        for body in (one.clone(), one):
            with pytest.raises(TypeError, match=r"^A body yielded int: expected str or bytes$"):
                await body.bytes()

    run(main)


def test_a_cancelled_reader_leaves_the_other(run: Any) -> None:
    async def main() -> None:
        free = anyio.Event()
        ended: list[str] = []

        async def chunks() -> AsyncIterator[str]:
            yield "a"
            scope.cancel()
            await free.wait()
            yield "b"
            ended.append("b")

        one = Response(chunks())
        other = one.clone()
        with anyio.CancelScope() as scope:
            await one.text()
        assert scope.cancelled_caught
        free.set()
        assert await other.text() == "ab"
        assert ended == ["b"]

    run(main)


def test_a_source_that_holds_a_scope_open(run: Any) -> None:
    """It sees one task from its beginning to its end, whoever of the two asks."""

    async def main() -> None:
        async def chunks() -> AsyncIterator[str]:
            async with anyio.create_task_group() as group:
                group.start_soon(checkpoint)
                with anyio.fail_after(5):
                    for letter in "abcd":
                        yield letter

        one = Response(chunks())
        two = one.clone()
        got: list[bytes] = []

        async def take(body: Any) -> None:
            got.append(await anext(body))

        bodies = [chunks_of(one), chunks_of(two)]
        for _ in range(4):
            for body in bodies:
                async with anyio.create_task_group() as group:
                    group.start_soon(take, body)
        assert b"".join(got) == b"aabbccdd"
        for body in bodies:
            assert [chunk async for chunk in body] == []

    run(main)


def test_a_source_that_raises_when_it_is_closed(run: Any) -> None:
    async def main() -> None:
        async def chunks() -> AsyncIterator[str]:
            try:
                yield "a"
                yield "b"
            finally:
                raise OSError("can't close")

        one = Response(chunks())
        bodies = [chunks_of(one.clone()), chunks_of(one)]
        for body in bodies:
            await anext(body)
        await bodies[1].aclose()
        with pytest.raises(OSError, match=r"^can't close$"):
            await bodies[0].aclose()

    run(main)


def test_neither_is_read(run: Any) -> None:
    """As in the answer to HEAD, which closes the body of the response."""

    async def main() -> None:
        closed: list[str] = []

        def chunks() -> Iterator[str]:
            try:
                yield "a"
            finally:
                closed.append("closed")

        started = chunks()
        next(started)
        one = Response(started)
        responses = [one.clone(), one]
        app = Kit().get("/", lambda c: responses.pop())
        for _ in range(2):
            assert not closed
            assert await (await app.request("/", {"method": "HEAD"})).text() == ""
        assert closed == ["closed"]

    run(main)


def test_a_client_that_leaves_takes_nothing_from_the_other(run: Any, client: Any) -> None:
    async def main() -> None:
        class Waiting(Source):
            async def __aiter__(self) -> AsyncIterator[bytes | str]:
                try:
                    yield b"a"
                    await free.wait()
                    yield b"b"
                finally:
                    self.trace.append("closed")

        free = anyio.Event()
        source = Waiting()
        one = Response(source)
        other = one.clone()
        answer = await client(leaves_after=2).ask(Kit().get("/", lambda c: one))
        assert answer.body == b"a"
        assert not source.closed
        free.set()
        assert await other.text() == "ab"
        assert source.closed

    run(main)


def test_an_event_loop_that_ends(backend: str) -> None:
    """A body that is left half-way is closed, and a reader of another time is told."""
    source = Source(b"a", b"b")
    kept: list[Any] = []

    async def main() -> None:
        one = Response(source)
        kept.extend([one.clone(), chunks_of(one)])
        assert await anext(kept[1]) == b"a"

    async def later() -> None:
        chunks = chunks_of(kept[0])
        assert await anext(chunks) == b"a"
        with pytest.raises(RuntimeError) as caught:
            await anext(chunks)
        assert str(caught.value) == (
            "The body is not complete: the event loop that read it has ended"
        )

    anyio.run(main, backend=backend)
    assert source.closed
    anyio.run(later, backend=backend)


@given(
    st.lists(st.binary(max_size=3), max_size=6),
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["read", "clone", "close"]))),
)
async def test_any_order_of_reading(chunks: list[bytes], steps: list[tuple[int, str]]) -> None:
    """Each copy has the whole content, whatever becomes of the others."""
    source = Source(*chunks)
    first = Response(source)
    copies: list[list[Any]] = [[first.clone(), None, b""], [first, None, b""]]
    del first
    for index, step in steps:
        copy = copies[index % len(copies)]
        response, stream, seen = copy
        if step == "read":
            copy[1] = stream = stream or chunks_of(response)
            copy[2] = seen + await anext(stream, b"")
        elif step == "clone" and stream is None and len(copies) < 4:
            copies.append([response.clone(), None, b""])
        elif step == "close" and len(copies) > 1:
            copies.remove(copy)
            if stream is not None:
                await stream.aclose()
                assert [chunk async for chunk in stream] == []
        del copy, response, stream  # one that was not read is closed where it is dropped
    for response, stream, seen in copies:
        rest = chunks_of(response) if stream is None else stream
        assert seen + b"".join([chunk async for chunk in rest]) == b"".join(chunks)
    await turns()
    assert source.trace.count("closed") == 1


async def test_a_form_is_cloned_as_it_will_be_sent() -> None:
    form = FormData({"a": "1"})
    one = Response(form)
    other = one.clone()
    assert list(await one.form_data()) == list(await other.form_data()) == [("a", "1")]
    with pytest.raises(TypeError, match="clone it before that"):
        one.clone()


def test_middleware_reads_what_a_handler_streams(run: Any, client: Any) -> None:
    """The clone is read in the background; the callback of the handler runs once."""

    async def main() -> None:
        trace: list[str] = []
        app = Kit()

        @app.use("*")
        async def keep(c: Context, next: Any) -> None:
            await next()
            copy = c.res.clone()

            async def read() -> None:
                trace.append(await copy.text())

            c.execution_ctx.wait_until(read())

        @app.get("/")
        def page(c: Context) -> Response:
            async def write(api: StreamingApi) -> None:
                trace.append("written")
                for letter in "abc":
                    await api.write(letter)

            return stream(c, write)

        answer = await client().ask(app)
        assert (answer.body, trace) == (b"abc", ["written", "abc"])

    run(main)


def test_a_served_request(run: Any, client: Any, held: Any) -> None:
    async def main() -> None:
        headers = [(b"host", b"h.example"), (b"x", b"1")]
        for touched in (False, True):
            async with held(client(b"a", b"", b"b"), path="/p", headers=headers) as req:
                one = req.raw
                if touched:
                    one.headers.set("x", "2")
                other = one.clone()
                assert (other.method, other.url) == ("POST", "http://h.example/p")
                assert other.scope is one.scope
                assert other.headers["x"] == ("2" if touched else "1")
                other.headers.set("x", "3")
                assert one.headers["x"] == ("2" if touched else "1")
                assert await other.text() == "ab"
                assert await one.text() == "ab"

    run(main)


async def test_a_served_get_request(client: Any, held: Any) -> None:
    async with held(client(), method="GET") as req:
        other = req.raw.clone()
        assert await Request(other, headers={}).text() == ""
        assert await req.raw.text() == ""
