# SPDX-License-Identifier: MIT
"""Forms as no honest client writes them: the same however they are cut, in little memory."""

from __future__ import annotations

import gc
import itertools
import sys
import tempfile
import tracemalloc
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kit import Context, FormData, HTTPException, Kit, Limits, Next, Request, Response

MULTIPART = "multipart/form-data; boundary=XX"
URLENCODED = "application/x-www-form-urlencoded"
END = b"--XX--\r\n"
KIB = 1024


def part(disposition: bytes, body: bytes = b"v") -> bytes:
    return b"--XX\r\nContent-Disposition: form-data; " + disposition + b"\r\n\r\n" + body + b"\r\n"


@pytest.fixture(scope="module")
def outcome(read_form: Any) -> Any:
    """The entries of a form, or the status of its refusal."""

    async def outcome(
        chunks: Iterable[bytes], content_type: str = MULTIPART, limits: Limits = Limits()
    ) -> Any:
        try:
            return await read_form(chunks, content_type, limits)
        except HTTPException as error:
            assert error.message  # noqa: PT017
            return error.status

    return outcome


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    edges = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges) if a < b]


def single(data: bytes) -> list[bytes]:
    return [data[place : place + 1] for place in range(len(data))]


CONTENT = st.lists(
    st.sampled_from([b"\r\n", b"\r", b"\n", b"-", b"--", b"X", b"XX", b"\r\n--X", b"a", b"\0"]),
    max_size=6,
).map(b"".join)
HEADS = st.sampled_from(
    [b'name="a"', b'name="f"; filename="n.txt"', b'name="\xc3\xa9%22"', b"name=plain"]
)
PLACES = st.lists(st.integers(0, 2000), max_size=6)
SPOOLS = st.sampled_from([0, 3, 1000])


@settings(deadline=None)
@given(
    parts=st.lists(st.tuples(HEADS, CONTENT), max_size=4),
    preamble=st.sampled_from([b"", b"\r\n", b"some\r\n", b"--X\r\n\r\n"]),
    until=st.integers(1, 2000),
    places=PLACES,
    spool=SPOOLS,
)
@example(parts=[(b'name="a"', b"v")], preamble=b"", until=1, places=[], spool=0)
async def test_a_body_cut_off_anywhere_is_refused(
    outcome: Any, parts: Any, preamble: bytes, until: int, places: list[int], spool: int
) -> None:
    limits = Limits(spool_size_bytes=spool)
    whole = preamble + b"".join(part(*each) for each in parts if b"\r\n--XX" not in each[1])
    whole += END.rstrip()  # what follows is no part of the form
    assert len(await outcome(cut(whole, places), limits=limits)) <= len(parts)
    half = whole[: -(until % len(whole)) or -1]
    for chunks in (cut(half, places), single(half)):
        assert await outcome(chunks, limits=limits) == 400


FRAGMENTS = st.lists(
    st.sampled_from(
        [
            b"--XX",
            b"--XX\r\n",
            END,
            b"\r\n",
            b"\r",
            b"\n",
            b"-",
            b"XX",
            b" ",
            b"\0",
            b"\xff",
            b"content",
            b"Content-Disposition: form-data",
            b'; name="a"',
            b'; filename="f"',
            b"; name=b",
            b"; name",
            b'"',
            b"\\",
            b";",
            b"%0D%0A%22",
            b"Content-Type: text/plain",
            b"Content-Length: 2",
            b": ",
            b"\r\n\r\n",
            part(b'name="a"'),
            part(b'name="f"; filename="f"', b"x" * 9),
        ]
    ),
    max_size=14,
).map(b"".join)


@settings(deadline=None, max_examples=400)
@given(FRAGMENTS, PLACES, SPOOLS)
@example(b"in the line--XX\r\n\r\n" + part(b'name="a"') + END, [], 0)
@example(b"x" * 20 + part(b'name="a"') + END, [20], 0)  # where a chunk begins, no line does
@example(part(b'name="a\nb"') + END, [], 0)
@example(part(b'name="a\rb"') + END, [], 0)
async def test_where_chunks_are_cut_means_nothing(
    outcome: Any, data: bytes, places: list[int], spool: int
) -> None:
    limits = Limits(spool_size_bytes=spool)
    found = await outcome([data], limits=limits)
    assert found == 400 or isinstance(found, list)
    assert await outcome(cut(data, places), limits=limits) == found
    assert await outcome(single(data), limits=limits) == found


PAIRS = st.lists(
    st.sampled_from([b"&", b"=", b"a", b"bcdef", b"%", b"%4", b"%41", b"%c3%a9", b"+", b"\xff"]),
    max_size=25,
).map(b"".join)


@settings(deadline=None, max_examples=300)
@given(PAIRS, PLACES, st.integers(0, 12), st.integers(0, 4))
@example(b"a=%41%41&b", [3, 4], 2, 2)
@example(b"%41%41=a", [1, 2], 2, 1)
async def test_an_urlencoded_form_in_chunks_is_the_same(
    outcome: Any, data: bytes, places: list[int], most: int, fields: int
) -> None:
    limits = Limits(max_field_size_bytes=most, max_fields=fields)
    found = await outcome([data], URLENCODED, limits)
    assert found == 413 or isinstance(found, list)
    assert await outcome(cut(data, places), URLENCODED, limits) == found
    assert await outcome(single(data), URLENCODED, limits) == found


@pytest.mark.parametrize("content_type", [MULTIPART, URLENCODED])
async def test_tiny_chunks_take_no_more_memory(content_type: str) -> None:
    size = 64 * KIB
    begin = b'--XX\r\nContent-Disposition: form-data; name="a"\r\n\r\n'
    end = b"\r\n" + END
    if content_type == URLENCODED:
        begin, end = b"a=", b""

    async def tiny() -> AsyncIterator[bytes]:
        yield begin
        for number in range(size // 2):
            yield b"%02d" % (number % 100)
        yield end

    async def read() -> FormData:
        headers = {"content-type": content_type}
        return await Request("http://x/", method="POST", headers=headers, body=tiny()).form_data()

    async def most_bytes() -> int:
        gc.collect()
        tracemalloc.start()
        try:
            await read()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert len(str((await read()).get("a"))) == size
    # The lowest of three: what earlier tests have left may be freed, or allocated, meanwhile.
    most = min([await most_bytes() for _ in range(3)])
    assert most < 6 * size  # one object for each chunk would be twenty times as much


async def test_escapes_take_no_more_memory() -> None:
    count = 256 * KIB
    data = b"a=" + b"%41" * count
    response = Response(data, headers={"content-type": URLENCODED})
    tracemalloc.start()
    try:
        form = await response.form_data()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert form.get("a") == "A" * count
    assert most < 20 * count


class Disk:
    """The temporary files that were opened, and the sizes of what was written to them."""

    def __init__(self) -> None:
        self.files: list[Any] = []
        self.written: list[int] = []

    def open(self) -> Any:
        file = TEMPORARY_FILE()
        self.files.append(file)
        return Noted(file, self.written)


class Noted:
    def __init__(self, file: Any, written: list[int]) -> None:
        self._file = file
        self._written = written

    def write(self, data: bytes) -> int:
        self._written.append(len(data))
        return int(self._file.write(data))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


TEMPORARY_FILE = tempfile.TemporaryFile


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr(tempfile, "TemporaryFile", disk.open)
    return disk


@pytest.fixture
def upload(client: Any, held: Any) -> Any:
    """Opens a served request with a form: `async with upload(chunks, limits) as form`."""

    @asynccontextmanager
    async def upload(chunks: Iterable[bytes], limits: Limits = Limits()) -> AsyncIterator[FormData]:
        headers = [(b"content-type", MULTIPART.encode())]
        async with held(client(*chunks), headers=headers, limits=limits) as req:
            yield await req.form_data()

    return upload


async def test_many_files_share_memory_and_one_temporary_file(upload: Any, disk: Disk) -> None:
    contents = [bytes([number]) * (50 + number) for number in range(100)]
    data = [
        part(b'name="f"; filename="%d"' % number, content)
        for number, content in enumerate(contents)
    ]
    async with upload([*data, END], Limits(spool_size_bytes=200)) as form:
        files: list[Any] = form.get_all("f")
        assert [await file.bytes() for file in files] == contents
        assert [file.size for file in files] == [len(content) for content in contents]
        # Three of them have 200 bytes or less together, and stay in memory.
        assert sum(disk.written) == sum(len(content) for content in contents[3:])
        assert len(disk.files) == 1
    assert disk.files[0].closed
    assert [await file.bytes() for file in files[:3]] == contents[:3]
    for file in files[3:]:
        with pytest.raises(ValueError, match=r"^The uploaded file '\d+' is gone"):
            await file.bytes()


async def test_a_file_that_fits_is_kept_beside_one_that_does_not(upload: Any, disk: Disk) -> None:
    data = [
        part(b'name="f"; filename="large"', b"l" * 300),
        part(b'name="f"; filename="small"', b"s" * 200),
    ]
    async with upload([*data, END], Limits(spool_size_bytes=200)) as form:
        assert [await file.bytes() for file in form.get_all("f")] == [b"l" * 300, b"s" * 200]
        assert disk.written == [300]


async def test_tiny_chunks_of_a_file_are_written_together(upload: Any, disk: Disk) -> None:
    content = bytes(range(256)) * 1000
    head, tail = part(b'name="f"; filename="f"', b"|").split(b"|")
    chunks = [head, *(content[at : at + 10] for at in range(0, len(content), 10)), tail, END]
    async with upload(chunks, Limits(spool_size_bytes=0)) as form:
        assert await form.get("f").bytes() == content
        assert disk.written == [len(content)]


async def test_a_large_file_is_written_while_it_comes(upload: Any, disk: Disk) -> None:
    piece = bytes(range(256)) * 256
    head, tail = part(b'name="f"; filename="f"', b"|").split(b"|")
    async with upload([head, *[piece] * 64, tail, END]) as form:
        assert await form.get("f").bytes() == piece * 64
        assert max(disk.written) < 3_000_000
        assert sum(disk.written) == len(piece) * 64


async def test_a_form_that_nobody_closes_leaves_no_file_open(disk: Disk) -> None:
    """As one of `c.req.raw`. An open file that is dropped is a warning, and an error here."""

    body = part(b'name="f"; filename="f"', b"x" * 2_000_000) + END
    headers = {"content-type": MULTIPART}
    form = await Request("http://x/", method="POST", headers=headers, body=body).form_data()
    assert [file.closed for file in disk.files] == [False]
    # The thread that wrote forgets what it wrote for before it does anything else.
    await anyio.to_thread.run_sync(len, "")
    del form
    gc.collect()
    assert [file.closed for file in disk.files] == [True]


async def test_forms_that_are_collected_in_cycles_leave_no_file_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The collector may reach a file before the form that owns it: a warning, and an error here."""

    class Holder:
        pass

    holder: Any = Holder()
    holder.files, holder.forms, holder.holder = [], [], holder
    make = tempfile.TemporaryFile

    def kept(files: list[Any] = holder.files) -> Any:
        files.append(make())
        return files[-1]

    body = part(b'name="f"; filename="f"', b"x" * 1_100_000) + END
    headers = {"content-type": MULTIPART}
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "TemporaryFile", kept)
        for _ in range(20):
            request = Request("http://x/", method="POST", headers=headers, body=body)
            holder.forms.append(await request.form_data())
    await anyio.to_thread.run_sync(len, "")
    gc.collect()  # now the files stand before the forms in the collector's list
    del holder, request, kept
    warned: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(sys, "unraisablehook", lambda raised: warned.append(repr(raised.object)))
        gc.collect()
    assert warned == []


async def test_a_form_in_a_file_is_not_read_into_memory_beyond_the_limit() -> None:
    app = Kit(limits=Limits(max_memory_size_bytes=200_000, spool_size_bytes=1000))

    async def read(c: Context) -> Response:
        await c.req.form_data()
        return c.text(str(len(await c.req.bytes())))

    async def mounted(request: Request, *_: Any) -> Response:
        return Response(str(len(await request.bytes())))

    async def form_first(c: Context, next: Next) -> None:
        await c.req.form_data()
        await next()

    app.post("/read", read).use("/m/*", form_first).mount("/m", mounted)
    for size, status in ((150_000, 200), (300_000, 413)):
        body = part(b'name="f"; filename="f"', b"x" * size) + END
        headers = {"content-type": MULTIPART}
        response = await app.request("/read", method="POST", headers=headers, body=body)
        assert response.status == status
        # What a mounted application reads is its own affair, and streamed to it.
        response = await app.request("/m/x", method="POST", headers=headers, body=body)
        assert (response.status, int(await response.text()) >= size) == (200, True)


async def test_files_that_a_mounted_app_reads_end_with_the_request(disk: Disk) -> None:
    inner, outer = Kit(), Kit()
    kept: list[Any] = []

    @inner.post("/up")
    async def upload(c: Context) -> Response:
        kept.append((await c.req.form_data()).get("f"))
        return c.text("ok")

    outer.mount("/m", inner.fetch)
    body = part(b'name="f"; filename="f"', b"x" * 2_000_000) + END
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/m/up",
        "raw_path": b"/m/up",
        "query_string": b"",
        "headers": [(b"content-type", MULTIPART.encode()), (b"host", b"x")],
    }
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await outer(scope, receive, send)
    assert sent[0]["status"] == 200
    assert [file.closed for file in disk.files] == [True]
