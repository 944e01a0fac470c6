# SPDX-License-Identifier: MIT
"""What is read from the text of an expression: how far it can reach, and a group around it."""

from __future__ import annotations

import pytest

from kit.interface import UnsupportedPathError
from kit.router import LinearRouter, PatternRouter, RegExpRouter, TrieRouter
from kit.router._pattern import Extent, extent, has_back_reference, without_outer_group

SEGMENT = [
    "a",
    "[a-z]+",
    r"\d{1,2}",
    r"\w*",
    "(?:a|b)?",
    r"\.",
    "a-b!",
    "%",
    "x'y",
    r"\x41",
    "[^/]",
]
SLASHES = [".", "/", "a/b", "[^a]+", r"\W", r"\x2f", "[+-9]", r"\D\d", "(?:a|.)", "//"]
AROUND = [
    *("^a", "a$", r"\Aa", r"a\Z", r"\bx", r"x\B"),
    *("a(?=b)", "(?!a)b", "(?<=a)b", "(?<!a)b"),
]
REFERENCES = ["(a)", "a(b|c)", r"(a)\1", "(?P<x>a)", "(?P<x>a)(?P=x)", "(?i)a", "(?i:a)"]


@pytest.mark.parametrize(
    ("expression", "reach"),
    [
        *((each, Extent.SEGMENT) for each in SEGMENT),
        *((each, Extent.SLASHES) for each in SLASHES),
        *((each, Extent.AROUND) for each in AROUND),
        *((f"{each}/.", Extent.AROUND) for each in AROUND),
        *((f".{each}", Extent.AROUND) for each in AROUND),
        *((each, Extent.REFERENCES) for each in REFERENCES),
        *((f".^{each}", Extent.REFERENCES) for each in REFERENCES),
    ],
)
def test_extent(expression: str, reach: Extent) -> None:
    assert extent(expression) is reach


@pytest.mark.parametrize(
    ("expression", "inner"),
    [
        ("(a|b)", "a|b"),
        ("(1|2)", "1|2"),
        ("(!|a)", "!|a"),
        ("((?:a)|b)", "(?:a)|b"),
        (r"(a\))", r"a\)"),
        ("([)])", "[)]"),
        ("([(])", "[(]"),
        ("((a))", "(a)"),
        ("a", "a"),
        ("(?:a)", "(?:a)"),
        ("(a)(b)", "(a)(b)"),
        ("(a)|(b)", "(a)|(b)"),
        ("(a)+", "(a)+"),
        ("a(b)", "a(b)"),
        (r"(a\)|b", r"(a\)|b"),
    ],
)
def test_group_around_the_whole(expression: str, inner: str) -> None:
    assert without_outer_group(expression) == inner


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        (r"(a)\1", True),
        (r"(a)?(?(1)b|c)", True),
        (r"a\d", False),
        (r"a[\1]", False),
        (r"\\1", False),
    ],
)
def test_back_reference(expression: str, answer: bool) -> None:
    assert has_back_reference(expression) is answer


@pytest.mark.parametrize("router", [RegExpRouter(), TrieRouter(), LinearRouter(), PatternRouter()])
def test_position_of_what_is_invalid(
    router: RegExpRouter[int] | TrieRouter[int] | LinearRouter[int] | PatternRouter[int],
) -> None:
    path = "/x/:id{ab[0-9}"
    with pytest.raises(UnsupportedPathError) as caught:
        router.add("GET", path, 1)
    assert caught.value.position == path.index("[")
