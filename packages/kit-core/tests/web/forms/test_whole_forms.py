# SPDX-License-Identifier: MIT
"""A form that comes in one message is read as one that comes in pieces, however it is asked for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kit import File, HTTPException, KitRequest, Limits
from kit.request import clone_raw_request

MULTIPART = "multipart/form-data; boundary=XX"
URLENCODED = "application/x-www-form-urlencoded"
SMALL = Limits(max_fields=3, max_files=1, max_field_size_bytes=8, spool_size_bytes=300)
PART = b'--XX\r\nContent-Disposition: form-data; name="a"'
SMALLER = Limits(max_fields=3, max_files=1, max_field_size_bytes=8, spool_size_bytes=5)
LIMITS = st.sampled_from([Limits(), SMALL, SMALLER])
FIELDS = st.lists(
    st.sampled_from([b"a=1", b"a=%C3%A9", b"b[]=+", b"c.d=%zz", b"=", b"", b"long=" + b"x" * 9]),
    max_size=6,
).map(b"&".join)
PARTS = st.lists(
    st.sampled_from(
        [
            PART + b"\r\n\r\n1\r\n",
            PART + b"\r\n\r\n\xc3\xa9\xff\r\n",
            PART + b"\r\n\r\n" + b"x" * 9 + b"\r\n",
            PART + b'; filename="f"\r\nContent-Type: text/A \r\n\r\n' + b"--X\r\n" * 4 + b"\r\n",
            PART + b'; filename="%22"\r\nContent-Length: 2\r\n\r\n12\r\n',
            PART + b"\r\nX: \0\r\n\r\n\r\n",
            b"preamble\r\n",
            b"--XX--\r\n",
        ]
    ),
    max_size=6,
).map(b"".join)


@pytest.fixture(scope="module")
def served(client: Any, held: Any) -> Any:
    """Opens a request whose body comes in pieces: `async with served(body, kind, size) as req`."""

    class Slow(client):
        async def receive(self) -> Any:
            for _ in range(5):  # so that other tasks come between
                await checkpoint()
            return await super().receive()

    def served(
        body: bytes, kind: str, size: int, limits: Limits = Limits(), headers: Any = None
    ) -> Any:
        pieces = [body[start : start + size] for start in range(0, len(body), size)]
        lines = {"content-type": kind, **(headers or {})}
        headers = [(name.encode(), value.encode()) for name, value in lines.items()]
        return held(Slow(*pieces), headers=headers, limits=limits)

    return served


async def parse_body(req: KitRequest) -> Any:
    return await req.parse_body()


async def parse_all(req: KitRequest) -> Any:
    return await req.parse_body(all=True, dot=True)


async def form_data(req: KitRequest) -> Any:
    return dict(enumerate(await req.form_data()))


async def twice(req: KitRequest) -> Any:
    await req.parse_body()
    return await form_data(req)


async def after_bytes(req: KitRequest) -> Any:
    await req.bytes()
    return await req.parse_body()


async def with_raw_between(req: KitRequest) -> Any:
    first = await plain(await req.parse_body())
    assert req.raw.body_used
    assert await plain(await req.parse_body()) == first
    return await req.parse_body(all=True)


async def cloned(req: KitRequest) -> Any:
    await req.parse_body()
    return dict(enumerate(await (await clone_raw_request(req)).form_data()))


async def plain(value: Any) -> Any:
    """What was read, with files as name, type, size and content."""
    if isinstance(value, File):
        return value.name, value.type, value.size, await value.bytes()
    if isinstance(value, dict):
        return [(name, await plain(each)) for name, each in value.items()]
    if isinstance(value, (list, tuple)):
        return [await plain(each) for each in value]
    return value


async def outcome(read: Callable[[KitRequest], Awaitable[Any]], served: Any) -> Any:
    try:
        async with served as req:
            return await plain(await read(req))
    except HTTPException as error:
        # Of two limits, the one that is seen first depends on the pieces.
        return error.status if error.status == 413 else str(error)


@settings(deadline=None)
@given(
    st.one_of(
        st.tuples(FIELDS, st.just(URLENCODED)),
        st.tuples(PARTS, st.sampled_from([MULTIPART, MULTIPART + "; boundary=Y"])),
    ),
    LIMITS,
    st.sampled_from(
        [parse_body, parse_all, form_data, twice, after_bytes, with_raw_between, cloned]
    ),
)
@example((PART + b'; filename="f"\r\n\r\n12345678\r\n--XX--', MULTIPART), SMALL, parse_body)
@example((b"b[]=1&a=2&b[]=3", URLENCODED), Limits(), twice)
async def test_in_one_message_or_in_pieces(
    served: Any, form: Any, limits: Limits, read: Any
) -> None:
    body, kind = form
    at_once = await outcome(read, served(body, kind, max(len(body), 1), limits))
    in_pieces = await outcome(read, served(body, kind, 7, limits))
    assert at_once == in_pieces


@pytest.mark.parametrize("size", [100, 2])
async def test_the_limits_of_the_first_reader_count(served: Any, size: int) -> None:
    async with served(b"a=1&b=2&c=3", URLENCODED, size, Limits(max_fields=2)) as req:
        assert await req.parse_body(max_fields=3) == {"a": "1", "b": "2", "c": "3"}
        assert await req.parse_body() == {"a": "1", "b": "2", "c": "3"}
        assert list(await req.form_data()) == [("a", "1"), ("b", "2"), ("c", "3")]


@pytest.mark.parametrize("size", [1000, 5])
async def test_each_reading_gives_the_same_file(served: Any, size: int) -> None:
    body = PART + b'; filename="f"\r\n\r\n1\r\n--XX--'
    async with served(body, MULTIPART, size) as req:
        (file,) = (await req.parse_body()).values()
        (again,) = (await req.parse_body(all=True)).values()
        assert again is file
        assert [value for _, value in await req.form_data()] == [file]
        assert (await req.parse_body(max_files=0))["a"] is file


NOTED = (
    b'--XX\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset=utf-8'
    b"\r\n\r\n1\r\n--XX--\r\nepilogue"
)


@pytest.mark.parametrize("end", [b"?", b"--"])
@pytest.mark.parametrize("size", [1000, 50])
async def test_another_reader_gets_the_bytes_that_were_sent(
    served: Any, size: int, end: bytes
) -> None:
    body = NOTED.replace(b"--XX--", b"--XX" + end)
    found: list[Any] = []

    async with served(body, MULTIPART, size) as req:

        async def read_form() -> None:
            with suppress(HTTPException):
                await req.form_data()

        async def read_bytes() -> None:
            found.append(await req.bytes())

        async with anyio.create_task_group() as group:
            group.start_soon(read_form)
            await checkpoint()
            group.start_soon(read_bytes)
        found.append(await (await clone_raw_request(req)).bytes())
    assert found == [body, body]


async def test_a_form_beyond_the_memory_limit_leaves_the_bytes_that_were_sent(served: Any) -> None:
    limits = Limits(max_memory_size_bytes=50)
    async with served(NOTED, MULTIPART, 60, limits) as req:
        assert await req.parse_body() == {"a": "1"}
        assert await req.bytes() == NOTED


async def test_the_clone_of_a_large_form_has_its_own_length(served: Any) -> None:
    content = b"1" * 200_000
    body = NOTED.replace(b"\r\n1\r\n", b"\r\n" + content + b"\r\n")
    headers = {"content-length": str(len(body))}
    async with served(body, MULTIPART, 50_000, headers=headers) as req:
        assert [len(value) for _, value in await req.form_data()] == [len(content)]
        data = await req.bytes()
        clone = await clone_raw_request(req)
    assert clone.headers.get("content-length") == str(len(data)) != str(len(body))


async def test_limits_of_another_name_are_refused(served: Any) -> None:
    async with served(b"a=1", URLENCODED, 100) as req:
        with pytest.raises(TypeError, match="has no limit 'may_be_simple'"):
            await req.parse_body(may_be_simple=True)


@pytest.mark.parametrize("size", [1000, 5])
async def test_a_malformed_form_is_refused_each_time(served: Any, size: int) -> None:
    async with served(PART + b"\r\n\r\n1\r\n", MULTIPART, size) as req:
        for read in (req.parse_body, req.form_data, req.parse_body):
            with pytest.raises(HTTPException, match="the final boundary --XX-- is missing"):
                await read()


async def test_each_reading_gives_a_dict_of_its_own(served: Any) -> None:
    async with served(b"a=1", URLENCODED, 100) as req:
        first = await req.parse_body()
        first["a"] = "changed"
        assert await req.parse_body() == {"a": "1"}


TWO_FIELDS = pytest.mark.parametrize(
    ("body", "kind"),
    [
        pytest.param(b"a=1&a=2", URLENCODED, id="urlencoded"),
        pytest.param((PART + b"\r\n\r\n2\r\n") * 2 + b"--XX--", MULTIPART, id="multipart"),
    ],
)


@TWO_FIELDS
@pytest.mark.parametrize("size", [1000, 5])
def test_tasks_that_read_at_once(run: Any, served: Any, body: bytes, kind: str, size: int) -> None:
    found: list[Any] = []

    async def main() -> None:
        async def read(reader: Any, **limits: int) -> None:
            found.append(await reader(**limits))

        async with (
            served(body, kind, size, Limits(max_fields=1)) as req,
            anyio.create_task_group() as group,
        ):
            group.start_soon(partial(read, req.parse_body, max_fields=2))
            await checkpoint()  # the first one has begun, and its limits count for all
            group.start_soon(read, req.parse_body)
            group.start_soon(read, req.form_data)

    run(main)
    forms = [each for each in found if not isinstance(each, dict)]
    assert [each for each in found if isinstance(each, dict)] == [{"a": "2"}] * 2
    assert [len(list(form)) for form in forms] == [2]


@TWO_FIELDS
async def test_a_task_that_is_cancelled_while_it_receives(
    served: Any, body: bytes, kind: str
) -> None:
    async with served(body, kind, 1000) as req:
        async with anyio.create_task_group() as group:
            group.start_soon(req.parse_body)
            await checkpoint()
            group.cancel_scope.cancel()
        assert await req.parse_body() == {"a": "2"}


@pytest.mark.parametrize("more", [0, 1])
async def test_a_form_as_large_as_what_is_kept_in_memory(served: Any, more: int) -> None:
    head = PART + b'; filename="f"\r\n\r\n'
    tail = b"\r\n--XX--"
    content = b"x" * (200 - len(head) - len(tail) + more)
    limits = Limits(spool_size_bytes=200)
    async with served(head + content + tail, MULTIPART, 1000, limits) as req:
        (file,) = (await req.parse_body()).values()
        assert await file.bytes() == content
    assert await file.bytes() == content  # it needs no temporary file, which would be gone


@pytest.mark.parametrize("kind", [bytearray, memoryview])
@pytest.mark.parametrize("size", [1, 100])
async def test_a_server_that_gives_other_bytes(
    client: Any, held: Any, kind: Any, size: int
) -> None:
    body = b"a=1&b=2"
    pieces = [kind(body[start : start + size]) for start in range(0, len(body), size)]
    async with held(client(*pieces)) as req:
        data = await req.bytes()
    assert (type(data), data) == (bytes, body)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        pytest.param(URLENCODED, b"a=1", id="urlencoded"),
        pytest.param(MULTIPART, PART + b"\r\n\r\n1\r\n--XX--", id="multipart"),
    ],
)
@pytest.mark.parametrize("first", ["", "text/plain"])
async def test_a_second_content_type_makes_no_form(
    client: Any, held: Any, kind: str, body: bytes, first: str
) -> None:
    lines = [(b"content-type", value.encode()) for value in (first, kind)]
    async with held(client(body), headers=lines) as req:
        assert await req.parse_body() == {}


@pytest.mark.parametrize("values", [["1"], ["1", "2"]])
async def test_all_headers_of_a_server_whose_lines_are_no_list(
    client: Any, held: Any, values: list[str]
) -> None:
    lines = dict.fromkeys((b"x-a", value.encode()) for value in values).keys()

    class Lines:
        def __iter__(self) -> Any:
            return iter(lines)

    async with held(client(), headers=Lines()) as req:
        assert req.header() == {"x-a": ", ".join(values)}
