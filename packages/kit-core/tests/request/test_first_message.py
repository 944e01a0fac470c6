# SPDX-License-Identifier: MIT
"""A reader that receives the messages of a small body, and what else is done meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from itertools import pairwise
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, HTTPException, Kit, KitRequest, Limits, Response
from kit.interface import ClientDisconnectedError
from kit.request import clone_raw_request

FORM = [(b"content-type", b"application/x-www-form-urlencoded")]
BODY = b"a=1&a=2"
# Of a form that is read at once; larger ones are read as they arrive.
MOST = 128 * 1024


class TooMuchError(Exception):
    """What the tests refuse a body with."""


def refuse() -> TooMuchError:
    return TooMuchError("refused")


async def as_bytes(req: KitRequest) -> bytes:
    return await req.bytes()


async def as_text(req: KitRequest) -> bytes:
    return (await req.text()).encode()


async def of_raw(req: KitRequest) -> bytes:
    return await req.raw.bytes()


async def of_a_clone(req: KitRequest) -> bytes:
    return await (await clone_raw_request(req)).bytes()


async def as_form(req: KitRequest) -> bytes:
    form = await req.form_data()
    return b"&".join(f"{name}={value}".encode() for name, value in form)


async def as_dict(req: KitRequest) -> bytes:
    return b"a=1&a=" + (await req.parse_body())["a"].encode()


@pytest.fixture
def waiting(client: Any) -> Any:
    """A server that sends the body once the test says so."""

    class Waiting(client):
        def __init__(self, *received: Any) -> None:
            super().__init__(*received)
            self.asked = anyio.Event()
            self.released = anyio.Event()

        async def receive(self) -> Any:
            self.asked.set()
            await self.released.wait()
            return await super().receive()

    return Waiting


PIECES = pytest.mark.parametrize(
    "pieces",
    [(BODY,), (b"a=1&", b"a=2"), (BODY, b""), (*[b""] * 40, b"a=1&", b"a=2")],
    ids=["one", "two", "one and its end", "many"],
)
FIRST = pytest.mark.parametrize("first", [as_bytes, as_dict])


async def begin(group: Any, server: Any, first: Callable[[], Awaitable[Any]]) -> None:
    """Starts a reader, and returns once it waits for the server."""
    group.start_soon(first)
    await server.asked.wait()


@PIECES
@FIRST
@pytest.mark.parametrize("second", [as_bytes, as_text, as_dict, as_form, of_a_clone])
def test_a_second_reader_gets_the_same(
    run: Any, waiting: Any, held: Any, pieces: Any, first: Any, second: Any
) -> None:
    async def main() -> None:
        server = waiting(*pieces)
        found = []

        async def read(reader: Any) -> None:
            found.append(await reader(req))

        async with held(server, headers=FORM) as req:
            async with anyio.create_task_group() as group:
                await begin(group, server, partial(read, first))
                group.start_soon(read, second)
                await anyio.wait_all_tasks_blocked()
                server.released.set()
            assert found == [BODY, BODY]
            assert req.raw.body_used
            assert await req.bytes() == BODY

    run(main)


@PIECES
@FIRST
def test_a_second_reader_goes_on_if_the_first_is_cancelled(
    run: Any, waiting: Any, held: Any, pieces: Any, first: Any
) -> None:
    async def main() -> None:
        server = waiting(*pieces)
        found = []

        async def read() -> None:
            found.append(await req.parse_body(all=True))

        async with held(server, headers=FORM) as req, anyio.create_task_group() as group:
            async with anyio.create_task_group() as cancelled:
                await begin(cancelled, server, partial(first, req))
                group.start_soon(read)
                await anyio.wait_all_tasks_blocked()
                cancelled.cancel_scope.cancel()
            server.released.set()
        assert found == [{"a": ["1", "2"]}]

    run(main)


async def of_raw_stream(req: KitRequest) -> bytes:
    return b"".join([chunk async for chunk in req.raw.body or b""])


async def of_a_raw_clone(req: KitRequest) -> bytes:
    return await req.raw.clone().bytes()


@PIECES
@FIRST
@pytest.mark.parametrize("second", [of_raw, of_raw_stream, of_a_raw_clone])
@pytest.mark.parametrize("has_raw", [False, True])
def test_raw_counts_as_read_once_a_reader_has_begun(
    run: Any, waiting: Any, held: Any, pieces: Any, first: Any, second: Any, has_raw: bool
) -> None:
    async def main() -> None:
        server = waiting(*pieces)

        async def read() -> None:
            assert await first(req) == BODY

        async with held(server, headers=FORM) as req, anyio.create_task_group() as group:
            if has_raw:
                assert not req.raw.body_used
            await begin(group, server, read)
            with pytest.raises(TypeError, match=r"was read|already read"):
                await second(req)
            server.released.set()

    run(main)


@PIECES
@pytest.mark.parametrize("has_raw", [False, True])
def test_a_disconnect_is_awaited_meanwhile(
    run: Any, waiting: Any, held: Any, pieces: Any, has_raw: bool
) -> None:
    async def main() -> None:
        server = waiting(*pieces)
        found = []

        async def wait() -> None:
            found.append(await req.raw.wait_for_disconnect())

        async def read() -> None:
            assert await req.bytes() == BODY
            server.gone.set()

        async with held(server) as req, anyio.create_task_group() as group:
            if has_raw:
                assert not req.raw.body_used
            await begin(group, server, read)
            group.start_soon(wait)
            group.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            server.released.set()
        assert found == [True, True]

    run(main)


async def test_a_disconnect_is_awaited_afterwards(client: Any, held: Any) -> None:
    server = client(BODY)
    async with held(server) as req:
        assert await req.bytes() == BODY
        server.gone.set()
        assert await req.raw.wait_for_disconnect()


@pytest.mark.parametrize("read", [as_bytes, as_dict])
async def test_a_client_that_leaves_before_its_body(client: Any, held: Any, read: Any) -> None:
    server = client({"type": "http.disconnect"})
    async with held(server, headers=FORM) as req:
        with pytest.raises(ClientDisconnectedError):
            await read(req)


def test_a_form_is_asked_for_meanwhile_that_is_none(run: Any, waiting: Any, held: Any) -> None:
    async def main() -> None:
        server = waiting(BODY)
        found = []

        async def read() -> None:
            found.append(await req.bytes())

        async with held(server) as req:
            async with anyio.create_task_group() as group:
                await begin(group, server, read)
                assert await req.parse_body() == {}
                server.released.set()
            assert found == [BODY]

    run(main)


@PIECES
@FIRST
@pytest.mark.parametrize("readers", [1, 2])
def test_a_limit_that_is_set_meanwhile(
    run: Any, waiting: Any, held: Any, pieces: Any, first: Any, readers: int
) -> None:
    async def main() -> None:
        server = waiting(*pieces)

        async def read() -> None:
            with pytest.raises(TooMuchError):
                await first(req)

        async with held(server, headers=FORM) as req, anyio.create_task_group() as group:
            for _ in range(readers):
                await begin(group, server, read)
            await anyio.wait_all_tasks_blocked()
            req.limit_body(6, refuse)
            server.released.set()

    run(main)


@PIECES
async def test_a_limit_that_is_set_afterwards(client: Any, held: Any, pieces: Any) -> None:
    async with held(client(*pieces)) as req:
        assert await req.bytes() == BODY
        req.limit_body(7, refuse)
        with pytest.raises(TooMuchError):
            req.limit_body(6, refuse)
        assert await req.bytes() == BODY


def test_json_whose_first_reader_is_cancelled(run: Any, waiting: Any, held: Any) -> None:
    async def main() -> None:
        server = waiting(b"[1]")
        async with held(server) as req:
            async with anyio.create_task_group() as group:
                await begin(group, server, req.json)
                group.cancel_scope.cancel()
            server.released.set()
            assert await req.json() == [1]

    run(main)


async def test_a_form_with_a_limit_for_its_size_alone(client: Any, held: Any) -> None:
    async with held(client(BODY), headers=FORM) as req:
        with pytest.raises(HTTPException, match="larger than 6 bytes"):
            await req.parse_body(max_body_size_bytes=6)


@pytest.mark.parametrize("limits", [Limits(max_body_size_bytes=6), Limits(max_memory_size_bytes=6)])
@pytest.mark.parametrize("read", [as_bytes, as_text, as_dict, as_form])
async def test_a_body_that_is_too_large(client: Any, held: Any, limits: Limits, read: Any) -> None:
    async with held(client(BODY), headers=FORM, limits=limits) as req:
        for _ in range(2):
            with pytest.raises(HTTPException) as caught:
                await read(req)
            assert caught.value.status == 413


def test_the_limits_of_the_first_of_two_readers_count(run: Any, waiting: Any, held: Any) -> None:
    async def main() -> None:
        server = waiting(BODY)
        found = []

        async def read(**limits: int) -> None:
            found.append(await req.parse_body(**limits))

        async with held(server, headers=FORM) as req, anyio.create_task_group() as group:
            await begin(group, server, read)
            group.start_soon(partial(read, max_fields=1))
            await anyio.wait_all_tasks_blocked()
            server.released.set()
        assert found == [{"a": "2"}] * 2

    run(main)


async def test_a_second_content_type_makes_it_no_form(client: Any, held: Any) -> None:
    lines = [*FORM, (b"content-type", b"text/plain")]
    async with held(client(BODY), headers=lines) as req:
        assert await req.parse_body() == {}
        assert await req.bytes() == BODY


async def test_a_form_that_exceeds_a_limit_can_be_parsed_with_another(
    client: Any, held: Any
) -> None:
    async with held(client(BODY), headers=FORM, limits=Limits(max_fields=1)) as req:
        with pytest.raises(HTTPException, match="more than 1 fields"):
            await req.parse_body()
        assert await req.parse_body(max_fields=2) == {"a": "2"}


@pytest.mark.parametrize("begins_before", [True, False], ids=["before", "after"])
def test_the_limits_of_a_cancelled_reader_do_not_count(
    run: Any, waiting: Any, held: Any, begins_before: bool
) -> None:
    async def main() -> None:
        server = waiting(b"a=1&", b"a=2")

        async def read_with_limits() -> None:
            with pytest.raises(HTTPException, match="more than 1 fields"):
                await req.parse_body(max_fields=1)

        async with held(server, headers=FORM) as req, anyio.create_task_group() as group:
            async with anyio.create_task_group() as cancelled:
                await begin(cancelled, server, req.parse_body)
                if begins_before:
                    group.start_soon(read_with_limits)
                    await anyio.wait_all_tasks_blocked()
                cancelled.cancel_scope.cancel()
            if not begins_before:
                group.start_soon(read_with_limits)
            server.released.set()

    run(main)


def test_the_limits_of_a_reader_that_is_cancelled_within_the_body_do_not_count(
    run: Any, waiting: Any, held: Any
) -> None:
    async def main() -> None:
        server = waiting(b"a=1&", b"a=2")
        server.released.set()
        async with held(server, headers=FORM) as req:
            async with anyio.create_task_group() as group:
                await begin(group, server, req.parse_body)
                server.released = anyio.Event()  # from the second message on
                await anyio.wait_all_tasks_blocked()
                group.cancel_scope.cancel()
            server.released.set()
            with pytest.raises(HTTPException, match="more than 1 fields"):
                await req.parse_body(max_fields=1)

    run(main)


@pytest.mark.parametrize("wrong", [{"body": b""}, {"type": "http.request", "body": None}])
@pytest.mark.parametrize("read", [as_bytes, as_dict])
@pytest.mark.parametrize("has_raw", [False, True])
def test_a_message_that_is_wrong_does_not_block_the_next_reader(
    run: Any, waiting: Any, held: Any, wrong: Any, read: Any, has_raw: bool
) -> None:
    async def main() -> None:
        server = waiting(wrong, {"type": "http.request", "body": BODY})
        async with held(server, headers=FORM) as req, anyio.create_task_group() as group:

            async def read_once() -> None:
                with pytest.raises((KeyError, TypeError)):
                    await read(req)

            if has_raw:
                assert not req.raw.body_used
            await begin(group, server, read_once)
            server.released.set()
            await anyio.wait_all_tasks_blocked()
            assert await req.bytes() in (BODY, b"")

    run(main)


def test_the_first_of_two_readers_reads_on(run: Any, waiting: Any, held: Any) -> None:
    boundary = [(b"content-type", b"multipart/form-data; boundary=X")]
    body = b'--X\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--X--\r\n'

    async def main() -> None:
        server = waiting(body[:20], body[20:])
        found: list[Any] = []

        async def read(reader: Any) -> None:
            found.append(await reader())

        async with (
            held(server, headers=boundary) as req,
            anyio.create_task_group() as group,
        ):
            await begin(group, server, partial(read, req.bytes))
            group.start_soon(read, req.parse_body)
            await anyio.wait_all_tasks_blocked()
            server.released.set()
        assert sorted(found, key=str) == [body, {"a": "1"}]  # and not the form, encoded again

    run(main)


async def test_json_of_a_body_that_was_read(client: Any, held: Any) -> None:
    async with held(client(b"[1]")) as req:
        assert await req.bytes() == b"[1]"
        assert await req.json() == [1]
        assert await req.json(list[int]) == [1]


async def test_a_form_with_a_list_and_limits_of_its_own(client: Any, held: Any) -> None:
    async with held(client(b"a[]=1&b=2"), headers=FORM) as req:
        assert await req.parse_body(max_fields=2) == {"a[]": ["1"], "b": "2"}
        assert await req.parse_body() == {"a[]": ["1"], "b": "2"}


@pytest.mark.parametrize("read", [as_bytes, as_form, as_dict])
@pytest.mark.parametrize(
    "pieces",
    [(BODY, b""), (b"a=1&", b"a=2", b""), (BODY, b"", b"", b"")],
    ids=["one", "two", "one and three ends"],
)
@pytest.mark.parametrize("is_native", [False, True])
async def test_a_body_as_long_as_declared_needs_no_end_of_granian(
    client: Any, http_scope: Any, read: Any, pieces: Any, is_native: bool
) -> None:
    """Its messages come from another thread, and its `receive` isn't written in Python."""
    server = client(*pieces)
    left = []

    async def handler(c: Context) -> Response:
        assert await read(c.req) == BODY
        left.append(len(server.received))
        assert await c.req.bytes() == BODY
        async with anyio.create_task_group() as group:

            async def wait() -> None:
                assert await c.req.raw.wait_for_disconnect()
                assert server.gone.is_set()  # it has waited on

            group.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            assert not server.received
            server.gone.set()
        return c.body(None)

    app = Kit().post("/", handler)
    scope = http_scope("/", "POST", headers=[*FORM, (b"content-length", b"7")])
    messages = [server.receive() for _ in range(len(pieces) + 1)]
    await app(scope, messages.pop if is_native else server.receive, server.send)
    for unused in messages:
        unused.close()
    assert left == [pieces.count(b"") if is_native else 0]


def test_a_client_leaves_after_a_body_that_was_refused_twice(
    run: Any, client: Any, held: Any
) -> None:
    async def main() -> None:
        server = client(BODY, b"")
        lines = [(b"content-length", b"7")]
        async with held(server, headers=lines, limits=Limits(max_memory_size_bytes=6)) as req:
            assert not req.raw.body_used
            with pytest.raises(HTTPException):
                await req.bytes()
            with pytest.raises(TooMuchError):
                req.limit_body(5, refuse)
            async with anyio.create_task_group() as group:

                async def wait() -> None:
                    assert await req.raw.wait_for_disconnect()
                    assert server.gone.is_set()

                group.start_soon(wait)
                await anyio.wait_all_tasks_blocked()
                server.gone.set()

    run(main)


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [(b"content-length", b"3")],
        [(b"content-length", b"+4")],
        [(b"content-length", b"4" * 5000)],
        [(b"content-length", b"4"), (b"content-length", b"4")],
        [(b"content-length", b"4"), (b"transfer-encoding", b"chunked")],
        [(b"transfer-encoding", b"chunked"), (b"content-length", b"4")],
        [(b"transfer-encoding", b"chunked"), (b"content-length", b"8")],
    ],
)
@pytest.mark.parametrize("kind", [b"application/x-www-form-urlencoded", b"text/plain"])
@pytest.mark.parametrize("has_raw", [False, True])
def test_a_length_that_is_wrong_or_overridden_ends_nothing(
    run: Any, client: Any, held: Any, lines: Any, kind: bytes, has_raw: bool
) -> None:
    async def main() -> None:
        server = client(b"a=1&", b"a=2")
        async with held(server, headers=[(b"content-type", kind), *lines]) as req:
            if has_raw:
                assert not req.raw.body_used
            if kind == b"text/plain":
                assert await req.bytes() == BODY
            else:
                assert list(await req.form_data()) == [("a", "1"), ("a", "2")]

    run(main)


READERS = {
    "bytes": as_bytes,
    "text": as_text,
    "form": as_form,
    "dict": as_dict,
    "raw": of_raw,
    "clone": of_a_clone,
}


async def outcomes(
    server: Any,
    held: Any,
    limits: Limits,
    limit: int | None,
    readers: list[str],
    lines: Any = (),
) -> list[Any]:
    """Returns what readers return, one after the other, or the exceptions that they raise."""
    found: list[Any] = []
    async with held(server, headers=[*FORM, *lines], limits=limits) as req:
        if limit is not None:
            req.limit_body(limit, refuse)
        for name in readers:
            try:
                found.append(await READERS[name](req))
            except HTTPException as error:
                found.append(error.status)
            except (TypeError, TooMuchError) as error:
                found.append(repr(error))
    return found


@given(
    size=st.integers(0, 2 * MOST),
    cuts=st.lists(st.integers(0, 2 * MOST), max_size=40),
    # One of them: of several, the pieces may decide which one is exceeded first.
    limit=st.sampled_from(["", "of the request", "max_body_size_bytes", "max_memory_size_bytes"]),
    most=st.integers(0, 2 * MOST),
    readers=st.lists(st.sampled_from(sorted(READERS)), max_size=3),
    declares=st.booleans(),
)
def test_pieces_do_not_matter(
    client: Any,
    held: Any,
    size: int,
    cuts: list[int],
    limit: str,
    most: int,
    readers: list[str],
    declares: bool,
) -> None:
    limits = Limits(max_field_size_bytes=3 * MOST)
    if limit.startswith("max"):
        limits = limits.but(**{limit: most})
    own = most if limit == "of the request" else None
    body = b"a=1&a=" + b"x" * size
    places = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    pieces = [body[start:end] for start, end in pairwise(places)]
    # A request that declares more than the app's limit is refused before it is read.
    declares = declares and limit != "max_body_size_bytes"
    lines = [(b"content-length", b"%d" % len(body))] if declares else []

    async def main() -> None:
        with anyio.fail_after(30):
            whole = await outcomes(client(body), held, limits, own, readers, lines)
            apart = await outcomes(client(*pieces), held, limits, own, readers, lines)
        assert apart == whole

    anyio.run(main)


# More messages than are received at once if they are small, fewer if they are large.
MANY = pytest.mark.parametrize(
    ("count", "each"),
    [(100, 10_000), (100, 1), (33, 4096), (32, 4095), (1000, 4000)],
)


@MANY
@pytest.mark.parametrize("declares", [True, False])
@pytest.mark.parametrize("read", [as_bytes, as_text, of_a_clone])
async def test_a_large_body_in_many_messages(
    client: Any, held: Any, count: int, each: int, declares: bool, read: Any
) -> None:
    pieces = [bytes([97 + number % 26]) * each for number in range(count)]
    body = b"".join(pieces)
    lines = [(b"content-length", b"%d" % len(body))] if declares else []
    async with held(client(*pieces), headers=lines) as req:
        assert await read(req) == body
        assert await req.bytes() == body


@MANY
@pytest.mark.parametrize("received", [1, 2, 31, 32, 33])
def test_a_large_body_whose_first_reader_is_cancelled(
    run: Any, client: Any, held: Any, count: int, each: int, received: int
) -> None:
    class Stopping(client):
        left = received

        def __init__(self, *pieces: Any) -> None:
            super().__init__(*pieces)
            self.released = anyio.Event()

        async def receive(self) -> Any:
            if self.left == 0:
                await self.released.wait()
            self.left = max(0, self.left - 1)
            return await super().receive()

    pieces = [bytes([97 + number % 26]) * each for number in range(count)]

    async def main() -> None:
        server = Stopping(*pieces)
        async with held(server) as req:
            async with anyio.create_task_group() as group:
                group.start_soon(req.bytes)
                await anyio.wait_all_tasks_blocked()
                group.cancel_scope.cancel()
            server.released.set()
            assert await req.bytes() == b"".join(pieces)

    run(main)


@MANY
@pytest.mark.parametrize("limit", ["max_body_size_bytes", "max_memory_size_bytes"])
async def test_a_large_body_beyond_a_limit_is_not_received_to_its_end(
    client: Any, held: Any, count: int, each: int, limit: str
) -> None:
    received = 0

    class Counting(client):
        async def receive(self) -> Any:
            nonlocal received
            received += 1
            return await super().receive()

    pieces = [b"x" * each] * count
    async with held(Counting(*pieces), limits=Limits(**{limit: 20 * each})) as req:
        for _ in range(2):
            with pytest.raises(HTTPException) as caught:
                await req.bytes()
            assert caught.value.status == 413
    assert received == 21
