# SPDX-License-Identifier: MIT
"""Which pattern takes all paths of which other, and that it is what the routers do."""

from __future__ import annotations

import itertools
import random
import re
import sys
from collections.abc import Iterable
from typing import Any

import pytest

from kit.dev import inspect_routes
from kit.interface import RouterRoute
from kit.router.trie_router import TrieRouter


class Middleware:
    """Middleware that is named after the pattern that it is registered for."""

    def __init__(self, pattern: str) -> None:
        self.__name__ = pattern

    def __call__(self, c: Any, next: Any) -> None: ...


def handler(c: Any) -> None: ...


class App:
    """An app with middleware for some patterns, and then handlers for others."""

    def __init__(self, middleware: Iterable[str], handlers: Iterable[str]) -> None:
        self.routes = [
            *(RouterRoute("/", each, "ALL", Middleware(each)) for each in middleware),
            *(RouterRoute("/", each, "GET", handler) for each in handlers),
        ]


def covering(general: Iterable[str], special: Iterable[str]) -> dict[str, list[str]]:
    """For each special pattern the general ones that take all of its paths.

    Middleware is said to run before a route where it is so.
    """
    routes = inspect_routes(App(general, special))  # type: ignore[arg-type]
    return {route.path: route.middleware for route in routes if not route.is_middleware}


def covers(general: str, special: str) -> bool:
    return covering([general], [special])[special] == [general]


@pytest.mark.parametrize(
    ("general", "special"),
    [
        ("/*", "/"),
        ("/*", "/a/b"),
        ("/*", "/:x"),
        ("/*", "/:x{.+}"),
        ("/*", "/*"),
        ("/*", "/:x?"),
        ("*", "/a"),
        ("/a/*", "/a"),
        ("/a/*", "/a/"),
        ("/a/*", "/a/b/c"),
        ("/a/*", "/a/*"),
        ("/a/*", "/a/:x/*"),
        ("/a", "/a"),
        ("/:x", "/a"),
        ("/:x", "/:y"),
        ("/:x", "/:y{[0-9]+}"),
        ("/:x/b", "/a/b"),
        ("/a/:x?", "/a"),
        ("/a/:x?", "/a/b"),
        ("/a/:x?/:y?", "/a/:x?"),
        ("/:x{[0-9]+}", "/42"),
        ("/:x{[0-9]+}", "/:y{[0-9]+}"),
        ("/:x{a|b}", "/b"),
        ("/:x{[0-9]+}/b", "/:y{[0-9]+}/b"),
        ("/:x{.+}", "/a"),
        ("/:x{.+}", "/a/b"),
        ("/:x{.+}", "/:y/*"),
        ("/:x{.*}", "/"),
        ("/:x{.*}", "/:y{.+}"),
        ("/a/:x{.+}/b", "/a/:y{.+}/b"),
        ("/*/b", "/a/b"),
        ("/*/b", "/*/b"),
        ("/assets*", "/assets"),
        ("/assets*", "/assets-1/x"),
        ("/assets*", "/assets-1*"),
        ("/:f{[a-z/]+}", "/:f{[a-z/]+}"),
    ],
)
def test_covers(general: str, special: str) -> None:
    assert covers(general, special)


@pytest.mark.parametrize(
    ("general", "special"),
    [
        ("/a", "/b"),
        ("/a", "/a/"),
        ("/a", "/:x"),
        ("/a/b", "/a"),
        ("/a", "/a/b"),
        ("/:x", "/"),
        ("/:x", "/*"),
        ("/:x", "/a/b"),
        ("/:x", "/:y?"),
        ("/:x", "/:y{.+}"),
        ("/:x", "/:y{[a-z/]+}"),
        ("/:x", "/:y{[^a]+}"),
        ("/:x", "/:y{[0-9]*}"),
        ("/:x", "/:y{(?=a).+}"),
        ("/:x", "/a*"),
        ("/a/*", "/"),
        ("/a/*", "/ab"),
        ("/a/*", "/:x/b"),
        ("/:x{[0-9]+}", "/a"),
        ("/:x{[0-9]+}", "/:y"),
        ("/:x{[0-9]+}", "/:y{[0-9]}"),
        ("/a/:x{.+}", "/a"),
        ("/a/:x{.+}", "/a/*"),
        ("/a/:x{.*}", "/a/*"),
        ("/a/:x{.+}/b", "/a/:y{.+}/c"),
        ("/*/b", "/b"),
        ("/*/b", "/*"),
        ("/assets*", "/asset"),
        ("/assets*", "/:x"),
        ("/a?", "/a"),
        ("/:x{[}", "/a"),
        ("/:x", "/:y{+}"),
        ("/:x", "/:y{a**}"),
    ],
)
def test_does_not_cover(general: str, special: str) -> None:
    assert not covers(general, special)


SEGMENTS = (
    *("a", "b", "42", "a*", "*", ":x", ":y", ":x?", ":n{[0-9]+}", ":n{\\d+}", ":n{a|b}"),
    *(":n{.+}", ":n{.*}", ":n{[a-z/]+}", ":n{[0-9]*}", ""),
)
PATHS = [
    "/" + "/".join(parts)
    for n in (1, 2, 3)
    for parts in itertools.product(("", "a", "b", "42", "a1"), repeat=n)
]


def matches(pattern: str) -> set[str]:
    router: TrieRouter[str] = TrieRouter()
    router.add("GET", pattern, "handler")
    return {path for path in PATHS if router.match("GET", path)[0]}


def make_patterns() -> list[str]:
    choice = random.Random(7)
    made = {
        "/" + "/".join(choice.choice(SEGMENTS) for _ in range(choice.randint(1, 3)))
        for _ in range(400)
    }
    return sorted(made)


@pytest.mark.filterwarnings("ignore:The (route|optional parameter)")
def test_true_is_what_the_router_does() -> None:
    """Whatever the patterns are, True means that no path of the one is missed by the other."""
    made = make_patterns()
    taken = {pattern: matches(pattern) for pattern in made}
    found = covering(made, made)
    for special, those in found.items():
        for general in those:
            missed = taken[special] - taken[general]
            assert not missed, f"{general} does not cover {special}: {sorted(missed)}"
    assert sum(map(len, found.values())) > 1000


def test_most_of_what_is_true_is_found() -> None:
    """Of plain patterns nothing is missed but what needs several variants at once."""
    plain = [s for s in SEGMENTS if not re.search(r"[{?]", s)]
    patterns = [
        "/" + "/".join(parts) for n in (1, 2) for parts in itertools.product(plain, repeat=n)
    ]
    taken = {pattern: matches(pattern) for pattern in patterns}
    found = covering(patterns, patterns)
    for general, special in itertools.permutations(patterns, 2):
        if taken[special] and taken[special] <= taken[general] and general not in found[special]:
            assert "*" in special or "" in special.split("/")[1:], (general, special)


@pytest.mark.filterwarnings("ignore:The (route|optional parameter)")
def test_a_pattern_among_many_is_found_as_one_alone() -> None:
    made = ["*", "a/:x", "/:n{a/b}", "/:n{.*/b}/a", *make_patterns()]
    found = covering(made, made)
    for special in made[:60]:
        assert found[special] == [each for each in made if covers(each, special)]


def test_a_route_is_compared_with_few_of_many() -> None:
    """Twice the routes take about twice the work, and not four times."""

    def calls_for(count: int) -> int:
        calls = 0

        def note(frame: Any, event: str, argument: Any) -> None:
            nonlocal calls
            calls += event == "call"

        names = [f"/api/things{number}" for number in range(count)]
        app = App(["/*", "/api/*", *names], [f"{name}/:id" for name in names])
        before = sys.getprofile()
        sys.setprofile(note)
        try:
            inspect_routes(app)  # type: ignore[arg-type]
        finally:
            sys.setprofile(before)
        return calls

    assert 1.5 < calls_for(1000) / calls_for(500) < 2.5
