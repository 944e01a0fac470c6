# SPDX-License-Identifier: MIT
"""The routers against each other, on random tables and paths."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from kit.interface import Router, UnsupportedPathError
from kit.router import LinearRouter, PatternRouter, RegExpRouter, TrieRouter, default_router
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
]
ODD = ["a*", "ab*", ":x?", ":x-:y", "a:b", "{", "}", ":{a}", ":a{", "?", "a?", "(", "[", "\n"]
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


def without_middle_wildcards(routes: Routes) -> bool:
    """The one named exception: a `*` in the middle and an empty segment in its place."""
    return not any("/*/" in pattern for _, pattern in routes)


@settings(max_examples=600, deadline=None)
@given(tables(PLAIN + EXPRESSIONS), PATHS)
@example([("GET", "/:a/x"), ("GET", "/y/:b"), ("GET", "/:c/:d")], ["/y/x", "/y/z", "/q/x"])
@example([("GET", "/:n{[0-9]+}/a"), ("GET", "/:c{7|8}/b"), ("GET", "/7/:z")], ["/7/a", "/7/b"])
@example([("GET", "/a/:v{[a-z0-9]*}"), ("GET", "/a/:x"), ("ALL", "/a/*")], ["/a/", "/a", "/a/7"])
@example([("GET", "/:dot{.+}/b"), ("GET", "/a/:x"), ("GET", "/*")], ["/a/b", "/a/b/b", "/b"])
@pytest.mark.parametrize("make", [RegExpRouter, default_router])
def test_reg_exp_and_smart_agree_with_trie(
    make: Callable[[], Router[int]], routes: Routes, paths: list[str]
) -> None:
    if not without_middle_wildcards(routes):
        paths = [re.sub("//+", "/", path) for path in paths]
    assert_agrees(make, routes, paths)


@settings(max_examples=300, deadline=None)
@given(tables(PLAIN + EXPRESSIONS[:8] + ODD + [LONG]), PATHS)
@pytest.mark.parametrize("make", [RegExpRouter, default_router])
def test_odd_patterns(make: Callable[[], Router[int]], routes: Routes, paths: list[str]) -> None:
    if not without_middle_wildcards(routes):
        paths = [re.sub("//+", "/", path) for path in paths]
    assert_agrees(make, routes, paths)


@settings(max_examples=200, deadline=None)
@given(tables(["a", "b", "c", ":x", ":y", ":n{[0-9]+}", ":w{[a-z]+}", "*"], 40), PATHS)
@pytest.mark.parametrize("make", [RegExpRouter, default_router])
def test_larger_tables(make: Callable[[], Router[int]], routes: Routes, paths: list[str]) -> None:
    assert_agrees(make, routes, [re.sub("//+", "/", path) for path in paths])


@settings(max_examples=300, deadline=None)
@given(tables(["a", "b", "ab", "é", ":x", ":y", ":z", "*"]), PATHS)
@pytest.mark.parametrize("make", [LinearRouter, PatternRouter])
def test_linear_and_pattern_agree_on_plain_segments(
    make: Callable[[], Router[int]], routes: Routes, paths: list[str]
) -> None:
    paths = ["/" + "/".join(filter(None, path.split("/"))) for path in paths]
    assume(all(path != "/" for path in paths))
    assert_agrees(make, routes, paths)


@settings(max_examples=200, deadline=None)
@given(tables(PLAIN + EXPRESSIONS + ODD), PATHS)
@pytest.mark.parametrize("make", [LinearRouter, PatternRouter])
def test_linear_and_pattern_always_answer(
    make: Callable[[], Router[int]], routes: Routes, paths: list[str]
) -> None:
    router = make()
    taken = filled(router, routes)
    for found in answers(router, paths):
        numbers = [number for number, _ in found]
        assert numbers == sorted(numbers)
        assert {*numbers} <= {*taken}


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
