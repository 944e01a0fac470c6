# SPDX-License-Identifier: MIT
"""The routers against each other, on random tables and paths."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kit.interface import Router, UnsupportedPathError
from kit.router import (
    LinearRouter,
    PatternRouter,
    RegExpRouter,
    TrieRouter,
    default_router,
)
from kit.router.patterns import expand_optional
from kit.router.testing import resolve

Routes = list[tuple[str, str]]
Found = list[tuple[int, dict[str, str]]]

METHOD = st.sampled_from(["GET", "GET", "POST", "ALL"])
PLAIN = ["a", "b", "ab", "é", "a.b", "😀", "%41", "", ":x", ":y", ":z", "*"]
EXPRESSIONS = [
    ":n{[0-9]+}",
    ":w{[a-z]+}",
    ":v{[a-z0-9]*}",
    ":c{a|ab|b}",
    ":k{(a|b)}",
    ":d{\\d{1,2}}",
    ":s{[^/]+}",
    ":q{(?:a|b)?}",
    ":dot{.+}",
    ":all{.*}",
    ":html{.+\\.b}",
    ":deep{[a-z/]+}",
    ":anchor{^a$}",
    ":ahead{a(?=b).*}",
    ":group{(a)(b)?}",
    ":back{(a|b)\\1}",
    ":flag{(?i)A+}",
    ":scoped{(?i:A+)}",
    ":not{(?!ab$)[a-z]+}",
    ":slash{a/b}",
    ":both{a/b|a}",
    ":lazy{[a-z/]+?}",
]
ODD = [
    "a*",
    "ab*",
    ":x?",
    ":x-:y",
    "a:b",
    "{",
    "}",
    ":{a}",
    ":a{",
    "?",
    "a?",
    "(",
    "[",
    "\n",
    ":x*",
]
LONG = "x" * 10_000
PATH_SEGMENTS = ["a", "b", "ab", "é", "a.b", "😀", "%41", "", "7", "12", "aa", "A", ":x", "*", LONG]


def tables(segments: list[str], most: int = 7) -> st.SearchStrategy[Routes]:
    pattern = st.lists(st.sampled_from(segments), max_size=4).map(lambda s: "/" + "/".join(s))
    return st.lists(st.tuples(METHOD, pattern), max_size=most)


PATH = st.lists(st.sampled_from(PATH_SEGMENTS), max_size=5).map(lambda s: "/" + "/".join(s))
PATHS = st.lists(PATH, min_size=1, max_size=4)


def filled(router: Router[int], routes: Routes) -> list[int]:
    """Adds what the router takes; the numbers of these routes."""
    taken = []
    for number, (method, pattern) in enumerate(routes):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                router.add(method, pattern, number)
        except UnsupportedPathError as error:
            named = error.path == pattern and repr(pattern) in str(error)
            assert named, error  # noqa: PT017 - whether it is raised at all is left open
        else:
            taken.append(number)
    return taken


def answers(router: Router[int], paths: list[str]) -> list[Found]:
    return [
        resolve(router.match(method, path)) for path in paths for method in ("GET", "POST", "BREW")
    ]


def assert_agrees(make: Callable[[], Router[int]], routes: Routes, paths: list[str]) -> None:
    router, trie = make(), TrieRouter[int]()
    taken = filled(router, routes)
    numbers = filled(trie, [routes[number] for number in taken])
    assert numbers == list(range(len(taken))), "TrieRouter takes what any other takes"
    expected = [[(taken[n], params) for n, params in found] for found in answers(trie, paths)]
    assert answers(router, paths) == expected
    # Once more, when all tables are built.
    assert answers(router, paths) == expected


TABLES = tables(PLAIN + EXPRESSIONS + ODD)
AGREEING = [LinearRouter, RegExpRouter, default_router]


@settings(max_examples=300, deadline=None)
@given(TABLES, PATHS)
@example([("GET", "/:a/x"), ("GET", "/y/:b"), ("GET", "/:c/:d")], ["/y/x", "/y/z", "/q/x"])
@example([("GET", "/:n{[0-9]+}/a"), ("GET", "/:c{7|8}/b"), ("GET", "/7/:z")], ["/7/a", "/7/b"])
@example([("GET", "/a/:v{[a-z0-9]*}"), ("GET", "/a/:x"), ("ALL", "/a/*")], ["/a/", "/a", "/a/7"])
@example([("GET", "/:dot{.+}/b"), ("GET", "/a/:x"), ("GET", "/*")], ["/a/b", "/a/b/b", "/b"])
@example([("GET", "/about"), ("GET", "/t/:x/*")], ["/about", "/about/", "//about"])
@example([("GET", "/a/:dot{.+}/:x"), ("ALL", "/a/:x")], ["/a/b/b/7", "/a/7", "/a//7"])
@example([("GET", "/a/*/b"), ("GET", "/:group{(a)(b)?}")], ["/a//b", "/a/b/b", "/a"])
@example([("GET", "/*/b"), ("GET", "/:x/b"), ("GET", "/*/*")], ["//b", "/b", "//", "/a/"])
@pytest.mark.parametrize("make", AGREEING)
def test_routers_agree(make: Callable[[], Router[int]], routes: Routes, paths: list[str]) -> None:
    assert_agrees(make, routes, paths)


@settings(max_examples=200, deadline=None)
@given(tables(["a", "b", "c", ":x", ":y", ":n{[0-9]+}", ":w{[a-z]+}", "*"], 40), PATHS)
@pytest.mark.parametrize("make", AGREEING)
def test_larger_tables(make: Callable[[], Router[int]], routes: Routes, paths: list[str]) -> None:
    assert_agrees(make, routes, paths)


@settings(max_examples=300, deadline=None)
@given(TABLES, PATHS)
@example([("GET", "/about"), ("GET", "/t/:x/*")], ["/about", "/about/", "//about"])
@example([("GET", "/a/:dot{.+}/:x"), ("ALL", "/*/")], ["/a/b/b/7", "/a/7", "/a/7/", "/a/"])
@example([("GET", "/"), ("GET", "//"), ("GET", "/a//b/")], ["/", "//", "/a//b", "/a/b"])
@example([("GET", "/:y/?/:x?")], ["/", "/a/", "/a//b"])
@example([("GET", "/:lazy{[a-z/]+?}")], ["/a", "/a/", "/a//"])
@example([("GET", "/:flag{(?i)A+}"), ("GET", "/b/:x{^a$}")], ["/a", "/a/", "/A//", "/b/a/"])
def test_pattern_router_agrees_but_for_a_slash_at_the_end(routes: Routes, paths: list[str]) -> None:
    """A slash at the end of a pattern or path makes no difference, everything else is the same."""
    router: PatternRouter[int] = PatternRouter()
    alone = [
        (number, variant, filled_trie(routes[number][0], variant))
        for number in filled(router, routes)
        for variant in expand_optional(routes[number][1])
    ]
    for path in paths:
        for method in ("GET", "POST", "BREW"):
            found = [
                (number, params)
                for number, variant, trie in alone
                for _, params in leniently(trie, variant, method, path)
            ]
            assert resolve(router.match(method, path)) == found


def filled_trie(method: str, pattern: str) -> TrieRouter[int]:
    trie: TrieRouter[int] = TrieRouter()
    trie.add(method, pattern, 0)
    return trie


def leniently(trie: TrieRouter[int], pattern: str, method: str, path: str) -> Found:
    """What a pattern matches where a slash at the end makes no difference."""
    if pattern == "/":
        return resolve(trie.match(method, path))
    if pattern.endswith("/"):
        return resolve(trie.match(method, path + "/")) or resolve(trie.match(method, path))
    shorter = path.removesuffix("/")
    return resolve(trie.match(method, path)) or resolve(trie.match(method, shorter))


SHAPES = ["a", "", ":x", "*", "a*", ":x{.+}", ":y{.*}", ":z{[a-z/]+}", ":w{[a-z]+}", ":v{[a-z]*}"]


@pytest.mark.parametrize("make", [*AGREEING, PatternRouter])
def test_every_pattern_of_three_segments(make: Callable[[], Router[int]]) -> None:
    """What the random tables are made of, without gaps."""
    parts = [
        [*chosen] for n in (1, 2, 3, 4) for chosen in itertools.product(["", "a", "1"], repeat=n)
    ]
    paths = ["/" + "/".join(chosen) for chosen in parts]
    for shape in itertools.product(SHAPES, repeat=3):
        pattern = "/" + "/".join(shape)
        router, trie = make(), filled_trie("GET", pattern)
        if not filled(router, [("GET", pattern)]):
            continue
        for path in paths:
            if make is PatternRouter:
                expected = leniently(trie, pattern, "GET", path)
            else:
                expected = resolve(trie.match("GET", path))
            assert resolve(router.match("GET", path)) == expected, (pattern, path)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=20), st.text(min_size=1, max_size=20), METHOD)
@pytest.mark.parametrize(
    "make", [TrieRouter, RegExpRouter, default_router, LinearRouter, PatternRouter]
)
def test_any_text_as_pattern_and_path(
    make: Callable[[], Router[int]], pattern: str, path: str, method: str
) -> None:
    router = make()
    taken = filled(router, [(method, "/" + pattern), ("GET", "/kept")])
    assert 1 in taken
    answers(router, ["/" + path, path])
    assert resolve(router.match("GET", "/kept"))[-1] == (1, {})


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(min_size=1).filter(lambda t: "/" not in t), min_size=1, max_size=4))
@pytest.mark.parametrize(
    "make", [TrieRouter, RegExpRouter, default_router, LinearRouter, PatternRouter]
)
def test_parameters_come_back_as_they_are(
    make: Callable[[], Router[int]], values: list[str]
) -> None:
    router = make()
    router.add("GET", "/" + "/".join(f":p{number}" for number in range(len(values))), 0)
    [(_, params)] = resolve(router.match("GET", "/" + "/".join(values)))
    assert list(params.values()) == values


@pytest.mark.parametrize(
    "make", [TrieRouter, RegExpRouter, default_router, LinearRouter, PatternRouter]
)
def test_hundred_thousand_characters(make: Callable[[], Router[int]]) -> None:
    """No pattern of the routers' own making backtracks: this would never end if one did."""
    router: Router[Any] = make()
    patterns = ["/:a/:b/:c/end", "/:a/:b/end", "/a/*/c/:d/x", "/*", "/:w{[a-z]+}/x", "/aa/:r{.+}/z"]
    for number, pattern in enumerate(patterns):
        router.add("GET", pattern, number)
    paths = ["/" + "a" * 100_000, "/a" * 50_000, "/" * 100_000, "/aa" + "/z" * 50_000 + "y"]
    for path in paths:
        found = [number for number, _ in resolve(router.match("GET", path))]
        assert found == [3]
    [first, _] = resolve(router.match("GET", f"/{'a' * 100_000}/x"))[::-1]
    assert first == (4, {"w": "a" * 100_000})
