# SPDX-License-Identifier: MIT
"""`kit.request.clone_raw_request`: a request again, before and after its body was read."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kit import File, FormData, HTTPException, KitRequest, Limits, Request
from kit.request import clone_raw_request

URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=XX"
FORM = (
    b"--XX\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n"
    b'--XX\r\ncontent-disposition: form-data; name="f"; filename="n.txt"\r\n'
    b"x-other: 1\r\ncontent-type: text/x\r\n\r\n" + b"\x00\xff\r\n" * 20 + b"\r\n--XX--\r\n"
)
READERS: dict[str, Callable[[KitRequest], Awaitable[Any]]] = {
    "text": KitRequest.text,
    "json": KitRequest.json,
    "array_buffer": KitRequest.array_buffer,
    "bytes": KitRequest.bytes,
    "blob": KitRequest.blob,
}
FORM_READERS: dict[str, Callable[[KitRequest], Awaitable[Any]]] = {
    "form_data": KitRequest.form_data,
    "parse_body": KitRequest.parse_body,
    "parse_body with all": lambda req: req.parse_body(all=True, dot=True),
}


async def in_chunks(data: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(data), 7):
        await checkpoint()
        yield data[at : at + 7]


@pytest.fixture(params=["in memory", "streamed", "served", "served as large"])
def how(request: pytest.FixtureRequest) -> str:
    """Where the body of a request comes from."""
    return str(request.param)


@pytest.fixture
def make(how: str, open_request: Any) -> Any:
    """Opens a request: `async with make(data, content_type, limits) as req`."""
    return functools.partial(open_request, how)


@pytest.fixture
def open_request(client: Any, held: Any, preamble: bytes) -> Any:
    """Opens a request, as `make`, with a body from a given source."""

    def open_request(how: str, data: bytes, kind: str, limits: Limits = Limits()) -> Any:
        if how.startswith("served"):
            chunks = [data[at : at + 7] for at in range(0, len(data), 7)]
            if how == "served as large" and kind == MULTIPART:
                chunks = [preamble, *chunks]
            lines = [(b"host", b"h"), (b"content-type", kind.encode()), (b"x", b"1")]
            return held(client(*chunks), path="/p?q", headers=lines, limits=limits)
        headers = {"content-type": kind, "x": "1"}
        body = data if how == "in memory" else in_chunks(data)
        request = Request("http://h/p?q#f", method="POST", headers=headers, body=body)
        return held(request, limits=limits)

    return open_request


async def entries(form: FormData) -> list[tuple[str, Any]]:
    return [
        (name, (v.name, v.type, await v.bytes()) if isinstance(v, File) else v) for name, v in form
    ]


async def test_before_the_body_is_read(make: Any) -> None:
    async with make(b'{"a":1}', "application/json") as req:
        clone = await clone_raw_request(req)
        assert (clone.method, clone.url, clone.headers) == ("POST", req.url, req.raw.headers)
        assert clone is not req.raw
        clone.headers.set("x", "2")
        assert req.header("x") == "1"
        assert await clone.json() == {"a": 1}
        assert await req.json() == {"a": 1}
        assert await (await clone_raw_request(req)).text() == '{"a":1}'


@pytest.mark.parametrize("reader", READERS)
async def test_after_a_reader(make: Any, reader: str) -> None:
    data = b'{"a": "\xc3\xa9"}'
    async with make(data, "application/json") as req:
        await READERS[reader](req)
        for _ in range(2):
            clone = await clone_raw_request(req)
            assert (clone.method, clone.url, clone.scope) == ("POST", req.url, req.raw.scope)
            assert list(clone.headers.items()) == list(req.raw.headers.items())
            assert await clone.bytes() == data
            with pytest.raises(TypeError, match="already read"):
                await clone.bytes()
        assert await req.json() == {"a": "é"}


async def test_bytes_that_are_no_text_stay_as_they_are(make: Any) -> None:
    data = b"\xef\xbb\xbf\xff\x00"
    async with make(data, "text/plain") as req:
        await req.text()
        assert await (await clone_raw_request(req)).bytes() == data


@pytest.mark.parametrize("reader", FORM_READERS)
@pytest.mark.parametrize("limits", [Limits(), Limits(spool_size_bytes=10)], ids=["memory", "disk"])
async def test_after_a_form_was_read(make: Any, reader: str, limits: Limits) -> None:
    async with make(FORM, MULTIPART, limits) as req:
        await FORM_READERS[reader](req)
        expected = [("a", "1"), ("f", ("n.txt", "text/x", b"\x00\xff\r\n" * 20))]
        clone = await clone_raw_request(req)
        assert clone.headers["content-type"] == MULTIPART
        assert await entries(await clone.form_data()) == expected
        again = KitRequest(await clone_raw_request(req))
        assert await again.parse_body() == {"a": "1", "f": (await again.form_data()).get("f")}
        assert await entries(await req.form_data()) == expected
        assert b'filename="n.txt"' in await (await clone_raw_request(req)).bytes()


@pytest.mark.parametrize("reader", FORM_READERS)
async def test_after_an_urlencoded_form_was_read(make: Any, reader: str) -> None:
    async with make(b"a=1&&b=%zz+", URLENCODED) as req:
        await FORM_READERS[reader](req)
        assert await (await clone_raw_request(req)).bytes() == b"a=1&&b=%zz+"


@pytest.mark.parametrize("in_temporary_file", [False, True])
async def test_the_length_of_a_form_written_anew(
    make: Any, how: str, in_temporary_file: bool
) -> None:
    limits = Limits(spool_size_bytes=10 if in_temporary_file else 1000)
    async with make(FORM, MULTIPART, limits) as req:
        req.raw.headers.set("content-length", str(len(FORM)))
        await req.form_data()
        clone = await clone_raw_request(req)
        length = clone.headers.get("content-length")
        content = await clone.bytes()
        if how == "in memory" and not in_temporary_file:  # then there is the body as it came
            assert content == FORM
        assert length in ([str(len(content))] if content == FORM else [None, str(len(content))])
        assert (length is None) == (in_temporary_file and content != FORM)
        assert req.header("content-length") == str(len(FORM))


async def test_a_large_form_is_streamed(open_request: Any) -> None:
    file = b"x" * 300_000
    form = FORM.replace(b"\x00\xff\r\n" * 20, file)
    async with open_request(
        "served as large", form, MULTIPART, Limits(spool_size_bytes=1000)
    ) as req:
        await req.form_data()
        body = (await clone_raw_request(req)).body
        assert body is not None
        sizes = [len(chunk) async for chunk in body]
        assert sum(sizes) > len(file)
        assert max(sizes) <= 64 * 1024


async def test_after_the_raw_body_was_read_directly(make: Any) -> None:
    async with make(b"x", "text/plain") as req:
        await req.raw.text()
        for _ in range(2):
            with pytest.raises(TypeError) as caught:
                await clone_raw_request(req)
            assert str(caught.value).startswith("Can't clone the request: its body was read")
            with pytest.raises(TypeError, match="already read"):
                await req.text()


async def test_without_a_body(open_request: Any) -> None:
    for body in (None, b""):
        req = KitRequest(Request("http://x/", method="POST", body=body))
        assert await (await clone_raw_request(req)).text() == ""
        await req.text()
        assert await (await clone_raw_request(req)).text() == ""
    get = KitRequest(Request("http://x/"))
    assert (await clone_raw_request(get)).body is None
    async with open_request("served", b"", "text/plain") as req:
        assert await req.bytes() == b""
        assert await (await clone_raw_request(req)).text() == ""


async def test_json_that_does_not_parse_is_cloned(make: Any) -> None:
    async with make(b"{", "application/json") as req:
        with pytest.raises(HTTPException):
            await req.json()
        assert await (await clone_raw_request(req)).text() == "{"


async def test_a_body_that_is_too_large(open_request: Any) -> None:
    limits = Limits(max_body_size_bytes=3)
    async with open_request("streamed", b"1234", "text/plain", limits) as req:
        asks: list[Callable[[], Awaitable[Any]]]
        asks = [req.bytes, lambda: clone_raw_request(req), req.text]
        for ask in asks:
            with pytest.raises(HTTPException, match="413"):
                await ask()


async def test_a_form_that_is_malformed(open_request: Any) -> None:
    async with open_request("served as large", b"no form at all", MULTIPART) as req:
        asks: list[Callable[[], Awaitable[Any]]]
        asks = [req.form_data, lambda: clone_raw_request(req), req.text]
        for ask in asks:
            with pytest.raises(HTTPException, match="400 Malformed multipart body"):
                await ask()


async def test_a_malformed_form_that_came_in_one_piece_is_kept_as_it_is(open_request: Any) -> None:
    async with open_request("served", b"junk", MULTIPART) as req:
        with pytest.raises(HTTPException, match="400 Malformed multipart body"):
            await req.form_data()
        assert await (await clone_raw_request(req)).text() == await req.text() == "junk"


@pytest.mark.parametrize(
    ("kind", "data"),
    [pytest.param("text/plain", b"1234" * 9, id="text"), pytest.param(MULTIPART, FORM, id="form")],
)
def test_while_it_is_read(run: Any, make: Any, kind: str, data: bytes) -> None:
    async def main() -> None:
        async with make(data, kind) as req:
            seen: list[Any] = []

            async def read() -> None:
                seen.append(await (req.form_data() if kind == MULTIPART else req.text()))

            async with anyio.create_task_group() as group:
                group.start_soon(read)
                await checkpoint()
                clone = await clone_raw_request(req)
            if kind == MULTIPART:
                assert await entries(await clone.form_data()) == await entries(seen[0])
            else:
                assert await clone.text() == seen[0]

    run(main)
