# SPDX-License-Identifier: MIT
"""Paths, decoded as Kit routes by them, and parameters, decoded as JavaScript does."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote, unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import kit.http.paths
from kit.http.paths import decode_component, decode_path, merge_path, parse_url_path, slash_location

Decoder = Callable[[str], str]


def test_public_names() -> None:
    assert kit.http.paths.__all__ == (
        "decode_component",
        "decode_path",
        "merge_path",
        "parse_url_path",
        "slash_location",
    )


@pytest.mark.parametrize(
    ("url", "without", "with_slash"),
    [
        ("http://h/a/b/", "../b", "../b/"),
        ("http://h/a/b", "./b", "./b/"),
        ("http://h/a/?q=/#f/", "../a?q=/#f/", "../a/?q=/#f/"),
        ("http://h/a#f?/", "./a#f?/", "./a/#f?/"),
        ("http://h//evil.example/", "../evil.example", "../evil.example/"),
        ("http://h/a//", "../", "..//"),
        ("http://h/x:y", "./x:y", "./x:y/"),
    ],
)
def test_slash_location(url: str, without: str, with_slash: str) -> None:
    assert slash_location(url, with_slash=False) == without
    assert slash_location(url, with_slash=True) == with_slash


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
        st.text(max_size=3),
    ),
    max_size=8,
).map("".join)


@given(PIECES)
@example("%41%2F%C3%A9%zz")
def test_component_is_decoded_as_javascript_does(text: str) -> None:
    assert decode_component(text) == hono_try(text, decode_uri_component)


@given(PIECES)
@example("/%41%25%FF%41")
@example("/%E3%81%82%25%E3%81")
def test_path_is_decoded_but_for_what_has_a_meaning(text: str) -> None:
    assert decode_path(text) == routing_path(text)


@given(st.one_of(PIECES, st.text("%0123456789aAfF2/.x")))
@example("/%%361")
@example("/%6%31")
@example("/%E3%%38%31%%38%32")
def test_decoded_path_has_no_escapes_left_but_the_kept_ones(text: str) -> None:
    """Otherwise a parameter would be decoded to another path than the one that was matched."""
    assert decode_path(decode_path(text)) == decode_path(text)
    assert unquote(decode_path(text)) == unquote(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("/%2525", "/%2525", id="twice escaped"),
        pytest.param("/%%361dmin", "/%2561dmin", id="a percent sign before an escape"),
        pytest.param("/%6%31dmin", "/%2561dmin", id="an escape within an escape"),
        pytest.param("/admin%2%46x", "/admin%252Fx", id="one of those that are kept"),
        pytest.param("/100%/%20%", "/100%/ %", id="percent signs that begin none"),
        pytest.param("/%E3%25", None, id="an escaped percent sign next to what is no UTF-8"),
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


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://localhost", "/"),
        ("http://localhost/", "/"),
        ("http://localhost/a/b?c=/d#e", "/a/b"),
        ("http://localhost?a=/b", "/"),
        ("http://localhost#/b", "/"),
        ("https://user:word@example.com:8443/a%20b/%2F", "/a b/%2F"),
        ("http://[::1]:80//a", "//a"),
    ],
)
def test_path_of_url(url: str, path: str) -> None:
    assert parse_url_path(url) == path


@pytest.mark.parametrize("url", ["/a/b", "a/b", "mailto:ada@example.com/b", "http:/a/b", ""])
def test_path_of_what_is_no_absolute_url(url: str) -> None:
    with pytest.raises(ValueError, match="absolute") as caught:
        parse_url_path(url)
    assert str(caught.value) == (
        f"{url!r} is not an absolute URL: expected e.g. 'http://localhost/path'"
    )


@pytest.mark.parametrize(
    ("base", "path", "whole"),
    [
        ("/", "/a", "/a"),
        ("/", "a", "/a"),
        ("", "a", "/a"),
        ("/api", "/", "/api"),
        ("/api", "", "/api/"),
        ("api", "users", "/api/users"),
        ("/api/", "/users", "/api/users"),
        ("/api/", "/", "/api/"),
        ("/:tenant", "*", "/:tenant/*"),
    ],
)
def test_merge_path(base: str, path: str, whole: str) -> None:
    assert merge_path(base, path) == whole
