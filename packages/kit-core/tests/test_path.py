# SPDX-License-Identifier: MIT
"""Paths and queries against JavaScript: decodeURI and decodeURIComponent written down anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kit import Request
from kit._path import (
    decode_component,
    decode_path,
    merge_path,
    path_of_scope,
    query_pairs,
    query_value,
)
from kit._served_request import ServedRequest

RESERVED = frozenset(";/?:@&=+$,#")
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


def decode_uri(text: str) -> str:
    return js_decode(text, RESERVED)


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


def hono_path(text: str) -> str:
    return hono_try(text.replace("%25", "%2525"), decode_uri)


PIECES = st.lists(
    st.one_of(
        st.sampled_from(re.findall("%..", "%41%25%2F%2f%3F%23%FF%C3%A9%zz")),
        st.sampled_from(["%C3%A9", "%F0%9F%98%80", "%F0%9F", "%E3%81"]),
        st.sampled_from(["%ED%A0%80", "%C0%80", "%00", "%zz", "%4", "%", "+", "/", "é", "あ", "a"]),
        st.binary(max_size=3).map(lambda b: "".join(f"%{n:02x}" for n in b)),
        st.text(max_size=3),
    ),
    max_size=8,
).map("".join)


@given(PIECES)
@example("%41%2F%C3%A9%zz")
def test_component_is_decoded_as_javascript_does(text: str) -> None:
    assert decode_component(text) == hono_try(text, decode_uri_component)


@given(PIECES.filter(lambda text: "%25" not in text))
def test_path_is_decoded_as_javascript_does(text: str) -> None:
    assert decode_path(text) == hono_path(text)


@given(PIECES)
@example("/%41%25%FF%41")
@example("/%E3%81%82%25%E3%81")
def test_path_with_an_escaped_percent_sign(text: str) -> None:
    assert decode_path(text) == hono_path(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("/%2525", "/%2525", id="twice escaped"),
        pytest.param("/a%25%41", "/a%25A", id="next to a letter"),
        pytest.param("/%25zz", "/%25zz", id="escaped percent sign stays for the parameter"),
        pytest.param("/%3b%2F%3F%3a%40%26%3D%2B%24%2C%23", None, id="reserved ones, case kept"),
        pytest.param("/%22%3C%3E%5B%5C%5D%5E%60%7B%7C%7D%7E", '/"<>[\\]^`{|}~', id="the others"),
        pytest.param("/%0A%00", "/\n\0", id="control characters"),
        pytest.param("/%F4%90%80%80", None, id="beyond Unicode"),
        pytest.param("/%E2%82%AC%E2%82", None, id="a run is decoded whole or not at all"),
        pytest.param("/%E2%82%AC/%E2%82", "/€/%E2%82", id="runs are apart"),
    ],
)
def test_path_table(text: str, expected: str | None) -> None:
    assert decode_path(text) == (text if expected is None else expected)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_parameter_survives_the_two_decodings(value: str) -> None:
    """What a client escapes as encodeURIComponent does is what the handler reads."""
    escaped = quote(value, safe="!'()*-._~")
    segment = decode_path(escaped)
    assert "/" not in segment
    assert "?" not in segment
    assert decode_component(segment) == value


def scope_of(path: str, raw_path: bytes | None = None, root_path: str | None = None) -> Any:
    scope: dict[str, Any] = {"type": "http", "path": path, "method": "GET", "headers": []}
    if raw_path is not None:
        scope["raw_path"] = raw_path
    if root_path is not None:
        scope["root_path"] = root_path
    return scope


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
    ],
)
def test_path_of_scope(path: str, raw_path: bytes | None, root_path: Any, expected: str) -> None:
    assert path_of_scope(scope_of(path, raw_path, root_path)) == expected


@pytest.mark.parametrize("tail", ["", "%20b"])
def test_raw_bytes_in_raw_path(tail: str) -> None:
    scope = scope_of("/é" + tail.replace("%20", " "), ("/é" + tail).encode())
    assert path_of_scope(scope) == "/é" + tail.replace("%20", " ")


def test_raw_bytes_in_the_url() -> None:
    scope = scope_of("/é", "/é".encode()) | {"query_string": "q=é".encode()}
    url = Request._from_scope(scope, None).url
    assert url == "http://localhost/%C3%A9?q=%C3%A9"


@given(PIECES)
@example("%E2%82%AC%c3%a9%20%41")
@example("a%2fb")
@example("%252F")
@example("%ef%bf%bd")
@example("%E2%28%A1")
@example("%zz%2")
def test_the_path_that_the_server_decoded_makes_no_difference(value: str) -> None:
    raw = "/" + value
    scope = scope_of(unquote(raw), raw.encode())
    assert path_of_scope(scope) == decode_path(raw)


@given(PIECES)
def test_path_without_raw_path_gives_the_parameter_back(value: str) -> None:
    value = re.sub("[/]", "", value)
    routed = path_of_scope(scope_of("/" + value))
    assert decode_component(routed[1:]) == value


PATHS = st.lists(st.sampled_from(["", "a", "b", ":x", "*"]), max_size=3).map("/".join)


@given(PATHS, PATHS)
def test_merge_path_is_hono_s(base: str, sub: str) -> None:
    expected = ("" if base.startswith("/") else "/") + base
    if sub != "/":
        expected += ("" if base.endswith("/") else "/") + sub.removeprefix("/")
    if base in ("", "/"):  # in Hono an empty base can't be had; here it is like none
        expected = sub if sub.startswith("/") else "/" + sub
    assert merge_path(base, sub) == expected


QUERY = st.lists(
    st.sampled_from([*"ab=&+;é", *re.findall("%..", "%61%3D%26%2B%20%zz%FF"), "a=1", "&a=2"]),
    max_size=8,
).map("".join)


@given(QUERY)
@example("a=1&a=2&%61=3&=4&b")
def test_query_as_hono_reads_it(query: str) -> None:
    expected = []
    for part in query.split("&"):
        name, _, value = part.partition("=")
        name = hono_try(name.replace("+", " "), decode_uri_component)
        value = hono_try(value.replace("+", " "), decode_uri_component)
        if name:
            expected.append((name, value))
    assert query_pairs(query) == expected
    for name, _ in expected:
        got = query_value(query, name, lambda: query_pairs(query))
        values = [value for n, value in expected if n == name]
        raw = [p for p in query.split("&") if p.partition("=")[0] == name]
        if not raw or "+" in name or "%" in name:
            assert got == values[0]
        else:  # a name that needs no decoding wins
            value = raw[0].partition("=")[2].replace("+", " ")
            assert got == hono_try(value, decode_uri_component)
    assert query_value(query, "none", lambda: query_pairs(query)) is None
    assert query_value(query, "", lambda: query_pairs(query)) is None


@pytest.mark.parametrize("query", [b"a=1#b", b"a=1\t2", b"a=1'2", b"a=%zz"])
def test_query_is_the_same_whether_raw_was_looked_at_or_not(query: bytes) -> None:
    scope = scope_of("/", b"/", "") | {"query_string": query}
    untouched = ServedRequest("/", ([],), scope, None)
    touched = ServedRequest("/", ([],), scope, None)
    assert touched.raw is touched.raw
    assert touched.query("a") == untouched.query("a")
