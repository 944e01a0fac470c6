# SPDX-License-Identifier: MIT
"""`kit.request.clone_raw_request`: a request again, before and after its body was read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kit import Context, File, FormData, HTTPException, Kit, KitRequest, Limits, Request, Response
from kit.asgi import from_asgi
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


def in_memory(data: bytes, kind: str) -> KitRequest:
    headers = {"content-type": kind, "x": "1"}
    return KitRequest(Request("http://h/p?q#f", method="POST", headers=headers, body=data))


def streamed(data: bytes, kind: str) -> KitRequest:
    headers = {"content-type": kind, "x": "1"}
    body = in_chunks(data)
    return KitRequest(Request("http://h/p?q#f", method="POST", headers=headers, body=body))


def served(data: bytes, kind: str) -> KitRequest:
    chunks = [data[at : at + 7] for at in range(0, len(data), 7)] or [b""]

    async def receive() -> dict[str, Any]:
        await checkpoint()
        return {"type": "http.request", "body": chunks.pop(0), "more_body": bool(chunks)}

    lines = [(b"host", b"h"), (b"content-type", kind.encode()), (b"x", b"1")]
    scope = {"type": "http", "method": "POST", "path": "/p", "raw_path": b"/p"}
    scope |= {"query_string": b"q", "headers": lines}
    return KitRequest(Request._from_scope(scope, receive))


HOW = pytest.mark.parametrize(
    "make",
    [
        pytest.param(in_memory, id="in memory"),
        pytest.param(streamed, id="streamed"),
        pytest.param(served, id="served"),
    ],
)


async def entries(form: FormData) -> list[tuple[str, Any]]:
    return [
        (name, (v.name, v.type, await v.bytes()) if isinstance(v, File) else v) for name, v in form
    ]


@HOW
async def test_before_the_body_is_read(make: Any) -> None:
    req = make(b'{"a":1}', "application/json")
    clone = await clone_raw_request(req)
    assert (clone.method, clone.url, clone.headers) == ("POST", req.url, req.raw.headers)
    assert clone is not req.raw
    clone.headers.set("x", "2")
    assert req.header("x") == "1"
    assert await clone.json() == {"a": 1}
    assert await req.json() == {"a": 1}
    assert await (await clone_raw_request(req)).text() == '{"a":1}'


@HOW
@pytest.mark.parametrize("reader", READERS)
async def test_after_a_reader(make: Any, reader: str) -> None:
    data = b'{"a": "\xc3\xa9"}'
    req = make(data, "application/json")
    await READERS[reader](req)
    for _ in range(2):
        clone = await clone_raw_request(req)
        assert (clone.method, clone.url, clone.scope) == ("POST", req.url, req.raw.scope)
        assert list(clone.headers.items()) == list(req.raw.headers.items())
        assert await clone.bytes() == data
        with pytest.raises(TypeError, match="already read"):
            await clone.bytes()
    assert await req.json() == {"a": "é"}


@HOW
async def test_bytes_that_are_no_text_stay_as_they_are(make: Any) -> None:
    data = b"\xef\xbb\xbf\xff\x00"
    req = make(data, "text/plain")
    await req.text()
    assert await (await clone_raw_request(req)).bytes() == data


@HOW
@pytest.mark.parametrize("reader", FORM_READERS)
@pytest.mark.parametrize("limits", [Limits(), Limits(spool_size_bytes=10)], ids=["memory", "disk"])
async def test_after_a_form_was_read(make: Any, reader: str, limits: Limits) -> None:
    req = make(FORM, MULTIPART)
    req._limits = limits
    await FORM_READERS[reader](req)
    expected = [("a", "1"), ("f", ("n.txt", "text/x", b"\x00\xff\r\n" * 20))]
    clone = await clone_raw_request(req)
    assert clone.headers["content-type"] == MULTIPART
    assert await entries(await clone.form_data()) == expected
    again = KitRequest(await clone_raw_request(req))
    assert await again.parse_body() == {"a": "1", "f": (await again.form_data()).get("f")}
    assert await entries(await req.form_data()) == expected
    assert b'filename="n.txt"' in await (await clone_raw_request(req)).bytes()
    req._close()


@HOW
@pytest.mark.parametrize("reader", FORM_READERS)
async def test_after_an_urlencoded_form_was_read(make: Any, reader: str) -> None:
    req = make(b"a=1&&b=%zz+", URLENCODED)
    await FORM_READERS[reader](req)
    assert await (await clone_raw_request(req)).bytes() == b"a=1&&b=%zz+"


@HOW
@pytest.mark.parametrize("in_temporary_file", [False, True])
async def test_the_length_of_a_form_written_anew(make: Any, in_temporary_file: bool) -> None:
    req = make(FORM, MULTIPART)
    req.raw.headers.set("content-length", str(len(FORM)))
    req._limits = Limits(spool_size_bytes=10 if in_temporary_file else 1000)
    await req.form_data()
    clone = await clone_raw_request(req)
    length = clone.headers.get("content-length")
    content = await clone.bytes()
    if make is in_memory:  # then there is the body as it came
        assert content == FORM
    assert length in ([str(len(content))] if content == FORM else [None, str(len(content))])
    assert (length is None) == (in_temporary_file and content != FORM)
    assert req.header("content-length") == str(len(FORM))
    req._close()


async def test_a_large_form_is_streamed() -> None:
    file = b"x" * 300_000
    req = served(FORM.replace(b"\x00\xff\r\n" * 20, file), MULTIPART)
    req._limits = Limits(spool_size_bytes=1000)
    await req.form_data()
    body = (await clone_raw_request(req)).body
    assert body is not None
    sizes = [len(chunk) async for chunk in body]
    assert sum(sizes) > len(file)
    assert max(sizes) <= 64 * 1024
    req._close()


@HOW
async def test_after_the_raw_body_was_read_directly(make: Any) -> None:
    req = make(b"x", "text/plain")
    await req.raw.text()
    text = (
        r"^Can't clone the request: its body was read directly from `raw`, which keeps nothing of "
        r"it; read it with text\(\), json\(\) or another reader of KitRequest$"
    )
    for _ in range(2):
        with pytest.raises(TypeError, match=text):
            await clone_raw_request(req)
        with pytest.raises(TypeError, match="already read"):
            await req.text()


async def test_without_a_body() -> None:
    for body in (None, b""):
        req = KitRequest(Request("http://x/", method="POST", body=body))
        assert await (await clone_raw_request(req)).text() == ""
        await req.text()
        assert await (await clone_raw_request(req)).text() == ""
    get = KitRequest(Request("http://x/"))
    assert (await clone_raw_request(get)).body is None
    req = served(b"", "text/plain")
    assert await req.bytes() == b""
    assert await (await clone_raw_request(req)).text() == ""


@HOW
async def test_json_that_does_not_parse_is_cloned(make: Any) -> None:
    req = make(b"{", "application/json")
    with pytest.raises(HTTPException):
        await req.json()
    assert await (await clone_raw_request(req)).text() == "{"


async def test_a_body_that_was_refused() -> None:
    req = streamed(b"1234", "text/plain")
    req._limits = Limits(max_body_size_bytes=3)
    asks: list[Callable[[], Awaitable[Any]]]
    asks = [req.bytes, lambda: clone_raw_request(req), req.text]
    for ask in asks:
        with pytest.raises(HTTPException, match="413"):
            await ask()
    form = served(b"no form at all", MULTIPART)
    asks = [form.form_data, lambda: clone_raw_request(form), form.text]
    for ask in asks:
        with pytest.raises(HTTPException, match="400 Malformed multipart body"):
            await ask()
    short = served(b"junk", MULTIPART)  # it came in one piece, and was kept as it is
    with pytest.raises(HTTPException, match="400 Malformed multipart body"):
        await short.form_data()
    assert await (await clone_raw_request(short)).text() == await short.text() == "junk"


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize(
    ("kind", "data"),
    [pytest.param("text/plain", b"1234" * 9, id="text"), pytest.param(MULTIPART, FORM, id="form")],
)
@HOW
def test_while_it_is_read(make: Any, backend: str, kind: str, data: bytes) -> None:
    async def main() -> None:
        req = make(data, kind)
        seen: list[Any] = []

        async def read() -> None:
            seen.append(await (req.form_data() if kind == MULTIPART else req.text()))

        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                group.start_soon(read)
                await checkpoint()
                clone = await clone_raw_request(req)
            if kind == MULTIPART:
                assert await entries(await clone.form_data()) == await entries(seen[0])
            else:
                assert await clone.text() == seen[0]

    anyio.run(main, backend=backend)


async def test_for_another_application() -> None:
    """After a handler has read the form, a mounted application gets all of it."""

    async def echo(scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message["body"]
            more = message.get("more_body", False)
        length = dict(scope["headers"])[b"content-length"]
        assert length == b"%d" % len(body)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    app = Kit()
    handler = from_asgi(echo)

    @app.post("/")
    async def forward(c: Context) -> Response:
        assert (await c.req.parse_body())["a"] == "1"
        return await handler(await clone_raw_request(c.req), c.env, None)

    headers = {"content-type": MULTIPART, "content-length": str(len(FORM))}
    response = await app.request("/", {"method": "POST", "headers": headers, "body": [FORM]})
    sent = Response(await response.bytes(), headers={"content-type": MULTIPART})
    assert (await entries(await sent.form_data()))[0] == ("a", "1")
