# SPDX-License-Identifier: MIT
"""Which expressions the routers take, and that they match what TrieRouter has them match."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from kit.interface import UnsupportedPathError
from kit.router import LinearRouter, PatternRouter, RegExpRouter, TrieRouter
from kit.router.testing import resolve

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
REFERENCES = ["a(b|c)", r"(a)\1", "(?P<x>a)", "(?P<x>a)(?P=x)", "(?i)a", "(?i:a)"]


PATHS = [
    "/x/" + "/".join(parts)
    for count in (1, 2, 3)
    for parts in itertools.product(("a", "b", "ab", "x", ".", "42", "A", ""), repeat=count)
]


def answers(router: RegExpRouter[str] | TrieRouter[str]) -> dict[str, Any]:
    return {path: resolve(router.match("GET", path)) for path in PATHS}


@pytest.mark.parametrize("expression", [*SEGMENT, *SLASHES, *AROUND])
def test_reg_exp_router_takes_what_has_no_groups(expression: str) -> None:
    """Alone, and before what else may take the path."""
    router, trie = RegExpRouter[str](), TrieRouter[str]()
    for pattern in (f"/x/:p{{{expression}}}", "/x/:p/b", "/*"):
        router.add("GET", pattern, pattern)
        trie.add("GET", pattern, pattern)
    assert answers(router) == answers(trie)


@pytest.mark.parametrize("expression", [*SEGMENT, *SLASHES])
def test_only_some_expressions_take_a_slash(expression: str) -> None:
    router: RegExpRouter[str] = RegExpRouter()
    router.add("GET", f"/x/:p{{{expression}}}", "handler")
    found = {params["p"] for path in PATHS for _, params in resolve(router.match("GET", path))}
    assert any("/" in value for value in found) <= (expression in SLASHES)


@pytest.mark.parametrize("expression", [*REFERENCES, "((a))", "(a)(b)", "(a)|(b)", "(a)+", "a(b)"])
def test_reg_exp_router_refuses_groups_and_trie_router_takes_them(expression: str) -> None:
    path = f"/x/:p{{{expression}}}"
    with pytest.raises(UnsupportedPathError) as caught:
        RegExpRouter[int]().add("GET", path, 1)
    assert str(caught.value) == (
        f"Unsupported route GET {path!r} at position 6: RegExpRouter can't make {expression!r} a "
        "part of a larger expression, since it has capturing groups, back-references or flags"
    )
    trie = TrieRouter[int]()
    trie.add("GET", path, 1)
    assert resolve(trie.match("GET", "/x/none")) == []


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("(a|b)", "a"),
        ("(1|2)", "2"),
        ("(!|a)", "!"),
        ("((?:a)|b)", "b"),
        (r"(a\))", "a)"),
        ("([)])", ")"),
        ("([(])", "("),
        ("a", "a"),
        ("(?:a)", "a"),
    ],
)
def test_a_group_around_the_whole_is_none(expression: str, value: str) -> None:
    router: RegExpRouter[int] = RegExpRouter()
    router.add("GET", f"/x/:p{{{expression}}}", 1)
    assert resolve(router.match("GET", f"/x/{value}")) == [(1, {"p": value})]
    assert resolve(router.match("GET", f"/x/{value}{value}")) == []


@pytest.mark.parametrize(
    ("expression", "is_taken"),
    [
        (r"(a)\1", False),
        (r"(a)?(?(1)b|c)", False),
        (r"a\d", True),
        (r"a[\1]", True),
        (r"\\1", True),
    ],
)
def test_pattern_router_refuses_back_references(expression: str, is_taken: bool) -> None:
    path = f"/x/:p{{{expression}}}"
    router: PatternRouter[int] = PatternRouter()
    if is_taken:
        router.add("GET", path, 1)
        assert [pattern.groups for pattern, _, _ in router.routes] == [1]
        return
    with pytest.raises(UnsupportedPathError) as caught:
        router.add("GET", path, 1)
    assert str(caught.value) == (
        f"Unsupported route GET {path!r} at position 6: PatternRouter can't make {expression!r} a "
        "part of a larger expression, since it refers to its own groups by number"
    )


@pytest.mark.parametrize("router", [RegExpRouter(), TrieRouter(), LinearRouter(), PatternRouter()])
def test_position_of_what_is_invalid(
    router: RegExpRouter[int] | TrieRouter[int] | LinearRouter[int] | PatternRouter[int],
) -> None:
    path = "/x/:id{ab[0-9}"
    with pytest.raises(UnsupportedPathError) as caught:
        router.add("GET", path, 1)
    assert caught.value.position == path.index("[")
