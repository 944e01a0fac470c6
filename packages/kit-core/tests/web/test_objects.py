# SPDX-License-Identifier: MIT
"""Request, Response, Blob, File, FormData and URL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from kit import URL, Blob, File, FormData, Request, Response


async def chunks() -> AsyncIterator[bytes | str]:
    yield b"a"
    yield "é"


@pytest.mark.parametrize(
    ("body", "content", "content_type"),
    [
        pytest.param(None, b"", None, id="None"),
        pytest.param("é", "é".encode(), "text/plain;charset=UTF-8", id="str"),
        pytest.param(b"\xff", b"\xff", None, id="bytes"),
        pytest.param(bytearray(b"x"), b"x", None, id="bytearray"),
        pytest.param(memoryview(b"x"), b"x", None, id="memoryview"),
        pytest.param(["a", b"b"], b"ab", None, id="iterable"),
        pytest.param(chunks, "aé".encode(), None, id="async iterable"),
        pytest.param(Blob(["a", b"b"], type="Text/X"), b"ab", "text/x", id="blob"),
        pytest.param(Blob(["a"]), b"a", None, id="blob without a type"),
    ],
)
async def test_bodies(body: Any, content: bytes, content_type: str | None) -> None:
    body = body() if callable(body) else body
    response = Response(body)
    assert response.headers.get("content-type") == content_type
    assert response.body_used is False
    assert await response.bytes() == content
    assert response.body_used is (body is not None)


@pytest.mark.parametrize("body", [5, {"a": 1}, object()])
def test_what_is_no_body(body: Any) -> None:
    with pytest.raises(TypeError, match=rf"^Can't send {type(body).__name__} as a body"):
        Response(body)


async def test_a_body_is_read_once() -> None:
    response = Response("x")
    assert await response.text() == "x"
    for read in (response.bytes, response.text, response.json, response.blob, response.form_data):
        with pytest.raises(TypeError, match=r"already read"):
            await read()
    body = Response(["a", "b"]).body
    assert body is not None
    assert [chunk async for chunk in body] == [b"a", b"b"]
    assert Response(None).body is None


async def test_a_body_that_is_left_is_closed() -> None:
    closed: list[bool] = []

    async def endless() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"x"
        finally:
            closed.append(True)

    body = Response(endless()).body
    assert body is not None
    assert await anext(body) == b"x"
    await body.aclose()
    assert closed == [True]


async def test_chunks_that_are_no_text() -> None:
    with pytest.raises(TypeError, match=r"^A body yielded int: expected str or bytes$"):
        await Response([1]).bytes()  # type: ignore[list-item]


@pytest.mark.parametrize("status", [0, 100, 199, 600, "200", None, 200.0])
def test_status(status: Any) -> None:
    with pytest.raises(ValueError, match=r"^Invalid response status .*from 200 to 599(; .*)?$"):
        Response(None, status=status)


@pytest.mark.parametrize("status", [101, 204, 205, 304])
def test_status_without_a_body(status: int) -> None:
    assert Response(None, status=status).status == status
    with pytest.raises(TypeError, match=rf"^A response with status {status} has no body"):
        Response("", status=status)


async def test_response_json_is_a_factory_and_a_reader() -> None:
    made = Response.json({"é": [1, None]}, status=201, headers={"x": "1"})
    assert (made.status, made.ok, made.headers["x"]) == (201, True, "1")
    assert made.headers["content-type"] == "application/json"
    assert await made.json() == {"é": [1, None]}
    own = Response.json(1, headers={"content-type": "application/problem+json"})
    assert own.headers["content-type"] == "application/problem+json"
    with pytest.raises(ValueError, match=r"\(byte 1\)"):
        await Response("[x").json()


def test_response_redirect() -> None:
    response = Response.redirect("/a", 301)
    assert (response.status, response.headers["location"]) == (301, "/a")
    with pytest.raises(ValueError, match=r"Invalid redirect status 200"):
        Response.redirect("/a", 200)
    with pytest.raises(ValueError, match=r"CR, LF and NUL"):
        Response.redirect("/a\r\nx: y")
    with pytest.raises(ValueError, match=r"Invalid value 5 of header 'location'"):
        Response.redirect(5)  # type: ignore[arg-type]


async def test_text_is_decoded_as_browsers_do() -> None:
    assert await Response(b"\xef\xbb\xbfa\xff\xef\xbb\xbf").text() == "a\ufffd\ufeff"


def test_request_is_normalised() -> None:
    request = Request("HTTP://Example.com:80/a b?q=é#f", method="post", headers={"X": "1"})
    assert request.url == "http://example.com/a%20b?q=%C3%A9#f"
    assert (request.method, request.headers["x"], request.scope) == ("POST", "1", None)
    assert Request("http://x/", method="patch").method == "patch"
    assert Request(URL("http://x/y")).url == "http://x/y"


@pytest.mark.parametrize("url", ["/a", "", "http://", "no scheme"])
def test_invalid_url(url: str) -> None:
    with pytest.raises(ValueError, match=r"^Invalid URL "):
        Request(url)


@pytest.mark.parametrize("method", ["", "a b", "GET\r\n", "é", "TRACE", "connect"])
def test_invalid_method(method: str) -> None:
    with pytest.raises(ValueError, match=r"^(Invalid method|The method)"):
        Request("http://x/", method=method)


async def test_request_from_a_request() -> None:
    first = Request("http://x/", method="POST", headers={"a": "1"}, body="text")
    second = Request(first, headers={"b": "2"})
    assert (second.method, list(second.headers)) == ("POST", ["b"])
    assert await second.text() == "text"
    assert first.body_used
    with pytest.raises(TypeError, match=r"^A GET request can't have a body$"):
        Request("http://x/", body="x")


async def test_blob_and_file() -> None:
    file = File(["a", Blob([b"b"])], "n.txt", type="Text/Plain", last_modified=5)
    assert (file.name, file.size, file.type, file.last_modified) == ("n.txt", 2, "text/plain", 5)
    assert (await file.text(), await file.bytes(), await file.array_buffer()) == (
        "ab",
        b"ab",
        b"ab",
    )
    assert [chunk async for chunk in file.stream()] == [b"ab"]
    assert repr(file) == "<File text/plain, 2 bytes>"
    assert Blob(["x"], type="text/\x00").type == ""
    with pytest.raises(TypeError, match=r"expects a list of parts"):
        Blob("text")


def test_form_data() -> None:
    form = FormData([("a", "1"), ("b", "2"), ("a", "3")])
    assert (form.get("a"), form.get_all("a"), form.get("c")) == ("1", ["1", "3"], None)
    assert (form.get("a", "none"), form.get("c", "none")) == ("1", "none")
    form.set("a", "4")
    assert list(form) == [("a", "4"), ("b", "2")]
    form.append("f", Blob(["x"], type="t/x"))
    file = form.get("f")
    assert isinstance(file, File)
    assert (file.name, file.type) == ("blob", "t/x")
    form.append("f", file, "other")
    assert [value.name for value in form.get_all("f") if isinstance(value, File)] == [
        "blob",
        "other",
    ]
    form.delete("f")
    assert (list(form.keys()), list(form.values()), len(form)) == (["a", "b"], ["4", "2"], 2)
    assert "a" in form
    assert "f" not in form
    wrong: Any = 5
    with pytest.raises(TypeError, match=r"Invalid value of the form field 'n'"):
        form.append("n", wrong)


def test_url() -> None:
    url = URL("../b?x=1#y", "https://é.example:8443/a/c")
    assert str(url) == url.href == "https://xn--9ca.example:8443/b?x=1#y"
    assert (url.protocol, url.host, url.hostname, url.port) == (
        "https:",
        "xn--9ca.example:8443",
        "xn--9ca.example",
        "8443",
    )
    assert (url.pathname, url.search, url.hash) == ("/b", "?x=1", "#y")
    assert url.origin == "https://xn--9ca.example:8443"
    assert url == URL(url.href)
    assert hash(url) == hash(URL(url.href))
    assert url != url.href
    with pytest.raises(ValueError, match=r"^Invalid URL '/x': expected an absolute one$"):
        URL("/x")


async def test_blob_as_a_stream() -> None:
    assert b"".join([chunk async for chunk in Blob([b"a", "é"]).stream()]) == "aé".encode()
    assert b"".join([chunk async for chunk in File([b"x"], "x.txt").stream()]) == b"x"


async def test_web_name_of_bytes() -> None:
    request = Request("http://localhost/", method="POST", body="é")
    assert await request.array_buffer() == "é".encode()
    assert await Response(chunks()).array_buffer() == "aé".encode()
