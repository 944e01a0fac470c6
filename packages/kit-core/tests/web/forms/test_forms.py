# SPDX-License-Identifier: MIT
"""Forms: what real clients send comes back, and hostile ones are refused with a message."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kit import Context, File, FormData, HTTPException, Kit, KitRequest, Limits, Request, Response

MULTIPART = "multipart/form-data; boundary=XX"


@pytest.fixture(scope="module")
def parse(read_form: Any) -> Any:
    """Reads a form that comes in pieces: `await parse(data, content_type, size, limits)`."""

    async def parse(
        data: bytes, content_type: str = MULTIPART, size: int = 7, limits: Limits = Limits()
    ) -> list[tuple[str, Any]]:
        pieces = [data[start : start + size] for start in range(0, len(data), size)]
        result: list[tuple[str, Any]] = await read_form(pieces, content_type, limits)
        return result

    return parse


def part(head: bytes, body: bytes = b"v") -> bytes:
    return b"--XX\r\nContent-Disposition: " + head + b"\r\n\r\n" + body + b"\r\n"


END = b"--XX--\r\n"
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    fields=st.lists(st.tuples(TEXT, st.one_of(TEXT, st.binary(max_size=40))), max_size=5),
    size=st.integers(1, 100),
    spool=st.sampled_from([0, 10, 1000]),
)
async def test_what_is_written_is_read(parse: Any, fields: Any, size: int, spool: int) -> None:
    form = FormData()
    expected: list[tuple[str, Any]] = []

    def lines(text: str) -> str:  # HTML: line breaks are sent as CRLF
        return text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")

    for name, value in fields:
        if isinstance(value, bytes):
            form.append(name, File([value], name, type="x/y"))
            expected.append((lines(name), (name, "x/y", value)))
        else:
            form.append(name, value)
            expected.append((lines(name), lines(value)))
    response = Response(form)
    data = await response.bytes()
    limits = Limits(spool_size_bytes=spool)
    got = await parse(data, response.headers["content-type"], size, limits)
    if any("%" in name or "\\" in name for name, _ in fields):
        # A client that escapes is not told apart from one that means the escape.
        assert [value for _, value in got if isinstance(value, str)] == [
            value for _, value in expected if isinstance(value, str)
        ]
    else:
        assert got == expected


async def test_what_httpx_sends(parse: Any, tmp_path: Any) -> None:
    request = httpx.Request(
        "POST",
        "http://x/",
        data={"a": ["1", "2"], "é": "ü"},
        files=[("f", ('na"me.png', b"\x00\xff" * 50_000, "image/png")), ("g", ("é.txt", b""))],
    )
    got = await parse(request.read(), request.headers["content-type"], 4096)
    assert got == [
        ("a", "1"),
        ("a", "2"),
        ("é", "ü"),
        ("f", ('na"me.png', "image/png", b"\x00\xff" * 50_000)),
        ("g", ("é.txt", "text/plain", b"")),
    ]


@pytest.mark.parametrize(
    ("data", "content_type", "message"),
    [
        pytest.param(part(b'form-data; name="a"'), MULTIPART, "Unexpected end", id="no end"),
        pytest.param(b"", MULTIPART, "Unexpected end", id="empty"),
        pytest.param(b"junk", MULTIPART, "Unexpected end", id="junk"),
        pytest.param(END, "multipart/form-data", "has no boundary", id="no boundary"),
        pytest.param(
            END,
            "multipart/form-data; boundary=" + "X" * 71,
            "the boundary is longer than 70 characters",
            id="long boundary",
        ),
        pytest.param(part(b"form-data") + END, MULTIPART, "a part has no name", id="no name"),
        pytest.param(
            part(b'form-data; name="a\0b"') + END, MULTIPART, "a NUL character", id="NUL in a name"
        ),
        pytest.param(
            part(b'form-data; name="a"; filename="b\0"') + END,
            MULTIPART,
            "a NUL character",
            id="NUL in a file name",
        ),
        pytest.param(part(b'attachment; name="a"') + END, MULTIPART, "Wrong type", id="attachment"),
        pytest.param(
            part(b'form-data; name="a"; x="' + b"y" * 100_000 + b'"') + END,
            MULTIPART,
            "header length exceeded",
            id="long header",
        ),
        pytest.param(b"--XX\r\nno colon\r\n\r\n" + END, MULTIPART, "Malformed", id="bad header"),
        pytest.param(
            b"--XX\r\nX-Y: " + b"z" * 200_000, MULTIPART, "header length", id="header without end"
        ),
    ],
)
async def test_malformed_multipart_is_400(
    parse: Any, data: bytes, content_type: str, message: str
) -> None:
    for size in (1_000_000, 4096):
        with pytest.raises(HTTPException) as caught:
            await parse(data, content_type, size)
        assert caught.value.status == 400
        text = caught.value.message or ""
        assert text.startswith("Malformed multipart body: ")
        assert message in text
        assert len(text) < 200


@pytest.mark.parametrize(
    ("data", "limits", "roomy", "message"),
    [
        pytest.param(
            part(b'form-data; name="a"') * 3 + END,
            Limits(max_fields=2),
            Limits(max_fields=3),
            "The form has more than 2 fields",
            id="fields",
        ),
        pytest.param(
            part(b'form-data; name="a"; filename="b"') * 3 + END,
            Limits(max_files=2),
            Limits(max_files=3),
            "The form has more than 2 files",
            id="files",
        ),
        pytest.param(
            part(b'form-data; name="a"', b"x" * 11) + END,
            Limits(max_field_size_bytes=10),
            Limits(max_field_size_bytes=11),
            "The form field 'a' is longer than 10 bytes",
            id="field",
        ),
    ],
)
async def test_beyond_a_limit_is_413(
    parse: Any, data: bytes, limits: Limits, roomy: Limits, message: str
) -> None:
    with pytest.raises(HTTPException) as caught:
        await parse(data, limits=limits)
    assert (caught.value.status, caught.value.message) == (413, message)
    assert len(await parse(data, limits=roomy))


async def test_ten_thousand_parts_are_refused_early() -> None:
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while True:
            read += 1
            yield part(b'form-data; name="a"')

    headers = {"content-type": MULTIPART}
    request = Request("http://x/", method="POST", headers=headers, body=endless())
    with pytest.raises(HTTPException) as caught:
        await KitRequest(request).form_data()
    assert str(caught.value) == "413 The form has more than 1000 fields"
    assert read < 3000  # those of the first 128 KiB, which are parsed at once


async def test_files_beyond_memory_are_closed_with_the_request(client: Any) -> None:
    kept: list[File] = []
    app = Kit(limits=Limits(spool_size_bytes=10))

    @app.post("/")
    async def upload(c: Context) -> Response:
        file = (await c.req.form_data()).get("f")
        assert isinstance(file, File)
        kept.append(file)
        return c.body(await file.bytes())

    data = part(b'form-data; name="f"; filename="b"', b"x" * 5000) + END

    answer = await client(data).ask(app, headers=[(b"content-type", MULTIPART.encode())])
    assert (answer.status, answer.body) == (200, b"x" * 5000)
    with pytest.raises(ValueError, match=r"^The uploaded file 'b' is gone: its request is done"):
        await kept[0].bytes()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"", [], id="empty"),
        pytest.param(b"a=1&b=2&a=3", [("a", "1"), ("b", "2"), ("a", "3")], id="repeated"),
        pytest.param(b"a+b=c+d%20e", [("a b", "c d e")], id="blanks"),
        pytest.param(b"a&=b&&c=", [("a", ""), ("", "b"), ("c", "")], id="without value or name"),
        pytest.param("%C3%A9=é".encode(), [("é", "é")], id="UTF-8"),
        pytest.param(b"a=%FF%zz%4", [("a", "\ufffd%zz%4")], id="no UTF-8"),
        pytest.param(b"a=1;b=2", [("a", "1;b=2")], id="semicolon"),
        pytest.param(b"a=b=c", [("a", "b=c")], id="two equals signs"),
    ],
)
async def test_urlencoded(parse: Any, data: bytes, expected: Any) -> None:
    kind = "Application/X-WWW-Form-Urlencoded; charset=utf-8"
    assert await parse(data, kind) == expected


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (Limits(max_fields=1), "The form has more than 1 fields"),
        (Limits(max_field_size_bytes=3), "The form field 'b' is longer than 3 bytes"),
    ],
)
async def test_urlencoded_beyond_a_limit(parse: Any, limits: Limits, message: str) -> None:
    with pytest.raises(HTTPException) as caught:
        await parse(b"a=1&b=1234", "application/x-www-form-urlencoded", limits=limits)
    assert (caught.value.status, caught.value.message) == (413, message)


@pytest.mark.parametrize("kind", [None, "", "application/json", "multipart/mixed; boundary=XX"])
async def test_no_form(kind: str | None, caplog: pytest.LogCaptureFixture) -> None:
    headers = {"content-type": kind} if kind is not None else {}
    request = Request("http://x/", method="POST", headers=headers, body=b"a=1")
    app = Kit()
    seen: list[Any] = []

    @app.post("/")
    async def handler(c: Context) -> Response:
        seen.append(await c.req.parse_body())
        await c.req.form_data()
        return c.text("not reached")

    response = await app.fetch(request)
    assert (response.status, seen) == (400, [{}])
    assert (await response.text()).startswith(
        "Expected a form: Content-Type multipart/form-data or"
    )
    assert [r for r in caplog.records if r.levelno >= logging.WARNING] == []


async def test_another_package_called_multipart(
    parse: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys
    import types

    monkeypatch.setitem(sys.modules, "multipart", types.ModuleType("multipart"))
    with pytest.raises(ImportError, match=r"pip install -U 'python-multipart>=0\.0\.13'"):
        await parse(END)


async def test_the_parser_is_imported_with_the_first_form(
    parse: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.delitem(sys.modules, "multipart", raising=False)
    assert await parse(part(b'form-data; name="a"') + END) == [("a", "v")]
    assert "multipart" in sys.modules


def test_a_form_in_a_thread_while_another_imports_the_parser(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import importlib.util
    import sys
    from concurrent.futures import ThreadPoolExecutor, wait

    def parse() -> Any:
        body = part(b'form-data; name="a"') + END
        headers = {"content-type": "multipart/form-data; boundary=XX"}
        request = Request("http://x/", method="POST", headers=headers, body=body)
        return list(asyncio.run(request.form_data()))

    class Loader:
        """Imports the package, but only after another thread has asked for it."""

        def __init__(self, loader: Any) -> None:
            self.loader = loader

        def create_module(self, spec: Any) -> Any:
            return self.loader.create_module(spec)

        def exec_module(self, module: Any) -> None:
            parsing.append(threads.submit(parse))
            wait(parsing, timeout=0.2)  # until it fails, or waits for this import
            self.loader.exec_module(module)

    class Finder:
        def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
            if name != "multipart":
                return None
            sys.meta_path.remove(self)
            spec = importlib.util.find_spec(name)
            assert spec is not None
            spec.loader = Loader(spec.loader)  # type: ignore[assignment]  # the same
            return spec

    parsing: list[Any] = []
    monkeypatch.delitem(sys.modules, "multipart", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    with ThreadPoolExecutor() as threads:
        assert parse() == [("a", "v")]
        assert parsing[0].result() == [("a", "v")]


URLENCODED = "application/x-www-form-urlencoded"


async def test_urlencoded_escapes_of_many_characters(parse: Any) -> None:
    text = "".join(map(chr, range(128)))
    body = b"a=" + b"".join(b"%%%02X" % code for code in range(128))
    assert await parse(body, URLENCODED) == [("a", text)]
    punctuation = "!\"#$'()*,/:;<>?@[]^`{|}~"
    body = b"a=" + b"".join(b"%%%02x" % ord(each) for each in punctuation)
    assert await parse(body, URLENCODED) == [("a", punctuation)]


async def test_urlencoded_bytes_that_are_not_utf_8(parse: Any) -> None:
    for count in (1, 10_000):
        body = b"a=+" + b"\xff" * count + b"&b=1"
        expected = [("a", " " + "\N{REPLACEMENT CHARACTER}" * count), ("b", "1")]
        assert await parse(body, URLENCODED) == expected


async def test_urlencoded_bytes_of_one_character_half_escaped(parse: Any) -> None:
    assert await parse(b"\xc3%A9=\xc3%A9", URLENCODED) == [("é", "é")]


async def test_urlencoded_field_is_as_long_as_its_value(parse: Any) -> None:
    limits = Limits(max_field_size_bytes=4)
    assert await parse(b"a=%C3%A9%C3%A9", URLENCODED, limits=limits) == [("a", "éé")]


@settings(deadline=None)
@given(st.lists(st.tuples(TEXT, TEXT), max_size=5))
async def test_urlencoded_by_the_standard_library(parse: Any, pairs: list[tuple[str, str]]) -> None:
    from urllib.parse import urlencode

    assert await parse(urlencode(pairs).encode(), URLENCODED) == pairs


@settings(deadline=None)
@given(st.binary(max_size=40))
async def test_urlencoded_takes_whatever_comes(parse: Any, data: bytes) -> None:
    for name, value in await parse(data, URLENCODED):
        assert isinstance(name, str)
        assert isinstance(value, str)


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            b"a 4 = & + % %% %26 %3D %3d %C3 %C3%A9 %40 %2f %25 %2B %34 %41 %3441 %0D%0A %4".split()
        )
    )
)
@example([b"%34", b"%%3441"])
@example([b"%40", b"%", b"40%40"])
async def test_urlencoded_is_split_before_it_is_decoded(parse: Any, pieces: list[bytes]) -> None:
    from urllib.parse import parse_qsl

    data = b"".join(pieces)
    expected = parse_qsl(data.decode(), keep_blank_values=True)
    assert await parse(data, URLENCODED) == expected
