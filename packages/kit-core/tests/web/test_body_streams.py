# SPDX-License-Identifier: MIT
"""What is made of a body that is given, and when the stream behind it is closed.

SPEC: WHATWG Fetch section 5.2, "extract a body".
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kit import Blob, Context, File, FormData, Headers, Kit, Request, Response
from kit.web import URLSearchParams


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("body", "content", "kind"),
    [
        pytest.param("é", "é".encode(), "text/plain;charset=UTF-8", id="str"),
        pytest.param(Text("é"), "é".encode(), "text/plain;charset=UTF-8", id="str subclass"),
        pytest.param("", b"", "text/plain;charset=UTF-8", id="empty str"),
        pytest.param(b"\xff", b"\xff", None, id="bytes"),
        pytest.param(memoryview(b"abcd")[::2], b"ac", None, id="memoryview with gaps"),
        pytest.param(Blob(["a"], type="Image/PNG"), b"a", "image/png", id="blob"),
        pytest.param(Blob(["a"]), b"a", None, id="blob without a type"),
        pytest.param(File(["a"], "n", type="a/b"), b"a", "a/b", id="file"),
        pytest.param(
            URLSearchParams({"a": " "}),
            b"a=+",
            "application/x-www-form-urlencoded;charset=UTF-8",
            id="search params",
        ),
        pytest.param(("a", b"b", bytearray(b"c")), b"abc", None, id="tuple"),
    ],
)
async def test_content_and_type(body: Any, content: bytes, kind: str | None) -> None:
    for made in (Response(body), Request("http://x/", method="POST", body=body)):
        assert made.headers.get("content-type") == kind
        assert await made.bytes() == content
    own = Request("http://x/", method="PUT", body=body, headers={"Content-Type": "x/y"})
    assert own.headers.get_all("content-type") == ["x/y"]


async def test_a_form() -> None:
    response = Response(FormData({"a": "1"}))
    kind = response.headers["content-type"]
    boundary = kind.partition("boundary=")[2].encode()
    assert re.fullmatch(r"multipart/form-data; boundary=[!-~]{27,70}", kind)
    assert await response.bytes() == (
        b'--%b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--%b--\r\n'
        % (boundary, boundary)
    )


async def nothing() -> None:
    return None


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: 1, id="int"),
        pytest.param(lambda: {"a": "1"}, id="dict"),
        pytest.param(lambda: Response("x"), id="response"),
        pytest.param(lambda: nothing, id="function"),
    ],
)
def test_what_can_not_be_sent(make: Any) -> None:
    body = make()
    text = (
        rf"^Can't send {type(body).__name__} as a body: expected str, bytes, Blob, FormData, "
        r"URLSearchParams, an \(async\) iterable of str or bytes, or None$"
    )
    with pytest.raises(TypeError, match=text):
        Response(body)
    with pytest.raises(TypeError, match=text):
        Request("http://x/", method="POST", body=body)


@pytest.mark.parametrize("method", ["GET", "HEAD", "get"])
def test_a_request_without_a_body(method: str) -> None:
    with pytest.raises(TypeError, match=rf"^A {method.upper()} request can't have a body$"):
        Request("http://x/", method=method, body="x")
    with pytest.raises(TypeError, match="can't have a body"):
        Request(Request("http://x/", method="POST", body="x"), method=method)


async def test_a_request_made_of_another() -> None:
    source = Request("http://x/", method="POST", body=["a", "b"], headers={"a": "1"})
    other = Request(source, headers={"b": "2"})
    assert source.body_used
    assert list(other.headers.items()) == [("b", "2")]
    assert await other.text() == "ab"
    for used in (source, other):
        with pytest.raises(TypeError, match="already read"):
            Request(used)
        assert await Request(used, body="own").text() == "own"


@pytest.mark.parametrize("text", ["a\r\nb", "\0", "a\n", "あ", "\x7f"])
def test_status_text(text: str) -> None:
    message = (
        f"Invalid status text {text!r}: expected printable latin-1 characters, blanks and tabs"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Response(None, status_text=text)
    assert Response(None, status_text="Très\tbien !").status_text == "Très\tbien !"


async def test_headers_of_a_null_body_status_are_kept() -> None:
    lines = Headers([("set-cookie", "a=1"), ("set-cookie", "b=2"), ("etag", '"x"')])
    for status in (101, 204, 205, 304):
        response = Response(None, status=status, headers=lines)
        assert response.headers == lines
        assert (await response.bytes(), response.headers.has("content-type")) == (b"", False)


class Stream:
    """A stream each of whose iterations is a generator, as most are that people write."""

    def __init__(self) -> None:
        self.trace: list[str] = []

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            for _ in range(1000):
                yield b"x"
        finally:
            self.trace.append("closed")

    async def aclose(self) -> None:
        self.trace.append("aclose")


async def test_a_stream_that_is_left_is_closed_at_once() -> None:
    stream = Stream()
    body = Response(stream).body
    assert body is not None
    assert await anext(body) == b"x"
    await body.aclose()
    assert stream.trace == ["closed", "aclose"]


async def test_a_stream_that_is_read_is_closed() -> None:
    stream = Stream()
    assert len(await Response(stream).bytes()) == 1000
    assert stream.trace == ["closed", "aclose"]


async def test_a_stream_that_fails_is_closed() -> None:
    class Failing(Stream):
        async def __aiter__(self) -> AsyncIterator[Any]:
            yield b"x"
            yield 5

    stream = Failing()
    with pytest.raises(TypeError, match=r"^A body yielded int: expected str or bytes$"):
        await Response(stream).text()
    assert stream.trace == ["aclose"]


async def test_a_client_that_leaves_closes_the_stream(client: Any) -> None:
    stream = Stream()
    app = Kit()

    @app.get("/")
    def page(c: Context) -> Response:
        return c.body(stream)

    await client(leaves_after=2, failing=OSError("the client is gone")).ask(app)
    assert stream.trace == ["closed", "aclose"]
