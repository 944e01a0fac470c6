# SPDX-License-Identifier: MIT
"""What senders write oddly is taken as browsers take it (WHATWG Fetch 5.3, HTML 4.10.21.8)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit import File, FormData, HTTPException, Response

MULTIPART = "multipart/form-data; boundary=XX"
URLENCODED = "application/x-www-form-urlencoded"
END = b"--XX--\r\n"
FIELD = b'form-data; name="a"'
FILE = b'form-data; name="f"; filename="n"'


def part(disposition: bytes, body: bytes = b"v", more: bytes = b"") -> bytes:
    return b"--XX\r\nContent-Disposition: " + disposition + more + b"\r\n\r\n" + body + b"\r\n"


@pytest.fixture(scope="module")
def parse(read_form: Any) -> Any:
    """Reads a form that comes in pieces: `await parse(data, content_type, size)`."""

    async def parse(
        data: bytes, content_type: str = MULTIPART, size: int = 1
    ) -> list[tuple[str, Any]]:
        pieces = [data[start : start + size] for start in range(0, len(data), size)]
        result: list[tuple[str, Any]] = await read_form(pieces, content_type)
        return result

    return parse


NESTED = (
    b'--YY\r\nContent-Disposition: file; filename="1"\r\n\r\none\r\n'
    b'--YY\r\nContent-Disposition: file; filename="2"\r\n\r\ntwo\r\n--YY--'
)
MIXED = b"\r\nContent-Type: multipart/mixed; boundary=YY"
UTF_16 = b"\r\nContent-Type: text/plain; charset=utf-16"
BASE64 = b"\r\nContent-Transfer-Encoding: base64"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            part(b"form-data; name=\"f\"; filename*=UTF-8''n.txt"),
            [("f", ("n.txt", "text/plain", b"v"))],
            id="filename* alone",
        ),
        pytest.param(
            # As urllib3 1.24 sends it, and so requests did until 2019.
            part(b"form-data; name=\"f\"; filename*=utf-8''caf%C3%A9%20%22%25.txt", b"\xff\0"),
            [("f", ('café "%.txt', "text/plain", b"\xff\0"))],
            id="filename* alone, as requests sent it",
        ),
        pytest.param(
            part(b"form-data; name=f; filename*=ISO-8859-1'fr'%e9", b"\xff"),
            [("f", ("é", "text/plain", b"\xff"))],
            id="filename* of latin-1",
        ),
        pytest.param(
            part(b'form-data; name="f"; filename="n"; filename*=UTF-8\'\'other'),
            [("f", ("n", "text/plain", b"v"))],
            id="filename* beside filename",
        ),
        pytest.param(
            part(b'form-data; filename*=UTF-8\'\'other; name="f"; filename="n"'),
            [("f", ("n", "text/plain", b"v"))],
            id="filename* before filename",
        ),
        pytest.param(part(FIELD, NESTED, MIXED), [("a", NESTED.decode())], id="nested multipart"),
        pytest.param(
            part(FILE, NESTED, MIXED),
            [("f", ("n", "multipart/mixed; boundary=yy", NESTED))],
            id="nested multipart as a file",
        ),
        pytest.param(part(FIELD, "é".encode(), UTF_16), [("a", "é")], id="charset of a part"),
        pytest.param(
            part(FILE, "é".encode("utf-16"), UTF_16),
            [("f", ("n", "text/plain; charset=utf-16", "é".encode("utf-16")))],
            id="charset of a file",
        ),
        pytest.param(
            part(b'form-data; name="_charset_"', b"utf-16") + part(FIELD, "é".encode()),
            [("_charset_", "utf-16"), ("a", "é")],
            id="_charset_",
        ),
        pytest.param(part(FIELD, b"\xef\xbb\xbfx"), [("a", "\ufeffx")], id="byte order mark"),
        pytest.param(part(FIELD, b"dg==", BASE64), [("a", "dg==")], id="base64"),
        pytest.param(
            part(FILE, b"dg==", BASE64), [("f", ("n", "text/plain", b"dg=="))], id="base64 file"
        ),
        pytest.param(
            part(FIELD, b"=41", BASE64.replace(b"base64", b"quoted-printable")),
            [("a", "=41")],
            id="quoted-printable",
        ),
        pytest.param(part(FIELD, b"v", b"\r\nContent-Length: 1"), [("a", "v")], id="right length"),
        pytest.param(
            part(FIELD, b"v", b"\r\nX-Y: a\r\n b"), [("a", "v")], id="header of two lines"
        ),
        pytest.param(part(b'Form-Data;NAME="a"'), [("a", "v")], id="upper case"),
        pytest.param(part(b'form-data; name="a";'), [("a", "v")], id="semicolon at the end"),
        pytest.param(part(b'form-data; size=1; name="a"'), [("a", "v")], id="other parameters"),
        pytest.param(
            part(b"form-data; name = f ;filename = my file.txt "),
            [("f", ("my file.txt", "text/plain", b"v"))],
            id="without quotes",
        ),
        pytest.param(
            part(b'form-data; name="a%22%0D%0A%0d%41%2522%00;b"'),
            [('a"\r\n%0d%41%2522%00;b', "v")],
            id="three escapes",
        ),
        pytest.param(
            part(b'form-data; name="f"; filename="%22%0D%0A.txt"'),
            [("f", ('"\r\n.txt', "text/plain", b"v"))],
            id="escapes in a file name",
        ),
        pytest.param(
            part(b'form-data; name="f"; filename="C:\\dir\\n.txt"'),
            [("f", ("C:\\dir\\n.txt", "text/plain", b"v"))],
            id="backslashes",
        ),
        pytest.param(
            part(b'form-data; name="a\\"; filename="n\\"'),
            [("a\\", ("n\\", "text/plain", b"v"))],
            id="backslash at the end",
        ),
        pytest.param(
            part(b'form-data; name="f"; filename="a\\"b\\\\.txt"'),
            [("f", ('a"b\\.txt', "text/plain", b"v"))],
            id="quotes escaped by older clients",
        ),
        pytest.param(
            part(b'form-data; name="f"; filename="C:\\n"; size=1'),
            [("f", ("C:\\n", "text/plain", b"v"))],
            id="backslash before other parameters",
        ),
        pytest.param(
            part(b'form-data; name="f"; filename="n; name=g"'),
            [("f", ("n; name=g", "text/plain", b"v"))],
            id="parameter in quotes",
        ),
        pytest.param(
            part('form-data; name="é"; filename="ü.txt"'.encode()),
            [("é", ("ü.txt", "text/plain", b"v"))],
            id="names in UTF-8",
        ),
        pytest.param(
            part(b'form-data; name="\xe9"; filename="\xfc.txt"'),
            [("\ufffd", ("\ufffd.txt", "text/plain", b"v"))],
            id="names in latin-1",
        ),
        pytest.param(
            part('form-data; name="é\\"ü"'.encode()), [('é"ü', "v")], id="UTF-8 and escaped quotes"
        ),
        pytest.param(part(b'form-data; name="a\tb"'), [("a\tb", "v")], id="tab"),
        pytest.param(b"\r\n" + part(FIELD), [("a", "v")], id="line break first"),
        pytest.param(b"some --XX\r\n\r\n" + part(FIELD), [("a", "v")], id="preamble"),
        pytest.param(part(FIELD) + END + part(FIELD), [("a", "v")], id="epilogue"),
        pytest.param(part(FIELD, b"\r\n--X\r\n--\r\n"), [("a", "\r\n--X\r\n--\r\n")], id="nearly"),
    ],
)
async def test_parts(parse: Any, data: bytes, expected: Any) -> None:
    for size in (1, 2, 7, 10_000):
        assert await parse(data + END, size=size) == expected


@pytest.mark.parametrize(
    ("content_type", "boundary"),
    [
        ("multipart/form-data; boundary=XX", "XX"),
        ("multipart/form-data;boundary=XX", "XX"),
        ("multipart/form-data; Boundary=XX ", "XX"),
        ('multipart/form-data; boundary="XX"', "XX"),
        ("multipart/form-data; charset=utf-16; boundary=XX; x", "XX"),
        ('multipart/form-data; x="; boundary=YY"; boundary=XX', "XX"),
        ("multipart/form-data; boundary=----=_Part_1_2.3", "----=_Part_1_2.3"),
        ('multipart/form-data; boundary="a b:c"', "a b:c"),
        ("multipart/form-data; boundary=a/b?c", "a/b?c"),
        ("multipart/form-data; boundary=" + "'()+_,-./:=?", "'()+_,-./:=?"),
        ("multipart/form-data; boundary=" + "X" * 70, "X" * 70),
    ],
)
async def test_boundaries(parse: Any, content_type: str, boundary: str) -> None:
    data = (part(FIELD) + END).replace(b"XX", boundary.encode())
    assert await parse(data, content_type) == [("a", "v")]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"a=%zz%4&%=%", [("a", "%zz%4"), ("%", "%")], id="no escapes"),
        pytest.param(b"a=%e9&%FF=\xff", [("a", "\ufffd"), ("\ufffd", "\ufffd")], id="no UTF-8"),
        pytest.param(
            b"_charset_=utf-16&a=%C3%A9", [("_charset_", "utf-16"), ("a", "é")], id="_charset_"
        ),
        pytest.param(b"=1&=&&a", [("", "1"), ("", ""), ("a", "")], id="empty names"),
        pytest.param(b"a=1;b=2", [("a", "1;b=2")], id="semicolon"),
        pytest.param(b"a=%00&b=\0", [("a", "\0"), ("b", "\0")], id="NUL"),
        pytest.param(b"a=%26%3D%2B+%20", [("a", "&=+  ")], id="escaped separators"),
        pytest.param(b"a=%EF%BB%BF", [("a", "\ufeff")], id="byte order mark"),
        pytest.param(b"a=1\r\nb=2", [("a", "1\r\nb=2")], id="line break"),
        pytest.param(b"&" * 5000 + b"a=1", [("a", "1")], id="no more fields than there are"),
    ],
)
async def test_urlencoded(parse: Any, data: bytes, expected: Any) -> None:
    for content_type in (URLENCODED, URLENCODED + "; charset=utf-16"):
        for size in (1, 2, 7, 10_000):
            assert await parse(data, content_type, size) == expected


NAMES = st.text(st.characters(exclude_characters="\0\r\n", exclude_categories=["Cs"]), max_size=12)


@settings(deadline=None)
@given(NAMES, st.one_of(st.none(), NAMES))
async def test_names_as_browsers_write_them(parse: Any, name: str, filename: str | None) -> None:
    """Escapes are not escaped themselves, so a name that has one is not told apart."""

    form = FormData()
    form.append(name, File([b"v"], filename) if filename is not None else "v")
    sent = Response(form)
    [(got, value)] = await parse(await sent.bytes(), sent.headers["content-type"], 100)
    assert got == meant(name)
    assert (value[0] if filename is not None else value) == (
        meant(filename) if filename is not None else "v"
    )


def meant(name: str) -> str:
    return name.replace("%0A", "\n").replace("%0D", "\r").replace("%22", '"')


@settings(deadline=None)
@given(st.text(st.sampled_from('form-data; name=filen"\\%0D*\té'), max_size=60))
async def test_any_disposition_is_read_or_refused(parse: Any, value: str) -> None:
    data = part(f"form-data{value}".encode()) + END
    try:
        form = await parse(data, size=len(data))
    except HTTPException as error:
        assert "Content-Disposition" in str(error)  # noqa: PT017
    else:
        assert len(form) == 1


@settings(deadline=None)
@given(st.text(st.sampled_from('; boundary="\\=X @\té'), max_size=60))
async def test_any_content_type_has_a_boundary_or_is_refused(parse: Any, parameters: str) -> None:
    with pytest.raises(HTTPException) as caught:
        await parse(b"", "multipart/form-data;" + parameters)
    text = str(caught.value).removeprefix("400 Malformed multipart body: ")
    found = re.fullmatch("Unexpected end: the final boundary --(.+)-- is missing", text)
    if found is None:
        assert "boundary" in text
    else:
        assert found[1] == found[1].rstrip(" ")
        assert set(found[1]) <= set("boundary= X")


@pytest.mark.parametrize("size", [1, 10_000])
async def test_the_last_boundary_needs_no_line_end(parse: Any, size: int) -> None:
    assert await parse(part(FIELD) + b"--XX--", size=size) == [("a", "v")]
    with pytest.raises(HTTPException, match="400"):
        await parse(part(FIELD) + b"--XX-", size=size)
