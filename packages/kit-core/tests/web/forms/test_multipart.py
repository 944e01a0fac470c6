# SPDX-License-Identifier: MIT
"""multipart/form-data: fuzzed, written and read in any chunks, and files beyond memory."""

from __future__ import annotations

import asyncio
import gc
import itertools
import sys
import tempfile
import warnings
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import httpx
import multipart
import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kit import Blob, File, FormData, HTTPException, KitRequest, Limits, Request, Response

MULTIPART = "multipart/form-data; boundary=XX"
END = b"--XX--\r\n"
SPOOLING = Limits(spool_size_bytes=10)
# Uploads are written to their temporary file once so much of them came.
WRITTEN_BYTES = 1024 * 1024


def part(head: bytes, body: bytes = b"v", more: bytes = b"") -> bytes:
    return b"--XX\r\nContent-Disposition: form-data; " + head + more + b"\r\n\r\n" + body + b"\r\n"


async def stream(chunks: Iterable[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def entries(form: FormData) -> list[tuple[str, Any]]:
    return [
        (name, (v.name, v.type, await v.bytes()) if isinstance(v, File) else v) for name, v in form
    ]


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    edges = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges) if a < b]


SAFE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0%\\\r\n"), max_size=9)
CONTENT = st.one_of(
    st.binary(max_size=60),
    st.sampled_from([b"\r\n--XX", b"\r\n--XX--\r\n", b"\r", b"\n", b"--", b"\r\n\r\n", b"\r\n--X"]),
    st.lists(st.sampled_from([b"\r\n", b"-", b"X", b"--XX", b"a"]), max_size=9).map(b"".join),
)


FILE = b'name="f"; filename="a"'


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"-------\r\n--X-------\r-------\r\n--XY-------", id="nearly delimiters"),
        pytest.param(b"\r\n--X" * 6, id="beginnings of delimiters"),
        pytest.param(b"\r" * 30, id="carriage returns"),
        pytest.param(b"-------\r\n--XX-------", id="a delimiter that goes on"),
        pytest.param(b"-------\r\n--XX\r-------", id="a delimiter without its line feed"),
        pytest.param(b"-------\r\n--XX--\r\n-------", id="an end in the middle"),
    ],
)
@pytest.mark.parametrize("more", [b"", b"\r\nContent-Length: 7"], ids=["", "with a length"])
async def test_a_file_cut_at_any_two_places(content: bytes, more: bytes) -> None:
    async def outcome(chunks: Iterable[bytes]) -> Any:
        try:
            sent = Response(stream(chunks), headers={"content-type": MULTIPART})
            return await entries(await sent.form_data())
        except HTTPException as error:
            return error.message

    data = part(FILE, content, more) + part(b'name="b"') + END
    start = data.index(content) - 3
    expected = await outcome([data])
    for first, second in itertools.combinations_with_replacement(range(start, len(data)), 2):
        assert await outcome(cut(data, [first, second])) == expected, (first, second)


async def test_a_parser_that_keeps_content_back_is_given_all_of_it(
    read_form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Keeping(multipart.PushMultipartParser):
        """Hands content on later than it comes, as another version of the package might."""

        def parse(self, chunk: bytes) -> Any:
            self._late = getattr(self, "_late", b"") + chunk
            given = self._late if self._late.endswith(END) else self._late[:-70]
            self._late = self._late[len(given) :]
            return super().parse(given) if given else ()

    package: Any = ModuleType("multipart")
    package.PushMultipartParser = Keeping
    package.ParserError = package.MultipartError = package.ParserLimitReached = ValueError
    monkeypatch.setitem(sys.modules, "multipart", package)
    content = bytes(range(256)) * 4
    data = part(FILE, content) + END
    form = await read_form(cut(data, range(100, len(data), 100)))
    assert form == [("f", ("a", "text/plain", content))]


async def test_a_file_that_is_shorter_than_it_says_is_refused_in_any_chunks(read_form: Any) -> None:
    data = part(FILE, b"-" * 60, b"\r\nContent-Length: 61") + END
    for size in (1, 20, len(data)):
        with pytest.raises(HTTPException, match="Content-Length"):
            await read_form(cut(data, range(size, len(data), size)))


@settings(deadline=None)
@given(
    values=st.lists(st.tuples(SAFE, st.one_of(SAFE, st.tuples(SAFE, CONTENT))), max_size=5),
    places=st.lists(st.integers(0, 5000), max_size=12),
    spool=st.sampled_from([0, 1, 20, 1000]),
)
async def test_round_trip_in_any_chunks(
    client: Any, held: Any, values: Any, places: list[int], spool: int
) -> None:
    form = FormData()
    expected: list[tuple[str, Any]] = []
    for name, value in values:
        if isinstance(value, str):
            form.append(name, value)
            expected.append((name, value))
        else:
            form.append(name, File([value[1]], value[0]))
            expected.append((name, (value[0], "application/octet-stream", value[1])))
    sent = Response(form)
    kind = sent.headers["content-type"]
    chunks = cut(await sent.bytes(), places)
    headers = [(b"content-type", kind.encode())]
    async with held(client(*chunks), headers=headers, limits=Limits(spool_size_bytes=spool)) as req:
        got = await req.form_data()
        assert await entries(got) == expected
        again = Response(got)  # now streamed, where a file is on disk
        again = Response(await again.bytes(), headers=again.headers)
        assert await entries(await again.form_data()) == expected


SEED = (
    part(b'name="a"', b"1")
    + part(b'name="f"; filename="n.txt"', b"x" * 30, b"\r\nContent-Type: text/x\r\nX-Y: z")
    + END
)


@settings(deadline=None, max_examples=300)
@given(
    edits=st.lists(
        st.tuples(
            st.integers(0, len(SEED)),
            st.integers(0, 6),
            st.one_of(
                st.binary(max_size=4),
                st.sampled_from(
                    [b"\r\n", b"\r", b"\n", b"--XX", b'"', b"\\", b"%", b";", b":", b"name*=", b"="]
                ),
            ),
        ),
        max_size=5,
    ),
    places=st.lists(st.integers(0, 500), max_size=4),
)
@example(edits=[(0, 0, b"")], places=[])
async def test_a_damaged_body_is_a_form_or_a_refusal(
    read_form: Any, edits: Any, places: list[int]
) -> None:
    data = SEED
    for at, length, new in edits:
        data = data[:at] + new + data[at + length :]
    try:
        form = await read_form(cut(data, places), limits=SPOOLING)
    except HTTPException as error:
        assert error.status == 400  # noqa: PT017
        assert (error.message or "").startswith("Malformed multipart body: ")  # noqa: PT017
    else:
        assert len(form) <= 2 + len(edits)


@settings(deadline=None)
@given(st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0"), max_size=30))
async def test_a_strange_content_type_is_a_form_or_a_refusal(
    read_form: Any, parameters: str
) -> None:
    try:
        form = await read_form([SEED], "multipart/form-data;" + parameters)
    except HTTPException as error:
        assert error.status == 400  # noqa: PT017
    else:
        assert len(form) in (0, 2)


async def test_empty_chunks_mean_nothing(read_form: Any) -> None:
    data = part(b'name="a"') + END
    assert await read_form([b"", data[:9], b"", data[9:], b""]) == [("a", "v")]


async def test_an_empty_field_beside_a_file_on_disk(upload: Any) -> None:
    data = part(b'name="f"; filename="n"', b"x" * 50) + part(b'name="e"', b"") + END
    async with upload(data) as form:
        again = await Response(form).form_data()
        assert again.get("e") == ""


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(END, [], id="no parts"),
        pytest.param(b"--XX--", [], id="no parts, no line end"),
        pytest.param(b"preamble\r\n" + part(b'name="a"') + END, [("a", "v")], id="preamble"),
        pytest.param(part(b'name="a"') + END + b"epilogue", [("a", "v")], id="epilogue"),
        pytest.param(part(b'name="a"', b"") + END, [("a", "")], id="empty value"),
        pytest.param(part(b'name=""') + END, [("", "v")], id="empty name"),
        pytest.param(part(b"name=a") + END, [("a", "v")], id="unquoted"),
        pytest.param(
            part(b'name="a%22b%0D%0A"') + END, [('a"b\r\n', "v")], id="escapes of browsers"
        ),
        pytest.param(
            part(b'name="a"', "é".encode() + b"\xff") + END, [("a", "é\ufffd")], id="UTF-8"
        ),
        pytest.param(
            part(b'name="a"', b"\xe9", b"\r\nContent-Type: text/plain; charset=latin-1") + END,
            [("a", "\ufffd")],
            id="a charset is not looked at",
        ),
        pytest.param(
            part(b'name="f"; filename=""', b"") + END,
            [("f", ("", "text/plain", b""))],
            id="no file",
        ),
        pytest.param(
            part(b'name="f"; filename="../../etc/passwd"') + END,
            [("f", ("../../etc/passwd", "text/plain", b"v"))],
            id="a path is left to the app",
        ),
        pytest.param(
            part(b'name="f"; filename="n"', b"v", b"\r\nContent-Type: Image/PNG ") + END,
            [("f", ("n", "image/png", b"v"))],
            id="media type",
        ),
        pytest.param(part(b'name="a"', b"\r\n--X\r\n") + END, [("a", "\r\n--X\r\n")], id="nearly"),
    ],
)
async def test_read(read_form: Any, data: bytes, expected: Any) -> None:
    for size in (1, 2, 3, 1000):
        chunks = [data[start : start + size] for start in range(0, len(data), size)]
        assert await read_form(chunks) == expected


async def test_boundary_of_seventy_characters(read_form: Any) -> None:
    boundary = "B" * 70
    data = SEED.replace(b"XX", boundary.encode())
    form = await read_form([data], f'Multipart/Form-Data ; charset=x; boundary="{boundary}"')
    assert dict(form)["a"] == "1"


ON_DISK = part(b'name="f"; filename="n"', b"0123456789abc") + END


@pytest.fixture
def upload(client: Any, held: Any) -> Any:
    """Opens a served request with a form: `async with upload(*chunks) as form`."""

    @asynccontextmanager
    async def upload(*chunks: bytes) -> AsyncIterator[FormData]:
        headers = [(b"content-type", MULTIPART.encode())]
        async with held(client(*chunks), headers=headers, limits=SPOOLING) as req:
            yield await req.form_data()

    return upload


@pytest.mark.parametrize("size", [9, 10, 11, 64 * 1024, 64 * 1024 + 1, 300_000])
async def test_files_come_back_byte_for_byte(upload: Any, size: int) -> None:
    content = bytes(range(256)) * (size // 256 + 1)
    content = content[:size]
    data = part(b'name="f"; filename="n"', content) + END
    async with upload(*cut(data, range(1, len(data), 4093))) as form:
        file = form.get("f")
        assert isinstance(file, File)
        assert file.size == size
        assert await file.bytes() == content
        assert await file.array_buffer() == content  # a second reading begins anew
        chunks = [chunk async for chunk in file.stream()]
        assert max(map(len, chunks)) <= 64 * 1024
        assert b"".join(chunks) == content
        both = await asyncio.gather(file.bytes(), file.bytes())
        assert list(both) == [content, content]
        assert await Response(file).bytes() == content
    if size <= 10:
        assert await file.bytes() == content
        return
    with pytest.raises(ValueError, match=r"^The uploaded file 'n' is gone: its request is done"):
        await file.bytes()


async def test_file_on_disk_as_part_of_a_blob(upload: Any) -> None:
    async with upload(ON_DISK) as form:
        file = form.get("f")
        assert await Blob([b"<", file, b">"]).bytes() == b"<0123456789abc>"


async def test_file_on_disk_under_another_name(upload: Any) -> None:
    async with upload(ON_DISK) as form:
        other = FormData()
        other.append("g", form.get("f"), "renamed")
        file = other.get("g")
        assert isinstance(file, File)
        assert (file.name, file.size, await file.bytes()) == ("renamed", 13, b"0123456789abc")


async def test_file_on_disk_sent_on_in_another_form(upload: Any, read_form: Any) -> None:
    async with upload(ON_DISK) as form:
        sent = Response(FormData({"g": form.get("f"), "text": "é"}))
        got = await read_form([await sent.bytes()], sent.headers["content-type"])
    assert got == [("g", ("n", "text/plain", b"0123456789abc")), ("text", "é")]


def request_of(body: Any, content_type: str = MULTIPART) -> KitRequest:
    headers = {"content-type": content_type}
    return KitRequest(Request("http://x/", method="POST", headers=headers, body=body))


@pytest.mark.parametrize("reader", ["bytes", "array_buffer", "text"])
async def test_body_after_the_form_fits_its_content_type(reader: str) -> None:
    req = request_of(SEED)
    await req.form_data()
    body = await getattr(req, reader)()
    headers = {"content-type": req.header("content-type") or ""}
    again = Request("http://x/", method="POST", headers=headers, body=body)
    assert await entries(await again.form_data()) == [
        ("a", "1"),
        ("f", ("n.txt", "text/x", b"x" * 30)),
    ]


@pytest.mark.parametrize("line_end", [b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("tail", [b"--", b'\nContent-Disposition: form-data; name="admin"\n\ntrue'])
async def test_no_field_is_smuggled_in_by_writing_the_form_anew(
    line_end: bytes, tail: bytes
) -> None:
    """Who checks the form and passes the bytes on must have checked what the bytes say."""

    # Were line breaks of values made CRLF, "1\n--XX" in one would be a boundary: `admin` would
    # appear, or all that follows would be cut off.
    value = b"1" + line_end + b"--X" + (b"X" if line_end != b"\r\n" else b"Y")
    value += tail.replace(b"\n", line_end)
    req = request_of(part(b'name="a"', value) + part(b'name="b"', b"2") + END)
    form = await entries(await req.form_data())
    assert [name for name, _ in form] == ["a", "b"]
    headers = {"content-type": MULTIPART}
    again = Request("http://x/", method="POST", headers=headers, body=await req.bytes())
    assert await entries(await again.form_data()) == form


@pytest.mark.parametrize("spool", [0, 1000])
@given(CONTENT, CONTENT, st.lists(st.integers(0, 500), max_size=3))
@settings(deadline=None)
async def test_a_form_written_anew_says_the_same(
    client: Any, held: Any, spool: int, text: bytes, content: bytes, places: list[int]
) -> None:
    text = text.replace(b"\r\n--XX", b"")
    content = content.replace(b"\r\n--XX", b"")
    data = part(b'name="a"', text) + part(b'name="f"; filename="n"', content) + END
    if b"\r\n--XX" in text + content or b"\r\n\r\n--XX" in data:
        return  # removing one made another
    lines = [(b"content-type", MULTIPART.encode())]
    async with held(client(*cut(data, places)), headers=lines) as req:
        form = await req.parse_body(spool_size_bytes=spool)
        assert await form["f"].bytes() == content
        body = await req.bytes()
    headers = {"content-type": MULTIPART}
    again = Request("http://x/", method="POST", headers=headers, body=body)
    expected = [("a", form["a"]), ("f", ("n", "text/plain", content))]
    assert await entries(await again.form_data()) == expected


async def test_a_form_that_was_refused_stays_refused() -> None:
    req = request_of(b"junk")
    for _ in range(2):
        with pytest.raises(HTTPException) as caught:
            await req.form_data()
        assert caught.value.status == 400


async def test_two_tasks_read_one_form() -> None:
    async def slow() -> AsyncIterator[bytes]:
        for byte in SEED:
            yield bytes([byte])
            await asyncio.sleep(0)

    req = request_of(slow())
    first, second = await asyncio.gather(req.form_data(), req.parse_body())
    assert (first.get("a"), second["a"]) == ("1", "1")


@pytest.mark.parametrize("reader", ["c.req", "request", "response"])
def test_a_source_is_closed_when_its_form_is_refused(reader: str) -> None:
    """At once, not when the garbage collector comes to it, which trio warns about."""

    closed: list[str] = []

    async def source() -> AsyncIterator[bytes]:
        try:
            yield part(b"")
            yield END
        finally:
            closed.append("closed")

    async def main() -> None:
        kind = {"content-type": MULTIPART}
        body: Any = request_of(source())
        if reader == "request":
            body = Request("http://x/", method="POST", body=source(), headers=kind)
        elif reader == "response":
            body = Response(source(), headers=kind)
        with pytest.raises(HTTPException):
            await body.form_data()
        assert closed == ["closed"]

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            trio.run(main)
        finally:
            gc.collect()
    assert [str(w.message) for w in caught if "garbage" in str(w.message)] == []


@pytest.mark.parametrize(
    "how", ["too many files", "field too large", "malformed", "cancelled", "stream fails"]
)
async def test_no_temporary_file_stays_open(
    held: Any, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Any] = []
    make = tempfile.TemporaryFile

    def noted() -> Any:
        opened.append(make())
        return opened[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", noted)
    in_the_second = asyncio.Event()

    async def source() -> AsyncIterator[bytes]:
        yield part(b'name="f"; filename="1"', b"x" * WRITTEN_BYTES)
        whole = part(b'name="f"; filename="2"', b"x" * WRITTEN_BYTES)
        yield whole[:-20]
        in_the_second.set()
        if how == "cancelled":
            await asyncio.Event().wait()
        if how == "stream fails":
            raise ConnectionError("gone")
        yield whole[-20:]
        if how == "too many files":
            yield part(b'name="f"; filename="3"')
        elif how == "field too large":
            yield part(b'name="a"', b"y" * 1000)
        else:
            yield b"--XX\r\n\r\n"

    limits = Limits(spool_size_bytes=10, max_files=2, max_field_size_bytes=100)
    headers = {"content-type": MULTIPART}
    request = Request("http://x/", method="POST", headers=headers, body=source())
    async with held(request, limits=limits) as req:
        task = asyncio.create_task(req.form_data())
        if how == "cancelled":
            await in_the_second.wait()
            task.cancel()
        expected = {"cancelled": asyncio.CancelledError, "stream fails": ConnectionError}
        with pytest.raises(expected.get(how, HTTPException)):
            await task
    [one_for_both] = opened
    assert one_for_both.closed


@pytest.mark.parametrize("place", range(40))
@pytest.mark.parametrize("line", [b"\n", b"\nX: y\r\n", b"X\n: y\r\n", b"X: y\n\r\n"])
async def test_a_bare_line_feed_in_a_head_is_refused_wherever_it_is_cut(
    read_form: Any, place: int, line: bytes
) -> None:
    head = b'Content-Disposition: form-data; name="a"\r\n\r\nv\r\n'
    data = b"--XX\r\n" + line + head + b"--XX--\r\n"
    with pytest.raises(HTTPException, match=r"^400 Malformed multipart body: "):
        await read_form(cut(data, [place]))


async def test_a_form_that_can_not_be_written_again_is_malformed(preamble: bytes) -> None:
    """The parser takes a boundary at the beginning of a part for content; as a body it is none."""
    req = request_of(stream([preamble, part(b'name="a"', b"--XX--"), b"--XX--\r\n"]))
    assert await req.parse_body() == {"a": "--XX--"}
    with pytest.raises(HTTPException, match=r"^400 Malformed multipart body: .*'a'") as refused:
        await req.bytes()
    assert refused.value.status == 400


@pytest.mark.parametrize(
    ("limits", "status"),
    [
        pytest.param({"max_body_size_bytes": len(SEED)}, 200, id="body, just fits"),
        pytest.param({"max_body_size_bytes": len(SEED) - 1}, 413, id="body"),
        pytest.param({"max_fields": 0}, 413, id="no fields"),
        pytest.param({"max_files": 0}, 413, id="no files"),
        pytest.param({"max_field_size_bytes": 0}, 413, id="empty fields only"),
        pytest.param(
            {"max_field_size_bytes": 1, "max_files": 1, "max_fields": 1}, 200, id="all fit"
        ),
    ],
)
async def test_limits(limits: dict[str, int], status: int) -> None:
    req = request_of(stream([SEED[:50], SEED[50:]]))
    try:
        values = await req.parse_body(**limits)
    except HTTPException as error:
        assert error.status == status  # noqa: PT017
    else:
        assert status == 200
        assert sorted(values) == ["a", "f"]


async def test_what_httpx_sends_in_a_stream(read_form: Any) -> None:
    files = [(f"f{n}", (f"n {n}.bin", bytes([n]) * n * 1000, "a/b")) for n in range(5)]
    request = httpx.Request("POST", "http://x/", data={"k": ["1", "", "3"]}, files=files)
    kind = request.headers["content-type"]
    form = await read_form(list(request.stream), kind, Limits(spool_size_bytes=2500))
    assert form == [
        ("k", "1"),
        ("k", ""),
        ("k", "3"),
        *[(name, (file[0], "a/b", file[1])) for name, file in files],
    ]


async def test_what_is_written_is_as_browsers_do() -> None:
    form = FormData([('a"\r\nb', "1\n2\r3\r\n4")])
    form.append("f", File(["x"], 'n"\n.txt'))
    form.append("g", Blob(["y"], type="t/y"))
    sent = Response(form)
    boundary = sent.headers["content-type"].partition("boundary=")[2]
    assert (await sent.text()).replace(boundary, "XX") == (
        "--XX\r\n"
        'Content-Disposition: form-data; name="a%22%0D%0Ab"\r\n\r\n'
        "1\r\n2\r\n3\r\n4\r\n"
        "--XX\r\n"
        'Content-Disposition: form-data; name="f"; filename="n%22%0A.txt"\r\n'
        "Content-Type: application/octet-stream\r\n\r\nx\r\n"
        "--XX\r\n"
        'Content-Disposition: form-data; name="g"; filename="blob"\r\n'
        "Content-Type: t/y\r\n\r\ny\r\n"
        "--XX--\r\n"
    )
    assert Response(form).headers["content-type"] != sent.headers["content-type"]
