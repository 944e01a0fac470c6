# SPDX-License-Identifier: MIT
"""Which pattern takes all paths of which other, and that it is what the routers do."""

from __future__ import annotations

import itertools
import random
import re

import pytest

from kit.router import TrieRouter
from kit.router.patterns import PatternIndex, covers, may_overlap


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
        ("/a/:x{.+}", "/a/:y{.+}/b"),
        ("/a/:x{.+}/b", "/a/:y{.+}/b"),
        ("/*/b", "/a/b"),
        ("/*/b", "/*/b"),
        ("/assets*", "/assets"),
        ("/assets*", "/assets-1/x"),
        ("/assets*", "/assets-1*"),
        ("/:f{[a-z/]+}", "/:f{[a-z/]+}"),
        ("/a", "/b/:x{c/d}?"),
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
        ("/a/:x{c/d}?", "/a"),
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


def test_true_is_what_the_router_does() -> None:
    """Whatever the patterns are, True means that no path of the one is missed by the other."""
    made = make_patterns()
    taken = {pattern: matches(pattern) for pattern in made}
    count = 0
    for general, special in itertools.permutations(made, 2):
        if covers(general, special):
            count += 1
            missed = taken[special] - taken[general]
            assert not missed, f"{general} does not cover {special}: {sorted(missed)}"
    assert count > 1000


def test_patterns_that_may_not_overlap_share_no_path() -> None:
    made = make_patterns()
    taken = {pattern: matches(pattern) for pattern in made}
    apart = [pair for pair in itertools.permutations(made, 2) if not may_overlap(*pair)]
    assert len(apart) > 1000
    for one, other in apart:
        assert not taken[one] & taken[other], (one, other)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("/a/:x/c", "/a/:id/:rest", True),
        ("/a/*/c", "/a/b/:rest", True),
        ("/a/*/c", "/a/b/d", False),
        ("/a/*", "/:n{a|b}/:id", True),
        ("/c/*", "/:n{a|b}/:id", False),
        ("/a/:x", "/a/:x/b", False),
        ("/a/:x", "/a/", False),
        ("/a/:x?", "/a", True),
        ("/a/:n{.+}/b", "/a/c/d", True),
        ("/a/*", "/a", True),
        ("/a*", "/b/:id", False),
        ("/a*", "/ab/:id", True),
        ("/a*", "/:id", True),
        ("/a*", "/b*", False),
    ],
)
def test_may_overlap(one: str, other: str, expected: bool) -> None:
    assert may_overlap(one, other) is expected
    assert may_overlap(other, one) is expected


def test_a_pattern_covers_itself() -> None:
    for pattern in make_patterns():
        assert covers(pattern, pattern), pattern


def test_most_of_what_is_true_is_found() -> None:
    """Of plain patterns nothing is missed but what needs several variants at once."""
    plain = [s for s in SEGMENTS if not re.search(r"[{?]", s)]
    patterns = [
        "/" + "/".join(parts) for n in (1, 2) for parts in itertools.product(plain, repeat=n)
    ]
    taken = {pattern: matches(pattern) for pattern in patterns}
    for general, special in itertools.permutations(patterns, 2):
        if taken[special] and taken[special] <= taken[general] and not covers(general, special):
            assert "*" in special or "" in special.split("/")[1:], (general, special)


def test_index_misses_no_pattern_that_covers() -> None:
    made = ["*", "a/:x", "/:n{a/b}", "/:n{.*/b}/a", *make_patterns()]
    index: PatternIndex[str] = PatternIndex()
    for pattern in made:
        index.add(pattern, pattern)
    looked_at = 0
    for special in made:
        candidates = list(index.candidates(special))
        looked_at += len(candidates)
        assert [each for each in candidates if covers(each, special)] == [
            each for each in made if covers(each, special)
        ]
    assert looked_at < len(made) ** 2 / 2


def test_index_looks_at_few_of_many_routes() -> None:
    index: PatternIndex[str] = PatternIndex()
    for pattern in ("/*", "/api/*", "/api/:kind/:id", "/api/things*"):
        index.add(pattern, pattern)
    for number in range(1000):
        for pattern in (f"/api/things{number}", f"/api/things{number}/:id"):
            index.add(pattern, pattern)
    assert list(index.candidates("/api/things7/:id")) == [
        *("/*", "/api/*", "/api/:kind/:id", "/api/things*"),
        *("/api/things7", "/api/things7/:id"),
    ]


def test_index_has_no_candidates_for_a_pattern_that_never_matches() -> None:
    index: PatternIndex[str] = PatternIndex()
    index.add("/*", "all")
    assert list(index.candidates("/a/:x{b/c}?")) == []
