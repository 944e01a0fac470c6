# SPDX-License-Identifier: MIT
"""Paths that are built from patterns and values, and how the routers read them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kit.http.paths import decode_component, decode_path
from kit.interface import Router, UnsupportedPathError
from kit.router import LinearRouter, PatternRouter, RegExpRouter, TrieRouter, default_router
from kit.router.patterns import path_builders
from kit.router.testing import resolve

ROUTERS: list[Callable[[], Router[Any]]] = [
    LinearRouter,
    PatternRouter,
    RegExpRouter,
    TrieRouter,
    default_router,
]
SEGMENTS = ["a", "ab", "é", "a b", "a;b=c", "100%", "%2F", ":x", ":y", ":user-id", ":i{[0-9]+}"]
SEGMENTS += [":all{.+}", ":none{.*}", ":end{.+\\.b}", ":anchor{^a$}", ":back{(a|b)\\1}", ":l{a?b}"]
LAST = [":o?", ":o?/:p?", "*", "a*", "", ":o{[0-9]+}?"]
VALUES = st.sampled_from(
    ["a", "7", "a/b", "x.b", "aa", ".", "..", "", "%2F", "a%", "?#", "b", "\\"]
)
VALUES |= st.text(max_size=4)

patterns = st.builds(
    lambda segments, last: "/" + "/".join([*segments, *last]),
    st.lists(st.sampled_from(SEGMENTS), max_size=3, unique=True),
    st.lists(st.sampled_from(LAST), max_size=1),
)


@given(patterns, st.data())
def test_every_router_reads_a_built_path_as_it_was_built(pattern: str, data: st.DataObject) -> None:
    builder = data.draw(st.sampled_from(path_builders(pattern)))
    values = {name: data.draw(VALUES) for name in builder.names}
    try:
        path = builder.build(values)
    except (ValueError, UnsupportedPathError):
        assume(False)
    assert path.isascii()
    assert path.startswith("/")
    assert not path.startswith("//")
    assert {".", ".."}.isdisjoint(path.split("/"))
    for make in ROUTERS:
        if make is PatternRouter and path.endswith("/"):  # it ignores a slash at the end
            continue
        router = make()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                router.add("GET", pattern, "handler")
        except UnsupportedPathError:  # some routers don't support every pattern
            continue
        _, params = resolve(router.match("GET", decode_path(path)))[0]
        assert {name: decode_component(value) for name, value in params.items()} == values


@given(st.text(min_size=1))
def test_any_text_is_one_segment_or_refused(value: str) -> None:
    (builder,) = path_builders("/a/:x/b")
    is_valid = "/" not in value and value not in (".", "..")
    try:
        value.encode()
    except UnicodeEncodeError:
        is_valid = False
    if is_valid:
        assert builder.build({"x": value}).count("/") == 3
    else:
        with pytest.raises(ValueError, match="x="):
            builder.build({"x": value})


@pytest.mark.parametrize(
    ("pattern", "values", "path"),
    [
        ("/books/:id", {"id": "7"}, "/books/7"),
        ("/books/:id", {"id": "a b&é"}, "/books/a%20b&%C3%A9"),
        ("/books/:id", {"id": "%2F?#"}, "/books/%252F%3F%23"),
        ("/books/:id", {"id": "..."}, "/books/..."),
        ("/files/:path{.+}/:rev", {"path": "a/b", "rev": "3"}, "/files/a/b/3"),
        ("/bücher/a b", {}, "/b%C3%BCcher/a%20b"),
        ("/a%2Fb", {}, "/a%2Fb"),
        ("/:x/:x", {"x": "1"}, "/1/1"),
        ("/about/", {}, "/about/"),
        ("/", {}, "/"),
    ],
)
def test_paths(pattern: str, values: dict[str, str], path: str) -> None:
    (builder,) = path_builders(pattern)
    assert builder.build(values) == path


def test_optional_parameters_have_a_builder_each() -> None:
    assert [each.names for each in path_builders("/a/:x?/:y?")] == [(), ("x",), ("x", "y")]


@pytest.mark.parametrize(
    ("pattern", "values", "words"),
    [
        ("/:x", {"x": "a/b"}, "has a slash"),
        ("/:x", {"x": ".."}, "clients remove"),
        ("/:x", {"x": ""}, "clients remove"),
        ("/:x", {"x": "\ud800"}, "surrogate"),
        ("/:x{.+}", {"x": "a/../b"}, "clients remove"),
        ("/:x{.+}", {"x": "/evil.example"}, "clients remove"),
        ("/:x{[0-9]+}", {"x": "a"}, r"doesn't match \{\[0-9\]\+\}"),
        ("/:x{[a-z]+}", {"x": "a/b"}, "doesn't match"),
        # The first parameter takes as much as it can.
        ("/:x{.+}/:y{.+}", {"x": "a", "y": "b/c"}, "doesn't match '/a/b/c'"),
        ("/files/*", {}, r"wildcard '\*'"),
        ("/*/a", {}, r"wildcard '\*'"),
        ("/assets*", {}, r"wildcard 'assets\*'"),
        ("//evil.example", {}, "empty segment"),
    ],
)
def test_refused(pattern: str, values: dict[str, str], words: str) -> None:
    (builder,) = path_builders(pattern)
    with pytest.raises(ValueError, match=words):
        builder.build(values)
