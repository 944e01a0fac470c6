# SPDX-License-Identifier: MIT
"""Paths, decoded as Kit routes by them; parameters and queries, decoded as JavaScript does."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kit import Context, Kit, KitRequest, Request, Response

Decoder = Callable[[str], str]


def js_decode(text: str, preserved: frozenset[str]) -> str:
    """ECMA-262 section 19.2.6.6, "Decode"; ValueError stands for URIError."""
    out = []
    k = 0
    while k < len(text):
        if text[k] != "%":
            out.append(text[k])
            k += 1
            continue
        start = k
        first = js_octet(text, k)
        k += 3
        n = 8 - (first ^ 0xFF).bit_length()  # leading ones
        if n == 0:
            char = chr(first)
            out.append(text[start:k] if char in preserved else char)
            continue
        if n not in (2, 3, 4):
            raise ValueError("URIError")
        octets = [first]
        for _ in range(n - 1):
            octets.append(js_octet(text, k))
            k += 3
        out.append(bytes(octets).decode())
    return "".join(out)


def js_octet(text: str, k: int) -> int:
    if not re.fullmatch("%[0-9A-Fa-f]{2}", text[k : k + 3]):
        raise ValueError("URIError")
    return int(text[k + 1 : k + 3], 16)


def decode_uri_component(text: str) -> str:
    return js_decode(text, frozenset())


def hono_try(text: str, decoder: Decoder) -> str:
    """What `tryDecode` of Hono does: all of it, else each run of escapes on its own."""
    try:
        return decoder(text)
    except ValueError:
        return re.sub("(?:%[0-9A-Fa-f]{2})+", lambda m: one_run(m[0], decoder), text)


def one_run(run: str, decoder: Decoder) -> str:
    try:
        return decoder(run)
    except ValueError:
        return run


KEPT = b"/?#%"


def routing_path(text: str) -> str:
    """What Kit routes by: all is decoded but what has a meaning in paths, and what is no UTF-8."""
    lone = "%(?![0-9A-Fa-f]{2})"
    decoded, encoded = decode_runs(text), decode_runs(re.sub(lone, "%25", text))
    return decoded if unquote(decoded) == unquote(encoded) else encoded


def decode_runs(text: str) -> str:
    return re.sub("(?:%[0-9A-Fa-f]{2})+", lambda m: run_decoded(m[0]), text)


def run_decoded(run: str) -> str:
    octets = bytes.fromhex(run.replace("%", ""))
    out = ""
    while octets:
        size = next((n for n in (1, 2, 3, 4) if is_utf_8(octets[:n])), 0)
        if size == 0 or octets[:size] in [bytes([each]) for each in KEPT]:
            out += f"%{octets[0]:02X}"
            size = 1
        else:
            out += octets[:size].decode()
        octets = octets[size:]
    return out


def is_utf_8(octets: bytes) -> bool:
    try:
        return len(octets.decode()) == 1
    except UnicodeDecodeError:
        return False


PIECES = st.lists(
    st.one_of(
        st.sampled_from(re.findall("%..", "%41%25%2F%2f%3F%23%FF%C3%A9%zz")),
        st.sampled_from(["%C3%A9", "%F0%9F%98%80", "%F0%9F", "%E3%81"]),
        st.sampled_from(["%ED%A0%80", "%C0%80", "%00", "%zz", "%4", "%", "+", "/", "é", "あ", "a"]),
        st.binary(max_size=3).map(lambda b: "".join(f"%{n:02x}" for n in b)),
        # A request with a raw "#" in its target is refused, see test_targets.
        st.text(st.characters(exclude_characters="#", exclude_categories=["Cs"]), max_size=3),
    ),
    max_size=8,
).map("".join)


@pytest.fixture(scope="module")
def read(client: Any, http_scope: Any) -> Any:
    """What a handler reads of a served request: `await read(look, path=..., raw_path=...)`.

    Keys of the scope that are given as `...` are left out.
    """

    async def read(look: Callable[[KitRequest], Any], **scope: Any) -> Any:
        seen: list[Any] = []

        def handler(c: Context) -> Response:
            seen.append(look(c.req))
            return c.body(None)

        whole = http_scope(**{"raw_path": None, **scope})
        whole = {key: value for key, value in whole.items() if value is not ...}
        server = client()
        await Kit().all("*", handler)(whole, server.receive, server.send)
        return seen[0]

    return read


def path_of(req: KitRequest) -> str:
    return req.path


@pytest.fixture(scope="module")
def decode_path(read: Any) -> Any:
    """The routing path of an encoded one."""

    async def decode_path(text: str) -> str:
        path = await read(path_of, path=unquote(text), raw_path=text.encode())
        assert isinstance(path, str)
        return path

    return decode_path


def decode_component(text: str) -> str | None:
    """A parameter of the routing path, as a handler reads it."""
    return KitRequest(Request("http://x/"), match_result=([("handler", {"p": text})],)).param("p")


@given(PIECES)
@example("%41%2F%C3%A9%zz")
def test_component_is_decoded_as_javascript_does(text: str) -> None:
    assert decode_component(text) == hono_try(text, decode_uri_component)


@given(PIECES)
@example("%41%25%FF%41")
@example("%E3%81%82%25%E3%81")
async def test_path_is_decoded_but_for_what_has_a_meaning(decode_path: Any, text: str) -> None:
    assert await decode_path("/" + text) == routing_path("/" + text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("/%2525", "/%2525", id="twice escaped"),
        pytest.param("/a%25%41", "/a%25A", id="next to a letter"),
        pytest.param("/%25zz", "/%25zz", id="escaped percent sign stays for the parameter"),
        pytest.param("/%3b%3a%40%26%3D%2B%24%2C", "/;:@&=+$,", id="what decodeURI keeps"),
        pytest.param("/%2f%2F%3f%3F%23%25", "/%2F%2F%3F%3F%23%25", id="kept, in upper case"),
        pytest.param("/%22%3C%3E%5B%5C%5D%5E%60%7B%7C%7D%7E", '/"<>[\\]^`{|}~', id="the others"),
        pytest.param("/%0A%00", "/\n\0", id="control characters"),
        pytest.param("/%F4%90%80%80", None, id="beyond Unicode"),
        pytest.param("/%e2%82%AC%e2%82", "/€%E2%82", id="only what is UTF-8"),
        pytest.param("/%61%ff%61", "/a%FFa", id="around what is not"),
        pytest.param("/%E2%82%AC/%E2%82", "/€/%E2%82", id="runs are apart"),
    ],
)
async def test_path_table(decode_path: Any, text: str, expected: str | None) -> None:
    assert await decode_path(text) == (text if expected is None else expected)


@given(st.text(st.characters(exclude_categories=["Cs"])))
async def test_parameter_survives_the_two_decodings(decode_path: Any, value: str) -> None:
    """What a client escapes as encodeURIComponent does is what the handler reads."""
    path = await decode_path("/" + quote(value, safe="!'()*-._~"))
    segment = path.removeprefix("/")
    assert "/" not in segment
    assert "?" not in segment
    assert decode_component(segment) == value


@pytest.mark.parametrize(
    ("path", "raw_path", "root_path", "expected"),
    [
        pytest.param("/", b"/", "", "/", id="root"),
        pytest.param("/a b", b"/a%20b", "", "/a b", id="blank"),
        pytest.param("/a/b", b"/a%2Fb", "", "/a%2Fb", id="encoded slash"),
        pytest.param("/%zz", b"/%25zz", "", "/%25zz", id="encoded percent sign"),
        pytest.param("/\ufffd", b"/%FF", "", "/%FF", id="no UTF-8"),
        pytest.param("/é", b"/%C3%A9", "", "/é", id="UTF-8"),
        pytest.param("//a//", b"//a//", "", "//a//", id="slashes are kept"),
        pytest.param("/a;b", b"/a;b", None, "/a;b", id="no root_path"),
        pytest.param("", b"", "", "/", id="empty"),
        pytest.param("/é", b"/kit/%C3%A9", "", "/é", id="path changed by a host"),
        pytest.param("/a@b", b"/kit/a%40b", "", "/a@b", id="path changed, reserved"),
        pytest.param("/a%b?", b"/kit/a%25b%3F", "", "/a%25b%3F", id="path changed, encoded anew"),
        pytest.param("/a@b", b"/a%40b?c=%20", "", "/a@b", id="raw_path with a query"),
        pytest.param("/a b", None, "", "/a b", id="no raw_path"),
        pytest.param("/50%", None, "", "/50%25", id="no raw_path, percent sign"),
        pytest.param("/a?b#c", None, "", "/a%3Fb%23c", id="no raw_path, reserved"),
        pytest.param("/é/%41", None, "", "/é/%2541", id="no raw_path, looks escaped"),
        pytest.param("/api/x", b"/api/x", "/api", "/x", id="mounted"),
        pytest.param("/api/x", b"/api/x", "/api/", "/x", id="mounted, slash too many"),
        pytest.param("/api", b"/api", "/api", "/", id="the mount itself"),
        pytest.param("/api/", b"/api/", "/api", "/", id="the mount itself, with a slash"),
        pytest.param("/apix", b"/apix", "/api", "/apix", id="another name"),
        pytest.param("/x", b"/x", "/api", "/x", id="server that leaves the root out"),
        pytest.param("/a/b/x/y", b"/a/b/x/y", "/a/b", "/x/y", id="mounted twice"),
        pytest.param("/é ü/x/z", b"/%C3%A9%20%C3%BC/x%2Fz", "/é ü", "/x%2Fz", id="decoded root"),
        pytest.param("/api/a%b", None, "/api", "/a%25b", id="mounted, no raw_path"),
        pytest.param("/api//x", b"/api//x", "/api", "//x", id="mounted, empty segment"),
        pytest.param("/api/x/a", b"/api%2Fx/a", "/api", "/x/a", id="slash after the root encoded"),
        pytest.param("/a/b/x", b"/a%2Fb/x", "/a/b", "/x", id="slash within the root encoded"),
        pytest.param("/api/x/a%", b"/api%2Fx/a%25", "/api", "/x/a%25", id="encoded anew"),
    ],
)
async def test_path_of_a_scope(
    read: Any, path: str, raw_path: bytes | None, root_path: Any, expected: str
) -> None:
    root_path = ... if root_path is None else root_path
    assert await read(path_of, path=path, raw_path=raw_path, root_path=root_path) == expected
    if raw_path is None:
        assert await read(path_of, path=path, raw_path=..., root_path=root_path) == expected


@pytest.mark.parametrize("tail", ["", "%20b"])
async def test_raw_bytes_in_raw_path(read: Any, tail: str) -> None:
    decoded = "/é" + tail.replace("%20", " ")
    assert await read(path_of, path=decoded, raw_path=("/é" + tail).encode()) == decoded


async def test_raw_bytes_in_the_url(read: Any) -> None:
    scope = {"raw_path": "/é".encode(), "query_string": "q=é".encode()}
    url = await read(lambda req: req.url, path="/é", **scope)
    assert url == "http://example.com/%C3%A9?q=%C3%A9"


# A URL resolves dots, which a server leaves as they are.
@given(PIECES.filter(lambda text: not re.search(r"\.|%2e", text, re.IGNORECASE)))
@example("%E2%82%AC%c3%a9%20%41")
@example("a%2fb")
@example("%252F")
@example("%ef%bf%bd")
@example("%E2%28%A1")
@example("%zz%2")
async def test_the_path_that_the_server_decoded_makes_no_difference(read: Any, value: str) -> None:
    """A request in process has the encoded path alone, and is routed by the same one."""
    raw = quote("/" + value, safe="/%")
    response = await Kit().all("*", lambda c: c.json(c.req.path)).request("http://x" + raw)
    assert await read(path_of, path=unquote(raw), raw_path=raw.encode()) == await response.json()


@given(PIECES)
async def test_path_without_raw_path_gives_the_parameter_back(read: Any, value: str) -> None:
    value = re.sub("[/]", "", value)
    routed = await read(path_of, path="/" + value, raw_path=None)
    assert decode_component(routed[1:]) == value


PATHS = st.lists(st.sampled_from(["", "a", "b", ":x", "*"]), max_size=3).map("/".join)


@given(PATHS, PATHS)
def test_merge_path_is_hono_s(base: str, sub: str) -> None:
    expected = ("" if base.startswith("/") else "/") + base
    if sub != "/":
        expected += ("" if base.endswith("/") else "/") + sub.removeprefix("/")
    if base in ("", "/"):  # in Hono an empty base can't be had; here it is like none
        expected = sub if sub.startswith("/") else "/" + sub
    [route] = Kit().base_path(base).get(sub, lambda c: c.text("")).routes
    assert route.path == expected


QUERY = st.lists(
    st.sampled_from([*"ab=&+;é", *re.findall("%..", "%61%3D%26%2B%20%zz%FF"), "a=1", "&a=2"]),
    max_size=8,
).map("".join)


@given(QUERY)
@example("a=1&a=2&%61=3&=4&b")
async def test_query_as_hono_reads_it(read: Any, query: str) -> None:
    expected: dict[str, list[str]] = {}
    for part in query.split("&"):
        name, _, value = part.partition("=")
        name = hono_try(name.replace("+", " "), decode_uri_component)
        value = hono_try(value.replace("+", " "), decode_uri_component)
        if name:
            expected.setdefault(name, []).append(value)

    def look(req: KitRequest) -> Any:
        first = {name: req.query(name) for name in [*expected, "none", ""]}
        return req.queries(), req.query(), first

    queries, query_, first = await read(look, query_string=query.encode())
    assert queries == expected
    assert query_ == {name: values[0] for name, values in expected.items()}
    assert (first.pop("none"), first.pop("")) == (None, None)
    assert first == query_


@pytest.mark.parametrize("query", [b"a=1#b", b"a=1\t2", b"a=1'2", b"a=%zz"])
async def test_query_is_the_same_whether_raw_was_looked_at_or_not(read: Any, query: bytes) -> None:
    def touched(req: KitRequest) -> str | None:
        assert req.raw is req.raw
        return req.query("a")

    untouched = await read(lambda req: req.query("a"), query_string=query)
    assert await read(touched, query_string=query) == untouched


@pytest.mark.parametrize(
    ("path", "raw_path", "root_path", "expected"),
    [
        pytest.param("/api/a b", b"/api/a%20b", "/api", "/a b", id="below a root"),
        pytest.param("/a/../b", b"/a/../b", "", "/a/../b", id="dot segments stay"),
        pytest.param("/x", b"/x", "/api", "/x", id="server that leaves the root out"),
    ],
)
@pytest.mark.parametrize("is_replaced", [False, True])
async def test_path_of_a_served_request_that_is_handed_on(
    client: Any, path: str, raw_path: bytes, root_path: str, expected: str, is_replaced: bool
) -> None:
    inner = Kit()
    inner.all("/*", lambda c: c.text(c.req.path))
    app = Kit()

    @app.get("/*")
    async def hand_on(c: Context) -> Response:
        raw = c.req.raw
        url = raw.url.replace("?a=1", "")
        return await inner.fetch(raw.replace(method="PUT", url=url) if is_replaced else raw)

    asked = await client().ask(
        app, path, raw_path=raw_path, root_path=root_path, query_string=b"a=1"
    )
    assert asked.body.decode() == expected


async def test_path_of_a_request_that_is_handed_on_with_another_one(client: Any) -> None:
    inner = Kit()
    inner.all("/*", lambda c: c.text(f"{c.req.path} {c.req.query()}"))
    app = Kit()
    app.get("/*", lambda c: inner.fetch(c.req.raw.replace(url="http://localhost/api/other?b=2")))
    asked = await client().ask(app, "/api/x?a=1", root_path="/api")
    assert asked.body == b"/api/other {'b': '2'}"


async def test_path_of_a_request_with_a_scope_that_is_not_whole() -> None:
    request = Request("http://localhost/a")
    request.scope = {"client": ("127.0.0.1", 1)}
    app = Kit()
    app.get("/a", lambda c: c.text(c.req.path))
    assert await (await app.fetch(request)).text() == "/a"
