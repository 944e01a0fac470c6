# SPDX-License-Identifier: MIT
"""FormData written as multipart and read again gives the same, whatever is in it.

SPEC: HTML section 4.10.21.8, "multipart/form-data encoding algorithm".
"""

from __future__ import annotations

import re
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from kit import Blob, File, FormData, Request, Response

# What looks like one of the three escapes of a name can't be told from one, by the standard; and a
# NUL in a name is refused.
TEXT = st.text(
    st.one_of(
        st.sampled_from("\"'\\;=:\r\n\t -/"),
        st.characters(exclude_categories=["Cs"], exclude_characters="\0%"),
    ),
    max_size=12,
)
# The parser drops the directories of a Windows path.
FILE_NAMES = TEXT.filter(lambda name: not re.match(r"\\\\|.:\\", name, re.DOTALL))
TYPES = st.sampled_from(["", "text/plain", "image/png", "text/x; charset=utf-8"])
CONTENT = st.one_of(
    st.binary(max_size=40),
    st.lists(
        st.sampled_from([b"\r\n", b"--", b"----KitFormBoundary", b"\0", b"\xff", b"\n"]), max_size=9
    ).map(b"".join),
)
FILES = st.builds(
    lambda parts, name, kind: File(parts, name, type=kind),
    st.lists(CONTENT, max_size=3),
    FILE_NAMES,
    TYPES,
)
ENTRIES = st.lists(st.tuples(TEXT, st.one_of(TEXT, FILES)), max_size=6)


def lines(text: str) -> str:
    """Line breaks as a form has them."""
    return re.sub(r"\r\n|\r|\n", "\r\n", text)


async def seen(form: FormData) -> list[tuple[str, Any]]:
    return [
        (name, (v.name, v.type, await v.bytes()) if isinstance(v, File) else v) for name, v in form
    ]


@settings(deadline=None)
@given(entries=ENTRIES, as_request=st.booleans(), cloned=st.booleans())
@example(entries=[('a"\r\nb', File([b"\r\n--"], 'é"\n\\.txt'))], as_request=True, cloned=True)
async def test_written_and_read(entries: Any, as_request: bool, cloned: bool) -> None:
    form = FormData(entries)
    sent: Request | Response = Response(form)
    if as_request:
        sent = Request("http://x/", method="POST", body=form)
    if cloned:
        sent = sent.clone()
    got = await sent.form_data()
    assert await seen(got) == [
        (
            lines(name),
            (value.name, value.type or "application/octet-stream", await value.bytes())
            if isinstance(value, File)
            else lines(value),
        )
        for name, value in entries
    ]


@given(st.lists(TEXT, min_size=1, max_size=4))
async def test_no_name_ends_its_header(names: list[str]) -> None:
    """Every part has the header lines that the writer gave it, and no other."""
    form = FormData()
    for name in names:
        form.append(name, Blob([b"x"]), filename=name)
    response = Response(form)
    boundary = response.headers["content-type"].partition("boundary=")[2].encode()
    parts = (await response.bytes()).split(b"--" + boundary + b"\r\n")[1:]
    assert len(parts) == len(names)
    for part in parts:
        head, _, body = part.partition(b"\r\n\r\n")
        assert [line.partition(b":")[0] for line in head.split(b"\r\n")] == [
            b"Content-Disposition",
            b"Content-Type",
        ]
        assert body.startswith(b"x\r\n")


async def test_the_boundary_differs_each_time() -> None:
    kinds = {Response(FormData({"a": "1"})).headers["content-type"] for _ in range(20)}
    assert len(kinds) == 20
    for kind in kinds:
        assert re.fullmatch(r"multipart/form-data; boundary=[0-9A-Za-z'()+_,./:=?-]{27,70}", kind)


async def test_a_form_without_entries() -> None:
    assert list(await Response(FormData()).form_data()) == []
