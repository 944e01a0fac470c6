# SPDX-License-Identifier: MIT
"""Bodies: what is read, once, by whom, and what becomes of it; Blob and File."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Blob, File, FormData, HTTPException, Limits, Request, Response

CHUNK = st.one_of(
    st.binary(max_size=8),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.binary(max_size=8).map(bytearray),
    st.binary(max_size=8).map(lambda data: memoryview(data)),
)


def joined(chunks: list[Any]) -> bytes:
    return b"".join(c.encode() if isinstance(c, str) else bytes(c) for c in chunks)


@given(st.lists(CHUNK, max_size=6), st.sampled_from(["list", "iterator", "async", "blob"]))
async def test_chunks_are_joined(chunks: list[Any], how: str) -> None:
    async def later() -> AsyncIterator[Any]:
        for chunk in chunks:
            yield chunk

    given_as: Any = {"list": list, "iterator": iter, "async": lambda _: later(), "blob": Blob}[how]
    for body in (given_as(chunks), given_as(chunks)):
        assert await Response(body).bytes() == joined(chunks)
    stream = Response(given_as(chunks)).body
    assert stream is not None
    assert joined([chunk async for chunk in stream]) == joined(chunks)


@given(st.binary(max_size=30))
async def test_text_is_what_a_browser_decodes(data: bytes) -> None:
    expected = data[3:] if data.startswith(b"\xef\xbb\xbf") else data
    assert await Response(data).text() == expected.decode("utf-8", "replace")
    assert await Blob([data]).text() == expected.decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("data", "expected"),
    [  # seen on Node: new TextDecoder().decode(...)
        pytest.param(b"\xe2\x82", "\ufffd", id="cut short"),
        pytest.param(b"\xe2\x82A", "\ufffdA", id="cut short, then a letter"),
        pytest.param(b"\xf0\x9f\x98", "\ufffd", id="three of four"),
        pytest.param(b"\xed\xa0\x80", "\ufffd\ufffd\ufffd", id="surrogate"),
        pytest.param(b"\xc0\x80", "\ufffd\ufffd", id="overlong"),
        pytest.param(b"\xef\xbb\xbf\xef\xbb\xbf", "\ufeff", id="two marks"),
        pytest.param(b"\xef\xbb", "\ufffd", id="half a mark"),
        pytest.param(b"a\0b", "a\0b", id="NUL"),
    ],
)
async def test_bad_utf8(data: bytes, expected: str) -> None:
    assert await Request("http://x/", method="POST", body=data).text() == expected


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param([b""], id="none"),
        pytest.param([b"ab"], id="one"),
        pytest.param([b"", b"a", b"", b"b", b""], id="empty ones between"),
    ],
)
async def test_served_body(client: Any, held: Any, chunks: list[bytes]) -> None:
    async with held(client(*chunks)) as req:
        assert await req.bytes() == b"".join(chunks)
    async with held(client(*chunks)) as req:
        stream = req.raw.body
        assert stream is not None
        assert b"".join([chunk async for chunk in stream]) == b"".join(chunks)


async def test_two_tasks_read_one_body(client: Any, held: Any) -> None:
    async with held(client(b'{"a":', b"1}")) as req:
        text, value, data = await asyncio.gather(req.text(), req.json(), req.bytes())
    assert (text, value, data) == ('{"a":1}', {"a": 1}, b'{"a":1}')


async def test_body_that_is_too_large_stays_too_large(client: Any, held: Any) -> None:
    async with held(client(b"12", b"34"), limits=Limits(max_body_size_bytes=3)) as req:
        for read in (req.text, req.json, req.bytes, req.blob):
            with pytest.raises(HTTPException) as caught:
                await read()
            assert str(caught.value) == "413 The body is larger than 3 bytes"


async def test_reading_on_after_a_cancellation(client: Any, held: Any) -> None:
    asked, free = asyncio.Event(), asyncio.Event()

    class Slow(client):
        async def receive(self) -> dict[str, Any]:
            if len(self.received) == 1:
                asked.set()
                await free.wait()  # as servers do: what is cancelled here has taken nothing
            return dict(self.received.pop(0))

    async with held(Slow(b"a", b"b")) as req:
        reading = asyncio.create_task(req.text())
        await asked.wait()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        free.set()
        assert await req.text() == "ab"


async def test_a_generator_that_fails_on_the_way() -> None:
    ended: list[str] = []

    def chunks() -> Iterator[bytes]:
        try:
            yield b"a"
            raise ConnectionError("gone")
        finally:
            ended.append("ended")

    response = Response(chunks())
    with pytest.raises(ConnectionError, match="gone"):
        await response.bytes()
    assert ended == ["ended"]
    assert response.body_used
    with pytest.raises(TypeError, match=r"^The body was already read; it can be read once$"):
        await response.text()


async def test_a_body_is_used_by_its_stream_from_the_first_chunk() -> None:
    response = Response(["a", "b"])
    stream = response.body
    assert stream is not None
    assert response.body_used is False
    assert await anext(stream) == b"a"
    assert response.body_used is True
    with pytest.raises(TypeError, match="already read"):
        await response.bytes()
    assert [chunk async for chunk in stream] == [b"b"]


async def test_no_body_can_be_read_again_and_again() -> None:
    for body in (Response(None), Request("http://x/")):
        for _ in range(2):
            assert (await body.bytes(), await body.text(), body.body_used) == (b"", "", False)
            assert (await body.blob()).size == 0
            assert body.body is None


@pytest.mark.parametrize("kind", [None, "text/plain", "multipart/form-data", "multipart/mixed"])
async def test_form_data_of_no_form(kind: str | None) -> None:
    response = Response(b"a=1", headers={"content-type": kind} if kind else None)
    with pytest.raises(HTTPException) as caught:
        await response.form_data()
    assert caught.value.status == 400


async def test_form_data_of_both() -> None:
    kind = {"content-type": "application/x-www-form-urlencoded"}
    request = Request("http://x/", method="POST", headers=kind, body="a=1&a=%C3%A9")
    for body in (request, Response("a=1&a=%C3%A9", headers=kind)):
        assert list(await body.form_data()) == [("a", "1"), ("a", "é")]
        assert body.body_used
        with pytest.raises(TypeError, match="already read"):
            await body.form_data()


@pytest.mark.parametrize(
    ("type", "kept"),
    [
        ("Text/Plain", "text/plain"),
        ("", ""),
        ("é/x", ""),
        ("a\r\nb", ""),
        ("a\0b", ""),
        ("a\x7fb", ""),
        ("a b", "a b"),
    ],
)
def test_type_of_a_blob(type: str, kept: str) -> None:
    assert Blob([], type=type).type == kept
    assert File([], "n", type=type).type == kept


async def test_blob_of_blobs() -> None:
    inner = Blob(["é", memoryview(b"x")])
    outer = Blob([inner, File([inner], "n"), bytearray(b"!")])
    assert (await outer.bytes(), outer.size) == ("éxéx!".encode(), 7)
    assert repr(outer) == "<Blob without type, 7 bytes>"
    wrong: Any
    for wrong in ("text", b"bytes", bytearray(b"x"), memoryview(b"x")):
        with pytest.raises(TypeError, match=r"^Blob expects a list of parts, not "):
            Blob(wrong)
    with pytest.raises(TypeError, match=r"^A body yielded int: expected str or bytes$"):
        Blob([1])  # type: ignore[list-item]


NAMES = st.sampled_from(["a", "b", "c"])


@given(
    st.lists(st.tuples(st.sampled_from(["append", "set", "delete"]), NAMES, st.text(max_size=2)))
)
def test_form_data_against_a_list_of_pairs(steps: list[tuple[str, str, str]]) -> None:
    form = FormData()
    model: list[tuple[str, str]] = []
    for step, name, value in steps:
        if step == "append":
            form.append(name, value)
            model.append((name, value))
        elif step == "delete":
            form.delete(name)
            model = [pair for pair in model if pair[0] != name]
        else:
            form.set(name, value)
            first = next((i for i, pair in enumerate(model) if pair[0] == name), len(model))
            rest = [pair for pair in model[first:] if pair[0] != name]
            model = [*model[:first], (name, value), *rest]
        assert list(form) == list(form.entries()) == list(form.items()) == model
        assert (list(form.keys()), list(form.values())) == (
            [n for n, _ in model],
            [v for _, v in model],
        )
        for asked in ("a", "b", "c"):
            values = [v for n, v in model if n == asked]
            assert form.get_all(asked) == values
            assert form.get(asked) == (values[0] if values else None)
            assert form.has(asked) == (asked in form) == bool(values)
    assert len(form) == len(model)
    assert list(FormData(form)) == list(FormData(model)) == model


def test_form_data_while_it_is_walked() -> None:
    form = FormData({"a": "1", "b": "2"})
    for name, _ in form:
        form.delete(name)
    assert len(form) == 0


@pytest.mark.parametrize("value", [1, None, b"bytes", ["x"]])
def test_what_is_no_form_value(value: Any) -> None:
    text = (
        r"^Invalid value of the form field 'n': expected str, File or Blob, "
        rf"not {type(value).__name__}$"
    )
    form = FormData()
    for write in (form.append, form.set):
        with pytest.raises(TypeError, match=text):
            write("n", value)
    with pytest.raises(TypeError, match=text):
        FormData({"n": value})
    assert len(form) == 0


def test_a_name_that_is_no_text_is_refused_at_once() -> None:
    name: Any = 5
    with pytest.raises(TypeError):
        FormData().append(name, "x")
