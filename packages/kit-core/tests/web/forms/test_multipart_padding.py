# SPDX-License-Identifier: MIT
"""Blanks after boundaries, text around the parts, and chunks: every reader gives the same form."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kit import Context, File, FormData, HTTPException, Kit, Response

MULTIPART = "multipart/form-data; boundary=XX"
FIELD = b'Content-Disposition: form-data; name="a"'
FILE = b'Content-Disposition: form-data; name="f"; filename="n"'


async def stream(chunks: Iterable[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def entries(form: FormData) -> list[tuple[str, Any]]:
    return [(name, await v.bytes() if isinstance(v, File) else v) for name, v in form]


async def outcome(body: Any) -> Any:
    """Reads a form from a Response, and by a handler; the entries, or the error."""
    outcomes = []

    async def handler(c: Context) -> Response:
        outcomes.append(await entries(await c.req.form_data()))
        return c.body(None)

    chunks = None if isinstance(body, bytes) else list(body)
    headers = {"content-type": MULTIPART}
    sent = Response(body if chunks is None else stream(chunks), headers=headers)
    try:
        first: Any = await entries(await sent.form_data())
    except HTTPException as error:
        first = (error.status, error.message)
    content = body if chunks is None else stream(chunks)
    app = Kit().post("/", handler)
    response = await app.request("/", {"method": "POST", "headers": headers, "body": content})
    second: Any = outcomes[0] if response.ok else (response.status, await response.text())
    assert first == second
    return first


async def all_outcomes(body: bytes) -> Any:
    """Reads a body whole, in two chunks cut at each byte, and byte by byte."""
    whole = await outcome(body)
    for place in range(len(body) + 1):
        assert await outcome((body[:place], body[place:])) == whole, (body[:place], body[place:])
    assert await outcome(body[at : at + 1] for at in range(len(body))) == whole
    return whole


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(b"--XX \t\r\n" + FIELD + b"\r\n\r\nv\r\n--XX--", [("a", "v")], id="first"),
        pytest.param(
            b"--XX\r\n" + FIELD + b"\r\n\r\nv\r\n--XX  \r\n" + FILE + b"\r\n\r\n\xff\r\n--XX--\t",
            [("a", "v"), ("f", b"\xff")],
            id="between, and last",
        ),
        pytest.param(
            b"p\r\n--XX\t\r\n" + FIELD + b"\r\n\r\n--XX \r\n--XX-- \r\nepilogue\r\n--XX \r\n",
            [("a", "--XX ")],
            id="preamble and epilogue",
        ),
        pytest.param(
            b"--XX\r\n" + FIELD + b"\r\n\r\n--XX \r\n-XX \r\n --XX \r\n--XX--",
            [("a", "--XX \r\n-XX \r\n --XX ")],
            id="none of them a delimiter",
        ),
        pytest.param(b"--XX-- ", [], id="no part"),
        pytest.param(
            b"--XX \r\n"
            + FIELD
            + b"\r\nContent-Length: 2\r\n\r\nvw\r\n--XX\t\r\n"
            + FIELD
            + b"\r\n\r\n\r\n--XX--",
            [("a", "vw"), ("a", "")],
            id="with a length",
        ),
    ],
)
async def test_blanks_after_a_boundary(body: bytes, expected: Any) -> None:
    assert await all_outcomes(body) == expected


@pytest.mark.parametrize("odd", [b" X", b" --", b"\t\n", b" \r", b" \rX", b" \r \r\n", b"- "])
@pytest.mark.parametrize("is_first", [True, False])
async def test_other_text_after_blanks(odd: bytes, is_first: bool) -> None:
    part = FIELD + b"\r\n\r\nv\r\n--XX"
    body = (
        b"--XX" + odd + b"\r\n" + part + b"--"
        if is_first
        else (b"--XX\r\n" + part + odd + b"\r\n" + part + b"--")
    )
    what = "Unexpected byte after first boundary" if is_first else "Unexpected bytes after boundary"
    assert await all_outcomes(body) == (400, f"Malformed multipart body: {what}")


BLANKS = st.text(" \t", max_size=3).map(str.encode)
PIECES = st.sampled_from([b"\r\n", b"\r", b"\n", b"--", b"X", b"XX", b" ", b"\t", b"--XX", b"v"])
TEXTS = (
    st.lists(PIECES, max_size=6)
    .map(b"".join)
    .filter(
        # No delimiter, nor a prefix of one that goes on in another way.
        lambda text: b"\r\n--XX" not in b"\r\n" + text
    )
)


@given(
    st.lists(st.tuples(BLANKS, st.booleans(), TEXTS), max_size=3),
    TEXTS.map(lambda text: text + b"\r\n" if text else text),
    st.tuples(BLANKS, st.sampled_from([b"", b"\r\n", b"\r\n--XX\r\nepilogue", b"epilogue"])),
    st.lists(st.integers(0, 500), max_size=5),
)
@example([(b" ", False, b"\r\n"), (b"", True, b" ")], b"", (b"", b""), [])
async def test_any_form_is_read_the_same_whatever_surrounds_its_parts(
    parts: Any, preamble: bytes, end: Any, places: list[int]
) -> None:
    body, expected = preamble, []
    for blanks, is_file, content in parts:
        body += b"--XX" + blanks + b"\r\n" + (FILE if is_file else FIELD) + b"\r\n\r\n"
        body += content + b"\r\n"
        expected.append(("f", content) if is_file else ("a", content.decode()))
    body += b"--XX--" + b"".join(end)
    assert await outcome(body) == expected
    assert await outcome(body[at : at + 1] for at in range(len(body))) == expected
    cuts = [0, *sorted(place % len(body) for place in places), len(body)]
    assert await outcome(body[a:b] for a, b in itertools.pairwise(cuts)) == expected


@pytest.mark.parametrize("size", [1, 7, 1000, 70_000])
async def test_many_blanks_are_not_kept(size: int) -> None:
    body = b"--XX" + b" " * 200_000 + b"\r\n" + FIELD + b"\r\n\r\nv\r\n--XX--"
    chunks = [body[at : at + size] for at in range(0, len(body), size)]
    assert await outcome(chunks if size > 1 else body) == [("a", "v")]
