# SPDX-License-Identifier: MIT
"""The parser of route patterns: segments, parameters, variants and expressions."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kit.router.patterns
from kit.interface import UnsupportedPathError
from kit.router.patterns import (
    FLAGS,
    Parameter,
    Segment,
    compile_expression,
    expand_optional,
    parse_parameter,
    split_pattern,
    variants,
)


def test_public_names() -> None:
    assert kit.router.patterns.__all__ == (
        "FLAGS",
        "Parameter",
        "PathBuilder",
        "PathExpression",
        "PatternIndex",
        "Segment",
        "Traits",
        "check_syntax",
        "compile_expression",
        "covers",
        "expand_optional",
        "first_stretch",
        "literal_in_paths",
        "may_overlap",
        "parse_parameter",
        "parse_segment",
        "path_builders",
        "split_pattern",
        "traits",
        "unescape_literal",
        "variants",
    )


@pytest.mark.parametrize(
    ("path", "segments"),
    [
        ("/", [""]),
        ("", [""]),
        ("/a/b", ["a", "b"]),
        ("a/b", ["a", "b"]),
        ("/a/", ["a", ""]),
        ("//a", ["", "a"]),
        ("/:id{[0-9]+}/x", [":id{[0-9]+}", "x"]),
        ("/:name{[a-z]+/[0-9]+}/raw", [":name{[a-z]+/[0-9]+}", "raw"]),
        ("/:year{[0-9]{4}}/:month", [":year{[0-9]{4}}", ":month"]),
        ("*", ["*"]),
    ],
)
def test_split(path: str, segments: list[str]) -> None:
    assert split_pattern(path) == segments


@pytest.mark.parametrize(
    ("segment", "parameter"),
    [
        (":id", Parameter("id", None)),
        (":user-id", Parameter("user-id", None)),
        (":id{[0-9]+}", Parameter("id", "[0-9]+")),
        (":id{[0-9]{2}}", Parameter("id", "[0-9]{2}")),
        (":id{a\nb}", Parameter("id", "a\nb")),
        ("id", None),
        ("*", None),
        (":", None),
        (":id{}", None),
        (":id{a}.json", None),
        ("{id}", None),
        ("", None),
    ],
)
def test_parameter(segment: str, parameter: Parameter | None) -> None:
    assert parse_parameter(segment) == parameter


def test_segments_of_a_plain_pattern() -> None:
    [segments] = variants("/files/:name{[a-z]+}/*")
    assert segments == (
        Segment("files"),
        Segment(":name{[a-z]+}", "name", "[a-z]+"),
        Segment("*"),
    )
    assert [each.is_wildcard for each in segments] == [False, False, True]
    assert variants("/") == ((Segment(""),),)
    assert variants("/a/") == ((Segment("a"), Segment("")),)


def test_variants_of_optional_parameters() -> None:
    a = Segment("a")
    x = Segment(":x", "x", None, optional=True)
    y = Segment(":y{[0-9]+}", "y", "[0-9]+", optional=True)
    assert variants("/a/:x?") == ((a,), (a, x))
    assert variants("/:x?") == ((Segment(""),), (x,))
    assert variants("/a/:x?/:y{[0-9]+}?") == ((a,), (a, x), (a, x, y))
    assert variants("/a//:x?") == ((a,), (a, x))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/a", ["/a"]),
        ("/a?", ["/a?"]),
        ("/a/:x?", ["/a", "/a/:x"]),
        ("/:x?", ["/", "/:x"]),
        ("a/:x?", ["/a", "/a/:x"]),
        ("/a/:x?/:y?", ["/a", "/a/:x", "/a/:x/:y"]),
        ("/:x?/b/:y?", ["/", "/:x", "/:x/b", "/:x/b/:y"]),
        ("/:x{[0-9]+}?", ["/", "/:x{[0-9]+}"]),
        ("/a/:x?/b", ["/a/:x?/b"]),
    ],
)
def test_expand_optional(path: str, expected: list[str]) -> None:
    assert expand_optional(path) == expected


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (
            "/a/:x{b/c}?",
            "the optional parameter ':x{b/c}' would never match, since its expression has a slash: "
            "register two routes instead",
        ),
        (
            "/:x/b?",
            "it would never match, since a path can't contain '?'; an optional parameter must be "
            "the last segment, ':name?'",
        ),
    ],
)
def test_pattern_that_never_matches(path: str, reason: str) -> None:
    with pytest.raises(UnsupportedPathError) as caught:
        expand_optional(path, "GET")
    assert (caught.value.path, caught.value.method, caught.value.reason) == (path, "GET", reason)
    assert variants(path) == ()


PATTERNS = st.lists(
    st.sampled_from(["", "a", "*", ":x", ":x?", ":y{[0-9]+}?", ":z{a/b}", "b?", ":n{[0-9]{2}}"]),
    min_size=1,
    max_size=4,
).map(lambda segments: "/" + "/".join(segments))


@given(PATTERNS)
def test_variants_are_those_that_routers_expand(path: str) -> None:
    try:
        expanded = expand_optional(path)
    except UnsupportedPathError:
        return
    texts = ["/" + "/".join(each.text for each in variant) for variant in variants(path)]
    assert texts == [each if each.startswith("/") else "/" + each for each in expanded]
    for variant in variants(path):
        for segment in variant:
            parameter = parse_parameter(segment.text)
            assert (segment.name, segment.expression) == (parameter or (None, None))


def test_expression_is_compiled_as_a_whole() -> None:
    compiled = compile_expression("a|b", "/:x{a|b}", "GET")
    assert compiled.flags & FLAGS == FLAGS
    assert compiled.match("b")
    assert compiled.match("bc") is None
    assert compile_expression("a|b", "/:x{a|b}/c", "GET", "(?=/c)").match("b/c")
    assert compile_expression("(?i)a", "/:x{(?i)a}", "GET").match("A")
    assert compile_expression(r"\d", "/", "GET").match("٣") is None


def test_expression_that_is_invalid() -> None:
    with pytest.raises(UnsupportedPathError) as caught:
        compile_expression("a[0-9", "/x/:id{a[0-9}", "GET")
    assert str(caught.value).startswith("Unsupported route GET '/x/:id{a[0-9}' at position 8")
    assert isinstance(caught.value.__cause__, re.error)
